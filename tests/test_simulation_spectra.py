"""Spectra of kernels and features."""

from __future__ import annotations

import numpy as np
import pytest

from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.spectra import gram_eigenvalues, kernel_eigenvalues

pytestmark = pytest.mark.usefixtures("one_blas_thread")


@pytest.mark.parametrize(("n", "p"), [(30, 20), (20, 30), (25, 25)])
def test_gram_eigenvalues_are_squared_singular_values(n: int, p: int) -> None:
    A = np.random.default_rng(0).standard_normal((p, n))
    squares = np.sort(np.linalg.svd(A, compute_uv=False) ** 2 / n)
    found = gram_eigenvalues(A)
    assert found.shape == (n,)
    np.testing.assert_allclose(found[-len(squares) :], squares, rtol=1e-10, atol=1e-13)
    assert not found[: max(n - p, 0)].any()


@pytest.mark.parametrize("overlaps", [[0] * 6, [1, 1, 1, 1, 1, 1], [1, 0.5, 0, 1, 1, 0]])
def test_kernel_eigenvalues_have_the_kernels_traces(overlaps: list[float]) -> None:
    features = AttentionFeatures(np.tanh, diagonal=0.3, skip=0.2)
    tokens = attention_specification(np.tanh, overlaps, 30, 20, [1.0]).tokens.draw(np.random.SeedSequence(0))
    eigenvalues = kernel_eigenvalues(tokens, features)
    W = np.eye(20) + np.outer(tokens.w_K, tokens.w_Q)
    K = np.tanh(tokens.X.T @ W @ tokens.X / np.sqrt(20)) / np.sqrt(20)
    np.fill_diagonal(K, 0.5)
    assert np.sum(eigenvalues) == pytest.approx(np.trace(K), abs=1e-11)
    assert np.sum(eigenvalues**2) == pytest.approx(np.trace(K @ K), abs=1e-11)
    assert np.iscomplexobj(eigenvalues) == (not np.allclose(K, K.T))
