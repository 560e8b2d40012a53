"""Tokens X = mu y^T + Z with labels y, and the vectors mu, w_K, w_Q."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from hermite_rmt.simulation.checks import TOLERANCE, Array, finite_number, positive_integer, real_array
from hermite_rmt.simulation.directions import check_semidefinite, draw_vectors
from hermite_rmt.simulation.noise import Noise, check_noise, draw_noise
from hermite_rmt.simulation.seeds import child_seed

OVERLAP_NAMES = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")
VECTOR_NAMES = ("mu", "w_K", "w_Q")


@dataclass(frozen=True, eq=False)
class Tokens:
    """One draw of the tokens.

    Attributes
    ----------
    X : (p, n) tokens, one a column
    y : (n,) labels, of norm sqrt n
    mu, w_K, w_Q : (p,) signal, key and query directions
    """

    X: Array
    y: Array
    mu: Array
    w_K: Array
    w_Q: Array


class TokenSource(Protocol):
    """A law of tokens."""

    @property
    def n(self) -> int:
        """Number of tokens."""
        ...

    @property
    def p(self) -> int:
        """Dimension of the tokens."""
        ...

    def draw(self, seed: np.random.SeedSequence) -> Tokens:
        """Draw tokens; the result depends on the seed alone."""
        ...


@dataclass(frozen=True, eq=False)
class TokenModel:
    """The law of the tokens: X = mu y^T + Z, Z of shape (p, n) with independent entries of mean 0 and variance 1.

    Attributes
    ----------
    n, p : number of tokens, dimension
    gram : (3, 3) inner products of mu, w_K, w_Q
    vectors : the given mu, w_K, w_Q, each of shape (p,), or None: drawn, uniformly among those that fit `gram`
    labels : (n,) of norm sqrt n, or None: balanced signs in random order
    noise : a name of `noise.NOISES`, or a callable (rng, shape) -> array
    """

    n: int
    p: int
    gram: Array
    vectors: tuple[Array | None, Array | None, Array | None]
    labels: Array | None
    noise: Noise

    def draw(self, seed: np.random.SeedSequence) -> Tokens:
        """Draw tokens; noise, labels and vectors have a stream each: giving one leaves the others as they were."""
        noise_seed, *others = (child_seed(seed, part) for part in range(3))
        label_rng, vector_rng = map(np.random.default_rng, others)
        X = draw_noise(self.noise, noise_seed, (self.p, self.n))
        y = balanced_labels(self.n, label_rng) if self.labels is None else self.labels
        mu, w_K, w_Q = draw_vectors(self.gram, self.vectors, self.p, vector_rng)
        if mu.any():
            for row, component in zip(X, mu, strict=True):  # rank one in place: no second p x n array
                row += component * y
        return Tokens(X, y, mu, w_K, w_Q)


@dataclass(frozen=True, eq=False)
class TransformedTokens(ABC):
    """Tokens X = mu y^T + T(Z): those of a `TokenModel`, from the same draws, with a linear map of its noise.

    Attributes
    ----------
    model : the law of the tokens without the map
    """

    model: TokenModel

    @abstractmethod
    def transformed(self, noise: Array) -> Array:
        """Return T(Z), of the shape of Z."""

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.model.n

    @property
    def p(self) -> int:
        """Dimension of the tokens."""
        return self.model.p

    def draw(self, seed: np.random.SeedSequence) -> Tokens:
        """Draw tokens from the same Z, labels and vectors as `model`."""
        tokens = self.model.draw(seed)
        signal = np.outer(tokens.mu, tokens.y)
        return replace(tokens, X=np.ascontiguousarray(self.transformed(tokens.X - signal) + signal))


def balanced_labels(n: int, rng: np.random.Generator) -> Array:
    """Return n signs in random order that sum to 0, or to +1 or -1 (with equal chances) for odd n."""
    signs = np.ones(n)
    signs[: n // 2] = -1.0
    if n % 2 and rng.integers(2):
        signs = -signs
    return rng.permutation(signs)


def token_model(
    n: Any,
    p: Any,
    overlaps: Sequence[Any] | None,
    vectors: tuple[Any, Any, Any],
    labels: Any,
    noise: Noise,
) -> TokenModel:
    """Check the arguments of a simulation and return the law of its tokens.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was got and what is allowed: see `simulate_attention`.
    """
    n, p = positive_integer(n, "n"), positive_integer(p, "p")
    check_noise(noise)
    given = [None if v is None else real_array(v, (p,), name) for v, name in zip(vectors, VECTOR_NAMES, strict=True)]
    if labels is not None:
        labels = real_array(labels, (n,), "labels")
        if abs(labels @ labels - n) > TOLERANCE * n:
            raise ValueError(
                f"labels: got a vector of squared norm {labels @ labels:.8g}; "
                f"allowed: signs, or any vector of squared norm n = {n}"
            )
    gram = _gram_of_vectors(given, p) if overlaps is None else gram_matrix(overlaps)
    _check_given(gram, given)
    draw_vectors(gram, given, p, np.random.default_rng(0))  # raises here what would raise in a trial
    return TokenModel(n, p, gram, (given[0], given[1], given[2]), labels, noise)


def gram_matrix(overlaps: Sequence[Any]) -> Array:
    """Return the Gram matrix of mu, w_K, w_Q from its six entries in the order of `OVERLAP_NAMES`.

    >>> gram_matrix([1, 0.5, 0, 2, 3, 0])
    array([[1. , 0.5, 0. ],
           [0.5, 2. , 0. ],
           [0. , 0. , 3. ]])
    """
    if len(overlaps) != len(OVERLAP_NAMES):
        raise ValueError(f"overlaps: got {len(overlaps)} numbers; allowed: six, {', '.join(OVERLAP_NAMES)}")
    values = [finite_number(value, name) for value, name in zip(overlaps, OVERLAP_NAMES, strict=True)]
    mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q = values
    gram = np.array([[mu_mu, mu_K, mu_Q], [mu_K, K_K, K_Q], [mu_Q, K_Q, Q_Q]])
    check_semidefinite(gram, "overlaps")
    return gram


def _gram_of_vectors(given: Sequence[Array | None], p: int) -> Array:
    stacked = np.array([np.zeros(p) if vector is None else vector for vector in given])
    return np.asarray(stacked @ stacked.T)


def _check_given(gram: Array, given: Sequence[Array | None]) -> None:
    """Raise if given vectors contradict the overlaps: the theory beside the simulation would be another model's."""
    scale = np.sqrt(np.diag(gram))
    for i, a in enumerate(given):
        for j, b in enumerate(given[: i + 1]):
            if a is None or b is None:
                continue
            found = float(a @ b)
            slack = TOLERANCE * max(scale[i] * scale[j], np.linalg.norm(a) * np.linalg.norm(b))
            if abs(found - gram[i, j]) > slack:
                names = f"{VECTOR_NAMES[j]} . {VECTOR_NAMES[i]}"
                raise ValueError(
                    f"{VECTOR_NAMES[i]}: got {names} = {found:.10g}; allowed: {gram[i, j]:.10g}, as the overlaps say "
                    "(or overlaps made from the vectors themselves)"
                )
