"""Tokens drawn from the embedding matrix of a pretrained model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hermite_rmt.simulation.checks import Array, positive_integer, real_array
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.simulation.tokens import Tokens, balanced_labels


@dataclass(frozen=True, eq=False)
class EmbeddingTokens:
    """Tokens that are rows of an embedding matrix, drawn without replacement; labels are independent of them.

    The embeddings are shifted and scaled as a whole, to mean 0 and entries of mean square 1; their covariance stays.

    Attributes
    ----------
    embeddings : (vocabulary, p)
    n : number of tokens, at most the size of the vocabulary
    """

    embeddings: Array
    n: int

    @classmethod
    def of(cls, embeddings: Any, n: Any) -> EmbeddingTokens:
        """Check the arguments and return the law.

        Raises
        ------
        ValueError, TypeError
            If the embeddings are no matrix of finite reals, or n is not between 1 and the size of the vocabulary.
        """
        if np.ndim(embeddings) != 2:
            raise ValueError(f"embeddings: got an array of dimension {np.ndim(embeddings)}; allowed: a matrix")
        matrix = real_array(embeddings, np.shape(embeddings), "embeddings")
        if positive_integer(n, "n") > len(matrix):
            raise ValueError(f"n: got {n}; allowed: at most the size of the vocabulary, {len(matrix)}")
        return cls(matrix, int(n))

    @property
    def p(self) -> int:
        """Dimension of the tokens."""
        return int(self.embeddings.shape[1])

    @cached_property
    def _shift_and_scale(self) -> tuple[Array, float]:
        mean = np.asarray(self.embeddings.mean(axis=0))
        return mean, float(np.sqrt(np.mean((self.embeddings - mean) ** 2)))

    def draw(self, seed: np.random.SeedSequence) -> Tokens:
        """Draw n tokens and balanced labels; there is no signal and there are no weights."""
        row_rng, label_rng = (np.random.default_rng(child_seed(seed, part)) for part in range(2))
        rows = row_rng.choice(len(self.embeddings), size=self.n, replace=False)
        mean, scale = self._shift_and_scale
        X = np.ascontiguousarray(((self.embeddings[rows] - mean) / scale).T)
        zero = np.zeros(self.p)
        return Tokens(X, balanced_labels(self.n, label_rng), zero, zero, zero)
