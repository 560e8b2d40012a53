"""Values of an expression's symbols, real or complex, exact at the door, broadcast together."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real, read_real

_SHORT = 128  # bits of a number that suffice for a sign, as a numerator or denominator or rounded


@dataclass(frozen=True)
class Number:
    """A real or complex number, known to any precision."""

    real: Real
    imag: Real | None = None

    def at(self, precision: int) -> Any:
        """Return an mpf or mpc of the local context of `precision` bits."""
        if self.imag is None:
            return self.real.mpf(precision)
        return local_context(precision).mpc(self.real.mpf(precision), self.imag.mpf(precision))

    @property
    def text(self) -> str:
        """Canonical text: equal texts mean equal numbers."""
        return self.real.text if self.imag is None else f"{self.real.text} + i {self.imag.text}"

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag) if self.imag is not None else 0.0)

    def conjugate(self) -> Number:
        """Return the complex conjugate."""
        return self if self.imag is None else Number(self.real, _Negative(self.imag))


@dataclass(frozen=True)
class _Negative:
    value: Real

    @property
    def text(self) -> str:
        return f"-({self.value.text})"

    @property
    def rational(self) -> Any:
        return None if self.value.rational is None else -self.value.rational

    def __float__(self) -> float:
        return -float(self.value)

    def mpf(self, precision: int) -> Any:
        return -self.value.mpf(precision)


@dataclass(frozen=True)
class BallReal:
    """A real number known to lie in a ball, and no better; a start is computed at its middle."""

    ball: Ball
    rational: None = None

    @property
    def text(self) -> str:
        """The two ends."""
        return repr(self.ball)

    def __float__(self) -> float:
        return float(self.ball.mid)

    def mpf(self, precision: int) -> Any:
        """Return the middle."""
        return local_context(precision).convert(self.ball.mid)

    def enclosure(self, digits: int) -> Ball:
        """Return the ball, whatever `digits`."""
        return self.ball


def read_number(value: Any, name: str, balls: bool = False) -> Number:
    """Read one number at the door; complex ones by their real and imaginary parts, and balls where they may stand.

    >>> complex(read_number(1j, "z"))
    1j
    """
    if isinstance(value, Number):
        return value
    if isinstance(value, Ball):
        if not balls:
            raise ValueError(f"{name}: got the ball {value}; allowed: a number (certify takes balls)")
        return Number(BallReal(value))
    parts: tuple[Any, Any] | None = None
    if isinstance(value, sympy.Basic):
        if isinstance(value, sympy.Expr) and not value.free_symbols and value.is_real is not True:
            parts = value.as_real_imag()
    elif isinstance(value, (complex, np.complexfloating)) or hasattr(value, "_mpc_"):
        parts = value.real, value.imag
    if parts is None:
        return Number(read_real(value, name))
    real, imag = (read_real(part, name) for part in parts)
    return Number(real, imag if imag.mpf(53) else None)


def read_points(
    values: Mapping[Any, Any], known: Mapping[str, Any], balls: bool = False
) -> tuple[tuple[int, ...], list[dict[Any, Number]]]:
    """Read ``{symbol or name: number or array}`` for the symbols ``known`` by name; ``balls`` lets `Ball`s in.

    Returns
    -------
    (shape, one mapping of symbols to numbers for every point of the broadcast grid)

    Raises
    ------
    ValueError
        For an unknown symbol, or shapes that do not broadcast.
    TypeError
        If `values` is no mapping.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"values: got {values!r}; allowed: a mapping of symbols to numbers")
    arrays: dict[Any, np.ndarray] = {}
    for key, value in values.items():
        name = str(key)
        if name not in known:
            raise ValueError(f"values: got {name}; allowed: {', '.join(sorted(known)) or '(no symbols)'}")
        if isinstance(value, (list, tuple, np.ndarray)):
            entries = np.asarray(value, dtype=object)
        else:
            entries = np.empty((), dtype=object)
            entries[()] = value
        numbers = np.empty(entries.shape, dtype=object)
        for index, entry in np.ndenumerate(entries):
            numbers[index] = read_number(entry, name, balls)
        arrays[known[name]] = numbers
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{symbol} {array.shape}" for symbol, array in arrays.items())
        raise ValueError(f"values: shapes do not broadcast together: {shapes}") from None
    broadcast: dict[Any, Any] = {symbol: np.broadcast_to(array, shape) for symbol, array in arrays.items()}
    points = [{symbol: array[index] for symbol, array in broadcast.items()} for index in np.ndindex(*shape)]
    return shape, points


def require_complete(point: Mapping[Any, Any], needed: Sequence[Any], what: str = "values") -> None:
    """Raise a ValueError naming the symbols that have no value."""
    missing = [symbol for symbol in needed if symbol not in point]
    if missing:
        raise ValueError(f"{what}: no value for {', '.join(map(str, missing))}")


def evaluate(expression: Any, point: Mapping[Any, Number]) -> complex:
    """Return the double value of a small SymPy expression at a point; beyond their range the smallest, the largest.

    So a sign is that of the value, whatever its size.
    """
    expression = sympy.sympify(expression)
    free = expression.free_symbols
    value = expression.xreplace({symbol: _symbolic(number) for symbol, number in point.items() if symbol in free})
    real, imag = (_clipped(part) for part in value.evalf(17).as_real_imag())
    return complex(real, 0.0 if abs(imag) <= 1e-15 * abs(real) else imag)


def _symbolic(number: Number) -> sympy.Expr:
    """Return a number for SymPy, exact where that is short."""
    parts = [sympy.Integer(0) if part is None else _real_symbolic(part) for part in (number.real, number.imag)]
    return parts[0] + sympy.I * parts[1]


def _real_symbolic(real: Real) -> sympy.Expr:
    exact = real.rational
    if exact is not None and max(exact.numerator.bit_length(), exact.denominator.bit_length()) <= _SHORT:
        return sympy.Rational(exact.numerator, exact.denominator)
    return sympy.Float._new(real.mpf(_SHORT)._mpf_, _SHORT)


def _clipped(value: sympy.Expr) -> float:
    double = float(value)
    if value == 0 or 0 < abs(double) < math.inf:
        return double
    size = sys.float_info.max if double else math.ulp(0.0)
    return size if value > 0 else -size


def results(shape: tuple[int, ...], entries: Iterator[Any], digits: int | None) -> Any:
    """Return a scalar for a scalar grid, else an array."""
    flat = list(entries)
    if shape == ():
        return flat[0]
    if digits is None:
        return np.array(flat).reshape(shape)
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)
