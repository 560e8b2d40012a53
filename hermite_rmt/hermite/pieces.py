"""An expression as panels: where it is analytic, what it is there, how far the Gaussian lets it reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import sympy

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.hermite.breakpoints import between, breakpoints, normalised, piece_at
from hermite_rmt.hermite.evaluation import Evaluate, weighted_values
from hermite_rmt.hermite.features import features, refuse_endless_oscillation
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.panels import Endpoint, Panel
from hermite_rmt.hermite.reach import reach
from hermite_rmt.hermite.symmetry import Symmetry
from hermite_rmt.hermite.transform import log2_peak
from hermite_rmt.hermite.zeros import distinct

_SYMMETRY_BITS = 200
_LONGEST_LINE = 400


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
        points = self._points(reach)
        if not points and reach > _LONGEST_LINE:
            points = [read_real(0, "breakpoint")]  # long tails: the half line's map is exponential
        mirror = _parity(self.expression) if points else 0
        if mirror:
            origin = read_real(0, "breakpoint")
            points = [origin, *(point for point in points if point.mpf(60) > 0)]
        ends: list[Real | None] = [*points, None] if mirror else [None, *points, None]
        known: dict[Real, Endpoint] = {}
        compiled: dict[sympy.Expr, Evaluate] = {}  # a wave has the same pieces again and again
        for left, right in itertools.pairwise(ends):
            piece = piece_at(self.expression, between(left, right))
            if piece == 0:
                continue
            if piece not in compiled:
                compiled[piece] = weighted_values(piece, self.integrand.name)
            refuse_endless_oscillation(piece, left, right, self.integrand.name)
            inside = features(
                piece, *(-reach if left is None else float(left), reach if right is None else float(right))
            )
            cuts: list[Real | None] = [left, *(point for point in inside if _inside(point, left, right)), right]
            marks = [None if cut is None else known.setdefault(cut, Endpoint(cut)) for cut in cuts]
            parity = _parity(piece) if len(cuts) == 2 and left is right is None else 0
            plain = not inside and None not in marks
            panels += [Panel(a, b, compiled[piece], parity, mirror, plain) for a, b in itertools.pairwise(marks)]
        return panels

    def _points(self, reach: int) -> Sequence[Real]:
        # points given by the user are added to those found: a cut too many costs little, one too few is wrong
        return distinct([*breakpoints(self.expression, -reach, reach), *(self.integrand.breakpoints or ())])

    @cached_property
    def symmetry(self) -> Symmetry:
        """Which coefficients are zero."""
        return Symmetry(self.expression, self._points(self.reach(_SYMMETRY_BITS)))

    def reach(self, precision: int) -> int:
        """Return R such that |f h_k| phi beyond |x| > R is below 2^-precision of its largest value."""
        return reach(self.log_size, precision, self.integrand.name)

    def log_size(self, point: float) -> float:
        """Return log2 of |x f(x)| phi(x) max_k |h_k(x)|."""
        exact = sympy.Rational(point)
        value = weighted_values(piece_at(self.expression, exact), self.integrand.name)(
            [local_context(80).mpf(point)], 80
        )[0]
        peak = float(log2_peak(np.array(point), self.order))
        size = local_context(80).mag(value) if value else -math.inf
        return float(size) + peak + math.log2(abs(point))


def _parity(expression: sympy.Expr) -> int:
    mirrored = sympy.expand(expression.subs(X, -X))
    direct = sympy.expand(expression)
    return 1 if mirrored == direct else -1 if mirrored == sympy.expand(-direct) else 0


def _inside(point: Real, left: Real | None, right: Real | None) -> bool:
    value = point.mpf(300)
    return (left is None or left.mpf(300) < value) and (right is None or value < right.mpf(300))
