"""Derivatives and degrees of freedom of models, and the inverse questions: crossings, thresholds, the best f."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Rational

import hermite_rmt as hr
from hermite_rmt.study.evidence.spectra import SIZE, UNIT, Y, Z, kernel_equivalent
from hermite_rmt.study.gap import Gap
from hermite_rmt.study.proved_crossings import isolate
from hermite_rmt.theory.bulk_edges import spectrum_edges
from hermite_rmt.theory.outliers import threshold

STEP = Fraction(1, 10**20)
NOISE = {"a1": "0.6", "nu": "0.5", "diagonal": "0.1", "skip": "0.2"}
GRAM = {"mu_mu": "1.5", "mu_K": "0.4", "mu_Q": "-0.3", "K_K": "0.8", "Q_Q": "1.1", "K_Q": "0.2"}
ATTENTION = NOISE | GRAM
REGRESSION = {"mu_mu": "1.5"}


def attention(**values: Any) -> hr.Attention:
    return hr.Attention(
        **{name: values[name] for name in NOISE}, overlaps=hr.Overlaps(**{name: values[name] for name in GRAM})
    )


def at_point(make: Any, values: dict[str, Any]) -> tuple[Any, Any, Any]:
    return make(**{k: v for k, v in values.items() if k not in ("c", "gamma")}), values["c"], values["gamma"]


@pytest.mark.parametrize(
    ("make", "values", "parameter"),
    [(attention, ATTENTION, name) for name in ("c", "gamma", *ATTENTION)]
    + [(hr.LinearRegression, REGRESSION, name) for name in ("c", "gamma", "mu_mu")],
)
@pytest.mark.parametrize(("c", "gamma"), [("0.5", "0.1"), ("3", "0.01")])
def test_derivative_against_differences_of_high_precision(
    make: Any, values: dict[str, str], parameter: str, c: str, gamma: str
) -> None:
    point = {"c": c, "gamma": gamma, **values}
    model, *place = at_point(make, point)
    slope = model.derivative(parameter, *place, digits=25)
    ends = []
    for sign in (-1, 1):
        moved = point | {parameter: Fraction(point[parameter]) + sign * STEP}
        shifted, *there = at_point(make, moved)
        ends.append(shifted.error(*there, digits=70))
    with mpmath.workdps(80):
        difference = (ends[1] - ends[0]) / 2 * STEP.denominator
        assert abs(slope - difference) < mpmath.mpf(10) ** -23 * (abs(slope) + 1)
    assert model.derivative(parameter, *place) == pytest.approx(float(slope), rel=1e-8, abs=0)


@pytest.mark.parametrize("of", ["quadratic_form", "trace", "degrees_of_freedom"])
@pytest.mark.parametrize(("make", "values"), [(attention, ATTENTION), (hr.LinearRegression, REGRESSION)])
def test_derivatives_of_the_other_values(make: Any, values: dict[str, str], of: str) -> None:
    point = {"c": "0.5", "gamma": "0.1", **values}
    for parameter in point:
        model, *place = at_point(make, point)
        slope = model.derivative(parameter, *place, digits=25, of=of)
        ends = []
        for sign in (-1, 1):
            shifted, *there = at_point(make, point | {parameter: Fraction(point[parameter]) + sign * STEP})
            ends.append(getattr(shifted, of)(*there, digits=70))
        with mpmath.workdps(80):
            difference = (ends[1] - ends[0]) / 2 * STEP.denominator
            assert abs(slope - difference) < mpmath.mpf(10) ** -23 * (abs(slope) + 1)
        assert model.derivative(parameter, *place, of=of) == pytest.approx(float(slope), rel=1e-8, abs=0)


@pytest.mark.parametrize(
    ("values", "c", "gamma", "of"),
    [
        ({"a1": -3.1324829705549956e-11, "nu": 0.000981244956081705}, 0.001, 9.988346421957758e-05, "trace"),
        (
            {"a1": 4.121986298410539, "nu": 16.990771044284216, "diagonal": -2},
            0.999999999999999,
            1.9774725996362917e-12,
            "quadratic_form",
        ),
    ],
)
def test_derivatives_whose_two_computations_err_alike(
    values: dict[str, float], c: float, gamma: float, of: str
) -> None:
    model = hr.Attention(**values)
    exact = float(model.derivative("nu", c, gamma, of=of, digits=20))
    assert model.derivative("nu", c, gamma, of=of) == pytest.approx(exact, rel=1e-10)


def test_derivatives_broadcast_and_name_what_they_refuse() -> None:
    model = attention(**ATTENTION)
    grid = model.derivative("nu", np.array([[0.5], [2.0]]), [0.1, 1.0, 10.0])
    assert grid.shape == (2, 3)
    assert grid[1, 2] == model.derivative("nu", 2.0, 10.0)
    with pytest.raises(ValueError, match=r"parameter: got 'sigma'; allowed: c, gamma, a1, nu"):
        model.derivative("sigma", 1, 1)
    with pytest.raises(ValueError, match=r"of: got 'delta'; allowed: error, quadratic_form, trace, degrees"):
        model.derivative("c", 1, 1, of="delta")
    with pytest.raises(ValueError, match=r"allowed: c, gamma, mu_mu"):
        hr.LinearRegression().derivative("nu", 1, 1)
    empty = model.derivative("nu", [], 1, digits=20)
    assert empty.shape == (0,)


def test_derivatives_that_vanish_by_symmetry_are_zero() -> None:
    plain = hr.Attention(a1="0.6", nu="0.5")
    assert [plain.derivative(name, "0.5", "0.1", digits=20) for name in ("mu_K", "K_K", "Q_Q", "K_Q")] == [0] * 4
    even = hr.Attention(a1=0, nu=1, overlaps=hr.Overlaps(**GRAM))
    assert [even.derivative(name, 1, 1, digits=20) for name in ("a1", "diagonal", "skip", "mu_mu", "mu_Q")] == [0] * 5


def test_degrees_of_freedom_of_random_points_against_sixty_digits() -> None:
    rng = np.random.default_rng(71)
    for _ in range(40):
        c, gamma, nu = 10 ** rng.uniform((-3, -12, -6), (3, 9, 6))
        a1, diagonal = np.sqrt(nu * rng.uniform()) * rng.choice((-1, 1)), rng.uniform(-2, 2)
        model = hr.Attention(a1=a1, nu=nu, diagonal=diagonal)
        with mpmath.workdps(80):
            expected = 1 - mpmath.mpf(gamma) * model.trace(c, gamma, digits=70)
            digits = model.degrees_of_freedom(c, gamma, digits=30)
            assert abs(digits - expected) < expected * mpmath.mpf(10) ** -29
        assert model.degrees_of_freedom(c, gamma) == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize(
    ("a1", "nu", "c", "gamma"),
    [(0.0031436020848898305, 1.8853550331920745e-05, 0.25, 1e6), (-0.1169, 0.01367, 1450025.8319, 1.041e13)],
)
def test_degrees_of_freedom_at_large_ridges(a1: float, nu: float, c: float, gamma: float) -> None:
    model = hr.Attention(a1=a1, nu=nu)
    assert model.degrees_of_freedom(c, gamma) == pytest.approx(
        float(model.degrees_of_freedom(c, gamma, digits=25)), rel=1e-14
    )


def test_degrees_of_freedom_around_and_beyond_the_spectrum() -> None:
    """From inside the spectrum to where 1 - gamma m is mean/gamma, for small and large c."""
    rng = np.random.default_rng(83)
    for _ in range(60):
        c, nu, height = 10 ** rng.uniform((-5, -6, -2), (6, 2, 12))
        a1 = np.sqrt(nu * rng.uniform()) * rng.choice((-1, 1))
        model = hr.Attention(a1=a1, nu=nu, diagonal=rng.choice((0.0, a1, np.sqrt(nu) * rng.uniform(-2, 2))))
        gamma = height * (1 + c) * nu
        exact = float(model.degrees_of_freedom(c, gamma, digits=20))
        assert model.degrees_of_freedom(c, gamma) == pytest.approx(exact, rel=1e-11)


def test_degrees_of_freedom_of_regression_and_their_ends() -> None:
    regression = hr.LinearRegression(mu_mu=2)
    with mpmath.workdps(60):
        expected = 1 - regression.trace(2, "1/2", digits=50) / 2
        assert abs(regression.degrees_of_freedom(2, "1/2", digits=40) - expected) < mpmath.mpf(10) ** -39
    for model in (regression, hr.Attention(a1="0.6", nu="0.5", overlaps=hr.Overlaps(**GRAM))):
        c = np.array([0.3, 3.0])
        assert model.degrees_of_freedom(c, 1e-12) == pytest.approx(np.minimum(c, 1), abs=1e-5)
        falling = model.degrees_of_freedom(0.3, np.logspace(-8, 8, 60))
        assert (np.diff(falling) < 0).all()
    # gamma (1 - gamma m) -> lim tr(A^T A)/n^2 = nu + a_1^2/c for d = 0
    assert 1e20 * hr.Attention(a1=0.6, nu=0.5).degrees_of_freedom(2, 1e20) == pytest.approx(0.5 + 0.18, rel=1e-12)


def test_three_crossings_along_the_aspect_ratio() -> None:
    left = hr.Attention(a1="0.46", nu="3.8", overlaps=hr.Overlaps.aligned("5.7", "-1.8"))
    right = hr.LinearRegression(mu_mu="5.7")
    found = hr.crossings(left, right, "c", (1e-2, 1e2), gamma="0.022")
    assert len(found) == 3
    assert [one.rising for one in found] in ([True, False, True], [False, True, False])
    for one in found:
        difference = left.error(one.value, "0.022", digits=30) - right.error(one.value, "0.022", digits=30)
        assert abs(difference) < 1e-11 * one.error


@pytest.mark.parametrize(("nu", "c", "count"), [(2, 1, 1), (1, "0.5", 1), (1, 2, 0), (5, "0.5", 0)])
def test_none_or_one_crossing_along_gamma(nu: int, c: Any, count: int) -> None:
    left, right = hr.Attention(a1="0.1", nu=nu), hr.LinearRegression()
    found = hr.crossings(left, right, "gamma", (1e-4, 1e2), c=c)
    assert len(found) == count
    for one in found:
        assert not one.rising
        assert left.error(c, one.value) == pytest.approx(right.error(c, one.value), rel=1e-11)


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_crossing_along_the_energy_has_a_closed_form(gamma: float) -> None:
    """a_1 = d = 0, c = 1: E = D - D^3/(3 D^2 + gamma/nu), D^3 = (gamma/nu)(1 - D) depend on gamma/nu alone."""
    found = hr.crossings(partial(hr.Attention, a1=0), hr.LinearRegression(), "nu", (0.01, 100), c=1, gamma=gamma)
    (one,) = found
    D = one.error
    for _ in range(200):  # E(D) = target by fixed steps: E increases with D
        beta = D**3 / (1 - D)
        D += 0.5 * (one.error - (D - D**3 / (3 * D * D + beta)))
    beta = D**3 / (1 - D)
    assert beta == pytest.approx(gamma / one.value, rel=1e-9)
    assert one.error == pytest.approx(hr.LinearRegression().error(1, gamma), rel=1e-11)


THREE = (
    hr.Attention(a1="0.46", nu="3.8", overlaps=hr.Overlaps.aligned("5.7", "-1.8")),
    hr.LinearRegression(mu_mu="5.7"),
)


@pytest.mark.parametrize("scale", ["equal", "trace"])
def test_crossings_to_many_digits(scale: Any) -> None:
    doubles = hr.crossings(*THREE, "c", (1e-2, 1e2), gamma="0.022", scale=scale)
    found = hr.crossings(*THREE, "c", (1e-2, 1e2), gamma="0.022", scale=scale, digits=30)
    finer = hr.crossings(*THREE, "c", (1e-2, 1e2), gamma="0.022", scale=scale, digits=45)
    assert len(found) == len(doubles) == (3 if scale == "equal" else 1)
    for one, more, double in zip(found, finer, doubles, strict=True):
        assert abs(one.value - more.value) < Fraction(1, 10**30) * one.value
        assert float(one.value) == pytest.approx(double.value, rel=1e-11)
        assert one.rising == double.rising
        assert len(str(one.value).replace("0.", "", 1).lstrip("0")) == 30
        if scale == "equal":
            left, right = (model.error(more.value, "0.022", digits=40) for model in THREE)
            assert abs(left - right) < Fraction(1, 10**39) * left
            assert abs(one.error - left) < Fraction(1, 10**29) * left


def test_a_crossing_with_a_closed_form_to_many_digits() -> None:
    """a_1 = d = 0, c = 1, gamma = 1 of regression: E = 1/sqrt(5)."""
    (one,) = hr.crossings(partial(hr.Attention, a1=0), hr.LinearRegression(), "nu", (1, 10), c=1, gamma=1, digits=50)
    with mpmath.workdps(60):
        assert abs(one.error - 1 / mpmath.sqrt(5)) < mpmath.mpf(10) ** -50
        D = mpmath.findroot(lambda D: D - D**3 / (3 * D**2 + D**3 / (1 - D)) - 1 / mpmath.sqrt(5), 0.6)
        assert abs(one.value - (1 - D) / D**3) < mpmath.mpf(10) ** -48


@pytest.mark.parametrize("scale", ["equal", "trace"])
@pytest.mark.parametrize("c", ["0.5", 3])
def test_all_crossings_along_the_ridge_with_proof(scale: Any, c: Any) -> None:
    doubles = hr.crossings(*THREE, "gamma", (1e-4, 1e2), c=c, scale=scale)
    proved = hr.crossings(*THREE, "gamma", (1e-4, 1e2), c=c, scale=scale, certified=True, digits=20)
    digits = hr.crossings(*THREE, "gamma", (1e-4, 1e2), c=c, scale=scale, digits=35)
    assert proved.proved
    assert proved.known == "proved: 1 crossing and no other"
    for ball, many, double in zip(proved, digits, doubles, strict=True):
        assert many.value in ball.value
        assert many.error in ball.error
        assert ball.value.rad < Fraction(1, 10**20) * abs(ball.value.mid)
        assert (ball.rising, float(ball.value.mid)) == (double.rising, pytest.approx(double.value, rel=1e-10))


@pytest.mark.parametrize(("nu", "c", "count"), [(2, 1, 1), (1, "0.5", 1), (1, 2, 0), (5, "0.5", 0)])
def test_none_or_one_crossing_along_gamma_is_proved(nu: int, c: Any, count: int) -> None:
    found = hr.crossings(
        hr.Attention(a1="0.1", nu=nu), hr.LinearRegression(), "gamma", (1e-4, 1e2), c=c, certified=True
    )
    assert (len(found), found.proved, found.unresolved) == (count, True, [])


def test_equal_curves_prove_nothing_and_say_so() -> None:
    one, other = hr.LinearRegression(mu_mu=1), hr.LinearRegression(mu_mu=1)
    found = isolate(Gap.read(one, other, ("gamma",), 1, None, "equal"), 1.0, 1.0 + 1e-9)
    assert not found.single
    assert found.unresolved == [(1, Fraction(1.0 + 1e-9))]
    with pytest.raises(ValueError, match="certified: got True along c; allowed: along gamma"):
        hr.crossings(*THREE, "c", (0.1, 1), gamma=1, certified=True)
    with pytest.raises(TypeError, match="allowed: Attention or LinearRegression"):
        hr.crossings(hr.MultiHeadAttention(["tanh(x)"]), other, "gamma", (0.1, 1), c=1, certified=True)


def test_bounds_of_the_error_along_the_ridge() -> None:
    """-L <= gamma dL/dgamma <= 2 L with L = gamma dE/dgamma, on which the proof rests."""
    gamma = np.geomspace(1e-3, 1e3, 60)
    for model in THREE:
        for c in (0.5, 3.0):
            L = gamma * model.derivative("gamma", c, gamma)
            growth = np.diff(np.log(L)) / np.diff(np.log(gamma))
            assert growth.min() > -1
            assert growth.max() < 2


def test_a_pair_of_crossings_that_doubles_see_as_a_touch_is_decided_in_digits() -> None:
    doubles = hr.crossings(*THREE, "c", (1e-2, 1e2), gamma="0.0141285772216647")
    assert not doubles
    assert "; in double precision the curves touch, or are one to rounding, at 0.680513" in doubles.known
    found = hr.crossings(*THREE, "c", (1e-2, 1e2), gamma="0.0141285772216647", digits=40)
    assert [one.rising for one in found] == [False, True]
    assert not found.touches
    assert found.known.startswith("2 changes of sign")

    def difference(c: Any) -> Any:
        left, right = (model.error(c, "0.0141285772216647", digits=60) for model in THREE)
        return left - right

    for one in found:
        aside = Fraction(1, 10**40)
        ends = [difference(Fraction(str(one.value)) + side) for side in (-aside, aside)]
        assert (ends[0] < 0 < ends[1]) if one.rising else (ends[0] > 0 > ends[1])
    assert found[0].value < mpmath.mpf("0.6805127") < found[1].value < mpmath.mpf("0.68052")
    assert difference(Fraction("0.680512")) > 0 > difference(Fraction("0.6805127"))


@pytest.mark.parametrize(
    ("shift", "count", "touches"), [(0, 0, True), (Fraction(-1, 10**20), 2, False), (Fraction(1, 10**20), 0, False)]
)
def test_tangent_curves_and_those_beside_them_in_digits(shift: Fraction, count: int, touches: bool) -> None:
    def left(x: Any) -> hr.LinearRegression:
        return hr.LinearRegression(mu_mu=1 + (x - 1) ** 2 * (3 + x) + (shift if isinstance(x, Fraction) else 0))

    right = hr.LinearRegression(mu_mu=1)
    found = hr.crossings(left, right, "x", (Fraction(1, 7), 2), c=1, gamma=1, digits=25)
    assert len(found) == count
    assert bool(found.touches) == touches
    assert found.known.endswith("to 25 digits the curves touch, or are one, at 1" if touches else "nor a touch")
    for one in found:
        x = Fraction(str(one.value))
        assert (x - 1) ** 2 * (3 + x) == pytest.approx(1e-20, rel=1e-9)
        assert one.rising == (x < 1)  # the error falls with the signal


def test_equal_curves_are_said_to_be_equal() -> None:
    for found in (
        hr.crossings(THREE[0], THREE[0], "c", (0.1, 10), gamma=1),
        hr.crossings(hr.LinearRegression(mu_mu="1/2"), hr.LinearRegression(mu_mu=0.5), "gamma", (0.1, 10), c=1),
        hr.crossings(THREE[1], THREE[1], "gamma", (0.1, 10), c=1, certified=True),
    ):
        assert (list(found), found.proved, found.known) == (
            [],
            False,
            "the curves are equal: the two models are the same",
        )
    even = hr.Attention(a1=0, nu=1), hr.Attention(a1=0, nu=1, overlaps=hr.Overlaps(mu_mu=1))
    doubles = hr.crossings(*even, "c", (0.1, 10), gamma=1)
    assert doubles.known == "the curves are equal: in double precision, at every point of a scan of spacing 0.012"
    digits = hr.crossings(*even, "c", (0.5, 1, 2), gamma=1, digits=20)
    assert digits.known == "the curves are equal: to 20 digits, at every point of a scan of spacing 0.69"
    assert digits.touches == [0.5, 1, 2]
    unproved = hr.crossings(*even, "gamma", (1, 1 + 1e-9), c=1, certified=True)
    assert not unproved.proved
    assert unproved.known.endswith(
        "no other outside [1, 1.000000001], where the curves are equal or too close to tell"
    )


def test_ranges_beyond_doubles_are_refused_by_name() -> None:
    models = hr.Attention(a1=0, nu=1), hr.LinearRegression()
    for options in ({}, {"digits": 20}, {"certified": True}):
        with pytest.raises(ValueError, match=r"values: got 1.0e-400; allowed: 1e-150 to 1e\+150"):
            hr.crossings(*models, "gamma", ("1e-400", 1), c="1/2", **options)
    with pytest.raises(ValueError, match=r"gamma: got 1.0e-400; allowed: 1e-150 to 1e\+150"):
        hr.crossings(*models, "c", (0.1, 1), gamma="1e-400", digits=20)
    with pytest.raises(ValueError, match=r"values: got .*; allowed: numbers up to 1e\+150"):
        hr.crossings(partial(hr.Attention, a1=0), models[1], "nu", (1, "1e400"), c=1, gamma=1)
    for name in ("nu", "c", "gamma"):
        with pytest.raises(ValueError, match=name + r": got 1.0e-400; allowed: 1e-150 to 1e\+150"):
            hr.best_linear_part(**{"nu": 1, "c": 1, "gamma": 1, name: "1e-400"}, digits=10)


def test_a_function_that_rounds_has_no_digits() -> None:
    with pytest.raises(ArithmeticError, match="does a function round its argument nu"):
        hr.crossings(
            lambda nu: hr.Attention(a1=0, nu=nu * 1.0), hr.LinearRegression(), "nu", (1, 10), c=1, gamma=1, digits=30
        )


def test_curves_that_touch_are_said() -> None:
    right = hr.LinearRegression(mu_mu=1)
    touching = hr.crossings(lambda x: hr.LinearRegression(mu_mu=1 + x * x), right, "x", (-1, 2), c=1, gamma=1)
    assert len(touching) == 0
    assert len(touching.touches) >= 1
    assert np.abs(touching.touches).max() < 1e-5
    assert "touch, or are one to rounding" in touching.known
    apart = hr.crossings(lambda x: hr.LinearRegression(mu_mu=2 + x * x), right, "x", (-1, 2), c=1, gamma=1)
    assert not apart.touches
    assert apart.known.startswith("0 changes of sign")
    close = hr.crossings(
        lambda x: hr.LinearRegression(mu_mu=np.maximum(1 + x * x - 1e-6, 0)), right, "x", (-1, 2), c=1, gamma=1
    )
    assert [one.value for one in close] == pytest.approx([-1e-3, 1e-3], rel=1e-6)


def test_crossing_curve_holds_the_crossings_of_its_rows() -> None:
    left, right = partial(hr.Attention, a1=0), hr.LinearRegression()
    curve = hr.crossing_curve(left, right, "nu", (0.01, 100), "gamma", [0.1, 0.5], c=2)
    expected = [
        (g, one.value) for g in (0.1, 0.5) for one in hr.crossings(left, right, "nu", (0.01, 100), c=2, gamma=g)
    ]
    assert expected
    assert list(zip(curve.gamma.values.tolist(), curve.nu.values.tolist(), strict=True)) == expected
    both = hr.crossing_curve(hr.Attention, right, "nu", (0.5, 100), "a1", [0.0, 0.3], c=2, gamma=0.1)
    assert set(both.a1.values.tolist()) <= {0.0, 0.3}
    assert hr.crossing_curve(left, right, "nu", (0.01, 100), "gamma", [0.1], c=2).sizes["point"] == 0


def test_a_branch_that_folds_stays_one() -> None:
    """Three crossings in c at small gamma, one at large gamma: one branch that turns round twice."""
    rows = np.geomspace(1e-3, 10, 9)
    curve = hr.crossing_curve(*THREE, "c", (1e-2, 1e2), "gamma", [*rows, 0.022])
    assert curve.sizes["branch_number"] == 1
    assert not curve.closed[0]
    assert (curve.crossing_branch == 0).all()
    assert (curve.gamma == 0.022).sum() == 3
    c, gamma = curve.point_c.values, curve.point_gamma.values
    assert THREE[0].error(c, gamma) == pytest.approx(THREE[1].error(c, gamma), rel=1e-12)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(gamma))))
    assert len(turns) == 2
    for end in (0, -1):  # on the border of the box
        assert min(abs(np.log(c[end] / [1e-2, 1e2])).min(), abs(np.log(gamma[end] / [1e-3, 10])).min()) < 1e-12
    steps = np.hypot(np.diff(np.log(c)) / np.log(1e4), np.diff(np.log(gamma)) / np.log(1e4))
    assert steps.max() < 0.05  # neighbours are neighbours
    # the larger error of the first model is on the left-hand side
    k = len(c) // 2
    across = np.array([-np.log(gamma[k + 1] / gamma[k]), np.log(c[k + 1] / c[k])])
    beside = np.exp(np.log([c[k], gamma[k]]) + 1e-3 * across / np.linalg.norm(across))
    assert THREE[0].error(*beside) > THREE[1].error(*beside)


def test_closed_branches() -> None:
    """|mu|^2 = (x^2 + y^2 - 2)^2: equal to 1 on two circles, of radius 1 and sqrt 3."""
    curve = hr.crossing_curve(
        lambda x, y: hr.LinearRegression(mu_mu=(x * x + y * y - 2) ** 2),
        hr.LinearRegression(mu_mu=1),
        "x",
        (-3, 3),
        "y",
        [-2, -1, 0.5, 2],
        c=1,
        gamma=1,
    )
    assert curve.closed.values.tolist() == [True, True]
    radius = np.hypot(curve.point_x.values, curve.point_y.values)
    for number in (0, 1):
        at = radius[curve.branch.values == number]
        assert at == pytest.approx(np.full(at.shape, 1 if at[0] < 1.4 else np.sqrt(3)), abs=1e-12)
    assert (curve.y == 0.5).sum() == 4
    assert sorted(set(curve.crossing_branch.values[(curve.y == 0.5).values].tolist())) == [0, 1]


def test_thresholds_of_the_signal_and_of_the_weights() -> None:
    def attention(mu_mu: Any) -> hr.Attention:
        return hr.Attention(a1="0.44", nu="0.38", overlaps=hr.Overlaps.aligned(mu_mu, 1))

    found = hr.threshold(attention, hr.LinearRegression, "mu_mu", (0, 10), c="1.96", gamma="6.229")
    assert found.value == pytest.approx(1.5686849424624782, rel=1e-10)
    assert found.until is None
    assert found.verdict.endswith("from here to the end of the range")
    digits = hr.threshold(attention, hr.LinearRegression, "mu_mu", (0, 10), c="1.96", gamma="6.229", digits=20)
    assert float(digits.value) == pytest.approx(found.value, rel=1e-12)
    for shift, ahead in ((-1e-6, False), (1e-6, True)):
        mu_mu = found.value + shift
        errors = (model.error("1.96", "6.229") for model in (attention(mu_mu), hr.LinearRegression(mu_mu)))
        assert (next(errors) < next(errors)) == ahead
    never = hr.threshold(hr.Attention(a1="0.1", nu=1), hr.LinearRegression(), "gamma", (1e-3, 1), c=2)
    assert (never.value, never.error, never.until) == (None, None, None)
    assert "nowhere" in never.verdict or "start" in never.verdict
    start = hr.threshold(hr.LinearRegression(mu_mu=1), hr.LinearRegression(), "gamma", (1e-3, 1), c=2)
    assert "from the start" in start.verdict


@pytest.mark.parametrize(("a1", "nu", "c"), [("0.6", "0.5", "1/2"), ("-0.6", "0.36001", 3), ("0.1", 2, "0.7")])
def test_signal_threshold_is_where_the_spike_meets_the_bulk(a1: Any, nu: Any, c: Any) -> None:
    """z(tau) = a_1 x(tau) + kappa - sigma^2 s(tau)/a_1 is stationary, between the edge and the pole at tau = -1/r."""
    r = hr.signal_threshold(hr.Attention(a1=a1, nu=nu), c, digits=30)
    with mpmath.workdps(40):
        c_, a, eta = (mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (c, a1, nu))
        eta -= a * a

        def z(tau: Any) -> Any:  # c tau^2 + (c x - c - 1) tau + 1 = 0
            return a * (1 + 1 / c_ - tau - 1 / (c_ * tau)) - eta / c_ / a * c_ * tau / (1 - tau)

        assert abs(mpmath.diff(z, -1 / mpmath.mpf(r))) < mpmath.mpf(10) ** -15
        assert r > mpmath.sqrt(c_)
    assert hr.signal_threshold(hr.Attention(a1=a1, nu=nu), c) == pytest.approx(float(r), rel=1e-15)


def test_signal_threshold_against_the_engine() -> None:
    values = {"a1": Rational(3, 5), "kappa": -Rational(3, 5), "eta": Rational(7, 50), "c": Rational(1, 2)}
    edge = max(spectrum_edges(kernel_equivalent(), Z, {**values, SIZE: 1}))
    size = threshold(kernel_equivalent(), Y, Z, edge, SIZE, 0.9, values, UNIT)
    assert size**2 == pytest.approx(hr.signal_threshold(hr.Attention(a1="0.6", nu="0.5"), "1/2"), rel=1e-8)


def test_signal_threshold_of_f_linear_and_what_is_refused() -> None:
    assert hr.signal_threshold(hr.Attention(a1=2, nu=4), 9) == 3
    with pytest.raises(ValueError, match="got a1 = 0"):
        hr.signal_threshold(hr.Attention(a1=0, nu=4), 9)
    with pytest.raises(ValueError, match="K_K, Q_Q not 0; allowed: a model without weights"):
        hr.signal_threshold(hr.Attention(a1=1, nu=4, overlaps=hr.Overlaps.aligned(1, 1)), 9)


def test_crossings_name_what_they_refuse() -> None:
    models = hr.Attention(a1=0, nu=1), hr.LinearRegression()
    with pytest.raises(ValueError, match="c: got None"):
        hr.crossings(*models, "gamma", (0.1, 1))
    with pytest.raises(ValueError, match="allowed: nothing, it is the parameter"):
        hr.crossings(*models, "gamma", (0.1, 1), c=1, gamma=1)
    with pytest.raises(ValueError, match="values: got"):
        hr.crossings(*models, "c", (1, 0.1), gamma=1)
    with pytest.raises(TypeError, match="a function of nu"):
        hr.crossings(*models, "nu", (1, 2), c=1, gamma=1)


def test_what_is_no_model_is_named() -> None:
    model, other = hr.Attention(a1="0.46", nu="3.8"), hr.LinearRegression()
    with pytest.raises(TypeError, match=r"model: got LinearRegression\(.*allowed: Attention"):
        hr.signal_threshold(other, 1)
    for wrong in (3, None):
        with pytest.raises(TypeError, match=f"right: got {wrong}; allowed: a model"):
            hr.crossings(model, wrong, "c", (0.1, 1), gamma=1)
    with pytest.raises(TypeError, match=r"right\(nu\): got 5; allowed: a model"):
        hr.crossings(model, lambda nu: 5, "nu", (0.1, 1), c=1, gamma=1)
    with pytest.raises(TypeError, match="certified: got 'no'; allowed: True or False"):
        hr.crossings(model, other, "gamma", (0.1, 1), c=1, certified="no")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([], {}, r"other_values: got an array of shape \(0,\); allowed: a number, or several"),
        ([1, 0], {}, "other_values: got 0; allowed: a positive number"),
        ([[1, 2]], {}, r"other_values: got an array of shape \(1, 2\)"),
        (["1e-400"], {}, "other_values: got 1.0e-400; allowed: 1e-150"),
        ([1], {"resolution": "x"}, "resolution: got 'x'; allowed: two whole numbers"),
        ([1], {"resolution": (2.5, 3)}, r"resolution: got \(2.5, 3\)"),
    ],
)
def test_crossing_curve_names_what_it_refuses(rows: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        hr.crossing_curve(hr.Attention(a1=0, nu=1), hr.LinearRegression(), "c", (0.1, 1), "gamma", rows, **options)


def test_best_linear_part_is_a_minimum() -> None:
    overlaps = hr.Overlaps.aligned(2, 1)
    best = hr.best_linear_part(1, c=1, gamma=1, overlaps=overlaps, diagonal="0.5")
    model = hr.Attention(a1=best.a1, nu=1, overlaps=overlaps, diagonal="0.5")
    assert abs(model.derivative("a1", 1, 1)) < 1e-12
    others = hr.Attention(a1=np.linspace(-1, 1, 301), nu=1, overlaps=overlaps, diagonal="0.5").error(1, 1)
    assert best.error <= others.min()
    # both ends happen
    assert hr.best_linear_part(1, c=0.5, gamma=0.1).share == 0
    assert hr.best_linear_part(1, c=2, gamma=0.01).share == 1


def test_best_linear_part_lists_its_local_minima_and_knows_digits() -> None:
    arguments = {"c": 1, "gamma": 1, "overlaps": hr.Overlaps.aligned(2, 1), "diagonal": "0.5"}
    best = hr.best_linear_part(1, **arguments)
    (other,) = best.others
    assert best.a1 < 0 < other.a1
    assert best.error < other.error
    digits = hr.best_linear_part(1, **arguments, digits=25)
    for double, many in ((best, digits), (other, digits.others[0])):
        assert many.a1 == pytest.approx(double.a1, rel=1e-10)
        model = hr.Attention(a1=many.a1, nu=1, overlaps=arguments["overlaps"], diagonal="0.5")
        assert abs(model.derivative("a1", 1, 1, digits=10)) < 1e-24
        assert abs(many.share - many.a1**2) < 1e-24
        assert abs(many.error - model.error(1, 1, digits=25)) < 1e-24
    end = hr.best_linear_part(2, c=2, gamma="0.01", digits=30)
    assert end.share == 1
    with mpmath.workdps(40):
        assert abs(end.a1 - mpmath.sqrt(2)) < mpmath.mpf(10) ** -29
    assert abs(end.error - hr.Attention(a1="0.6", nu="0.36").error(2, "0.0018", digits=30)) < 1e-30
    assert end.others[0].a1 == 0


def test_crossings_at_equal_trace_norm_do_not_see_the_scale_of_f() -> None:
    right = hr.LinearRegression(mu_mu=1)
    overlaps = hr.Overlaps.aligned(1, 1)
    once, ten_times = (
        hr.crossings(hr.Attention(a1=a1, nu=nu, overlaps=overlaps), right, "c", (0.1, 10), gamma=1, scale="trace")
        for a1, nu in (("0.46", "0.5"), ("4.6", 50))
    )
    assert once
    assert [x.value for x in once] == pytest.approx([x.value for x in ten_times], rel=1e-9)


def test_curves_that_are_one_in_double_precision_all_over_cross_in_digits() -> None:
    places = [Fraction(-1, 3), Fraction(1, 7), Fraction(1, 7) + Fraction(1, 10**6), Fraction(1, 2)]

    def left(x: Any) -> hr.LinearRegression:
        below = np.prod([x - place for place in places], axis=0) if isinstance(x, Fraction) else 0 * x
        return hr.LinearRegression(mu_mu=1 + below / 10**16)

    scan = np.linspace(-1, 1, 24)
    doubles = hr.crossings(left, hr.LinearRegression(mu_mu=1), "x", scan, c=1, gamma=1)
    assert doubles.known.startswith("the curves are equal: in double precision, at every point")
    found = hr.crossings(left, hr.LinearRegression(mu_mu=1), "x", scan, c=1, gamma=1, digits=20)
    assert [one.rising for one in found] == [True, False, True, False]  # the error falls with the signal
    for one, place in zip(found, places, strict=True):
        assert abs(Fraction(str(one.value)) - place) < Fraction(1, 10**20)
    assert not found.touches
    assert found.known.startswith("4 changes of sign")
