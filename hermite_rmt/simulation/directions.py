"""Vectors with prescribed inner products: a random rotation of a fixed configuration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import TOLERANCE, Array

#: Eigenvalues of a Gram matrix may lie this much below zero, relative to the largest, and count as zero.
SEMIDEFINITE = 1e-12


def check_semidefinite(gram: Array, name: str) -> None:
    """Raise a ValueError unless `gram` is positive semidefinite to rounding."""
    eigenvalues = np.linalg.eigvalsh(gram)
    if eigenvalues[0] < -SEMIDEFINITE * max(eigenvalues[-1], 0.0):
        raise ValueError(
            f"{name}: got the Gram matrix {gram.tolist()}, with an eigenvalue {eigenvalues[0]:.3g}; "
            "allowed: inner products of real vectors, a positive semidefinite matrix"
        )


def factor_gram(gram: Array) -> Array:
    """Return F with F F^T = `gram` (m x m, semidefinite), F of shape (m, rank): Cholesky with threshold pivoting.

    Equal or opposite rows of `gram` give exactly equal or opposite rows of F. The pivot is the earliest vector that
    is not negligible, so the first direction is the first vector's own.

    >>> factor_gram(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([[2.],
           [1.]])
    """
    rest = gram.copy()
    scale = float(np.diag(gram).max(initial=0.0))
    columns: list[Array] = []
    while (largest := float(np.diag(rest).max(initial=0.0))) > SEMIDEFINITE * scale:
        pivot = np.flatnonzero(np.diag(rest) >= 1e-3 * largest)[0]
        column = rest[:, pivot] / np.sqrt(rest[pivot, pivot])
        columns.append(column)
        rest = rest - np.outer(column, column)
        rest[pivot, :] = rest[:, pivot] = 0.0
    return np.array(columns).reshape(len(columns), len(gram)).T


def draw_vectors(gram: Array, given: Sequence[Array | None], p: int, rng: np.random.Generator) -> list[Array]:
    """Return vectors of R^p with this Gram matrix: the given ones, and the others uniformly distributed (Haar).

    Parameters
    ----------
    gram : (m, m) positive semidefinite matrix of inner products; among given vectors it is not read
    given : m entries, a vector of shape (p,), or None where it is to be drawn
    p : dimension

    Raises
    ------
    ValueError
        If p is smaller than the rank, or no vectors have these inner products with the given ones.
    """
    vectors = [np.zeros(p) if vector is None else vector for vector in given]
    free = [index for index, vector in enumerate(given) if vector is None]
    fixed = [index for index, vector in enumerate(given) if vector is not None]
    basis = np.zeros((p, 0))
    target = gram[np.ix_(free, free)]
    if fixed and free:
        stacked = np.array([vectors[index] for index in fixed])
        frame, sizes, rotation = scipy.linalg.svd(stacked.T, full_matrices=False)
        kept = sizes > TOLERANCE * sizes.max()
        basis = frame[:, kept]
        # the part of the free vectors along the given ones is fixed by their inner products
        along = rotation[kept] @ gram[np.ix_(fixed, free)] / sizes[kept, None]
        for position, index in enumerate(free):
            vectors[index] = basis @ along[:, position]
        found = stacked @ np.array([vectors[index] for index in free]).T
        target = target - along.T @ along
        _check_beside(gram, found - gram[np.ix_(fixed, free)], target)
    factor = factor_gram(target)
    rank = factor.shape[1]
    if rank + basis.shape[1] > p:
        raise ValueError(f"p: got {p}; allowed: at least {rank + basis.shape[1]}, the rank of the overlaps")
    directions = _haar_frame(basis, rank, rng)
    for position, index in enumerate(free):
        for column in range(rank):  # elementwise sums keep equal vectors exactly equal
            vectors[index] = vectors[index] + factor[position, column] * directions[:, column]
    return vectors


def _check_beside(gram: Array, missed: Array, rest: Array) -> None:
    slack = TOLERANCE * float(np.diag(gram).max())
    if np.abs(missed).max() > slack or np.linalg.eigvalsh(rest)[0] < -slack:
        raise ValueError(
            f"overlaps: got {gram.tolist()}; allowed: inner products that some vectors have with the given ones"
        )


def _haar_frame(basis: Array, rank: int, rng: np.random.Generator) -> Array:
    """Return a p x rank matrix with orthonormal columns, orthogonal to `basis`, uniformly distributed."""
    if rank == 0:
        return np.zeros((basis.shape[0], 0))
    frame = rng.standard_normal((rank, basis.shape[0])).T
    for _ in range(2):  # one projection leaves rounding errors along the basis
        frame = frame - basis @ (basis.T @ frame)
    orthonormal, triangle = scipy.linalg.qr(frame, mode="economic")
    signs = np.where(np.diag(triangle) < 0, -1.0, 1.0)
    return np.asarray(orthonormal * signs, dtype=np.float64)
