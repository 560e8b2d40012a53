"""Exact derivatives of the error: against differences of 60 digits, and Euler's identities."""

from fractions import Fraction

import numpy as np
import pytest

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import read_real
from hermite_rmt.solvers.attention_derivatives import PARAMETERS, error_derivative, error_derivative_digits
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_grid import solve_grid
from tests.solver_cases import OVERLAPS, box, edges, exact_point


def shifted_error(arguments, index, parameter, shift):
    """E to 60 digits with one parameter shifted, exactly."""
    c, gamma, a1, _, eta, kappa, gram = ([Fraction(float(x)) for x in np.ravel(value[index])] for value in arguments)
    values = {"c": c[0], "gamma": gamma[0], "a1": a1[0], "nu": a1[0] ** 2 + eta[0], "diagonal": kappa[0] + a1[0]}
    values |= dict(zip(OVERLAPS, gram, strict=True))
    values[parameter] += shift
    values["eta"] = values.pop("nu") - values["a1"] ** 2
    values["kappa"] = values.pop("diagonal") - values["a1"]
    return solve_point({name: read_real(value, name) for name, value in values.items()}, 60)["error"]


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_against_differences_of_sixty_digits(parameter):
    context = local_context(300)
    arguments = box(np.random.default_rng(61), 6)
    exact = error_derivative(parameter, *arguments)
    size = dict(zip(("c", "gamma", "a1", "nu"), map(np.abs, arguments[:4]), strict=True)).get(parameter, np.ones(6))
    for index in range(6):
        unit = Fraction(float(size[index]))
        step = unit / 10**20
        ends = [context.mpf(shifted_error(arguments, index, parameter, sign * step)) for sign in (-1, 1)]
        difference = (ends[1] - ends[0]) / 2 * step.denominator / step.numerator
        scale = max(abs(difference), ends[0] * unit.denominator / unit.numerator)
        assert abs(exact[index] - difference) < 1e-9 * scale


@pytest.mark.parametrize(("points", "usual", "worst"), [(box, 1e-10, 1e-8), (edges, 1e-6, 1e-2)])
def test_euler_identities(points, usual, worst):
    """E is constant along (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma), (w_K, w_Q) -> (t w_K, w_Q/t).

    On the edges f is often linear with gamma ~ 1e-18 nu, where dE/dnu and dE/da_1 are huge and cancel.
    """
    arguments = points(np.random.default_rng(62), 2000)
    _, gamma, a1, nu, _, kappa, gram = arguments
    slope = {name: error_derivative(name, *arguments) for name in PARAMETERS}
    error = solve_grid(*arguments)["error"]
    scaled = [a1 * slope["a1"], 2 * nu * slope["nu"], (kappa + a1) * slope["diagonal"], 2 * gamma * slope["gamma"]]
    weights = {"mu_K": 1, "mu_Q": -1, "K_K": 2, "Q_Q": -2}
    balanced = [power * gram[:, OVERLAPS.index(name)] * slope[name] for name, power in weights.items()]
    for terms in (scaled, balanced):
        mismatch = np.abs(np.sum(terms, axis=0)) / (np.sum(np.abs(terms), axis=0) + error)
        assert np.quantile(mismatch, 0.99) < usual
        assert mismatch.max() < worst


def test_error_increases_with_gamma():
    arguments = box(np.random.default_rng(63), 2000)
    slope = error_derivative("gamma", *arguments)
    error = solve_grid(*arguments)["error"]
    assert (arguments[1] * slope > -1e-10 * error).all()


def test_unknown_parameter():
    one = np.ones(1)
    with pytest.raises(ValueError, match=r"parameter: got 'kappa'; allowed: c, gamma"):
        error_derivative("kappa", one, one, one, 2 * one, one, one, np.zeros((1, 6)))


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_digits_against_differences(parameter):
    context = local_context(400)
    arguments = box(np.random.default_rng(64), 4)
    for index in range(4):
        step = Fraction(float(abs(np.ravel(arguments[1][index])[0]))) / 10**25 if parameter == "gamma" else None
        step = step or Fraction(1, 10**25)
        ends = [context.mpf(shifted_error(arguments, index, parameter, sign * step)) for sign in (-1, 1)]
        difference = (ends[1] - ends[0]) / 2 * step.denominator / step.numerator
        for use_flint in (False, True):
            solution = error_derivative_digits(parameter, exact_point(arguments, index), 25, use_flint)
            assert solution.success
            assert abs(context.mpf(solution["error_derivative"]) / difference - 1) < 1e-15
