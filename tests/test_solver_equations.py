"""The rational form as code: the charts agree exactly, dual numbers differentiate exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermite_rmt.solvers.attention_equations import (
    Inputs,
    pair_roots,
    residuals,
    shape_of,
    sums,
    symmetric_roots,
    trace,
)
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_response import quadratic_form, split_overlaps
from hermite_rmt.solvers.attention_start import coordinates, first_guess, shapes_of
from hermite_rmt.solvers.dual import Dual, seeds
from tests.solver_cases import box, edges

positive = st.fractions(Fraction(1, 20), 5, max_denominator=40)
signed = st.fractions(-3, 3, max_denominator=40)


def formula(x, y, z, w):
    """Every operation of dual numbers, with numbers on both sides."""
    return (2 * x - y / 3) * (z + 1) / (w * w + 1) - 5 / (y * y + z) + (1 - x) * (w - 2) - (-z) / 7 + x * 4


def exact_derivative(point, direction):
    """The derivative by a symmetric difference, in exact arithmetic: right to about twice the digits of the step."""
    h = Fraction(1, 10**15)
    ends = [formula(*(x + sign * h * (i == direction) for i, x in enumerate(point))) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * h)


@given(st.tuples(positive, positive, positive, positive))
def test_dual_numbers_differentiate(point):
    exact = formula(*seeds(point, (Fraction(1),) * 4))
    assert exact.value == formula(*point)
    arrays = formula(*seeds(tuple(np.array([float(x)]) for x in point), (1.0,) * 4))
    for direction in range(4):
        right = exact_derivative(point, direction)
        assert abs(exact.gradient[direction] - right) < Fraction(1, 10**20) * (1 + abs(right))
        assert arrays.gradient[direction][0] == pytest.approx(float(exact.gradient[direction]), rel=1e-9, abs=1e-9)


def test_directions_that_do_not_matter_cost_nothing():
    x, y, _ = seeds((2.0, 3.0, 4.0), (1.0, 1.0, 1.0))
    for value in (x * x, x / 3, 1 / x, -x, x - 1, 1 - x, 5 * x):
        assert value.gradient[1:] == (None, None)
    assert (x * y).gradient == (3.0, 2.0, None)
    assert (x - y).gradient == (1.0, -1.0, None)
    assert (y / x).dense() == (-3 / 4, 1 / 2, 0)


def test_arrays_on_the_left_leave_the_operation_to_dual_numbers():
    (x,) = seeds((np.array([2.0, 3.0]),), (np.ones(2),))
    product = np.array([5.0, 7.0]) * x
    assert isinstance(product, Dual)
    assert product.gradient[0].tolist() == [5.0, 7.0]


@given(
    c=positive.filter(lambda c: c != 1),
    a=positive,
    y=st.tuples(positive, positive, positive),
    gamma=positive,
    kappa=signed,
    weights=st.tuples(signed, signed, positive, positive, signed),
    r=positive,
)
def test_charts_agree_exactly(c, a, y, gamma, kappa, weights, r):
    """Every observable is the same rational number in both charts, whichever root is taken alone."""
    inputs = Inputs(shape_of(c, c > 1, Fraction(1)), a, Fraction(1, 3), kappa)
    e1, e2, e3 = sum(y), y[0] * y[1] + y[0] * y[2] + y[1] * y[2], y[0] * y[1] * y[2]
    cbar, b = inputs.shape.cbar, inputs.shape.b
    overlaps = split_overlaps((r, *weights), r)
    results = set()
    charts = [symmetric_roots(inputs, gamma, a * e1, a * a * e2, a * a * e3 / gamma)]
    for first in range(3):
        second, third = (y[i] for i in range(3) if i != first)
        v = a * a * ((1 + second) * (1 + third) - cbar)
        charts.append(pair_roots(inputs, gamma, y[first] / gamma, a * (second + third + b), v))
    for roots in charts:
        integrals = sums(inputs, roots)
        q = quadratic_form(inputs, gamma, overlaps, roots, integrals)
        results.add((trace(roots, integrals), q, *residuals(inputs, gamma, roots, integrals), *integrals))
    assert len(results) == 1


@pytest.mark.parametrize("points", [box, edges])
def test_coordinates_of_the_start_give_back_its_cubic(points):
    """From g, Q, k to the roots and into the chart that is chosen: gain, k, Q come out again."""
    c, gamma, a1, nu, eta, kappa, _ = points(np.random.default_rng(41), 3000)
    with np.errstate(all="ignore"):
        root = np.sqrt(nu)
        inputs = Inputs(shapes_of(c), abs(a1) / root, eta / nu, kappa * np.where(a1 < 0, -1, 1) / root)
        problem = Problem(inputs, gamma / nu)
        guess = first_guess(inputs, problem.gamma)
        found = coordinates(inputs, problem.gamma, guess)
    for use_pair, chart, x in ((True, pair_roots, found.pair), (False, symmetric_roots, found.symmetric)):
        here = np.flatnonzero(found.use_pair == use_pair)
        assert here.size > 100
        block = problem.take(here)
        roots = chart(block.inputs, block.gamma, *(coordinate[here] for coordinate in x))
        k, Q = guess.k[here], guess.Q[here]
        scale = np.sqrt(k * k + Q) + np.cbrt(block.inputs.a * np.exp(guess.log_g[here]) / block.inputs.shape.c)
        # a start, not a solution: the isolated root gets a fixed number of Newton steps
        assert np.quantile(abs(np.log(roots.gain * block.gamma) - guess.log_g[here]), 0.99) < 1e-6
        assert np.quantile(abs(roots.k - k) / scale, 0.99) < 1e-6
        assert np.quantile(abs(roots.Q - Q) / scale**2, 0.99) < 1e-6
