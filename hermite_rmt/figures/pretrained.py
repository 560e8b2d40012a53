"""Figures of the pretrained study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.style import DASHES, LOOKS, styled

PREDICTIONS = {
    "full": "limit for the whole $W$",
    "identity": "Theorem 1, $W = I$",
    "fitted": "Theorem 1, Assumption 1 as fitted",
}


def anatomy_figure(data: xr.Dataset) -> Figure:
    """Draw singular values of W_K^T W_Q, what identity plus low rank leaves, and the identity's share."""
    with styled():
        figure = Figure(figsize=(11.4, 3.6))
        first, second, third = figure.subplots(1, 3)
        for layer in range(data.sizes["layer"]):
            shade = str(0.75 * layer / max(data.sizes["layer"] - 1, 1))
            cell = data.isel(layer=layer)
            first.plot(
                np.arange(1, data.sizes["index"] + 1), cell.singular_value, color=shade, label=f"layer {layer}"
            )
            second.plot(cell["rank"], cell.unexplained, color=shade, marker="o", label=f"layer {layer}")
        first.set_yscale("log")
        first.set_ylim(bottom=1e-3)
        first.set_xlabel("index")
        first.set_title(r"singular values of $W$, mean square 1")
        second.set_ylim(0, 1.02)
        second.set_xscale("symlog", base=2, linthresh=1)
        second.set_xticks(data["rank"].values, [str(rank) for rank in data["rank"].values])
        second.set_xlim(right=1.2 * float(data["rank"].max()))
        second.set_xlabel("rank $r$")
        second.set_title("energy left by scale $I$ + rank $r$")
        second.legend()
        places = np.arange(data.sizes["layer"])
        look, other = LOOKS[:2]
        third.plot(places, 100 * data.identity_energy, marker=look.marker, color=look.colour, label="all heads")
        heads = 100 * data.head_identity_energy
        third.plot(
            np.repeat(places, data.sizes["head"]),
            heads.values.ravel(),
            linestyle="none",
            marker=other.marker,
            color=other.colour,
            markerfacecolor=other.face,
            label="one head",
        )
        third.set_xlabel("layer")
        third.set_title("share of the identity in the energy of $W$ (%)")
        third.legend()
    return figure


def experiment_figure(data: xr.Dataset) -> Figure:
    """Draw the error against the signal's strength: simulated with real W, and three predictions."""
    layers, ratios = data.layer.values, data.c.values
    with styled():
        figure = Figure(figsize=(3.7 * len(ratios), 2.9 * len(layers) + 0.3))
        grid = figure.subplots(len(layers), len(ratios), sharex=True, sharey="col", squeeze=False)
        for row, layer in zip(grid, layers, strict=True):
            for axes, c in zip(row, ratios, strict=True):
                cell = data.sel(layer=layer, c=c)
                for look, dash, (name, label) in zip(LOOKS[1:], DASHES, PREDICTIONS.items(), strict=False):
                    axes.plot(cell.mu_mu, cell[name], color=look.colour, linestyle=dash, label=label)
                look = LOOKS[0]
                axes.errorbar(
                    cell.mu_mu.values,
                    cell.simulated.values,
                    yerr=2 * cell.standard_error.values,
                    color=look.colour,
                    marker=look.marker,
                    linestyle="none",
                    label="simulated, real $W$",
                )
                axes.set_title(f"layer {layer}, $c = {c:g}$")
                axes.set_ylim(bottom=0)
        for axes in grid[-1]:
            axes.set_xlabel(r"signal $|\mu|^2$")
        for axes in grid[:, 0]:
            axes.set_ylabel("interpolation error $E$")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def embeddings_figure(data: xr.Dataset) -> Figure:
    """Draw the error with real token embeddings beside that with Gaussian tokens."""
    with styled():
        figure = Figure(figsize=(5.6, 3.6))
        axes = figure.add_subplot()
        kinds: Mapping[str, str] = {"embeddings": "token embeddings", "gaussian": "Gaussian tokens"}
        for look, (name, label) in zip(LOOKS, kinds.items(), strict=False):
            for dash, layer in zip(DASHES, data.layer.values, strict=False):
                cell = data.sel(layer=layer)
                axes.errorbar(
                    cell.c.values,
                    cell[name].values,
                    yerr=2 * cell[f"{name}_error"].values,
                    color=look.colour,
                    marker=look.marker,
                    markerfacecolor=look.face,
                    linestyle=dash,
                    label=f"{label}, layer {layer}",
                )
        axes.set_xlabel("$c = p/n$")
        axes.set_ylabel("interpolation error $E$")
        axes.set_ylim(bottom=0)
        axes.legend(ncols=2)
    return figure
