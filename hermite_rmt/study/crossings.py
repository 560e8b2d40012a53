"""Where the errors of two models are equal along any one parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from hermite_rmt.core.numbers import read_digits
from hermite_rmt.core.solution import html_table
from hermite_rmt.study.gap import PLACES, ROUNDING, SCAN_POINTS, Gap, read_points
from hermite_rmt.study.proved_crossings import isolate, proved_crossing
from hermite_rmt.study.scale import Scale
from hermite_rmt.study.zeros import refined_zero

Errors = Callable[[Any], tuple[Any, Any]]
NEAR_ZERO = 1e-9  # of the scan's width: the digits of a crossing closer to 0 are counted from there
__all__ = ["SCAN_POINTS", "Crossing", "Crossings", "crossings", "sign_changes"]


@dataclass(frozen=True)
class Crossing:
    """Where two curves have one error; `rising` says that the first has the larger error just above `value`."""

    value: Any
    error: Any
    rising: bool

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


class Crossings(list[Crossing]):
    """Crossings in increasing order, and what is known about them.

    Each is a change of sign: seen in double precision at both sides, or with ``digits=`` computed with an error bound
    a hundredth of the last digit to both sides. That none is missed is proved with ``certified=True``, else checked:
    see `known`.

    Attributes
    ----------
    touches : list of float
        Where the curves come together to rounding without a change of sign between two points of the scan: tangent
        to each other, two crossings closer than double precision tells apart, or one curve over an interval.
    spacing : float
        Largest distance of two points of the scan (of their logarithms along c and gamma); 0 without a scan.
    proved : bool
        Whether it is proved that these are all crossings between the ends of the range, each a single one.
    unresolved : list of (float, float)
        With ``certified=True`` the intervals of which nothing is proved: around touches.
    """

    def __init__(
        self,
        found: Sequence[Crossing],
        touches: Sequence[float] = (),
        spacing: float = 0.0,
        unresolved: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        super().__init__(found)
        self.touches = list(touches)
        self.spacing = spacing
        self.proved = unresolved is not None and not unresolved
        self.unresolved = list(unresolved or ())

    @property
    def known(self) -> str:
        """What is known, in a sentence."""
        if self.proved:
            return f"proved: {len(self)} crossing{'' if len(self) == 1 else 's'} and no other"
        if self.unresolved:
            places = ", ".join(f"[{low:.12g}, {high:.12g}]" for low, high in self.unresolved)
            return f"proved: {len(self)} crossing{'' if len(self) == 1 else 's'} and no other outside {places}"
        changes = f"{len(self)} change{'' if len(self) == 1 else 's'} of sign"
        sentence = f"{changes}; between them none was seen by a scan of spacing {self.spacing:.2g}"
        if self.touches:
            places = ", ".join(f"{value:.6g}" for value in self.touches)
            return f"{sentence}; the curves touch, or are one to rounding, at {places}"
        return f"{sentence}, nor a touch"


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
        geometric along c and gamma
    c, gamma : numbers; the one that is the parameter is left out
    scale : of the features, as for `compare`
    digits : None for double precision, else how many digits of each value and error are right
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
        If `values` is not increasing, c or gamma is missing or is the parameter itself, or `certified` is asked for
        along another parameter than gamma.
    TypeError
        If the parameter is neither c nor gamma and no function is given.
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
    points = read_points(parameter, values)
    if certified:
        if parameter != "gamma":
            raise ValueError(f"certified: got True along {parameter}; allowed: along gamma")
        isolated = isolate(gap, float(points[0]), float(points[-1]))
        balls = [Crossing(*proved_crossing(gap, place, wanted or 30), place[2]) for place in isolated.single]
        return Crossings(balls, unresolved=[(float(low), float(high)) for low, high in isolated.unresolved])
    if parameter in PLACES:
        found = sign_changes(lambda log: gap.errors(**{parameter: np.exp(log)}), np.log(points))
        inside = [
            replace(crossing, value=float(np.clip(np.exp(crossing.value), points[0], points[-1])))
            for crossing in found
        ]
        found = Crossings(inside, [float(np.exp(value)) for value in found.touches], found.spacing)
    else:
        found = sign_changes(lambda value: gap.errors(**{parameter: value}), points)
    if wanted is None:
        return found
    width = float(points[-1] - points[0])
    return Crossings(
        [_refined(gap, parameter, crossing, width, wanted) for crossing in found], found.touches, found.spacing
    )


def _refined(gap: Gap, parameter: str, crossing: Crossing, width: float, digits: int) -> Crossing:
    def difference(x: Fraction, digits: int) -> Any:
        one, other = gap.exact_errors(digits, **{parameter: x})
        return one - other

    def error(x: Fraction, digits: int) -> Any:
        return gap.exact_errors(digits, **{parameter: x})[0]

    unit = max(abs(crossing.value), NEAR_ZERO * width)
    value, common = refined_zero(difference, error, crossing.value, unit, crossing.rising, digits, parameter)
    return Crossing(value, common, crossing.rising)


def sign_changes(errors: Errors, points: np.ndarray) -> Crossings:
    """Return where the two errors, functions of one number or an array, are equal between the first and last point.

    Their difference is scanned at the points. Where it comes close to 0 between them without changing sign it is
    minimised first, so that a pair of crossings between two points is found as well. Curves that agree to rounding do
    not cross there, they touch.
    """

    def difference(x: Any) -> Any:
        one, other = errors(x)
        return one - other

    def resolved(x: np.ndarray) -> np.ndarray:
        one, other = errors(x)
        return np.where(np.abs(one - other) <= ROUNDING * np.maximum(one, other), 0.0, one - other)

    spacing = float(np.max(np.diff(points), initial=0.0))
    values = resolved(points)
    near = _near_misses(difference, points[values != 0], values[values != 0])
    order = np.argsort([*points, *near], kind="stable")
    values = np.array([*values, *(resolved(np.array(near)) if near else ())])[order]
    points = np.array([*points, *near])[order]
    together = points[values == 0]
    points, values = points[values != 0], values[values != 0]
    found = []
    for k in np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:])):
        root = brentq(difference, points[k], points[k + 1], xtol=1e-14)
        found.append(Crossing(float(root), float(errors(root)[0]), bool(values[k + 1] > 0)))
        together = together[(together < points[k]) | (together > points[k + 1])]
    return Crossings(found, together.tolist(), spacing)


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
