"""Exact derivatives of the values of attention with respect to its parameters, in double and to any digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import KnownDigits, Real, read_real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import Arithmetic
from hermite_rmt.solvers.attention_digits import is_physical, solve_with
from hermite_rmt.solvers.attention_equations import Inputs, Shape, shape_of
from hermite_rmt.solvers.attention_newton import Problem, iterate
from hermite_rmt.solvers.attention_point import NAMES, OVERLAPS, ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import Iterate, differentiate
from hermite_rmt.solvers.attention_response import split_overlaps
from hermite_rmt.solvers.attention_slopes import (
    BALANCE_POWERS,
    PARAMETERS,
    SCALE_POWERS,
    along_parameter,
    require_known,
    vanishes,
)
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of
from hermite_rmt.solvers.dual import Series

VISIBLE = 1e-7  # change of a value that doubles show, over the value, for a change of a parameter as large as it is
AGREEMENT = 1e-10  # of two derivatives with different rounding errors; where they differ more, digits decide
OTHER_SCALE, OTHER_BALANCE = 1.3, 0.9  # of f and of the weights; no powers of 2: all is rounded differently
DIGITS = 17


def grid_derivative(
    of: str,
    parameter: str,
    c: FloatArray,
    gamma: FloatArray,
    a1: FloatArray,
    nu: FloatArray,
    eta: FloatArray,
    kappa: FloatArray,
    overlaps: FloatArray,
) -> FloatArray:
    """Return d(of)/d(parameter) at every point, the other parameters of `PARAMETERS` fixed.

    The equations are evaluated on dual numbers whose entries carry the derivative along the parameter: no difference
    quotients. With respect to a1, nu is fixed (eta and kappa move); the skip connection counts as diagonal.

    Parameters
    ----------
    of : error, quadratic_form, trace or degrees_of_freedom
    parameter : one of c, gamma, a1, nu, diagonal, mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q
    c, gamma, a1, nu, eta, kappa, overlaps : as in `solve_grid`, shapes (N,) and (N, 6)

    Returns
    -------
    array of shape (N,), right to about 1e-8; nan where there is no solution. Computed twice, at two scales: where
        rounding errors make the two differ (the value hardly depends on the parameter), point by point to `DIGITS`
        digits, which takes a thousand times as long.

    Raises
    ------
    ValueError
        If `of` or `parameter` is not one of them.

    >>> one = np.ones(1)
    >>> slope = grid_derivative("error", "gamma", one, one, 0 * one, 2 * one, 2 * one, 0 * one, np.zeros((1, 6)))
    >>> print(slope.round(6))
    [0.126601]
    """
    require_known(of, parameter)
    with np.errstate(all="ignore"):
        result, value = _slopes(of, parameter, c, gamma, a1, nu, eta, kappa, overlaps)
        s, t = OTHER_SCALE, OTHER_BALANCE
        balance = np.array([t ** BALANCE_POWERS.get(name, 0) for name in OVERLAPS])
        again, _ = _slopes(
            of, parameter, c, s**2 * gamma, s * a1, s**2 * nu, s**2 * eta, s * kappa, balance * overlaps
        )
        again *= s ** (SCALE_POWERS.get(parameter, 0) - SCALE_POWERS.get(of, 0))
        again *= t ** BALANCE_POWERS.get(parameter, 0)
        columns = dict(zip(NAMES, (c, gamma, a1, eta, kappa, *overlaps.T), strict=True))
        unit = _unit(parameter, nu, columns)
        # multiples of a last digit may agree by chance: a small derivative is the rest of a cancellation
        seen = (np.abs(again - result) < AGREEMENT * np.abs(result)) & (np.abs(result) * unit > VISIBLE * value)
        doubtful = ~seen & ~np.isnan(result)
    zero = vanishes(of, parameter, {name: column == 0 for name, column in columns.items()})
    result[zero & ~np.isnan(result)] = 0.0
    for index in np.flatnonzero(doubtful & ~zero):
        point = {name: read_real(float(column[index]), name) for name, column in columns.items()}
        result[index] = float(point_derivative(of, parameter, point, DIGITS)["derivative"])
    return result


def point_derivative(
    of: str, parameter: str, parameters: Mapping[str, Real], digits: int, use_flint: bool | None = None
) -> Solution:
    """Return d(of)/d(parameter) at one point to `digits` right digits, as the value `derivative`.

    Parameters
    ----------
    of, parameter : as in `grid_derivative`
    parameters, digits, use_flint : as in `solve_point`

    Raises
    ------
    ValueError
        If `of` or `parameter` is not one of those allowed.

    >>> point = {name: read_real(0, name) for name in ("a1", "kappa", *OVERLAPS)}
    >>> point |= {"c": read_real(1, "c"), "gamma": read_real(1, "gamma"), "eta": read_real(2, "eta")}
    >>> point_derivative("error", "gamma", point, 20)["derivative"]
    mpf('0.12660095018921349539')
    """
    require_known(of, parameter)

    def observe(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> tuple[dict[str, Any], bool]:
        with numbers.active():
            x = [numbers.exact(value) for value in current.x]
            scaled, one = point.scaled(numbers), numbers.number(1.0)
            physical = is_physical(scaled, differentiate(scaled, current.use_pair, x, one), numbers)
            moved = along_parameter(of, moving_point(point, parameter, numbers), current.use_pair, x, one)
            return {"derivative": moved.slope * point.scales(numbers)[0] ** -SCALE_POWERS.get(of, 0)}, physical

    point = ExactPoint(parameters)
    if vanishes(of, parameter, {name: real.rational == 0 for name, real in point.reals.items()}):
        return Solution(
            {"derivative": KnownDigits.of(local_context(53).zero, digits)}, 0.0, Outcome.CONVERGED, digits
        )
    return solve_with(observe, ("derivative",), point, digits, use_flint)


def _slopes(
    of: str,
    parameter: str,
    c: FloatArray,
    gamma: FloatArray,
    a1: FloatArray,
    nu: FloatArray,
    eta: FloatArray,
    kappa: FloatArray,
    overlaps: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the derivative and the value at every point; nan where there is no solution."""
    slopes = {name: np.full(c.size, float(name == parameter)) for name in PARAMETERS}
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
    result, value = np.full((2, c.size), np.nan)
    for use_pair in (True, False):
        for points, block in problem.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
            height = Series(block.gamma, slopes["gamma"][points] * square[points])
            split = split_overlaps(_take(gram, points), _take(divisor, points))
            scaled = Scaled(_take(moving, points), height, split)
            moved = along_parameter(of, scaled, use_pair, state.chart[:, points], 1.0)
            result[points], value[points] = moved.slope, moved.value
    unscale = scale ** -SCALE_POWERS.get(of, 0)
    return result * unscale, value * unscale


def _unit(parameter: str, nu: FloatArray, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Return what a change of the parameter is compared with: its size, sqrt(nu) for a1 and the diagonal."""
    if parameter in ("a1", "nu", "diagonal"):
        return nu if parameter == "nu" else np.sqrt(nu)
    return np.where(columns[parameter] == 0, 1.0, np.abs(columns[parameter]))


def moving_point(point: ExactPoint, parameter: str, numbers: Arithmetic) -> Scaled:
    """Return one point as series along a parameter."""
    scaled = point.scaled(numbers)
    one = numbers.number(1.0)
    slopes = {name: one if name == parameter else one - one for name in PARAMETERS}
    scale, folded = point.scales(numbers)
    square, inputs = scale * scale, scaled.inputs
    moving = Inputs(
        shape_of(Series(inputs.shape.c, slopes["c"]), point.wide, one),
        Series(inputs.a, slopes["a1"] * folded),
        Series(inputs.eta, slopes["nu"] * square - 2 * inputs.a * slopes["a1"] * folded),
        Series(inputs.kappa, (slopes["diagonal"] - slopes["a1"]) * folded),
    )
    gram = tuple(Series(numbers.read(point.reals[name]), slopes[name]) for name in OVERLAPS)
    return Scaled(
        moving,
        Series(scaled.gamma, slopes["gamma"] * square),
        split_overlaps(gram, gram[0] if point.signal else one),
    )


def _moving_shape(shape: Shape, slopes: FloatArray) -> Shape:
    """Return the constants of the aspect ratio as series along c."""
    wide = shape.c > 1
    inverse = -slopes / (shape.c * shape.c)  # the derivative of 1/c
    narrow_cbar = np.where(wide, inverse, slopes)
    theta = np.where(wide, inverse, 0.0)
    return Shape(
        c=Series(shape.c, slopes),
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
