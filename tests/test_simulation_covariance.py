"""Tokens with a covariance: the law, its door, and the scores' scale."""

from __future__ import annotations

import numpy as np
import pytest

from hermite_rmt.simulation.attention import attention_specification, simulate_attention
from hermite_rmt.simulation.covariance import CovariantTokens, read_covariance, score_size
from hermite_rmt.simulation.embeddings import EmbeddingTokens

P, N = 12, 4000
AXES = np.linalg.qr(np.random.default_rng(0).standard_normal((P, P)))[0]
SIGMA = (AXES * np.linspace(0.3, 2.0, P)) @ AXES.T
W = np.random.default_rng(1).standard_normal((P, P))


def specification(n: int = N, **options):
    return attention_specification(np.tanh, None, n, P, [0.1], weights=W, covariance=SIGMA, **options)


def test_tokens_have_the_covariance_and_the_signal() -> None:
    mu = np.linspace(-1, 1, P)
    tokens = specification(mu=mu).tokens
    assert isinstance(tokens, CovariantTokens)
    assert (tokens.n, tokens.p) == (N, P)
    drawn = tokens.draw(np.random.SeedSequence(0))
    noise = drawn.X - np.outer(mu, drawn.y)
    # entries of a sample covariance scatter by sqrt((S_ii S_jj + S_ij^2)/n)
    scale = np.sqrt((np.outer(np.diag(SIGMA), np.diag(SIGMA)) + SIGMA**2) / N)
    assert np.abs((noise @ noise.T / N - SIGMA) / scale).max() < 4.5
    # the same Z as without a covariance
    plain = attention_specification(np.tanh, None, N, P, [0.1], weights=W, mu=mu).tokens.draw(
        np.random.SeedSequence(0)
    )
    np.testing.assert_allclose(noise @ noise.T, _root(SIGMA) @ (plain.X - np.outer(mu, plain.y)) @ noise.T, rtol=1e-9)
    np.testing.assert_array_equal(plain.y, drawn.y)


def _root(sigma: np.ndarray) -> np.ndarray:
    values, axes = np.linalg.eigh(sigma)
    return (axes * np.sqrt(values)) @ axes.T


def test_scores_have_variance_one() -> None:
    size = score_size(W, SIGMA)
    assert score_size(W, None) == pytest.approx(score_size(W, np.eye(P)))
    X = specification(2000).tokens.draw(np.random.SeedSequence(2)).X
    scores = X[:, :1000].T @ W @ X[:, 1000:] / (size * np.sqrt(P))
    assert np.mean(scores**2) == pytest.approx(1, rel=0.1)
    assert specification(20).features.size == size


def test_covariance_of_the_identity_changes_nothing() -> None:
    options = {"trials": 2, "rng": 0, "weights": W}
    first, *_ = simulate_attention(np.tanh, None, 40, P, [0.1], covariance=np.eye(P), **options)
    second, *_ = simulate_attention(np.tanh, None, 40, P, [0.1], **options)
    np.testing.assert_allclose(first.error.samples, second.error.samples, rtol=1e-10)


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (np.eye(3), r"covariance: got shape \(3, 3\)"),
        (np.triu(np.ones((P, P))), "covariance: got a matrix that is not symmetric"),
        (np.diag(np.arange(P, dtype=float)), "covariance: got eigenvalues from 0 to 11"),
        (np.full((P, P), np.inf), "covariance: got nan or infinite"),
    ],
)
def test_covariances_refused(covariance, message) -> None:
    with pytest.raises(ValueError, match=message):
        read_covariance(covariance, P)


def test_covariance_needs_weights() -> None:
    with pytest.raises(ValueError, match="covariance: got one without weights"):
        simulate_attention(np.tanh, None, 20, P, [0.1], covariance=SIGMA)


def test_whitened_embeddings() -> None:
    table = np.random.default_rng(3).standard_normal((500, P)) @ AXES * np.linspace(0.5, 3, P) + 2
    white = EmbeddingTokens.of(table, 500, whiten=True)
    X = white.draw(np.random.SeedSequence(0)).X  # all of them
    np.testing.assert_allclose(X @ X.T / 500, np.eye(P), atol=1e-10)
    plain = EmbeddingTokens.of(table, 500)
    X = plain.draw(np.random.SeedSequence(0)).X
    np.testing.assert_allclose(X @ X.T / 500, plain.covariance, atol=1e-10)
    assert np.trace(plain.covariance) == pytest.approx(P)
    with pytest.raises(ValueError, match="embeddings: got a singular covariance"):
        EmbeddingTokens.of(table[:, [0, 0, 1]], 20, whiten=True)
