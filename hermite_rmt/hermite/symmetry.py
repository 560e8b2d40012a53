"""Which Hermite coefficients of an expression are exactly zero: its even or its odd part is a polynomial.

So it is for the odd part x/2 of relu, gelu, silu and softplus, and for the even part 1/2 of the sigmoid.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.breakpoints import between, piece_at
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.zeros import distinct

_PROBES = [sympy.Rational(text) for text in ("0.2718", "1.4142", "3.1415")]
_BITS = 2500  # two constants that agree to this many bits are taken as equal


class Symmetry:
    """The degrees of the even and the odd part of `expression`, where these are polynomials.

    >>> sigmoid = Symmetry(1 / (1 + sympy.exp(-X)), [])
    >>> [sigmoid.vanishes(k) for k in range(5)]
    [False, False, True, False, True]
    """

    def __init__(self, expression: sympy.Expr, points: Sequence[Real]) -> None:
        self.expression, self._points = expression, points
        self._degrees: dict[int, int | None] = {}
        self._by_algebra = True

    @cached_property
    def _probes(self) -> list[sympy.Rational]:
        """One point for each pair of analytic pieces, at x and -x."""
        folded = distinct([point if point.mpf(60) >= 0 else _Negative(point) for point in self._points])
        ends: list[Real | None] = [*(point for point in folded if point.mpf(60) > 0), None]
        starts: list[Real | None] = [_Zero(), *ends[:-1]]
        return [between(left, right) for left, right in zip(starts, ends, strict=True)]

    def vanishes(self, degree: int) -> bool:
        """Whether a_degree is proved to be zero."""
        parity = degree % 2
        if parity not in self._degrees:
            self._degrees[parity] = self._degree(-1 if parity else 1)
        known = self._degrees[parity]
        return known is not None and degree > known

    def proved(self, degree: int) -> bool:
        """Whether a_degree = 0 was shown by algebra alone, without comparing numbers (of very many digits)."""
        # one analytic piece: an odd straight line passes through the origin, and an even one is constant
        return self.vanishes(degree) and (self._by_algebra or len(self._probes) == 1)

    def _degree(self, sign: int) -> int | None:
        """Return the degree of (f(x) + sign f(-x)) / 2 if it is one polynomial (-1: zero), else None."""
        if self.expression.subs(X, -X) == -sign * self.expression:
            return -1
        common: sympy.Poly | None = None
        for probe in self._probes:
            right = piece_at(self.expression, probe)
            left = piece_at(self.expression, -probe).subs(X, -X)
            part = _polynomial(right + sign * left, probe, odd=sign < 0)
            if part is None or (common is not None and part != common):
                return None
            common = part
            self._by_algebra = self._by_algebra and not any(number.is_Float for number in part.all_coeffs())
        assert common is not None
        return -1 if common.is_zero else int(common.degree())


def _polynomial(part: sympy.Expr, probe: sympy.Rational, odd: bool) -> sympy.Poly | None:
    part = sympy.expand(part)
    if part.is_polynomial(X):
        return sympy.Poly(part, X)
    slope = sympy.diff(part, X)
    values = [sympy.N(slope.subs(X, point), 20) for point in (probe, probe + sympy.Rational(1, 997))]
    if not all(value.is_Float or value.is_Rational for value in values):
        return None
    if abs(values[0] - values[1]) > (1 + abs(values[0])) * sympy.Rational(1, 10**12):
        return None
    slope = sympy.cancel(sympy.together(sympy.expand(slope.rewrite(sympy.exp))))
    if slope.has(X):
        return None
    # the slope is a constant, so the part is a straight line: its value at one point decides the rest
    context = local_context(_BITS)
    rest = Kernel([X], [part - slope * X]).multiprecision(_BITS)(context.mpf(probe.p) / probe.q)[0]
    if odd and not abs(rest) < context.ldexp(1, 200 - _BITS):
        return None
    if odd:
        rest = context.zero
    constant = sympy.Float(str(rest), 700)  # a Float marks a comparison of numbers
    return sympy.Poly(slope * X + constant, X)


class _Zero:
    """The origin, as the left end of the folded line."""

    text = "0"
    rational = Fraction(0)

    def __float__(self) -> float:
        return 0.0

    def mpf(self, precision: int) -> object:
        return local_context(precision).zero


class _Negative:
    """Minus a point."""

    def __init__(self, point: Real) -> None:
        self.point = point
        self.text = f"-({point.text})"
        self.rational = None if point.rational is None else -point.rational

    def __float__(self) -> float:
        return -float(self.point)

    def mpf(self, precision: int) -> object:
        return -self.point.mpf(precision)
