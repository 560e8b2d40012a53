"""Dual numbers: a value with its derivatives along a few directions, over any number type."""

from __future__ import annotations

from typing import Any

import numpy as np


class Dual:
    """Arrays with their gradients: forward differentiation of whatever arithmetic they pass through.

    Parameters
    ----------
    value : array of shape (N,)
    gradient : array of shape (directions, N)

    Plain arrays and numbers mix in as constants.

    >>> x = Dual(np.array([3.0]), np.array([[1.0], [0.0]]))
    >>> y = Dual(np.array([2.0]), np.array([[0.0], [1.0]]))
    >>> (x * y + 1).value, (x / y).gradient.tolist()
    (array([7.]), [[0.5], [-0.75]])
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


class ScalarDual:
    """A single number (float, mpf, arb) with its derivatives along four directions, written out: faster than arrays.

    >>> x = ScalarDual(3.0, (1.0, 0.0, 0.0, 0.0))
    >>> y = ScalarDual(2.0, (0.0, 1.0, 0.0, 0.0))
    >>> (x * y + 1).value, (x / y).gradient
    (7.0, (0.5, -0.75, 0.0, 0.0))
    """

    __slots__ = ("gradient", "value")

    def __init__(self, value: Any, gradient: tuple[Any, Any, Any, Any]) -> None:
        self.value = value
        self.gradient = gradient

    def __add__(self, other: Any) -> ScalarDual:
        if isinstance(other, ScalarDual):
            (p, q, r, s), (t, u, v, w) = self.gradient, other.gradient
            return ScalarDual(self.value + other.value, (p + t, q + u, r + v, s + w))
        return ScalarDual(self.value + other, self.gradient)

    __radd__ = __add__

    def __neg__(self) -> ScalarDual:
        p, q, r, s = self.gradient
        return ScalarDual(-self.value, (-p, -q, -r, -s))

    def __sub__(self, other: Any) -> ScalarDual:
        if isinstance(other, ScalarDual):
            (p, q, r, s), (t, u, v, w) = self.gradient, other.gradient
            return ScalarDual(self.value - other.value, (p - t, q - u, r - v, s - w))
        return ScalarDual(self.value - other, self.gradient)

    def __rsub__(self, other: Any) -> ScalarDual:
        p, q, r, s = self.gradient
        return ScalarDual(other - self.value, (-p, -q, -r, -s))

    def __mul__(self, other: Any) -> ScalarDual:
        a = self.value
        p, q, r, s = self.gradient
        if isinstance(other, ScalarDual):
            b = other.value
            t, u, v, w = other.gradient
            return ScalarDual(a * b, (p * b + t * a, q * b + u * a, r * b + v * a, s * b + w * a))
        return ScalarDual(a * other, (p * other, q * other, r * other, s * other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> ScalarDual:
        if not isinstance(other, ScalarDual):  # never 1/other: an int would become a double
            p, q, r, s = self.gradient
            return ScalarDual(self.value / other, (p / other, q / other, r / other, s / other))
        inverse = 1 / other.value
        a = self.value * inverse
        (p, q, r, s), (t, u, v, w) = self.gradient, other.gradient
        return ScalarDual(
            a, ((p - t * a) * inverse, (q - u * a) * inverse, (r - v * a) * inverse, (s - w * a) * inverse)
        )

    def __rtruediv__(self, other: Any) -> ScalarDual:
        inverse = 1 / self.value
        a = other / self.value
        p, q, r, s = self.gradient
        scale = -(a * inverse)
        return ScalarDual(a, (p * scale, q * scale, r * scale, s * scale))


def seeds(values: tuple[Any, ...], scales: tuple[Any, ...]) -> tuple[Dual, ...]:
    """Return arrays as independent variables: the i-th has the derivative scales[i] along direction i.

    A scale equal to the value gives derivatives with respect to the logarithm.
    """
    variables = []
    for index, (value, scale) in enumerate(zip(values, scales, strict=True)):
        gradient = np.zeros((len(values), *value.shape))
        gradient[index] = scale
        variables.append(Dual(value, gradient))
    return tuple(variables)


def scalar_seeds(values: tuple[Any, Any, Any, Any], scales: tuple[Any, Any, Any, Any]) -> tuple[ScalarDual, ...]:
    """Return four numbers as independent variables, as `seeds` does."""
    nothing = scales[0] - scales[0]
    first, second, third, fourth = scales
    units = (
        (first, nothing, nothing, nothing),
        (nothing, second, nothing, nothing),
        (nothing, nothing, third, nothing),
        (nothing, nothing, nothing, fourth),
    )
    return tuple(ScalarDual(value, unit) for value, unit in zip(values, units, strict=True))
