"""KnownDigits: a number that knows its error, prints the digits that are right, and keeps both through arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import mpmath
import numpy as np
import sympy
from mpmath import libmp
from mpmath.ctx_mp_python import _constant
from sympy.core.sympify import converter

from hermite_rmt.core.contexts import BITS_PER_DIGIT, bits

Raw = Any
"""A number of `mpmath.libmp`: (sign, mantissa, exponent, bits of the mantissa)."""
Bounded = tuple[Raw, Raw]
"""A raw number and a bound of its error."""

_GUARD_BITS = 16  # an arithmetic operation rounds that far below the error of its result
_ERROR_BITS = 30
_PLAIN = 15  # digits printed of an exact result of numbers of which no digit is known
_PROMISE = libmp.from_float(0.125)  # of one unit: what `KnownDigits.of` takes the error to be below


class KnownDigits(mpmath.mpf):  # type: ignore[misc]  # mpmath has no stubs
    """An `mpmath.mpf` that knows how many of its decimal digits are right, and prints just those.

    +, -, *, / and ** with real numbers give a `KnownDigits` again, computed to as many digits as the operands have,
    whatever the precision of `mpmath.mp`; digits lost to cancellation are not printed, and where none is left the
    number prints as 0 with the power of ten below which it is. Ints, fractions, floats and plain mpf are exact
    operands; errors are taken as independent of each other (x - x is 0 to within twice the error of x).

    Complex operands, `%`, the functions of mpmath (`mpmath.log(x)`) and its constants on the left (`mpmath.pi * x`;
    `x * mpmath.pi` keeps the digits) take the value as it is and work at the precision of `mpmath.mp`: use them
    inside `mpmath.workdps(x.digits)`.

    Attributes
    ----------
    digits : int
        How many decimal digits are right: the relative error is at most 10^-digits / 2.

    >>> third = KnownDigits.of(mpmath.mp.make_mpf(libmp.from_rational(1, 3, 100)), 25)
    >>> third, third * 3, third - Fraction(333333333333, 10**12)
    (mpf('0.3333333333333333333333333'), mpf('1.000000000000000000000000'), mpf('3.333333333333e-13'))
    """

    digits: int
    _error: Raw

    @classmethod
    def of(cls, value: Any, digits: int) -> KnownDigits:
        """Return `value` (an mpf of any context), promising `digits` digits: a relative error of 10^-digits / 8."""
        raw = value._mpf_
        unit = libmp.mpf_pow_int(libmp.from_int(10), -digits, _ERROR_BITS, "u")
        return _restore(raw, digits, _up(libmp.mpf_mul, _up(libmp.mpf_mul, unit, _PROMISE), libmp.mpf_abs(raw)))

    @classmethod
    def within(cls, value: Any, other: KnownDigits) -> KnownDigits:
        """Return `value` (an mpf of any context), with the error of another number: a part of it."""
        return _settled(value._mpf_, other._error, other.digits)

    @classmethod
    def exact(cls, value: Any, digits: int) -> KnownDigits:
        """Return `value` (an mpf of any context) as a number without error, of which `digits` digits are printed."""
        return _restore(value._mpf_, digits, libmp.fzero)

    @property
    def is_exact(self) -> bool:
        """Whether the number has no error, and `digits` says only how much of it is printed."""
        return bool(self._error == libmp.fzero)

    def __neg__(self) -> KnownDigits:
        return _restore(libmp.mpf_neg(self._mpf_), self.digits, self._error)

    def __pos__(self) -> KnownDigits:
        return self

    def __abs__(self) -> KnownDigits:
        return _restore(libmp.mpf_abs(self._mpf_), self.digits, self._error)

    def __add__(self, other: Any) -> Any:
        return self._combined(_add, other, super().__add__)

    def __radd__(self, other: Any) -> Any:
        return self._combined(_add, other, super().__radd__)

    def __sub__(self, other: Any) -> Any:
        return self._combined(_subtract, other, super().__sub__)

    def __rsub__(self, other: Any) -> Any:
        return self._combined(_subtract, other, super().__rsub__, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._combined(_multiply, other, super().__mul__)

    def __rmul__(self, other: Any) -> Any:
        return self._combined(_multiply, other, super().__rmul__)

    def __truediv__(self, other: Any) -> Any:
        return self._combined(_divide, other, super().__truediv__)

    def __rtruediv__(self, other: Any) -> Any:
        return self._combined(_divide, other, super().__rtruediv__, reflected=True)

    def __pow__(self, other: Any, modulo: None = None) -> Any:
        return self._combined(_power, other, super().__pow__)

    def __rpow__(self, other: Any, modulo: None = None) -> Any:
        return self._combined(_power, other, super().__rpow__, reflected=True)

    def _combined(
        self,
        operation: Callable[[Bounded, Bounded, int], Bounded | None],
        other: Any,
        otherwise: Callable[[Any], Any],
        reflected: bool = False,
    ) -> Any:
        """Return the result with its error; `otherwise` is mpmath's own operation."""
        if isinstance(other, sympy.Basic) and not isinstance(other, sympy.Rational):
            return NotImplemented  # SymPy takes all digits, by `_sympy_`
        digits = max(self.digits, other.digits) if isinstance(other, KnownDigits) else self.digits
        precision = bits(digits) + 2 * _GUARD_BITS
        operand = _operand(other, precision)
        mine = (self._mpf_, self._error)
        if operand is None:
            return otherwise(other)
        result = None
        if _finite(mine[0]) and _finite(operand[0]):
            result = operation(operand, mine, precision) if reflected else operation(mine, operand, precision)
        if result is None:  # as a plain mpf: a reflected operation of mpmath would come back to the subclass's
            return getattr(mpmath.mp.make_mpf(self._mpf_), otherwise.__name__)(other)
        return _settled(*result, digits)

    def __str__(self) -> str:
        if self.digits > 0:
            return str(libmp.to_str(self._mpf_, self.digits, strip_zeros=False))
        return f"0e{math.ceil(_log10(self._error))}"

    def __repr__(self) -> str:
        return f"mpf('{self}')"

    def __format__(self, specification: str) -> str:
        return format(Decimal(str(self)), specification) if specification else str(self)

    def _sympy_(self) -> sympy.Float:
        """Return the SymPy number of the same value at the precision that prints these digits and no others."""
        if self.digits == 0:
            return sympy.Float(0)
        precision = libmp.dps_to_prec(self.digits)
        return sympy.Float._new(libmp.mpf_pos(self._mpf_, precision, "n"), precision)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._mpf_, self.digits, self._error)


# SymPy has a converter of mpmath's numbers, which rounds to the precision of `mpmath.mp` and comes before `_sympy_`
converter[KnownDigits] = KnownDigits._sympy_


def _restore(raw: Raw, digits: int, error: Raw) -> KnownDigits:
    number: KnownDigits = object.__new__(KnownDigits)
    number._mpf_, number.digits, number._error = raw, digits, error
    return number


def _settled(raw: Raw, error: Raw, shown: int) -> KnownDigits:
    """Return the number with the digits its error leaves; `shown` where there is no error."""
    if error == libmp.fzero:
        return _restore(raw, shown or _PLAIN, error)
    if not raw[1]:
        return _restore(raw, 0, error)
    known = max(_ERROR_BITS, _magnitude(raw) - _magnitude(error)) + _GUARD_BITS
    rounded = libmp.mpf_pos(raw, known, "n")
    error = _up(libmp.mpf_add, error, _ulp(rounded, known))
    digits = math.floor(_log10(libmp.mpf_abs(rounded)) - _log10(error) - math.log10(2) - 1e-9)
    return _restore(rounded, max(0, digits), error)


def _operand(value: Any, precision: int) -> Bounded | None:
    """Return a real operand with the bound of its error, None if it is something else."""
    if isinstance(value, KnownDigits):
        return value._mpf_, value._error
    if isinstance(value, _constant):  # pi and the like: any digits of it
        raw = value.func(precision, "n")
        return raw, _ulp(raw, precision)
    if hasattr(value, "_mpf_"):
        return value._mpf_, libmp.fzero
    if isinstance(value, Integral):
        return libmp.from_int(int(value)), libmp.fzero
    if isinstance(value, (float, np.floating, Decimal)) and math.isfinite(value):
        value = Fraction(*value.as_integer_ratio())
    if not isinstance(value, Rational):
        return None
    numerator, denominator = int(value.numerator), int(value.denominator)
    raw = libmp.from_rational(numerator, denominator, precision + numerator.bit_length(), "n")
    exact = denominator & (denominator - 1) == 0
    return raw, libmp.fzero if exact else _ulp(raw, precision)


def _add(a: Bounded, b: Bounded, precision: int) -> Bounded:
    return libmp.mpf_add(a[0], b[0]), _up(libmp.mpf_add, a[1], b[1])


def _subtract(a: Bounded, b: Bounded, precision: int) -> Bounded:
    return libmp.mpf_sub(a[0], b[0]), _up(libmp.mpf_add, a[1], b[1])


def _multiply(a: Bounded, b: Bounded, precision: int) -> Bounded:
    first = _up(libmp.mpf_mul, _up(libmp.mpf_add, libmp.mpf_abs(a[0]), a[1]), b[1])
    return libmp.mpf_mul(a[0], b[0]), _up(libmp.mpf_add, first, _up(libmp.mpf_mul, a[1], libmp.mpf_abs(b[0])))


def _divide(a: Bounded, b: Bounded, precision: int) -> Bounded:
    if b == (libmp.fzero, libmp.fzero):
        raise ZeroDivisionError("the divisor is 0")
    least = libmp.mpf_sub(libmp.mpf_abs(b[0]), b[1], _ERROR_BITS, "d")
    if least == libmp.fzero or least[0]:
        raise ZeroDivisionError("the divisor is 0 to within its error: no digit of it is known")
    quotient = libmp.mpf_div(a[0], b[0], precision, "n")
    # a/b - a'/b' = ((a - a') - (a/b)(b - b')) / b'
    moved = _up(libmp.mpf_add, a[1], _up(libmp.mpf_mul, libmp.mpf_abs(quotient), b[1]))
    return quotient, _up(libmp.mpf_add, _up(libmp.mpf_div, moved, least), _ulp(quotient, precision))


def _power(a: Bounded, b: Bounded, precision: int) -> Bounded | None:
    base, exponent = a[0], b[0]
    if b[1] == libmp.fzero and exponent[2] >= 0:
        return _whole_power(a, libmp.to_int(exponent), precision)
    if base == libmp.fzero or base[0]:
        return None
    precision += max(0, _magnitude(exponent))
    value = libmp.mpf_pow(base, exponent, precision, "n")
    change = _up(libmp.mpf_mul, libmp.mpf_abs(exponent), _ratio(_up(libmp.mpf_div, a[1], base)))
    if b[1] != libmp.fzero:
        logarithm = libmp.mpf_abs(libmp.mpf_log(base, _ERROR_BITS, "u"))
        change = _up(libmp.mpf_add, change, _up(libmp.mpf_mul, logarithm, b[1]))
    # the logarithm changes by at most `change`, so the value by exp(change) - 1 <= change / (1 - change)
    moved = _up(libmp.mpf_mul, value, _ratio(change))
    return value, _up(libmp.mpf_add, moved, _ulp(value, precision))


def _whole_power(a: Bounded, exponent: int, precision: int) -> Bounded:
    if exponent < 0:
        return _divide((libmp.fone, libmp.fzero), _whole_power(a, -exponent, precision), precision)
    if exponent == 0:
        return libmp.fone, libmp.fzero
    precision += exponent.bit_length()
    value = libmp.mpf_pow_int(a[0], exponent, precision, "n")
    largest = _up(libmp.mpf_add, libmp.mpf_abs(a[0]), a[1])
    slope = libmp.mpf_mul_int(libmp.mpf_pow_int(largest, exponent - 1, _ERROR_BITS, "u"), exponent, _ERROR_BITS, "u")
    return value, _up(libmp.mpf_add, _up(libmp.mpf_mul, slope, a[1]), _ulp(value, precision))


def _ratio(error: Raw) -> Raw:
    """Return t / (1 - t), rounded up; ArithmeticError from t = 1 on."""
    rest = libmp.mpf_sub(libmp.fone, error, _ERROR_BITS, "d")
    if rest == libmp.fzero or rest[0]:
        raise ArithmeticError("a root or power of a number of which no digit is known")
    return _up(libmp.mpf_div, error, rest)


def _up(operation: Callable[..., Raw], a: Raw, b: Raw) -> Raw:
    return operation(a, b, _ERROR_BITS, "u")


def _ulp(raw: Raw, precision: int) -> Raw:
    return libmp.mpf_shift(libmp.fone, _magnitude(raw) - precision) if raw[1] else libmp.fzero


def _finite(raw: Raw) -> bool:
    return bool(raw[1]) or raw == libmp.fzero


def _magnitude(raw: Raw) -> int:
    return int(raw[2] + raw[3])


def _log10(raw: Raw) -> float:
    """Return the logarithm of a positive number, of any size."""
    scaled = libmp.to_float(libmp.mpf_shift(raw, -_magnitude(raw)))
    return (math.log2(scaled) + _magnitude(raw)) / BITS_PER_DIGIT
