"""Exact Gaussian expectations by rules: a_k for all k at once, and nu.

A function is read into a sum of atoms x^m exp(quadratic) cos/sin(quadratic) erf(linear) [x > edge] (`reading`), whose
expectations against He_k follow from Stein's identity (`recurrence`), on exact numbers (`exact`), in floating point
(`numeric`) or for a symbolic order (`symbolic`). SymPy's `integrate` is not used anywhere.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.closed_form.algebra import Combination, NotClosedError
from hermite_rmt.hermite.closed_form.constants import with_plain_constants
from hermite_rmt.hermite.closed_form.exact import ExactExpectations
from hermite_rmt.hermite.closed_form.numeric import hermite_expectations, settled
from hermite_rmt.hermite.closed_form.piecewise import squared
from hermite_rmt.hermite.closed_form.powers import power_and_weights
from hermite_rmt.hermite.closed_form.reading import read
from hermite_rmt.hermite.closed_form.recurrence import Unknown, start
from hermite_rmt.hermite.closed_form.symbolic import symbolic_expectation

Expr = Any


class ClosedForm:
    """The coefficients and the energy of a function that the rules cover; made by `of`."""

    def __init__(self, function: Combination, names: dict[Expr, Expr]) -> None:
        self._function = function
        self._names = names
        self._expectation = ExactExpectations(function)

    @classmethod
    def of(cls, expression: Expr) -> ClosedForm | None:
        """Return the closed form of an expression in `X`, or None where no rule applies.

        >>> from hermite_rmt.hermite.integrand import X
        >>> closed = ClosedForm.of(sympy.Max(X, 0))
        >>> closed.coefficient(0), closed.coefficient(1), closed.squared().coefficient(0)
        (sqrt(2)/(2*sqrt(pi)), 1/2, 1/2)
        """
        if expression.has(S.ImaginaryUnit):
            return None
        plain, names = with_plain_constants(expression)
        try:
            return cls(_integrable(read(plain)), names)
        except NotClosedError:
            return None

    @cached_property
    def is_complete(self) -> bool:
        """Whether every constant is known, so that all coefficients are."""
        return not any(atom.power == 0 and start(atom).has(Unknown) for atom in self._function.by_atom())

    @cached_property
    def parity(self) -> str | None:
        """``"even"``, ``"odd"`` or None."""
        reflected = self._function.reflected()
        if reflected == self._function:
            return "even"
        return "odd" if reflected == self._function.times(S.NegativeOne) else None

    def _vanishes(self, k: int) -> bool:
        return (self.parity == "even" and k % 2 == 1) or (self.parity == "odd" and k % 2 == 0)

    def coefficient(self, k: int | Expr) -> Expr | None:
        """Return a_k = E[f He_k] / sqrt(k!) for an integer or a symbol k, or None."""
        try:
            if isinstance(k, sympy.Symbol):
                value = symbolic_expectation(self._function, self._expectation, k)
            else:
                value = S.Zero if self._vanishes(k) else self._expectation(k)
        except NotClosedError:
            return None
        return (value / sympy.sqrt(sympy.factorial(k))).xreplace(self._names)

    def squared(self) -> ClosedForm | None:
        """Return the closed form of f^2, whose `coefficient(0)` is nu = E f^2, or None."""
        try:
            return ClosedForm(_integrable(squared(self._function)), self._names)
        except NotClosedError:
            return None

    def values(self, order: int, digits: int | None) -> list[Any] | None:
        """Return a_0, ..., a_order with `digits` right digits each (None: those of a double), or None."""
        if not self.is_complete:
            return None
        numbers = self._function.replaced(self._names)
        return settled(
            lambda precision: hermite_expectations(numbers, order, precision, self.parity),
            digits,
            lambda k: self.coefficient(k) == 0,
        )


def _integrable(function: Combination) -> Combination:
    for atom, degree in function.terms:
        if atom.power == 0:
            start(atom)
        else:
            power_and_weights(atom, degree)
    return function
