"""The trapezoidal rule on mapped panels: step, range and precision chosen, all Hermite degrees at once."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.panels import Panel
from hermite_rmt.hermite.transform import hermite_sums, log2_peak

_FIRST_LEVEL = 1  # the first step is 2^-1
_LAST_LEVEL = 14
_COARSE = 4  # points a unit of t in the search for the range


class Pieces(Protocol):
    """What is integrated: an expression's pieces or a callable's."""

    integrand: Integrand

    def panels(self, precision: int) -> list[Panel]:
        """Return the panels that count at this precision."""
        ...


class Plan:
    """Two computations of all coefficients with errors below 2^-target of the largest term.

    The first halves the step until two results agree to half the bits (its error is then the square); the second
    has a step 7/9 of it, other nodes and 32 more bits.
    """

    def __init__(self, pieces: Pieces, order: int, target: int) -> None:
        self.order, self.target = order, target
        self.precision = target + 16
        self.panels = pieces.panels(target)
        self.pieces = pieces

    def run(self) -> tuple[list[Any], list[Any]]:
        """Return both results."""
        context = local_context(self.precision)
        ranges = [self._range(panel) for panel in self.panels]
        scale = max((top for _, _, top in ranges), default=0)
        first = [context.zero] * (self.order + 1)
        second = [context.zero] * (self.order + 1)
        for panel, (low, high, _) in zip(self.panels, ranges, strict=True):
            level, part = self._refined(panel, low, high, scale)
            first = [a + context.convert(b) for a, b in zip(first, part, strict=True)]
            check = self._sums(panel, _grid(low, high, 7, 9 << level), self.precision + 32)
            ratio = context.mpf(7) / (9 << level)
            second = [a + context.convert(b) * ratio for a, b in zip(second, check, strict=True)]
        density = 1 / context.sqrt(2 * context.pi)
        return [value * density for value in first], [value * density for value in second]

    def _refined(self, panel: Panel, low: int, high: int, scale: int) -> tuple[int, list[Any]]:
        context = local_context(self.precision)
        level = _FIRST_LEVEL
        total = self._sums(panel, _grid(low, high, 1, 1 << level), self.precision)
        while True:
            level += 1
            if level > _LAST_LEVEL:
                raise ValueError(
                    f"{self.pieces.integrand.name}: no convergence on {panel}: "
                    "f is not analytic inside; give its breakpoints"
                )
            new = self._sums(panel, [pair for pair in _grid(low, high, 1, 1 << level) if pair[0] % 2], self.precision)
            refined = [a + b for a, b in zip(total, new, strict=True)]
            change = max(abs(2 * a - b) for a, b in zip(total, refined, strict=True))
            total = refined
            if context.mag(change) - level <= scale - (0.55 * self.target + 4):
                return level, [context.ldexp(value, -level) for value in total]

    def _sums(self, panel: Panel, parameters: list[tuple[int, int]], precision: int) -> list[Any]:
        if panel.whole:
            return self._folded(panel, parameters, precision)
        samples = panel.samples(parameters, precision)
        points = [x._mpf_ for x, _ in samples]
        weights = [w._mpf_ for _, w in samples]
        return hermite_sums(points, weights, weights, self.order, precision)

    def _folded(self, panel: Panel, parameters: list[tuple[int, int]], precision: int) -> list[Any]:
        """Return the sums over a symmetric grid of the line, by parity on its half."""
        samples = panel.samples(parameters, precision)
        at = {p: sample for (p, _), sample in zip(parameters, samples, strict=True)}
        zero = local_context(precision).zero
        points, even, odd = [], [], []
        for p in sorted({abs(p) for p in at}):
            x = (at[p] if p in at else at[-p])[0]
            plus, minus = at.get(p, (zero, zero))[1], at.get(-p, (zero, zero))[1]
            points.append(abs(x)._mpf_)
            even.append((plus + minus)._mpf_ if p else plus._mpf_)
            odd.append((plus - minus)._mpf_)
        return hermite_sums(points, even, odd, self.order, precision)

    def _range(self, panel: Panel) -> tuple[int, int, int]:
        """Return whole low < high, the terms at t outside being negligible, and log2 of the largest term."""
        ends, top = [], -(10**18)
        for sign in (-1, 1):
            sizes: list[int] = []
            while True:
                block = [(sign * p, _COARSE) for p in range(len(sizes), len(sizes) + 2 * _COARSE)]
                sizes += self._sizes(panel, block)
                top = max(top, *sizes)
                if max(sizes[-2 * _COARSE :]) < top - self.precision - 40:
                    break
                if len(sizes) > panel.farthest(sign, self.precision) * _COARSE:
                    raise ValueError(
                        f"{self.pieces.integrand.name}: f is not integrable at x = {panel.end(sign)}: "
                        "it grows too fast there"
                    )
            last = max((i for i, size in enumerate(sizes) if size >= top - self.precision - 40), default=0)
            ends.append(last // _COARSE + 1)
        return -ends[0], ends[1], top

    def _sizes(self, panel: Panel, parameters: list[tuple[int, int]]) -> list[int]:
        context = local_context(64)
        samples = panel.samples(parameters, 64)
        return [
            (context.mag(weight) if weight else -(10**9)) + int(log2_peak(np.array(float(x)), self.order))
            for x, weight in samples
        ]


def _grid(low: int, high: int, p: int, q: int) -> list[tuple[int, int]]:
    """Return the multiples of p/q in [low, high] as pairs (numerator, q)."""
    return [(p * j, q) for j in range(-(-low * q // p), high * q // p + 1)]
