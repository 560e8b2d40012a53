"""Weights, covariance and signal of a `WeightedAttention`: read, and scaled."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array, real_array
from hermite_rmt.simulation.covariance import read_covariance
from hermite_rmt.solvers.weights_blocks import WeightBlocks
from hermite_rmt.theory.overlaps import Overlaps, read_overlaps


@dataclass(frozen=True, eq=False)
class ScaledWeights:
    """Weights W and covariance Sigma, at least one of them; None is the identity."""

    weights: Array | None
    covariance: Array | None

    @property
    def p(self) -> int:
        """The dimension."""
        given = self.weights if self.weights is not None else self.covariance
        assert given is not None
        return len(given)

    @cached_property
    def axes(self) -> tuple[Array, Array] | None:
        """Eigenvalues and eigenvectors of Sigma."""
        return None if self.covariance is None else scipy.linalg.eigh(self.covariance)

    @cached_property
    def matrix(self) -> Array:
        """M = Sigma^{1/2} (W/s) Sigma^{1/2}, (p, p), of Frobenius norm sqrt p, in the eigenbasis of Sigma."""
        W = np.eye(self.p) if self.weights is None else self.weights
        M = W
        if self.axes is not None:
            variances, axes = self.axes
            M = np.diag(variances)
            if self.weights is not None:
                M = np.sqrt(variances)[:, None] * (axes.T @ W @ axes) * np.sqrt(variances)
            if np.array_equal(W, W.T) or np.array_equal(W, -W.T):  # M is so too, but for rounding
                M = (M + math.copysign(1, np.sum(W * W.T)) * M.T) / 2
        return np.asarray(M * (np.sqrt(self.p) / np.linalg.norm(M)))

    @cached_property
    def symmetry(self) -> float:
        """The correlation tau = tr M^2/tr M M^T of s_ij and s_ji."""
        for sign in (1.0, -1.0):
            if np.array_equal(self.matrix, sign * self.matrix.T):
                return sign
        return float(np.clip(np.sum(self.matrix * self.matrix.T) / self.p, -1.0, 1.0))

    def blocks(self, a1: float) -> tuple[WeightBlocks, Array | None]:
        """Return the pencil's blocks, and the (p, q) basis they are in, times Sigma^{-1/2}; None for all of R^p."""
        if self.axes is None:
            return WeightBlocks.of(a1 * self.matrix)
        variances, axes = self.axes
        return WeightBlocks(a1 * self.matrix, variances, self.p), axes / np.sqrt(variances)


def read_arrays(weights: Any, covariance: Any, mu: Any) -> tuple[Array | None, Array | None, Array | None]:
    """Return weights, covariance and signal as arrays of one dimension p; None stays None.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was got and what is allowed.
    """
    given = next(array for array in (weights, covariance, mu) if array is not None)
    p = np.shape(given)[0] if np.ndim(given) else 0
    if p < 1:
        raise ValueError(f"weights: got {given!r}; allowed: a p x p matrix")
    W = None if weights is None else real_array(weights, (p, p), "weights")
    if W is not None and not W.any():
        raise ValueError("weights: got the zero matrix; allowed: any other p x p matrix")
    sigma = None if covariance is None else read_covariance(covariance, p)
    return W, sigma, None if mu is None else real_array(mu, (p,), "mu")


def read_signal(overlaps: Any, mu: Array | None) -> Overlaps:
    """Return the overlaps of a signal mu, or those given for one in a random direction."""
    if mu is None:
        read = read_overlaps(overlaps)
    elif overlaps is not None:
        raise ValueError("mu, overlaps: got both; allowed: the signal mu, or overlaps for one in a random direction")
    else:
        read = Overlaps(mu_mu=float(mu @ mu))
    if any(read.parameters[name].floats.any() for name in Overlaps.NAMES[1:]):
        raise ValueError("overlaps: got w_K or w_Q beside weights; allowed: mu_mu alone, the others being in W")
    return read


def digest(array: Array) -> str:
    """Return shape and SHA-256 of an array."""
    return f"{array.shape} sha256 {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
