"""How far from the origin an integrand counts under the Gaussian, and whether its expectation is finite at all."""

from __future__ import annotations

import math
from collections.abc import Callable

_RATIO = 1.15
_QUIET = 6  # so many small samples in a row end the search
_FARTHEST_START = 1e6
_INFINITE_BITS = 10**12


def reach(log_size: Callable[[float], float], precision: int, name: str) -> int:
    """Return R such that beyond |x| > R the integrand is below 2^-precision of its largest value.

    Parameters
    ----------
    log_size : log2 of |x f(x)| exp(-x^2/2) max_k |h_k(x)| at x (-inf where f is zero)
    precision : bits
    name : of f, for messages

    Raises
    ------
    ValueError
        If the integrand does not fall faster than 1/x: the expectation is infinite.
    """
    samples: list[tuple[float, float]] = []
    top = -math.inf
    for sign in (1, -1):
        point, quiet = 0.2718, 0
        while quiet < _QUIET or point < 4:
            size = log_size(sign * point)
            if size > _INFINITE_BITS or (point > 1e30 and size > top - 1) or math.isnan(size):
                raise ValueError(
                    f"{name}: the expectation is infinite: its size times the Gaussian density "
                    f"does not fall fast enough as x -> {'+' if sign > 0 else '-'}infinity"
                )
            samples.append((point, size))
            top = max(top, size)
            low = size < top - precision or (size == -math.inf and point > _FARTHEST_START)
            quiet = quiet + 1 if low else 0
            point *= _RATIO
    far = max((point for point, size in samples if size >= top - precision and size > -math.inf), default=1.0)
    return math.ceil(max(1.3 * far, math.sqrt(1.4 * precision))) + 1
