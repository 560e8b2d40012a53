"""The linearisation of the kernel: exact where f is linear, small otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.linearise import Linearisation, linearise, operator_norm

pytestmark = pytest.mark.usefixtures("one_blas_thread")

GENERAL = [1.5, 0.5, -0.4, 1.2, 0.9, 0.3]
TANH_A1 = 0.605705509602159


def centred_relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) - 1 / math.sqrt(2 * math.pi)


def split(f: object, a1: float, n: int, p: int, seed: int = 0, overlaps: list[float] = GENERAL) -> Linearisation:
    specification = attention_specification(f, overlaps, n, p, [1.0])  # type: ignore[arg-type]
    tokens = specification.tokens.draw(np.random.SeedSequence(seed))
    vectors = {"mu": tokens.mu, "y": tokens.y, "w_K": tokens.w_K, "w_Q": tokens.w_Q}
    return linearise(tokens.X, f, a1, **vectors)  # type: ignore[arg-type]


def test_linear_f_leaves_nothing_off_the_diagonal() -> None:
    result = split(lambda x: -2 * x, -2.0, 40, 30)
    off_diagonal = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(result.remainder[off_diagonal], 0, atol=1e-12)
    np.testing.assert_allclose(result.nonlinear_part[off_diagonal], 0, atol=1e-12)
    # the diagonals of K and K_N are constants, so the low-rank part's own is left
    np.testing.assert_allclose(np.diag(result.remainder), -np.diag(result.low_rank), atol=1e-12)


def test_parts_are_what_they_say() -> None:
    n, p = 30, 20
    rng = np.random.default_rng(0)
    Z, mu, w_K, w_Q = rng.standard_normal((p, n)), *(rng.standard_normal((3, p)) / 5)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = np.outer(mu, y) + Z
    result = linearise(X, np.tanh, TANH_A1, mu=mu, y=y, w_K=w_K, w_Q=w_Q, diagonal=0.3)
    W = np.eye(p) + np.outer(w_K, w_Q)
    for kernel, tokens, weights in ((result.kernel, X, W), (result.noise_kernel, Z, np.eye(p))):
        expected = np.tanh(tokens.T @ weights @ tokens / math.sqrt(p)) / math.sqrt(p)
        np.fill_diagonal(expected, 0.3)
        np.testing.assert_allclose(kernel, expected, atol=1e-14)
    np.testing.assert_allclose(result.linear_part, TANH_A1 * X.T @ W @ X / p, atol=1e-13)
    np.testing.assert_allclose(result.low_rank, TANH_A1 * (X.T @ W @ X - Z.T @ Z) / p, atol=1e-13)
    assert result.left.shape == result.right.shape == (n, 3)


def test_only_what_is_given_enters() -> None:
    X = np.random.default_rng(0).standard_normal((20, 30))
    plain = linearise(X, np.tanh, TANH_A1)
    assert plain.left.shape == plain.right.shape == (30, 0)
    np.testing.assert_array_equal(plain.kernel, plain.noise_kernel)
    assert plain.remainder_norm() == 0
    assert linearise(X, np.tanh, TANH_A1, mu=np.ones(20), y=np.ones(30)).left.shape == (30, 2)


@pytest.mark.parametrize(("f", "a1"), [(np.tanh, TANH_A1), (centred_relu, 0.5)], ids=["tanh", "relu"])
def test_remainder_falls_in_operator_norm(f: object, a1: float) -> None:
    """Like n^{-1/2}: a factor 2 from n = 250 to 1000; the low-rank part stays of order one."""
    small, large = (split(f, a1, n, n // 2) for n in (250, 1000))
    assert large.remainder_norm() < small.remainder_norm() / 1.5
    assert operator_norm(large.low_rank) > 1
    assert large.remainder_norm() < operator_norm(large.low_rank) / 4


def test_remainder_of_a_jump_falls_slower() -> None:
    """Like n^{-1/4}: entries whose score is within |signal| / sqrt p of the jump change by its height."""
    a1 = math.sqrt(2 / math.pi)
    norms = [split(np.sign, a1, n, n // 2).remainder_norm() for n in (128, 2048)]
    assert 1.5 < norms[0] / norms[1] < 3


@pytest.mark.parametrize("c", [0.5, 2.0])
def test_nonlinear_part_is_a_shifted_semicircle(c: float) -> None:
    """K - linear part = kappa I + sigma W: eigenvalues in [kappa - 2 sigma, kappa + 2 sigma], with their moments."""
    n, diagonal, nu = 800, 0.4, 0.394294442
    result = split(np.tanh, TANH_A1, n, round(c * n), overlaps=[0] * 6)
    X_part = result.nonlinear_part + diagonal * np.eye(n)
    kappa, sigma = diagonal - TANH_A1, math.sqrt((nu - TANH_A1**2) / c)
    eigenvalues = np.linalg.eigvalsh(X_part)
    # edge fluctuations are O(n^{-2/3}), those of moments O(1/n), the linearisation is good to O(n^{-1/2})
    slack = 3 / math.sqrt(n)
    assert eigenvalues[0] == pytest.approx(kappa - 2 * sigma, abs=slack)
    assert eigenvalues[-1] == pytest.approx(kappa + 2 * sigma, abs=slack)
    assert eigenvalues.mean() == pytest.approx(kappa, abs=slack / 10)
    assert np.mean((eigenvalues - kappa) ** 2) == pytest.approx(sigma**2, abs=slack / 10)


def test_nonlinearity_knows_its_first_coefficient() -> None:
    X = np.random.default_rng(0).standard_normal((20, 30))
    given = linearise(X, np.tanh, TANH_A1, mu=np.ones(20), y=np.ones(30))
    asked = linearise(X, Nonlinearity("tanh(x)"), mu=np.ones(20), y=np.ones(30))
    np.testing.assert_allclose(asked.low_rank, given.low_rank, rtol=1e-13)
    np.testing.assert_allclose(asked.kernel, given.kernel, atol=1e-15)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 3), (30, 20)])
def test_operator_norm(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).standard_normal(shape)
    assert operator_norm(matrix) == pytest.approx(np.linalg.svd(matrix, compute_uv=False)[0], rel=1e-12)
    assert operator_norm(0 * matrix) == 0


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"X": np.ones(5)}, ValueError, "X: got an array of dimension 1"),
        ({"X": np.full((3, 4), np.nan)}, ValueError, "X: got nan"),
        ({"a1": "x"}, TypeError, "a1: got 'x'"),
        ({"a1": None}, ValueError, "a1: got None beside a function"),
        ({"mu": np.ones(3)}, ValueError, "y: got None beside mu"),
        ({"w_Q": np.ones(3)}, ValueError, "w_K: got None beside w_Q"),
        ({"mu": np.ones(4), "y": np.ones(4)}, ValueError, r"mu: got shape \(4,\); allowed: \(3,\)"),
        ({"f": lambda x: x / 0.0 * 0}, ValueError, "f: got nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_bad_arguments(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        linearise(**({"X": np.ones((3, 4)), "f": np.tanh, "a1": 1.0} | changes))  # type: ignore[arg-type]
