from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hermite_rmt as hr
from hermite_rmt.core.numbers import read_real
from hermite_rmt.study import compare
from hermite_rmt.study.crossings import SCAN_POINTS, crossings
from hermite_rmt.study.scale import feature_energy

POSITIVE = st.floats(0.1, 5)


@st.composite
def attentions(draw: st.DrawFn) -> hr.Attention:
    # thousandths: the energy is the subject here, not the solver's extremes
    a1, diagonal, skip, strength = (draw(st.integers(-1000, 1000)) / 1000 for _ in range(4))
    gap, norm = (draw(st.integers(10, 2000)) / 1000 for _ in range(2))
    overlaps = hr.Overlaps.aligned(norm, strength)
    return hr.Attention(a1=2 * a1, nu=4 * a1**2 + gap, diagonal=diagonal, skip=skip, overlaps=overlaps)


class Curve:
    """A stand-in for a model whose error is a given function of log c."""

    def __init__(self, error: Any) -> None:
        self.name, self._error = "curve", error

    def parameters(self) -> dict[str, Any]:
        return {}

    def describe(self) -> dict[str, str]:
        return {"model": "curve"}

    def solve(self, c: Any, gamma: Any) -> dict[str, Any]:
        error = self._error(np.log(c)) + 0 * np.asarray(gamma)
        return {"error": error, "quadratic_form": error, "trace": error}


@settings(max_examples=20)
@given(attentions(), POSITIVE)
def test_energy_is_what_a_large_ridge_sees(model: hr.Attention, c: float) -> None:
    # gamma (1 - gamma m) -> lim tr(A^T A)/n^2 = c * energy, up to 1/gamma
    gamma = 10**15
    m = read_real(model.trace(c, gamma, digits=45), "m").rational
    assert m is not None
    assert float(gamma * (1 - gamma * m)) == pytest.approx(c * float(feature_energy(model, c)), rel=1e-11)


@pytest.mark.parametrize(("p", "diagonal", "skip"), [(200, 0.0, 0.0), (600, 0.3, -0.8)])
def test_energy_of_simulated_features(p: int, diagonal: float, skip: float) -> None:
    n, trials = 400, 8
    model = hr.Attention("tanh(x)", diagonal=diagonal, skip=skip)
    rng = np.random.default_rng(0)
    energies = []
    for _ in range(trials):
        X = rng.standard_normal((p, n))
        K = np.tanh(X.T @ X / np.sqrt(p)) / np.sqrt(p)
        np.fill_diagonal(K, diagonal + skip)
        energies.append(np.mean((X @ K) ** 2))
    expected = float(feature_energy(model, p / n))
    # the gap is O(1/n); the spread of a mean square over n p entries smaller still
    assert np.mean(energies) == pytest.approx(expected, rel=4 / n)


@settings(max_examples=20)
@given(attentions(), st.floats(0.1, 10), POSITIVE, POSITIVE)
def test_equal_trace_norm_does_not_see_the_scale_of_f(
    model: hr.Attention, scale: float, c: float, gamma: float
) -> None:
    values = {name: parameter.floats.item() for name, parameter in model.parameters().items()}
    scaled = hr.Attention(
        a1=scale * values["a1"],
        nu=scale**2 * values["nu"],
        diagonal=scale * values["diagonal"],
        skip=scale * values["skip"],
        overlaps=model.overlaps,
    )
    data = compare([model, scaled], c, gamma, scale="trace")
    for name in ("error", "quadratic_form", "trace"):
        first, second = data[name].values.ravel()
        assert first == pytest.approx(second, rel=1e-7)


def test_equal_scale_is_the_models_themselves() -> None:
    models = [hr.Attention("tanh(x)"), hr.LinearRegression(1)]
    data = compare(models, [0.5, 2], [0.1, 1])
    assert data.model.values.tolist() == ["attention", "linear_regression"]
    for model in models:
        np.testing.assert_array_equal(data.error.sel(model=model.name), model.error([[0.5], [2]], [[0.1, 1]]))


def test_labels_tell_models_apart() -> None:
    models = [hr.Attention("tanh(x)"), hr.Attention("sin(x)"), hr.Attention("sin(x)"), hr.LinearRegression()]
    assert compare(models, 1, 1).model.values.tolist() == [
        "attention tanh(x)",
        "attention sin(x) 1",
        "attention sin(x) 2",
        "linear_regression",
    ]


def test_crossings_of_the_models_are_crossings() -> None:
    models = [hr.Attention("tanh(x)", overlaps=hr.Overlaps.aligned(1)), hr.LinearRegression(1)]
    data = compare(models, c=[0.02, 50], gamma=[0.01, 0.1, 1], scale="trace")
    assert data.sizes["crossing"] > 0
    for gamma in data.gamma.values:
        fine = compare(models, c=np.geomspace(0.02, 50, 3000), gamma=gamma, scale="trace")
        gap = fine.error.values[0, :, 0] - fine.error.values[1, :, 0]
        changes = np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1]))
        found = np.sort(data.crossing_c.values[data.crossing_gamma.values == gamma])
        assert len(found) == len(changes)
        assert ((fine.c.values[changes] <= found) & (found <= fine.c.values[changes + 1])).all()
    for k in range(data.sizes["crossing"]):
        point = compare(models, data.crossing_c.values[k], data.crossing_gamma.values[k], scale="trace")
        np.testing.assert_allclose(point.error.values.ravel(), data.crossing_error.values[k], rtol=1e-12)


@pytest.mark.parametrize("centre", [-1.234567, 0.3, 2.0])
@pytest.mark.parametrize("half_width", [1e-4, 1e-3, 0.5])
def test_pairs_of_crossings_between_scanned_points_are_found(centre: float, half_width: float) -> None:
    first = Curve(lambda x: 0.5 + (x - centre) ** 2)
    second = Curve(lambda x: 0.5 + half_width**2 + 0 * x)
    found = crossings(first, second, "c", (np.exp(-3), np.exp(3)), gamma=1.0)
    np.testing.assert_allclose(
        np.log([point.value for point in found]), [centre - half_width, centre + half_width], rtol=1e-7
    )
    assert [point.rising for point in found] == [False, True]


def test_curves_that_touch_or_agree_do_not_cross() -> None:
    touching = Curve(lambda x: 0.5 + x**2), Curve(lambda x: 0.5 - 1e-9 + 0 * x)
    equal = Curve(lambda x: 0.5 + x**2), Curve(lambda x: (0.5 + x**2) * (1 + 1e-15))
    for first, second in (touching, equal):
        assert crossings(first, second, "c", (0.1, 10), gamma=1.0) == []
        assert compare([first, second], [0.1, 10], 1.0).sizes["crossing"] == 0


def test_a_curve_is_scanned_once_for_all_comparisons() -> None:
    counted: list[int] = []

    def error(log_c: Any) -> Any:
        counted.append(np.size(log_c))
        return 1.0 + 0 * np.asarray(log_c)

    slow = Curve(error)
    others = [Curve(lambda x, k=k: 2.0 + k + x) for k in range(4)]
    compare([slow, *others], [0.5, 2], 1.0)
    assert counted.count(SCAN_POINTS) == 1
    compare([slow], [0.5, 2], 1.0)  # alone it crosses nothing
    assert counted.count(SCAN_POINTS) == 1


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"scale": "norm"}, ValueError, "scale: got 'norm'"),
        ({"models": []}, ValueError, "models: got none"),
        ({"models": [hr.LinearRegression([0, 1])]}, ValueError, "mu_mu: got an array"),
        ({"c": 0}, ValueError, "c: got 0"),
        ({"models": [Curve(np.exp)], "scale": "trace"}, TypeError, "model: got"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        compare(**{"models": [hr.LinearRegression()], "c": 1, "gamma": 1, **change})


def test_a_model_needs_no_energy_at_equal_scale() -> None:
    stand_in = SimpleNamespace(
        name="curve", nonlinearity=None, **{k: getattr(Curve(np.exp), k) for k in ("parameters", "describe", "solve")}
    )
    assert compare([stand_in], 1.0, 1.0).error.item() == 1.0


def test_one_model_is_compared_with_none_and_what_is_no_model_is_named() -> None:
    alone = hr.LinearRegression()
    assert hr.compare(alone, 1, 1).identical(hr.compare([alone], 1, 1))
    for wrong in (5, [alone, 5]):
        with pytest.raises(TypeError, match="models: got 5; allowed: a model"):
            hr.compare(wrong, 1, 1)
