"""The three-term recurrence of the orthonormal Hermite polynomials, on points and on coefficient vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def scaled_hermite(points: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for k = 0, 1, ... arrays (v, e) with h_k(x) = v 2^e: no overflow at any order."""
    previous, current = np.zeros_like(points), np.ones_like(points)
    shift = np.zeros(points.shape, dtype=int)
    k = 0
    while True:
        yield current, shift
        previous, current = current, (points * current - math.sqrt(k) * previous) / math.sqrt(k + 1)
        k += 1
        large = np.maximum(np.abs(current), np.abs(previous)) > 2.0**500
        if np.any(large):
            step = np.where(large, 500, 0)
            current, previous, shift = np.ldexp(current, -step), np.ldexp(previous, -step), shift + step


def polynomial_of_x(coefficients: Iterable[Any], start: list[Any], factor: Any, roots: list[Any]) -> list[Any]:
    """Return sum_k a_k h_k(factor J) applied to the vector `start`, J being multiplication by x in the basis h_k."""
    dtype = float if isinstance(roots[0], float) else object
    roots_array = np.array(roots, dtype=dtype)
    current = np.array(start, dtype=dtype)
    previous = current * 0
    total = current * 0
    size = len(start)
    for k, a in enumerate(coefficients):
        total = total + a * current
        moved = current * 0
        moved[1:] += roots_array[1:size] * current[:-1]
        moved[:-1] += roots_array[1:size] * current[1:]
        previous, current = current, (factor * moved - roots_array[k] * previous) / roots_array[k + 1]
    return list(total.tolist())
