"""Figures of the claims atlas, from the datasets of `hermite_rmt.study.evidence`."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hermite_rmt.figures.maps import BALANCE, SHADES, map_of, ratio_map
from hermite_rmt.figures.style import DASHES, LOOKS, styled

RATIO = r"$\log_{10}(E_{\mathrm{attention}}/E_{\mathrm{regression}})$"
C, GAMMA, SIGNAL, FRACTION = "$c = p/n$", r"ridge $\gamma$", r"signal $|\mu|^2$", r"linear fraction $a_1^2/\nu$"
EQUAL = {"equal": r"equal ridge, $\nu = 1$", "trace": "equal trace"}
STRENGTH_LINES = {0.0: (":", 1.0), 0.5: ("-.", 1.0), 1.0: ("-", 2.0), 2.0: ("--", 1.0), 4.0: ("-", 0.7)}
CASES = {"noise": "pure noise", "signal": r"signal $|\mu| = 1$", "aligned": r"signal, $w_K = w_Q = \mu$"}


def noise_figure(phase: xr.Dataset, fraction: float = 0.5) -> Figure:
    """Draw claim a: the ratio of the errors on noise at equal ridge and equal trace, and the critical energy."""
    data = phase.sel(fraction=fraction)
    x, y = data.c.values, data.gamma.values
    with styled():
        figure = Figure(figsize=(11.4, 3.6))
        first, second, third = figure.subplots(1, 3, sharey=True)
        for axes, scale in ((first, "equal"), (second, "trace")):
            mapped = ratio_map(axes, x, y, data[scale].values, 0.3)
            axes.set_title(f"{EQUAL[scale]}, $a_1^2/\\nu = {fraction:g}$")
        figure.colorbar(mapped, ax=[first, second], label=RATIO, extend="both")
        energy = np.log10(data.critical_nu.values)
        mapped = map_of(third, x, y, energy, BALANCE, Normalize(-3, 3))
        lines = third.contour(x, y, energy.T, levels=[-2, -1, 0, 1, 2], colors="black", linewidths=0.8)
        third.clabel(lines, fmt={k: f"$10^{{{k}}}$" for k in (-2, -1, 0, 1, 2)}, fontsize=8)
        figure.colorbar(mapped, ax=third, label=r"$\log_{10}$ critical $\nu$", extend="both")
        third.set_title(r"attention is better for $\nu$ above")
        for axes in (first, second, third):
            axes.set_xlabel(C)
        first.set_ylabel(GAMMA)
    return figure


def reversal_figure(reversal: xr.Dataset, fraction: float = 0.6) -> Figure:
    """Draw claim b: curves in (c, |mu|^2) on which attention with aligned weights equals linear regression."""
    data = reversal.ratio.sel(fraction=fraction)
    gammas, scales = (0.1, 1.0), ("equal", "trace")
    with styled():
        figure = Figure(figsize=(11.4, 6.4))
        grid = figure.subplots(2, 2, sharex=True, sharey=True)
        for row, scale in zip(grid, scales, strict=True):
            for axes, gamma in zip(row, gammas, strict=True):
                panel = data.sel(scale=scale, gamma=gamma).transpose("mu_mu", "c", "strength")
                x, y = panel.c.values, panel.mu_mu.values
                mapped = ratio_map(axes, x, y, panel.sel(strength=1.0).values.T, 0.2)
                for strength, (dash, width) in STRENGTH_LINES.items():
                    values = panel.sel(strength=strength).values
                    if values.min() < 1 < values.max():
                        axes.contour(x, y, values, levels=[1.0], colors="black", linewidths=width, linestyles=dash)
                axes.set_title(rf"{EQUAL[scale]}, $\gamma = {gamma:g}$")
        for axes in grid[-1]:
            axes.set_xlabel(C)
        for axes in grid[:, 0]:
            axes.set_ylabel(SIGNAL)
        proxies = [
            Line2D([], [], color="black", linestyle=dash, linewidth=width, label=f"$s = {strength:g}$")
            for strength, (dash, width) in STRENGTH_LINES.items()
        ]
        grid[0, 1].legend(handles=proxies, loc="lower right", frameon=True, title="equal errors for")
        figure.colorbar(mapped, ax=grid, label=RATIO + r", $s = 1$", extend="both")
        figure.suptitle(
            rf"$w_K = w_Q = s\mu$, $a_1^2/\nu = {fraction:g}$; attention is better on the blue side of a line",
            x=0.02,
            ha="left",
        )
    return figure


def regime_figure(regime: xr.Dataset, mu_index: int = 4, fraction: float = 0.6, strength: float = 1.0) -> Figure:
    """Draw claim c: three measures of the effect of aligned weights along c."""
    data = regime.sel(fraction=fraction, strength=strength).isel(mu_mu=mu_index)
    titles = {
        "against_regression": "error over linear regression's",
        "gain": "error over that without weights",
        "difference": "error minus that without weights",
    }
    with styled():
        figure = Figure(figsize=(11.4, 3.6))
        for axes, (name, title) in zip(figure.subplots(1, 3), titles.items(), strict=True):
            for look, dash, gamma in zip(LOOKS, DASHES, data.gamma.values, strict=False):
                line = data[name].sel(gamma=gamma).values
                axes.plot(data.c, line, color=look.colour, linestyle=dash, label=rf"$\gamma = {gamma:g}$")
                best = int(line.argmin())
                axes.plot(data.c[best], line[best], marker=look.marker, color=look.colour, markerfacecolor=look.face)
            axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
            axes.set_xscale("log")
            axes.set_xlabel(C)
            axes.set_title(title)
        figure.axes[0].set_yscale("log")
        figure.axes[0].axhline(1, color="black", linewidth=0.8)
        figure.axes[0].legend()
        figure.suptitle(
            rf"equal trace, $|\mu|^2 = {float(data.mu_mu):g}$, $w_K = w_Q = \mu$, $a_1^2/\nu = {fraction:g}$; "
            "points: where the effect is largest",
            x=0.02,
            ha="left",
        )
    return figure


def dimension_figure(dimension: xr.Dataset, gamma: float = 0.1) -> Figure:
    """Draw claim d: the error along c for three linear fractions, on noise and on a signal."""
    data = dimension.sel(gamma=gamma)
    with styled():
        figure = Figure(figsize=(8.4, 3.6))
        for axes, name in zip(figure.subplots(1, 2, sharey=True), ("noise", "aligned"), strict=True):
            for look, dash, fraction in zip(LOOKS, DASHES, data.fraction.values, strict=False):
                line = data[name].sel(fraction=fraction)
                label = rf"$a_1^2/\nu = {fraction:g}$"
                axes.plot(data.c, line, color=look.colour, linestyle=dash, label=label)
            axes.set_xscale("log")
            axes.set_xlabel(C)
            axes.set_title(rf"{CASES[name]}, $\nu = 1$, $\gamma = {gamma:g}$")
        figure.axes[0].set_ylabel("interpolation error $E$")
        figure.axes[0].set_ylim(bottom=0)
        figure.axes[0].legend()
    return figure


def best_figure(best: xr.Dataset) -> Figure:
    """Draw claim e: the linear fraction with the smallest error over (c, gamma)."""
    with styled():
        figure = Figure(figsize=(11.4, 6.4))
        grid = figure.subplots(2, 3, sharex=True, sharey=True)
        for row, scale in zip(grid, best.scale.values, strict=True):
            for axes, case in zip(row, best.case.values, strict=True):
                values = best.best.sel(scale=scale, case=case).values
                mapped = map_of(axes, best.c.values, best.gamma.values, values, SHADES, Normalize(0, 1))
                axes.set_title(f"{CASES[case]}, {EQUAL[scale]}")
        for axes in grid[-1]:
            axes.set_xlabel(C)
        for axes in grid[:, 0]:
            axes.set_ylabel(GAMMA)
        figure.colorbar(mapped, ax=grid, label=r"best linear fraction $a_1^2/\nu$ (1: f linear)")
    return figure


def sweep_figure(curves: xr.Dataset) -> Figure:
    """Draw claim e: the error against the linear fraction at a few points."""
    with styled():
        figure = Figure(figsize=(11.4, 3.4))
        for axes, case in zip(figure.subplots(1, 3, sharey=True), curves.case.values, strict=True):
            for k, look in zip(range(curves.sizes["point"]), LOOKS, strict=False):
                line = curves.error.sel(case=case).isel(point=k)
                label = rf"$c = {float(line.c):g}$, $\gamma = {float(line.gamma):g}$"
                axes.plot(curves.fraction, line, color=look.colour, linestyle=DASHES[k], label=label)
                least = int(line.values.argmin())
                axes.plot(
                    curves.fraction.values[least],
                    line.values[least],
                    marker=look.marker,
                    color=look.colour,
                    markerfacecolor=look.face,
                )
            axes.set_xlabel(FRACTION)
            axes.set_title(f"{CASES[case]}, equal trace")
        figure.axes[0].set_ylabel("interpolation error $E$")
        figure.axes[0].set_ylim(bottom=0)
        figure.axes[-1].legend()
    return figure


def angle_figure(angles: xr.Dataset) -> Figure:
    """Draw claim f: the error over that without weights, over the angles of key and query to the signal."""
    with styled():
        figure = Figure(figsize=(8.8, 3.9))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, c in zip(panels, angles.c.values, strict=True):
            values = angles.relative.sel(c=c).values
            x, y = angles.key_angle.values, angles.query_angle.values
            mapped = map_of(axes, x, y, values, BALANCE, Normalize(0.5, 1.5), logs=False)
            axes.contour(x, y, values.T, levels=[1.0], colors="black", linewidths=1.2)
            axes.set_xticks(range(0, 181, 45))
            axes.set_yticks(range(0, 181, 45))
            axes.set_xlabel(r"angle of $w_K$ to $\mu$ (degrees)")
            axes.set_title(rf"$c = {c:g}$, $\gamma = 0.1$, $|\mu| = |w_K| = |w_Q| = 1$")
        panels[0].set_ylabel(r"angle of $w_Q$ to $\mu$ (degrees)")
        figure.colorbar(mapped, ax=panels, label="error over that without weights", extend="both")
    return figure
