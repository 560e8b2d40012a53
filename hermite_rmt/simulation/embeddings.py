"""Tokens drawn from the embedding matrix of a pretrained model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array, positive_integer, real_array
from hermite_rmt.simulation.covariance import POSITIVE
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.simulation.tokens import Tokens, balanced_labels


@dataclass(frozen=True, eq=False)
class EmbeddingTokens:
    """Tokens that are rows of an embedding matrix, drawn without replacement; labels are independent of them.

    The embeddings are shifted to mean 0, and scaled as a whole to entries of mean square 1, which leaves them their
    covariance; or whitened, to the covariance I.

    Attributes
    ----------
    embeddings : (vocabulary, p)
    n : number of tokens, at most the size of the vocabulary
    whiten : whether the covariance is taken away too
    """

    embeddings: Array
    n: int
    whiten: bool = False

    @classmethod
    def of(cls, embeddings: Any, n: Any, whiten: bool = False) -> EmbeddingTokens:
        """Check the arguments and return the law.

        Raises
        ------
        ValueError, TypeError
            If the embeddings are no matrix of finite reals, n is not between 1 and the size of the vocabulary, or
            embeddings to be whitened have a singular covariance.
        """
        if np.ndim(embeddings) != 2:
            raise ValueError(f"embeddings: got an array of dimension {np.ndim(embeddings)}; allowed: a matrix")
        matrix = real_array(embeddings, np.shape(embeddings), "embeddings")
        if positive_integer(n, "n") > len(matrix):
            raise ValueError(f"n: got {n}; allowed: at most the size of the vocabulary, {len(matrix)}")
        made = cls(matrix, int(n), whiten)
        if whiten:
            variances = scipy.linalg.eigvalsh(made.covariance)
            if not variances[0] > POSITIVE * variances[-1]:
                raise ValueError("embeddings: got a singular covariance; allowed with whiten=True: a regular one")
        return made

    @property
    def p(self) -> int:
        """Dimension of the tokens."""
        return int(self.embeddings.shape[1])

    @property
    def covariance(self) -> Array:
        """The (p, p) covariance of the shifted and scaled embeddings, of trace p; before any whitening."""
        return np.asarray(self._scaled.T @ self._scaled / len(self._scaled))

    @cached_property
    def _scaled(self) -> Array:
        centred = self.embeddings - self.embeddings.mean(axis=0)
        return np.asarray(centred / np.sqrt(np.mean(centred**2)))

    @cached_property
    def _rows(self) -> Array:
        if not self.whiten:
            return self._scaled
        variances, axes = scipy.linalg.eigh(self.covariance)
        return np.asarray(self._scaled @ (axes / np.sqrt(variances)) @ axes.T)

    def draw(self, seed: np.random.SeedSequence) -> Tokens:
        """Draw n tokens and balanced labels; there is no signal and there are no weights."""
        row_rng, label_rng = (np.random.default_rng(child_seed(seed, part)) for part in range(2))
        rows = row_rng.choice(len(self.embeddings), size=self.n, replace=False)
        zero = np.zeros(self.p)
        return Tokens(np.ascontiguousarray(self._rows[rows].T), balanced_labels(self.n, label_rng), zero, zero, zero)
