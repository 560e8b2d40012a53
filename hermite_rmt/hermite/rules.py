"""Gauss-Legendre sums over intervals for bisection, in double and at any precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.adaptive import Interval, Sums
from hermite_rmt.hermite.gauss import legendre
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.probes import END_SHARES, Probes, end_points
from hermite_rmt.hermite.transform import hermite_sums

_POLES_WITHIN = 8  # an infinite value farther out is an overflow


class DoubleRule:
    """Sums in double precision of f h_k times the Gaussian density."""

    nodes = 20

    def __init__(self, integrand: Integrand, order: int, probes: Probes) -> None:
        self.integrand, self.order, self.probes = integrand, order, probes
        self.abscissas, self.weights = np.polynomial.legendre.leggauss(self.nodes)

    def __call__(self, intervals: Sequence[Interval]) -> Sums:
        """Return the sums over intervals."""
        left, right = _ends(intervals)
        half = np.array([float(b - a) / 2 for a, b in intervals])[:, None]
        x = left[:, None] + half * (1 + self.abscissas)
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
        end_values = self.integrand.double(end_points(left, right))
        doubts = self.probes.doubts(left, right, (self.abscissas, self.weights), values, end_values)
        return Sums(np.stack(columns, axis=1), doubts, np.isnan(values).all(axis=1))


class DigitsRule:
    """Sums at any precision of f h_k exp(-x^2/2), as arrays of mpf.

    Close to a point far from 0 the arguments of f get more bits, so that their distance to it is right.
    """

    def __init__(self, integrand: Integrand, order: int, nodes: int, precision: int, probes: Probes) -> None:
        self.integrand, self.order, self.precision, self.probes = integrand, order, precision, probes
        self.abscissas = legendre(nodes, precision)
        self._functions: dict[int, Callable[[Any], Any]] = {}

    def __call__(self, intervals: Sequence[Interval]) -> Sums:
        """Return the sums over intervals."""
        rows = [self._row(interval) for interval in intervals]
        values, end_values = (np.array([[float(f) for f in row[part]] for row in rows]) for part in (1, 2))
        sums = np.empty((len(rows), self.order + 1), dtype=object)
        for index, (row, *_) in enumerate(rows):
            sums[index] = row
        nodes, weights = (np.array([float(number) for number in part]) for part in zip(*self.abscissas, strict=True))
        doubts = self.probes.doubts(*_ends(intervals), (nodes, weights), values, end_values)
        return Sums(sums, doubts, np.isnan(values).all(axis=1))

    def _row(self, interval: Interval) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the sums over an interval, and f at the nodes and close to the ends."""
        left, right = interval
        middle, half = (left + right) / 2, (right - left) / 2
        ratio = abs(middle) / half
        lost = max(0, ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1)
        working = self.precision * (1 + math.ceil(lost / self.precision))
        if working not in self._functions:
            self._functions[working] = self.integrand.multiprecision(working)
        function, exact, context = self._functions[working], local_context(working), local_context(self.precision)
        start = exact.mpf(middle.numerator) / middle.denominator
        scale = exact.mpf(half.numerator) / half.denominator
        points, weights, values = [], [], []
        for node, weight in self.abscissas:
            x = start + scale * node
            value = context.convert(_real(function(x)))
            values.append(value)
            points.append(x._mpf_)
            weights.append((value * context.convert(scale) * weight * context.exp(-(x**2) / 2))._mpf_)
        ends = [start + scale * sign * (1 - share) for sign in (-1, 1) for share in END_SHARES.tolist()]
        return (
            hermite_sums(points, weights, weights, self.order, self.precision),
            values,
            [_real(function(x)) for x in ends],
        )


def _real(value: Any) -> Any:
    return value if hasattr(value, "_mpf_") else value.context.nan


def _ends(intervals: Sequence[Interval]) -> tuple[np.ndarray, np.ndarray]:
    left, right = zip(*intervals, strict=True) if intervals else ((), ())
    return np.array([float(a) for a in left]), np.array([float(b) for b in right])
