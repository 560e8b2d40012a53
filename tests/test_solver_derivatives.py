"""Exact derivatives of what attention computes: against differences of many digits, and Euler's identities."""

from fractions import Fraction

import numpy as np
import pytest

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import read_real
from hermite_rmt.solvers.attention_derivatives import grid_derivative, point_derivative
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_freedom import degrees_of_freedom_digits
from hermite_rmt.solvers.attention_slopes import PARAMETERS, VALUES
from tests.solver_cases import OVERLAPS, box, edges, exact_point


def shifted_value(of, arguments, index, parameter, shift, digits=60):
    """A value to many digits with one parameter shifted, exactly."""
    c, gamma, a1, _, eta, kappa, gram = ([Fraction(float(x)) for x in np.ravel(value[index])] for value in arguments)
    values = {"c": c[0], "gamma": gamma[0], "a1": a1[0], "nu": a1[0] ** 2 + eta[0], "diagonal": kappa[0] + a1[0]}
    values |= dict(zip(OVERLAPS, gram, strict=True))
    values[parameter] += shift
    values["eta"] = values.pop("nu") - values["a1"] ** 2
    values["kappa"] = values.pop("diagonal") - values["a1"]
    point = {name: read_real(value, name) for name, value in values.items()}
    solve = degrees_of_freedom_digits if of == "degrees_of_freedom" else solve_point
    return solve(point, digits)[of]


def difference(of, arguments, index, parameter):
    """The derivative by a difference of 90 digits over 10^-30 of the parameter, and that size of the parameter."""
    context = local_context(500)
    size = dict(zip(("c", "gamma", "a1", "nu"), (np.abs(x[index]) for x in arguments[:4]), strict=True))
    unit = Fraction(float(size.get(parameter, 1.0)) or 1.0)
    step = unit / 10**30
    ends = [context.mpf(shifted_value(of, arguments, index, parameter, sign * step, 90)) for sign in (-1, 1)]
    return (ends[1] - ends[0]) / 2 * step.denominator / step.numerator, ends[0] * unit.denominator / unit.numerator


@pytest.mark.parametrize("of", VALUES)
@pytest.mark.parametrize("parameter", PARAMETERS)
def test_against_differences_of_many_digits(of, parameter):
    arguments = box(np.random.default_rng(61), 3)
    exact = grid_derivative(of, parameter, *arguments)
    for index in range(3):
        expected, scale = difference(of, arguments, index, parameter)
        assert abs(exact[index] - expected) <= 1e-8 * abs(expected) + 1e-40 * abs(scale)
        for use_flint in (False, True):
            solution = point_derivative(of, parameter, exact_point(arguments, index), 25, use_flint)
            assert solution.success
            assert abs(solution["derivative"] - expected) <= 1e-20 * abs(expected) + 1e-40 * abs(scale)


@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize(("points", "seed"), [(box, 65), (edges, 66)])
def test_doubles_against_digits_on_the_edges_of_the_box(points, seed, parameter):
    """f linear with gamma ~ 1e-18 nu, a_1 = 0, c = 1, w_K or w_Q missing: no derivative is wrong."""
    arguments = points(np.random.default_rng(seed), 25)
    for of in VALUES[:2]:
        found = grid_derivative(of, parameter, *arguments)
        for index in range(25):
            right = point_derivative(of, parameter, exact_point(arguments, index), 20)
            assert right.success
            assert abs(found[index] - float(right["derivative"])) <= 1e-8 * abs(float(right["derivative"]))


@pytest.mark.parametrize("points", [box, edges])
def test_euler_identities(points):
    """E is constant along (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma), (w_K, w_Q) -> (t w_K, w_Q/t)."""
    arguments = points(np.random.default_rng(62), 60)
    _, gamma, a1, nu, _, kappa, gram = arguments
    slope = {name: grid_derivative("error", name, *arguments) for name in PARAMETERS}
    scaled = [a1 * slope["a1"], 2 * nu * slope["nu"], (kappa + a1) * slope["diagonal"], 2 * gamma * slope["gamma"]]
    weights = {"mu_K": 1, "mu_Q": -1, "K_K": 2, "Q_Q": -2}
    balanced = [power * gram[:, OVERLAPS.index(name)] * slope[name] for name, power in weights.items()]
    for terms in (scaled, balanced):
        assert (np.abs(np.sum(terms, axis=0)) <= 1e-7 * np.sum(np.abs(terms), axis=0)).all()


def test_derivatives_that_vanish_are_zero_in_double_and_digits():
    rng = np.random.default_rng(67)
    missing, across = edges(rng, 6), edges(rng, 6)
    missing[6][:, [1, 3, 5]] = 0  # w_K = 0
    across[6][:, [1, 2]] = 0
    for arguments, names in ((missing, ("mu_Q", "Q_Q", "K_Q")), (across, ("mu_K", "mu_Q", "K_K", "Q_Q", "K_Q"))):
        for name in names:
            for of in ("error", "quadratic_form"):
                assert (grid_derivative(of, name, *arguments) == 0).all()
                digits = [point_derivative(of, name, exact_point(arguments, i), 20) for i in range(6)]
                assert all(solution["derivative"] == 0 for solution in digits)
    for name in OVERLAPS:
        assert (grid_derivative("trace", name, *missing) == 0).all()


def test_error_increases_with_gamma():
    arguments = box(np.random.default_rng(63), 200)
    assert (grid_derivative("error", "gamma", *arguments) > 0).all()


def test_unknown_names():
    one = np.ones(1)
    with pytest.raises(ValueError, match=r"parameter: got 'kappa'; allowed: c, gamma"):
        grid_derivative("error", "kappa", one, one, one, 2 * one, one, one, np.zeros((1, 6)))
    with pytest.raises(ValueError, match=r"of: got 'delta'; allowed: error, quadratic_form"):
        grid_derivative("delta", "c", one, one, one, 2 * one, one, one, np.zeros((1, 6)))
