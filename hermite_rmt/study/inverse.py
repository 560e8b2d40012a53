"""Inverse questions about attention: which nonlinearity of a given energy has the smallest error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from scipy.optimize import brentq

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.derived import exact_expression
from hermite_rmt.core.numbers import KnownDigits, Real, read_digits
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import html_table
from hermite_rmt.study.gap import one_real, within_doubles
from hermite_rmt.study.zeros import refined_zero
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.model import one_number

SCAN_POINTS = 201


@dataclass(frozen=True)
class LinearPart:
    """A first Hermite coefficient where the error is smallest nearby, its share a_1^2/nu, and the error there.

    `others` are the other local minima, the next best first.
    """

    a1: Any
    share: Any
    error: Any
    others: tuple[LinearPart, ...] = ()

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


def best_linear_part(
    nu: Any,
    c: Any,
    gamma: Any,
    *,
    overlaps: Any = None,
    diagonal: Any = 0,
    skip: Any = 0,
    digits: int | None = None,
) -> LinearPart:
    """Return the a_1 in [-sqrt(nu), sqrt(nu)] with the smallest error among all f of one energy nu = E f(xi)^2.

    A scan in the sine of an angle; each of its local minima, those at the ends included, is refined as the zero of
    dE/da_1 (`Attention.derivative`) beside it. A minimum narrower than the scan of `SCAN_POINTS` points can be
    missed. With diagonal = skip = 0 the sign of a_1 does not matter: only a_1 >= 0 is looked at.

    Parameters
    ----------
    nu, c, gamma : positive numbers from 1e-150 to 1e150: the minima are looked for in double precision
    overlaps, diagonal, skip : numbers, as for `Attention`
    digits : None for double precision, else how many digits of a1, share and error are right

    Returns
    -------
    The best `LinearPart`; its `others` are the other local minima.

    Raises
    ------
    ValueError
        If an argument is outside its domain.

    >>> best_linear_part(1, c=0.5, gamma=0.1).share
    0.0
    """
    family = _Family.read(nu, c, gamma, overlaps, diagonal, skip)
    wanted = read_digits(digits)
    minima = [
        family.part(minimum) if wanted is None else family.digits(minimum, wanted) for minimum in family.minima()
    ]
    best, *others = sorted(minima, key=lambda part: part.error)
    return replace(best, others=tuple(others))


@dataclass(frozen=True)
class _Family:
    """Attention with nu fixed, as a function of a_1."""

    nu: Real
    c: Real
    gamma: Real
    rest: Mapping[str, Any]
    even: bool

    @classmethod
    def read(cls, nu: Any, c: Any, gamma: Any, overlaps: Any, diagonal: Any, skip: Any) -> _Family:
        given = ((nu, "nu"), (c, "c"), (gamma, "gamma"))
        positive = [within_doubles(Parameter(x, name).require_positive()) for x, name in given]
        shifts = [Parameter(x, name) for x, name in ((diagonal, "diagonal"), (skip, "skip"))]
        for parameter in (*positive, *shifts):
            one_number(parameter)
        rest = {"overlaps": overlaps, "diagonal": diagonal, "skip": skip}
        energy, ratio, ridge = map(one_real, positive)
        return cls(energy, ratio, ridge, rest, all(float(p.floats) == 0 for p in shifts))

    def model(self, a1: Any) -> Attention:
        return Attention(a1=a1, nu=self.nu, **self.rest)

    def end(self) -> float:
        return float(np.sqrt(float(self.nu)))

    def slope(self, a1: Any) -> float:
        return float(self.model(a1).derivative("a1", self.c, self.gamma))

    def minima(self) -> list[float]:
        """Return the local minima of the error."""
        end = self.end()
        a1 = end * np.sin(np.linspace(0.0 if self.even else -np.pi / 2, np.pi / 2, SCAN_POINTS))
        a1[-1] = end
        errors = np.asarray(self.model(a1).error(self.c, self.gamma))
        padded = np.array([np.inf, *errors, np.inf])
        lowest = np.flatnonzero((padded[1:-1] < padded[:-2]) & (padded[1:-1] <= padded[2:]))
        found = []
        for k in lowest.tolist():
            low, high = a1[max(k - 1, 0)], a1[min(k + 1, SCAN_POINTS - 1)]
            centre = self.even and k == 0  # the error is even there
            inside = not centre and self.slope(low) < 0 < self.slope(high)
            found.append(float(brentq(self.slope, low, high, xtol=1e-15 * end)) if inside else float(a1[k]))
        return found

    def part(self, a1: float) -> LinearPart:
        share = min(a1 * a1 / float(self.nu), 1.0)
        return LinearPart(a1, share, float(self.model(a1).error(self.c, self.gamma)))

    def digits(self, a1: float, digits: int) -> LinearPart:
        """Return a minimum to many digits: 0 and the ends are exact."""
        context = local_context(bits(digits) + 20)
        if a1 == 0 or abs(a1) == self.end():
            exact = int(np.sign(a1)) * sympy.sqrt(exact_expression(self.nu))
            value, share = (context.mpf(sympy.N(x, digits + 10)) for x in (exact, abs(np.sign(a1))))
            error = self.model(exact).error(self.c, self.gamma, digits=digits)
            return LinearPart(KnownDigits.of(value, digits), KnownDigits.of(share, digits), error)

        def slope(x: Fraction, digits: int) -> Any:
            return self.model(x).derivative("a1", self.c, self.gamma, digits=digits)

        def error_at(x: Fraction, digits: int) -> Any:
            return self.model(x).error(self.c, self.gamma, digits=digits)

        value, error = refined_zero(slope, error_at, a1, abs(a1), True, digits, "a1")
        nu = self.nu.mpf(context.prec)
        return LinearPart(value, KnownDigits.of(context.mpf(value) ** 2 / nu, digits), error)
