"""Polynomial systems in the unknowns over the field of the parameters: what the reduction passes work on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import ring

from hermite_rmt.equivalents.fields import ParameterField

Polynomial = Any  # sympy.polys.rings.PolyElement


@dataclass(frozen=True)
class PolynomialSystem:
    """Equations ``polynomial = 0``, and the unknowns already expressed by others.

    Attributes
    ----------
    unknowns : those still in the equations
    polynomials : elements of one ring in all unknowns over the parameter field
    solved : {unknown: polynomial in the remaining unknowns}
    """

    ring: Any
    field: ParameterField
    unknowns: tuple[Any, ...]
    polynomials: tuple[Polynomial, ...]
    solved: Mapping[Any, Polynomial] = dataclasses.field(default_factory=dict)

    @classmethod
    def over(cls, unknowns: Sequence[Any], parameters: ParameterField) -> PolynomialSystem:
        """Return the empty system in these unknowns."""
        return cls(ring(list(unknowns), parameters.domain)[0], parameters, tuple(unknowns), ())

    def generator(self, unknown: Any) -> Polynomial:
        """Return what an unknown stands for: itself, or its expression by others."""
        if unknown in self.solved:
            return self.solved[unknown]
        return self.ring.gens[self.ring.symbols.index(unknown)]

    def affine(self, expression: Any) -> Polynomial:
        """Convert a linear combination of unknowns."""
        total = self.ring.zero
        for term in sympy.Add.make_args(sympy.expand(expression)):
            coefficient, factor = sympy.S.One, self.ring.one
            for part in sympy.Mul.make_args(term):
                if part in self.ring.symbols:
                    factor = factor * self.generator(part)
                else:
                    coefficient *= part
            total += factor * self.field.element(coefficient)
        return total

    def substitute(self, images: Mapping[Any, Polynomial]) -> PolynomialSystem:
        """Return the system with unknowns replaced by polynomials in the others."""
        places = [(self.ring.symbols.index(unknown), image) for unknown, image in images.items()]

        def replaced(polynomial: Polynomial) -> Polynomial:
            if not any(monomial[place] for monomial in polynomial for place, _ in places):
                return polynomial
            total = self.ring.zero
            for monomial, coefficient in polynomial.terms():
                rest, factor = list(monomial), self.ring.one
                for place, image in places:
                    if rest[place]:
                        factor = factor * image ** rest[place]
                        rest[place] = 0
                total += factor * self.ring.term_new(tuple(rest), coefficient)
            return total

        return replace(
            self,
            unknowns=tuple(u for u in self.unknowns if u not in images),
            polynomials=tuple(p for p in map(replaced, self.polynomials) if p),
            solved={**{u: replaced(p) for u, p in self.solved.items()}, **images},
        )

    def normalised(self) -> PolynomialSystem:
        """Return the system with leading coefficients 1 and repeated equations dropped."""
        return replace(self, polynomials=tuple(dict.fromkeys(p.monic() for p in self.polynomials if p)))

    def independent(self) -> PolynomialSystem:
        """Return the system without equations that are linear combinations of simpler ones."""
        ordered = sorted(self.polynomials, key=lambda p: (len(p), max(map(sum, p.monoms()))))
        monomials = sorted({m for p in ordered for m in p.monoms()}, reverse=True)
        matrix = self._matrix(ordered, monomials).transpose()
        _, pivots = matrix.rref()
        return replace(self, polynomials=tuple(ordered[pivot] for pivot in pivots))

    def combination_for(self, unknown: Any) -> Polynomial | None:
        """Return q with ``unknown = q``, q free of it, if a linear combination of equations says so."""
        place = self.ring.symbols.index(unknown)
        monomials = {m for p in self.polynomials for m in p.monoms()}
        alone = tuple(int(k == place) for k in range(len(self.ring.symbols)))
        if alone not in monomials:
            return None
        first = sorted((m for m in monomials if m[place] and m != alone), reverse=True)
        last = sorted((m for m in monomials if not m[place]), reverse=True)
        columns = [*first, alone, *last]
        reduced, pivots = self._matrix(self.polynomials, columns).rref()
        if len(first) not in pivots:
            return None
        row = reduced.to_sdm()[pivots.index(len(first))]
        return -self.ring.from_dict({columns[k]: value for k, value in row.items() if k > len(first)})

    def _matrix(self, rows: Sequence[Polynomial], columns: Sequence[Any]) -> DomainMatrix:
        index = {monomial: k for k, monomial in enumerate(columns)}
        entries = {i: {index[m]: value for m, value in p.items()} for i, p in enumerate(rows)}
        return DomainMatrix(entries, (len(rows), len(columns)), self.field.domain)

    def expression(self, polynomial: Polynomial) -> Any:
        """Return a polynomial as a SymPy expression."""
        return sympy.Add(
            *(
                self.field.expression(value) * sympy.Mul(*(s**k for s, k in zip(self.ring.symbols, m, strict=True)))
                for m, value in polynomial.terms()
            )
        )

    def cleared(self, polynomial: Polynomial) -> Any:
        """Return a polynomial as a SymPy expression, denominators and common factors of its coefficients cleared."""
        numerator = sympy.numer(sympy.together(self.field.rational(self.expression(polynomial))))
        symbols = [s for s in self.ring.symbols if numerator.has(s)]
        if not symbols:
            return numerator
        primitive = sympy.Poly(numerator, *symbols).primitive()[1]
        if primitive.LC().could_extract_minus_sign():
            primitive = -primitive
        return self.field.restored(primitive.as_expr())
