"""What a matrix of attention weights is made of: identity part, spectrum, multiple of the identity plus low rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array


@dataclass(frozen=True, eq=False)
class IdentityPlusLowRank:
    """W approximated by scale * I + left right^T in Frobenius norm.

    Attributes
    ----------
    scale : the multiple of the identity
    left, right : (p, r) factors
    unexplained : |W - scale I - left right^T|^2 / |W|^2
    """

    scale: float
    left: Array
    right: Array
    unexplained: float

    @property
    def rank(self) -> int:
        """The rank r."""
        return int(self.left.shape[1])


@dataclass(frozen=True, eq=False)
class WeightAnalysis:
    """Anatomy of a p x p weight matrix W = W_K^T W_Q.

    Attributes
    ----------
    identity_scale : tr W / p, the best multiple of the identity
    identity_energy : its share of the Frobenius energy, (tr W)^2 / (p |W|^2)
    symmetry : tr W^2 / tr W W^T, 1 for a symmetric W, -1 for an antisymmetric one, near 0 for independent entries
    singular_values : in decreasing order
    participation_ratio : (sum s^2)^2 / sum s^4, the effective number of singular values
    fits : the best `scale * I + rank r` found, one a rank asked for
    """

    identity_scale: float
    identity_energy: float
    symmetry: float
    singular_values: Array
    participation_ratio: float
    fits: tuple[IdentityPlusLowRank, ...]


def analyse_weights(W: Array, ranks: Sequence[int] = (0, 1, 2, 4, 8, 16, 32)) -> WeightAnalysis:
    """Return what W is made of, and how well Assumption 1 (identity plus low rank) describes it at each rank.

    Parameters
    ----------
    W : (p, p), not zero
    ranks : ranks to fit, each from 0 to p

    >>> round(analyse_weights(np.eye(4) + 0.5, ranks=[1]).fits[0].scale, 6)
    1.0
    """
    W = np.asarray(W, dtype=np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not W.any() or not np.isfinite(W).all():
        raise ValueError(f"W: got an array of shape {W.shape}; allowed: a finite square matrix that is not zero")
    p = len(W)
    squares = scipy.linalg.svdvals(W) ** 2
    energy = float(np.sum(squares))
    return WeightAnalysis(
        identity_scale=float(np.trace(W)) / p,
        identity_energy=float(np.trace(W)) ** 2 / (p * energy),
        symmetry=float(np.sum(W * W.T)) / energy,
        singular_values=np.sqrt(squares),
        participation_ratio=energy**2 / float(np.sum(squares**2)),
        fits=tuple(identity_plus_low_rank(W, rank) for rank in ranks),
    )


def identity_plus_low_rank(W: Array, rank: int) -> IdentityPlusLowRank:
    """Return the best approximation of W by scale * I + (rank r) that alternating minimisation finds.

    At a given scale the best low-rank part is the truncated SVD of W - scale I, at a given low-rank part L the best
    scale is tr(W - L)/p. The two steps, in turn, never increase the distance. Started from the scales tr W / p, 0,
    |W|/sqrt p and -|W|/sqrt p, since the distance may have more than one minimum.

    Raises
    ------
    ValueError
        If `rank` is not between 0 and p.
    """
    p = len(W)
    if not 0 <= rank <= p:
        raise ValueError(f"rank: got {rank}; allowed: 0 to {p}")
    size = float(np.linalg.norm(W)) / math.sqrt(p)
    starts = (float(np.trace(W)) / p, 0.0, size, -size)
    return min((_alternate(W, rank, start, 1e-10 * size) for start in starts), key=lambda fit: fit.unexplained)


def _alternate(W: Array, rank: int, scale: float, tolerance: float) -> IdentityPlusLowRank:
    steps = 500
    for _ in range(steps):
        left, right = _truncated(W, scale, rank)
        change = (float(np.trace(W)) - float(np.sum(left * right))) / len(W) - scale
        scale += change
        if abs(change) <= tolerance:
            break
    rest = W - scale * np.eye(len(W)) - left @ right.T
    return IdentityPlusLowRank(scale, left, right, float(np.sum(rest**2) / np.sum(W**2)))


def _truncated(W: Array, scale: float, rank: int) -> tuple[Array, Array]:
    """Return factors of the truncated SVD of M = W - scale I: M V and V, leading eigenvectors of M^T M."""
    p = len(W)
    if rank == 0:
        return np.zeros((p, 0)), np.zeros((p, 0))
    shifted = W - scale * np.eye(p)
    _, leading = scipy.linalg.eigh(shifted.T @ shifted, subset_by_index=[p - rank, p - 1])
    return shifted @ leading, leading
