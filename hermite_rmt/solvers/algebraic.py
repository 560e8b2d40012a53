"""One root m of a polynomial P(m, z), followed as z moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

SMALL = 0.03  # Smale's alpha: Newton's method converges to the root nearby below 0.157
SHORTEST = 2.0**-30


class LostRootError(ArithmeticError):
    """The root comes too close to another one."""


def follow_root(rows: Sequence[Sequence[int]], m: Any, path: Callable[[Any], Any]) -> Any:
    """Return the root of P(., path(1)) that continues the root near m of P(., path(0)).

    A step is accepted where the root before it is an approximate zero after it, by Smale's alpha of all derivatives:
    then Newton's method has one root to go to. Nothing is extrapolated, so steps shorten near other roots.

    Parameters
    ----------
    rows : coefficients of P = sum of rows[j][k] m^j z^k
    m : mpc of a local context
    path : t in [0, 1] to z, numbers of that context

    Raises
    ------
    LostRootError
        If steps would be shorter than 2^-30 of the path.

    >>> from hermite_rmt.core.contexts import local_context
    >>> context = local_context(60)
    >>> rows = ((1,), (0, 1), (1,))  # m^2 + z m + 1: the semicircle
    >>> m = follow_root(rows, context.mpc(0, 0.01), lambda t: context.mpc(0, 100 ** (1 - t)))
    >>> print(context.nstr(m, 10))
    (0.0 + 0.6180339887j)
    """
    context = m.context
    here, step = context.zero, context.one / 16
    m = _newton(_at(rows, path(here), context), m, context)
    while here < 1:
        there = min(here + step, context.one)
        coefficients = _at(rows, path(there), context)
        if _alpha(coefficients, m) < SMALL:
            m, here = _newton(coefficients, m, context), there
            step *= 2
        else:
            step = (there - here) / 2
            if step < SHORTEST:
                raise LostRootError(
                    f"root near {context.nstr(m, 8)}: lost beyond {context.nstr(here, 6)} of its path"
                )
    return m


def _at(rows: Sequence[Sequence[int]], z: Any, context: Any) -> list[Any]:
    """Return the coefficients in m, highest first."""
    return [context.polyval(row[::-1], z) for row in reversed(rows)]


def _alpha(coefficients: list[Any], m: Any) -> Any:
    value, slope, *higher = _taylor(coefficients, m)
    if not slope:
        return m.context.inf
    largest = max((abs(c / slope) ** (m.context.one / k) for k, c in enumerate(higher, 1)), default=m.context.zero)
    return abs(value / slope) * largest


def _taylor(coefficients: list[Any], m: Any) -> list[Any]:
    """Return the Taylor coefficients at m, the value first (repeated synthetic division)."""
    rest, found = list(coefficients), []
    while rest:
        for k in range(1, len(rest)):
            rest[k] += rest[k - 1] * m
        found.append(rest.pop())
    return found


def _newton(coefficients: list[Any], m: Any, context: Any) -> Any:
    for _ in range(2 * context.prec.bit_length() + 10):
        value, slope = _taylor(coefficients, m)[:2]
        step = value / slope
        m -= step
        if abs(step) <= context.ldexp(abs(m), -context.prec // 2 - 2):
            return m
    raise LostRootError(f"root near {context.nstr(m, 8)}: Newton's method does not converge")
