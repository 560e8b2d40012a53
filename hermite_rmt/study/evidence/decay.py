"""Powers of 1/n with which gaps and fluctuations fall."""

from __future__ import annotations

import numpy as np
import xarray as xr

from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.provenance import software


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
