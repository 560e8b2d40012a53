"""`plot`: the figure that belongs to an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.comparison import comparison_figure
from hermite_rmt.figures.curves import curve_figure
from hermite_rmt.figures.spectrum import spectrum_figure
from hermite_rmt.hermite.expansion import HermiteExpansion
from hermite_rmt.hermite.nonlinearity import Nonlinearity

ORDER = 24
ALLOWED = "a Nonlinearity, a HermiteExpansion, or datasets of sweep or compare"


def plot(thing: Any) -> Figure:
    """Return the figure of a nonlinearity, an expansion, sweeps, or a comparison; a notebook shows it.

    Parameters
    ----------
    thing : `Nonlinearity` or `HermiteExpansion` (Hermite energies), a dataset of `sweep` or a sequence of them (error
        curves), or a dataset of `compare` (error curves with their crossings)

    Raises
    ------
    TypeError
        If there is no figure of such a thing.

    >>> from hermite_rmt import LinearRegression, sweep
    >>> plot(sweep(LinearRegression(), c=[0.5, 1, 2], gamma=0.1)).axes[0].get_ylabel()
    'interpolation error $E$'
    """
    if isinstance(thing, Nonlinearity):
        return spectrum_figure(thing.coefficients(ORDER), thing.nu(), thing.name)
    if isinstance(thing, HermiteExpansion):
        total = sum(thing.energies) if thing.nu is None else thing.nu
        return spectrum_figure(thing.coefficients, total, f"expansion of order {thing.order}")
    if isinstance(thing, xr.Dataset) and "crossing" in thing.dims:
        return comparison_figure(thing)
    sweeps = [thing] if isinstance(thing, xr.Dataset) else list(thing) if isinstance(thing, Sequence) else []
    if not sweeps or not all(isinstance(data, xr.Dataset) and "error" in data for data in sweeps):
        raise TypeError(f"thing: got {thing!r}; allowed: {ALLOWED}")
    return curve_figure(sweeps)
