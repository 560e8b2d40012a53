"""One root of an expression between two points of opposite sign, to any digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import sympy

from hermite_rmt.codegen.kernel import Kernel
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import ComputedReal

_HALVINGS = 20  # of the bracket before the secant method is tried on it
_BEYOND = 2.0**-20  # of the bracket's width: how far outside it a root may be by rounding errors in its ends
_NOTHING = 400  # bits below the bracket's width from where on a root is 0


def bracketed_root(expression: sympy.Expr, variable: sympy.Symbol, left: float, right: float) -> ComputedReal:
    """Return the root between two doubles at which the expression has opposite signs in double precision.

    Bisection, with the secant method's point taken where signs close to it on both sides prove it: as many steps as
    the digits need, and never a point outside the bracket. Signs in double precision may be wrong at the ends
    themselves: the root may be beyond by a millionth of the bracket.

    The number raises ArithmeticError when it is evaluated if at higher precision the sign does not change.

    >>> x = sympy.Symbol("x")
    >>> print(bracketed_root(sympy.cos(x) - x, x, 0.0, 1.0).mpf(100))
    0.73908513321516064165531208767
    """
    name = f"zero of {sympy.srepr(expression)} in [{left!r}, {right!r}]"
    return ComputedReal(partial(_root, Kernel([variable], [expression]), left, right), name)


def _root(kernel: Kernel, left: float, right: float, digits: int) -> Any:
    precision = bits(digits) + 9
    context = local_context(precision + 20)
    evaluate = kernel.multiprecision(precision + 20)

    def function(x: Any) -> Any:
        return evaluate(x)[0]

    low, high, sign = _bracket(function, context.mpf(left), context.mpf(right))
    halvings = _HALVINGS
    while high - low > context.ldexp(abs(low) + abs(high), -precision):
        if low < 0 < high and max(-low, high) < context.ldexp(context.mpf(right) - context.mpf(left), -_NOTHING):
            return context.zero
        middle = (low + high) / 2
        if halvings == 0:
            point = _secant(function, low, high, precision)
            margin = context.ldexp(abs(point), -precision)
            below, above = point - margin, point + margin
            if (
                low < below
                and above < high
                and context.sign(function(below)) == sign == -context.sign(function(above))
            ):
                return point
            halvings = _HALVINGS
        halvings -= 1
        at_middle = context.sign(function(middle))
        if not at_middle:
            return middle
        low, high = (middle, high) if at_middle == sign else (low, middle)
    return (low + high) / 2


def _bracket(function: Callable[[Any], Any], low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return the ends, moved a little where that brings a change of sign, and the sign at the lower one."""
    context = low.context
    beyond = (high - low) * _BEYOND
    for a, b in ((low, high), (low - beyond, high), (low, high + beyond)):
        first, last = context.sign(function(a)), context.sign(function(b))
        if not first or not last:
            end = a if not first else b
            return end, end, first
        if first == -last:
            return a, b, first
    raise ArithmeticError(f"no change of sign between {float(low)!r} and {float(high)!r} at {context.prec} bits")


def _secant(function: Callable[[Any], Any], low: Any, high: Any, precision: int) -> Any:
    """Return what the secant method leads to: a guess, `low` where it leaves the bracket."""
    before, point = low, high
    first, second = function(before), function(point)
    for _ in range(2 * precision.bit_length() + 10):
        if first == second:
            break
        step = second * (point - before) / (second - first)
        before, first, point = point, second, point - step
        if not low < point < high:
            return low
        if abs(step) <= point.context.ldexp(abs(point), -precision - 4):
            break
        second = function(point)
    return point
