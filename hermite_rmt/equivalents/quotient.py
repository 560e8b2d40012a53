"""Polynomials modulo an ideal with finitely many zeros; the zeros in terms of the roots of one polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import sympy
from sympy.polys.groebnertools import groebner
from sympy.polys.matrices import DomainMatrix
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyRing

Monomial = tuple[int, ...]
T = sympy.Dummy("t")
ZERO = sympy.QQ(0)


class InfiniteError(ValueError):
    """The equations have infinitely many complex solutions."""


class Representation(NamedTuple):
    """Finitely many points: x_i = numerators[i](t)/denominator(t) at the roots t of the eliminant."""

    eliminant: sympy.Poly  # square-free: its roots are the values of the separating form at the points
    denominator: sympy.Poly  # has no root in common with it
    numerators: tuple[sympy.Poly, ...]


class Quotient:
    """Q[x]/I, a vector space over Q with a basis of monomials, its vectors dictionaries monomial -> coefficient.

    Attributes
    ----------
    monomials : the basis, those that no leading monomial of the Groebner basis divides; empty where I has no zeros

    Raises
    ------
    InfiniteError
        If I has infinitely many complex zeros.

    >>> x, y = sympy.symbols("x y")
    >>> len(Quotient([x**2 + y**2 - 1, x - y**2], (x, y)).monomials)
    4
    """

    def __init__(self, polynomials: Sequence[Any], unknowns: Sequence[sympy.Symbol]) -> None:
        self._ring = PolyRing(unknowns, sympy.QQ, grevlex)
        self._basis = groebner([self._ring.from_expr(sympy.expand(p)) for p in polynomials], self._ring)
        leading = [tuple(element.LM) for element in self._basis]
        corners = [[m[i] for m in leading if sum(m) == m[i]] for i in range(len(unknowns))]
        missing = [str(symbol) for symbol, powers in zip(unknowns, corners, strict=True) if not powers]
        if missing:
            raise InfiniteError(f"infinitely many complex solutions: {', '.join(missing)} stays free")
        boxes = product(*(range(min(powers)) for powers in corners))
        self.monomials = [
            m for m in boxes if not any(all(a <= b for a, b in zip(head, m, strict=True)) for head in leading)
        ]
        self._traces = {m: self._trace_of(m) for m in self.monomials}

    def representation(self) -> Representation:
        """Return the zeros over the roots of one polynomial (Rouillier 1999, the rational univariate representation).

        With Tr the trace of a multiplication, s = sum of lambda_i x_i taking different values at different zeros, and
        the eliminant a_0 t^d + ... + a_d, the numerator of x_i is sum_{j + k < d} Tr(x_i s^j) a_k t^(d-1-j-k), and
        the denominator is that of 1 in place of x_i: zeros of any multiplicity are covered. Hermite's form
        (Tr x^a x^b) has their number as its rank.
        """
        hermite = [[self._trace(self._product(m, by)) for by in self.monomials] for m in self.monomials]
        distinct = DomainMatrix(hermite, (len(hermite),) * 2, sympy.QQ).rank()
        seed = 0
        while True:  # all but finitely many forms separate the zeros
            seed += 1
            weights = [sympy.QQ(seed) ** i for i in range(self._ring.ngens)]
            form = sum((w * g for w, g in zip(weights, self._ring.gens, strict=True)), self._ring.zero)
            powers = [self._ring.one.rem(self._basis)]
            for _ in range(len(self.monomials)):
                powers.append((powers[-1] * form).rem(self._basis))
            eliminant = _characteristic([self._trace(power) for power in powers]).sqf_part().monic()
            if eliminant.degree() == distinct:
                return Representation(
                    eliminant,
                    self._numerator(eliminant, powers, self._ring.one),
                    tuple(self._numerator(eliminant, powers, generator) for generator in self._ring.gens),
                )

    def _numerator(self, eliminant: sympy.Poly, powers: list[Any], element: Any) -> sympy.Poly:
        degree, coefficients = eliminant.degree(), [sympy.QQ.from_sympy(entry) for entry in eliminant.all_coeffs()]
        traces = [self._trace((element * power).rem(self._basis)) for power in powers[:degree]]
        return _polynomial(
            [sum((traces[j] * coefficients[k - j] for j in range(k + 1)), ZERO) for k in range(degree)]
        )

    def _product(self, first: Monomial, second: Monomial) -> Any:
        exponents = tuple(a + b for a, b in zip(first, second, strict=True))
        return self._ring.from_dict({exponents: sympy.QQ(1)}).rem(self._basis)

    def _trace_of(self, monomial: Monomial) -> Any:
        """Return the trace of the multiplication by a monomial."""
        return sum((self._product(monomial, m).get(m, ZERO) for m in self.monomials), ZERO)

    def _trace(self, element: Any) -> Any:
        return sum((value * self._traces[tuple(m)] for m, value in element.terms()), ZERO)


def _characteristic(traces: list[Any]) -> sympy.Poly:
    """Return the characteristic polynomial of a matrix from the traces of its powers (Newton's identities)."""
    coefficients = [sympy.QQ(1)]
    for k in range(1, len(traces)):
        total = sum((coefficients[k - j] * traces[j] for j in range(1, k + 1)), ZERO)
        coefficients.append(-total / k)
    return _polynomial(coefficients)


def _polynomial(coefficients: list[Any]) -> sympy.Poly:
    return sympy.Poly([sympy.QQ.to_sympy(entry) for entry in coefficients], T, domain=sympy.QQ)
