"""An expression as panels: where it is analytic, what it is there, how far the Gaussian lets it reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
import sympy

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.breakpoints import between, breakpoints, normalised, piece_at
from hermite_rmt.hermite.features import features
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.evaluation import weighted_values
from hermite_rmt.hermite.panels import Endpoint, Panel
from hermite_rmt.hermite.symmetry import Symmetry
from hermite_rmt.hermite.transform import log2_peak

_INFINITE_BITS = 10**12
_SYMMETRY_BITS = 200


class Pieces:
    """The panels of an integrand for the Gaussian expectations of degree at most `order`."""

    def __init__(self, integrand: Integrand, order: int) -> None:
        assert integrand.expression is not None
        self.integrand = integrand
        self.order = order
        self.expression = normalised(integrand.expression)
        self._panels: dict[int, list[Panel]] = {}

    def panels(self, precision: int) -> list[Panel]:
        """Return the panels on which f is not zero, breakpoints beyond the reach of `precision` bits left out."""
        reach = self.reach(precision)
        if reach not in self._panels:
            self._panels[reach] = self._cut(reach)
        return self._panels[reach]

    def _cut(self, reach: int) -> list[Panel]:
        panels = []
        ends: list[Real | None] = [None, *self._points(reach), None]
        known: dict[Real, Endpoint] = {}
        for left, right in zip(ends[:-1], ends[1:], strict=True):
            piece = piece_at(self.expression, between(left, right))
            if piece == 0:
                continue
            evaluate = weighted_values(piece)
            inside = features(piece, *(-reach if left is None else float(left), reach if right is None else float(right)))
            cuts: list[Real | None] = [left, *(point for point in inside if _inside(point, left, right)), right]
            marks = [None if cut is None else known.setdefault(cut, Endpoint(cut)) for cut in cuts]
            panels += [Panel(a, b, evaluate) for a, b in zip(marks[:-1], marks[1:], strict=True)]
        return panels

    def _points(self, reach: int) -> Sequence[Real]:
        given = self.integrand.breakpoints
        return breakpoints(self.expression, -reach, reach) if given is None else given

    @cached_property
    def symmetry(self) -> Symmetry:
        """Which coefficients are zero."""
        return Symmetry(self.expression, self._points(self.reach(_SYMMETRY_BITS)))

    def reach(self, precision: int) -> int:
        """Return R such that |f h_k| phi beyond |x| > R is below 2^-precision of its largest value.

        Raises
        ------
        ValueError
            If E|f| is infinite: |f| phi does not fall fast enough.
        """
        samples: list[tuple[float, float]] = []
        for sign in (1, -1):
            samples += self._march(sign, precision)
        top = max(size for _, size in samples)
        far = [abs(point) for point, size in samples if size > top - precision]
        return math.ceil(max(1.3 * max(far, default=1.0), math.sqrt(1.4 * precision))) + 1

    def _march(self, sign: int, precision: int) -> list[tuple[float, float]]:
        samples: list[tuple[float, float]] = []
        point, top, low = 0.2718, -math.inf, 0
        while low < 6 or point < 4:
            size = self.log_size(sign * point)
            samples.append((sign * point, size))
            top = max(top, size)
            low = low + 1 if size < top - precision else 0
            if size > _INFINITE_BITS or (point > 1e30 and size > top - 1):
                side = "+" if sign > 0 else "-"
                raise ValueError(
                    f"{self.integrand.name}: the expectation is infinite: "
                    f"|f(x)| times the Gaussian density does not fall fast enough as x -> {side}infinity"
                )
            point *= 1.15
        return samples

    def log_size(self, point: float) -> float:
        """Return log2 of |x f(x)| phi(x) max_k |h_k(x)|."""
        exact = sympy.Rational(point)
        value = weighted_values(piece_at(self.expression, exact))([local_context(80).mpf(point)], 80)[0]
        peak = float(log2_peak(point, self.order))
        size = local_context(80).mag(value) if value else -math.inf
        return float(size) + peak + math.log2(abs(point))


def _inside(point: Real, left: Real | None, right: Real | None) -> bool:
    value = point.mpf(300)
    return (left is None or left.mpf(300) < value) and (right is None or value < right.mpf(300))

