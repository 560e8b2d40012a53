"""Numbers computed from other numbers, without losing what is exact and without cancellation in double."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import BITS_PER_DIGIT, bits
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.core.numbers import ComputedReal, RationalReal, Real, SymbolicReal, read_real
from hermite_rmt.core.parameter import Parameter, broadcast_shape

# Floats a1 and nu this close mean nu = a1^2: the square of a double is rounded once, each factor carries its own
_EQUAL_ULPS = 4
_SPLITTER = 2.0**27 + 1


def combine(function: Callable[..., Any], *operands: Real, text: str) -> Real:
    """Return the real function(*operands), for a polynomial `function` written with +, - and *.

    Exact where the operands are rational or symbolic; otherwise evaluated on demand with as many guard digits as
    cancellation costs. A difference that stays below 10^-(2 digits + 50) of its largest operand is taken as zero.

    >>> combine(lambda nu, a1: nu - a1**2, read_real("1/4", "nu"), read_real("1/2", "a1"), text="eta").rational
    Fraction(0, 1)
    """
    if all(operand.rational is not None for operand in operands):
        return RationalReal(Fraction(function(*(operand.rational for operand in operands))))
    if all(isinstance(operand, (RationalReal, SymbolicReal)) for operand in operands):
        exact = sympy.expand(function(*map(exact_expression, operands)))
        return read_real(sympy.Integer(0) if exact.equals(0) else exact, text)

    combination = _Combination(function, operands, f"{text}({', '.join(operand.text for operand in operands)})")
    return ComputedReal(combination, combination.text, combination.enclose)


@dataclass(frozen=True)
class _Combination:
    """What a combined real is computed by; it pickles if its function does."""

    function: Callable[..., Any]
    operands: tuple[Real, ...]
    text: str

    def __call__(self, digits: int) -> Any:
        target = bits(digits)
        precision = target + 32
        while True:
            values = [operand.mpf(precision) for operand in self.operands]
            result = self.function(*values)
            scale = max((value.context.mag(value) for value in values if value), default=0)
            lost = scale - result.context.mag(result) if result else precision
            if precision - max(lost, 0) >= target + 16:
                return result
            if precision > 2 * target + 170:
                return result.context.zero
            precision = target + 32 + min(max(lost, 0), target + 200)

    def enclose(self, digits: int) -> Ball:
        """Return a ball of relative radius at most 10^-digits.

        Where the number may be 0, the ball lies within 10^-(2 digits) of 0 against the largest operand instead.
        """
        target = bits(digits)
        for precision in (target + 32, 2 * target + 200):
            with flint_precision(precision):
                operands = [arb_of(operand, precision) for operand in self.operands]
                result = self.function(*operands)
                least = max(abs(operand).abs_upper() for operand in operands) * _power_of_two(-2 * target)
                if result.rel_accuracy_bits() >= target + 2 or result.abs_upper() <= least:
                    return Ball.of_arb(result, digits)
        raise ValueError(f"certified: {self.text} is not enclosed to {digits} digits with {precision} bits")


def _power_of_two(exponent: int) -> Any:
    flint = flint_module()
    assert flint is not None
    return flint.arb((1, exponent))


def exact_expression(real: Real) -> sympy.Expr:
    """Return an exact number as a SymPy expression.

    Raises
    ------
    ValueError
        If the number is only known by a procedure.
    """
    if isinstance(real, SymbolicReal):
        return real.expression
    if real.rational is None:
        raise ValueError(f"got {real.text}, a computed number; allowed: rational numbers and exact SymPy reals")
    return sympy.Rational(real.rational.numerator, real.rational.denominator)


def arb_of(real: Any, precision: int) -> Any:
    """Return a python-flint `arb` that contains the number, at `precision` bits (inside `flint_precision`).

    Raises
    ------
    ValueError
        If the number cannot be enclosed.
    """
    flint = flint_module()
    assert flint is not None
    if real.rational is not None:
        return flint.arb(flint.fmpq(real.rational.numerator, real.rational.denominator))
    return real.enclosure(math.ceil(precision / BITS_PER_DIGIT)).arb()


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
        self.shape = broadcast_shape(operands)
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

    def __init__(self, a1: Parameter, nu: Parameter, name: str = "eta") -> None:
        super().__init__(name, (a1, nu), _gap, self._gap_of_doubles)
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
                zero = Parameter(0, self.name).reals.item()
                for index in np.argwhere(np.broadcast_to(gap == 0, self.shape)):
                    exact[tuple(index)] = zero
            self._reals = exact
        return self._reals


def _gap(a1: Any, nu: Any) -> Any:
    return nu - a1 * a1


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
