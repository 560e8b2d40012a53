"""Gaussian expectations to any number of digits: the coefficients a_k = E[f(xi) h_k(xi)] and the energy E[f(xi)^2].

The line is cut where f is not analytic (`breakpoints`), every part is mapped so that the trapezoidal rule converges
exponentially (`panels`), and all degrees share the nodes (`transform`). A value is returned when two computations
with different steps, nodes and precisions agree on it, relative to itself: tiny coefficients are right as well.
Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56 (2014);
Takahasi and Mori, Double exponential formulas for numerical integration, Publ. RIMS 9 (1974).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, read_digits
from hermite_rmt.hermite.adaptive import UnresolvedError
from hermite_rmt.hermite.callables import CallablePieces, SampledSymmetry, digits_coefficients, double_coefficients
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.pieces import Pieces
from hermite_rmt.hermite.trapezoid import Pieces as SomePieces
from hermite_rmt.hermite.trapezoid import Plan

Attempt = Callable[[int, int, bool], tuple[list[Any], list[Any]]]

_GUARD = 24
_NOISE = 1 << 40  # two values that share no digit
_ZERO_BITS = 2000
_MOST_WORK = 4 * 10**9  # nodes times degrees times bits of a repetition: some seconds
DOUBLE_DIGITS = 16


def coefficients(integrand: Integrand, order: int, digits: int | None = None) -> list[Any]:
    """Return a_k = E[f(xi) h_k(xi)] for k = 0..order (f is not centred), h_k = He_k / sqrt(k!).

    Parameters
    ----------
    integrand : the function f
    order : highest degree
    digits : decimal digits, each right; None: doubles

    Returns
    -------
    list of `KnownDigits` (mpf), or of floats. A coefficient that cannot be told from 0 and is below 10^-600 of the
    size of f (10^(-2 digits) for a callable) is returned as 0.

    Raises
    ------
    ValueError
        If an expectation is infinite, f is complex or undefined on an interval, or a callable that works in double
        only is asked for digits.

    >>> from hermite_rmt.hermite.integrand import X
    >>> import sympy
    >>> coefficients(Integrand.of_expression(sympy.Abs(X - sympy.Rational(1, 3))), 1, 20)
    [mpf('0.84180556193147723585'), mpf('-0.26111731963647272345')]
    """
    _check_degree(order, "order")
    return _computed(integrand, range(order + 1), read_digits(digits))


def coefficient(integrand: Integrand, degree: int, digits: int | None = None) -> Any:
    """Return a_degree alone: other coefficients, tiny or zero, cost nothing.

    Raises
    ------
    ValueError
        As `coefficients`.

    >>> from hermite_rmt.hermite.integrand import X
    >>> import sympy
    >>> coefficient(Integrand.of_expression(sympy.cos(3 * X)), 6, 15)
    mpf('-0.301811727769034')
    """
    _check_degree(degree, "degree")
    return _computed(integrand, range(degree, degree + 1), read_digits(digits))[0]


def _check_degree(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name}: got {value!r}; allowed: a whole number, at least 0")


def _computed(integrand: Integrand, degrees: range, digits: int | None) -> list[Any]:
    order = degrees[-1]
    if integrand.expression is None:
        return _of_callable(integrand, degrees, digits)
    pieces = Pieces(integrand, order)

    wanted = bits(digits or DOUBLE_DIGITS) + 6
    attempt = _planned(pieces)
    values = _agreed(attempt, lambda k: pieces.symmetry.vanishes(k), degrees, wanted, _ZERO_BITS + 2 * wanted)
    return _rounded(values, digits)


def _of_callable(integrand: Integrand, degrees: range, digits: int | None) -> list[Any]:
    order = degrees[-1]
    if digits is None:
        try:
            return list(double_coefficients(integrand, order))[degrees[0] :]
        except UnresolvedError as error:
            if not integrand.speaks_multiprecision:
                raise ValueError(
                    f"{error}; f would have to keep the digits of mpf arguments, or be given as an expression"
                ) from error
            # mpf arguments come closer to a singularity than doubles
            return [float(value) for value in _of_callable(integrand, degrees, DOUBLE_DIGITS + 1)]
    if not integrand.speaks_multiprecision:
        raise ValueError(
            f"digits: got {digits} for {integrand.name}, a callable that works in double precision only (it does not "
            "keep the digits of an mpf argument); allowed: None, or give f as an expression or text"
        )
    wanted = bits(digits) + 6
    symmetry = SampledSymmetry(integrand)
    if integrand.breakpoints is not None:
        attempt = _planned(CallablePieces(integrand, order))
    else:

        def attempt(order: int, target: int, first: bool) -> tuple[list[Any], list[Any]]:
            return digits_coefficients(integrand, order, target)

    return _rounded(_agreed(attempt, symmetry.vanishes, degrees, wanted, 2 * wanted + 100), digits)


def _planned(pieces: SomePieces) -> Attempt:
    return lambda order, target, first: Plan(pieces, order, target, None if first else _MOST_WORK).run()


def energy(integrand: Integrand, digits: int | None = None) -> Any:
    """Return nu = E[f(xi)^2].

    Raises
    ------
    ValueError
        If f is not square integrable under the Gaussian, or for the reasons of `coefficients`.
    """
    return coefficients(integrand.squared(), 0, digits)[0]


def _agreed(
    attempt: Attempt,
    vanishes: Callable[[int], bool],
    degrees: range,
    wanted: int,
    cap: int,
) -> list[Any]:
    """Return the coefficients on which two computations agree to `wanted` bits, relative to each.

    `attempt(order, target, first)` computes a_0..a_order twice, with errors below 2^-target of the largest term. What
    is still noise with `cap` bits, or proved to vanish, is 0.
    """
    target = wanted + _GUARD
    found: dict[int, Any] = {}
    pending, first = list(degrees), True
    while pending:
        one, other = attempt(pending[-1], target, first)
        lost: dict[int, int] = {}
        for k in pending:
            miss = _missing_bits(one[k], other[k], wanted)
            zero = miss > 0 and (target >= cap or (miss == _NOISE and vanishes(k)))
            if miss > 0 and not zero:
                lost[k] = miss
            else:
                found[k] = other[k] * 0 if zero else other[k]
        pending, first = list(lost), False
        noise = _NOISE in lost.values()
        target = (3 * target if 6 * target < cap else cap) if noise else min(cap, target + max([32, *lost.values()]))
    return [found[k] for k in degrees]


def _missing_bits(first: Any, second: Any, wanted: int) -> int:
    """How many more bits the agreement of two values needs; 0 if none, `_NOISE` if they are noise."""
    error, size = abs(first - second), abs(second)
    if not error:
        return 0 if size else _NOISE  # 1 - 2^-170 is 1 with fewer bits, and its a_1 0
    agreed = size.context.mag(size) - size.context.mag(error) if size else -1
    if agreed >= wanted:
        return 0
    return wanted - agreed + 8 if agreed > 3 else _NOISE


def _rounded(values: list[Any], digits: int | None) -> list[Any]:
    if digits is None:
        return [float(value) for value in values]
    context = local_context(bits(digits) + 10)
    return [KnownDigits.of(context.convert(value), digits) for value in values]
