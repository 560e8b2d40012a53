"""Closed forms for one given order: the recurrences on exact numbers, polynomials in whatever is not rational."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import sympy
from sympy import QQ, QQ_I, S
from sympy.simplify.fu import TR8

from hermite_rmt.hermite.closed_form import powers
from hermite_rmt.hermite.closed_form.algebra import ONE, Atom, Combination, NotClosedError
from hermite_rmt.hermite.closed_form.recurrence import Unknown, expectations, moment, parameters, times_hermite

Expr = Any


class Vector:
    """A sum of exact constants with coefficients in a polynomial ring."""

    __slots__ = ("entries",)

    def __init__(self, entries: Mapping[Expr, Any]) -> None:
        self.entries = entries

    def __add__(self, other: Vector) -> Vector:
        total = dict(self.entries)
        for constant, coefficient in other.entries.items():
            total[constant] = total[constant] + coefficient if constant in total else coefficient
        return Vector(total)

    def __mul__(self, scalar: Any) -> Vector:
        return Vector({constant: coefficient * scalar for constant, coefficient in self.entries.items()})


class Exact:
    """Exact arithmetic for the recurrence of one atom: irrational parameters generate a polynomial ring."""

    def __init__(self, atom: Atom) -> None:
        values = list(parameters(atom))
        parts = [part for value in values for part in _parts(value)]
        self._generators = list(dict.fromkeys(part.as_coeff_Mul()[1] for part in parts if not part.is_Rational))
        is_real = atom.wave == ""
        self._domain = QQ if is_real else QQ_I
        self._imaginary = None if is_real else QQ_I(0, 1)
        self._ring = self._domain
        if self._generators:
            self._ring = self._domain[tuple(sympy.Dummy(f"g{n}") for n in range(len(self._generators)))]

    def scalar(self, value: Expr) -> Any:
        """Return a parameter as an element of the ring."""
        real, imaginary = map(self._real_scalar, _parts(value))
        return real if self._imaginary is None else real + imaginary * self._imaginary

    def _real_scalar(self, value: Expr) -> Any:
        coefficient, rest = value.as_coeff_Mul()
        number = self._ring.convert(self._domain.from_sympy(coefficient))
        if rest == 1:
            return number
        return number * self._ring.gens[self._generators.index(rest)]

    def constant(self, value: Expr) -> Vector:
        """Return a starting value as a vector."""
        real, imaginary = _parts(value.rewrite(sympy.erf))
        entries: dict[Expr, Any] = {}
        for part, unit in ((real, self._domain.one), (imaginary, self._imaginary)):
            for term in sympy.Add.make_args(sympy.expand(part)):
                coefficient, rest = term.as_coeff_Mul()
                if coefficient:
                    number = self._ring.convert(self._domain.from_sympy(coefficient) * unit)
                    entries[rest] = entries[rest] + number if rest in entries else number
        return Vector(entries)

    def real_and_imaginary(self, element: Any) -> tuple[Expr, Expr]:
        """Return the parts of an element of the ring as expressions."""
        if not self._generators:
            return self._split(element)
        real, imaginary = [], []
        for exponents, coefficient in element.terms():
            monomial = sympy.Mul(*(g**power for g, power in zip(self._generators, exponents, strict=True)))
            x, y = self._split(coefficient)
            real.append(x * monomial)
            imaginary.append(y * monomial)
        return sympy.Add(*real), sympy.Add(*imaginary)

    def _split(self, number: Any) -> tuple[Expr, Expr]:
        if self._imaginary is None:
            return QQ.to_sympy(number), S.Zero
        return QQ.to_sympy(number.x), QQ.to_sympy(number.y)


def _parts(value: Expr) -> tuple[Expr, Expr]:
    if not value.has(S.ImaginaryUnit):
        return value, S.Zero
    # erf(i z) is i erfi(z): SymPy sees that for a symbol z only
    value = value.replace(_is_erf_of_imaginary, lambda f: S.ImaginaryUnit * sympy.erfi(-S.ImaginaryUnit * f.args[0]))
    real, imaginary = sympy.expand(value, complex=True).as_real_imag()
    return real, imaginary


def _is_erf_of_imaginary(value: Expr) -> bool:
    return isinstance(value, sympy.erf) and bool(sympy.expand(value.args[0]).is_imaginary)


class Expectation:
    """E[p(x) G(x) He_k(x)] for one atom G, polynomial p and any k, exactly; the sequence I_n is kept and extended."""

    def __init__(self, atom: Atom, polynomial: Mapping[int, Expr]) -> None:
        self.atom = atom
        self.polynomial = polynomial
        self._known: list[Vector] = []

    @cached_property
    def _arithmetic(self) -> Exact:
        return Exact(self.atom)

    def terms(self, k: int) -> Iterable[tuple[Expr, Expr]]:
        """Yield (constant, coefficient) whose products sum to the expectation."""
        if self.atom == ONE:
            yield S.One, sympy.Add(*(value * moment(degree, k) for degree, value in self.polynomial.items()))
            return
        if self.atom.power != 0:
            for degree, value in self.polynomial.items():
                constant, factor = powers.exact(self.atom, degree, k)
                yield constant, value * factor
            return
        top = k + max(self.polynomial)
        if len(self._known) <= top:
            self._known = expectations(self.atom, max(top, 2 * len(self._known)), self._arithmetic)
        total: dict[Expr, list[Expr]] = {}
        for n, weight in times_hermite(self.polynomial, k).items():
            for constant, element in self._known[n].entries.items():
                real, imaginary = self._arithmetic.real_and_imaginary(element)
                value = imaginary if self.atom.wave == "sin" else real
                if value != 0:
                    total.setdefault(constant, []).append(weight * value)
        for constant, values in total.items():
            yield constant, sympy.expand(sympy.Add(*values))


class ExactExpectations:
    """E[f He_k] for a combination f."""

    def __init__(self, function: Combination) -> None:
        self._parts = [Expectation(atom, polynomial) for atom, polynomial in function.by_atom().items()]

    def __call__(self, k: int) -> Expr:
        """Return E[f He_k] for an integer k; raise `NotClosedError` where a constant in it is not known."""
        totals: dict[Expr, Expr] = {}
        for part in self._parts:
            for constant, coefficient in part.terms(k):
                totals[constant] = sympy.expand(totals.get(constant, S.Zero) + coefficient)
        if any(constant.has(Unknown) and coefficient != 0 for constant, coefficient in totals.items()):
            raise NotClosedError("an expectation that has no closed form")
        return _sum_of_tails(totals)


def _sum_of_tails(totals: Mapping[Expr, Expr]) -> Expr:
    """Add up constant * coefficient, writing c (1 - erf z) as c erfc z where that is all there is of erf z."""
    remaining = {constant: value for constant, value in totals.items() if value != 0}
    terms = []
    for constant, value in list(remaining.items()):
        function = next((factor for factor in sympy.Mul.make_args(constant) if isinstance(factor, sympy.erf)), None)
        if function is None or not function.args[0].is_positive:
            continue
        coefficient, rest = (constant / function).as_coeff_Mul()
        if coefficient == 1 and remaining.get(rest) == -value:
            del remaining[rest], remaining[constant]
            terms.append(-value * rest * sympy.erfc(function.args[0]))
    terms += [value * constant for constant, value in remaining.items()]
    total = sympy.Add(*terms)
    return TR8(total) if total.has(sympy.sin, sympy.cos) else total
