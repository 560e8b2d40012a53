"""Parameters computed from other parameters, without losing what is exact and without cancellation in double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hermite_rmt.core.numbers import Parameter, combine

# Floats a1 and nu this close mean nu = a1^2: the square of a double is rounded once, each factor carries its own
_EQUAL_ULPS = 4
_SPLITTER = 2.0**27 + 1


class Derived(Parameter):
    """A polynomial `function` of other parameters.

    Evaluated exactly where the operands are exact. Operands given as large arrays of doubles stay arrays of doubles:
    `double` is then the function on floats, one that does not cancel.
    """

    def __init__(
        self,
        name: str,
        operands: tuple[Parameter, ...],
        function: Callable[..., Any],
        double: Callable[..., np.ndarray],
    ) -> None:
        self.name = name
        self.shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        self.binary = any(operand.binary for operand in operands)
        self._operands = operands
        self._function = function
        self._double = double
        self._floats = None
        self._reals = None

    @property
    def floats(self) -> np.ndarray:
        """The values as doubles."""
        if self._floats is None:
            if any(operand.shape and not operand.has_reals for operand in self._operands):
                values = self._double(*(operand.floats for operand in self._operands))
                self._floats = np.array(np.broadcast_to(values, self.shape), dtype=float)
            else:
                self._floats = np.asarray(np.frompyfunc(float, 1, 1)(self.reals), dtype=float)
        return self._floats

    @property
    def reals(self) -> np.ndarray:
        """The values as an object array of `Real`."""
        if self._reals is None:
            self._reals = np.empty(self.shape, dtype=object)
            operands: list[Any] = [np.broadcast_to(operand.reals, self.shape) for operand in self._operands]
            for index in np.ndindex(self.shape):
                entries = [operand[index] for operand in operands]
                self._reals[index] = combine(self._function, *entries, text=self.name)
        return self._reals


class EnergyGap(Derived):
    """eta = nu - a1^2 = sum_{k>=2} a_k^2, the energy of the nonlinear part: zero exactly when f is linear.

    Doubles with |nu - a1^2| <= 4 ulp(nu) mean nu = a1^2; exact numbers are compared exactly.
    """

    def __init__(self, a1: Parameter, nu: Parameter) -> None:
        super().__init__("eta", (a1, nu), lambda a, n: n - a * a, self._gap_of_doubles)
        self._a1, self._nu = a1, nu

    @staticmethod
    def _gap_of_doubles(a1: np.ndarray, nu: np.ndarray) -> np.ndarray:
        high, low = exact_square(a1)
        gap = (nu - high) - low
        return np.where(np.abs(gap) <= _EQUAL_ULPS * np.spacing(nu), 0.0, gap)

    @property
    def reals(self) -> np.ndarray:
        """The exact gaps, with doubles equal up to rounding counted as equal."""
        if self._reals is None:
            exact = super().reals
            if self.binary:
                gap = self._gap_of_doubles(self._a1.floats, self._nu.floats)
                zero = Parameter(0, "eta").reals.item()
                for index in np.argwhere(np.broadcast_to(gap == 0, self.shape)):
                    exact[tuple(index)] = zero
            self._reals = exact
        return self._reals


def exact_square(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return high and low with high + low = x^2 exactly (Dekker 1971), |x| between 1e-145 and 1e150.

    >>> high, low = exact_square(np.array(1 + 2.0**-30))
    >>> float(high - 1 - 2.0**-29), float(low)
    (0.0, 8.673617379884035e-19)
    """
    high = x * x
    shifted = _SPLITTER * x
    head = shifted - (shifted - x)
    tail = x - head
    return high, ((head * head - high) + 2 * head * tail) + tail * tail
