"""Derivatives by gamma from solves alone, independent of every formula for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from hermite_rmt.core.contexts import bits, local_context


def slopes_by_gamma(solve: Callable[[Any, int], Any], gamma: Any, digits: int) -> tuple[Any, Any]:
    """Return dm/dgamma and dq/dgamma to `digits` digits by a central difference.

    Parameters
    ----------
    solve : (exact gamma, digits) -> Solution with `trace` and `quadratic_form`
    """
    # the step h costs h^2 relative to the derivative, rounding its precision over h: both stay below 10^-digits
    step = sympy.Rational(1, 10 ** (digits // 2 + 10))
    precision = 2 * digits + 30
    context = local_context(bits(precision))
    upper, lower = solve(gamma * (1 + step), precision), solve(gamma * (1 - step), precision)
    width = 2 * gamma * step
    width = context.mpf(int(width.p)) / int(width.q)
    slopes = [
        (context.convert(upper[name]) - context.convert(lower[name])) / width for name in ("trace", "quadratic_form")
    ]
    return slopes[0], slopes[1]
