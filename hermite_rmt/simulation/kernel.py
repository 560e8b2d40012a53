"""Scores and attention kernels at finite n and p, in place and through symmetric BLAS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import blas

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.products import gram_of_columns, product, transposed_product, transposed_times

#: A function of arrays, entry by entry.
Entrywise: TypeAlias = Callable[[Array], Any]

#: Columns handled at a time, so that the temporaries of f and of the mirroring stay in the cache.
BLOCK = 128


def rank_one_scores(X: Array, w_K: Array, w_Q: Array) -> tuple[Array, bool]:
    """Return X^T (I + w_K w_Q^T) X / sqrt p in Fortran order, and whether it is symmetric.

    A symmetric result (w_K or w_Q zero, or the two equal or opposite) has only its lower triangle set.
    """
    scale = 1.0 / math.sqrt(len(X))
    S = gram_of_columns(X, scale)
    if not w_K.any() or not w_Q.any():
        return S, True
    keys = transposed_times(X, w_K)
    for sign in (1.0, -1.0):
        if np.array_equal(w_K, sign * w_Q):
            return blas.dsyr(sign * scale, keys, lower=1, a=S, overwrite_a=1), True
    mirror_lower(S)
    return blas.dger(scale, keys, transposed_times(X, w_Q), a=S, overwrite_a=1), False


def matrix_scores(X: Array, weights: Array, size: float | None = None) -> tuple[Array, bool]:
    """Return X^T W X / (s sqrt p) for any p x p matrix W, and False: it is not symmetric.

    s = `size`; None is sqrt(tr W W^T / p), which makes the scores of tokens with independent entries have variance 1,
    as they have for W = I.
    """
    p = len(X)
    if size is None:
        size = float(blas.dnrm2(weights.ravel(order="K"))) / math.sqrt(p)
    return transposed_product(X, product(weights, X), 1.0 / (size * math.sqrt(p))), False


def kernel_of_scores(S: Array, symmetric: bool, p: int, f: Entrywise, diagonal: float | None) -> Array:
    """Turn the scores S into the kernel f(S) / sqrt p in place, and return it.

    Parameters
    ----------
    S : (n, n) scores in Fortran order, overwritten; if `symmetric`, only the lower triangle is read and set
    diagonal : the constant d on the kernel's diagonal, or None to keep f's own

    Raises
    ------
    TypeError
        If f returns something else than real numbers.
    ValueError
        If f returns another shape than its argument's.
    """
    if diagonal is not None:  # f may overflow at the diagonal's own scores, of size sqrt p
        np.fill_diagonal(S, S[-1, 0])
    for columns in _column_blocks(len(S)):
        if symmetric:  # f is to see scores alone, not what lies above the diagonal
            _mirror_block(S[columns, columns])
        block = S[columns.start :, columns] if symmetric else S[:, columns]
        values = np.asarray(f(block))
        if values.dtype.kind not in "fiub":
            raise TypeError(f"f: got values of dtype {values.dtype}; allowed: real numbers")
        if values.shape not in ((), block.shape):
            raise ValueError(f"f: got values of shape {values.shape} at {block.shape}; allowed: the same shape")
        np.multiply(values, 1.0 / math.sqrt(p), out=block)
    if diagonal is not None:
        np.fill_diagonal(S, diagonal)
    return S


def attention_kernel(
    X: Array, f: Entrywise, w_K: Array, w_Q: Array, diagonal: float | None = 0.0, weights: Array | None = None
) -> Array:
    """Return K = f(X^T (I + w_K w_Q^T) X / sqrt p) / sqrt p, (n, n), with its diagonal replaced by `diagonal`.

    Parameters
    ----------
    X : (p, n) tokens
    f : entrywise nonlinearity of arrays
    w_K, w_Q : (p,) key and query directions
    diagonal : the constant d, or None to keep f's own diagonal
    weights : (p, p) instead of I + w_K w_Q^T, scaled as in `matrix_scores`

    Raises
    ------
    ValueError
        If f is not finite at a score.
    """
    S, symmetric = rank_one_scores(X, w_K, w_Q) if weights is None else matrix_scores(X, weights)
    K = kernel_of_scores(S, symmetric, len(X), f, diagonal)
    if symmetric:
        mirror_lower(K)
    return require_finite(K)


def mirror_lower(matrix: Array) -> None:
    """Copy the lower triangle of a square matrix onto its upper one, in place."""
    for columns in _column_blocks(len(matrix)):
        _mirror_block(matrix[columns, columns])
        matrix[columns, columns.stop :] = matrix[columns.stop :, columns].T


def require_finite(values: Array) -> Array:
    """Return `values`, computed from f at the scores, or raise if f was not finite at one of them."""
    if not np.isfinite(values).all():
        raise ValueError("f: got nan or infinite values at some scores; allowed: a function finite at every score")
    return values


def _column_blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


def _mirror_block(block: Array) -> None:
    block[...] = np.tril(block) + np.tril(block, -1).T
