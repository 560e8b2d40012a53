"""The numbers of a nonlinearity: from its closed form where there is one, by quadrature otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from mpmath import libmp

from hermite_rmt.codegen.ball import enclose_constant
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits
from hermite_rmt.hermite.less_means import LessMeans
from hermite_rmt.hermite.sources import Source

CERTIFIED_DIGITS = 15
_FLOAT_DIGITS = 17
_GUARD = 5


def coefficients(function: LessMeans, order: int, digits: int | None) -> list[Any]:
    """Return a_0, ..., a_order: floats, or numbers of which `digits` digits are right."""
    if order == 0 and function.is_centred:
        return [_shown(0, digits)]
    values = _of_source(function.source, order, digits)
    if function.means:
        values[0] = _mean(function, digits)
    return [_shown(value, digits) for value in values]


def coefficient(function: LessMeans, k: int, digits: int | None) -> Any:
    """Return a_k alone: where quadrature has to give it, others that are tiny or zero cost nothing."""
    source = function.source
    known = source.cache.get(("coefficients", digits), [])
    has_closed = source.closed is not None and source.closed.is_complete
    if k == 0 or has_closed or len(known) > k:
        return coefficients(function, k, digits)[k]
    key = ("coefficient", k, digits)
    if key not in source.cache:
        from hermite_rmt.hermite import quadrature

        source.cache[key] = _plain(quadrature.coefficient(source.integrand, k, digits), digits)
    return _shown(source.cache[key], digits)


def energy(function: LessMeans, digits: int | None) -> Any:
    """Return the energy: a float, or a number of which `digits` digits are right."""
    if not function.means:
        return _shown(_energy_of_source(function.source, digits), digits)

    def parts(digits: int | None) -> list[Any]:
        base = _of_source(function.source, 0, digits)[0]
        # what is left of the mean may be 0, of which no digit is known: here it counts beside the base alone
        left = 0 if function.is_centred else base - taken(function, digits)
        return [_energy_of_source(function.source, digits), -(base**2), left**2]

    return _shown(_sum_without_loss(parts, digits), digits)


def taken(function: LessMeans, digits: int | None) -> Any:
    """Return what is taken off the source: the sum of its means with their multiples."""
    terms = (_constant(c, digits) * _of_source(mean, 0, digits)[0] for c, mean in function.means)
    return sum(terms, start=0)


def _mean(function: LessMeans, digits: int | None) -> Any:
    if function.is_centred:
        return 0
    return _sum_without_loss(lambda n: [_of_source(function.source, 0, n)[0], -taken(function, n)], digits)


def _of_source(source: Source, order: int, digits: int | None) -> list[Any]:
    key = ("coefficients", digits)
    known = source.cache.get(key, [])
    if len(known) <= order:
        integrand = source.integrand  # parameters without values are refused here
        found = None if source.closed is None else source.closed.values(order, digits)
        if found is None:
            from hermite_rmt.hermite import quadrature

            found = quadrature.coefficients(integrand, order, digits)
        source.cache[key] = known = [_plain(value, digits) for value in found]
    return list(known[: order + 1])


def _energy_of_source(source: Source, digits: int | None) -> Any:
    key = ("energy", digits)
    if key not in source.cache:
        integrand = source.integrand  # parameters without values are refused here
        exact = None if source.closed_square is None else source.closed_square.values(0, digits)
        if exact is not None:
            _require_mean(source)
        if exact is None:
            from hermite_rmt.hermite import quadrature

            try:
                exact = [quadrature.energy(integrand, digits)]
            except ValueError as error:
                _of_source(source, 0, digits)  # where not even the mean exists, its reason is the better one
                raise _without_energy(source, error) from error
        source.cache[key] = _plain(exact[0], digits)
    return source.cache[key]


def _require_mean(source: Source) -> None:
    """Have a mean that is no closed form computed: f^2 does not show where f is complex, as sqrt(100 - x^2) is."""
    if source.closed is None:
        _of_source(source, 0, None)


def _without_energy(source: Source, error: ValueError) -> ValueError:
    infinite = any(reason in str(error) for reason in ("infinite", "not integrable"))
    return ValueError(f"nu: {source.name} is not square integrable ({error})" if infinite else f"nu: {error}")


def _plain(value: Any, digits: int | None) -> Any:
    # arithmetic on a `KnownDigits` would run at the global precision of mpmath
    return value if digits is None else local_context(bits(digits + _GUARD)).convert(value)


def _constant(value: Any, digits: int | None) -> Any:
    if digits is None:
        return float(value)
    return local_context(bits(digits + _GUARD)).convert(value.evalf(digits + _GUARD))


def _sum_without_loss(parts: Callable[[int | None], list[Any]], digits: int | None) -> Any:
    """Add numbers known to any digits so that `digits` digits of the sum are right, whatever cancels."""
    if digits is None:
        terms = [float(term) for term in parts(None)]
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
        exact = [context.convert(term) for term in parts(working)]
        total, largest = context.fsum(exact), max(map(abs, exact))
        if not largest:
            return total
        lost = working if not total else float(context.log10(largest / abs(total)))
        if working - lost >= digits + 1:
            return total
        if working > 8 * digits + 400:
            raise ValueError(
                f"the value cancels to all of {working} digits: it may be 0, and no digit of it is known"
            )
        working *= 2


def _shown(value: Any, digits: int | None) -> Any:
    if digits is None:
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"got a value of {number} in double precision, which cannot hold it; ask for digits=")
        return number
    return KnownDigits.of(local_context(bits(digits + _GUARD)).convert(value), digits)


# Certified


def certified_coefficients(function: LessMeans, order: int, digits: int | None) -> list[Ball]:
    """Return balls that contain a_0, ..., a_order."""
    wanted = digits or CERTIFIED_DIGITS
    balls = _balls(function.source, order, wanted)
    if function.means:
        exact = _enclosed(function.closed_form(0), wanted)
        balls[0] = exact or _ball_without_loss(lambda n: _mean_interval(function, n), wanted)
    return balls


def certified_coefficient(function: LessMeans, k: int, digits: int | None) -> Ball:
    """Return a ball that contains a_k."""
    wanted = digits or CERTIFIED_DIGITS
    exact = None if function.source.parameters else function.closed_form(k)
    ball = _enclosed(exact, wanted)
    if ball is not None:
        return ball
    if k == 0:
        return certified_coefficients(function, 0, digits)[0]
    from hermite_rmt.hermite import certified

    return certified.certified_coefficient(function.source.integrand, k, wanted)


def certified_energy(function: LessMeans, digits: int | None) -> Ball:
    """Return a ball that contains the energy."""
    wanted = digits or CERTIFIED_DIGITS
    exact = _enclosed(function.closed_form_nu(), wanted)
    if exact is not None:
        _require_mean(function.source)
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
        raise _without_energy(source, error) from error


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
    down = libmp.from_rational(lower.numerator, lower.denominator, precision, "f")
    up = libmp.from_rational(upper.numerator, upper.denominator, precision, "c")
    return Ball.between(context.make_mpf(down), context.make_mpf(up), digits)
