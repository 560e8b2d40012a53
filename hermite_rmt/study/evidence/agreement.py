"""Theory against simulation: cells over nonlinearities, c, gamma, signal and weights, at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.hermite.catalogue import nonlinearities
from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.provenance import software
from hermite_rmt.study.sweep import sweep
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps

BOUNDED = ("sigmoid", "tanh", "erf", "sign", "cos")
UNBOUNDED = ("relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "exp")
NAMES = BOUNDED + UNBOUNDED
SETTINGS: Mapping[str, Overlaps] = {
    "noise": Overlaps(),
    "signal": Overlaps(mu_mu=1),
    "weights": Overlaps(1, "1/2", "3/10", "1/2", "1/2", "1/5"),
}
RATIOS = ("1/2", "2")
GAMMAS = ("1/100", "1/10", "1")
SIZES: Mapping[int, int] = {128: 64, 256: 32, 512: 16, 1024: 16}  # trials at each n; the largest n is the test
FULL_SIZES: Mapping[int, int] = {**SIZES, 2048: 12}
OBSERVABLES = ("error", "trace")
FALSE_ALARMS = 0.01  # probability that a right theory fails in any cell by chance
SEED = 20
Report = Callable[[int, int], None]


def simulate_agreement(
    sizes: Mapping[int, int] = SIZES,
    names: Sequence[str] = NAMES,
    settings: Sequence[str] = tuple(SETTINGS),
    executor: Executor | None = None,
    folder: Path | None = None,
    progress: Report | None = None,
) -> xr.Dataset:
    """Simulate all cells at all sizes.

    Parameters
    ----------
    sizes : {n: trials}
    executor : as for `hermite_rmt.sweep`
    folder : where finished trials are kept, so that an interrupted run continues
    progress : function of (sweeps done, sweeps in all)

    Returns
    -------
    Dataset over (observable, f, setting, n, c, gamma): limit, gap (simulated mean minus the limit at the realised
    p/n), standard_error and deviation (of one trial); trials along n. Observables, all between 0 and 1: the error E
    and gamma times the trace m, whose fluctuations are of order 1/n, so that it shows the gap itself
    """
    shape = (len(OBSERVABLES), len(names), len(settings), len(sizes), len(RATIOS), len(GAMMAS))
    limit, gap, error = np.empty(shape), np.empty(shape), np.empty(shape)
    done = 0
    for i, name in enumerate(names):
        for j, setting in enumerate(settings):
            model = Attention(member(name), overlaps=SETTINGS[setting])
            for k, (n, trials) in enumerate(sizes.items()):
                store = None if folder is None else folder / f"{name}_{setting}_{n}.jsonl"
                simulation = {"n": n, "trials": trials, "rng": SEED}
                cell = sweep(model, RATIOS, GAMMAS, simulate=simulation, executor=executor, store=store)
                for which, name_of in enumerate(OBSERVABLES):
                    unit = cell.gamma if name_of == "trace" else 1.0
                    there = cell[f"{name_of}_at_realised"]
                    limit[which, i, j, k] = there * unit
                    gap[which, i, j, k] = (cell[f"{name_of}_simulated"] - there) * unit
                    error[which, i, j, k] = cell[f"{name_of}_standard_error"] * unit
                done += 1
                if progress is not None:
                    progress(done, len(names) * len(settings) * len(sizes))
    dims = ("observable", "f", "setting", "n", "c", "gamma")
    trials_at = xr.DataArray(list(sizes.values()), dims="n")
    data = xr.Dataset(
        {"limit": (dims, limit), "gap": (dims, gap), "standard_error": (dims, error), "trials": trials_at},
        {
            "observable": list(OBSERVABLES),
            "f": list(names),
            "setting": list(settings),
            "n": list(sizes),
            "c": [0.5, 2.0],
            "gamma": [0.01, 0.1, 1.0],
        },
        {
            "description": "simulated minus limit, attention, f centred, diagonal 0; trace times gamma",
            "software": software(),
        },
    )
    return data.assign(deviation=data.standard_error * np.sqrt(data.trials))


def member(name: str) -> Nonlinearity:
    """Return a nonlinearity of the catalogue, at its default parameters, centred."""
    entry = nonlinearities[name]
    f = entry if isinstance(entry, Nonlinearity) else entry.default
    return f if f.is_centred() else f.centred()


def judge(data: xr.Dataset, false_alarms: float = FALSE_ALARMS) -> xr.Dataset:
    """Test the largest size against the limit plus the term b/n that the smaller sizes measure, cell by cell.

    The criterion is fixed beforehand: |gap - b/n| within Student's quantile for all cells together (Bonferroni: a
    right theory fails anywhere with probability `false_alarms`), in standard errors of gap and of b/n together.

    Returns
    -------
    Dataset over (observable, f, setting, c, gamma): coefficient b with coefficient_error, z (of the largest size,
    with the term b/n), z_limit (without it), passes; attribute quantile
    """
    n = data.n.values.astype(float)
    largest = int(n.argmax())
    calibration = np.delete(np.arange(len(n)), largest)
    weight = data.standard_error.isel(n=calibration) ** -2.0
    regressor = 1 / data.n.isel(n=calibration)
    precision = (weight * regressor**2).sum("n")
    coefficient = (weight * regressor * data.gap.isel(n=calibration)).sum("n") / precision
    coefficient_error = precision**-0.5
    last = data.isel(n=largest)
    allowed = np.hypot(last.standard_error, coefficient_error / n[largest])
    z = (last.gap - coefficient / n[largest]) / allowed
    quantile = float(stats.t.ppf(1 - false_alarms / z.size / 2, int(last.trials) - 1))
    return xr.Dataset(
        {
            "coefficient": coefficient,
            "coefficient_error": coefficient_error,
            "z": z,
            "z_limit": last.gap / last.standard_error,
            "passes": np.abs(z) <= quantile,
        },
        attrs={
            "quantile": quantile,
            "cells": z.size,
            "false_alarms": false_alarms,
            "tested_n": int(n[largest]),
            "description": "cells at the largest n against the limit plus b/n, b measured at the smaller n",
            "software": software(),
        },
    )


def exponents(data: xr.Dataset) -> xr.Dataset:
    """Fit gap = b n^-k with one exponent k for each (observable, f, setting), b its own in every cell of (c, gamma).

    Returns
    -------
    Dataset over (observable, f, setting): exponent and exponent_error (where chi-square has risen by 1;
    nan where no gap is resolved), and the same for the standard deviation of one trial
    """
    dims = ("observable", "f", "setting")
    rows = np.full((*(data.sizes[dim] for dim in dims), 4), np.nan)
    for index in np.ndindex(rows.shape[:-1]):
        cell = data.isel(dict(zip(dims, index, strict=True))).stack(cell=("c", "gamma")).transpose("cell", "n")
        n = cell.n.values.astype(float)
        rows[index][:2] = decay(n, cell.gap.values, cell.standard_error.values)
        spread = cell.deviation.values / np.sqrt(2 * (cell.trials.values - 1))
        rows[index][2:] = decay(n, cell.deviation.values, spread)
    labels = ("exponent", "exponent_error", "deviation_exponent", "deviation_exponent_error")
    return xr.Dataset(
        {label: (dims, rows[..., k]) for k, label in enumerate(labels)},
        {dim: data[dim].values for dim in dims},
        {"description": "gap = b n^-exponent, pooled over c and gamma", "software": software()},
    )


def decay(n: Array, values: Array, errors: Array) -> tuple[float, float]:
    """Fit values[cell, n] = b[cell] n^-k by weighted least squares; return k and its standard error.

    nan, nan if the values are all within their errors, or no k between 0 and 3 fits best.

    >>> n = np.array([100.0, 200.0, 400.0])
    >>> k, error = decay(n, np.array([3.0 / n]), np.array([0.01 / n]))
    >>> round(k, 2), error < 0.1
    (1.0, True)
    """
    weight = errors**-2.0
    if np.sum(values**2 * weight) < values.size + 3 * np.sqrt(2 * values.size):
        return np.nan, np.nan
    grid = np.linspace(0, 3, 601)
    power = n ** -grid[:, None]  # (k, n)
    numerator = np.einsum("cn,kn->kc", weight * values, power) ** 2
    explained = numerator / np.einsum("cn,kn->kc", weight, power**2)
    chi = np.sum(weight * values**2) - explained.sum(axis=1)
    best = int(chi.argmin())
    within = np.flatnonzero(chi <= chi[best] + 1)
    if best in (0, len(grid) - 1):
        return np.nan, np.nan
    return float(grid[best]), float((grid[within[-1]] - grid[within[0]]) / 2)
