"""Ball: a real number enclosed in an interval with outward rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import libmp

from hermite_rmt.core.flint_context import flint_module
from hermite_rmt.core.numbers import KnownDigits


@dataclass(frozen=True)
class Ball:
    """An interval that contains the number it stands for: certified=True returns these.

    Attributes
    ----------
    lower, upper : mpmath.mpf
        Bounds, rounded outwards.
    digits : int
        Decimal digits asked for: the relative radius is at most 10^-digits.
    """

    lower: Any
    upper: Any
    digits: int

    @classmethod
    def between(cls, lower: Any, upper: Any, digits: int) -> Ball:
        """Return the ball with these exact mpf bounds (of any context), to be printed with `digits` digits."""
        shown = digits + 5
        return cls(KnownDigits.of(lower, shown), KnownDigits.of(upper, shown), digits)

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
        return KnownDigits.of(mpmath.mp.make_mpf(libmp.mpf_shift(total, -1)), self.digits)

    @property
    def rad(self) -> Any:
        """The radius, exact."""
        width = libmp.mpf_sub(self.upper._mpf_, self.lower._mpf_)
        return KnownDigits.of(mpmath.mp.make_mpf(libmp.mpf_shift(width, -1)), 5)

    def __contains__(self, value: Any) -> bool:
        """Whether `value` (a number or another ball) lies inside, compared exactly."""
        lower, upper = (value.lower, value.upper) if isinstance(value, Ball) else (value, value)
        return bool(self.lower <= lower) and bool(upper <= self.upper)

    def __str__(self) -> str:
        return f"[{self.mid} +/- {libmp.to_str(self.rad._mpf_, 2)}]"

    def __repr__(self) -> str:
        return f"Ball({self})"


def _exact_mpf(value: Any) -> Any:
    mantissa, exponent = value.man_exp()
    return mpmath.mp.make_mpf(libmp.from_man_exp(int(mantissa), int(exponent)))


def _exact_arb(flint: Any, value: Any) -> Any:
    sign, mantissa, exponent, _ = value._mpf_
    return flint.arb((-int(mantissa) if sign else int(mantissa), int(exponent)))
