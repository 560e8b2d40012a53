"""Numbers at the door: every numeric parameter enters as a `Real`, exactly what was given."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import mpmath
import numpy as np
import sympy

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.known_digits import KnownDigits
from hermite_rmt.core.reals import ComputedReal, RationalReal, Real, SymbolicReal

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,6})?")
_QUOTIENT = re.compile(r"[+-]?\d+\s*/\s*\d+")
ALLOWED = (
    "a real number: int, float, NumPy scalar, Fraction, Decimal, mpf, text such as '0.1' or '1/3', "
    "or an exact SymPy real"
)


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
