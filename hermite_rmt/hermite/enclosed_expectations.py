"""The numbers of a nonlinearity in balls: from its closed form where there is one, by `certified` otherwise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from mpmath import libmp

from hermite_rmt.codegen.ball import enclose_constant
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.hermite.expectations import GUARD_DIGITS, require_mean, without_energy
from hermite_rmt.hermite.less_means import LessMeans
from hermite_rmt.hermite.sources import Source

CERTIFIED_DIGITS = 15


def coefficients(function: LessMeans, order: int, digits: int | None) -> list[Ball]:
    """Return balls that contain a_0, ..., a_order."""
    wanted = digits or CERTIFIED_DIGITS
    balls = _balls(function.source, order, wanted)
    if function.means:
        exact = _enclosed(function.closed_form(0), wanted)
        balls[0] = exact or _ball_without_loss(lambda n: _mean_interval(function, n), wanted)
    return balls


def coefficient(function: LessMeans, k: int, digits: int | None) -> Ball:
    """Return a ball that contains a_k."""
    wanted = digits or CERTIFIED_DIGITS
    exact = None if function.source.parameters else function.closed_form(k)
    ball = _enclosed(exact, wanted)
    if ball is not None:
        return ball
    if k == 0:
        return coefficients(function, 0, digits)[0]
    from hermite_rmt.hermite import certified

    return certified.certified_coefficient(function.source.integrand, k, wanted)


def energy(function: LessMeans, digits: int | None) -> Ball:
    """Return a ball that contains the energy."""
    wanted = digits or CERTIFIED_DIGITS
    exact = _enclosed(function.closed_form_nu(), wanted)
    if exact is not None:
        require_mean(function.source)
        return exact
    if not function.means:
        return _energy_ball(function.source, wanted)

    def interval(digits: int) -> tuple[Fraction, Fraction]:
        lower, upper = _interval(_energy_ball(function.source, digits))
        least, most = _square(*_interval(_balls(function.source, 0, digits)[0]))
        lower, upper = lower - most, upper - least
        least, most = _square(*_mean_interval(function, digits))
        return lower + least, upper + most

    return _ball_without_loss(interval, wanted)


def _enclosed(exact: Any, digits: int) -> Ball | None:
    """Return a ball around a closed form, or None where there is none or Arb lacks one of its functions."""
    if exact is None or exact.free_symbols:
        return None
    if exact == 0:
        zero = local_context(bits(digits)).mpf(0)
        return Ball.between(zero, zero, digits)
    try:
        return enclose_constant(exact, digits)
    except ValueError:
        return None


def _balls(source: Source, order: int, digits: int) -> list[Ball]:
    integrand = source.integrand  # parameters without values are refused here
    if source.closed is not None:
        balls = [_enclosed(source.closed.coefficient(k), digits) for k in range(order + 1)]
        if None not in balls:
            return cast("list[Ball]", balls)
    from hermite_rmt.hermite import certified

    return list(certified.certified_coefficients(integrand, order, digits))


def _energy_ball(source: Source, digits: int) -> Ball:
    from hermite_rmt.hermite import certified

    try:
        return certified.certified_energy(source.integrand, digits)
    except ValueError as error:
        _balls(source, 0, digits)
        raise without_energy(source, error) from error


def _mean_interval(function: LessMeans, digits: int) -> tuple[Fraction, Fraction]:
    if function.is_centred:
        return Fraction(0), Fraction(0)
    lower, upper = _interval(_balls(function.source, 0, digits)[0])
    for multiple, mean in function.means:
        if not multiple.is_Rational:
            raise ValueError(f"certified: got the multiple {multiple} of a mean; allowed: rational multiples")
        factor = Fraction(int(multiple.p), int(multiple.q))
        ends = [factor * end for end in _interval(_balls(mean, 0, digits)[0])]
        lower, upper = lower - max(ends), upper - min(ends)
    return lower, upper


def _interval(ball: Ball) -> tuple[Fraction, Fraction]:
    lower, upper = (libmp.to_rational(end._mpf_) for end in (ball.lower, ball.upper))
    return Fraction(*map(int, lower)), Fraction(*map(int, upper))


def _square(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    ends = (lower**2, upper**2)
    return (Fraction(0) if lower <= 0 <= upper else min(ends)), max(ends)


def _ball_without_loss(interval: Callable[[int], tuple[Fraction, Fraction]], digits: int) -> Ball:
    """Ask for more digits until the interval is relatively as narrow as promised, and round it outwards."""
    working = digits + GUARD_DIGITS
    while True:
        lower, upper = interval(working)
        if (upper - lower) * 10**digits <= abs(upper + lower) / 2 or upper == lower:
            break
        if working > 8 * digits + 400:
            raise ValueError(f"certified: the value is inside [{float(lower)}, {float(upper)}] and may be 0")
        working *= 2
    precision = bits(working)
    context = local_context(precision)
    down = libmp.from_rational(lower.numerator, lower.denominator, precision, "f")
    up = libmp.from_rational(upper.numerator, upper.denominator, precision, "c")
    return Ball.between(context.make_mpf(down), context.make_mpf(up), digits)
