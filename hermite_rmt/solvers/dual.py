"""Dual numbers: a value with its derivatives along a few directions, over any number type."""

from __future__ import annotations

from itertools import repeat
from typing import Any


class Dual:
    """A value and its gradient: forward differentiation of whatever arithmetic it passes through.

    Parameters
    ----------
    value : a number (float, mpf, arb, Fraction) or an array
    gradient : tuple of numbers or arrays like it, one a direction; None where the derivative is known to be zero

    Plain numbers and arrays mix in as constants. Lists are built before the tuples because generators cost more than
    the arithmetic here.

    >>> x, y = seeds((3.0, 2.0), (1.0, 1.0))
    >>> (x * y + 1).value, (x / y).gradient, (2 * x).gradient
    (7.0, (0.5, -0.75), (2.0, None))
    """

    __slots__ = ("gradient", "value")
    __array_ufunc__ = None  # an array on the left leaves the operation to this class

    def __init__(self, value: Any, gradient: tuple[Any, ...]) -> None:
        self.value = value
        self.gradient = gradient

    def dense(self) -> tuple[Any, ...]:
        """Return the gradient with zeros for None."""
        return tuple([0 * self.value if entry is None else entry for entry in self.gradient])

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            gradient = tuple(map(_sum, self.gradient, other.gradient))
            return Dual(self.value + other.value, gradient)
        return Dual(self.value + other, self.gradient)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, tuple([None if entry is None else -entry for entry in self.gradient]))

    def __sub__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            gradient = tuple(map(_difference, self.gradient, other.gradient))
            return Dual(self.value - other.value, gradient)
        return Dual(self.value - other, self.gradient)

    def __rsub__(self, other: Any) -> Dual:
        return Dual(other - self.value, tuple([None if entry is None else -entry for entry in self.gradient]))

    def __mul__(self, other: Any) -> Dual:
        a = self.value
        if isinstance(other, Dual):
            b = other.value
            gradient = tuple(map(_combination, self.gradient, repeat(b), other.gradient, repeat(a)))
            return Dual(a * b, gradient)
        return Dual(a * other, tuple([None if entry is None else entry * other for entry in self.gradient]))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):  # never 1/other: an int would become a double
            return Dual(
                self.value / other, tuple([None if entry is None else entry / other for entry in self.gradient])
            )
        inverse = 1 / other.value
        a = self.value * inverse
        scale = -(a * inverse)
        gradient = tuple(
            _combination(p, inverse, q, scale) for p, q in zip(self.gradient, other.gradient, strict=True)
        )
        return Dual(a, gradient)

    def __rtruediv__(self, other: Any) -> Dual:
        a = other / self.value
        scale = -(a / self.value)
        return Dual(a, tuple([None if entry is None else entry * scale for entry in self.gradient]))


def _sum(p: Any, q: Any) -> Any:
    if p is None:
        return q
    return p if q is None else p + q


def _difference(p: Any, q: Any) -> Any:
    if q is None:
        return p
    return -q if p is None else p - q


def _combination(p: Any, b: Any, q: Any, a: Any) -> Any:
    """Return p b + q a."""
    if p is None:
        return None if q is None else q * a
    result = p * b
    if q is not None:
        result += q * a
    return result


def seeds(values: tuple[Any, ...], scales: tuple[Any, ...]) -> tuple[Dual, ...]:
    """Return independent variables: the i-th has the derivative scales[i] along direction i, none along the others.

    A scale equal to the value gives derivatives with respect to the logarithm.
    """
    size = len(values)
    return tuple(
        Dual(value, tuple(scale if i == j else None for j in range(size)))
        for i, (value, scale) in enumerate(zip(values, scales, strict=True))
    )


class Series:
    """A number or array with its derivative along one parameter; nests inside `Dual` for second derivatives.

    >>> x = Series(3.0, 1.0)
    >>> (1 / (x * x)).slope * 27
    -2.0
    """

    __slots__ = ("slope", "value")
    __array_ufunc__ = None

    def __init__(self, value: Any, slope: Any) -> None:
        self.value = value
        self.slope = slope

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Series):
            return Series(self.value + other.value, self.slope + other.slope)
        return NotImplemented if isinstance(other, Dual) else Series(self.value + other, self.slope)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Dual) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Series):
            return Series(self.value * other.value, self.slope * other.value + other.slope * self.value)
        return NotImplemented if isinstance(other, Dual) else Series(self.value * other, self.slope * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Series):
            quotient = self.value / other.value
            return Series(quotient, (self.slope - other.slope * quotient) / other.value)
        return NotImplemented if isinstance(other, Dual) else Series(self.value / other, self.slope / other)

    def __rtruediv__(self, other: Any) -> Any:
        quotient = other / self.value
        return Series(quotient, -self.slope * quotient / self.value)
