"""The numbers of a nonlinearity: from its closed form where there is one, by quadrature otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits
from hermite_rmt.hermite.less_means import LessMeans
from hermite_rmt.hermite.sources import Source

_FLOAT_DIGITS = 17
GUARD_DIGITS = 5


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
    if function.is_centred or function.is_odd_but_for_means:
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
            require_mean(source)
        if exact is None:
            from hermite_rmt.hermite import quadrature

            try:
                exact = [quadrature.energy(integrand, digits)]
            except ValueError as error:
                _of_source(source, 0, digits)  # where not even the mean exists, its reason is the better one
                raise without_energy(source, error) from error
        source.cache[key] = _plain(exact[0], digits)
    return source.cache[key]


def require_mean(source: Source) -> None:
    """Have a mean that is no closed form computed: f^2 does not show where f is complex, as sqrt(100 - x^2) is."""
    if source.closed is None:
        _of_source(source, 0, None)


def without_energy(source: Source, error: ValueError) -> ValueError:
    """Return the refusal of the energy, whose reason the refusal of E f^2 tells."""
    infinite = any(reason in str(error) for reason in ("infinite", "not integrable"))
    return ValueError(f"nu: {source.name} is not square integrable ({error})" if infinite else f"nu: {error}")


def _plain(value: Any, digits: int | None) -> Any:
    # arithmetic on a `KnownDigits` would run at the global precision of mpmath
    return value if digits is None else local_context(bits(digits + GUARD_DIGITS)).convert(value)


def _constant(value: Any, digits: int | None) -> Any:
    if digits is None:
        return float(value)
    return local_context(bits(digits + GUARD_DIGITS)).convert(value.evalf(digits + GUARD_DIGITS))


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
    working = digits + GUARD_DIGITS
    while True:
        context = local_context(bits(working + GUARD_DIGITS))
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
    return KnownDigits.of(local_context(bits(digits + GUARD_DIGITS)).convert(value), digits)
