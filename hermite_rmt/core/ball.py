"""Ball: a real number enclosed in an interval with outward rounding."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath
from mpmath import libmp

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.flint_context import flint_module
from hermite_rmt.core.numbers import KnownDigits, read_digits, read_real


@dataclass(frozen=True, repr=False)
class Ball:
    """An interval that contains the number it stands for: certified=True returns these.

    Attributes
    ----------
    lower, upper : mpmath.mpf
        Bounds, rounded outwards. An mpf is kept as it is, any other rational number is read exactly.
    digits : int
        Decimal digits asked for: the relative radius is at most 10^-digits.

    Raises
    ------
    ValueError
        If a bound is no rational number, or they are in the wrong order.

    What is printed is rounded outwards too: the interval as written contains this one.

    >>> third = Ball("1/3", "1/3", digits=10)
    >>> print(third)
    [0.3333333333 +/- 3.4e-11]
    >>> third
    Ball('0.333333333333', '0.333333333334', digits=10)
    """

    lower: Any
    upper: Any
    digits: int

    def __post_init__(self) -> None:
        if read_digits(self.digits) is None:
            raise ValueError("digits: got None; allowed: a whole number from 1 to 1000000")
        for name, rounding in (("lower", "f"), ("upper", "c")):
            object.__setattr__(self, name, _bound(getattr(self, name), name, self.digits, rounding))
        if not self.lower <= self.upper:
            raise ValueError(f"lower: got {self.lower}, above upper = {self.upper}; allowed: at most upper")

    @classmethod
    def between(cls, lower: Any, upper: Any, digits: int) -> Ball:
        """Return the ball with these exact mpf bounds (of any context), to be printed with `digits` digits."""
        return cls(lower, upper, digits)

    @classmethod
    def of_arb(cls, value: Any, digits: int) -> Ball:
        """Return the ball of a python-flint `arb`, bounds rounded outwards."""
        return cls.between(_exact_mpf(value.lower()), _exact_mpf(value.upper()), digits)

    def arb(self) -> Any:
        """Return a python-flint `arb` that contains the ball, rounded outwards at python-flint's precision."""
        flint = flint_module()
        assert flint is not None
        return _exact_arb(flint, self.lower).union(_exact_arb(flint, self.upper))

    @property
    def mid(self) -> Any:
        """The midpoint, exact."""
        total = libmp.mpf_add(self.lower._mpf_, self.upper._mpf_)
        return KnownDigits.exact(mpmath.mp.make_mpf(libmp.mpf_shift(total, -1)), self.digits)

    @property
    def rad(self) -> Any:
        """The radius, exact."""
        width = libmp.mpf_sub(self.upper._mpf_, self.lower._mpf_)
        return KnownDigits.exact(mpmath.mp.make_mpf(libmp.mpf_shift(width, -1)), 5)

    def __contains__(self, value: Any) -> bool:
        """Whether `value` (a number or another ball) lies inside, compared exactly."""
        lower, upper = (value.lower, value.upper) if isinstance(value, Ball) else (value, value)
        return bool(self.lower <= lower) and bool(upper <= self.upper)

    def __str__(self) -> str:
        middle = str(self.mid)
        around = Fraction(middle)
        radius = _decimal(max(_fraction(self.upper) - around, around - _fraction(self.lower)), 2, ROUND_CEILING)
        return f"[{middle} +/- {radius:.1e}]" if radius else f"[{middle} +/- 0]"

    def __repr__(self) -> str:
        lower = _decimal(_fraction(self.lower), self.digits + 2, ROUND_FLOOR)
        upper = _decimal(_fraction(self.upper), self.digits + 2, ROUND_CEILING)
        return f"Ball('{lower}', '{upper}', digits={self.digits})"

    def _repr_html_(self) -> str:
        return f"<code>{self}</code>"


def _bound(value: Any, name: str, digits: int, rounding: str) -> Any:
    shown = digits + 5
    if hasattr(value, "_mpf_"):
        return KnownDigits.exact(value, shown)
    exact = read_real(value, name).rational
    if exact is None:
        raise ValueError(f"{name}: got {value!r}; allowed: rational numbers and mpf")
    raw = libmp.from_rational(exact.numerator, exact.denominator, bits(shown), rounding)
    return KnownDigits.exact(mpmath.mp.make_mpf(raw), shown)


def _fraction(value: Any) -> Fraction:
    numerator, denominator = libmp.to_rational(value._mpf_)
    return Fraction(int(numerator), int(denominator))


def _decimal(value: Fraction, digits: int, rounding: str) -> Decimal:
    return Context(digits, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _exact_mpf(value: Any) -> Any:
    mantissa, exponent = value.man_exp()
    return mpmath.mp.make_mpf(libmp.from_man_exp(int(mantissa), int(exponent)))


def _exact_arb(flint: Any, value: Any) -> Any:
    sign, mantissa, exponent, _ = value._mpf_
    return flint.arb((-int(mantissa) if sign else int(mantissa), int(exponent)))
