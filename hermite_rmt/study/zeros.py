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
NEAR = Fraction(1, 10**6)

Function = Callable[[Fraction, int], Any]


def refined_zero(
    function: Function,
    values: Function,
    start: float | Fraction,
    unit: float,
    rising: bool,
    digits: int,
    what: str,
    step: Fraction | None = None,
) -> tuple[KnownDigits, KnownDigits]:
    """Return the zero of a function near a double, and another function's value there, to `digits` right digits.

    The secant method at a precision that is raised until, a hundredth of a last digit to both sides, the function has
    opposite signs beyond its error bound and the value does not change in its digits.

    Parameters
    ----------
    function, values : functions of the place and of the working digits that return `KnownDigits`
    start : about the zero, as double precision has it
    unit : what the digits of the zero are counted from: its size
    rising : whether the function is positive above the zero
    what : name of the place, for the message
    step : the first step of the secant method; a part in 10^9 of the unit if it is left out

    Raises
    ------
    ArithmeticError
        If no precision gives such signs.
    """
    size, guard, place = Fraction(unit), GUARD, Fraction(start)
    first = size * FIRST_STEP if step is None else step
    for _ in range(ATTEMPTS):
        working = digits + guard
        place = _secant(function, place, first, size / 10**working, working)
        sides = [place + side * size / 10 ** (digits + 2) for side in (-1, 1)]
        signs = [sign_of(function(side, working)) for side in sides]
        low, high = (values(side, working) for side in sides)
        if signs == ([-1, 1] if rising else [1, -1]) and abs(high - low) * 10 ** (digits + 1) < abs(low):
            return KnownDigits.of(_mpf(place, working), digits), KnownDigits.of(low, digits)
        guard *= 2
    raise ArithmeticError(
        f"digits: near {what} = {float(start):.15g} there is no change of sign within {digits} digits; "
        f"does a function round its argument {what}, or do the curves only touch?"
    )


def stationary_place(function: Function, start: Fraction, width: Fraction, digits: int) -> Fraction:
    """Return where a function known to `digits` digits is stationary, so near that its value there has them all.

    The secant method on its central difference over a small part of `width`, the scale on which the function bends.
    """
    aside = width / 10 ** (digits // 3)

    def slope(x: Fraction, digits: int) -> Any:
        return function(x + aside, digits) - function(x - aside, digits)

    return _secant(slope, start, width * FIRST_STEP, width / 10 ** (digits // 2 + 4), digits)


def bracketed_zero(function: Function, low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return a place near a zero between two places of opposite signs, and about how near it is.

    The Illinois method, until what is left is a small part of the distance to both ends: the secant method that
    follows then keeps to this zero, however close beyond the ends the next one is.
    """
    (a, at_a), (b, at_b) = ((x, exact_fraction(function(x, digits))) for x in (low, high))
    while True:
        place = exact_fraction(_mpf(b - at_b * (b - a) / (at_b - at_a), digits))
        here = function(place, digits)
        move = abs(place - b)
        if not sign_of(here) or move < NEAR * min(place - low, high - place):
            return place, move or (high - low) / 10**digits
        value = exact_fraction(here)
        if (value > 0) != (at_b > 0):
            a, at_a = b, at_b
        else:
            at_a /= 2
        b, at_b = place, value


def _secant(function: Function, start: Fraction, step: Fraction, tolerance: Fraction, digits: int) -> Fraction:
    """Return a zero, rounded to `digits` digits, from a first step until a step is below the tolerance."""
    before, now = start, start + step
    at_before, at_now = (_mpf(function(x, digits), digits) for x in (before, now))
    for _ in range(SECANTS):
        if at_now == at_before:
            break
        step = exact_fraction(at_now * _mpf(now - before, digits) / (at_now - at_before))
        before, at_before = now, at_now
        now = exact_fraction(_mpf(now - step, digits))
        if abs(step) < tolerance:
            break
        at_now = _mpf(function(now, digits), digits)
    return now


def sign_of(value: Any) -> int:
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
