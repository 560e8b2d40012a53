"""What a matrix of attention weights is made of: identity part, spectrum, multiple of the identity plus low rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.checks import Array

SMALL = 100  # order up to which all eigenvectors cost no more than some (and LAPACK's search for some can fail)


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
    with one_blas_thread:  # on two threads LAPACK's eigenvectors of such sizes take ten times as long
        return _best_fit(W, rank)


def _best_fit(W: Array, rank: int) -> IdentityPlusLowRank:
    p = len(W)
    size = float(np.linalg.norm(W)) / math.sqrt(p)
    starts = (float(np.trace(W)) / p, 0.0, size, -size)
    basis = _support(W)
    if 2 * basis.shape[1] <= p:  # in the other directions W vanishes, and what is left of them is the scale alone
        inner = basis.T @ W @ basis
        fits = [_alternate(inner, rank, start, 1e-10 * size, p) for start in starts if rank <= len(inner)]
        best = min(fits, key=lambda fit: fit.unexplained, default=None)
        if best is not None and _takes_all(best, inner):
            return replace(best, left=basis @ best.left, right=basis @ best.right)
    return min((_alternate(W, rank, start, 1e-10 * size, p) for start in starts), key=lambda fit: fit.unexplained)


def _support(W: Array) -> Array:
    """Return an orthonormal basis, (p, q), of the space spanned by W's columns and rows."""
    basis, sizes, _ = scipy.linalg.svd(np.hstack([W, W.T]), full_matrices=False)
    return np.asarray(basis[:, sizes > len(W) * np.finfo(float).eps * sizes[0]])


def _takes_all(fit: IdentityPlusLowRank, inner: Array) -> bool:
    """Whether no direction outside would have been taken before those in the low-rank part."""
    if fit.rank == 0:
        return True
    values = scipy.linalg.svdvals(inner - fit.scale * np.eye(len(inner)))
    return bool(values[fit.rank - 1] >= abs(fit.scale))


def rank_needed(W: Array, share: float) -> int:
    """Return the smallest rank r at which the best scale * I + (rank r) leaves at most this share of the energy.

    >>> rank_needed(np.eye(4) + 0.5, share=0.01)
    1
    """

    def enough(rank: int) -> bool:
        return identity_plus_low_rank(W, rank).unexplained <= share

    if enough(0):
        return 0
    low, high = 0, 1  # what is left falls with the rank
    while high < len(W) and not enough(high):
        low, high = high, min(2 * high, len(W))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _alternate(W: Array, rank: int, scale: float, tolerance: float, p: int) -> IdentityPlusLowRank:
    """Alternate the two steps for a p x p matrix that is W in some directions and 0 in the others."""
    steps = 500
    for _ in range(steps):
        left, right = _truncated(W, scale, rank)
        change = (float(np.trace(W)) - float(np.sum(left * right))) / p - scale
        scale += change
        if abs(change) <= tolerance:
            break
    rest = W - scale * np.eye(len(W)) - left @ right.T
    left_over = float(np.sum(rest**2)) + (p - len(W)) * scale**2
    return IdentityPlusLowRank(scale, left, right, left_over / float(np.sum(W**2)))


def _truncated(W: Array, scale: float, rank: int) -> tuple[Array, Array]:
    """Return factors of the truncated SVD of M = W - scale I: M V and V, leading eigenvectors of M^T M."""
    p = len(W)
    if rank == 0:
        return np.zeros((p, 0)), np.zeros((p, 0))
    shifted = W - scale * np.eye(p)
    gram = shifted.T @ shifted
    if p <= SMALL:
        leading = scipy.linalg.eigh(gram)[1][:, p - rank :]
    else:
        _, leading = scipy.linalg.eigh(gram, subset_by_index=[p - rank, p - 1])
    return shifted @ leading, leading
