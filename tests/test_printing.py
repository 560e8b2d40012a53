"""What objects print: short, to be typed again where that is possible, tables and LaTeX in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import hermite_rmt as hr
from hermite_rmt.core.solution import Outcome, Solution

NAMES = {name: getattr(hr, name) for name in hr.__all__}
RELU, TANH = hr.nonlinearities.relu, hr.Nonlinearity("tanh(x)")
TYPED_AGAIN = [
    TANH,
    RELU.centred(),
    RELU.centred() + TANH,
    (2 * RELU.centred() - TANH.shifted(1)) / 3,
    hr.Nonlinearity("x + clip(x, -1, 1)", breakpoints=[-1, 1], name="mine"),
    hr.nonlinearities.leaky_relu("0.2"),
    hr.nonlinearities.leaky_relu,
    TANH.expansion(5),
    hr.HermiteExpansion.of_coefficients([1.5]),
    hr.Overlaps(mu_mu="1/3", mu_K=0.1, K_K=2),
    hr.Overlaps(mu_mu=[1, 2.5]),
    hr.Attention("tanh(x)", overlaps=hr.Overlaps.aligned("1/3"), diagonal="0.1"),
    hr.Attention(a1="0.6", nu=0.5, skip=1),
    hr.Attention(a1=["0.1", "0.2"], nu=1),
    hr.LinearRegression("1/3"),
    hr.LinearRegression([[0, 0.1], [1, 2]]),
    hr.MultiHeadAttention([TANH, RELU.centred()]),
    hr.MarchenkoPastur("1/3"),
    hr.Attention("tanh(x)").spectrum("1/3"),
    hr.Outcome.CONVERGED,
    hr.Solution({"m": 0.1}, 1e-17, hr.Outcome.REDUCED, steps=3),
    hr.Ball("-0.25", "0.5", digits=7),
]
# What is not typed again, and why
NOT_TYPED_AGAIN = {
    "Gaussian": "SymPy prints its symbols by their name alone",
    "GOE": "SymPy prints its symbols by their name alone",
    "GUE": "SymPy prints its symbols by their name alone",
    "Vector": "SymPy prints its symbols by their name alone",
    "SolveError": "an exception; it carries the solution it is about",
    "Verdict": "the result of a check: typed again it would be no evidence",
}


@pytest.mark.parametrize("thing", TYPED_AGAIN, ids=repr)
def test_repr_gives_the_same_object_again(thing: Any) -> None:
    again = eval(repr(thing), NAMES)
    assert type(again) is type(thing)
    assert repr(again) == repr(thing)
    if type(thing).__eq__ is not object.__eq__:
        assert again == thing
    assert "\n" not in repr(thing)


def test_every_public_class_is_among_them() -> None:
    classes = {name for name, value in NAMES.items() if isinstance(value, type)}
    tried = {type(thing).__name__ for thing in TYPED_AGAIN}
    assert classes - tried == set(NOT_TYPED_AGAIN)


@pytest.mark.parametrize("catalogued", hr.nonlinearities, ids=lambda f: f.name)
def test_the_catalogue_is_typed_again(catalogued: hr.Nonlinearity) -> None:
    assert eval(repr(catalogued), NAMES) == catalogued


@pytest.mark.parametrize("centre", ["1/3", "-1e-400", "0", "12345678901234567890"])
@pytest.mark.parametrize("radius", ["0", "1/7e25", "1e-30"])
def test_a_ball_as_written_contains_the_ball(centre: str, radius: str) -> None:
    middle, spread = (
        sympy.Rational(*text.split("/")) if "/" in text else sympy.Rational(text) for text in (centre, radius)
    )
    ball = hr.Ball(middle - spread, middle + spread, digits=20)
    again = eval(repr(ball), NAMES)
    assert ball in again
    assert again.rad <= ball.rad + mpmath.mpf(10) ** -20 * (abs(ball.mid) + ball.rad)
    shown, _, around = str(ball).strip("[]").partition(" +/- ")
    assert sympy.Rational(shown) - sympy.Rational(around) <= sympy.Rational(str(middle)) - spread
    assert sympy.Rational(shown) + sympy.Rational(around) >= sympy.Rational(str(middle)) + spread


def test_a_ball_refuses_what_is_no_interval() -> None:
    with pytest.raises(ValueError, match=r"lower: got .* above upper"):
        hr.Ball(1, 0, 5)
    with pytest.raises(ValueError, match="upper: got sqrt"):
        hr.Ball(1, sympy.sqrt(2), 5)


def test_digits_print_as_mpf() -> None:
    names = NAMES | {"mpf": mpmath.mpf}
    with mpmath.workdps(30):
        again = eval(repr(TANH.expansion(3, digits=25)), names)
        assert str(mpmath.nstr(again.coefficients[1], 25)) == str(TANH.coefficient(1, digits=25))


def test_symbolic_values_print_as_sympy_writes_them() -> None:
    model = hr.Attention(a1=sympy.sqrt(7) / 3, nu=1)
    again = eval(repr(model), NAMES | {"sqrt": sympy.sqrt})
    assert str(again.error(1, 1, digits=30)) == str(model.error(1, 1, digits=30))


def test_long_things_print_short() -> None:
    n, p = hr.dimensions("n p")
    z = sympy.Symbol("z")
    Z = hr.Gaussian("Z", p, n)
    equivalent = hr.deterministic_equivalent((Z.T * Z / n - z * sympy.Identity(n)).inv(), ratios={p: 2 * n})
    things = [
        TANH.expansion(40),
        hr.LinearRegression(np.linspace(0, 1, 1000)),
        hr.Attention("tanh(x)").simulate(20, 10, 0.1, trials=3, rng=0),
        equivalent.equations,
        equivalent.pencil,
        equivalent.reduction,
        *equivalent.reduction.steps,
        equivalent.polynomial(),
        hr.check("E <= gamma*q", "linear_regression", points=3),
    ]
    for thing in things:
        assert len(repr(thing)) < 250
        assert "\n" not in repr(thing)
        assert "object at" not in repr(thing)


def test_repr_keeps_exact_values() -> None:
    model = hr.Attention(a1="0.6", nu="1/2")
    again = eval(repr(model), NAMES)
    assert str(again.error("1/3", "0.1", digits=40)) == str(model.error("1/3", "0.1", digits=40))


def test_arrays_of_one_shape_are_not_equal_overlaps() -> None:
    one, other = hr.Overlaps(mu_mu=np.array([1.0, 2.0])), hr.Overlaps(mu_mu=np.array([1.0, 3.0]))
    assert one != other
    assert one == hr.Overlaps(mu_mu=[1.0, 2.0])


@pytest.mark.parametrize("digits", [None, 20])
def test_solution_of_a_point_prints_as_a_table(digits: int | None) -> None:
    solution = hr.LinearRegression().solve("0.5", 1, digits=digits)
    again = eval(repr(solution), NAMES | {"mpf": mpmath.mpf})
    assert isinstance(again, Solution)
    assert again.outcome is solution.outcome
    shown = solution._repr_html_()
    assert str(solution["error"]) in shown
    assert solution.outcome.value in shown


def test_solution_of_a_grid_counts_its_outcomes() -> None:
    solution = hr.LinearRegression().solve([0.5, 1, 2], [[1], ["1e-400"]], raises=False)
    assert len(repr(solution)) < 200
    for shown in (repr(solution), solution._repr_html_()):
        assert "3 CONVERGED, 3 OUT_OF_RANGE" in shown


def test_html_is_escaped() -> None:
    assert "&lt;b&gt;" in Solution({"<b>": 1.0}, 0.0, Outcome.CONVERGED)._repr_html_()


def test_estimate_prints_as_a_table() -> None:
    estimate = hr.LinearRegression().simulate(20, 10, 0.1, trials=3, rng=0)
    shown = estimate._repr_html_()
    assert repr(estimate.error) in shown
    assert "n = 20, p = 10, gamma = 0.1" in shown


def test_latex_of_symbolic_objects() -> None:
    n = hr.dimensions("n")
    z = sympy.Symbol("z")
    equivalent = hr.deterministic_equivalent((hr.GOE("W", n) - z * sympy.Identity(n)).inv())
    assert repr(equivalent).startswith("deterministic_equivalent(")
    things = [
        equivalent,
        equivalent.pencil,
        equivalent.equations,
        equivalent.reduction,
        equivalent.polynomial(),
        hr.Nonlinearity("tanh(x)"),
        hr.Nonlinearity("tanh(x)").expansion(4),
        hr.Overlaps(),
        hr.MarchenkoPastur(2),
        hr.nonlinearities.leaky_relu,
        (RELU.centred() + TANH) / 3,
        hr.check("E <= gamma*q", "linear_regression", points=3),
    ]
    for thing in things:
        shown = thing._repr_latex_()
        assert shown.startswith("$")
        assert shown.endswith("$")
        assert shown.count("{") == shown.count("}")


def test_tables_of_numeric_objects() -> None:
    model = hr.Attention("tanh(x)")
    (crossing,) = hr.crossings(model, hr.LinearRegression(), "c", (0.1, 10), gamma=0.1)
    shown = {
        repr(crossing.value): crossing,
        repr(model.nonlinearity): model,
        "relu": hr.nonlinearities,
        "+/-": model.simulate(20, 10, 0.1, trials=3, rng=0).error,
        "share": hr.best_linear_part(1, c=0.5, gamma=0.1),
    }
    for text, thing in shown.items():
        html = thing._repr_html_()
        assert html.startswith("<table>")
        assert escape(text) in html


def test_what_can_be_plotted_shows_itself_in_a_notebook() -> None:
    models = [hr.Attention("tanh(x)"), hr.LinearRegression()]
    grid: dict[str, Any] = {"c": [0.5, 1, 2], "gamma": 0.1}
    sweeps = [hr.sweep(model, **grid) for model in models]
    for thing in (TANH, TANH.expansion(6), RELU.expansion(4), sweeps[0], sweeps, hr.compare(models, **grid)):
        figure: Any = hr.plot(thing)
        assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(TypeError, match="thing: got 3; allowed: a Nonlinearity"):
        hr.plot(3)
