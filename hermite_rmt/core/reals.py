"""Real numbers that can be evaluated to any precision: rational, symbolic, or given by a procedure."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import sympy
from mpmath import libmp

from hermite_rmt.core.contexts import local_context


@runtime_checkable
class Real(Protocol):
    """A real number that can be evaluated to any precision."""

    @property
    def text(self) -> str:
        """Canonical text: equal texts mean equal numbers (used in keys and provenance)."""
        ...

    @property
    def rational(self) -> Fraction | None:
        """The number as a fraction, where it is known to be one."""
        ...

    def __float__(self) -> float: ...

    def mpf(self, precision: int) -> Any:
        """Return an mpf of the local context of `precision` bits, right to within one unit in the last place."""
        ...


class RationalReal:
    """A rational number."""

    __slots__ = ("rational",)

    def __init__(self, value: Fraction) -> None:
        self.rational = value

    @property
    def text(self) -> str:
        """The fraction in lowest terms."""
        return str(self.rational)

    def __float__(self) -> float:
        try:
            return float(self.rational)
        except OverflowError:
            return math.inf if self.rational > 0 else -math.inf

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        context = local_context(precision)
        return context.mpf(self.rational.numerator) / self.rational.denominator

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RationalReal) and self.rational == other.rational

    def __hash__(self) -> int:
        return hash(self.rational)

    def __repr__(self) -> str:
        return f"RationalReal({self.rational})"


class SymbolicReal:
    """An exact SymPy real that is not known to be rational, such as sqrt(7)/3."""

    __slots__ = ("_known", "expression", "rational")

    # The layer above turns expressions into balls, and puts its function here when it is loaded
    encloser: ClassVar[Callable[[sympy.Expr, int], Any] | None] = None

    def __init__(self, expression: sympy.Expr) -> None:
        self.expression = expression
        self.rational: Fraction | None = None
        self._known: tuple[int, Any] = (0, libmp.fzero)  # the precision and the value with the most bits so far

    @property
    def text(self) -> str:
        """The SymPy text of the expression."""
        return str(sympy.srepr(self.expression))

    def __float__(self) -> float:
        return float(self.mpf(80))

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        if self._known[0] < precision:
            value = sympy.N(self.expression, math.ceil(precision / math.log2(10)) + 5)
            self._known = (precision, value._mpf_)
        return local_context(precision).make_mpf(libmp.mpf_pos(self._known[1], precision, "n"))

    def enclosure(self, digits: int) -> Any:
        """Return a `Ball` of relative radius at most 10^-digits that is proved to contain the number.

        Raises
        ------
        ValueError
            If the expression holds a function that cannot be enclosed.
        """
        if SymbolicReal.encloser is None:
            raise ValueError(f"certified: {self.expression} cannot be enclosed; allowed: rational numbers")
        return SymbolicReal.encloser(self.expression, digits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicReal) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __repr__(self) -> str:
        return f"SymbolicReal({self.expression})"


class ComputedReal:
    """A real number given by a procedure that returns it to any number of digits, such as E[f(xi)^2].

    `enclose`, where there is one, is a procedure that returns a `Ball` of relative radius at most 10^-digits.
    """

    __slots__ = ("_balls", "_enclose", "_evaluate", "_text", "_values", "rational")

    def __init__(
        self, evaluate: Callable[[int], Any], text: str, enclose: Callable[[int], Any] | None = None
    ) -> None:
        self._evaluate = evaluate
        self._enclose = enclose
        self._text = text
        self._values: dict[int, Any] = {}
        self._balls: dict[int, Any] = {}
        self.rational: Fraction | None = None

    @property
    def text(self) -> str:
        """The name of the procedure and its input."""
        return self._text

    def __float__(self) -> float:
        return float(self.mpf(60))

    def enclosure(self, digits: int) -> Any:
        """Return a `Ball` that is proved to contain the number.

        Raises
        ------
        ValueError
            If the number was given by a procedure without proof.
        """
        if self._enclose is None:
            raise ValueError(f"certified: {self._text} cannot be enclosed; allowed: exact numbers and expressions")
        known = min((more for more in self._balls if more >= digits), default=None)
        if known is None:
            known = digits
            self._balls[known] = self._enclose(digits)
        return self._balls[known]

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        # a value known to more bits serves: evaluating again would cost as much as the first time
        known = min((more for more in self._values if more >= precision), default=None)
        if known is None:
            known = precision
            self._values[known] = self._evaluate(math.ceil(precision / math.log2(10)) + 2)
        return local_context(precision).make_mpf(libmp.mpf_pos(self._values[known]._mpf_, precision, "n"))

    def __reduce__(self) -> tuple[Any, ...]:
        # values of local contexts do not pickle; they are computed again where they are needed
        return ComputedReal, (self._evaluate, self._text, self._enclose)

    def __repr__(self) -> str:
        return f"ComputedReal({self._text})"
