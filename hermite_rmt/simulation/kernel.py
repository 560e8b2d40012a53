"""Attention kernels and features at finite n and p, in place and through symmetric BLAS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.tokens import Tokens

#: Columns handled at a time, so that the temporaries of f and of the mirroring stay in the cache.
BLOCK = 128


def column_blocks(n: int) -> Iterator[slice]:
    """Yield slices that cut n columns into blocks."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


def mirror_lower(matrix: Array) -> None:
    """Copy the lower triangle of a square matrix onto its upper one, in place."""
    n = len(matrix)
    for columns in column_blocks(n):
        block = matrix[columns, columns]
        block[...] = np.tril(block) + np.tril(block, -1).T
        matrix[columns, columns.stop :] = matrix[columns.stop :, columns].T


def is_symmetric(w_K: Array, w_Q: Array) -> bool:
    """Whether w_K w_Q^T is symmetric exactly: a zero vector, or equal or opposite ones."""
    return not w_K.any() or not w_Q.any() or np.array_equal(w_K, w_Q) or np.array_equal(w_K, -w_Q)


def scores(X: Array, w_K: Array, w_Q: Array) -> tuple[Array, bool]:
    """Return X^T (I + w_K w_Q^T) X / sqrt p in Fortran order, and whether only its lower triangle is filled.

    The lower triangle alone is filled when the matrix is symmetric.
    """
    p = len(X)
    S = blas.dsyrk(1.0 / math.sqrt(p), X.T, lower=1)
    keys, queries = X.T @ w_K, X.T @ w_Q
    symmetric = is_symmetric(w_K, w_Q)
    if not symmetric:
        mirror_lower(S)
        S = blas.dger(1.0 / math.sqrt(p), keys, queries, a=S, overwrite_a=1)
    elif w_K.any() and w_Q.any():
        sign = 1.0 if np.array_equal(w_K, w_Q) else -1.0
        S = blas.dsyr(sign / math.sqrt(p), keys, lower=1, a=S, overwrite_a=1)
    return S, symmetric


def apply_entrywise(f: Callable[[Array], Any], S: Array, scale: float, lower: bool) -> None:
    """Replace S by scale * f(S) in place, block of columns by block; only at and below the diagonal if `lower`.

    Raises
    ------
    TypeError
        If f returns something else than real numbers.
    ValueError
        If f returns another shape than its argument's.
    """
    for columns in column_blocks(len(S)):
        block = S[columns.start :, columns] if lower else S[:, columns]
        values = np.asarray(f(block))
        if values.dtype.kind not in "fiub":
            raise TypeError(f"f: got values of dtype {values.dtype}; allowed: real numbers")
        if values.shape not in ((), block.shape):
            raise ValueError(f"f: got values of shape {values.shape} at {block.shape}; allowed: the same shape")
        np.multiply(values, scale, out=block)


def attention_kernel(
    X: Array, f: Callable[[Array], Any], w_K: Array, w_Q: Array, diagonal: float | None = 0.0
) -> tuple[Array, bool]:
    """Return K = f(X^T (I + w_K w_Q^T) X / sqrt p) / sqrt p with its diagonal replaced by `diagonal`.

    Parameters
    ----------
    X : (p, n) tokens
    f : entrywise nonlinearity of arrays
    w_K, w_Q : (p,) key and query directions
    diagonal : the constant d, or None to keep f's own diagonal

    Returns
    -------
    K, lower : the (n, n) kernel in Fortran order, and whether it is symmetric with only its lower triangle filled
    """
    K, lower = scores(X, w_K, w_Q)
    apply_entrywise(f, K, 1.0 / math.sqrt(len(X)), lower)
    if diagonal is not None:
        np.fill_diagonal(K, diagonal)
    return K, lower


def times_kernel(X: Array, K: Array, lower: bool) -> Array:
    """Return A = X K, (p, n), for a kernel as `attention_kernel` returns it."""
    if lower:
        return np.asarray(blas.dsymm(1.0, K, X.T, side=0, lower=1)).T
    return np.asarray(blas.dgemm(1.0, K, X.T, trans_a=1)).T


@dataclass(frozen=True)
class AttentionFeatures:
    """The features A = X (K + skip I) of nonlinear attention.

    Attributes
    ----------
    f : entrywise nonlinearity of arrays, centred
    diagonal : the constant on K's diagonal, or None to keep f's own
    skip : weight alpha of the skip connection
    """

    f: Callable[[Array], Any]
    diagonal: float | None = 0.0
    skip: float = 0.0

    def __call__(self, tokens: Tokens) -> Array:
        """Return the (p, n) features of these tokens."""
        K, lower = attention_kernel(tokens.X, self.f, tokens.w_K, tokens.w_Q, self.diagonal)
        if self.skip:
            K[np.diag_indices(len(K))] += self.skip
        A = times_kernel(tokens.X, K, lower)
        if not np.isfinite(A).all():
            raise ValueError(
                "f: got nan or infinite values at some scores; allowed: a function finite at every score"
            )
        return A


@dataclass(frozen=True)
class RawFeatures:
    """The tokens themselves: linear regression."""

    def __call__(self, tokens: Tokens) -> Array:
        """Return X, of shape (p, n)."""
        return tokens.X
