"""CorrelatedAttention: laws, values of theory, simulation, and what is refused."""

import math
import pickle

import numpy as np
import pytest

import hermite_rmt as hr
from hermite_rmt.simulation.correlation import TokenCorrelation
from hermite_rmt.theory.correlated_attention import CorrelatedAttention

COS = hr.Nonlinearity("cos(x)").centred()
OVERLAPS = hr.Overlaps(1, "1/2", "3/10", "1/2", "1/2", "1/5")


@pytest.mark.parametrize(
    ("f", "rho", "frequency", "value"),
    [
        ("tanh(x)", 0.3, None, 7.000),
        ("tanh(x)", 0.3, math.pi, 7.488),
        ("tanh(x)", 0.6, None, 7.104),
        (COS, 0.6, None, 7.070),
        (COS, 0.6, math.pi, 8.194),
    ],
)
def test_known_values(f, rho, frequency, value):
    model = CorrelatedAttention(f, rho, label_frequency=frequency)
    assert abs(model.quadratic_form(0.5, 0.1) - value) < 5.1e-4


def test_attention_makes_it():
    model = hr.Attention("tanh(x)", token_correlation=0.3, overlaps=OVERLAPS, label_frequency=1)
    same = CorrelatedAttention("tanh(x)", 0.3, OVERLAPS, label_frequency=1)
    assert isinstance(model, CorrelatedAttention)
    assert model.error(1, 0.1) == same.error(1, 0.1)
    with pytest.raises(TypeError, match="token_correlation: got one beside weights"):
        hr.Attention("tanh(x)", token_correlation=0.3, weights=np.eye(3))
    with pytest.raises(TypeError, match="a1"):
        hr.Attention(a1=0.3, nu=0.2, token_correlation=0.3)


def test_uncorrelated_tokens_are_attention():
    settings = {"overlaps": OVERLAPS, "diagonal": "3/10", "skip": "-1/10"}
    for f in ("tanh(x)", hr.Nonlinearity("relu(x)").centred()):
        plain = hr.Attention(f, **settings)
        for correlation in (0, [], [0.0]):
            same = CorrelatedAttention(f, correlation, **settings)
            c, gamma = np.array([0.3, 1, 3])[:, None], np.array([1e-6, 0.1, 1e4])
            for name in ("trace", "quadratic_form", "error"):
                ours, theirs = (getattr(model, name)(c, gamma) for model in (same, plain))
                np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_a_geometric_correlation_is_its_lags():
    lags = [0.5**j for j in range(1, 50)]
    errors = [CorrelatedAttention("tanh(x)", t, OVERLAPS).error(0.5, [0.01, 1]) for t in (0.5, lags)]
    np.testing.assert_allclose(*errors, rtol=1e-9)


def test_alternating_signs_mirror_the_frequency():
    # y_i z_i with y_i = (-1)^i: the sign of every other token and label flips, for an odd f the kernel with them
    model, mirrored = (
        CorrelatedAttention("tanh(x)", rho, label_frequency=frequency)
        for rho, frequency in ((0.6, 0), (-0.6, math.pi))
    )
    assert model.error(0.5, 0.1) == pytest.approx(mirrored.error(0.5, 0.1), rel=1e-10)


def test_the_trace_is_the_mean_over_frequencies():
    model = CorrelatedAttention("sign(x)", [0.3, -0.1])
    frequencies = 2 * np.pi * np.arange(64) / 64
    forms = CorrelatedAttention("sign(x)", [0.3, -0.1], label_frequency=frequencies).quadratic_form(2, 0.3)
    assert model.trace(2, 0.3) == pytest.approx(forms.mean(), rel=1e-12)


def test_the_error_is_the_derivative_by_the_ridge():
    model = CorrelatedAttention("sign(x)", 0.4, OVERLAPS)
    step = 1e-5
    q = model.quadratic_form(0.7, [0.2 * math.exp(-step), 0.2 * math.exp(step)])
    slope = (q[1] - q[0]) / (2 * step * 0.2)
    assert model.error(0.7, 0.2) == pytest.approx(-(0.2**2) * slope, rel=1e-7)


def test_the_bounds_of_every_ridge_regression():
    model = CorrelatedAttention("sign(x)", 0.8, OVERLAPS)
    gamma = np.logspace(-6, 4, 11)
    solution = model.solve(1, gamma)
    scaled = gamma * solution["quadratic_form"]
    assert (np.diff(solution["error"]) > 0).all()
    assert ((scaled**2 <= solution["error"]) & (solution["error"] <= scaled) & (scaled <= 1)).all()


@pytest.mark.parametrize("rho", [0.3, -0.6])
def test_simulation_agrees_with_the_band_at_that_size(rho):
    model = CorrelatedAttention("tanh(x)", rho, OVERLAPS, band_at=160)  # also with a signal and weights
    estimate = model.simulate(n=320, p=160, gamma=0.1, trials=10, rng=4)
    solution = model.solve(0.5, 0.1)
    for name in ("trace", "error"):
        found = getattr(estimate, name)
        assert abs(found.mean - solution[name]) < 5 * found.standard_error + 5 / 320 * solution[name]
    limit = CorrelatedAttention("tanh(x)", rho).trace(0.5, 0.1)
    assert abs(limit - estimate.trace.mean) > 3 * abs(solution["trace"] - estimate.trace.mean)


def test_a_relu_keeps_its_slope_beside_the_diagonal():
    relu = hr.Nonlinearity("relu(x)").centred()
    far = CorrelatedAttention(relu, 0.4, band_at=10**12)
    assert CorrelatedAttention(relu, 0.4).trace(0.5, 0.1) == pytest.approx(far.trace(0.5, 0.1), rel=1e-5)
    bounded = CorrelatedAttention("tanh(x)", 0.4, band_at=10**12)
    assert CorrelatedAttention("tanh(x)", 0.4).trace(0.5, 0.1) == pytest.approx(bounded.trace(0.5, 0.1), rel=1e-4)


def test_drawn_tokens_have_the_correlation():
    model = CorrelatedAttention("tanh(x)", [0.4, 0.2])
    correlation = TokenCorrelation.read([0.4, 0.2])
    factor = correlation.factor(6)
    np.testing.assert_allclose((factor @ factor.T)[0], [1, 0.4, 0.2, 0, 0, 0], atol=1e-12)
    first, second = (model.simulate(n=30, p=20, gamma=1, trials=2, rng=5).error.samples for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_it_sweeps_pickles_and_prints():
    model = CorrelatedAttention("tanh(x)", 0.3, label_frequency=1, band_at=20)
    data = hr.sweep(model, c=[0.5, 1], gamma=1, simulate={"n": 40, "trials": 2, "rng": 0})
    assert data.error_simulated.shape == (2, 1)
    copy = pickle.loads(pickle.dumps(model))
    again = eval(
        repr(model), vars(hr) | {"CorrelatedAttention": CorrelatedAttention, "Nonlinearity": hr.Nonlinearity}
    )
    assert copy.describe() == again.describe() == model.describe()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tanh(x)", 1), "token_correlation: got 1.0"),
        (("tanh(x)", [0.9]), "symbol is -0.8 at the frequency 3.142"),
        (("tanh(x)", [[0.1]]), "token_correlation: got shape"),
        (("x^2 - 1", 0.2), "grows faster than linearly"),
        (("relu(x)", 0.2), "centred"),
        (("tanh(x)", 0.2, None, 0, 0, None, 0), "band_at: got 0"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CorrelatedAttention(*arguments)


def test_digits_are_refused_by_name():
    with pytest.raises(NotImplementedError, match="digits="):
        CorrelatedAttention("tanh(x)", 0.2).error(1, 1, digits=30)
