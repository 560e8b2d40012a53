"""Intervals with exact ends, infinite ones included: ranges of values far out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermite_rmt.core.flint_context import require_flint


def exact(value: Any) -> Any:
    """Return a number as an `arb`."""
    return require_flint().arb(value)


@dataclass(frozen=True)
class Interval:
    """A range of values: ends are exact `arb`, None for infinity. Sums and products are rounded outwards.

    >>> from hermite_rmt.core.flint_context import flint_precision
    >>> with flint_precision(53):
    ...     product = Interval(exact(1), None) * Interval(exact(-2), exact(3))
    >>> product.low, product.high
    (None, None)
    """

    low: Any
    high: Any

    @property
    def size(self) -> Any:
        """The largest absolute value; None if there is none."""
        return self.absolute().high

    def absolute(self) -> Interval:
        """Return the range of absolute values."""
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return Interval(-self.high, None if self.low is None else -self.low)
        bounded = self.low is not None and self.high is not None
        return Interval(exact(0), (-self.low).max(self.high).upper() if bounded else None)

    def __add__(self, other: Interval) -> Interval:
        low = None if self.low is None or other.low is None else (self.low + other.low).lower()
        high = None if self.high is None or other.high is None else (self.high + other.high).upper()
        return Interval(low, high)

    def __mul__(self, other: Interval) -> Interval:
        products = [_times(x, y) for x in self._ends() for y in other._ends()]
        finite = [value for _, value in products if value is not None]
        low = None if any(value is None and sign < 0 for sign, value in products) else finite[0].lower()
        high = None if any(value is None and sign > 0 for sign, value in products) else finite[0].upper()
        for value in finite[1:]:
            low = None if low is None else low.min(value.lower())
            high = None if high is None else high.max(value.upper())
        return Interval(low, high)

    def _ends(self) -> list[tuple[int, Any]]:
        return [
            (_sign(end) if end is not None else infinite, end) for infinite, end in ((-1, self.low), (1, self.high))
        ]


LINE = Interval(None, None)


def _sign(value: Any) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def _times(x: tuple[int, Any], y: tuple[int, Any]) -> tuple[int, Any]:
    """Return the sign and the value of a product of ends: 0 times infinity is 0."""
    sign = x[0] * y[0]
    if sign == 0:
        return 0, exact(0)
    return sign, None if x[1] is None or y[1] is None else x[1] * y[1]
