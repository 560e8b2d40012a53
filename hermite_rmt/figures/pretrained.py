"""Figures of the pretrained study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.drawn import Drawn, by_dims
from hermite_rmt.figures.style import DASHES, LOOKS, styled
from hermite_rmt.study.evidence.pretrained import deviation

PREDICTIONS = {
    "whole": "limit for the whole $W$",
    "identity": "Theorem 1, $W = I$",
    "fitted": "Theorem 1, Assumption 1 as fitted",
}
NAMES = {"tanh": "tanh", "relu": "centred relu", "relu less its h_2": "centred relu less its $h_2$"}


def pretrained_figures(data: Mapping[str, xr.Dataset]) -> dict[str, Drawn]:
    """Return the figures that can be drawn from a study's datasets, by name, each with its data."""
    alone = {
        "pretrained_anatomy": ("anatomy", anatomy_figure),
        "pretrained": ("layers", experiment_figure),
        "pretrained_copies": ("copies", copies_figure),
        "pretrained_tokens": ("tokens", tokens_figure),
    }
    made = {
        name: Drawn(draw(data[part]), by_dims(data[part])) for name, (part, draw) in alone.items() if part in data
    }
    if "layers" in data and "heads" in data and data["heads"].sizes["place"]:
        made["pretrained_heads"] = Drawn(heads_figure(data["layers"], data["heads"]), by_dims(data["heads"]))
    return made


def anatomy_figure(data: xr.Dataset) -> Figure:
    """Draw singular values of W_K^T W_Q, what identity plus low rank leaves, and the identity's share."""
    with styled():
        figure = Figure(figsize=(11.4, 3.6))
        first, second, third = figure.subplots(1, 3)
        for layer in range(data.sizes["layer"]):
            shade = str(0.75 * layer / max(data.sizes["layer"] - 1, 1))
            cell = data.isel(layer=layer)
            first.plot(
                np.arange(1, data.sizes["index"] + 1),
                cell.singular_value,
                color=shade,
                label=f"layer {int(cell.layer)}",
            )
            second.plot(cell["rank"], cell.unexplained, color=shade, marker="o", label=f"layer {int(cell.layer)}")
        heads = data.head_unexplained.stack(each=("layer", "head"))
        look = LOOKS[1]
        second.fill_between(
            data.head_rank, heads.min("each"), heads.max("each"), color=look.colour, alpha=0.25, label="single heads"
        )
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
        places = data.layer.values
        look, other = LOOKS[:2]
        third.plot(places, 100 * data.identity_energy, marker=look.marker, color=look.colour, label="all heads")
        third.plot(
            np.repeat(places, data.sizes["head"]),
            (100 * data.head_identity_energy).values.ravel(),
            linestyle="none",
            marker=other.marker,
            color=other.colour,
            markerfacecolor=other.face,
            label="one head",
        )
        third.set_xticks(places)
        third.set_xlabel("layer")
        third.set_title("share of the identity in the energy of $W$ (%)")
        third.legend()
    return figure


def experiment_figure(data: xr.Dataset) -> Figure:
    """Draw the error against the signal's strength: simulated with real W, first, middle and last, and predicted."""
    ratios, functions = data.c.values, data.f.values.tolist()
    places = sorted({0, (data.sizes["place"] - 1) // 2, data.sizes["place"] - 1})
    with styled():
        figure = Figure(figsize=(3.7 * len(ratios), 3.2 * len(functions) + 0.4))
        grid = figure.subplots(len(functions), len(ratios), sharex=True, sharey=True, squeeze=False)
        for row, f in zip(grid, functions, strict=True):
            for axes, c in zip(row, ratios, strict=True):
                cell = data.sel(f=f, c=c, quantity="error")
                for look, dash, (name, label) in zip(LOOKS[1:], DASHES, PREDICTIONS.items(), strict=False):
                    for k, place in enumerate(places if name != "identity" else places[:1]):
                        axes.plot(
                            cell.mu_mu,
                            cell[name].isel(place=place),
                            color=look.colour,
                            linestyle=dash,
                            label=label if k == 0 else None,
                        )
                for look, place in zip((LOOKS[0], LOOKS[2], LOOKS[3]), places, strict=False):
                    one = cell.isel(place=place)
                    axes.errorbar(
                        one.mu_mu.values,
                        one.simulated.values,
                        yerr=2 * one.standard_error.values,
                        color=look.colour,
                        marker=look.marker,
                        markerfacecolor=look.face,
                        linestyle="none",
                        label=f"simulated, {_place(one)}",
                    )
                axes.set_title(f"{NAMES[f]}, $c = {c:g}$")
                axes.set_ylim(bottom=0)
        for axes in grid[-1]:
            axes.set_xlabel(r"signal $|\mu|^2$")
        for axes in grid[:, 0]:
            axes.set_ylabel("interpolation error $E$")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def heads_figure(layers: xr.Dataset, heads: xr.Dataset) -> Figure:
    """Draw how far the simulated trace and error lie from the limit for W, against W's effective rank."""
    functions = heads.f.values.tolist()
    with styled():
        figure = Figure(figsize=(5.2 * len(functions), 6.4))
        grid = figure.subplots(2, len(functions), sharex=True, sharey="row", squeeze=False)
        for row, quantity in zip(grid, ("trace", "error"), strict=True):
            for axes, f in zip(row, functions, strict=True):
                for data, label, look in ((heads, "single heads", LOOKS[1]), (layers, "whole layers", LOOKS[0])):
                    cell = data.sel(f=f, quantity=quantity, c=0.5, mu_mu=0.0)
                    axes.errorbar(
                        cell.participation_ratio.values,
                        100 * deviation(cell, "whole").values,
                        yerr=200 * (cell.standard_error / cell.whole).values,
                        color=look.colour,
                        marker=look.marker,
                        markerfacecolor=look.face,
                        linestyle="none",
                        label=label,
                    )
                axes.axhline(0, color="0.6", linewidth=0.8)
                axes.set_title(f"{NAMES[f]}: {quantity}")
            row[0].set_ylabel("simulated / limit $-$ 1 (%)")
        for axes in grid[-1]:
            axes.set_xlabel("participation ratio of the singular values of $W$")
        grid[0, 0].legend()
    return figure


def copies_figure(data: xr.Dataset) -> Figure:
    """Draw the gap between the simulated trace and the limit, without its sign, against the number of copies of W."""
    functions = data.f.values.tolist()
    with styled():
        figure = Figure(figsize=(3.7 * len(functions), 3.8))
        grid = figure.subplots(1, len(functions), sharex=True, sharey=True, squeeze=False)[0]
        for axes, f in zip(grid, functions, strict=True):
            gaps = 100 * deviation(data.sel(f=f, quantity="trace"), "whole")
            for k, place in enumerate(data.place.values.tolist()):
                look = LOOKS[k % len(LOOKS)]
                cell = data.sel(f=f, place=place, quantity="trace")
                axes.errorbar(
                    cell.copies.values,
                    abs(gaps.sel(place=place)).values,
                    yerr=200 * (cell.standard_error / cell.whole).values,
                    color=look.colour,
                    marker=look.marker,
                    markerfacecolor=look.face,
                    label=_place(cell),
                )
            copies = data.copies.values.astype(float)
            axes.plot(copies, 8 / copies, color="0.6", linestyle=":", label="slope $-1$")
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(copies, [f"{k:g}" for k in copies])
            axes.set_title(f"{NAMES[f]}: {'below' if float(gaps.median()) < 0 else 'above'} the limit")
            axes.set_xlabel("copies $k$ of $W$: dimension $k p$")
        grid[0].set_ylabel("trace: |simulated / limit $-$ 1| (%)")
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def tokens_figure(data: xr.Dataset) -> Figure:
    """Draw trace and error with real token embeddings and Gaussian tokens beside their limits."""
    functions, layers = data.f.values.tolist(), data.layer.values.tolist()
    kinds = data.tokens.values.tolist()
    with styled():
        figure = Figure(figsize=(3.7 * len(layers), 3.2 * len(functions) + 0.4))
        grid = figure.subplots(len(functions), len(layers), sharex=True, sharey="row", squeeze=False)
        for row, f in zip(grid, functions, strict=True):
            for axes, layer in zip(row, layers, strict=True):
                cell = data.sel(f=f, layer=layer, quantity="trace")
                for k, (kind, shift) in enumerate(zip(kinds, (0.97, 0.99, 1.01, 1.03), strict=True)):
                    one, look = cell.sel(tokens=kind), LOOKS[k]
                    axes.errorbar(
                        one.c.values * shift,
                        one.simulated.values,
                        yerr=2 * one.standard_error.values,
                        color=look.colour,
                        marker=look.marker,
                        markerfacecolor=look.face,
                        linestyle="none",
                        label=kind,
                    )
                for kind, dash, label in zip(
                    kinds[:2], DASHES, ("limit for $W$", "limit for $W$ and covariance"), strict=False
                ):
                    axes.plot(cell.c, cell.whole.sel(tokens=kind), color="0.4", linestyle=dash, label=label)
                axes.set_xscale("log", base=2)
                axes.set_xticks(cell.c.values, [f"{c:g}" for c in cell.c.values])
                axes.set_title(f"{NAMES[f]}, layer {layer}")
        for axes in grid[-1]:
            axes.set_xlabel("$c = p/n$")
        for axes in grid[:, 0]:
            axes.set_ylabel(r"trace $\mathrm{tr}\,Q/n$")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _place(data: xr.Dataset) -> str:
    layer, head = int(data.layer), str(data["head"].values)
    return f"layer {layer}" if head == "all" else f"layer {layer}, head {head}"
