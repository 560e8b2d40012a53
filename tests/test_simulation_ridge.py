"""One ridge solve: against dense formulas, exact identities and many digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermite_rmt.core.contexts import local_context
from hermite_rmt.simulation import ridge
from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.ridge import ridge_values
from hermite_rmt.simulation.shifted import CholeskySolver, TridiagonalSolver
from hermite_rmt.simulation.trial import run_trial

pytestmark = pytest.mark.usefixtures("one_blas_thread")

SHAPES = [(50, 30), (30, 50), (41, 41), (40, 41), (41, 40)]  # (n, p)
OVERLAPS = {
    "noise": [0, 0, 0, 0, 0, 0],
    "signal": [1.5, 0, 0, 0, 0, 0],
    "aligned": [1.5, 1.5, 1.5, 1.5, 1.5, 1.5],
    "anti-aligned": [1.5, 1.5, -1.5, 1.5, 1.5, -1.5],
    "general": [1, 0.3, -0.2, 1.2, 2, 0.1],
    "weights alone": [0, 0, 0, 1, 2, -0.5],
}


def features(p: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((p, n)), np.where(np.arange(n) % 2, 1.0, -1.0)


def as_rows(values: ridge.RidgeValues) -> np.ndarray:
    return np.array([values.error, values.quadratic_form, values.trace])


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("overlaps", OVERLAPS.values(), ids=OVERLAPS.keys())
@pytest.mark.parametrize("diagonal", [0.0, 0.3, None])
def test_attention_is_the_dense_formula(n: int, p: int, overlaps: list[float], diagonal: float | None) -> None:
    gammas, skip = [0.1, 2.0], 0.2
    specification = attention_specification(np.tanh, overlaps, n, p, gammas, diagonal=diagonal, skip=skip)
    seed = np.random.SeedSequence(5)
    result = run_trial(specification, seed)
    tokens = specification.tokens.draw(seed)
    X, y = tokens.X, tokens.y
    K = np.tanh(X.T @ (np.eye(p) + np.outer(tokens.w_K, tokens.w_Q)) @ X / np.sqrt(p)) / np.sqrt(p)
    if diagonal is not None:
        np.fill_diagonal(K, diagonal)
    A = X @ (K + skip * np.eye(n))
    for index, gamma in enumerate(gammas):
        Q = np.linalg.inv(A.T @ A / n + gamma * np.eye(n))
        w = np.linalg.solve(A @ A.T / n + gamma * np.eye(p), A @ y / n)
        expected = [np.sum((y - A.T @ w) ** 2) / n, y @ Q @ y / n, np.trace(Q) / n]
        np.testing.assert_allclose(as_rows(result)[:, index], expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
def test_blocks_of_the_kernel_meet_without_gaps(n: int) -> None:
    specification = attention_specification(np.tanh, [0] * 6, n, 20, [0.5])
    seed = np.random.SeedSequence(1)
    X = specification.tokens.draw(seed).X
    K = np.tanh(X.T @ X / np.sqrt(20)) / np.sqrt(20)
    np.fill_diagonal(K, 0)
    np.testing.assert_allclose(specification.features(specification.tokens.draw(seed)), X @ K, atol=1e-12)


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
def test_error_is_the_derivative_of_the_quadratic_form(n: int, p: int, gamma: float) -> None:
    A, y = features(p, n)
    h = 1e-2 * gamma  # the rule below is off by h^4 f^(5)/30, relatively below 4 (h/gamma)^4 = 4e-8
    error = ridge_values(A, y, [gamma]).error[0]
    q = ridge_values(A, y, [gamma - 2 * h, gamma - h, gamma + h, gamma + 2 * h]).quadratic_form
    derivative = (q[0] - 8 * q[1] + 8 * q[2] - q[3]) / (12 * h)
    assert error == pytest.approx(-(gamma**2) * derivative, rel=1e-7)


@given(
    n=st.integers(1, 12),
    p=st.integers(1, 12),
    gamma=st.floats(1e-6, 1e6),
    scale=st.floats(1e-3, 1e3),
    seed=st.integers(0, 100),
)
@settings(deadline=None, max_examples=60)
def test_bounds(n: int, p: int, gamma: float, scale: float, seed: int) -> None:
    A, y = features(p, n, seed)
    smaller, larger = (ridge_values(scale * A, y, [g]) for g in (gamma, 2 * gamma))
    slack = 1 + 1e-12
    error, gamma_q = smaller.error[0], gamma * smaller.quadratic_form[0]
    assert gamma_q**2 <= error * slack
    assert error <= gamma_q * slack
    assert gamma_q <= slack
    assert gamma * smaller.trace[0] <= slack
    assert error <= larger.error[0] * slack
    assert larger.error[0] / 4 <= error * slack


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 4), (4, 1), (2, 2), (2, 5), (5, 2), (60, 40), (40, 60)])
def test_many_gammas_give_the_values_of_one(n: int, p: int) -> None:
    A, y = features(p, n)
    gammas = np.geomspace(1e-3, 1e3, 9)
    assert len(gammas) >= ridge.MANY_GAMMAS
    one_by_one = np.hstack([as_rows(ridge_values(A, y, [gamma])) for gamma in gammas])
    np.testing.assert_allclose(as_rows(ridge_values(A, y, gammas)), one_by_one, rtol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 30])
def test_shifted_solvers_invert(m: int) -> None:
    rng = np.random.default_rng(m)
    tall, b, gamma = rng.standard_normal((2 * m, m)), rng.standard_normal(m), 0.3
    gram = np.asfortranarray(tall.T @ tall)
    inverse = np.linalg.inv(gram + gamma * np.eye(m))
    lower = np.asfortranarray(np.tril(gram))
    for solver in (
        CholeskySolver.of_gram(lower, gamma),
        CholeskySolver.of_factor(tall, gamma),
        TridiagonalSolver(lower).shifted(gamma),
    ):
        np.testing.assert_allclose(solver.solve(b), inverse @ b, rtol=1e-9, atol=1e-12)
        assert solver.trace_inverse() == pytest.approx(np.trace(inverse), rel=1e-12)
    np.testing.assert_array_equal(lower, np.tril(gram))  # nothing was overwritten


@pytest.mark.parametrize(("n", "p"), [(14, 28), (16, 16), (17, 16), (28, 14)])
@pytest.mark.parametrize("many", [False, True])
def test_small_gamma_against_many_digits(n: int, p: int, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ridge, "MANY_GAMMAS", 2 if many else 99)
    gammas = [1e-4, 1e-6, 1e-8, 1e-10, 1e-13]
    specification = attention_specification(np.tanh, [1.5] * 6, n, p, gammas)
    tokens = specification.tokens.draw(np.random.SeedSequence(3))
    A = specification.features(tokens)
    found = ridge_values(A, tokens.y, gammas)

    context = local_context(240)
    exact = context.matrix(A.tolist())
    eigenvalues, vectors = context.eigsy(exact.T * exact / n)
    coordinates = [x**2 for x in vectors.T * context.matrix(tokens.y.tolist())]
    for index, gamma in enumerate(map(context.mpf, gammas)):
        pairs = list(zip(eigenvalues, coordinates, strict=True))
        error = sum(x * (gamma / (e + gamma)) ** 2 for e, x in pairs) / n
        quadratic_form = sum(x / (e + gamma) for e, x in pairs) / n
        trace = sum(1 / (e + gamma) for e, _ in pairs) / n
        assert found.error[index] == pytest.approx(float(error), rel=1e-11)
        assert found.quadratic_form[index] == pytest.approx(float(quadratic_form), rel=1e-11)
        # the trace is not refined: rounding errors of the Gram matrix count against SMALL_GAMMA
        assert found.trace[index] == pytest.approx(float(trace), rel=np.finfo(float).eps / ridge.SMALL_GAMMA)


def test_zero_features() -> None:
    y = np.ones(3)
    np.testing.assert_allclose(as_rows(ridge_values(np.zeros((2, 3)), y, [0.5])).ravel(), [1, 2, 2])
