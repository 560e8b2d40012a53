"""HermiteExpansion: f = sum_k a_k h_k in the orthonormal Hermite basis, by recurrences, never in monomials."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, read_real
from hermite_rmt.hermite.recurrence import polynomial_of_x, scaled_hermite

if TYPE_CHECKING:
    from hermite_rmt.hermite.nonlinearity import Nonlinearity

_PRECISION = 53


_SHOWN = 10  # terms that are printed


@dataclass(frozen=True)
class HermiteExpansion:
    """The Hermite expansion of a function up to an order K.

    Attributes
    ----------
    coefficients : a_0, ..., a_K with respect to h_k = He_k / sqrt(k!), as floats or mpf
    nu : E f^2 = sum of a_k^2 over all k, or None where it is infinite or not known

    Derivative, product and scaling treat the partial sum, which is a polynomial; for the polynomial itself they are
    exact.

    >>> cube = HermiteExpansion.of_coefficients([0, 3, 0, 6**0.5])  # x^3 = 3 h_1 + sqrt(6) h_3
    >>> round(cube(2.0), 12), cube.parity
    (8.0, 'odd')
    """

    coefficients: tuple[Any, ...]
    nu: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", tuple(self.coefficients))

    @classmethod
    def of(cls, nonlinearity: Nonlinearity, order: int, digits: int | None = None) -> HermiteExpansion:
        """Return the expansion of a nonlinearity; nu is None where f is not square integrable."""
        coefficients = tuple(nonlinearity.coefficients(order, digits=digits))
        try:
            nu = nonlinearity.nu(digits=digits)
        except ValueError:  # the a_k exist and E f^2 does not
            nu = None
        return cls(coefficients, nu)

    @classmethod
    def of_coefficients(cls, coefficients: Iterable[Any], nu: Any = None) -> HermiteExpansion:
        """Return the expansion with these coefficients; without `nu` it is the polynomial they make.

        Raises
        ------
        ValueError
            If there are none, or one is not a finite real number.
        """
        values = tuple(coefficients)
        if not values:
            raise ValueError("coefficients: got none; allowed: at least a_0")
        for value in values:
            read_real(value, "coefficients")
        made = cls(values, nu)
        return made if nu is not None else cls(values, made._published(_total(made._squares)))

    @cached_property
    def _digits(self) -> int | None:
        known = [value.digits for value in self.coefficients if isinstance(value, KnownDigits)]
        return min(known) if known else None

    @cached_property
    def _context(self) -> Any:
        return None if self._digits is None else local_context(bits(self._digits) + 10)

    def _lift(self, value: Any) -> Any:
        """Return a number in the arithmetic of this expansion: doubles, or a local context of its digits."""
        return float(value) if self._context is None else self._context.convert(value)

    @cached_property
    def _numbers(self) -> tuple[Any, ...]:
        return tuple(map(self._lift, self.coefficients))

    def _published(self, value: Any) -> Any:
        return value if self._digits is None else KnownDigits.of(value, self._digits)

    def _made_of(self, values: Iterable[Any], nu: Any = None) -> HermiteExpansion:
        published = [self._published(value) for value in values]
        return HermiteExpansion.of_coefficients(published, None if nu is None else self._published(nu))

    @property
    def order(self) -> int:
        """The highest degree K."""
        return len(self.coefficients) - 1

    @property
    def parity(self) -> str | None:
        """'even' or 'odd' where the coefficients of the other parity are exactly zero, else None."""
        odd = any(self.coefficients[1::2])
        even = any(self.coefficients[::2])
        return None if odd and even else "odd" if odd else "even"

    @property
    def energies(self) -> tuple[Any, ...]:
        """The spectrum a_k^2, k = 0..K."""
        return tuple(map(self._published, self._squares))

    @cached_property
    def _squares(self) -> list[Any]:
        return [value * value for value in self._numbers]

    def _beyond(self, kept: Iterable[int]) -> Any:
        """Return nu less the squares of some coefficients; 0 where rounding made it negative."""
        if self.nu is None:
            return None
        rest = self._lift(self.nu) - _total(self._squares[k] for k in kept if k <= self.order)
        return self._published(rest if rest > 0 else rest * 0)

    @property
    def nonlinear_energy(self) -> Any:
        """Return sum over all k >= 2 of a_k^2, as nu - a_0^2 - a_1^2; None where nu is."""
        return self._beyond((0, 1))

    @property
    def partial_nonlinear_energy(self) -> Any:
        """Return sum over 2 <= k <= K of a_k^2: at most `tail_energy` below `nonlinear_energy`."""
        return self._published(_total(self._squares[2:]))

    @property
    def tail_energy(self) -> Any:
        """Return sum over k > K of a_k^2 = E (f - partial sum)^2, from nu; None where nu is."""
        return self._beyond(range(self.order + 1))

    def __call__(self, x: Any, order: int | None = None) -> Any:
        """Return the partial sum of degree `order` (default K) at x.

        Parameters
        ----------
        x : float or array (a float or array of floats is returned, inf beyond what they hold), or mpf (an mpf of its
            precision is returned)
        order : degree of the partial sum, at most K

        Raises
        ------
        ValueError
            If `order` is not in 0..K.
        """
        last = self.order if order is None else order
        if not 0 <= last <= self.order:
            raise ValueError(f"order: got {order!r}; allowed: 0 to {self.order}")
        if hasattr(x, "_mpf_"):
            return self._at_mpf(x, last)
        points = np.asarray(x, dtype=float)
        total = np.zeros_like(points)
        exponent = np.zeros(points.shape, dtype=int)
        for k, (values, shift) in zip(range(last + 1), scaled_hermite(points), strict=False):
            total = np.ldexp(total, exponent - shift) + float(self.coefficients[k]) * values
            exponent = shift
        with np.errstate(over="ignore"):
            result = np.ldexp(total, exponent)
        return float(result) if np.ndim(x) == 0 else result

    def partial_sums(self, x: Any) -> np.ndarray:
        """Return all partial sums at x in double precision: array (K + 1, *shape of x)."""
        points = np.asarray(x, dtype=float)
        terms = [
            np.ldexp(float(a) * values, shift)
            for a, (values, shift) in zip(self.coefficients, scaled_hermite(points), strict=False)
        ]
        return np.cumsum(np.stack(terms), axis=0)

    def _at_mpf(self, x: Any, last: int) -> Any:
        context = local_context(x.context.prec)
        x = context.convert(x)
        previous, current, total = context.zero, context.one, context.zero
        for k in range(last + 1):
            total += context.convert(self.coefficients[k]) * current
            previous, current = current, (x * current - context.sqrt(k) * previous) / context.sqrt(k + 1)
        return total

    def derivative(self) -> HermiteExpansion:
        """Return the expansion of f': h_k' = sqrt(k) h_(k-1). Its nu is that of the partial sum."""
        roots, numbers = self._roots(self.order), self._numbers
        return self._made_of([roots[k] * numbers[k] for k in range(1, self.order + 1)] or [numbers[0] * 0])

    def __mul__(self, other: Any) -> HermiteExpansion:
        """Return the product with a number, or of the two partial sums (of order K + L)."""
        if not isinstance(other, HermiteExpansion):
            factor = self._lift(other)
            nu = None if self.nu is None else self._published(factor * factor * self._lift(self.nu))
            return HermiteExpansion(tuple(self._published(factor * a) for a in self._numbers), nu)
        padded = [*self._numbers, *[self._numbers[0] * 0] * other.order]
        factors = list(map(self._lift, other.coefficients))
        return self._made_of(polynomial_of_x(factors, padded, self._lift(1), self._roots(len(padded))))

    __rmul__ = __mul__

    def __add__(self, other: HermiteExpansion) -> HermiteExpansion:
        """Return the sum of the two partial sums."""
        length = max(self.order, other.order) + 1
        a, b = (
            [*map(self._lift, part.coefficients), *[self._lift(0)] * (length - 1 - part.order)]
            for part in (self, other)
        )
        return self._made_of([p + q for p, q in zip(a, b, strict=True)])

    def scaled(self, factor: Any) -> HermiteExpansion:
        """Return the expansion of x -> (partial sum)(factor * x)."""
        start = [self._lift(1), *[self._lift(0)] * self.order]
        roots = self._roots(self.order + 1)
        return self._made_of(polynomial_of_x(self._numbers, start, self._lift(factor), roots))

    def dual(self, rho: Any) -> Any:
        """Return the dual kernel sum_k a_k^2 rho^k = E f(u) f(v), u, v Gaussian of correlation rho, up to order K.

        The rest is at most `tail_energy` |rho|^(K+1).

        Raises
        ------
        ValueError
            If |rho| > 1.
        """
        if not np.all(np.abs(rho) <= 1):
            raise ValueError(f"rho: got {rho!r}; allowed: a correlation, -1 to 1")
        if self._context is not None and np.ndim(rho) == 0:
            rho = self._lift(rho)
            return self._published(_horner(self._squares, rho))
        return _horner(list(map(float, self._squares)), rho)

    def _roots(self, count: int) -> list[Any]:
        """Return sqrt(k), k = 0..count, in the arithmetic of the coefficients."""
        root = math.sqrt if self._context is None else self._context.sqrt
        return [root(k) for k in range(count + 1)]

    def __repr__(self) -> str:
        nu = "" if self.nu is None else f", nu={_typed(self.nu)}"
        shown = ", ".join(map(_typed, self.coefficients[:_SHOWN]))
        if self.order < _SHOWN:
            return f"HermiteExpansion(({shown}{'' if self.order else ','}){nu})"
        return f"<HermiteExpansion of order {self.order}: ({shown}, ...){nu}>"

    def _repr_latex_(self) -> str:
        terms = [
            _latex_number(float(value)) + (f"\\, h_{{{k}}}(x)" if k else "")
            for k, value in enumerate(self.coefficients[:_SHOWN])
            if value
        ]
        more = r" + \cdots" if self.order >= _SHOWN else ""
        return f"$f(x) \\approx {' '.join(terms).lstrip('+') or '0'}{more}$"


def _typed(value: Any) -> str:
    """Return a coefficient as it may be typed again."""
    return repr(float(value)) if isinstance(value, float) else repr(value)


def _latex_number(value: float) -> str:
    mantissa, _, exponent = f"{value:+.6g}".partition("e")
    return mantissa + (f"\\cdot 10^{{{int(exponent)}}}" if exponent else "")


def _total(values: Iterable[Any]) -> Any:
    parts = list(values)
    return math.fsum(parts) if all(isinstance(part, (int, float)) for part in parts) else sum(parts)


def _horner(coefficients: list[Any], x: Any) -> Any:
    total = x * 0
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total
