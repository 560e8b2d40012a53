"""Exact derivatives of the error of attention with respect to its parameters, in double and to any digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import KnownDigits, Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import Arithmetic
from hermite_rmt.solvers.attention_digits import is_physical, solve_with
from hermite_rmt.solvers.attention_equations import Inputs, Shape, shape_of
from hermite_rmt.solvers.attention_newton import Problem, iterate
from hermite_rmt.solvers.attention_point import OVERLAPS, ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import (
    Iterate,
    along_log_gamma,
    apply,
    differentiate,
    inverse_jacobian,
)
from hermite_rmt.solvers.attention_response import quadratic_form, split_overlaps
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of
from hermite_rmt.solvers.dual import Series

PARAMETERS = ("c", "gamma", "a1", "nu", "diagonal", *OVERLAPS)


def error_derivative(
    parameter: str,
    c: FloatArray,
    gamma: FloatArray,
    a1: FloatArray,
    nu: FloatArray,
    eta: FloatArray,
    kappa: FloatArray,
    overlaps: FloatArray,
) -> FloatArray:
    """Return dE/d(parameter) at every point, the other parameters of `PARAMETERS` fixed.

    The equations are evaluated on dual numbers whose entries carry the derivative along the parameter: no difference
    quotients. With respect to a1, nu is fixed (eta and kappa move); the skip connection counts as diagonal.

    Parameters
    ----------
    parameter : one of c, gamma, a1, nu, diagonal, mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q
    c, gamma, a1, nu, eta, kappa, overlaps : as in `solve_grid`, shapes (N,) and (N, 6)

    Returns
    -------
    array of shape (N,), right to about 1e-11 of E/(the parameter's scale): where E hardly depends on the parameter
        (on gamma as gamma -> 0, say), or where f is linear and gamma tiny, fewer digits are right. nan where there
        is no solution.

    Raises
    ------
    ValueError
        If `parameter` is not one of them.

    >>> one = np.ones(1)
    >>> slope = error_derivative("gamma", one, one, 0 * one, 2 * one, 2 * one, 0 * one, np.zeros((1, 6)))
    >>> print(slope.round(6))
    [0.126601]
    """
    _require_known(parameter)
    slopes = {name: np.full(c.size, float(name == parameter)) for name in PARAMETERS}
    with np.errstate(all="ignore"):
        # (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma), and a_1 >= 0
        scale = np.exp2(-np.round(np.log2(nu) / 2))
        sign = np.where(a1 < 0, -scale, scale)
        square = scale * scale
        plain = Inputs(shapes_of(c), np.abs(a1) * scale, eta * square, kappa * sign)
        problem = Problem(plain, gamma * square)
        moving = Inputs(
            _moving_shape(plain.shape, slopes["c"]),
            Series(plain.a, slopes["a1"] * sign),
            Series(plain.eta, (slopes["nu"] - 2 * a1 * slopes["a1"]) * square),
            Series(plain.kappa, (slopes["diagonal"] - slopes["a1"]) * sign),
        )
        gram = tuple(Series(overlaps[:, i], slopes[name]) for i, name in enumerate(OVERLAPS))
        signal = overlaps[:, 0] > 0
        divisor = Series(np.where(signal, overlaps[:, 0], 1.0), np.where(signal, slopes["mu_mu"], 0.0))
        state = iterate(problem)
        result = np.full(c.size, np.nan)
        for use_pair in (True, False):
            for points, block in problem.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
                height = Series(block.gamma, slopes["gamma"][points] * square[points])
                split = split_overlaps(_take(gram, points), _take(divisor, points))
                scaled = Scaled(_take(moving, points), height, split)
                result[points] = _slope_of_error(scaled, use_pair, state.chart[:, points], 1.0)
    return result


def error_derivative_digits(
    parameter: str, parameters: Mapping[str, Real], digits: int, use_flint: bool | None = None
) -> Solution:
    """Return dE/d(parameter) at one point to `digits` right digits, as the value `error_derivative`.

    Parameters
    ----------
    parameter : as in `error_derivative`
    parameters, digits, use_flint : as in `solve_point`

    Raises
    ------
    ValueError
        If `parameter` is not one of `PARAMETERS`.

    >>> from hermite_rmt.core.numbers import read_real
    >>> point = {name: read_real(0, name) for name in ("a1", "kappa", *OVERLAPS)}
    >>> point |= {"c": read_real(1, "c"), "gamma": read_real(1, "gamma"), "eta": read_real(2, "eta")}
    >>> error_derivative_digits("gamma", point, 20)["error_derivative"]
    mpf('0.12660095018921349539')
    """
    _require_known(parameter)

    def observe(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> tuple[dict[str, Any], bool]:
        with numbers.active():
            x = [numbers.exact(value) for value in current.x]
            scaled, moving = point.scaled(numbers), _moving_point(point, parameter, numbers)
            one = numbers.number(1.0)
            physical = is_physical(scaled, differentiate(scaled, current.use_pair, x, one), numbers)
            return {"error_derivative": _slope_of_error(moving, current.use_pair, x, one)}, physical

    point = ExactPoint(parameters)
    if _vanishes(parameter, point):
        return Solution(
            {"error_derivative": KnownDigits.of(local_context(53).zero, digits)}, 0.0, Outcome.CONVERGED, digits
        )
    return solve_with(observe, ("error_derivative",), point, digits, use_flint)


def _vanishes(parameter: str, point: ExactPoint) -> bool:
    """Whether the derivative is exactly 0, which no number of digits would show.

    The weights do not enter where a_1 = 0 or mu.w_K = mu.w_Q = 0; there E is even in (mu.w_K, mu.w_Q). E is even in
    (a_1, d), and where both are 0 the signal does not enter.
    """
    zero = {name for name, real in point.reals.items() if real.rational == 0}
    if parameter in ("mu_K", "mu_Q", "K_K", "Q_Q", "K_Q"):
        return "a1" in zero or {"mu_K", "mu_Q"} <= zero
    return point.even and parameter in ("a1", "diagonal", "mu_mu")


def _require_known(parameter: str) -> None:
    if parameter not in PARAMETERS:
        raise ValueError(f"parameter: got {parameter!r}; allowed: {', '.join(PARAMETERS)}")


def _moving_point(point: ExactPoint, parameter: str, numbers: Arithmetic) -> Scaled:
    """Return one point as series along a parameter."""
    scaled = point.scaled(numbers)
    one = numbers.number(1.0)
    slope = {name: one if name == parameter else one - one for name in PARAMETERS}
    scale, folded = point.scales(numbers)
    square, inputs = scale * scale, scaled.inputs
    moving = Inputs(
        shape_of(Series(inputs.shape.c, slope["c"]), point.wide, one),
        Series(inputs.a, slope["a1"] * folded),
        Series(inputs.eta, slope["nu"] * square - 2 * inputs.a * slope["a1"] * folded),
        Series(inputs.kappa, (slope["diagonal"] - slope["a1"]) * folded),
    )
    gram = tuple(Series(numbers.read(point.reals[name]), slope[name]) for name in OVERLAPS)
    return Scaled(
        moving,
        Series(scaled.gamma, slope["gamma"] * square),
        split_overlaps(gram, gram[0] if point.signal else one),
    )


def _moving_shape(shape: Shape, slope: FloatArray) -> Shape:
    """Return the constants of the aspect ratio as series along c."""
    wide = shape.c > 1
    inverse = -slope / (shape.c * shape.c)  # the derivative of 1/c
    narrow_cbar = np.where(wide, inverse, slope)
    theta = np.where(wide, inverse, 0.0)
    return Shape(
        c=Series(shape.c, slope),
        cbar=Series(shape.cbar, narrow_cbar),
        b=Series(shape.b, -narrow_cbar),
        theta=Series(shape.theta, theta),
        beta=Series(shape.beta, -theta),
        zeta=Series(shape.zeta, np.where(wide, 0.0, inverse)),
    )


def _take(entries: Any, points: FloatArray) -> Any:
    """Return a series, or a tuple of them at any depth, at these points."""
    if isinstance(entries, Series):
        return Series(entries.value[points], entries.slope[points])
    taken = (_take(entry, points) for entry in entries)
    return type(entries)(*taken) if hasattr(entries, "_fields") else tuple(taken)


def _slope_of_error(scaled: Scaled, use_pair: bool, x: Any, one: Any) -> Any:
    """Return dE along the parameter: first how the solution moves, then E on the moving solution."""
    assert scaled.overlaps is not None
    here = differentiate(scaled, use_pair, [Series(v, 0 * v) for v in x], one)
    inverse = [[entry.value for entry in row] for row in inverse_jacobian(here, one)]
    motion = apply(inverse, [-equation.value.slope for equation in here.equations])
    here = differentiate(scaled, use_pair, [Series(v, w) for v, w in zip(x, motion, strict=True)], one)
    q = quadratic_form(scaled.inputs, here.gamma, scaled.overlaps, here.roots, here.integrals)
    return (-scaled.gamma * along_log_gamma(here, q, one)).slope
