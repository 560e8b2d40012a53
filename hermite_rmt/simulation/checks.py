"""Arguments of a simulation, checked at the door."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Relative slack for norms and inner products of given vectors (single precision data passes).
TOLERANCE = 1e-6


def positive_integer(value: Any, name: str) -> int:
    """Return `value` as an int, or raise naming the argument.

    >>> positive_integer(3, "n")
    3
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}: got {value!r}; allowed: a positive integer")
    if value < 1:
        raise ValueError(f"{name}: got {value}; allowed: a positive integer")
    return int(value)


def finite_number(value: Any, name: str) -> float:
    """Return `value` as a finite float, or raise naming the argument."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}: got {value!r}; allowed: a finite real number")
    if not math.isfinite(value):
        raise ValueError(f"{name}: got {value}; allowed: a finite real number")
    return float(value)


def positive_gammas(gammas: Any) -> tuple[float, ...]:
    """Return the ridge parameters as a non-empty tuple of positive floats, or raise."""
    if isinstance(gammas, (str, bytes)) or not isinstance(gammas, (Sequence, np.ndarray)) or not np.ndim(gammas):
        raise TypeError(f"gammas: got {gammas!r}; allowed: a sequence of positive numbers")
    values = tuple(finite_number(gamma, "gammas") for gamma in gammas)
    if not values:
        raise ValueError("gammas: got an empty sequence; allowed: at least one positive number")
    for value in values:
        if value <= 0:
            raise ValueError(f"gammas: got {value}; allowed: positive numbers")
    return values


def real_array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return `value` as a finite array of doubles of this shape, or raise naming the argument."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: got an array of dtype {array.dtype}; allowed: real numbers")
    if array.shape != shape:
        raise ValueError(f"{name}: got shape {array.shape}; allowed: {shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: got nan or infinite entries; allowed: finite real numbers")
    return array
