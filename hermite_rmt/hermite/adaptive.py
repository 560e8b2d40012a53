"""Gauss-Legendre by bisection: for callables, whose kinks and jumps nobody knows beforehand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.gauss import legendre
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.transform import hermite_sums

Interval = tuple[Fraction, Fraction]
Rule = Callable[[Sequence[Interval]], np.ndarray]
"""Sums over intervals: array (intervals, order + 1) of floats or mpf."""

_MOST_INTERVALS = 40_000
_POLES_WITHIN = 8  # an infinite value farther out is an overflow


def bisected(rule: Rule, intervals: Sequence[Interval], tolerance: Any, narrowest: Fraction, name: str) -> np.ndarray:
    """Return the sums over all intervals, each halved until its sum and the sum of its halves agree.

    Parameters
    ----------
    rule : sums of all degrees over intervals
    tolerance : accepted difference, relative to the largest sum of absolute values
    narrowest : width at which a jump is left alone: what it can contribute is its width

    Raises
    ------
    ValueError
        If the differences do not shrink with the width: f is not integrable, or undefined on an interval.
    """
    pending = list(intervals)
    whole = rule(pending)
    scale: Any = max(abs(whole).sum(axis=0))
    total: np.ndarray = whole[0] * 0
    left_over: Any = 0
    visited = 0
    while pending:
        middles = [(a + b) / 2 for a, b in pending]
        halves = [half for (a, b), m in zip(pending, middles, strict=True) for half in ((a, m), (m, b))]
        visited += len(halves)
        parts = rule(halves)
        refined = parts[0::2] + parts[1::2]
        errors: list[Any] = [max(row) for row in abs(refined - whole)]
        again = []
        for index, ((a, b), error) in enumerate(zip(pending, errors, strict=True)):
            finite = error == error  # nan is not equal to itself
            if finite and error <= tolerance * scale:
                total = total + refined[index]
            elif b - a <= narrowest * max(Fraction(1), abs(a)):
                # an isolated undefined point costs nothing
                if finite:
                    total = total + refined[index]
                    left_over = left_over + error
            else:
                again.append(index)
        if visited > _MOST_INTERVALS or (again and max(errors[i] for i in again) > 1e6 * max(scale, 1e-300)):
            where = float(pending[again[0]][0]) if again else 0.0
            raise ValueError(
                f"{name}: no convergence near x = {where:.6g}: f is undefined on an interval there, not integrable, "
                "or too rough; if it has kinks or jumps, give them as breakpoints"
            )
        pending = [halves[2 * i + side] for i in again for side in (0, 1)]
        whole = parts[[2 * i + side for i in again for side in (0, 1)]] if again else whole[:0]
    if left_over > 1000 * tolerance * scale:
        raise ValueError(f"{name}: f is not integrable, or too singular for bisection; give its breakpoints")
    return total


def cells(points: Sequence[Fraction], radius: int, width: Fraction) -> list[Interval]:
    """Return intervals of at most `width` that cover [-radius, radius] and end at the points."""
    inside = sorted({point for point in points if -radius < point < radius})
    ends = [Fraction(-radius), *inside, Fraction(radius)]
    cut: list[Interval] = []
    for a, b in itertools.pairwise(ends):
        count = math.ceil((b - a) / width)
        marks = [a + (b - a) * Fraction(j, count) for j in range(count + 1)]
        cut += list(itertools.pairwise(marks))
    return cut


class DoubleRule:
    """Sums in double precision of f h_k times the Gaussian density."""

    nodes = 20

    def __init__(self, integrand: Integrand, order: int) -> None:
        self.integrand, self.order = integrand, order
        self.abscissas, self.weights = np.polynomial.legendre.leggauss(self.nodes)

    def __call__(self, intervals: Sequence[Interval]) -> np.ndarray:
        """Return the sums over intervals: array (intervals, order + 1)."""
        a = np.array([float(left) for left, _ in intervals])[:, None]
        half = np.array([float(right - left) / 2 for left, right in intervals])[:, None]
        x = a + half * (1 + self.abscissas)
        values = self.integrand.double(x)
        overflow = np.isinf(values) & (np.abs(x) > _POLES_WITHIN)
        if overflow.any():
            raise ValueError(
                f"{self.integrand.name}: f overflows double precision at x = {x[overflow][0]:.6g}, where it counts: "
                "the expectation is infinite, or needs f as an expression"
            )
        with np.errstate(all="ignore"):
            # exp(-x^2/4) goes with the polynomial, which it keeps bounded
            root = np.exp(-(x**2) / 4)
            terms = half * self.weights * (values * root) / math.sqrt(2 * math.pi)
            previous, current = np.zeros_like(x), root
            columns = []
            for k in range(self.order + 1):
                columns.append((terms * current).sum(axis=1))
                previous, current = current, (x * current - math.sqrt(k) * previous) / math.sqrt(k + 1)
        return np.stack(columns, axis=1)


class DigitsRule:
    """Sums at any precision of f h_k exp(-x^2/2), as arrays of mpf."""

    def __init__(self, integrand: Integrand, order: int, nodes: int, precision: int) -> None:
        self.order, self.precision = order, precision
        self.function = integrand.multiprecision(precision)
        self.abscissas = legendre(nodes, precision)

    def __call__(self, intervals: Sequence[Interval]) -> np.ndarray:
        """Return the sums over intervals: object array (intervals, order + 1)."""
        context = local_context(self.precision)
        out = np.empty((len(intervals), self.order + 1), dtype=object)
        for row, (left, right) in enumerate(intervals):
            middle, half = (left + right) / 2, (right - left) / 2
            start = context.mpf(middle.numerator) / middle.denominator
            scale = context.mpf(half.numerator) / half.denominator
            points, weights = [], []
            for node, weight in self.abscissas:
                x = start + scale * node
                value = self._value(x)
                points.append(x._mpf_)
                weights.append((value * scale * weight * context.exp(-(x**2) / 2))._mpf_)
            out[row] = hermite_sums(points, weights, weights, self.order, self.precision)
        return out

    def _value(self, x: Any) -> Any:
        context = local_context(self.precision)
        try:
            value = self.function(x)
        except (ZeroDivisionError, ValueError, OverflowError):
            return context.nan
        return value if hasattr(value, "_mpf_") else context.nan
