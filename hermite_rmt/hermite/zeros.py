"""Real zeros of an expression in an interval, exact where its structure allows, else to any number of digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

import sympy
from sympy.polys.rootoftools import ComplexRootOf

from hermite_rmt.codegen.roots import AlgebraicReal
from hermite_rmt.core.numbers import Real, SymbolicReal, read_real
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.zero_search import searched_zeros, value_range

_SAME = 250  # two points that agree to this many bits are one point
_SAME_BITS = _SAME + 50  # the precision in which they are compared
MOST_ZEROS = 20_000


def real_zeros(expression: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Return the real zeros of `expression` (in `X`) in [lower, upper], in increasing order, each once.

    Polynomials, and compositions of invertible or periodic functions with them, are solved exactly. Others are
    searched for on a fine grid, and bisected to any precision asked later; poles where signs change are among them.

    Raises
    ------
    ValueError
        If there are more than 20000 of them.
    """
    if not expression.has(X):
        return []
    return distinct(_Search(lower, upper).zeros(expression))


def solved_exactly(expression: sympy.Expr) -> bool:
    """Whether `real_zeros` finds the zeros from the structure of the expression: all of them, without searching."""
    if not expression.has(X):
        return True
    if expression.is_Mul:
        return all(map(solved_exactly, expression.args))
    if expression.is_Pow and not expression.exp.has(X):
        return solved_exactly(expression.base)
    return _Search(-1.0, 1.0).preimages(expression, sympy.S.Zero) is not None  # in any interval the same steps


_CHOICES = (sympy.Max, sympy.Min, sympy.Piecewise)


def _choices(expression: sympy.Expr) -> list[sympy.Expr]:
    if isinstance(expression, sympy.Piecewise):
        return [value for value, _ in expression.args]
    return list(expression.args)


def distinct(points: Iterable[Real]) -> list[Real]:
    """Return the points in increasing order, each once."""
    ordered = sorted(((point.mpf(_SAME_BITS), point) for point in points), key=lambda pair: pair[0])
    kept: list[tuple[object, Real]] = []
    for value, point in ordered:
        if kept and abs(value - kept[-1][0]) <= abs(value) * 2**-_SAME:
            if point.rational is not None:
                kept[-1] = (value, point)
            continue
        kept.append((value, point))
    return [point for _, point in kept]


class _Search:
    def __init__(self, lower: float, upper: float) -> None:
        self.lower, self.upper = lower, upper

    def zeros(self, expression: sympy.Expr) -> list[Real]:
        if expression.is_Mul:
            return [zero for factor in expression.args if factor.has(X) for zero in self.zeros(factor)]
        if expression.is_Pow and not expression.exp.has(X):
            return self.zeros(expression.base)
        solved = self.preimages(expression, sympy.S.Zero)
        if solved is None:
            return searched_zeros(expression, self.lower, self.upper)
        return [point for point in map(_real, solved) if point is not None and self._inside(point)]

    def _inside(self, point: Real) -> bool:
        return bool(self.lower <= point.mpf(_SAME_BITS) <= self.upper)

    def preimages(self, inner: sympy.Expr, value: sympy.Expr) -> list[sympy.Expr] | None:
        """Return the solutions x of inner(x) = value, and perhaps other points, or None: not solved."""
        straight = _line(inner)
        if straight is not None:
            slope, shift = straight
            return [(value - shift) / slope]
        if inner.is_polynomial(X):
            return _polynomial_roots(inner - value)
        constant, rest = inner.as_independent(X, as_Add=True)
        if constant != 0:
            return self.preimages(rest, value - constant)
        factor, rest = inner.as_independent(X, as_Add=False)
        if factor != 1:
            return self.preimages(rest, value / factor)
        return self._inverted(inner, value)

    def _inverted(self, inner: sympy.Expr, value: sympy.Expr) -> list[sympy.Expr] | None:
        argument = inner.args[0] if inner.args else inner
        if isinstance(inner, (sympy.sin, sympy.cos, sympy.tan)):
            return self._periodic(type(inner), argument, value)
        if isinstance(inner, sympy.Pow):
            return self._power(inner, value)
        if isinstance(inner, _CHOICES):  # where it takes the value, one of the functions it chooses from does
            parts = [self.preimages(each, value) for each in _choices(inner) if each.has(X)]
            return None if None in parts else [x for part in parts for x in part or ()]
        if isinstance(inner, sympy.Abs):
            return self._all(argument, [value, -value]) if value.is_nonnegative else []
        inverse = _INVERSES.get(type(inner))
        if inverse is None:
            return None
        target = inverse(value)
        return [] if target is None else self.preimages(argument, target)

    def _all(self, inner: sympy.Expr, values: Iterable[sympy.Expr]) -> list[sympy.Expr] | None:
        solved = [self.preimages(inner, value) for value in dict.fromkeys(values)]
        return None if any(part is None for part in solved) else [x for part in solved for x in part or ()]

    def _power(self, inner: sympy.Pow, value: sympy.Expr) -> list[sympy.Expr] | None:
        base, exponent = inner.args
        if not exponent.is_Rational:
            return None
        if exponent.is_integer and exponent > 0:
            if exponent % 2:
                return self.preimages(base, sympy.real_root(value, exponent))
            return self._all(base, [value ** (1 / exponent), -(value ** (1 / exponent))]) if value >= 0 else []
        return self.preimages(base, value ** (1 / exponent)) if value > 0 or (value == 0 and exponent > 0) else []

    def _periodic(self, kind: type, inner: sympy.Expr, value: sympy.Expr) -> list[sympy.Expr] | None:
        if kind is sympy.tan:
            first, period = [sympy.atan(value)], sympy.pi
        elif abs(value) > 1:
            return []
        elif kind is sympy.sin:
            first, period = [sympy.asin(value), sympy.pi - sympy.asin(value)], 2 * sympy.pi
        else:
            first, period = [sympy.acos(value), -sympy.acos(value)], 2 * sympy.pi
        low, high = value_range(inner, self.lower, self.upper)
        if not (high - low) / float(period) * len(first) < MOST_ZEROS:
            raise ValueError(f"f: {kind.__name__}({inner}) has more than {MOST_ZEROS} zeros where the Gaussian lives")
        values = []
        for angle in first:
            start = math.ceil((low - float(angle)) / float(period)) - 1
            stop = math.floor((high - float(angle)) / float(period)) + 1
            values += [angle + turn * period for turn in range(start, stop + 1)]
        return self._all(inner, values)


def _within(low: float, high: float, inverse: Callable[[sympy.Expr], sympy.Expr]) -> Callable[[sympy.Expr], object]:
    return lambda value: inverse(value) if low < sympy.N(value, 30) < high else None


_INVERSES: dict[type, Callable[[sympy.Expr], sympy.Expr | None]] = {
    sympy.exp: _within(0, math.inf, sympy.log),
    sympy.log: sympy.exp,
    sympy.tanh: _within(-1, 1, sympy.atanh),
    sympy.atan: _within(-math.pi / 2, math.pi / 2, sympy.tan),
    sympy.sinh: sympy.asinh,
    sympy.asinh: sympy.sinh,
    sympy.erf: _within(-1, 1, sympy.erfinv),
    sympy.erfc: _within(0, 2, lambda value: sympy.erfinv(1 - value)),
}


@lru_cache(maxsize=256)
def _line(expression: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Return (a, b) where the expression is a x + b: a wave asks for it once a period."""
    slope = sympy.diff(expression, X) if expression.is_polynomial(X) else sympy.S.Zero
    return None if slope.has(X) or slope.is_zero else (slope, expression.subs(X, 0))


def _polynomial_roots(expression: sympy.Expr) -> list[sympy.Expr] | None:
    polynomial = sympy.Poly(expression, X)
    if polynomial.is_zero:
        return []
    if polynomial.degree() == 2:
        a, b, c = (polynomial.coeff_monomial(X**k) for k in (2, 1, 0))
        discriminant = b**2 - 4 * a * c
        if sympy.N(discriminant, 30) < 0:
            return []
        root = sympy.sqrt(sympy.nsimplify(discriminant) if discriminant.is_Rational else discriminant)
        return [(-b - root) / (2 * a), (-b + root) / (2 * a)]
    if all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()):
        return list(dict.fromkeys(polynomial.real_roots(multiple=True)))
    return None


def _real(value: sympy.Expr) -> Real | None:
    if isinstance(value, ComplexRootOf):
        return AlgebraicReal(value)
    if value.is_Rational:
        return read_real(value, "breakpoint")
    return SymbolicReal(value) if sympy.N(value, 30).is_Float else None
