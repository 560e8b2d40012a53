"""The trapezoidal rule on mapped panels: step, range and precision chosen, all Hermite degrees at once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.gauss import gauss_samples
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.panels import Panel
from hermite_rmt.hermite.transform import hermite_sums, log2_peak

_FIRST_LEVEL = 1  # the first step is 2^-1
_COARSE = 4  # points a unit of t in the search for the range
_MORE_NODES = 5  # of the second of two Gauss-Legendre rules
_SLACK = 8  # bits by which two sums may differ beyond their target
_NOTHING = -(10**9)
_STEP_BITS = 1000  # what one step of the recurrence costs beside its multiplication, in bits of it


class Pieces(Protocol):
    """What is integrated: an expression's pieces or a callable's."""

    integrand: Integrand

    def panels(self, precision: int) -> list[Panel]:
        """Return the panels that count at this precision."""
        ...


class Plan:
    """Two computations of all coefficients with errors below 2^-target of the largest term.

    On every panel two sums with steps 1/q and 7/(9 q), different nodes and precisions, have to agree. Halving the
    step shows how fast the sums converge (their errors behave like 2^(-c/step)), and so which q to take. Where nodes
    times degrees times bits exceed `most_work`, a ValueError says so.
    """

    def __init__(self, pieces: Pieces, order: int, target: int, most_work: int | None = None) -> None:
        self.order, self.target, self._most_work = order, target, most_work
        self.precision = target + 16
        self.panels = pieces.panels(target)
        self.name = pieces.integrand.name
        self._most_nodes = 40_000 + 40 * target

    def run(self) -> tuple[list[Any], list[Any]]:
        """Return both results."""
        context = local_context(self.precision)
        plain = {panel: self._by_gauss(panel) for panel in self.panels if panel.plain}
        ranges = {panel: self._range(panel) for panel in self.panels if panel not in plain}
        scale = max((top for *_, top in (*plain.values(), *ranges.values())), default=0)
        totals = [[context.zero] * (self.order + 1)] * 2
        for panel in self.panels:
            if panel in plain and self._agreed(*plain[panel][:2], scale) >= self.target - _SLACK:
                parts = plain[panel][:2]
            else:
                low, high, _ = ranges.get(panel) or self._range(panel)
                parts = self._agreeing(panel, low, high, scale)
            totals = [
                [a + b * panel.times(k) for k, (a, b) in enumerate(zip(*pair, strict=True))]
                for pair in zip(totals, parts, strict=True)
            ]
        density = 1 / context.sqrt(2 * context.pi)
        first, second = ([value * density for value in total] for total in totals)
        return first, second

    def _by_gauss(self, panel: Panel) -> tuple[list[Any], list[Any], int]:
        """Return two sums over a plain panel, right where f is analytic at its ends, and log2 of the largest term."""
        samples = gauss_samples(panel, self.order, self.precision, 0)
        finer = gauss_samples(panel, self.order, self.precision + 32, _MORE_NODES)
        top = max(_sizes(samples, self.order))
        return self._weighted(samples, self.precision), self._weighted(finer, self.precision + 32), top

    def _agreed(self, first: list[Any], second: list[Any], scale: int) -> int:
        """Return the bits of the largest term, or of the largest sum, to which two sums agree."""
        return max(scale, _mag(second)) - _mag(first, second)

    def _agreeing(self, panel: Panel, low: Fraction, high: Fraction, scale: int) -> tuple[list[Any], list[Any]]:
        """Return two sums over a panel that differ by less than 2^-target of the largest term."""
        q = self._density(panel, low, high, scale)
        while q * (high - low) <= self._most_nodes:
            self._check_work(q * (high - low))
            first = self._integral(panel, low, high, Fraction(1, q), self.precision)
            second = self._integral(panel, low, high, Fraction(7, 9 * q), self.precision + 32)
            agreed = self._agreed(first, second, scale)
            if agreed >= self.target - _SLACK:
                return first, second
            q = q * 2 if agreed < self.target // 2 else q + q // 4 + 1
        raise ValueError(
            f"{self.name}: no convergence on {panel}: f is not analytic inside (give its breakpoints), "
            "or it oscillates without end"
        )

    def _check_work(self, nodes: Fraction) -> None:
        work = nodes * (self.order + 1) * (self.precision + _STEP_BITS)
        if self._most_work is not None and self.order and work > self._most_work:
            raise ValueError(
                f"{self.name}: the coefficients up to a_{self.order} differ so much in size that the right digits of "
                f"all of them need {self.precision} bits at {int(nodes)} points each; allowed: a lower order, or one "
                "coefficient alone"
            )

    def _density(self, panel: Panel, low: Fraction, high: Fraction, scale: int) -> int:
        """Return how many nodes a unit of t are expected to reach the target."""
        before, level = 0, _FIRST_LEVEL
        total = self._integral(panel, low, high, Fraction(1, 1 << level), self.precision)
        while (high - low) * (1 << level) <= self._most_nodes:
            level += 1
            odd = [pair for pair in _grid(low, high, 1, 1 << level) if pair[0] % 2]
            new = self._sums(panel, odd, self.precision)
            refined = [(a + b / (1 << (level - 1))) / 2 for a, b in zip(total, new, strict=True)]
            # a narrow peak may lie between the points that gave the scale
            agreed = self._agreed(total, refined, scale)  # bits of the sum with step 2^(1 - level)
            total = refined
            if agreed > 0.55 * self.target:
                return 1 << level
            if agreed > 20 and 1.4 * before < agreed < 2.6 * before and before > 6:
                return math.ceil((self.target + 8) * (1 << (level - 1)) / agreed)
            before = agreed
        return 1 << level  # too many: the caller gives up

    def _integral(self, panel: Panel, low: Fraction, high: Fraction, step: Fraction, precision: int) -> list[Any]:
        context = local_context(self.precision)
        sums = self._sums(panel, _grid(low, high, step.numerator, step.denominator), precision)
        return [context.convert(value) * step.numerator / step.denominator for value in sums]

    def _sums(self, panel: Panel, parameters: list[tuple[int, int]], precision: int) -> list[Any]:
        if panel.whole:
            return self._folded(panel, parameters, precision)
        return self._weighted(panel.samples(parameters, precision), precision)

    def _weighted(self, samples: list[tuple[Any, Any]], precision: int) -> list[Any]:
        points = [x._mpf_ for x, _ in samples]
        weights = [w._mpf_ for _, w in samples]
        return hermite_sums(points, weights, weights, self.order, precision)

    def _folded(self, panel: Panel, parameters: list[tuple[int, int]], precision: int) -> list[Any]:
        """Return the sums over a grid of the line, by parity on its half."""
        q = parameters[0][1] if parameters else 1
        wanted = [p for p, _ in parameters]
        if panel.parity:
            wanted = sorted({abs(p) for p in wanted})
        samples = dict(zip(wanted, panel.samples([(p, q) for p in wanted], precision), strict=True))
        zero = local_context(precision).zero
        points, even, odd = [], [], []
        for p in sorted({abs(p) for p in wanted}):
            x = (samples[p] if p in samples else samples[-p])[0]
            plus = samples[p][1] if p in samples else zero
            minus = plus * panel.parity if panel.parity else samples[-p][1] if -p in samples else zero
            points.append(abs(x)._mpf_)
            even.append((plus + minus)._mpf_ if p else plus._mpf_)
            odd.append((plus - minus)._mpf_ if p else zero._mpf_)
        return hermite_sums(points, even, odd, self.order, precision)

    def _range(self, panel: Panel) -> tuple[Fraction, Fraction, int]:
        """Return low < high, the terms at t outside being negligible, and log2 of the largest term."""
        sizes: dict[int, int] = {}
        for sign in (-1, 1):
            least = _COARSE * (math.isqrt(2 * self.precision) if panel.whole else 3)
            far, quiet = 0, False
            while not quiet or far < least:
                block = range(far, far + 2 * _COARSE)
                found = _sizes(panel.samples([(sign * p, _COARSE) for p in block], 64), self.order)
                sizes |= {sign * p: size for p, size in zip(block, found, strict=True)}
                far += 2 * _COARSE
                quiet = max(found) <= max(_NOTHING, max(sizes.values()) - self.precision - 40)
                if far > panel.farthest(sign, self.precision) * _COARSE and not quiet:
                    raise ValueError(
                        f"{self.name}: f is not integrable at x = {panel.end(sign)}: it grows too fast there"
                    )
        top = max(sizes.values())
        kept = [p for p, size in sizes.items() if size >= top - self.precision - 40]
        low, high = min(kept) - 2, max(kept) + 2
        if panel.parity:
            low, high = -max(-low, high), max(-low, high)
        return Fraction(low, _COARSE), Fraction(high, _COARSE), top


def _sizes(samples: list[tuple[Any, Any]], order: int) -> list[int]:
    """Return log2 of the terms: weight times max_k |h_k(x)|."""
    peaks = log2_peak(np.array([float(x) for x, _ in samples]), order)
    return [
        int(weight.context.mag(weight)) + int(peak) if weight else _NOTHING
        for (_, weight), peak in zip(samples, peaks, strict=True)
    ]


def _mag(values: list[Any], others: list[Any] | None = None) -> int:
    """Return the binary magnitude of the largest value, or of the largest difference of two lists."""
    largest = max(map(abs, values if others is None else [a - b for a, b in zip(values, others, strict=True)]))
    return int(largest.context.mag(largest)) if largest else _NOTHING


def _grid(low: Fraction, high: Fraction, p: int, q: int) -> list[tuple[int, int]]:
    """Return the multiples of p/q in [low, high] as pairs (numerator, q)."""
    return [(p * j, q) for j in range(math.ceil(low * q / p), math.floor(high * q / p) + 1)]
