"""Rational functions by python-flint, where it is installed: SymPy's field, faster by orders of magnitude."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermite_rmt.core.flint_context import flint_module


class Quotient:
    """A quotient of two `fmpq_mpoly` without common factor."""

    __slots__ = ("denom", "numer")

    def __init__(self, numer: Any, denom: Any) -> None:
        self.numer, self.denom = numer, denom

    @classmethod
    def reduced(cls, numer: Any, denom: Any) -> Quotient:
        """Return numer/denom with the common factor divided out."""
        common = numer.gcd(denom)
        return cls(numer, denom) if common.is_one() else cls(numer // common, denom // common)

    def __add__(self, other: Quotient) -> Quotient:
        common = self.denom.gcd(other.denom)
        rest = other.denom // common
        numer = self.numer * rest + other.numer * (self.denom // common)
        return Quotient.reduced(numer, self.denom * rest)

    def __mul__(self, other: Quotient | int) -> Quotient:
        if isinstance(other, int):
            return Quotient(self.numer * other, self.denom)
        first, second = Quotient.reduced(self.numer, other.denom), Quotient.reduced(other.numer, self.denom)
        return Quotient(first.numer * second.numer, first.denom * second.denom)

    def __truediv__(self, other: Quotient | int) -> Quotient:
        if isinstance(other, int):
            return Quotient(self.numer, self.denom * other)
        return self * Quotient(other.denom, other.numer)

    def __pow__(self, exponent: int) -> Quotient:
        return Quotient(self.numer**exponent, self.denom**exponent)

    def __bool__(self) -> bool:
        return bool(self.numer)


def converted(values: Mapping[Any, Any], one: Any) -> tuple[dict[Any, Any], Quotient] | None:
    """Return the elements of a SymPy field as quotients, and 1; None where python-flint is not installed."""
    flint = flint_module()
    if flint is None:
        return None
    ring = one.field.ring
    context = flint.fmpq_mpoly_ctx.get([str(symbol) for symbol in ring.symbols], "degrevlex")

    def polynomial(element: Any) -> Any:
        terms = element.terms()
        return context.from_dict({m: flint.fmpq(int(v.numerator), int(v.denominator)) for m, v in terms})

    def quotient(element: Any) -> Quotient:
        return Quotient(polynomial(element.numer), polynomial(element.denom))

    return {key: quotient(value) for key, value in values.items()}, quotient(one)


def restored(value: Quotient, one: Any) -> Any:
    """Return the element of the SymPy field that a quotient stands for."""
    field = one.field

    def polynomial(element: Any) -> Any:
        domain = field.ring.domain
        return field.ring.from_dict({m: domain(int(v.p), int(v.q)) for m, v in element.to_dict().items()})

    return field(polynomial(value.numer)) / field(polynomial(value.denom))
