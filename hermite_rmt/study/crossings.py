"""Where the errors of two models are equal along any one parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from hermite_rmt.core.numbers import read_digits
from hermite_rmt.study.crossing_list import Crossing, Crossings
from hermite_rmt.study.gap import PLACES, ROUNDING, SCAN_POINTS, Gap, read_points
from hermite_rmt.study.proved_crossings import isolate, proved_crossing
from hermite_rmt.study.scale import Scale
from hermite_rmt.study.touches import Run, decide
from hermite_rmt.study.zeros import refined_zero

Errors = Callable[[Any], tuple[Any, Any]]
NEAR_ZERO = 1e-9  # of the scan's width: the digits of a crossing closer to 0 are counted from there
__all__ = ["SCAN_POINTS", "Crossing", "Crossings", "crossings", "sign_changes"]


def crossings(
    left: Any,
    right: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    c: Any = None,
    gamma: Any = None,
    scale: Scale = "equal",
    digits: int | None = None,
    certified: bool = False,
) -> Crossings:
    """Return all E_left = E_right along one parameter, in increasing order.

    Parameters
    ----------
    left, right : models with scalar parameters, or functions that take `parameter` by its name (an array of values;
        with `digits` a Fraction) and return the model: ``functools.partial(Attention, nu=0.5)`` for parameter "a1"
    parameter : "c", "gamma", or the name of the functions' argument
    values : increasing numbers, the points of the scan; two numbers are the ends of one of `SCAN_POINTS` points,
        geometric along c and gamma, where they are from 1e-150 to 1e150: the scan is in double precision
    c, gamma : numbers from 1e-150 to 1e150; the one that is the parameter is left out
    scale : of the features, as for `compare`
    digits : None for double precision, else how many digits of each value and error are right; where the curves touch
        in double precision is then decided in digits
    certified : whether to prove that these are all crossings, and return values and errors as `Ball` (30 digits by
        default); along gamma only, where bounds of the error hold (`hermite_rmt.study.proved_crossings`), between the
        first and the last of `values`, for `Attention` and `LinearRegression`

    Returns
    -------
    Crossings
        A list of `Crossing` whose `value` is that of the parameter; its `known` says what the scan shows and what it
        does not. See `sign_changes` for how they are found: a pair closer than the scan can be missed.

    Raises
    ------
    ValueError
        If `values` is not increasing or beyond the range of doubles, c or gamma is missing or is the parameter
        itself, or `certified` is asked for along another parameter than gamma.
    TypeError
        If left or right is no model and makes none, or the parameter is neither c nor gamma and no function is given.
    ArithmeticError
        If a crossing cannot be had to that many digits, because a function rounds its argument.
    ImportError
        If `certified` and python-flint is not installed.

    >>> from functools import partial
    >>> from hermite_rmt import Attention, LinearRegression
    >>> models = partial(Attention, a1=0), LinearRegression()
    >>> [found] = crossings(*models, "nu", (0.1, 10), c=1, gamma=1)
    >>> round(found.value, 6), found.rising
    (2.159435, False)
    >>> crossings(*models, "nu", (2, 3), c=1, gamma=1, digits=25)[0].value
    mpf('2.159434689179467123927831')
    >>> proved = crossings(Attention(a1="0.1", nu=2), LinearRegression(), "gamma", (0.1, 10), c=1, certified=True)
    >>> print(proved.known, proved[0].value)
    proved: 1 crossing and no other [1.20274904965180149701422752333 +/- 2.9e-30]
    """
    gap = Gap.read(left, right, (parameter,), c, gamma, scale)
    wanted = read_digits(digits)
    if not isinstance(certified, bool | np.bool_):
        raise TypeError(f"certified: got {certified!r}; allowed: True or False")
    points = read_points(parameter, values)
    if certified and parameter != "gamma":
        raise ValueError(f"certified: got True along {parameter}; allowed: along gamma")
    if gap.same:
        return Crossings([], equal="the two models are the same", digits=wanted)
    if certified:
        isolated = isolate(gap, float(points[0]), float(points[-1]))
        balls = [Crossing(*proved_crossing(gap, place, wanted or 30), place[2]) for place in isolated.single]
        return Crossings(balls, unresolved=[(float(low), float(high)) for low, high in isolated.unresolved])
    found, runs = _seen(gap, parameter, points)
    touches = [place for run in runs for place in run.inside]
    if wanted is not None:
        found, touches = _in_digits(gap, parameter, found, runs, float(points[-1] - points[0]), wanted)
    spacing = float(np.max(np.diff(np.log(points) if parameter in PLACES else points)))
    equal = ""
    if not found and [touches] == [list(run.points) for run in runs]:
        precision = "in double precision" if wanted is None else f"to {wanted} digits"
        equal = f"{precision}, at every point of a scan of spacing {spacing:.2g}"
    return Crossings(found, touches, spacing, equal=equal, digits=wanted)


def _seen(gap: Gap, parameter: str, points: np.ndarray) -> tuple[list[Crossing], list[Run]]:
    """Return what double precision shows between the ends: crossings, and runs where the curves are together."""
    if parameter not in PLACES:
        return sign_changes(lambda value: gap.errors(**{parameter: value}), points)

    def place(log: float) -> float:
        return float(np.clip(np.exp(log), points[0], points[-1]))

    found, runs = sign_changes(lambda log: gap.errors(**{parameter: np.exp(log)}), np.log(points))
    inside = [replace(crossing, value=place(crossing.value)) for crossing in found]
    return inside, [run.mapped(place) for run in runs]


def _in_digits(
    gap: Gap, parameter: str, found: Sequence[Crossing], runs: Sequence[Run], width: float, digits: int
) -> tuple[list[Crossing], list[float]]:
    """Return the crossings to many digits, with those that digits find in the runs, and the touches that are left."""

    def difference(x: Fraction, digits: int) -> Any:
        one, other = gap.exact_errors(digits, **{parameter: x})
        return one - other

    def error(x: Fraction, digits: int) -> Any:
        return gap.exact_errors(digits, **{parameter: x})[0]

    def refined(start: float | Fraction, rising: bool, step: Fraction | None = None) -> Crossing:
        unit = max(abs(float(start)), NEAR_ZERO * width)
        value, common = refined_zero(difference, error, start, unit, rising, digits, parameter, step)
        return Crossing(value, common, rising)

    decided = [decide(run, difference, digits) for run in runs]
    refound = [refined(crossing.value, crossing.rising) for crossing in found]
    refound += [refined(near.place, near.rising, near.distance) for brackets, _ in decided for near in brackets]
    return sorted(refound, key=lambda crossing: crossing.value), [x for _, touches in decided for x in touches]


def sign_changes(errors: Errors, points: np.ndarray) -> tuple[list[Crossing], list[Run]]:
    """Return where two errors, functions of one number or an array, are equal between the first and last point.

    Their difference is scanned at the points. Where it comes close to 0 between them without changing sign it is
    minimised first, so that a pair of crossings between two points is found as well. Curves that agree to rounding do
    not cross there, they touch: the runs of points where they do are returned beside the crossings.
    """

    def difference(x: Any) -> Any:
        one, other = errors(x)
        return one - other

    def resolved(x: np.ndarray) -> np.ndarray:
        one, other = errors(x)
        return np.where(np.abs(one - other) <= ROUNDING * np.maximum(one, other), 0.0, one - other)

    values = resolved(points)
    near = _near_misses(difference, points[values != 0], values[values != 0])
    order = np.argsort([*points, *near], kind="stable")
    values = np.array([*values, *(resolved(np.array(near)) if near else ())])[order]
    points = np.array([*points, *near])[order]
    apart = np.flatnonzero(values)
    found, runs = [], []
    for before, after in pairwise([None, *apart.tolist(), None]):
        if before is not None and after is not None and (values[before] > 0) != (values[after] > 0):
            root = brentq(difference, points[before], points[after], xtol=1e-14)
            found.append(Crossing(float(root), float(errors(root)[0]), bool(values[after] > 0)))
            continue
        inside = points[0 if before is None else before + 1 : after].tolist()
        if inside:
            runs.append(Run(tuple(points[before : None if after is None else after + 1].tolist()), tuple(inside)))
    return found, runs


def _near_misses(difference: Callable[[Any], Any], points: np.ndarray, values: np.ndarray) -> list[float]:
    """Return where |difference| is smallest beside each point where it is smaller than at both neighbours."""
    size, sign = np.abs(values), np.sign(values)
    dips = [
        k
        for k in range(1, len(points) - 1)
        if sign[k - 1] == sign[k] == sign[k + 1] and size[k] <= min(size[k - 1], size[k + 1])
    ]
    return [
        minimize_scalar(
            lambda x, k=k: float(sign[k] * difference(x)),
            bounds=(points[k - 1], points[k + 1]),
            method="bounded",
            options={"xatol": 1e-9},
        ).x
        for k in dips
    ]
