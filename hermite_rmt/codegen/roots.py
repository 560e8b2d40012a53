"""Real roots of rational polynomials to any digits, with multiplicities: a change of sign in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import sympy
from sympy.polys.rootoftools import ComplexRootOf

from hermite_rmt.codegen.evaluation import evaluate
from hermite_rmt.codegen.kernel import Kernel
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import ComputedReal, RationalReal, Real

_FIRST_BITS = 64
_HALVINGS = 16  # between two attempts of Newton's method
_NEWTON_STEPS = 4

Isolated = tuple[tuple[int, ...], Fraction, Fraction]
"""Coefficients, highest first, and an interval that contains just one root, which is simple."""


def enclose_root(root: ComplexRootOf, precision: int) -> tuple[Fraction, Fraction]:
    """Return dyadic bounds of a real CRootOf, of relative distance at most 2^-precision.

    SymPy's own evaluation takes thousands of steps where a root is close to a simple fraction.

    >>> x = sympy.Symbol("x")
    >>> lower, upper = enclose_root(sympy.CRootOf(x**39 - 3 * x + 1, 1), 100)
    >>> 0 < lower - Fraction(1, 3) < Fraction(1, 10**19)
    True
    """
    return AlgebraicReal(root).bounds(precision)


def with_floats(expression: sympy.Expr, precision: int) -> sympy.Expr:
    """Return the expression with a Float of `precision` bits in place of every real CRootOf."""
    roots = [root for root in expression.atoms(ComplexRootOf) if root.is_real]
    return expression.xreplace({root: _float(root, precision) for root in roots})


def real_roots(polynomial: sympy.Poly) -> list[tuple[Real, int]]:
    """Return the real roots of a polynomial with rational coefficients, increasing, each with its multiplicity.

    None is missed and none is invented: square-free factors are isolated by exact sign counts.

    Raises
    ------
    ValueError
        If a coefficient is not rational, or all are 0.

    >>> x = sympy.Symbol("x")
    >>> [(float(root), k) for root, k in real_roots(sympy.Poly((x**2 - 2) ** 2 * (3 * x - 1), x))]
    [(-1.4142135623730951, 2), (0.3333333333333333, 1), (1.4142135623730951, 2)]
    """
    if polynomial.is_zero or not all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()):
        raise ValueError(f"polynomial: got {polynomial.as_expr()}; allowed: rational coefficients, not all 0")
    found: list[tuple[Real, int]] = []
    for factor, multiplicity in polynomial.factor_list()[1]:
        if factor.degree() == 1:
            slope, constant = (Fraction(int(c.p), int(c.q)) for c in factor.all_coeffs())
            found.append((RationalReal(-constant / slope), multiplicity))
        else:
            found += [(IsolatedReal(isolated), multiplicity) for isolated in _isolated(factor)]
    order = increasing([root for root, _ in found])  # factors have no root in common
    return sorted(found, key=lambda entry: order.index(entry[0]))


def increasing(values: Sequence[Real]) -> list[Real]:
    """Return numbers in increasing order, with as many bits as it takes; no two of them may be equal."""
    precision = _FIRST_BITS
    while True:
        ordered = sorted(values, key=lambda value: value.mpf(precision))
        if all(a.mpf(precision) < b.mpf(precision) for a, b in pairwise(ordered)):
            return ordered
        precision *= 2


def value_at(numerator: sympy.Poly, denominator: sympy.Poly, root: Real) -> Real:
    """Return the value of a quotient of rational polynomials at one of `real_roots`, exact where it is rational.

    Raises
    ------
    ZeroDivisionError
        If the denominator vanishes there.

    >>> x = sympy.Symbol("x")
    >>> (_, _), (root, _) = real_roots(sympy.Poly(x**2 - 2, x))
    >>> value_at(sympy.Poly(x**3, x), sympy.Poly(5 * x, x), root)
    RationalReal(2/5)
    """
    if not isinstance(root, IsolatedReal):
        at = sympy.Rational(root.rational)
        if denominator.eval(at) == 0:
            raise ZeroDivisionError(f"the denominator vanishes at {at}")
        return _rational(numerator.eval(at) / denominator.eval(at))
    minimal = sympy.Poly(root.isolated[0], numerator.gen)
    if denominator.rem(minimal).is_zero:
        raise ZeroDivisionError(f"the denominator vanishes at the {root.text}")
    value = (numerator * denominator.invert(minimal)).rem(minimal)
    if value.degree() < 1:
        return _rational(value.as_expr())
    kernel = Kernel([numerator.gen], [value.as_expr()])
    return ComputedReal(partial(_evaluate, kernel, root), f"{value.as_expr()} at the {root.text}")


def _rational(value: sympy.Rational) -> Real:
    return RationalReal(Fraction(int(value.p), int(value.q)))


def _evaluate(kernel: Kernel, root: Real, digits: int) -> Any:
    (value,) = evaluate(kernel, [root], digits)
    return value


class IsolatedReal(ComputedReal):
    """A root of an integer polynomial in an isolating interval as a number known to any digits, with enclosures."""

    __slots__ = ("isolated",)

    def __init__(self, isolated: Isolated, text: str | None = None) -> None:
        coefficients, low, high = isolated
        super().__init__(self._value, text or f"root of {coefficients} in [{low}, {high}]", self._ball)
        self.isolated = isolated

    def bounds(self, precision: int) -> tuple[Fraction, Fraction]:
        """Return dyadic bounds of relative distance at most 2^-precision."""
        precise = _refined(self.isolated, min(precision, _FIRST_BITS))
        return precise if precision <= _FIRST_BITS else _refined((self.isolated[0], *precise), precision)

    def _value(self, digits: int) -> Any:
        lower, upper = self.bounds(bits(digits) + 4)
        return _mpf((lower + upper) / 2, bits(digits) + 8)

    def _ball(self, digits: int) -> Ball:
        lower, upper = self.bounds(bits(digits) + 2)
        exact = max(end.numerator.bit_length() for end in (lower, upper)) + 1  # the bounds are dyadic
        return Ball.between(_mpf(lower, exact), _mpf(upper, exact), digits)

    def __reduce__(self) -> tuple[Any, ...]:
        return IsolatedReal, (self.isolated,)


class AlgebraicReal(IsolatedReal):
    """A real CRootOf as such a number."""

    __slots__ = ("root",)

    def __init__(self, root: ComplexRootOf) -> None:
        super().__init__(_isolated(root.poly)[root.index], str(sympy.srepr(root)))
        self.root = root

    def __reduce__(self) -> tuple[Any, ...]:
        return AlgebraicReal, (self.root,)


def _float(root: ComplexRootOf, precision: int) -> sympy.Float:
    lower, upper = enclose_root(root, precision + 4)
    return sympy.Float._new(_mpf((lower + upper) / 2, precision)._mpf_, precision)


def _mpf(value: Fraction, precision: int) -> Any:
    return local_context(precision).mpf(value.numerator) / value.denominator


@lru_cache(maxsize=64)
def _isolated(polynomial: sympy.Poly) -> list[Isolated]:
    polynomial = polynomial.clear_denoms(convert=True)[1]
    coefficients = tuple(int(value) for value in polynomial.all_coeffs())
    return [
        (coefficients, Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q)))
        for (low, high), _ in polynomial.intervals()
    ]


@lru_cache(maxsize=256)
def _refined(isolated: Isolated, precision: int) -> tuple[Fraction, Fraction]:
    coefficients, low, high = isolated
    sign = _sign(coefficients, low)
    while sign and high - low > min(abs(low), abs(high)) * Fraction(1, 2**precision):
        near = _newton(coefficients, (low + high) / 2, precision)
        margin = abs(near) / 2 ** (precision + 2)
        left, right = max(low, near - margin), min(high, near + margin)
        if left < right and _sign(coefficients, left) == sign and _sign(coefficients, right) == -sign:
            return left, right
        for _ in range(_HALVINGS):
            middle = _dyadic((low + high) / 2, 2 * precision)
            if not low < middle < high:
                middle = (low + high) / 2
            found = _sign(coefficients, middle)
            if not found:
                return middle, middle
            low, high = (middle, high) if found == sign else (low, middle)
    return (low, high) if sign else (low, low)


def _newton(coefficients: Sequence[int], start: Fraction, precision: int) -> Fraction:
    """Return what a few steps of Newton's method lead to: a guess."""
    context = local_context(precision + 40)
    x = context.mpf(start.numerator) / start.denominator
    for _ in range(_NEWTON_STEPS + precision.bit_length()):
        value = slope = context.zero
        for coefficient in coefficients:
            slope = slope * x + value
            value = value * x + coefficient
        if not slope:
            break
        step = value / slope
        x -= step
        if abs(step) <= context.ldexp(abs(x), -precision - 8):
            break
    sign, mantissa, exponent, _ = x._mpf_
    return Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** int(exponent)


def _dyadic(value: Fraction, precision: int) -> Fraction:
    """Round to a fraction whose denominator is a power of two: cheap to evaluate a polynomial at."""
    shift = precision + value.denominator.bit_length() - abs(value.numerator).bit_length()
    return Fraction(round(value * 2**shift), 2**shift) if shift > 0 else value


def _sign(coefficients: Sequence[int], point: Fraction) -> int:
    total, scale = 0, 1
    for coefficient in coefficients:  # the value times denominator^degree
        total = total * point.numerator + coefficient * scale
        scale *= point.denominator
    return (total > 0) - (total < 0)
