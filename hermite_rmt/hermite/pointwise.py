"""Values of a nonlinearity in double precision, right also where its formula overflows on the way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.integrand import Integrand

_PRECISION = 120


def evaluate(integrand: Integrand, points: np.ndarray) -> np.ndarray:
    """Return f at an array of finite points.

    log(1 + e^x) overflows in double precision from x = 710 on, though its value does not: points where double
    precision gives no finite number are computed again in a wider range.

    Raises
    ------
    ValueError
        If f is not real or not defined at a point.
    """
    values = np.array(integrand.double(points), dtype=float)
    lost = ~np.isfinite(values)
    if not lost.any():
        return values
    again, places = np.unique(points[lost], return_inverse=True)
    values[lost] = np.array([_wide(integrand, point) for point in again.tolist()])[places]
    return values


def _wide(integrand: Integrand, point: float) -> float:
    double = float(integrand.double(np.array([point]))[0])
    if not math.isfinite(point):
        return double
    value: Any = math.nan
    if integrand.speaks_multiprecision:
        context = local_context(_PRECISION)
        try:
            value = integrand.multiprecision(_PRECISION)(context.mpf(point))
        except OverflowError:
            return double
        except (ZeroDivisionError, ValueError):
            value = math.nan
    if value != value or value.imag:
        raise ValueError(f"{integrand.name}: not a real number at x = {point:.17g}")
    try:
        return float(value.real)
    except OverflowError:
        return math.copysign(math.inf, value.real)
