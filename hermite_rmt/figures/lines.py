"""Curves of several models along one axis: limits as lines, simulated means as points."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr
from matplotlib.figure import Figure

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
        axes.set_title(f"{title}\n{data.attrs['description']}, bars $\\pm 2$ standard errors")
        axes.legend()
    return figure
