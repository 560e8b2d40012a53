"""Values of an analytic piece times exp(-x^2/2) at many points: by python-flint where it can, by mpmath otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from mpmath.libmp import from_man_exp

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.hermite.integrand import X

Evaluate = Callable[[list[Any], int], list[Any]]
"""Values of f(x) exp(-x^2/2) (mpf, mpc where f is complex) at points given as mpf, at a binary precision."""

_GUARD = 20
_RETRIES = 4


def weighted_values(piece: sympy.Expr) -> Evaluate:
    """Return the evaluation of `piece` (in `X`) times exp(-x^2/2).

    The values have a relative error of about 2^-precision where python-flint knows the functions: it notices
    cancellation, and the point is repeated with more bits. mpmath's values are trusted to the precision.
    """
    plain = _by_mpmath(Kernel([X], [piece]))
    if flint_module() is None:
        return plain
    try:
        ball = BallFunction(X, piece)
    except ValueError:
        return plain
    return _by_flint(ball, plain)


def _by_mpmath(kernel: Kernel) -> Evaluate:
    def evaluate(points: list[Any], precision: int) -> list[Any]:
        context = local_context(precision + _GUARD)
        function = kernel.multiprecision(precision + _GUARD)
        values = []
        for point in points:
            x = context.convert(point)
            try:
                values.append(function(x)[0] * context.exp(-(x**2) / 2))
            except (ZeroDivisionError, ValueError):  # 1/0, log 0, a pole: mpmath raises
                values.append(context.nan)
        return values

    return evaluate


def _by_flint(ball: BallFunction, plain: Evaluate) -> Evaluate:
    def evaluate(points: list[Any], precision: int) -> list[Any]:
        values: list[Any] = [None] * len(points)
        waiting = list(range(len(points)))
        context = local_context(precision + _GUARD)
        for retry in range(_RETRIES):
            working = (precision + _GUARD) << retry
            with flint_precision(working) as flint:
                for index in waiting:
                    x = _arb(flint, points[index]._mpf_)
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
