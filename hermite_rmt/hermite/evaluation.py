"""Values of an analytic piece times exp(-x^2/2) at many points: by python-flint where it can, by mpmath otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import sympy
from mpmath.libmp import from_man_exp

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.hermite.integrand import X


@dataclass(frozen=True)
class Grid:
    """The points (first + j step) / q, j = 0, 1, ..., whole numbers."""

    first: int
    step: int
    q: int

    def gaussians(self, count: int, number: Callable[[int], Any], exp: Callable[[Any], Any]) -> list[Any]:
        """Return exp(-x^2/2) at the first `count` points by two multiplications each; `number` makes exact numbers.

        The relative error grows like count^2.
        """
        square = number(self.q) ** 2
        value = exp(number(-(self.first**2)) / (2 * square))
        ratio = exp(number(-(2 * self.first * self.step + self.step**2)) / (2 * square))
        change = exp(number(-(self.step**2)) / square)
        values = []
        for _ in range(count):
            values.append(value)
            value, ratio = value * ratio, ratio * change
        return values


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
    plain = _by_mpmath(Kernel([X], [piece]), name)
    if flint_module() is None:
        return plain
    try:
        ball = BallFunction(X, piece)
        with flint_precision(64) as flint:
            ball.real(flint.arb(1))  # constants are read when they are first needed
    except ValueError:  # a function python-flint does not have
        return plain
    return _by_flint(ball, plain)


def _by_mpmath(kernel: Kernel, name: str) -> Evaluate:
    def evaluate(points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        working = precision + _GUARD + 2 * len(points).bit_length()
        context = local_context(working)
        function = kernel.multiprecision(working)
        weights = grid and grid.gaussians(len(points), context.mpf, context.exp)
        values = []
        for index, point in enumerate(points):
            x = context.convert(point)
            try:
                value = function(x)[0]
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


def _by_flint(ball: BallFunction, plain: Evaluate) -> Evaluate:
    def evaluate(points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        values: list[Any] = [None] * len(points)
        waiting = list(range(len(points)))
        context = local_context(precision + _GUARD)
        for retry in range(_RETRIES):
            working = (precision + _GUARD + 2 * len(points).bit_length()) << retry
            with flint_precision(working) as flint:
                weights = grid.gaussians(len(points), flint.arb, flint.arb.exp) if grid and not retry else None
                for index in waiting:
                    x = _arb(flint, points[index]._mpf_)
                    value = ball.real(x) * (weights[index] if weights else (x * x / -2).exp())
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
