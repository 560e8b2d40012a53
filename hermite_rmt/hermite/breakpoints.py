"""Where an expression may fail to be analytic on the real line, and the analytic piece it is in between."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import sympy

from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.zero_search import value_range
from hermite_rmt.hermite.zeros import MOST_ZEROS, distinct, real_zeros

_SIGN_OF_ARGUMENT = (sympy.Abs, sympy.sign, sympy.Heaviside)
_POLES_AT_ZERO = (sympy.coth, sympy.csch, sympy.Ei, sympy.Ci, sympy.Chi, sympy.li)
_CUT_AT_ONE = (sympy.asin, sympy.acos, sympy.atanh, sympy.acosh, sympy.asec, sympy.acsc, sympy.acoth, sympy.asech)
_GAMMA = (sympy.gamma, sympy.loggamma, sympy.polygamma)


def normalised(expression: sympy.Expr) -> sympy.Expr:
    """Return the same function with frac and Mod written by floor.

    Raises
    ------
    ValueError
        If a delta function occurs: it is no function.
    """
    if expression.has(sympy.DiracDelta):
        raise ValueError("f: got a DiracDelta; allowed: functions (E f(xi)^2 of a delta function is infinite)")
    expression = expression.replace(sympy.frac, lambda u: u - sympy.floor(u))
    return expression.replace(sympy.Mod, lambda u, m: u - m * sympy.floor(u / m))


def breakpoints(expression: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Return the points of [lower, upper] where `expression` (in `X`) may fail to be analytic: kinks, jumps, poles.

    >>> breakpoints(sympy.Abs(X - sympy.Rational(1, 3)), -10, 10)
    [RationalReal(1/3)]
    """
    points = [
        point
        for equation in equations(normalised(expression), lower, upper)
        for point in real_zeros(equation, lower, upper)
    ]
    return distinct(points)


def equations(expression: sympy.Expr, lower: float, upper: float) -> Iterator[sympy.Expr]:
    """Yield expressions whose zeros are the candidates."""
    for part in sympy.preorder_traversal(expression):
        if not isinstance(part, sympy.Basic) or not part.has(X) or not part.args:
            continue
        argument = part.args[0]
        if isinstance(part, (sympy.Max, sympy.Min)):
            yield from (a - b for a, b in itertools.combinations(part.args, 2))
        elif isinstance(part, sympy.core.relational.Relational):
            yield part.lhs - part.rhs
        elif isinstance(part, (sympy.floor, sympy.ceiling)):
            yield from (argument - n for n in _integers(argument, lower, upper))
        elif isinstance(part, sympy.Pow):
            if not (part.exp.is_integer and part.exp.is_nonnegative):
                yield part.base
        elif isinstance(part, (*_SIGN_OF_ARGUMENT, sympy.log, sympy.atan2, *_POLES_AT_ZERO)):
            yield from part.args[:2] if isinstance(part, sympy.atan2) else (argument,)
        elif isinstance(part, (sympy.tan, sympy.sec)):
            yield sympy.cos(argument)
        elif isinstance(part, (sympy.cot, sympy.csc)):
            yield sympy.sin(argument)
        elif isinstance(part, sympy.acot):
            yield argument
        elif isinstance(part, _CUT_AT_ONE):
            yield from (argument - 1, argument + 1, argument)
        elif isinstance(part, sympy.LambertW):
            yield from (argument + sympy.exp(-1), argument)
        elif isinstance(part, _GAMMA):
            argument = part.args[-1]
            yield from (argument - n for n in _integers(argument, lower, upper) if n <= 0)


def _integers(argument: sympy.Expr, lower: float, upper: float) -> range:
    low, high = value_range(argument, lower, upper)
    if not high - low < MOST_ZEROS:
        raise ValueError(f"f: {argument} passes more than {MOST_ZEROS} integers where the Gaussian lives")
    return range(math.floor(low), math.ceil(high) + 1)


def piece_at(expression: sympy.Expr, point: sympy.Rational) -> sympy.Expr:
    """Return the expression that equals `expression` around `point`, free of Abs, sign, Max, floor, Piecewise...

    It is the analytic piece between the two breakpoints that enclose `point`.

    >>> piece_at(sympy.Max(X, 0) + sympy.sign(X - 3), sympy.Integer(1))
    x - 1
    """
    return _Resolver(point).resolve(normalised(expression))


def branches_at(expression: sympy.Expr, point: sympy.Rational) -> sympy.Expr:
    """Return the expression with the branch at `point` in place of each Piecewise; its kinks stay as they are.

    >>> branches_at(sympy.Max(X, 0) * sympy.Piecewise((X, X < 3), (2, True)), sympy.Integer(1))
    x*Max(0, x)
    """
    return expression.replace(sympy.Piecewise, lambda *branches: _branch(branches, point))


def _branch(branches: Iterable[Any], point: sympy.Rational) -> sympy.Expr:
    for value, condition in branches:
        holds = condition.subs(X, point)
        if holds not in (sympy.true, sympy.false):
            holds = sympy.simplify(holds)
        if holds == sympy.true:
            return value
    return sympy.nan


class _Resolver:
    def __init__(self, point: sympy.Rational) -> None:
        self.point = point

    def value(self, expression: sympy.Expr) -> sympy.Expr:
        return sympy.N(expression.subs(X, self.point), 30)

    def sign(self, expression: sympy.Expr) -> int:
        value = self.value(expression)
        if not value.is_comparable:
            return 0
        return 1 if value > 0 else -1 if value < 0 else 0

    def resolve(self, expression: sympy.Expr) -> sympy.Expr:
        if not expression.args or not expression.has(X):
            return expression
        if isinstance(expression, sympy.Piecewise):
            return self.resolve(_branch(expression.args, self.point))
        arguments = [self.resolve(argument) for argument in expression.args]
        argument = arguments[0]
        if isinstance(expression, sympy.Abs):
            sign = self.sign(argument)
            return sign * argument if sign else expression.func(argument)
        if isinstance(expression, sympy.sign):
            return sympy.Integer(self.sign(argument))
        if isinstance(expression, sympy.Heaviside):
            return sympy.Rational(1 + self.sign(argument), 2)
        if isinstance(expression, (sympy.floor, sympy.ceiling)):
            rounded = expression.func(self.value(argument))
            return rounded if rounded.is_Integer else expression.func(argument)
        if isinstance(expression, (sympy.Max, sympy.Min)):
            values = [self.value(each) for each in arguments]
            if all(value.is_comparable for value in values):
                best = (max if isinstance(expression, sympy.Max) else min)(range(len(values)), key=values.__getitem__)
                return arguments[best]
        return expression.func(*arguments)


def between(left: Real | None, right: Real | None) -> sympy.Rational:
    """Return a simple rational strictly between two points (None: minus or plus infinity)."""
    if left is None and right is None:
        return sympy.Rational(1, 3)
    if left is None or right is None:
        end = left if left is not None else right
        assert end is not None
        shift = 1 if left is not None else -1
        return sympy.Rational(math.floor(float(end)) + (2 if shift > 0 else -1)) + sympy.Rational(shift, 7)
    low, high = left.mpf(400), right.mpf(400)
    exponent = max(0, 4 - math.floor(math.log2(float(high - low))) if float(high - low) > 0 else 390)
    return sympy.Rational(int((low + high) / 2 * 2**exponent), 2**exponent)


__all__ = ["between", "breakpoints", "normalised", "piece_at", "read_real"]
