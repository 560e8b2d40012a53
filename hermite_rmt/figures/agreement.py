"""Figures of theory against simulation, from the datasets of `hermite_rmt.study.evidence`."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.limits import typeset
from hermite_rmt.figures.style import DASHES, LOOKS, styled

SETTINGS = {"noise": "pure noise", "signal": r"signal $|\mu|^2 = 1$", "weights": "signal and weights"}
OBSERVABLES = {"error": "error $E$", "trace": r"trace $\gamma m$"}


def cells_figure(judged: xr.Dataset) -> Figure:
    """Draw the z-score of every cell, one row a nonlinearity, with the bound for all cells together."""
    names = [str(name) for name in judged.f.values]
    bound = judged.attrs["quantile"]
    with styled():
        figure = Figure(figsize=(10.4, 4.8))
        for axes, observable in zip(figure.subplots(1, 2, sharey=True), judged.observable.values, strict=True):
            for k, (setting, title) in enumerate(SETTINGS.items()):
                look = LOOKS[k]
                for row, name in enumerate(names):
                    z = judged.z.sel(observable=observable, f=name, setting=setting).values.ravel()
                    axes.plot(
                        z,
                        np.full(z.size, row + 0.22 * (k - 1)),
                        linestyle="none",
                        marker=look.marker,
                        color=look.colour,
                        markerfacecolor=look.face,
                        markersize=3.5,
                        label=title if row == 0 else None,
                    )
            for side in (-bound, bound):
                axes.axvline(side, color="black", linestyle="--", linewidth=1)
            axes.axvline(0, color="black", linewidth=0.6)
            axes.set_xlabel("deviation in standard errors")
            axes.set_title(f"{OBSERVABLES[observable]}, $n = {judged.attrs['tested_n']}$, limit plus $b/n$")
        figure.axes[0].set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        figure.axes[0].invert_yaxis()
        figure.axes[1].legend(loc="lower left", bbox_to_anchor=(0, 1.06), ncols=3)
        figure.suptitle(
            f"dashed: Student's bound for {judged.attrs['cells']} cells, which a right theory exceeds anywhere with "
            f"probability {judged.attrs['false_alarms']:.0%}",
            x=0.02,
            ha="left",
        )
    return figure


def scaling_figure(data: xr.Dataset, names: tuple[str, ...] = ("tanh", "relu", "cos", "exp")) -> Figure:
    """Draw the finite-size gap of the trace on noise and the deviation of the error of one draw, against n."""
    n = data.n.values
    with styled():
        figure = Figure(figsize=(9.6, 3.9))
        first, second = figure.subplots(1, 2)
        for look, dash, name in zip(LOOKS, DASHES, names, strict=False):
            style = {"color": look.colour, "marker": look.marker, "markerfacecolor": look.face, "label": name}
            cell = data.sel(f=name, setting="noise", c=0.5, gamma=0.1)
            trace, error = cell.sel(observable="trace"), cell.sel(observable="error")
            first.errorbar(
                n, np.abs(trace.gap.values), yerr=2 * trace.standard_error.values, linestyle="none", **style
            )
            first.plot(n, _through(n, np.abs(trace.gap.values), -1.0), color=look.colour, linestyle=dash, linewidth=1)
            spread = 2 * error.deviation.values / np.sqrt(2 * (data.trials.values - 1))
            second.errorbar(n, error.deviation.values, yerr=spread, linestyle="none", **style)
            second.plot(n, _through(n, error.deviation.values, -0.5), color=look.colour, linestyle=dash, linewidth=1)
        first.set_title(r"$|\gamma (m_n - m)|$, lines $\propto 1/n$ (noise, $c = 0.5$, $\gamma = 0.1$)")
        second.set_title(r"standard deviation of $E$ of one draw, lines $\propto n^{-1/2}$")
        for axes in (first, second):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(n, [str(size) for size in n])
            axes.set_xlabel("number of tokens $n$")
        first.legend()
    return figure


def remainder_figure(data: xr.Dataset) -> Figure:
    """Draw the norm of what the linearisation leaves against n, with the measured slopes."""
    with styled():
        figure = Figure(figsize=(7.6, 3.8))
        axes = figure.add_subplot()
        for look, dash, name in zip(LOOKS, DASHES, data.f.values, strict=True):
            cell = data.sel(f=name)
            axes.errorbar(
                data.n.values,
                cell.norm.mean("trial").values,
                yerr=2 * cell.norm.std("trial", ddof=1).values / data.sizes["trial"] ** 0.5,
                color=look.colour,
                marker=look.marker,
                markerfacecolor=look.face,
                linestyle=dash,
                label=rf"{typeset(name)}: slope ${float(cell.slope):.2f} \pm {float(cell.slope_error):.2f}$",
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(data.n.values, [str(size) for size in data.n.values])
        axes.set_xlabel("number of tokens $n$")
        axes.set_ylabel(r"$\|K - (K_N + \mathrm{low\ rank})\|$")
        axes.set_title(r"what the linearisation leaves, operator norm (bars $\pm 2$ standard errors)")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def density_figure(data: xr.Dataset) -> Figure:
    """Draw the eigenvalues of K and of A^T A/n as histograms under the limiting densities."""
    with styled():
        figure = Figure(figsize=(10.4, 5.6))
        grid = figure.subplots(2, data.sizes["f"])
        for row, matrix in zip(grid, data.matrix.values, strict=True):
            for axes, name in zip(row, data.f.values, strict=True):
                cell = data.sel(f=name, matrix=matrix)
                x = cell.centre.values
                gram = matrix != "K"
                scale = 2 * np.sqrt(x) if gram else 1.0  # density of the square root: no divergence at 0
                x = np.sqrt(x) if gram else x
                axes.bar(x, cell.histogram.values * scale, width=np.gradient(x), color="0.82", label="simulated")
                at = np.sqrt(cell.position.values) if gram else cell.position.values
                curve = cell.curve.values * (2 * at if gram else 1.0)
                axes.plot(at, curve, color=LOOKS[0].colour, label="theory")
                kind = r"$\sqrt{\lambda(A^T A/n)}$" if gram else r"$\lambda(K)$"
                axes.set_title(f"{name}, $c = {float(cell.c):g}$; distance {float(cell.distance):.3f}")
                axes.set_xlabel(kind)
        for row in grid:
            row[0].set_ylabel("density")
        grid[0, 0].legend()
    return figure


def outlier_figure(data: xr.Dataset) -> Figure:
    """Draw the largest eigenvalue of K and its overlap with the labels against the signal, beside the prediction."""
    with styled():
        figure = Figure(figsize=(9.6, 3.8))
        first, second = figure.subplots(1, 2)
        look, other = LOOKS[:2]
        panels = (
            (first, "position", "largest", data.attrs["edge"], "largest eigenvalue of $K$"),
            (second, "alignment", "overlap", 0.0, "squared overlap of its eigenvector with $y$"),
        )
        for axes, predicted, measured, below, title in panels:
            x = data.mu_mu.values
            threshold = data.attrs["threshold"]
            beyond = data.strength.values > threshold
            axes.plot(
                [0, threshold, *data.strength.values[beyond]],
                [below, below, *data[predicted].values[beyond]],
                color=look.colour,
                label="theory",
            )
            axes.errorbar(
                x,
                data[measured].values,
                yerr=2 * data[f"{measured}_error"].values,
                color=other.colour,
                marker=other.marker,
                markerfacecolor=other.face,
                linestyle="none",
                label="simulated",
            )
            axes.axvline(threshold, color="black", linestyle=":", linewidth=1)
            axes.set_xlabel(r"signal $|\mu|^2$")
            axes.set_title(title)
        first.legend()
        figure.suptitle(
            f"tanh, $c = {data.attrs['c']:g}$, $n = {data.attrs['n']}$, no weights, {data.attrs['trials']} trials; "
            "dotted: predicted threshold",
            x=0.02,
            ha="left",
        )
    return figure


def _through(n: np.ndarray, values: np.ndarray, power: float) -> np.ndarray:
    """Return the line of this power through the geometric mean of the values."""
    centre = np.exp(np.mean(np.log(np.maximum(values, 1e-12)) - power * np.log(n)))
    return np.asarray(centre * n**power)
