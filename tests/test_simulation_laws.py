"""Exact symmetries of the finite model, and limits that other code computed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hermite_rmt.simulation.attention import attention_specification, simulate_attention
from hermite_rmt.simulation.estimate import Estimate, Statistic
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.noise import NOISES
from hermite_rmt.simulation.trial import Specification, simulate

pytestmark = pytest.mark.usefixtures("one_blas_thread")

NOISE_ONLY = [0, 0, 0, 0, 0, 0]
GENERAL = [1.5, 0.5, -0.4, 1.2, 0.9, 0.3]


def centred_relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) - 1 / math.sqrt(2 * math.pi)


def h2(x: np.ndarray) -> np.ndarray:
    return (x**2 - 1) / math.sqrt(2)


def mixture(x: np.ndarray) -> np.ndarray:
    """Return 0.6 h_1 + sqrt(0.14) h_2: a_1 = 0.6, nu = 0.5."""
    return 0.6 * x + math.sqrt(0.14) * h2(x)


def run(f: object = np.tanh, gamma: float = 0.1, **changes: object) -> Estimate:
    arguments = {"overlaps": GENERAL, "n": 40, "p": 30, "trials": 3, "rng": 5, "diagonal": 0.3, "skip": 0.2}
    (estimate,) = simulate_attention(f, gammas=[gamma], **(arguments | changes))  # type: ignore[arg-type]
    return estimate


def same_errors(first: Estimate, second: Estimate) -> None:
    np.testing.assert_allclose(first.error.samples, second.error.samples, rtol=1e-10)


def test_skip_is_a_constant_on_the_diagonal() -> None:
    same_errors(run(diagonal=0.3, skip=0.2), run(diagonal=0.5, skip=0.0))


@pytest.mark.parametrize("scale", [-1.0, 0.1, -7.0])
def test_scaling_f_is_scaling_gamma(scale: float) -> None:
    scaled = run(lambda x: scale * np.tanh(x), gamma=0.1 * scale**2, diagonal=0.3 * scale, skip=0.2 * scale)
    same_errors(scaled, run())
    np.testing.assert_allclose(scaled.trace.samples * scale**2, run().trace.samples, rtol=1e-10)


def test_signs_of_the_labels() -> None:
    """(mu, y) -> (-mu, -y) leaves the tokens, and turns the sign of what is fitted."""
    labels, mu = np.where(np.arange(40) % 2, 1.0, -1.0), np.arange(30) / 100
    one = run(overlaps=None, labels=labels, mu=mu)
    same_errors(one, run(overlaps=None, labels=-labels, mu=-mu))
    assert not np.allclose(one.error.samples, run(overlaps=None, labels=labels, mu=2 * mu).error.samples)


def test_weights_scale_against_each_other() -> None:
    """(w_K, w_Q) -> (t w_K, w_Q / t) is exact at finite n too."""
    rng = np.random.default_rng(0)
    mu, w_K, w_Q = rng.standard_normal((3, 30)) / 5
    same_errors(run(overlaps=None, mu=mu, w_K=w_K, w_Q=w_Q), run(overlaps=None, mu=mu, w_K=-2 * w_K, w_Q=-w_Q / 2))


def near(statistic: Statistic, limit: float, n: int, alarm: float = 1e-4, other: float = 0.0) -> None:
    """Assert a limit: Student's interval, 3/n of the value for the bias, and the reference's own uncertainty."""
    low, high = statistic.interval(1 - alarm)
    allowance = 3 * abs(limit) / n + other
    assert low - allowance <= limit <= high + allowance, f"{statistic!r} against {limit}"


@pytest.mark.parametrize("noise", sorted(set(NOISES) - {"exponential"}))
def test_symmetric_noise_has_the_gaussian_limit(noise: str) -> None:
    (estimate,) = simulate_attention(mixture, NOISE_ONLY, 300, 150, [0.1], trials=20, rng=1, noise=noise)
    near(estimate.error, 0.583793881608473, 300)


def test_unbalanced_labels_see_the_second_coefficient() -> None:
    """h_2, 1^T y / n = 1/2: E = 0.4375, where balanced labels have 0.500."""
    n = 400
    labels = np.where(np.arange(n) < 3 * n // 4, 1.0, -1.0)
    limits = ((labels, 0.4375), (None, 0.500))
    for given, limit in limits:
        (estimate,) = simulate_attention(h2, NOISE_ONLY, n, n // 2, [1e-3], trials=20, rng=1, labels=given)
        near(estimate.error, limit, n, other=5e-4)  # both limits are known to three digits


def test_full_rank_weights() -> None:
    """A Gaussian W, p = 300: the limit of its own singular values, tr Q / n = 6.7086, known to 0.007."""
    W = np.random.default_rng(0).standard_normal((300, 300))
    (estimate,) = simulate_attention(np.tanh, NOISE_ONLY, 600, 300, [0.1], trials=4, rng=0, weights=W)
    near(estimate.trace, 6.7086, 600, other=0.007)


@pytest.mark.parametrize(("c", "limit"), [(0.5, 5.168236), (2.0, 3.061239)])
def test_two_heads(c: float, limit: float) -> None:
    """Features of tanh and centred relu side by side: tr Q / n at gamma = 0.1."""
    n = 400
    heads = [AttentionFeatures(np.tanh), AttentionFeatures(centred_relu)]
    tokens = attention_specification(np.tanh, NOISE_ONLY, n, round(c * n), [0.1]).tokens
    specification = Specification(tokens, lambda drawn: np.vstack([head(drawn) for head in heads]), (0.1,))
    (estimate,) = simulate(specification, trials=6, rng=0)
    near(estimate.trace, limit, n)
