"""The numbers of a nonlinearity: from its closed form where there is one, by quadrature otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import libmp

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits
from hermite_rmt.hermite.sources import Source


@dataclass(frozen=True)
class Means:
    """What is taken off f: multiples (exact constants) of the means of functions; `own`: just E f itself."""

    terms: tuple[tuple[Any, Source], ...] = ()
    own: bool = False


CERTIFIED_DIGITS = 15
_FLOAT_DIGITS = 17
_GUARD = 5


def coefficients(source: Source, order: int, digits: int | None) -> list[Any]:
    """Return a_0, ..., a_order of `source`: floats, or numbers of which `digits` digits are right."""
    key = ("coefficients", digits)
    known = source.cache.get(key, [])
    if len(known) <= order:
        integrand = source.integrand  # parameters without values are refused here
        found = None if source.closed is None else source.closed.values(order, digits)
        if found is None:
            from hermite_rmt.hermite import quadrature

            found = quadrature.coefficients(integrand, order, digits)
        source.cache[key] = known = found
    return list(known[: order + 1])


def energy(source: Source, digits: int | None) -> Any:
    """Return E f^2 of `source`: a float, or a number of which `digits` digits are right."""
    key = ("energy", digits)
    if key not in source.cache:
        integrand = source.integrand  # parameters without values are refused here
        exact = None if source.closed_square is None else source.closed_square.values(0, digits)
        if exact is None:
            from hermite_rmt.hermite import quadrature

            source.cache[key] = quadrature.energy(integrand, digits)
        else:
            source.cache[key] = exact[0]
    return source.cache[key]


def mean(source: Source, means: Means, digits: int | None) -> Any:
    """Return E f - sum c_i E f_i."""
    if not means.terms:
        return coefficients(source, 0, digits)[0]
    if means.own:
        return 0

    def parts(digits: int | None) -> list[Any]:
        taken = [-_constant(c, digits) * coefficients(other, 0, digits)[0] for c, other in means.terms]
        return [coefficients(source, 0, digits)[0], *taken]

    return _sum_without_loss(parts, digits)


def energy_less_means(source: Source, means: Means, digits: int | None) -> Any:
    """Return E (f - sum c_i E f_i)^2."""
    if not means.terms:
        return energy(source, digits)

    def parts(digits: int | None) -> list[Any]:
        here = coefficients(source, 0, digits)[0]
        left = mean(source, means, digits)
        return [energy(source, digits), -(here**2), left**2]

    return _sum_without_loss(parts, digits)


def _constant(value: Any, digits: int | None) -> Any:
    if digits is None:
        return float(value)
    return local_context(bits(digits + _GUARD)).convert(value.evalf(digits + _GUARD))


def _sum_without_loss(parts: Callable[[int | None], list[Any]], digits: int | None) -> Any:
    """Add numbers known to any digits so that `digits` digits of the sum are right, whatever cancels."""
    if digits is None:
        terms = parts(None)
        total = math.fsum(terms)
        if abs(total) > 1e-3 * max(map(abs, terms)) or not any(terms):
            return total
        try:
            return float(_sum_without_loss(parts, _FLOAT_DIGITS))
        except ValueError:
            return total  # a function that only speaks double: its sum is what it is
    working = digits + _GUARD
    while True:
        context = local_context(bits(working + _GUARD))
        exact = [
            context.make_mpf(term._mpf_) if hasattr(term, "_mpf_") else context.mpf(term) for term in parts(working)
        ]
        total, largest = context.fsum(exact), max(map(abs, exact))
        if not largest:
            return total
        kept = working - (working if not total else float(context.log10(largest / abs(total))))
        if kept >= digits + 1:
            return total
        if working > 8 * digits + 400:
            raise ValueError(
                f"the value cancels to all of {working} digits: it may be 0, and no digit of it is known"
            )
        working = 2 * working


def known_digits(value: Any, digits: int | None) -> Any:
    """Return what a caller sees: a float, or a number that prints its right digits."""
    if digits is None:
        return float(value)
    return KnownDigits.of(local_context(bits(digits + _GUARD)).convert(value), digits)


# Certified


def certified_coefficients(source: Source, order: int, digits: int | None) -> list[Ball]:
    """Return balls that contain a_0, ..., a_order of `source`."""
    from hermite_rmt.hermite import certified

    return list(certified.certified_coefficients(source.integrand, order, digits or CERTIFIED_DIGITS))


def certified_energy(source: Source, digits: int | None) -> Ball:
    """Return a ball that contains E f^2 of `source`."""
    from hermite_rmt.hermite import certified

    ball: Ball = certified.certified_energy(source.integrand, digits or CERTIFIED_DIGITS)
    return ball


def certified_mean(source: Source, means: Means, digits: int | None) -> Ball:
    """Return a ball that contains E f - sum c_i E f_i."""
    if not means.terms:
        return certified_coefficients(source, 0, digits)[0]
    if means.own:
        zero = local_context(bits(CERTIFIED_DIGITS)).mpf(0)
        return Ball.between(zero, zero, digits or CERTIFIED_DIGITS)

    def interval(digits: int) -> tuple[Fraction, Fraction]:
        lower, upper = _interval(certified_coefficients(source, 0, digits)[0])
        for multiple, other in means.terms:
            if not multiple.is_Rational:
                raise ValueError(f"certified: got the multiple {multiple} of a mean; allowed: rational multiples")
            ends = [
                Fraction(int(multiple.p), int(multiple.q)) * end
                for end in _interval(certified_coefficients(other, 0, digits)[0])
            ]
            lower, upper = lower - max(ends), upper - min(ends)
        return lower, upper

    return _ball_without_loss(interval, digits)


def certified_energy_less_means(source: Source, means: Means, digits: int | None) -> Ball:
    """Return a ball that contains E (f - sum c_i E f_i)^2."""
    if not means.terms:
        return certified_energy(source, digits)

    def interval(digits: int) -> tuple[Fraction, Fraction]:
        lower, upper = _interval(certified_energy(source, digits))
        least, most = _square(*_interval(certified_coefficients(source, 0, digits)[0]))
        lower, upper = lower - most, upper - least
        if not means.own:
            least, most = _square(*_interval(certified_mean(source, means, digits)))
            lower, upper = lower + least, upper + most
        return lower, upper

    return _ball_without_loss(interval, digits)


def _interval(ball: Ball) -> tuple[Fraction, Fraction]:
    return _fraction(ball.lower), _fraction(ball.upper)


def _fraction(value: Any) -> Fraction:
    numerator, denominator = libmp.to_rational(value._mpf_)
    return Fraction(int(numerator), int(denominator))


def _square(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    ends = (lower**2, upper**2)
    return (Fraction(0) if lower <= 0 <= upper else min(ends)), max(ends)


def _ball_without_loss(interval: Callable[[int], tuple[Fraction, Fraction]], digits: int | None) -> Ball:
    """Ask for more digits until the interval is relatively as narrow as promised, and round it outwards."""
    digits = digits or CERTIFIED_DIGITS
    working = digits + _GUARD
    while True:
        lower, upper = interval(working)
        if (upper - lower) * 10**digits <= abs(upper + lower) / 2 or upper == lower:
            break
        if working > 8 * digits + 400:
            raise ValueError(f"certified: the value is inside [{float(lower)}, {float(upper)}] and may be 0")
        working *= 2
    precision = bits(working)
    context = local_context(precision)
    down, up = (
        libmp.from_rational(end.numerator, end.denominator, precision, rounding)
        for end, rounding in ((lower, "f"), (upper, "c"))
    )
    return Ball.between(context.make_mpf(down), context.make_mpf(up), digits)
