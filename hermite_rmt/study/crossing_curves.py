"""Where the errors of two models are equal in the plane of two parameters: points row by row, and whole branches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import contourpy
import numpy as np
import xarray as xr

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.study.crossings import crossings
from hermite_rmt.study.gap import PLACES, ROUNDING, Gap, read_points, within_doubles, within_range
from hermite_rmt.study.scale import Scale

RESOLUTION = (200, 100)
HALVINGS = 50
NO_BRANCH = -1
SAME_POINT = 1e-9  # of the box: two ways to one zero differ less


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
    resolution: tuple[int, int] = RESOLUTION,
) -> xr.Dataset:
    """Return the curve E_left = E_right in the plane of two parameters: its points in rows, and its branches.

    Parameters
    ----------
    left, right, parameter, values, c, gamma, scale : as for `crossings`; functions take both parameters by name
    other, other_values : the second parameter and its values, one row each
    resolution : how many values of `parameter` and of `other` make the grid that branches are read from; those given
        are among them

    Returns
    -------
    Dataset with three dims.
    crossing : all `crossings` of each row, row by row: the two parameters by their names, error and rising, and
        crossing_branch, the number of the branch (-1 for one that the grid does not resolve)
    point : the branches, point by point along each: branch, point_<parameter>, point_<other>, point_error. Every
        point is a zero of the difference on a line of the grid, refined to double precision; the larger error of
        `left` is on the left-hand side of the direction of travel, `parameter` to the right and `other` upwards
    branch_number : closed, whether a branch comes back to its first point; others end at the border of the box

    Raises
    ------
    ValueError, TypeError
        As `crossings`, and if `other_values` or `resolution` is not allowed.

    A branch may turn round in either parameter. Branches are told apart by a grid: what happens within one of its
    cells (a loop, two branches that almost meet) is not seen.

    >>> from hermite_rmt import Attention, LinearRegression
    >>> curve = crossing_curve(Attention(a1=0.6, nu=0.5), LinearRegression(), "c", (0.1, 10), "gamma", [0.01, 1])
    >>> list(curve.data_vars)[:4], curve.closed.values.tolist()
    (['gamma', 'c', 'error', 'rising'], [False])
    """
    if other == parameter:
        raise ValueError(f"other: got {other!r}, the parameter itself; allowed: another one")
    gap = Gap.read(left, right, (parameter, other), c, gamma, scale)
    rows = _rows(other, other_values)
    if not isinstance(resolution, Sequence) or [type(count) for count in resolution] != [int, int]:
        raise TypeError(f"resolution: got {resolution!r}; allowed: two whole numbers")
    axes = (_axis(parameter, read_points(parameter, values, 2), resolution[0]), _axis(other, rows, resolution[1]))
    branches = _branches(gap, axes)
    found = []
    for value in rows.tolist():
        place = {"c": c, "gamma": gamma} | ({other: value} if other in PLACES else {})
        one, two = (left, right) if other in PLACES else (_with(model, other, value) for model in (left, right))
        in_row = crossings(one, two, parameter, values, scale=scale, **place)
        found += [(value, crossing, _branch_at(branches, crossing.value, value, axes)) for crossing in in_row]
    points = np.concatenate([branch for branch, _ in branches]) if branches else np.empty((0, 2))
    errors = gap.errors(**{parameter: points[:, 0], other: points[:, 1]})[0] if points.size else np.empty(0)
    numbers = np.repeat(np.arange(len(branches)), [len(branch) for branch, _ in branches])
    return xr.Dataset(
        {
            other: ("crossing", np.array([value for value, _, _ in found], dtype=float)),
            parameter: ("crossing", np.array([crossing.value for _, crossing, _ in found], dtype=float)),
            "error": ("crossing", np.array([crossing.error for _, crossing, _ in found], dtype=float)),
            "rising": ("crossing", np.array([crossing.rising for _, crossing, _ in found], dtype=bool)),
            "crossing_branch": ("crossing", np.array([number for _, _, number in found], dtype=int)),
            "branch": ("point", numbers),
            f"point_{parameter}": ("point", points[:, 0]),
            f"point_{other}": ("point", points[:, 1]),
            "point_error": ("point", np.asarray(errors, dtype=float)),
            "closed": ("branch_number", np.array([closed for _, closed in branches], dtype=bool)),
        }
    )


def _rows(other: str, other_values: Any) -> np.ndarray:
    """Return the values of the second parameter."""
    given = Parameter(other_values, "other_values")
    if given.shape == (0,) or len(given.shape) > 1:
        raise ValueError(f"other_values: got an array of shape {given.shape}; allowed: a number, or several in a row")
    if other in PLACES:
        within_doubles(given.require_positive())
    return within_range(given).floats.ravel()


def _axis(name: str, points: np.ndarray, count: int) -> np.ndarray:
    """Return the given points in order, with as many between the first and the last as make about `count`."""
    ends = float(points.min()), float(points.max())
    between = (np.geomspace if name in PLACES else np.linspace)(*ends, max(count - points.size + 2, 2))
    return np.unique([*points, *between[1:-1]])


def _branches(gap: Gap, axes: tuple[np.ndarray, np.ndarray]) -> list[tuple[np.ndarray, bool]]:
    """Return every branch: its points of shape (N, 2), and whether it is closed."""
    if min(axis.size for axis in axes) < 2:
        return []
    names = gap.free
    one, two = (np.broadcast_to(x, (axes[1].size, axes[0].size)) for x in (axes[0], axes[1][:, None]))
    errors = gap.errors(**{names[0]: one, names[1]: two})
    difference = np.where(_alike(errors), 0.0, errors[0] - errors[1])
    # a monotone image of the difference that is never close to 0: no vertex falls on a corner of the grid by rounding
    image = np.sign(difference) * (0.1 + np.abs(difference) / np.maximum(*errors))
    column, row = (np.arange(axis.size, dtype=float) for axis in axes)
    lines = contourpy.contour_generator(column, row, np.ma.masked_equal(image, 0.0), name="serial").lines(0.0)
    return [(_on_edges(gap, axes, line), bool((line[0] == line[-1]).all())) for line in map(np.asarray, lines)]


def _alike(errors: tuple[Any, Any]) -> np.ndarray:
    one, other = errors
    return np.asarray(np.abs(one - other) <= ROUNDING * np.maximum(one, other))


def _on_edges(gap: Gap, axes: tuple[np.ndarray, np.ndarray], line: np.ndarray) -> np.ndarray:
    """Move each vertex along its edge of the grid to the zero of the difference, by bisection."""
    # one coordinate is that of a line of the grid, to rounding; the other is at least a twentieth away from any
    line = np.where(np.abs(line - np.rint(line)) < 0.02, np.rint(line), line)
    below, above = (
        np.stack([axis[step(line[:, k]).astype(int)] for k, axis in enumerate(axes)], axis=-1)
        for step in (np.floor, np.ceil)
    )

    def signs(points: np.ndarray) -> np.ndarray:
        values = dict(zip(gap.free, points.T, strict=True))
        return np.asarray(np.sign(gap.difference(**values)))

    first = signs(below)
    for _ in range(HALVINGS):
        middle = below + (above - below) / 2
        same = (signs(middle) == first)[:, None]
        below, above = np.where(same, middle, below), np.where(same, above, middle)
    return np.asarray(below + (above - below) / 2)


def _branch_at(
    branches: Sequence[tuple[np.ndarray, bool]], value: float, row: float, axes: tuple[np.ndarray, np.ndarray]
) -> int:
    """Return the number of the branch that passes a crossing of a row."""
    near = SAME_POINT * np.ptp(axes[0])
    for number, (branch, _) in enumerate(branches):
        if np.any((branch[:, 1] == row) & (np.abs(branch[:, 0] - value) <= near)):
            return number
    return NO_BRANCH


def _with(model: Any, name: str, value: float) -> Any:
    """Return a function of the remaining parameter with one fixed; a model stays as it is."""
    return partial(model, **{name: value}) if callable(model) else model
