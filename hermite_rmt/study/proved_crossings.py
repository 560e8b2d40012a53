r"""All crossings of two error curves along the ridge, with proof (derivations/04_resolvent_identity.py).

The limit of the error is E = \int gamma^2/(lambda + gamma)^2 dmu(lambda) with the spectral measure mu of A^T A/n at
the labels. With L = gamma dE/dgamma = \int 2 lambda gamma^2/(lambda + gamma)^3 dmu,

    gamma dL/dgamma = \int 2 lambda gamma^2 (2 lambda - gamma)/(lambda + gamma)^4 dmu  lies in  [-L, 2 L],

so that gamma L increases and L/gamma^2 decreases. For s in [1, rho], from E and L at gamma alone,

    L(gamma)/s <= L(s gamma) <= s^2 L(gamma),
    E(gamma) + (1 - 1/s) L(gamma) <= E(s gamma) <= E(gamma) + (s^2 - 1)/2 L(gamma).

These bounds say of an interval that the curves do not meet in it, or that their difference is monotone there and its
signs at the ends decide; an interval of which they say neither is halved.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.numbers import Real
from hermite_rmt.solvers.ridge_slope import attention_slope, regression_slope
from hermite_rmt.study.gap import Gap, one_real
from hermite_rmt.study.zeros import exact_fraction, refined_zero
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression

DIGITS = 15
NARROWEST = 1e-10  # relative width of an interval that is not halved again
HALVINGS = 1000  # in all; what is left then is unresolved
PIECES = 16  # that the range is cut into at first


@dataclass(frozen=True)
class Ends:
    """Bounds of E and L of both models at one ridge."""

    gamma: Fraction
    E: tuple[Ball, Ball]
    L: tuple[Ball, Ball]

    @property
    def difference(self) -> tuple[Fraction, Fraction]:
        """Bounds of E_left - E_right."""
        left, right = self.E
        return _low(left) - _high(right), _high(left) - _low(right)

    @property
    def sign(self) -> int:
        """Sign of E_left - E_right; 0 where it is not proved."""
        low, high = self.difference
        return int(low > 0) - int(high < 0)


@dataclass(frozen=True)
class Proved:
    """Intervals with exactly one crossing each (and whether it rises), and intervals of which nothing is proved."""

    single: list[tuple[Fraction, Fraction, bool]]
    unresolved: list[tuple[Fraction, Fraction]]


def isolate(gap: Gap, low: float, high: float) -> Proved:
    """Isolate all crossings between two ridges."""
    cuts = [Fraction(x) for x in np.geomspace(low, high, PIECES + 1).tolist()]
    cuts[0], cuts[-1] = Fraction(low), Fraction(high)
    ends = [_ends(gap, cut) for cut in cuts]
    single: list[tuple[Fraction, Fraction, bool]] = []
    unresolved: list[tuple[Fraction, Fraction]] = []
    waiting = deque(pairwise(ends))
    halvings = 0
    while waiting:
        left, right = waiting.popleft()
        if _apart(left, right.gamma):
            continue
        if left.sign and right.sign and _monotone(left, right.gamma):
            if left.sign != right.sign:
                single.append((left.gamma, right.gamma, right.sign > 0))
        elif right.gamma - left.gamma <= left.gamma * Fraction(NARROWEST) or halvings >= HALVINGS:
            unresolved.append((left.gamma, right.gamma))
        else:
            middle = _ends(gap, Fraction(float(np.sqrt(float(left.gamma) * float(right.gamma)))))
            waiting += [(left, middle), (middle, right)]
            halvings += 1
    return Proved(sorted(single), _joined(sorted(unresolved)))


def _joined(intervals: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the same set as few intervals."""
    joined: list[tuple[Fraction, Fraction]] = []
    for low, high in intervals:
        if joined and joined[-1][1] == low:
            joined[-1] = joined[-1][0], high
        else:
            joined.append((low, high))
    return joined


def proved_crossing(gap: Gap, interval: tuple[Fraction, Fraction, bool], digits: int) -> tuple[Ball, Ball]:
    """Return balls of the one crossing in an interval and of the error there, of relative radius at most 10^-digits.

    Raises
    ------
    ArithmeticError
        If the change of sign is not proved that close.
    """
    low, high, rising = interval
    start = float(brentq(lambda gamma: gap.difference(gamma=gamma), float(low), float(high), xtol=1e-14 * float(low)))

    def difference(x: Fraction, digits: int) -> Any:
        one, other = gap.exact_errors(digits, gamma=x)
        return one - other

    def error(x: Fraction, digits: int) -> Any:
        return gap.exact_errors(digits, gamma=x)[0]

    value, _ = refined_zero(difference, error, start, start, rising, digits + 2, "gamma")
    middle = exact_fraction(value)
    aside = middle / (4 * Fraction(10) ** digits)
    ends = [_ends(gap, middle + side, 2 * digits + DIGITS) for side in (-aside, aside)]
    if [end.sign for end in ends] != ([-1, 1] if rising else [1, -1]) or not low < middle < high:
        raise ArithmeticError(f"certified: the crossing near gamma = {start:.15g} is not proved to {digits} digits")
    # E increases with gamma
    return (
        Ball(ends[0].gamma, ends[1].gamma, digits),
        Ball(_low(ends[0].E[0]), _high(ends[1].E[0]), digits),
    )


def _ends(gap: Gap, gamma: Fraction, digits: int = DIGITS) -> Ends:
    c = one_real(gap.fixed["c"])
    found = [_slope(model, c, gap.ridge(model, c, gamma), digits) for model in (gap.left, gap.right)]
    return Ends(gamma, (found[0][0], found[1][0]), (found[0][1], found[1][1]))


def _slope(model: Any, c: Real, gamma: Real, digits: int) -> tuple[Ball, Ball]:
    place = {"c": c, "gamma": gamma}
    values = {name: one_real(parameter) for name, parameter in {**model.parameters(), **model.derived()}.items()}
    if isinstance(model, Attention):
        found = attention_slope({**values, **place}, digits)
    elif isinstance(model, LinearRegression):
        found = regression_slope({**values, **place}, digits)
    else:
        raise TypeError(f"certified: got {model!r}; allowed: Attention or LinearRegression")
    if found is None:
        raise ArithmeticError(f"certified: nothing is proved at gamma = {float(gamma):.15g} with {digits} digits")
    return found


def _apart(left: Ends, upper: Fraction) -> bool:
    """Whether the curves are proved not to meet between a ridge and a larger one."""
    rho = upper / left.gamma
    slow, fast = 1 - 1 / rho, (rho * rho - 1) / 2
    low, high = left.difference
    one, other = left.L
    # both bounds of the difference are 0 at s = 1; the lower is concave in s, the upper convex
    return (
        low + min(Fraction(0), _low(one) * slow - _high(other) * fast) > 0
        or high + max(Fraction(0), _high(one) * fast - _low(other) * slow) < 0
    )


def _monotone(left: Ends, upper: Fraction) -> bool:
    """Whether the difference is proved to be monotone between a ridge and a larger one."""
    cube = (upper / left.gamma) ** 3
    one, other = left.L
    return _low(one) > _high(other) * cube or _high(one) * cube < _low(other)


def _low(ball: Ball) -> Fraction:
    return exact_fraction(ball.lower)


def _high(ball: Ball) -> Fraction:
    return exact_fraction(ball.upper)
