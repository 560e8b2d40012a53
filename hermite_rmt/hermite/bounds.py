"""Rigorous bounds of an expression far out: |f(x)| <= C x^n exp(b x + a x^2) for all x >= R, and tails from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction, constant_ball
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.intervals import LINE, Interval, exact

_INCREASING = (sympy.exp, sympy.log, sympy.tanh, sympy.atan, sympy.erf, sympy.sinh, sympy.asinh)
_LIMITS = {
    sympy.exp: (sympy.Integer(0), None),
    sympy.tanh: (sympy.Integer(-1), sympy.Integer(1)),
    sympy.atan: (-sympy.pi / 2, sympy.pi / 2),
    sympy.erf: (sympy.Integer(-1), sympy.Integer(1)),
}
_BOUNDED = {sympy.erfc: 2} | dict.fromkeys(
    (sympy.sin, sympy.cos, sympy.sign, sympy.Heaviside, sympy.sinc, sympy.sech), 1
)


@dataclass(frozen=True)
class Growth:
    """The bound C x^n exp(b x + a x^2), C >= 0 (all `arb`)."""

    C: Any
    n: Any
    b: Any
    a: Any

    def tail(self, start: Any, degree: int, density: Any) -> Any:
        """Return an upper bound of the integral from `start` of this bound times density x^degree exp(-x^2/2).

        The logarithmic derivative of the integrand is at most -rate beyond `start`, so the integral is at most the
        integrand there over the rate; None if the rate is not positive.
        """
        power = self.n + degree
        if not power >= 0:
            return None
        rate = (1 - 2 * self.a) * start - self.b - power / start
        if not rate > 0 or not 1 - 2 * self.a > 0:
            return None
        value = (self.b * start + (self.a - exact(1) / 2) * start**2).exp() * start**power
        return (self.C * density * value / rate).upper()


class TailBounds:
    """Bounds for all x >= start (an exact `arb`, at least 1), inside `flint_precision`."""

    def __init__(self, start: Any) -> None:
        self.start = start

    def growth(self, expression: sympy.Expr) -> Growth:
        """Return a bound of |expression|.

        Raises
        ------
        ValueError
            If none is found: the expression holds a function without a rule here.
        """
        zero = exact(0)
        size = self.interval(expression).size
        if size is not None:
            return Growth(size, zero, zero, zero)
        if expression == X:
            return Growth(exact(1), exact(1), zero, zero)
        if expression.is_Add or isinstance(expression, (sympy.Max, sympy.Min)):
            return self._sum([self.growth(argument) for argument in expression.args])
        if expression.is_Mul:
            return self._product([self.growth(argument) for argument in expression.args])
        if expression.is_Pow and expression.exp.is_Rational and expression.exp > 0:
            power = constant_ball(expression.exp)
            base = self.growth(expression.base)
            return Growth(base.C**power, base.n * power, base.b * power, base.a * power)
        return self._function(expression)

    def _function(self, expression: sympy.Expr) -> Growth:
        zero = exact(0)
        if isinstance(expression, sympy.exp):
            return self._exponential(expression.args[0])
        if isinstance(expression, (sympy.sinh, sympy.cosh)):
            return self._sum([self._exponential(expression.args[0]), self._exponential(-expression.args[0])])
        if isinstance(expression, (sympy.Abs, sympy.asinh)):
            return self.growth(expression.args[0])
        if isinstance(expression, (sympy.floor, sympy.ceiling)):
            return self._sum([self.growth(expression.args[0]), Growth(exact(1), zero, zero, zero)])
        if isinstance(expression, sympy.log):
            return self._logarithm(expression.args[0])
        raise ValueError(f"certified: no bound of {expression} far out")

    def _exponential(self, exponent: sympy.Expr) -> Growth:
        zero = exact(0)
        size = self.interval(sympy.exp(exponent)).size
        if size is not None:
            return Growth(size, zero, zero, zero)
        if exponent.is_polynomial(X) and sympy.degree(exponent, X) <= 2:
            c0, c1, c2 = (constant_ball(sympy.expand(exponent).coeff(X, k)) for k in range(3))
            return Growth(c0.exp(), zero, c1, c2)
        if exponent.is_Add:  # exp(u + v) = exp(u) exp(v)
            polynomial, rest = (
                sympy.Add(*(term for term in exponent.args if term.is_polynomial(X) is wanted))
                for wanted in (True, False)
            )
            if polynomial != 0 and rest != 0:
                return self._product([self._exponential(polynomial), self._exponential(rest)])
        bound = self.growth(exponent)
        if bound.b.is_zero() and bound.a.is_zero() and bound.n <= 2:
            linear = bool(bound.n <= 1)
            return Growth(exact(1), zero, bound.C if linear else zero, zero if linear else bound.C)
        raise ValueError(f"certified: exp({exponent}) grows too fast, or no bound is found")

    def _logarithm(self, argument: sympy.Expr) -> Growth:
        zero = exact(0)
        low = self.interval(argument).low
        if low is None or not low > 0:
            raise ValueError(f"certified: no bound of log({argument}) far out")
        bound = self.growth(argument)
        # log x <= x, and every term is at most its constant times the highest power of x >= 1
        constant = abs(low.log()) + abs(bound.C.log()) + abs(bound.n) + abs(bound.b) + abs(bound.a)
        return Growth(constant, exact(1) if bound.a.is_zero() else exact(2), zero, zero)

    @staticmethod
    def _sum(parts: list[Growth]) -> Growth:
        total = parts[0]
        for part in parts[1:]:
            total = Growth(total.C + part.C, total.n.max(part.n), total.b.max(part.b), total.a.max(part.a))
        return total

    @staticmethod
    def _product(parts: list[Growth]) -> Growth:
        total = parts[0]
        for part in parts[1:]:
            total = Growth(total.C * part.C, total.n + part.n, total.b + part.b, total.a + part.a)
        return total

    def interval(self, expression: sympy.Expr) -> Interval:
        """Return a range that contains all values; the whole line where nothing better is known."""
        if not expression.has(X):
            value = constant_ball(expression)
            return Interval(value.lower(), value.upper()) if value.is_finite() else LINE
        if expression == X:
            return Interval(self.start, None)
        if expression.is_Add:
            return reduce(Interval.__add__, map(self.interval, expression.args))
        if expression.is_Mul:
            return reduce(Interval.__mul__, map(self.interval, expression.args))
        if expression.is_Pow:
            return self._interval_power(expression)
        if isinstance(expression, _INCREASING):
            return self._interval_increasing(expression)
        if expression.func in _BOUNDED:
            return Interval(exact(-_BOUNDED[expression.func]), exact(_BOUNDED[expression.func]))
        if isinstance(expression, sympy.Abs):
            return self.interval(expression.args[0]).absolute()
        return LINE

    def _interval_power(self, expression: sympy.Pow) -> Interval:
        base, exponent = expression.args
        if not exponent.is_Rational:
            return LINE
        inner = self.interval(base)
        if exponent.is_integer and exponent % 2 == 0:
            inner = inner.absolute()
        if inner.low is None or not (inner.low > 0 if exponent < 0 else inner.low >= 0):
            return LINE
        power = constant_ball(exponent)
        low = inner.low**power if inner.low > 0 else exact(0)
        high = None if inner.high is None else inner.high**power
        if exponent > 0:
            return Interval(low.lower(), None if high is None else high.upper())
        return Interval(exact(0) if high is None else high.lower(), low.upper())

    def _interval_increasing(self, expression: sympy.Expr) -> Interval:
        inner = self.interval(expression.args[0])
        function = BallFunction(X, expression.func(X))
        least, most = _LIMITS.get(expression.func, (None, None))
        low = None if least is None else constant_ball(least).lower()
        high = None if most is None else constant_ball(most).upper()
        if inner.low is not None and not (isinstance(expression, sympy.log) and not inner.low > 0):
            low = function.real(inner.low).lower()
        if inner.high is not None and not (isinstance(expression, sympy.log) and not inner.high > 0):
            high = function.real(inner.high).upper()
        return Interval(low, high)
