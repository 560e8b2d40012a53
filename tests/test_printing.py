"""What objects print: short, to be typed again where that is possible, tables and LaTeX in a notebook."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import hermite_rmt as hr
from hermite_rmt.core.solution import Outcome, Solution

NAMES = {name: getattr(hr, name) for name in hr.__all__} | {"mpf": mpmath.mpf}
TYPED_AGAIN = [
    hr.Nonlinearity("tanh(x)"),
    hr.Nonlinearity("relu(x)").centred(),
    hr.Overlaps(mu_mu="1/3", mu_K=0.1, K_K=2),
    hr.Attention("tanh(x)", overlaps=hr.Overlaps.aligned("1/3"), diagonal="0.1"),
    hr.Attention(a1="0.6", nu=0.5, skip=1),
    hr.LinearRegression("1/3"),
    hr.MarchenkoPastur("1/3"),
    hr.Outcome.CONVERGED,
]


@pytest.mark.parametrize("thing", TYPED_AGAIN, ids=repr)
def test_repr_gives_the_same_object_again(thing: Any) -> None:
    again = eval(repr(thing), NAMES)
    assert type(again) is type(thing)
    assert repr(again) == repr(thing)
    assert "\n" not in repr(thing)


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
    again = eval(repr(solution), NAMES)
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
    ]
    for thing in things:
        shown = thing._repr_latex_()
        assert shown.startswith("$")
        assert shown.endswith("$")
        assert shown.count("{") == shown.count("}")


def test_figures_show_themselves_in_a_notebook() -> None:
    from hermite_rmt.figures import spectrum_figure

    shown = spectrum_figure([0.0, 0.6, 0.0, 0.1], 0.4, "f")._repr_png_()
    assert shown.startswith(b"\x89PNG")
