"""Panels: the line cut at breakpoints, each part mapped so that the trapezoidal rule converges exponentially."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mpmath import libmp

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.evaluation import Evaluate
from hermite_rmt.hermite.grids import Grid

_DEEPEST = 20


class Endpoint:
    """A finite end of a panel: a real number that remembers its values."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.size = abs(float(real))
        self._values: dict[int, Any] = {}

    def mpf(self, precision: int) -> Any:
        """Return the value in the local context of `precision` bits."""
        if precision not in self._values:
            ample = 256 << max(0, (precision - 1).bit_length() - 8)  # few precisions: the real may be costly
            if ample not in self._values:
                self._values[ample] = self.real.mpf(ample)
            raw = libmp.mpf_pos(self._values[ample]._mpf_, precision, "n")
            self._values[precision] = local_context(precision).make_mpf(raw)
        return self._values[precision]

    def __float__(self) -> float:
        return float(self.real)


@dataclass(frozen=True)
class Panel:
    """An interval on whose inside f is analytic, in a variable t that runs over the whole line.

    - (-oo, oo): x = t, for Gaussian tails;
    - (a, oo): x = a + exp(t - exp(-t)), double exponential for the Gaussian tail and for a singular a;
    - (a, b): x = (a + b)/2 + (b - a)/2 tanh(pi/2 sinh t).

    Points are kept as an endpoint and an exact distance d to it, so that f is evaluated right however close they are.

    Attributes
    ----------
    left, right : ends, None for infinity
    evaluate : values of f inside, from points and a precision
    parity : 1 or -1 if f is known to be even or odd on the whole line, else 0
    mirror : 1 or -1 if the panel stands for its mirror image too, on which an even or odd f repeats itself, else 0
    plain : whether the panel is finite and no narrow feature of f is known on it, its ends included
    """

    left: Endpoint | None
    right: Endpoint | None
    evaluate: Evaluate
    parity: int = 0
    mirror: int = 0
    plain: bool = False

    @property
    def whole(self) -> bool:
        """Whether the panel is the whole line."""
        return self.left is None and self.right is None

    def __str__(self) -> str:
        left = "-oo" if self.left is None else f"{float(self.left):.6g}"
        right = "oo" if self.right is None else f"{float(self.right):.6g}"
        return f"({left}, {right})"

    def end(self, sign: int) -> float:
        """Return the x that t -> +infinity (sign 1) or -infinity (sign -1) leads to."""
        half = (self.left is None) != (self.right is None)
        end = (self.left or self.right) if half and sign < 0 else self.right if sign > 0 else self.left
        if end is not None and not (half and sign > 0):
            return float(end)
        return -math.inf if self.left is None and (half or sign < 0) else math.inf

    def times(self, degree: int) -> int:
        """Return how often the panel counts in a_degree: with its mirror image twice or not at all."""
        return 1 - self.mirror if degree % 2 else 1 + self.mirror

    def farthest(self, sign: int, precision: int) -> float:
        """Return the |t| beyond which f is declared not integrable at this end, if its terms still count.

        At a finite end f may grow like d^-0.97, d the distance.
        """
        if self.whole or math.isinf(self.end(sign)):
            return 400.0
        return math.log(_DEEPEST * (precision + 100))

    def nodes(self, parameters: list[tuple[int, int]], precision: int) -> Iterator[tuple[Endpoint | None, Any, Any]]:
        """Yield (endpoint, signed distance d to it, dx/dt) at t = p/q for the pairs (p, q)."""
        context = local_context(precision)
        if self.whole:
            for p, q in parameters:
                yield None, context.mpf(p) / q, context.one
        elif self.left is None or self.right is None:
            sign = 1 if self.right is None else -1
            for p, q in parameters:
                distance, slope = _half_line(p, q, precision)
                yield self.left or self.right, sign * distance, slope
        else:
            length = self.right.mpf(precision) - self.left.mpf(precision)
            for p, q in parameters:
                fraction, slope = _segment(abs(p), q, precision)
                distance = length * fraction
                yield (self.right, -distance, length * slope) if p > 0 else (self.left, distance, length * slope)

    def samples(self, parameters: list[tuple[int, int]], precision: int) -> list[tuple[Any, Any]]:
        """Return (x, f(x) exp(-x^2/2) dx/dt) at the parameters, as mpf, relative accuracy about 2^-precision."""
        nodes = list(self.nodes(parameters, precision))
        groups: dict[int, list[int]] = {}
        for index, (anchor, distance, _) in enumerate(nodes):
            lost = _lost_bits(anchor, distance)
            groups.setdefault(precision * (1 + math.ceil(lost / precision)), []).append(index)
        points: list[Any] = [None] * len(nodes)
        values: list[Any] = [None] * len(nodes)
        for working, members in groups.items():
            exact = local_context(working)
            for index in members:
                anchor, distance, _ = nodes[index]
                shift = exact.convert(distance)
                points[index] = shift if anchor is None else anchor.mpf(working) + shift
            grid = _grid(parameters) if self.whole else None
            found = self.evaluate([points[i] for i in members], working, grid)
            for index, value in zip(members, found, strict=True):
                values[index] = value
        context = local_context(precision)
        return [
            (context.convert(point), context.convert(value) * slope)
            for point, value, (_, _, slope) in zip(points, values, nodes, strict=True)
        ]


def _grid(parameters: list[tuple[int, int]]) -> Grid | None:
    """Return the arithmetic progression the parameters are, None if they are none."""
    if len(parameters) < 3:
        return None
    steps = {b[0] - a[0] for a, b in itertools.pairwise(parameters)}
    return Grid(parameters[0][0], steps.pop(), parameters[0][1]) if len(steps) == 1 else None


def _lost_bits(anchor: Endpoint | None, distance: Any) -> int:
    """Bits that x = anchor + d spends on the anchor."""
    if anchor is None or not distance or not anchor.size:
        return 0
    exponent = distance._mpf_[2] + distance._mpf_[3]
    return max(0, math.frexp(anchor.size)[1] - int(exponent))


@lru_cache(maxsize=30_000)
def _half_line(p: int, q: int, precision: int) -> tuple[Any, Any]:
    context = local_context(precision + 20)
    t = context.mpf(p) / q
    inner = context.exp(-t)
    distance = context.exp(t - inner)
    return distance, distance * (1 + inner)


@lru_cache(maxsize=30_000)
def _segment(p: int, q: int, precision: int) -> tuple[Any, Any]:
    """Distance to the nearer end and dx/dt of the tanh-sinh map of a segment of length 1, at t = -p/q <= 0."""
    context = local_context(precision + 20)
    growth = context.exp(context.mpf(p) / q)
    inner = context.exp(context.pi * (growth - 1 / growth) / 2)
    fraction = 1 / (1 + inner)
    return fraction, fraction**2 * inner * context.pi * (growth + 1 / growth) / 2
