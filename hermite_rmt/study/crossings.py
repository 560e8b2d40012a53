"""Where the errors of two models are equal: along any parameter, and as a curve in two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import brentq, minimize_scalar

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import html_table
from hermite_rmt.study.scale import Scale, scaled_theory

SCAN_POINTS = 400
ROUNDING = 1e-12  # relative difference of two errors that double precision does not resolve

Errors = Callable[[Any], tuple[Any, Any]]


@dataclass(frozen=True)
class Crossing:
    """Where two curves have one error; `rising` says that the first has the larger error just above `value`."""

    value: float
    error: float
    rising: bool

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


def crossings(
    left: Any,
    right: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    c: Any = None,
    gamma: Any = None,
    scale: Scale = "equal",
) -> list[Crossing]:
    """Return all E_left = E_right along one parameter, in increasing order.

    Parameters
    ----------
    left, right : models with scalar parameters, or functions that take `parameter` by its name (an array of values)
        and return the model: ``functools.partial(Attention, nu=0.5)`` for parameter "a1"
    parameter : "c", "gamma", or the name of the functions' argument
    values : increasing numbers, the points of the scan; two numbers are the ends of one of `SCAN_POINTS` points,
        geometric along c and gamma
    c, gamma : numbers; the one that is the parameter is left out
    scale : of the features, as for `compare`

    Returns
    -------
    list of `Crossing`, whose `value` is that of the parameter. See `sign_changes` for how they are found: a pair
    closer than the scan can be missed, curves that agree to rounding do not cross.

    Raises
    ------
    ValueError
        If `values` is not increasing, or c or gamma is missing or is the parameter itself.
    TypeError
        If the parameter is neither c nor gamma and no function is given.

    >>> from functools import partial
    >>> from hermite_rmt import Attention, LinearRegression
    >>> [found] = crossings(partial(Attention, a1=0), LinearRegression(), "nu", (0.1, 10), c=1, gamma=1)
    >>> round(found.value, 6), found.rising
    (2.159435, False)
    """
    if scale not in ("equal", "trace"):
        raise ValueError(f"scale: got {scale!r}; allowed: 'equal' or 'trace'")
    fixed = {name: Parameter(value, name).floats for name, value in (("c", c), ("gamma", gamma)) if value is not None}
    errors = _errors(left, right, parameter, fixed, scale)
    points = _scan_points(parameter, values)
    if parameter not in ("c", "gamma"):
        return sign_changes(errors, points)
    found = sign_changes(lambda log: errors(np.exp(log)), np.log(points))
    return [replace(crossing, value=float(np.exp(crossing.value))) for crossing in found]


def crossing_curve(
    left: Any,
    right: Any,
    parameter: str,
    values: Sequence[Any],
    other: str,
    other_values: Sequence[Any],
    *,
    c: Any = None,
    gamma: Any = None,
    scale: Scale = "equal",
) -> xr.Dataset:
    """Return the curve E_left = E_right in the plane of two parameters, as all `crossings` of each row of `other`.

    Parameters
    ----------
    left, right, parameter, values, c, gamma, scale : as for `crossings`; functions take both parameters by name
    other, other_values : the second parameter and its values, one row each

    Returns
    -------
    Dataset along dim crossing: the two parameters by their names, error and rising, row by row

    >>> from hermite_rmt import Attention, LinearRegression
    >>> curve = crossing_curve(Attention(a1=0.6, nu=0.5), LinearRegression(), "c", (0.1, 10), "gamma", [0.01, 1])
    >>> list(curve.data_vars)
    ['gamma', 'c', 'error', 'rising']
    """
    if other == parameter:
        raise ValueError(f"other: got {other!r}, the parameter itself; allowed: another one")
    rows = []
    for value in Parameter(other_values, "other_values").floats.ravel().tolist():
        place: dict[str, Any] = {"c": c, "gamma": gamma}
        first, second = left, right
        if other in place:
            place[other] = value
        else:
            first, second = (_with(model, {other: value}) for model in (left, right))
        rows += [(value, found) for found in crossings(first, second, parameter, values, scale=scale, **place)]
    return xr.Dataset(
        {
            other: ("crossing", np.array([value for value, _ in rows], dtype=float)),
            parameter: ("crossing", np.array([found.value for _, found in rows], dtype=float)),
            "error": ("crossing", np.array([found.error for _, found in rows], dtype=float)),
            "rising": ("crossing", np.array([found.rising for _, found in rows], dtype=bool)),
        }
    )


def sign_changes(errors: Errors, points: np.ndarray) -> list[Crossing]:
    """Return where the two errors, functions of one number or an array, are equal between the first and last point.

    Their difference is scanned at the points. Where it comes close to 0 between them without changing sign it is
    minimised first, so that a pair of crossings between two points is found as well. Curves that agree to rounding on
    an interval do not cross there.
    """

    def difference(x: Any) -> Any:
        one, other = errors(x)
        return one - other

    def resolved(x: np.ndarray) -> np.ndarray:
        one, other = errors(x)
        return np.where(np.abs(one - other) <= ROUNDING * np.maximum(one, other), 0.0, one - other)

    values = resolved(points)
    points, values = points[values != 0], values[values != 0]
    if near := _near_misses(difference, points, values):
        order = np.argsort([*points, *near], kind="stable")
        values = np.array([*values, *resolved(np.array(near))])[order]
        points = np.array([*points, *near])[order]
        points, values = points[values != 0], values[values != 0]
    found = []
    for k in np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:])):
        root = brentq(difference, points[k], points[k + 1], xtol=1e-14)
        found.append(Crossing(float(root), float(errors(root)[0]), bool(values[k + 1] > 0)))
    return found


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


def _errors(left: Any, right: Any, parameter: str, fixed: Mapping[str, Any], scale: Scale) -> Errors:
    for name in ("c", "gamma"):
        if (name in fixed) == (name == parameter):
            allowed = "nothing, it is the parameter" if name == parameter else "a positive number"
            raise ValueError(f"{name}: got {fixed.get(name)}; allowed: {allowed}")
    if parameter not in ("c", "gamma") and not (callable(left) or callable(right)):
        raise TypeError(f"left, right: got two models; allowed: a function of {parameter} for at least one of them")

    def errors(value: Any) -> tuple[Any, Any]:
        place = {**fixed, parameter: value} if parameter in ("c", "gamma") else fixed
        models = (
            (left, right) if parameter in ("c", "gamma") else (_built(m, parameter, value) for m in (left, right))
        )
        one, other = (scaled_theory(model, place["c"], place["gamma"], scale)["error"] for model in models)
        return one, other

    return errors


def _built(model: Any, parameter: str, value: Any) -> Any:
    return model(**{parameter: value}) if callable(model) else model


def _with(model: Any, fixed: Mapping[str, Any]) -> Any:
    """Return a function of the remaining parameter with the others fixed; a model stays as it is."""
    return (lambda **values: model(**fixed, **values)) if callable(model) else model


def _scan_points(parameter: str, values: Sequence[Any]) -> np.ndarray:
    points = Parameter(values, "values").floats
    if points.ndim != 1 or points.size < 2 or not (np.diff(points) > 0).all():
        raise ValueError(f"values: got {values!r}; allowed: at least two increasing numbers")
    if parameter in ("c", "gamma"):
        Parameter(points, "values").require_positive()
    if points.size > 2:
        return points
    spaced = np.geomspace if parameter in ("c", "gamma") else np.linspace
    return spaced(points[0], points[1], SCAN_POINTS)
