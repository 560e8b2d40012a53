"""Matrix products through SciPy's BLAS.

NumPy and SciPy each bring their own OpenBLAS. Threads of the one, still spinning after a call, slow down the next
call of the other (by half at n = 2048 on two cores), so everything of order n^2 and more goes through SciPy's.

What Fortran sees of an array X in C order is X^T, without a copy; an array in the other order is taken as it is, too.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from hermite_rmt.simulation.checks import Array


def times(A: Array, v: Array) -> Array:
    """Return A v."""
    return np.asarray(blas.dgemv(1.0, A.T, v, trans=1))


def transposed_times(A: Array, v: Array) -> Array:
    """Return A^T v."""
    return np.asarray(blas.dgemv(1.0, A.T, v))


def gram_of_columns(A: Array, scale: float) -> Array:
    """Return the lower triangle of scale A^T A, in Fortran order."""
    return np.asarray(blas.dsyrk(scale, A.T, lower=1))


def gram_of_rows(A: Array, scale: float) -> Array:
    """Return the lower triangle of scale A A^T, in Fortran order."""
    return np.asarray(blas.dsyrk(scale, A.T, trans=1, lower=1))


def product(A: Array, B: Array) -> Array:
    """Return A B in C order."""
    left, trans_left = (B, 1) if B.flags.f_contiguous else (B.T, 0)
    return np.asarray(blas.dgemm(1.0, left, A.T, trans_a=trans_left)).T


def transposed_product(A: Array, B: Array, scale: float) -> Array:
    """Return scale A^T B in Fortran order."""
    return np.asarray(blas.dgemm(scale, A.T, B.T, trans_b=1))


def symmetric_product(A: Array, K: Array) -> Array:
    """Return A K in C order, K symmetric in Fortran order with its lower triangle set."""
    return np.asarray(blas.dsymm(1.0, K, A.T, side=0, lower=1)).T
