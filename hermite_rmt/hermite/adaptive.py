"""Quadrature by bisection: for callables, whose kinks, jumps and peaks nobody knows beforehand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Interval = tuple[Fraction, Fraction]

_MOST_INTERVALS = 40_000
_DOUBT = 1e-15  # what may be missed of f between the probes, relative to the sum
_LOOK_BACK = 20  # levels after which an integrable singularity has shrunk: like d^-0.99 by a factor 0.87
_DIVERGES = 0.9


class Sums(NamedTuple):
    """What a rule finds on some intervals, one row or entry each.

    Attributes
    ----------
    values : array (intervals, order + 1) of floats or mpf
    doubt : what f at other points, against its interpolant, says may be missing
    undefined : whether f has a value at no node
    """

    values: np.ndarray
    doubt: np.ndarray
    undefined: np.ndarray


Rule = Callable[[Sequence[Interval]], Sums]


class NoConvergenceError(Exception):
    """What bisection cannot resolve: the reason, and where."""

    def __init__(self, reason: str, interval: Interval) -> None:
        super().__init__(reason)
        self.reason, self.interval = reason, interval


class UnresolvedError(NoConvergenceError):
    """A singularity that needs points closer to it than the rule can take."""


def bisected(
    rule: Rule,
    intervals: Sequence[Interval],
    tolerance: Any,
    too_narrow: Callable[[Interval], bool],
    norm: float = 0.0,
) -> Any:
    """Return the sums over all intervals, each halved until its sum and the sum of its halves agree.

    Parameters
    ----------
    rule : sums of all degrees over intervals
    tolerance : accepted difference, relative to the scale: the largest sum of absolute values
    too_narrow : whether the rule cannot halve an interval any more
    norm : the least scale

    Raises
    ------
    NoConvergenceError
        If the differences do not shrink with the width: f is not integrable, undefined on an interval, or rough.
    UnresolvedError
        If intervals that cannot be halved contribute too much.
    """
    pending = list(intervals)
    whole = rule(pending).values
    total: np.ndarray = whole[0] * 0
    accepted = total  # sum of absolute values
    scale: Any = max(*abs(whole).sum(axis=0), norm)
    left_over: Any = 0
    worst: list[Any] = []  # the largest difference of each level
    visited = 0
    while pending:
        middles = [(a + b) / 2 for a, b in pending]
        halves = [half for (a, b), m in zip(pending, middles, strict=True) for half in ((a, m), (m, b))]
        visited += len(halves)
        found = rule(halves)
        if found.undefined.any():
            raise NoConvergenceError("f is undefined on an interval there", halves[int(found.undefined.argmax())])
        refined = found.values[0::2] + found.values[1::2]
        doubts = np.maximum(found.doubt[0::2], found.doubt[1::2])
        with np.errstate(invalid="ignore"):  # a node on a pole
            errors: list[Any] = [max(row) for row in abs(refined - whole)]
        finite = [bool(error < math.inf) for error in errors]  # and not nan
        here = [index for index, known in enumerate(finite) if known]
        scale = max(scale, max(accepted + abs(refined[here]).sum(axis=0)))  # a narrow peak shows late
        again, deepest = [], pending[0]
        for index, (interval, error) in enumerate(zip(pending, errors, strict=True)):
            if finite[index] and error <= tolerance * scale and doubts[index] <= _DOUBT * scale:
                total, accepted = total + refined[index], accepted + abs(refined[index])
            elif too_narrow(interval):
                # an isolated undefined point costs nothing
                if finite[index]:
                    total, accepted = total + refined[index], accepted + abs(refined[index])
                    left_over, deepest = left_over + error, interval
            else:
                again.append(index)
        if again:
            worst.append(max((errors[index] for index in again if finite[index]), default=0))
            first = pending[again[0]]
            if visited > _MOST_INTERVALS:
                raise NoConvergenceError("f is too rough, or its rounding errors are", first)
            before = worst[-1 - _LOOK_BACK] if len(worst) > 2 * _LOOK_BACK else 0
            if before > tolerance * scale and worst[-1] > _DIVERGES * before:
                raise NoConvergenceError("f is not integrable", first)
        elif left_over > 10 * tolerance * scale:
            error_type = UnresolvedError if left_over < scale / 10 else NoConvergenceError
            raise error_type("f is not integrable, or too singular for points in double precision", deepest)
        pending = [halves[2 * i + side] for i in again for side in (0, 1)]
        whole = found.values[[2 * i + side for i in again for side in (0, 1)]] if again else whole[:0]
    return total, scale


def cells(points: Sequence[Fraction], radius: int, width: Fraction) -> list[Interval]:
    """Return intervals of at most `width` that cover [-radius, radius] and end at the points."""
    inside = sorted({point for point in points if abs(point) < radius})
    ends = [Fraction(-radius), *inside, Fraction(radius)]
    cut: list[Interval] = []
    for a, b in itertools.pairwise(ends):
        count = math.ceil((b - a) / width)
        marks = [a + (b - a) * Fraction(j, count) for j in range(count + 1)]
        cut += list(itertools.pairwise(marks))
    return cut
