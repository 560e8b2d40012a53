"""Gaussian expectations of callables, in double or to any number of digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.adaptive import Interval, NoConvergenceError, Rule, UnresolvedError, bisected, cells
from hermite_rmt.hermite.evaluation import Evaluate, real_value
from hermite_rmt.hermite.grids import Grid
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.panels import Endpoint, Panel
from hermite_rmt.hermite.probes import Probes
from hermite_rmt.hermite.reach import reach
from hermite_rmt.hermite.rules import DigitsRule, DoubleRule
from hermite_rmt.hermite.transform import log2_peak

_PROBES = 41
_TELLING = 7  # points of an interval at which f is asked again why it has no value there
_FINEST = 20  # bisection ends at 2^(-20 target): singularities up to |x|^-0.95 are resolved before


def double_coefficients(integrand: Integrand, order: int) -> list[float]:
    """Return a_0..a_order of a callable in double precision: errors of a few 1e-15 of the norm of f.

    Raises
    ------
    UnresolvedError
        If f has a singularity that arguments in double precision do not come close enough to.
    """
    radius = reach(_log_size(integrand, order, None), 64, integrand.name)
    given = [_fraction(point) for point in integrand.breakpoints or ()]
    width = Fraction(1, max(4, math.isqrt(order)))
    probes = Probes(integrand, order)
    rule = DoubleRule(integrand, order, probes)

    def too_narrow(interval: Interval) -> bool:
        left, right = interval
        return right - left <= max(abs(left), abs(right), Fraction(1, 2**950)) / 2**51

    total, _ = _integrated(integrand, float, rule, cells(given, radius, width), 1e-15, too_narrow, probes.norm)
    return [float(value) for value in total]


def digits_coefficients(integrand: Integrand, order: int, target: int) -> tuple[list[Any], list[Any]]:
    """Return a_0..a_order twice, by two rules and precisions, errors below 2^-target of the largest term."""
    radius = reach(_log_size(integrand, order, 80), target + 20, integrand.name)
    finest = Fraction(1, 2 ** (_FINEST * target))
    probes = Probes(integrand, order)
    results = []
    for precision, share, shift in ((target + 16, Fraction(1, 2), 0), (target + 48, Fraction(5, 11), 1)):
        # on intervals of width w the error of n nodes falls like (w / 4d)^(2n), d the distance of a singularity
        nodes = 12 + math.ceil(precision / 7)
        rule = DigitsRule(integrand, order, nodes, precision, probes)
        width = min(share, Fraction(3, max(1, math.isqrt(order))))
        context = local_context(precision)
        tolerance = context.ldexp(1, -target - 8)
        intervals = cells([], radius + shift, width)
        total, scale = _integrated(
            integrand, context.mpf, rule, intervals, tolerance, lambda interval: interval[1] - interval[0] < finest
        )
        results.append([value / context.sqrt(2 * context.pi) for value in total])
    if max(abs(a - b) for a, b in zip(*results, strict=True)) > context.ldexp(scale, -target):
        raise ValueError(
            f"{integrand.name}: two computations disagree: f has a jump, a kink or a narrow feature that one of them "
            "does not see; give its breakpoints"
        )
    return results[0], results[1]


def _integrated(
    integrand: Integrand,
    convert: Callable[[Any], Any],
    rule: Rule,
    intervals: Sequence[Interval],
    tolerance: Any,
    too_narrow: Callable[[Interval], bool],
    norm: float = 0.0,
) -> Any:
    """Return `bisected`; what it refuses is said with the place, and with the exception f raises there, if any."""
    try:
        return bisected(rule, intervals, tolerance, too_narrow, norm)
    except NoConvergenceError as stopped:
        left, right = stopped.interval
        failure, cause = "", None
        for j in range(1, _TELLING):
            point = convert(float(left + (right - left) * Fraction(j, _TELLING)))
            failure, cause = integrand.failure(point)
            if failure:
                break
        reason = f"{integrand.name}: no convergence near x = {float(left):.6g}: {failure or stopped.reason}"
        if isinstance(stopped, UnresolvedError):
            raise UnresolvedError(reason, stopped.interval) from cause
        raise ValueError(reason) from cause


class CallablePieces:
    """The panels between the breakpoints a user gave (the counterpart of `pieces.Pieces` for callables)."""

    def __init__(self, integrand: Integrand, order: int) -> None:
        self.integrand, self.order = integrand, order
        ends = [None, *map(Endpoint, integrand.breakpoints or ()), None]
        evaluate = _weighted(integrand)
        self._panels = [Panel(a, b, evaluate) for a, b in itertools.pairwise(ends)]

    def panels(self, precision: int) -> list[Panel]:
        """Return the panels; the expectation is checked to be finite."""
        reach(_log_size(self.integrand, self.order, 80), precision, self.integrand.name)
        return self._panels


class SampledSymmetry:
    """Parity of a callable, seen at many points: all that can be known of it."""

    def __init__(self, integrand: Integrand) -> None:
        function = integrand.multiprecision(300)
        context = local_context(300)
        self._sign: int | None = None
        points = [context.sqrt(2) * j / 7 for j in range(1, _PROBES)]
        pairs = [(function(x), function(-x)) for x in points]
        for sign in (1, -1):
            if all(a == sign * b for a, b in pairs):
                self._sign = sign

    def vanishes(self, degree: int) -> bool:
        """Whether parity makes a_degree zero."""
        return self._sign is not None and self._sign != (-1) ** degree


def _weighted(integrand: Integrand) -> Evaluate:
    def evaluate(points: list[Any], precision: int, grid: Grid | None = None) -> list[Any]:
        context = local_context(precision + 20)
        function = integrand.multiprecision(precision + 20)
        values = []
        for point in points:
            x = context.convert(point)
            values.append(real_value(function(x), x, integrand.name) * context.exp(-(x**2) / 2))
        return values

    return evaluate


def _log_size(integrand: Integrand, order: int, precision: int | None) -> Any:
    """Log2 of |x f(x)| exp(-x^2/2) max_k |h_k(x)|; in double where `precision` is None."""
    context = local_context(precision or 53)
    function = None if precision is None else integrand.multiprecision(precision)

    def log_size(point: float) -> float:
        weight = float(log2_peak(np.array(point), order)) + math.log2(abs(point)) - point**2 / (2 * math.log(2))
        if function is None:
            value = min(abs(float(integrand.double(np.array([point]))[0])), 2.0**1023)
            if math.isnan(value):
                return -math.inf if weight < -900 else 0.0
            return (math.log2(value) if value else -math.inf) + weight
        exact = function(context.mpf(point))
        if not context.isfinite(exact):
            return -math.inf if weight < -900 else 0.0
        return (float(context.mag(exact)) if exact else -math.inf) + weight

    return log_size


def _fraction(point: Any) -> Fraction:
    return point.rational if point.rational is not None else Fraction(float(point))
