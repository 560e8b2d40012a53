"""Features of tokens: what the ridge regression sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.kernel import Entrywise, kernel_of_scores, matrix_scores, rank_one_scores, require_finite
from hermite_rmt.simulation.products import product, symmetric_product
from hermite_rmt.simulation.tokens import Tokens


@dataclass(frozen=True, eq=False)
class AttentionFeatures:
    """The features A = X (K + skip I) of nonlinear attention.

    Attributes
    ----------
    f : entrywise nonlinearity of arrays, centred
    diagonal : the constant on K's diagonal, or None to keep f's own
    skip : weight alpha of the skip connection
    weights : (p, p) instead of I + w_K w_Q^T, scores scaled to variance 1 (`kernel.matrix_scores`), or None
    size : what scores of such weights are divided by, beside sqrt p; None: sqrt(tr W W^T / p)
    """

    f: Entrywise
    diagonal: float | None = 0.0
    skip: float = 0.0
    weights: Array | None = None
    size: float | None = None

    def kernel(self, tokens: Tokens) -> tuple[Array, bool]:
        """Return K + skip I in Fortran order, and whether it is symmetric, with only its lower triangle set."""
        X = tokens.X
        if self.weights is None:
            S, symmetric = rank_one_scores(X, tokens.w_K, tokens.w_Q)
        else:
            S, symmetric = matrix_scores(X, self.weights, self.size)
        K = kernel_of_scores(S, symmetric, len(X), self.f, self.diagonal)
        if self.skip:
            K[np.diag_indices(len(K))] += self.skip
        return K, symmetric

    def __call__(self, tokens: Tokens) -> Array:
        """Return the (p, n) features of these tokens."""
        K, symmetric = self.kernel(tokens)
        return require_finite(symmetric_product(tokens.X, K) if symmetric else product(tokens.X, K))


@dataclass(frozen=True, eq=False)
class StackedFeatures:
    """Several features of the same tokens, one below the other: heads side by side."""

    parts: tuple[AttentionFeatures, ...]

    def __call__(self, tokens: Tokens) -> Array:
        """Return the features of all parts, of shape (number of parts * p, n)."""
        return np.vstack([part(tokens) for part in self.parts])


@dataclass(frozen=True)
class RawFeatures:
    """The tokens themselves: linear regression."""

    def __call__(self, tokens: Tokens) -> Array:
        """Return X, of shape (p, n)."""
        return tokens.X
