"""Values of an analytic piece times exp(-x^2/2) at many points: by python-flint where it can, by mpmath otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import sympy
from mpmath.libmp import from_man_exp

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import BallFunction, constant_ball
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.hermite.grids import Exponentials, Grid
from hermite_rmt.hermite.integrand import X


class Evaluate(Protocol):
    """Values of f(x) exp(-x^2/2) (mpf) at points given as mpf, at a binary precision; `grid`: what the points are."""

    def __call__(self, points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        """Return the values, in the order of the points."""
        ...


_GUARD = 20
_RETRIES = 4


def weighted_values(piece: sympy.Expr, name: str) -> Evaluate:
    """Return the evaluation of `piece` (in `X`) times exp(-x^2/2); it raises a ValueError where that is not real.

    The values have a relative error of about 2^-precision where python-flint knows the functions: it notices
    cancellation, and the point is repeated with more bits. mpmath's values are trusted to the precision.
    """
    if piece.has(sympy.nan, sympy.oo, sympy.zoo, -sympy.oo):
        raise ValueError(f"{name}: f is undefined on an interval")
    waves = Exponentials(piece)
    plain = _by_mpmath(piece, waves, name)
    if flint_module() is None:
        return plain
    try:
        ball = BallFunction(X, piece)
        with flint_precision(64) as flint:
            ball.real(flint.arb(1))  # constants are read when they are first needed
    except ValueError:  # a function python-flint does not have
        return plain
    return _by_flint(ball, waves, plain)


def _by_mpmath(piece: sympy.Expr, waves: Exponentials, name: str) -> Evaluate:
    kernel, gridded = Kernel([X], [piece]), Kernel([X, *waves.symbols], [waves.expression])

    def evaluate(points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        working = precision + _GUARD + 2 * len(points).bit_length()
        context = local_context(working)
        function = (gridded if grid else kernel).multiprecision(working)
        weights = grid and grid.gaussians(len(points), context.mpf, context.exp)
        known = waves.on(grid, len(points), _mpmath_constants(working), context.exp) if grid else [()] * len(points)
        values = []
        for index, point in enumerate(points):
            x = context.convert(point)
            try:
                value = function(x, *known[index])[0]
            except (ZeroDivisionError, ValueError):  # 1/0, a pole: mpmath raises
                value = context.nan
            weight = weights[index] if weights else context.exp(-(x**2) / 2)
            values.append(real_value(value, x, name) * weight)
        return values

    return evaluate


def real_value(value: Any, point: Any, name: str) -> Any:
    """Return a value of f if it is a finite real number.

    Raises
    ------
    ValueError
        If it is complex or undefined: breakpoints lie at the ends of panels, so f is so on an interval around.
    """
    context = value.context
    if isinstance(value, context.mpc):
        if value.imag:
            hint = (
                "; write Abs(u)**p, or sign(u)*Abs(u)**p, for a real power" if "**" in name or "sqrt" in name else ""
            )
            raise ValueError(
                f"{name}: f is complex on an interval, f({context.nstr(point, 8)}) = {context.nstr(value, 5)}{hint}"
            )
        value = value.real
    if not context.isfinite(value):
        raise ValueError(f"{name}: f is undefined on an interval, f({context.nstr(point, 8)}) = {value}")
    return value


def _mpmath_constants(precision: int) -> Callable[[sympy.Expr], Any]:
    context = local_context(precision)
    return lambda constant: context.convert(Kernel([], [constant]).multiprecision(precision)()[0])


def _by_flint(ball: BallFunction, waves: Exponentials, plain: Evaluate) -> Evaluate:
    gridded = BallFunction((X, *waves.symbols), waves.expression)

    def evaluate(points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        values: list[Any] = [None] * len(points)
        waiting = list(range(len(points)))
        context = local_context(precision + _GUARD)
        for retry in range(_RETRIES):
            working = (precision + _GUARD + 2 * len(points).bit_length()) << retry
            with flint_precision(working) as flint:
                weights, known = None, []
                if grid and not retry:
                    weights = grid.gaussians(len(points), flint.arb, flint.arb.exp)
                    known = waves.on(grid, len(points), constant_ball, flint.arb.exp)
                for index in waiting:
                    x = _arb(flint, points[index]._mpf_)
                    if weights:
                        value = gridded.real(x, *known[index]) * weights[index]
                    else:
                        value = ball.real(x) * (x * x / -2).exp()
                    if value.is_finite() and value.rel_accuracy_bits() >= precision:
                        mantissa, exponent = value.mid().man_exp()
                        raw = from_man_exp(int(mantissa), int(exponent), context.prec, "n")
                        values[index] = context.make_mpf(raw)
            waiting = [index for index in waiting if values[index] is None]
            if not waiting:
                return values
        for index, value in zip(waiting, plain([points[i] for i in waiting], precision), strict=True):
            values[index] = value
        return values

    return evaluate


def _arb(flint: Any, raw: Any) -> Any:
    sign, mantissa, exponent, _ = raw
    return flint.arb((int(-mantissa if sign else mantissa), int(exponent)))
