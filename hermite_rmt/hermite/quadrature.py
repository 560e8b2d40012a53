"""Gaussian expectations to any number of digits: the coefficients a_k = E[f(xi) h_k(xi)] and the energy E[f(xi)^2].

The line is cut where f is not analytic (`breakpoints`), every part is mapped so that the trapezoidal rule converges
exponentially (`panels`), and all degrees share the nodes (`transform`). A value is returned when two computations with
different steps, nodes and precisions agree on it, relative to itself: tiny coefficients are right as well.
Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56 (2014);
Takahasi and Mori, Double exponential formulas for numerical integration, Publ. RIMS 9 (1974).
"""

from __future__ import annotations

import math
from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, read_digits
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.pieces import Pieces
from hermite_rmt.hermite.trapezoid import Plan

_GUARD = 24
_ZERO_BITS = 3400
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
    list of `KnownDigits` (mpf), or of floats. A coefficient whose size is below 10^-1000 of that of f and cannot be
    told from 0 is returned as 0.

    Raises
    ------
    ValueError
        If an expectation is infinite, f is complex or undefined on an interval, or a callable works in double only
        and more digits are asked.

    >>> from hermite_rmt.hermite.integrand import X
    >>> import sympy
    >>> coefficients(Integrand.of_expression(sympy.Abs(X - sympy.Rational(1, 3))), 1, 20)
    [mpf('0.84173862411804564733'), mpf('-0.26111731963647211867')]
    """
    digits = read_digits(digits)
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise ValueError(f"order: got {order!r}; allowed: a whole number, at least 0")
    if integrand.expression is None:
        raise NotImplementedError
    values = _agreed(Pieces(integrand, order), order, digits or DOUBLE_DIGITS)
    return [float(value) for value in values] if digits is None else values


def energy(integrand: Integrand, digits: int | None = None) -> Any:
    """Return nu = E[f(xi)^2].

    Raises
    ------
    ValueError
        If f is not square integrable under the Gaussian, or for the reasons of `coefficients`.
    """
    return coefficients(integrand.squared(), 0, digits)[0]


def _agreed(pieces: Pieces, order: int, digits: int) -> list[Any]:
    wanted = bits(digits) + 6
    target = wanted + _GUARD
    cap = _ZERO_BITS + 2 * wanted
    zero = [False] * (order + 1)
    while True:
        first, second, scale = Plan(pieces, order, target).run()
        missing = [_missing_bits(a, b, wanted, scale, target) for a, b in zip(first, second, strict=True)]
        zero = [known or (miss == target and pieces.symmetry.vanishes(k)) for k, (known, miss) in enumerate(zip(zero, missing))]
        lost = [miss for miss, known in zip(missing, zero, strict=True) if miss > 0 and not known]
        if not lost or target >= cap:
            break
        target = min(cap, max(target + 32, target + max(lost)))
    context = local_context(bits(digits) + 10)
    return [
        KnownDigits.of(context.zero if miss > 0 or known else context.convert(value), digits)
        for value, miss, known in zip(second, missing, zero, strict=True)
    ]


def _missing_bits(first: Any, second: Any, wanted: int, scale: int, target: int) -> int:
    """How many more bits, relative to the scale, the agreement of two values needs; 0 if none."""
    error, size = abs(first - second), abs(second)
    if not error:
        return 0
    agreed = size.context.mag(size) - size.context.mag(error) if size else -1
    if agreed >= wanted:
        return 0
    if agreed > 3:
        return wanted - agreed + 8
    return target  # noise: nothing is known about the size


__all__ = ["coefficients", "energy", "math"]
