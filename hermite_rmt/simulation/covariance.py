"""Tokens whose noise has a covariance: X = mu y^T + Sigma^{1/2} Z."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array, real_array
from hermite_rmt.simulation.tokens import TransformedTokens

SYMMETRIC = 1e-10  # relative size of the antisymmetric part that rounding can make
POSITIVE = 1e-12  # smallest eigenvalue, relative to the largest, that is positive beyond rounding


def read_covariance(covariance: Any, p: int) -> Array:
    """Return a covariance of p-dimensional tokens, symmetric to the last bit.

    Raises
    ------
    ValueError, TypeError
        If it is not a finite symmetric positive definite p x p matrix.
    """
    matrix = real_array(covariance, (p, p), "covariance")
    if np.abs(matrix - matrix.T).max() > SYMMETRIC * np.abs(matrix).max():
        raise ValueError("covariance: got a matrix that is not symmetric; allowed: symmetric positive definite")
    matrix = (matrix + matrix.T) / 2
    smallest, largest = scipy.linalg.eigvalsh(matrix)[[0, -1]]
    if not smallest > POSITIVE * largest:
        raise ValueError(
            f"covariance: got eigenvalues from {smallest:.3g} to {largest:.3g}; allowed: symmetric positive definite"
        )
    return matrix


def score_size(weights: Array, covariance: Array | None) -> float:
    """Return s = sqrt(tr W Sigma W^T Sigma/p): z^T Sigma^{1/2} W Sigma^{1/2} z'/(s sqrt p) has variance 1."""
    if covariance is None:
        return float(np.linalg.norm(weights)) / math.sqrt(len(weights))
    return math.sqrt(float(np.sum((weights @ covariance) * (covariance @ weights))) / len(weights))


@dataclass(frozen=True, eq=False)
class CovariantTokens(TransformedTokens):
    """The law of the tokens X = mu y^T + Sigma^{1/2} Z.

    Attributes
    ----------
    model : the law for Sigma = I
    covariance : (p, p)
    """

    covariance: Array

    @cached_property
    def _root(self) -> Array:
        variances, axes = scipy.linalg.eigh(self.covariance)
        return np.asarray((axes * np.sqrt(variances)) @ axes.T)

    def transformed(self, noise: Array) -> Array:
        """Return Sigma^{1/2} Z."""
        return np.asarray(self._root @ noise)
