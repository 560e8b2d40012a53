"""Eigenvalues of simulated kernels and of the Gram matrices of their features."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.products import gram_of_columns, gram_of_rows
from hermite_rmt.simulation.tokens import Tokens


def gram_eigenvalues(A: Array) -> Array:
    """Return the n eigenvalues of A^T A / n in increasing order, for features A of shape (p, n).

    Computed from the smaller of A^T A and A A^T; for n > p the first n - p are exactly 0.

    >>> gram_eigenvalues(np.array([[1.0, 1.0]]))
    array([0., 1.])
    """
    p, n = A.shape
    gram = gram_of_columns(A, 1.0 / n) if n <= p else gram_of_rows(A, 1.0 / n)
    eigenvalues = np.asarray(scipy.linalg.eigh(gram, lower=True, eigvals_only=True, overwrite_a=True))
    return np.concatenate([np.zeros(n - len(gram)), eigenvalues])


def kernel_eigenvalues(tokens: Tokens, features: AttentionFeatures) -> Array:
    """Return the n eigenvalues of the attention kernel K + skip I of these tokens.

    In increasing order for a symmetric kernel; else complex, in no order.
    """
    K, symmetric = features.kernel(tokens)
    if symmetric:
        return np.asarray(scipy.linalg.eigh(K, lower=True, eigvals_only=True, overwrite_a=True))
    return np.asarray(scipy.linalg.eigvals(K, overwrite_a=True))
