"""Numbers at the door: every numeric parameter enters as a `Real`, known exactly or to any digits asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicReal) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __repr__(self) -> str:
        return f"SymbolicReal({self.expression})"


class ComputedReal:
    """A real number given by a procedure that returns it to any number of digits, such as E[f(xi)^2]."""

    __slots__ = ("_evaluate", "_text", "_values", "rational")

    def __init__(self, evaluate: Callable[[int], Any], text: str) -> None:
        self._evaluate = evaluate
        self._text = text
        self._values: dict[int, Any] = {}
        self.rational: Fraction | None = None

    @property
    def text(self) -> str:
        """The name of the procedure and its input."""
        return self._text

    def __float__(self) -> float:
        return float(self.mpf(60))

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        if precision not in self._values:
            self._values[precision] = self._evaluate(math.ceil(precision / math.log2(10)) + 2)
        return local_context(precision).make_mpf(libmp.mpf_pos(self._values[precision]._mpf_, precision, "n"))

    def __repr__(self) -> str:
        return f"ComputedReal({self._text})"


class KnownDigits(mpmath.mpf):  # type: ignore[misc]  # mpmath has no stubs
    """An `mpmath.mpf` that knows how many of its decimal digits are right, and prints just those.

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

    def __str__(self) -> str:
        return str(libmp.to_str(self._mpf_, self.digits, strip_zeros=False))

    def __repr__(self) -> str:
        return f"mpf('{self}')"

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
    if isinstance(value, (Integral, Fraction)):
        return RationalReal(Fraction(value))
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


class Parameter:
    """A numeric parameter of any shape, exact inside: `floats` for the double kernels, `reals` for the others.

    `binary` says whether a value came in as a binary float, and so carries the rounding of whoever made it.
    """

    def __init__(self, value: Any, name: str) -> None:
        self.name = name
        self._floats: np.ndarray | None = None
        self._reals: np.ndarray | None = None
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 8:
            self.binary = True
            self._floats = value.astype(float)
            if not np.isfinite(self._floats).all():
                worst = self._floats[~np.isfinite(self._floats)].ravel()[0]
                raise ValueError(f"{name}: got {worst}; allowed: finite real numbers")
            self.shape: tuple[int, ...] = value.shape
            return
        is_array = isinstance(value, (list, tuple)) or (hasattr(value, "__array__") and np.ndim(value))
        entries = np.asarray(value, dtype=object) if is_array else _object_scalar(value)
        self._reals = np.empty(entries.shape, dtype=object)
        for index, entry in np.ndenumerate(entries):
            self._reals[index] = read_real(entry, name)
        self.binary = any(isinstance(entry, (float, np.floating)) for entry in entries.flat)
        self.shape = self._reals.shape

    @property
    def has_reals(self) -> bool:
        """Whether the exact values are at hand, or would have to be made from an array of doubles."""
        return self._reals is not None

    @property
    def floats(self) -> np.ndarray:
        """The values as doubles (the nearest ones)."""
        if self._floats is None:
            assert self._reals is not None
            self._floats = np.asarray(np.frompyfunc(float, 1, 1)(self._reals), dtype=float)
        return self._floats

    @property
    def reals(self) -> np.ndarray:
        """The values as an object array of `Real`."""
        if self._reals is None:
            assert self._floats is not None
            self._reals = np.empty(self.shape, dtype=object)
            for index, entry in np.ndenumerate(self._floats):
                self._reals[index] = read_real(float(entry), self.name)
        return self._reals

    def require(self, condition: np.ndarray, allowed: str) -> None:
        """Raise a ValueError naming this parameter and its first value where `condition` is False."""
        if not np.all(condition):
            worst = np.broadcast_to(self.floats, np.shape(condition))[~np.asarray(condition)].ravel()[0]
            raise ValueError(f"{self.name}: got {worst:.17g}; allowed: {allowed}")

    def require_positive(self) -> Parameter:
        """Return this parameter, or raise a ValueError if a value is not positive."""
        # exact reals below the smallest double are positive numbers too
        if self._reals is not None and self._floats is None:
            positive = np.asarray(np.frompyfunc(lambda real: real.mpf(53) > 0, 1, 1)(self._reals), dtype=bool)
        else:
            positive = self.floats > 0
        self.require(positive, "a positive number")
        return self


def _object_scalar(value: Any) -> np.ndarray:
    scalar = np.empty((), dtype=object)
    scalar[()] = value.item() if isinstance(value, np.ndarray) else value
    return scalar


def read_digits(digits: Any) -> int | None:
    """Check a `digits` argument: None, or a whole number from 1 to a million."""
    if digits is None:
        return None
    if isinstance(digits, (bool, np.bool_)) or not isinstance(digits, Integral) or not 1 <= int(digits) <= 10**6:
        raise ValueError(
            f"digits: got {digits!r}; allowed: None (double precision) or a whole number from 1 to 1000000"
        )
    return int(digits)


def combine(function: Callable[..., Any], *operands: Real, text: str) -> Real:
    """Return the real function(*operands), for a polynomial `function` written with +, - and *.

    Exact where the operands are rational or symbolic; otherwise evaluated on demand with as many guard digits as
    cancellation costs. A difference that stays below 10^-(2 digits + 50) of its largest operand is taken as zero.

    >>> combine(lambda nu, a1: nu - a1**2, read_real("1/4", "nu"), read_real("1/2", "a1"), text="eta").rational
    Fraction(0, 1)
    """
    if all(operand.rational is not None for operand in operands):
        return RationalReal(Fraction(function(*(operand.rational for operand in operands))))
    if all(isinstance(operand, (RationalReal, SymbolicReal)) for operand in operands):
        exact = sympy.expand(function(*map(_as_sympy, operands)))
        return _real_of_sympy(sympy.Integer(0) if exact.equals(0) else exact, text)

    def evaluate(digits: int) -> Any:
        target = bits(digits)
        precision = target + 32
        while True:
            values = [operand.mpf(precision) for operand in operands]
            result = function(*values)
            scale = max((value.context.mag(value) for value in values if value), default=0)
            lost = scale - result.context.mag(result) if result else precision
            if precision - max(lost, 0) >= target + 16:
                return result
            if precision > 2 * target + 170:
                return result.context.zero
            precision = target + 32 + min(max(lost, 0), target + 200)

    return ComputedReal(evaluate, f"{text}({', '.join(operand.text for operand in operands)})")


def _as_sympy(real: Real) -> sympy.Expr:
    if isinstance(real, SymbolicReal):
        return real.expression
    assert real.rational is not None
    return sympy.Rational(real.rational.numerator, real.rational.denominator)


__all__ = [
    "ComputedReal",
    "KnownDigits",
    "Parameter",
    "RationalReal",
    "Real",
    "SymbolicReal",
    "bits",
    "combine",
    "read_digits",
    "read_real",
]
