"""A function less multiples of means, kept apart: f - E f is exact to any digits asked for later."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.sources import Source

Expr = Any


@dataclass(frozen=True)
class LessMeans:
    """The function source(x) - sum c_i E[source_i], the c_i exact constants."""

    source: Source
    means: tuple[tuple[Expr, Source], ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two of them equal."""
        return self.source.key, tuple((sympy.srepr(multiple), mean.key) for multiple, mean in self.means)

    @cached_property
    def is_centred(self) -> bool:
        """Whether what is taken off is just the function's own mean."""
        return len(self.means) == 1 and self.means[0][0] == 1 and self.means[0][1].key == self.source.key

    @cached_property
    def is_odd_but_for_means(self) -> bool:
        """Whether the mean is 0 since the source less the functions whose means are taken is odd, or nothing."""
        parts = [self.source.expression, *(mean.expression for _, mean in self.means)]
        if not self.means or any(part is None for part in parts):
            return False
        rest = parts[0] - sum(c * part for (c, _), part in zip(self.means, parts[1:], strict=True))
        return bool(rest.is_zero) or Source(rest).parity == "odd"

    def centred(self) -> LessMeans:
        """Return the function less its own mean."""
        return LessMeans(self.source, ((S.One, self.source),))

    @property
    def parity(self) -> str | None:
        """``"even"`` or ``"odd"`` where it shows, else None."""
        parity = self.source.parity
        return parity if parity == "even" or not self.means or self.is_centred else None

    # Closed forms

    @property
    def expression(self) -> Expr | None:
        """The expression in `X` with the means written out; None for a callable or a mean without closed form."""
        base = self.source.expression
        return None if base is None else self._less_means(base)

    def closed_form(self, k: Any) -> Expr | None:
        """Return a_k exactly for an integer or a symbol k, or None."""
        found = self.source.closed
        value = None if found is None else found.coefficient(k)
        if not self.means or value is None or (isinstance(k, int) and k > 0):
            return value
        if isinstance(k, int):
            return S.Zero if self.is_centred else self._less_means(value)
        zeroth = self.closed_form(0)
        return None if zeroth is None else sympy.Piecewise((zeroth, sympy.Eq(k, 0)), (value, True))

    def closed_form_nu(self) -> Expr | None:
        """Return the energy exactly, or None."""
        square, closed = self.source.closed_square, self.source.closed
        energy = None if square is None else square.coefficient(0)
        if not self.means or energy is None:
            return energy
        mean = None if closed is None else closed.coefficient(0)
        left = self.closed_form(0)
        return None if mean is None or left is None else sympy.expand(energy - mean**2 + left**2)

    def _less_means(self, value: Expr) -> Expr | None:
        taken = [None if mean.closed is None else mean.closed.coefficient(0) for _, mean in self.means]
        if any(mean is None for mean in taken):
            return None
        return value - sympy.Add(*(c * mean for (c, _), mean in zip(self.means, taken, strict=True)))

    # Arithmetic

    def __add__(self, other: LessMeans) -> LessMeans:
        total = self.source.pointwise(operator.add, other.source)
        if self.is_centred and other.is_centred:
            return LessMeans(total).centred()
        return LessMeans(total, self.means + other.means)

    def __mul__(self, other: LessMeans) -> LessMeans:
        constant, factor = (other, self) if other._is_constant else (self, other)
        if not constant._is_constant:
            return LessMeans(self._written_out.pointwise(operator.mul, other._written_out))
        product = factor.source.pointwise(operator.mul, constant.source)
        if factor.is_centred:
            return LessMeans(product).centred()
        multiple = constant.source.expression
        return LessMeans(product, tuple((multiple * c, mean) for c, mean in factor.means))

    @property
    def _is_constant(self) -> bool:
        expression = self.source.expression
        return expression is not None and not self.means and X not in expression.free_symbols

    @property
    def _written_out(self) -> Source:
        if not self.means:
            return self.source
        if self.expression is None:
            raise ValueError(f"{self.source.name}: its mean has no closed form; multiply before centring")
        return Source(self.expression, None, self.source.breakpoints)

    def composed(self, scale: Expr, shift: Expr) -> LessMeans:
        """Return x -> f(scale x + shift)."""
        return LessMeans(self.source.composed(scale, shift), self.means)

    def substitute(self, values: Mapping[Any, Any]) -> LessMeans:
        """Return the function with values in place of parameters."""
        return LessMeans(self.source.substitute(values), tuple((c, m.substitute(values)) for c, m in self.means))
