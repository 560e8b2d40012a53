"""The Marchenko-Pastur law: density, distribution function with its atom, Stieltjes transform, moments."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import mpmath
import numpy as np

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.known_complex import KnownComplex
from hermite_rmt.core.numbers import KnownDigits, RationalReal, Real, read_digits, read_real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.theory.engine.values import read_number

_GUARD_BITS = 40


class MarchenkoPastur:
    """The limiting spectral law of X^T X / p, X of shape p x n with i.i.d. standard entries (Marchenko, Pastur 1967).

    Parameters
    ----------
    ratio : dimension / samples, positive. X^T X / p is n x n, an average over p samples: its ratio is n/p = 1/c.

    Raises
    ------
    ValueError
        If `ratio` is not a positive number.

    >>> law = MarchenkoPastur(ratio=2)
    >>> law.atom(), law.cdf(0.05), law.moment(2)
    (0.5, 0.5, 3.0)
    """

    def __init__(self, ratio: Any) -> None:
        parameter = Parameter(ratio, "ratio").require_positive()
        if parameter.shape:
            raise ValueError(f"ratio: got an array of shape {parameter.shape}; allowed: one positive number")
        self._ratio: Real = parameter.reals.item()

    @property
    def ratio(self) -> float:
        """Dimension over samples."""
        return float(self._ratio)

    def atom(self, digits: int | None = None) -> Any:
        """Return the mass at zero, max(0, 1 - 1/ratio)."""
        return self._publish(lambda ctx, ratio: max(ctx.zero, 1 - 1 / ratio), digits)

    def support(self, digits: int | None = None) -> tuple[Any, Any]:
        """Return the edges (1 - sqrt(ratio))^2 and (1 + sqrt(ratio))^2 of the continuous part.

        >>> MarchenkoPastur("1/4").support()
        (0.25, 2.25)
        """
        return (
            self._publish(lambda ctx, ratio: _edges(ctx, ratio)[0], digits),
            self._publish(lambda ctx, ratio: _edges(ctx, ratio)[1], digits),
        )

    def moment(self, order: int, digits: int | None = None) -> Any:
        """Return the moment of `order` (a whole number >= 0), a Narayana polynomial in the ratio.

        >>> MarchenkoPastur(1).moment(4)
        14.0
        """
        if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
            raise ValueError(f"order: got {order!r}; allowed: a whole number, at least 0")
        k = int(order)
        coefficients = [Fraction(comb(k, j) * comb(k - 1, j), j + 1) for j in range(k)] or [Fraction(1)]
        if self._ratio.rational is not None:
            exact = RationalReal(sum((a * self._ratio.rational**j for j, a in enumerate(coefficients)), Fraction(0)))
            return self._publish(lambda ctx, ratio: exact.mpf(ctx.prec), digits)
        integers = [int(coefficient) for coefficient in coefficients]  # Narayana numbers are integers
        return self._publish(lambda ctx, ratio: ctx.polyval(integers[::-1], ratio), digits)

    def pdf(self, x: Any, digits: int | None = None) -> Any:
        """Return the density of the continuous part at `x` (the atom is not in it; `atom` gives its mass).

        The density is 0 outside the support; at x = 0 it is infinite for ratio = 1 and 0 otherwise.
        """
        return self._map(self._pdf, self._pdf_double, x, digits)

    def cdf(self, x: Any, digits: int | None = None) -> Any:
        """Return the mass of (-inf, x], the atom at zero included."""
        return self._map(self._cdf, self._cdf_double, x, digits)

    def stieltjes(self, z: Any, digits: int | None = None) -> Any:
        """Return the Stieltjes transform, the integral of 1/(x - z), on the branch that decays as -1/z.

        Parameters
        ----------
        z : real or complex, scalar or array, off the support and off the atom (the edges themselves are allowed
            unless the law has an atom or an infinite density there)

        Raises
        ------
        ValueError
            If z is real and inside the support, or at a point where the transform is infinite.

        >>> MarchenkoPastur("1/4").stieltjes("9/4", digits=20)
        mpf('-1.3333333333333333333')
        """
        count = read_digits(digits)
        array = isinstance(z, (list, tuple)) or np.ndim(z) > 0
        flat = np.asarray(z, dtype=object).reshape(-1) if array else [z]
        results = [self._stieltjes(point, count) for point in flat]
        if not array:
            return results[0]
        if count is None:
            dtype = complex if any(isinstance(result, complex) for result in results) else float
            return np.array(results, dtype=dtype).reshape(np.shape(z))
        collected = np.empty(len(results), dtype=object)
        collected[:] = results
        return collected.reshape(np.shape(z))

    def __repr__(self) -> str:
        ratio = self._ratio.rational
        text = self._ratio.text if ratio is None or ratio.denominator == 1 else repr(self._ratio.text)
        return f"MarchenkoPastur(ratio={text})"

    def _repr_latex_(self) -> str:
        lower, upper = self.support()
        density = rf"\frac{{\sqrt{{({upper:.6g} - x)(x - {lower:.6g})}}}}{{2 \pi\, {self.ratio:.6g}\, x}}"
        return rf"$$\rho(x) = {density}, \quad \text{{mass }} {self.atom():.6g} \text{{ at }} 0$$"

    def _publish(self, formula: Any, digits: int | None) -> Any:
        count = read_digits(digits)
        precision = bits(count or 17) + _GUARD_BITS
        value = formula(local_context(precision), self._ratio.mpf(precision))
        return float(value) if count is None else KnownDigits.of(value, count)

    def _map(self, formula: Any, double: Any, x: Any, digits: int | None) -> Any:
        count = read_digits(digits)
        points = Parameter(x, "x")
        if count is None:
            values = double(points.floats)
            return values if points.shape else float(values)
        results = np.empty(points.shape, dtype=object)
        for index, point in np.ndenumerate(points.reals):
            results[index] = _two_precisions(lambda p, point=point: formula(p, point), count)
        return results if points.shape else results[()]

    def _pdf(self, precision: int, point: Real) -> Any:
        ctx, ratio, x = local_context(precision), self._ratio.mpf(precision), point.mpf(precision)
        lower, upper = _edges(ctx, ratio)
        if x == 0 and ratio == 1:
            return ctx.inf
        if x <= 0 or not lower < x < upper:
            return ctx.zero
        return ctx.sqrt((upper - x) * (x - lower)) / (2 * ctx.pi * ratio * x)

    def _pdf_double(self, x: np.ndarray) -> np.ndarray:
        (lower, upper), ratio = self.support(), self.ratio
        inside = (x > 0) & (x > lower) & (x < upper)
        safe = np.where(inside, x, upper)
        density = np.sqrt((upper - safe) * (safe - lower) / safe) / (2 * np.pi * ratio * np.sqrt(safe))
        return np.where(inside, density, np.where((x == 0) & (ratio == 1), np.inf, 0.0))

    def _cdf(self, precision: int, point: Real) -> Any:
        ctx, ratio, x = local_context(precision), self._ratio.mpf(precision), point.mpf(precision)
        lower, upper = _edges(ctx, ratio)
        if x < 0:
            return ctx.zero
        atom = max(ctx.zero, 1 - 1 / ratio)
        if x <= lower:
            return atom
        if x >= upper:
            return ctx.one
        return atom + _continuous_mass(ctx, x, lower, upper, ratio)

    def _cdf_double(self, x: np.ndarray) -> np.ndarray:
        (lower, upper), ratio, atom = self.support(), self.ratio, self.atom()
        inside = np.clip(x, lower, upper)
        mass = _continuous_mass(_NumPyFunctions, inside, lower, upper, ratio)
        return np.where(x < 0, 0.0, np.where(x >= upper, 1.0, atom + np.where(x > lower, mass, 0.0)))

    def _stieltjes(self, z: Any, digits: int | None) -> Any:
        number = read_number(z, "z")
        real, imaginary = number.real, number.imag or read_real(0, "z")
        self._require_off_support(real, imaginary, z)
        value = _two_precisions(lambda precision: self._branch(precision, real, imaginary), digits or 17)
        if imaginary.rational == 0:
            return float(value.real) if digits is None else KnownDigits.of(value.real, digits)
        return complex(value) if digits is None else KnownComplex.of(value, digits)

    def _branch(self, precision: int, real: Real, imaginary: Real) -> Any:
        """Solve ratio z m^2 + (z + ratio - 1) m + 1 = 0 on the branch m ~ -1/z."""
        ctx, ratio = local_context(precision), self._ratio.mpf(precision)
        z = ctx.mpc(real.mpf(precision), imaginary.mpf(precision))
        lower, upper = _edges(ctx, ratio)
        # principal roots of both factors: their product behaves as z at infinity and is cut along the support alone
        root = ctx.sqrt(z - lower) * ctx.sqrt(z - upper)
        linear = z + ratio - 1
        if abs(linear + root) >= abs(linear - root):
            return -2 / (linear + root)
        return (root - linear) / (2 * ratio * z)

    def _require_off_support(self, real: Real, imaginary: Real, z: Any) -> None:
        if imaginary.rational != 0:
            return
        precision = 400
        ctx, ratio, x = local_context(precision), self._ratio.mpf(precision), real.mpf(precision)
        lower, upper = _edges(ctx, ratio)
        if lower < x < upper or (x == 0 and ratio >= 1):
            allowed = f"a number off the support [{float(lower):.17g}, {float(upper):.17g}]"
            atom = " and off the atom at 0" if ratio > 1 else ""
            raise ValueError(f"z: got {z}; allowed: {allowed}{atom} (add an imaginary part for a boundary value)")


class _NumPyFunctions:
    """NumPy under the names that mpmath contexts use."""

    sqrt, atan2, pi = staticmethod(np.sqrt), staticmethod(np.arctan2), np.pi


def _continuous_mass(functions: Any, x: Any, lower: Any, upper: Any, ratio: Any) -> Any:
    """Return the mass of the continuous part in [lower, x], the elementary antiderivative of the density."""
    root = functions.sqrt((upper - x) * (x - lower))
    first = 2 * functions.atan2(functions.sqrt(x - lower), functions.sqrt(upper - x))
    second = 2 * functions.atan2(functions.sqrt(upper * (x - lower)), functions.sqrt(lower * (upper - x)))
    return (root + (1 + ratio) * first - abs(1 - ratio) * second) / (2 * functions.pi * ratio)


def _edges(ctx: Any, ratio: Any) -> tuple[Any, Any]:
    root = ctx.sqrt(ratio)
    # (1 - ratio)/(1 + root) keeps the digits of 1 - sqrt(ratio) near ratio = 1
    return ((1 - ratio) / (1 + root)) ** 2, (1 + root) ** 2


def _two_precisions(formula: Any, digits: int) -> Any:
    """Return formula(precision) once two precisions agree to `digits` digits."""
    target = bits(digits)
    precision = target + _GUARD_BITS
    while True:
        first, second = formula(precision), formula(precision + target)
        if first == second or abs(first - second) <= abs(second) * mpmath.mpf(2) ** (-target - 2):
            return second if hasattr(second, "imag") and second.imag else KnownDigits.of(second.real, digits)
        if precision > 64 * target + 4000:
            raise ArithmeticError(f"digits: got {digits}; the value cancels beyond {precision} bits")
        precision *= 2
