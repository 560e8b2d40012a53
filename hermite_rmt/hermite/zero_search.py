"""Zeros of an expression that shows no structure: searched for on a grid, then known to any digits."""

from __future__ import annotations

import numpy as np
import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.bracket import bracketed_root
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.hermite.integrand import X

_GRID = 8191
_DECADES, _POINTS_A_DECADE = 20, 8  # of the points that approach 0
_NEAR_BITS = 400  # of the values at these points


def searched_zeros(expression: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Return zeros in [lower, upper] that show on a fine grid: changes of sign, and touching ones."""
    grid = _grid(lower, upper)
    found: list[Real] = []
    values = _values(expression, grid)
    signs = np.sign(values)  # products of values may overflow, or vanish
    for index in np.flatnonzero(signs[:-1] * signs[1:] < 0):
        found.append(bracketed_root(expression, X, float(grid[index]), float(grid[index + 1])))
    found += _grid_zeros(expression, grid, values)
    # a zero without a change of sign is a zero of the derivative
    size = np.abs(values)
    touching = np.flatnonzero((size[1:-1] < size[:-2]) & (size[1:-1] <= size[2:]) & (size[1:-1] > 0)) + 1
    if touching.size:
        slope = _slope(expression)
        ends = Kernel([X], [slope])
        for index in touching:
            left, right = float(grid[index - 1]), float(grid[index + 1])
            first, last = ends.double(np.array([left, right]))[0]
            if first * last < 0:
                point = bracketed_root(slope, X, left, right)
                value = Kernel([X], [expression]).multiprecision(400)(point.mpf(400))[0]
                if abs(value) <= 2.0**-200 * float(size[index - 1] + size[index + 1]):
                    found.append(point)
    return found


def _slope(expression: sympy.Expr) -> sympy.Expr:
    """Return the derivative, off jumps: those of floor and sign are breakpoints of their own."""
    return sympy.diff(expression, X).replace(
        lambda part: isinstance(part, (sympy.Derivative, sympy.Subs, sympy.DiracDelta)), lambda part: sympy.S.Zero
    )


def _grid(lower: float, upper: float) -> np.ndarray:
    """Return equally spaced points, and between those around 0 points that approach it: zeros of a tiny scale."""
    grid = np.linspace(lower, upper, _GRID)
    spacing = grid[1] - grid[0]
    towards = spacing * 10.0 ** np.linspace(-_DECADES, 0, _POINTS_A_DECADE * _DECADES, endpoint=False)
    near = np.concatenate([-towards, towards])
    return np.union1d(grid, near[(near > lower) & (near < upper)])


def _values(expression: sympy.Expr, grid: np.ndarray) -> np.ndarray:
    """Return the values in double precision, close to 0 from more bits: there exp(x) - 1 - x is rounding errors."""
    kernel = Kernel([X], [expression])
    values = np.array(kernel.double(grid)[0])
    exact = kernel.multiprecision(_NEAR_BITS)
    context = local_context(_NEAR_BITS)
    for index in np.flatnonzero(np.abs(grid) < (grid[-1] - grid[-2]) / 2):
        try:
            value = context.convert(exact(context.mpf(grid[index]))[0])
        except (ZeroDivisionError, ValueError):
            continue
        if isinstance(value, context.mpf):
            values[index] = float(value) or float(context.sign(value)) * np.nextafter(0, 1)
    return values


def _grid_zeros(expression: sympy.Expr, grid: np.ndarray, values: np.ndarray) -> list[Real]:
    """Return the zeros at points of the grid; of a run of them only the change of sign it may hide.

    An expression that is zero on an interval is analytic on its inside, and what ends the interval is a breakpoint of
    a part of it; or the values underflow.
    """
    found: list[Real] = []
    zeros = np.flatnonzero(values == 0)
    for run in np.split(zeros, np.flatnonzero(np.diff(zeros) > 1) + 1):
        if len(run) == 1:
            found.append(read_real(float(grid[run[0]]), "breakpoint"))
        elif (
            len(run)
            and run[0] > 0
            and run[-1] < len(grid) - 1
            and np.sign(values[run[0] - 1]) * np.sign(values[run[-1] + 1]) < 0
        ):
            found.append(bracketed_root(expression, X, float(grid[run[0] - 1]), float(grid[run[-1] + 1])))
    return found


def value_range(expression: sympy.Expr, lower: float, upper: float) -> tuple[float, float]:
    """Return the least and largest value of a continuous expression on [lower, upper], from a fine grid."""
    if not expression.has(X):
        return float(expression), float(expression)
    values = Kernel([X], [expression]).double(np.linspace(lower, upper, _GRID))[0]
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 0.0
    return float(finite.min()), float(finite.max())
