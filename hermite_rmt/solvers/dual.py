"""Dual numbers: a value with its derivatives along a few directions, over any number type."""

from __future__ import annotations

from typing import Any

import numpy as np


class Dual:
    """A value and its gradient: forward differentiation of whatever arithmetic it passes through.

    Parameters
    ----------
    value : a number or an array of shape (N,)
    gradient : array of shape (directions,) or (directions, N); of objects where the numbers are mpf or arb

    Plain numbers and arrays mix in as constants.

    >>> x = Dual(3.0, np.array([1.0, 0.0]))
    >>> y = Dual(2.0, np.array([0.0, 1.0]))
    >>> (x * y + 1).value, (x / y).gradient.tolist()
    (7.0, [0.5, -0.75])
    """

    __slots__ = ("gradient", "value")
    __array_ufunc__ = None  # an array on the left leaves the operation to this class

    def __init__(self, value: Any, gradient: Any) -> None:
        self.value = value
        self.gradient = gradient

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.gradient + other.gradient)
        return Dual(self.value + other, self.gradient)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.gradient)

    def __sub__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value - other.value, self.gradient - other.gradient)
        return Dual(self.value - other, self.gradient)

    def __rsub__(self, other: Any) -> Dual:
        return Dual(other - self.value, -self.gradient)

    def __mul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            gradient = self.gradient * other.value
            gradient += other.gradient * self.value
            return Dual(self.value * other.value, gradient)
        return Dual(self.value * other, self.gradient * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            inverse = 1 / other.value
            value = self.value * inverse
            gradient = self.gradient - other.gradient * value
            gradient *= inverse
            return Dual(value, gradient)
        inverse = 1 / other
        return Dual(self.value * inverse, self.gradient * inverse)

    def __rtruediv__(self, other: Any) -> Dual:
        inverse = 1 / self.value
        value = other * inverse
        return Dual(value, self.gradient * (-(value * inverse)))


def seeds(values: tuple[Any, ...], scales: tuple[Any, ...]) -> tuple[Dual, ...]:
    """Return the independent variables: the derivative of the i-th one along direction i is scales[i], 0 along others.

    A scale equal to the value gives derivatives with respect to the logarithm.
    """
    shape = np.shape(values[0]) if isinstance(values[0], np.ndarray) else ()
    dtype = float if isinstance(values[0], (float, np.ndarray)) else object
    variables = []
    for index, (value, scale) in enumerate(zip(values, scales, strict=True)):
        gradient = np.zeros((len(values), *shape), dtype=dtype)
        gradient[index] = scale
        variables.append(Dual(value, gradient))
    return tuple(variables)
