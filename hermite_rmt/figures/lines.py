"""Curves of several models along one axis: limits as lines, simulated means as points, single draws as bands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hermite_rmt.figures.bands import NOTE, deviation_band
from hermite_rmt.figures.style import DASHES, LOOKS, Look, styled

AXES: Mapping[str, tuple[str, bool]] = {
    "c": ("$c = p/n$", True),
    "mu_mu": (r"signal $|\mu|^2$", True),
    "angle": (r"angle of $w_K = w_Q$ to $\mu$ (degrees)", False),
}
REGRESSION = Look("black", "x", "black")


def lines_figure(data: xr.Dataset, title: str) -> Figure:
    """Draw a dataset of `hermite_rmt.study.evidence.curves`."""
    axis = next(name for name in AXES if name in data.dims)
    label, logarithmic = AXES[axis]
    with styled():
        figure = Figure(figsize=(6.4, 4.2))
        axes = figure.add_subplot()
        looks = [*LOOKS[: data.sizes["model"] - 1], REGRESSION]
        dashes = [*DASHES[: data.sizes["model"] - 1], "-"]
        for look, dash, name in zip(looks, dashes, data.model.values, strict=True):
            cell = data.sel(model=name)
            _band(axes, cell, axis, logarithmic, look.colour)
            axes.plot(data[axis].values, cell.limit.values, color=look.colour, linestyle=dash, label=str(name))
            axes.errorbar(
                data.position.values,
                cell.simulated.values,
                yerr=2 * cell.standard_error.values,
                color=look.colour,
                marker=look.marker,
                markerfacecolor=look.face,
                linestyle="none",
            )
        if logarithmic:
            axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.set_ylabel("interpolation error $E$")
        axes.set_ylim(bottom=0)
        simulated = (
            f"simulated: $n = {data.attrs['n']}$, {data.attrs['trials']} trials, bars $\\pm 2$ standard errors"
        )
        axes.set_title(f"{title}, $\\gamma = {data.attrs['gamma']:g}$\n{simulated},\n{NOTE}")
        axes.legend()
    return figure


def _band(axes: Axes, cell: xr.Dataset, axis: str, logarithmic: bool, colour: str) -> None:
    """Draw where single draws fall; gap and deviation are known at the simulated points, and lie between them."""
    scale = np.log if logarithmic else np.asarray
    at, known = scale(cell[axis].values), scale(cell.position.values)
    gap = cell.simulated.values - np.interp(known, at, cell.limit.values)
    mean = cell.limit.values + np.interp(at, known, gap)
    deviation_band(axes, cell[axis].values, mean, np.interp(at, known, cell.deviation.values), colour)
