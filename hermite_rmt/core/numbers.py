"""Numbers at the door: every numeric parameter enters as a `Real`, known exactly or to any digits asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, Protocol, runtime_checkable

import mpmath
import numpy as np
import sympy
from mpmath import libmp

from hermite_rmt.core.contexts import bits, local_context

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,6})?")
_QUOTIENT = re.compile(r"[+-]?\d+\s*/\s*\d+")
ALLOWED = (
    "a real number: int, float, NumPy scalar, Fraction, Decimal, mpf, text such as '0.1' or '1/3', "
    "or an exact SymPy real"
)


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

    __slots__ = ("expression", "rational")

    # The layer above turns expressions into balls, and puts its function here when it is loaded
    encloser: ClassVar[Callable[[sympy.Expr, int], Any] | None] = None

    def __init__(self, expression: sympy.Expr) -> None:
        self.expression = expression
        self.rational: Fraction | None = None

    @property
    def text(self) -> str:
        """The SymPy text of the expression."""
        return str(sympy.srepr(self.expression))

    def __float__(self) -> float:
        return float(self.mpf(80))

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        value = sympy.N(self.expression, math.ceil(precision / math.log2(10)) + 5)
        return local_context(precision).make_mpf(libmp.mpf_pos(value._mpf_, precision, "n"))

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

    __slots__ = ("_enclose", "_evaluate", "_text", "_values", "rational")

    def __init__(
        self, evaluate: Callable[[int], Any], text: str, enclose: Callable[[int], Any] | None = None
    ) -> None:
        self._evaluate = evaluate
        self._enclose = enclose
        self._text = text
        self._values: dict[int, Any] = {}
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
        return self._enclose(digits)

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
        return ComputedReal, (self._evaluate, self._text)

    def __repr__(self) -> str:
        return f"ComputedReal({self._text})"


class KnownDigits(mpmath.mpf):  # type: ignore[misc]  # mpmath has no stubs
    """An `mpmath.mpf` that knows how many of its decimal digits are right, and prints just those.

    Arithmetic with it is mpmath's own, at the precision of `mpmath.mp` (15 digits unless raised: compute inside
    `mpmath.workdps(digits + 5)`).

    >>> KnownDigits.of(RationalReal(Fraction(1, 3)).mpf(100), 25)
    mpf('0.3333333333333333333333333')
    """

    digits: int

    @classmethod
    def of(cls, value: Any, digits: int) -> KnownDigits:
        """Return `value` (an mpf of any context), promising `digits` digits."""
        number: KnownDigits = object.__new__(cls)
        number._mpf_ = value._mpf_
        number.digits = digits
        return number

    # Exact operations keep the digits; all others are mpmath's, at the precision of `mpmath.mp`

    def __neg__(self) -> KnownDigits:
        return self._with(libmp.mpf_neg(self._mpf_))

    def __pos__(self) -> KnownDigits:
        return self

    def __abs__(self) -> KnownDigits:
        return self._with(libmp.mpf_abs(self._mpf_))

    def _with(self, raw: Any) -> KnownDigits:
        return _restore(raw, self.digits)

    def __str__(self) -> str:
        return str(libmp.to_str(self._mpf_, self.digits, strip_zeros=False))

    def __repr__(self) -> str:
        return f"mpf('{self}')"

    def _sympy_(self) -> sympy.Float:
        """Return the SymPy number of the same value, which keeps all digits."""
        return sympy.Float._new(self._mpf_, max(bits(self.digits), self._mpf_[3]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._mpf_, self.digits)


def _restore(raw: Any, digits: int) -> KnownDigits:
    return KnownDigits.of(mpmath.mp.make_mpf(raw), digits)


def read_real(value: Any, name: str) -> Real:
    """Convert one number at the door, exactly.

    A Python float is the double it is; text and exact types are taken exactly.

    Raises
    ------
    ValueError
        If `value` is not finite, not real, or text that is neither a decimal nor a quotient p/q.
    TypeError
        If `value` is of another type.

    >>> read_real("0.1", "c").rational
    Fraction(1, 10)
    """
    if isinstance(value, (RationalReal, SymbolicReal, ComputedReal)):
        return value
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: got {value!r}; allowed: {ALLOWED}")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return read_real(value.item(), name)
    if isinstance(value, Integral):
        return RationalReal(Fraction(int(value)))  # int: the arithmetic of NumPy integers wraps around
    if isinstance(value, Fraction):
        return RationalReal(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, str):
        return RationalReal(_fraction_of_text(value, name))
    if isinstance(value, mpmath.mpf) or (hasattr(value, "_mpf_") and not isinstance(value, sympy.Basic)):
        return RationalReal(_fraction_of_mpf(value._mpf_, value, name))
    if isinstance(value, (float, np.floating, Decimal)):
        if not math.isfinite(value):
            raise ValueError(f"{name}: got {value!r}; allowed: a finite real number")
        # numpy.longdouble knows as_integer_ratio too: nothing is rounded on the way
        return RationalReal(Fraction(*value.as_integer_ratio()))
    if isinstance(value, sympy.Basic):
        return _real_of_sympy(value, name)
    raise TypeError(f"{name}: got {value!r} of type {type(value).__name__}; allowed: {ALLOWED}")


def _fraction_of_text(text: str, name: str) -> Fraction:
    stripped = text.strip().replace("−", "-")
    if _DECIMAL.fullmatch(stripped):
        return Fraction(stripped)
    if _QUOTIENT.fullmatch(stripped):
        numerator, denominator = stripped.split("/")
        if int(denominator):
            return Fraction(int(numerator), int(denominator))
    raise ValueError(
        f"{name}: got {text!r}; allowed: decimal text such as '0.1' or '1e-3', or a quotient such as '1/3'"
    )


def _fraction_of_mpf(raw: Any, value: Any, name: str) -> Fraction:
    sign, mantissa, exponent, _ = raw
    if not mantissa and exponent:
        raise ValueError(f"{name}: got {value}; allowed: a finite real number")
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _real_of_sympy(value: Any, name: str) -> Real:
    if isinstance(value, sympy.Rational):
        return RationalReal(Fraction(int(value.p), int(value.q)))
    if isinstance(value, sympy.Float):
        return RationalReal(_fraction_of_mpf(value._mpf_, value, name))
    if not isinstance(value, sympy.Expr) or value.free_symbols or not value.is_number:
        raise ValueError(f"{name}: got {value}; allowed: {ALLOWED}, without free symbols")
    if value.is_finite is False or value.is_real is False:
        raise ValueError(f"{name}: got {value}; allowed: a finite real number")
    approximation = sympy.N(value, 30)
    if not (approximation.is_Float or approximation.is_Rational):
        raise ValueError(f"{name}: got {value}; allowed: a finite real number")
    return SymbolicReal(value)


def exact_text(value: Fraction) -> str:
    """Write a fraction as a decimal where that is exact, else as p/q.

    >>> exact_text(Fraction(1, 8)), exact_text(Fraction(1, 3)), exact_text(Fraction(300))
    ('0.125', '1/3', '300')
    """
    places = 0
    rest = value.denominator
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    if rest != 1:
        return str(value)
    if not places:
        return str(value.numerator)
    whole, part = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{places}d}"


def read_digits(digits: Any) -> int | None:
    """Check a `digits` argument: None, or a whole number from 1 to a million."""
    if digits is None:
        return None
    if isinstance(digits, (bool, np.bool_)) or not isinstance(digits, Integral) or not 1 <= int(digits) <= 10**6:
        raise ValueError(
            f"digits: got {digits!r}; allowed: None (double precision) or a whole number from 1 to 1000000"
        )
    return int(digits)


__all__ = [
    "ComputedReal",
    "KnownDigits",
    "RationalReal",
    "Real",
    "SymbolicReal",
    "bits",
    "exact_text",
    "read_digits",
    "read_real",
]
