"""Models side by side on one grid, and where their error curves cross."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.study.crossings import SCAN_POINTS, Crossing, sign_changes
from hermite_rmt.study.grid import OBSERVABLES, Grid, labelled, require_scalar
from hermite_rmt.study.provenance import provenance
from hermite_rmt.study.scale import Scale, scaled_theory


def compare(models: Any, c: Any, gamma: Any, scale: Scale = "equal") -> xr.Dataset:
    """Compute several models on one grid, and every crossing of their error curves along c.

    Parameters
    ----------
    models : models with scalar parameters, or one
    c, gamma : numbers or one-dimensional sequences: the axes of the grid
    scale : "equal" takes every model at the given gamma. The comparison then depends on the scale of the features:
        f -> 10 f lowers attention's error and leaves linear regression's as it is.
        "trace" divides each model's features A by the square root of their energy
        ``lim tr(A A^T) / (n p)`` (see `feature_energy`), so that all models have features of equal trace norm, 1 a
        feature as for the tokens X; that is the model itself at the ridge gamma * energy(c).

    Returns
    -------
    Dataset with dims (model, c, gamma): error, quadratic_form, trace (of the scaled features' resolvent).
    All crossings between the smallest and the largest c are a table along dim crossing: crossing_first and
    crossing_second (two models), crossing_gamma, crossing_c, crossing_error, and crossing_rising: whether the first
    model has the larger error just above crossing_c. See `crossings` for how they are found.

    Raises
    ------
    ValueError, TypeError
        If a model, the grid or `scale` is not allowed, or the energy of a model's features is not known.

    >>> from hermite_rmt import LinearRegression
    >>> data = compare([LinearRegression(), LinearRegression(mu_mu=1)], c=[0.5, 2], gamma=0.1)
    >>> data.error.dims, data.sizes["crossing"]
    (('model', 'c', 'gamma'), 0)
    """
    if scale not in ("equal", "trace"):
        raise ValueError(f"scale: got {scale!r}; allowed: 'equal' or 'trace'")
    models = list(models) if isinstance(models, Iterable) else [models]
    if not models:
        raise ValueError("models: got none; allowed: at least one model")
    for model in models:
        require_scalar(model, "models")
    grid = Grid.read(c, gamma)
    c_values, gamma_values = grid.c.floats, grid.gamma.floats
    names = _labels(models)
    theories = [scaled_theory(model, c_values[:, None], gamma_values[None, :], scale) for model in models]
    data = xr.Dataset(
        {
            name: labelled(name, ("model", "c", "gamma"), [theory[name] for theory in theories])
            for name in OBSERVABLES
        },
        grid.coordinates | {"model": names},
        {"scale": scale}
        | {f"model_{name}": provenance(model)["model"] for name, model in zip(names, models, strict=True)},
    )
    low, high = np.log(c_values.min()), np.log(c_values.max())
    scan = np.linspace(low, high, SCAN_POINTS if low < high else 1)
    curves = {gamma: [_curve(model, gamma, scale, scan) for model in models] for gamma in gamma_values.tolist()}
    table = [
        (names[i], names[j], gamma, crossing)
        for i, j in itertools.combinations(range(len(models)), 2)
        for gamma, at_gamma in curves.items()
        for crossing in _crossings(at_gamma[i], at_gamma[j], scan)
    ]
    return data.assign(_crossing_table(table))


def _curve(model: Any, gamma: float, scale: Scale, scan: np.ndarray) -> Callable[[Any], Any]:
    """Return the error of a model as a function of log c, computed once at the scan for all its comparisons."""

    def error(log_c: Any) -> Any:
        return scaled_theory(model, np.exp(log_c), gamma, scale)["error"]

    scanned = cache(lambda: error(scan))
    return lambda log_c: scanned() if log_c is scan else error(log_c)


def _crossings(first: Callable[[Any], Any], second: Callable[[Any], Any], scan: np.ndarray) -> list[Crossing]:
    """Return all crossings of two error curves along c, in order; see `sign_changes`."""
    found, _ = sign_changes(lambda log_c: (first(log_c), second(log_c)), scan)
    return [replace(crossing, value=float(np.exp(crossing.value))) for crossing in found]


def _labels(models: Sequence[Any]) -> list[str]:
    """Return one label a model: its name, with its nonlinearity and a number where they are needed to tell models."""
    names = [model.name for model in models]
    labels = []
    for model in models:
        f = getattr(model, "nonlinearity", None)
        labels.append(model.name if names.count(model.name) == 1 or f is None else f"{model.name} {f.name}")
    return [
        label if labels.count(label) == 1 else f"{label} {1 + labels[:k].count(label)}"
        for k, label in enumerate(labels)
    ]


def _crossing_table(rows: Sequence[tuple[str, str, float, Crossing]]) -> dict[str, Any]:
    columns = {
        "crossing_first": [first for first, _, _, _ in rows],
        "crossing_second": [second for _, second, _, _ in rows],
        "crossing_gamma": [gamma for _, _, gamma, _ in rows],
        "crossing_c": [crossing.value for _, _, _, crossing in rows],
        "crossing_error": [crossing.error for _, _, _, crossing in rows],
        "crossing_rising": [crossing.rising for _, _, _, crossing in rows],
    }
    types = {"crossing_first": str, "crossing_second": str, "crossing_rising": bool}
    return {name: (("crossing",), np.array(column, dtype=types.get(name, float))) for name, column in columns.items()}
