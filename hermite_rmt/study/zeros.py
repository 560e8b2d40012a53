"""A zero of a function that is known to any number of digits, to as many, from its double."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits

GUARD = 8  # decimal digits beyond those asked for, at first
ATTEMPTS = 5
SECANTS = 60
FIRST_STEP = Fraction(1, 10**9)

Function = Callable[[Fraction, int], Any]


def refined_zero(
    function: Function, values: Function, start: float, unit: float, rising: bool, digits: int, what: str
) -> tuple[KnownDigits, KnownDigits]:
    """Return the zero of a function near a double, and another function's value there, to `digits` right digits.

    The secant method at a precision that is raised until, a hundredth of a last digit to both sides, the function has
    opposite signs beyond its error bound and the value does not change in its digits.

    Parameters
    ----------
    function, values : functions of the place and of the working digits that return `KnownDigits`
    start : the zero in double precision
    unit : what the digits of the zero are counted from: its size
    rising : whether the function is positive above the zero
    what : name of the place, for the message

    Raises
    ------
    ArithmeticError
        If no precision gives such signs.
    """
    size, guard, place = Fraction(unit), GUARD, Fraction(start)
    for _ in range(ATTEMPTS):
        working = digits + guard
        place = _secant(function, place, size, working)
        sides = [place + side * size / 10 ** (digits + 2) for side in (-1, 1)]
        signs = [_sign(function(side, working)) for side in sides]
        low, high = (values(side, working) for side in sides)
        if signs == ([-1, 1] if rising else [1, -1]) and abs(high - low) * 10 ** (digits + 1) < abs(low):
            return KnownDigits.of(_mpf(place, working), digits), KnownDigits.of(low, digits)
        guard *= 2
    raise ArithmeticError(
        f"digits: near {what} = {start:.15g} there is no change of sign within {digits} digits; "
        f"does a function round its argument {what}, or do the curves only touch?"
    )


def _secant(function: Function, start: Fraction, unit: Fraction, digits: int) -> Fraction:
    """Return a zero to about `digits` digits, rounded to as many."""
    before, now = start, start + unit * FIRST_STEP
    at_before, at_now = (_mpf(function(x, digits), digits) for x in (before, now))
    for _ in range(SECANTS):
        if at_now == at_before:
            break
        step = exact_fraction(at_now * _mpf(now - before, digits) / (at_now - at_before))
        before, at_before = now, at_now
        now = exact_fraction(_mpf(now - step, digits))
        if abs(step) < unit / 10**digits:
            break
        at_now = _mpf(function(now, digits), digits)
    return now


def _sign(value: Any) -> int:
    """Return the sign of a `KnownDigits`, 0 where its error does not tell."""
    return int(value > 0) - int(value < 0) if value.digits > 0 else 0


def _mpf(value: Any, digits: int) -> Any:
    context = local_context(bits(digits) + 10)
    return context.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else context.mpf(value)


def exact_fraction(value: Any) -> Fraction:
    """Return an mpf as the fraction it is."""
    sign, mantissa, exponent, _ = value._mpf_
    power: Fraction = Fraction(2) ** int(exponent)
    return (-int(mantissa) if sign else int(mantissa)) * power
