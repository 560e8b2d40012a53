"""Simulated models: laws of large numbers, reproducibility, arguments."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from hermite_rmt.simulation.attention import attention_specification, simulate_attention
from hermite_rmt.simulation.estimate import Estimate, Statistic
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.kernel import attention_kernel
from hermite_rmt.simulation.linear_regression import linear_regression_specification, simulate_linear_regression
from hermite_rmt.simulation.seeds import trial_seeds
from hermite_rmt.simulation.trial import run_trial, summarise

pytestmark = pytest.mark.usefixtures("one_blas_thread")

NOISE_ONLY = [0, 0, 0, 0, 0, 0]


def centred_relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) - 1 / math.sqrt(2 * math.pi)


def mixture(x: np.ndarray) -> np.ndarray:
    """Return 0.6 h_1 + sqrt(0.14) h_2: a_1 = 0.6, nu = 0.5."""
    return 0.6 * x + math.sqrt(0.14) * (x**2 - 1) / math.sqrt(2)


def agree(checks: Sequence[tuple[Statistic, float]], n: int, alarm: float = 1e-3) -> None:
    """Assert that all means are the limits.

    Student's quantile for the number of trials, Bonferroni over the family: right limits fail with probability at
    most `alarm`, but for the O(1/n) bias, for which 3/n of the value is allowed (measured: below 2.1/n for regression
    at gamma >= 0.01, 2.5/n for h_2).
    """
    for statistic, limit in checks:
        low, high = statistic.interval(1 - alarm / len(checks))
        allowance = 3 * limit / n
        assert low - allowance <= limit <= high + allowance, f"{statistic!r} against {limit}"


@pytest.mark.parametrize("mu_mu", [0.0, 1.5])
def test_regression_has_its_closed_form(mu_mu: float) -> None:
    n, gammas = 200, [0.01, 0.1, 1.0, 10.0]
    checks = []
    for p in (40, 100, 200, 400):
        for estimate in simulate_linear_regression(mu_mu, n, p, gammas, trials=30, rng=1):
            c, gamma = p / n, estimate.gamma
            delta = math.sqrt((gamma + c + 1) ** 2 - 4 * c)
            tau = 2 / (gamma + c + 1 + delta)
            m = tau / (1 - tau)  # the Marchenko-Pastur resolvent
            q = m * (1 + m) / (1 + m + mu_mu * m)
            error = (1 - c * tau) / (1 + mu_mu * tau) - gamma * (c + mu_mu) * tau / ((1 + mu_mu * tau) ** 2 * delta)
            checks += [(estimate.error, error), (estimate.quadratic_form, q), (estimate.trace, m)]
    agree(checks, n)


def test_attention_without_linear_part_has_its_closed_form() -> None:
    """a_1 = 0, d = 0: E from the root D of D^2 (D + c - 1) = (c gamma/nu)(1 - D), whatever signal and weights."""
    n, gammas, checks = 200, [0.1, 1.0, 10.0], []
    nu = (1 + math.exp(-2)) / 2 - math.exp(-1)
    for overlaps in (NOISE_ONLY, [1, 1, 1, 1, 1, 1]):
        for p in (100, 300):
            for estimate in simulate_attention(
                lambda x: np.cos(x) - math.exp(-0.5), overlaps, n, p, gammas, trials=20, rng=2
            ):
                c, ratio = p / n, p / n * estimate.gamma / nu
                roots = np.roots([1, c - 1, ratio, -ratio])
                (D,) = (root.real for root in roots if abs(root.imag) < 1e-9 and 0 < root.real < 1)
                error = D - D**2 * (D + c - 1) / (3 * D**2 + 2 * (c - 1) * D + ratio)
                checks += [(estimate.error, error), (estimate.quadratic_form, D / estimate.gamma)]
                checks.append((estimate.trace, D / estimate.gamma))
    agree(checks, n)


def test_attention_has_independent_limits() -> None:
    """Limits with signal and weights from a derivation that shares nothing with this code (30 digits there)."""
    n, checks = 240, []
    for f, overlaps, c, gamma, error in (
        (mixture, NOISE_ONLY, 0.5, 0.1, 0.583793881608473),
        (mixture, NOISE_ONLY, 2, 0.01, 0.088660812130774),
        (mixture, [1.5, 0, 0, 0, 0, 0], 0.5, 0.1, 0.260415370946842),
        (mixture, [2, 0.5, -0.6, 1.3, 0.7, -0.4], 2, 1, 0.365808674100799),
        (mixture, [1.5] * 6, 1, 0.1, 0.163341021575517),
        (mixture, [1.5, 1.5, -1.5, 1.5, 1.5, -1.5], 0.5, 10, 0.627626309326656),
        (np.sign, [1.5] * 6, 1, 1, 0.252379816869287),
    ):
        (estimate,) = simulate_attention(f, overlaps, n, round(c * n), [gamma], trials=20, rng=3)
        checks.append((estimate.error, error))
    agree(checks, n)


def test_weights_in_place_of_rank_one_weights() -> None:
    """W = I + w_K w_Q^T as a matrix is the same model, its scores divided by sqrt(tr W W^T/p)."""
    n, p = 30, 20
    specification = attention_specification(np.tanh, [1, 0.5, 0, 1, 1, 0.2], n, p, [0.1])
    tokens = specification.tokens.draw(np.random.SeedSequence(0))
    W = np.eye(p) + np.outer(tokens.w_K, tokens.w_Q)
    size = np.linalg.norm(W) / math.sqrt(p)
    stretched = AttentionFeatures(lambda x: np.tanh(size * x), weights=W)
    np.testing.assert_allclose(stretched(tokens), specification.features(tokens), atol=1e-13)
    np.testing.assert_allclose(
        attention_kernel(tokens.X, np.tanh, tokens.w_K, tokens.w_Q, weights=3 * W),
        attention_kernel(tokens.X, np.tanh, tokens.w_K, tokens.w_Q, weights=W),
        atol=1e-13,
    )


def test_same_seed_same_results_one_by_one_or_together() -> None:
    arguments = {"n": 20, "p": 15, "gammas": [0.1, 1.0]}
    together = simulate_attention(np.tanh, [1] * 6, trials=4, rng=7, **arguments)
    specification = attention_specification(np.tanh, [1] * 6, **arguments)
    seeds = trial_seeds(7, 4)
    backwards = [run_trial(specification, seed) for seed in reversed(seeds)]
    for first, second in zip(together, summarise(specification, reversed(backwards)), strict=True):
        np.testing.assert_array_equal(first.error.samples, second.error.samples)
        np.testing.assert_array_equal(first.trace.samples, second.trace.samples)
    fewer = simulate_attention(np.tanh, [1] * 6, trials=2, rng=7, **arguments)
    np.testing.assert_array_equal(fewer[0].error.samples, together[0].error.samples[:2])


def test_trials_travel_to_spawned_workers() -> None:
    specification = attention_specification(centred_relu, [1] * 6, 20, 15, [0.1])
    seeds = trial_seeds(7, 3)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        remote = list(executor.map(run_trial, [specification] * 3, seeds))
    for seed, result in zip(seeds, remote, strict=True):
        np.testing.assert_array_equal(result.error, run_trial(specification, seed).error)
    assert pickle.loads(pickle.dumps(summarise(specification, remote)))[0].trials == 3


def test_trials_are_independent() -> None:
    (estimate,) = simulate_attention(np.tanh, NOISE_ONLY, 16, 16, [0.1], trials=200, rng=0)
    samples = estimate.error.samples
    assert len(set(samples)) == 200
    assert abs(np.corrcoef(samples[:-1], samples[1:])[0, 1]) < 5 / math.sqrt(199)


def test_models_with_one_seed_see_the_same_tokens() -> None:
    """Comparisons are paired: noise, labels and signal are the same whatever f and the weights."""
    seed = trial_seeds(7, 1)[0]
    first, second, third = (
        specification.tokens.draw(seed)
        for specification in (
            attention_specification(np.tanh, [1.5, 0.5, 0, 1, 1, 0], 20, 15, [0.1]),
            attention_specification(np.sign, [1.5, 0, 0, 0, 0, 0], 20, 15, [0.2]),
            linear_regression_specification(1.5, 20, 15, [0.1]),
        )
    )
    np.testing.assert_allclose(first.X, second.X, atol=1e-14)
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(second.X, third.X)


def test_statistic() -> None:
    statistic = Statistic(np.array([1.0, 2.0, 3.0, 6.0]))
    assert statistic.mean == 3
    assert statistic.standard_deviation == pytest.approx(math.sqrt(14 / 3))
    assert statistic.standard_error == pytest.approx(math.sqrt(14 / 3 / 4))
    low, high = statistic.interval(0.5)  # the quartile of Student's t with 3 degrees of freedom is 0.764892...
    assert high - 3 == pytest.approx(0.7648923284 * statistic.standard_error, rel=1e-9)
    assert low + high == pytest.approx(6)
    assert statistic.interval(0.99)[1] > high
    assert repr(statistic) == "3.0 +/- 1.1 (4 trials)"
    for level in (0, 1, -1, 95, math.nan):
        with pytest.raises(ValueError, match="level: got"):
            statistic.interval(level)


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([0.51234, 0.51236], "0.512350 +/- 0.000010 (2 trials)"),
        ([0.5], "0.5 (1 trial)"),
        ([0.5, 0.5], "0.5 +/- 0 (2 trials)"),
        ([1000.0, 3000.0], "2000 +/- 1000 (2 trials)"),
        ([0.1, 0.2], "0.150 +/- 0.050 (2 trials)"),
    ],
)
def test_statistic_is_printed_to_its_standard_error(samples: list[float], text: str) -> None:
    assert repr(Statistic(np.array(samples))) == text


def test_one_trial_has_no_standard_error() -> None:
    (estimate,) = simulate_linear_regression(0, 10, 5, [0.1], trials=1, rng=0)
    assert isinstance(estimate, Estimate)
    assert math.isnan(estimate.error.standard_error)
    assert estimate.error.interval() == (-math.inf, math.inf)
    assert (estimate.c, estimate.trials, estimate.gamma) == (0.5, 1, 0.1)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"f": "tanh(x)"}, TypeError, "f: got 'tanh"),
        ({"f": lambda x: x[:1]}, ValueError, "f: got values of shape"),
        ({"f": lambda x: x + 1j}, TypeError, "f: got values of dtype complex"),
        ({"f": lambda x: np.where(x > 0, x, np.nan)}, ValueError, "f: got nan or infinite values"),
        ({"gammas": []}, ValueError, "gammas: got an empty"),
        ({"gammas": 0.1}, TypeError, "gammas: got 0.1"),
        ({"gammas": np.array(0.1)}, TypeError, "gammas: got"),
        ({"gammas": [[0.1]]}, TypeError, "gammas: got"),
        ({"gammas": "1"}, TypeError, "gammas: got '1'"),
        ({"gammas": [0.1, 0.0]}, ValueError, "gammas: got 0"),
        ({"gammas": [math.nan]}, ValueError, "gammas: got nan"),
        ({"gammas": [math.inf]}, ValueError, "gammas: got inf"),
        ({"trials": 0}, ValueError, "trials: got 0"),
        ({"trials": 2.0}, TypeError, "trials: got 2.0"),
        ({"diagonal": math.inf}, ValueError, "diagonal: got inf"),
        ({"skip": "a"}, TypeError, "skip: got 'a'"),
        ({"n": 0}, ValueError, "n: got 0"),
        ({"weights": np.eye(3)}, ValueError, r"weights: got shape \(3, 3\)"),
        ({"weights": np.zeros((8, 8))}, ValueError, "weights: got the zero matrix"),
        ({"weights": np.eye(8), "overlaps": [0, 0, 0, 1, 1, 0]}, ValueError, "weights: got a matrix beside"),
    ],
)
def test_bad_arguments(changes: dict[str, object], error: type[Exception], message: str) -> None:
    arguments = {"f": np.tanh, "overlaps": NOISE_ONLY, "n": 10, "p": 8, "gammas": [0.1], "trials": 1, "rng": 0}
    with pytest.raises(error, match=message):
        simulate_attention(**(arguments | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"mu_mu": -1}, ValueError, "mu_mu: got -1"),
        ({"mu_mu": "1"}, TypeError, "mu_mu: got '1'"),
        ({"mu_mu": 2, "mu": [1, 0, 0]}, ValueError, r"mu: got mu \. mu = 1; allowed: 2"),
        ({"gammas": [-1]}, ValueError, "gammas: got -1"),
    ],
)
def test_bad_arguments_of_regression(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        simulate_linear_regression(**({"mu_mu": 0, "n": 4, "p": 3, "gammas": [0.1]} | changes))  # type: ignore[arg-type]


def test_f_sees_no_score_of_a_token_with_itself() -> None:
    """A replaced diagonal and the unset triangle are never evaluated: no warning, no overflow from there."""
    scores: list[float] = []

    def f(x: np.ndarray) -> np.ndarray:
        scores.extend(np.abs(x).ravel())
        return np.log(np.abs(x))  # numpy warns at 0, and warnings are errors here

    specification = attention_specification(f, NOISE_ONLY, 150, 400, [0.1])
    run_trial(specification, np.random.SeedSequence(0))
    assert min(scores) > 0
    assert max(scores) < math.sqrt(400) / 2  # a token's own score is near sqrt p
