"""Figures of where the limit stops, from the datasets of `hermite_rmt.study.evidence`."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.style import DASHES, LOOKS, styled

EFFECTS = {
    "own diagonal": (
        "tanh, own diagonal, limit d = 0",
        "tanh, own diagonal, limit d = tanh(sqrt p)/sqrt p",
        "tanh, Gaussian",
    ),
    "heavy tails": ("tanh, Student 2.5", "relu, Student 3", "tanh, Student 3", "tanh, Student 5"),
    "skewed noise": ("relu, exponential", "tanh, exponential"),
}
MATHEMATICS = (  # the longer ones first
    ("d = tanh(sqrt p)/sqrt p", r"d = \tanh(\sqrt{p})/\sqrt{p}"),
    ("d = a_1", "d = a_1"),
    ("d = 0", "d = 0"),
    ("d = 1", "d = 1"),
    ("f = x, gamma = 0.003", r"f(x) = x, \gamma = 0.003"),
    ("60 degrees", r"60^\circ"),
    ("a_2", "a_2"),
    ("h_2", "h_2"),
    ("1_p", r"\mathbf{1}_p"),
)


def finite_size_figure(data: xr.Dataset) -> Figure:
    """Draw every case of the finite-size study: deviation from the prediction with and without the effect."""
    effects = data.effect.values
    starts = [k for k, name in enumerate(effects) if k == 0 or name != effects[k - 1]]
    # a line for the name of each effect above its cases
    y = np.arange(len(effects)) + np.searchsorted(starts, np.arange(len(effects)), side="right")
    error = 2 * data.standard_error.values
    with styled():
        figure = Figure(figsize=(9.6, 0.21 * (y[-1] + 1) + 1.2))
        axes = figure.add_subplot()
        labels = {
            "naive": "simulated minus the limit as it stands",
            "expected": "simulated minus the limit with the effect",
        }
        for shift, (name, label), look in zip((0.15, -0.15), labels.items(), LOOKS[1::-1], strict=True):
            axes.errorbar(
                (data.simulated - data[name]).values,
                y + shift,
                xerr=error,
                color=look.colour,
                marker=look.marker,
                markerfacecolor=look.face,
                linestyle="none",
                label=label,
            )
        axes.axvline(0, color="black", linewidth=0.8)
        names = [typeset(name) for name in (*data.case.values, *effects[starts])]
        axes.set_yticks([*y, *(y[starts] - 1)], names)
        for tick in axes.get_yticklabels()[len(y) :]:
            tick.set_fontweight("bold")
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlabel(r"difference of the error $E$ (bars $\pm 2$ standard errors)")
        axes.set_title(f"$n = {data.n.values.max()}$ unless stated")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def effects_figure(data: xr.Dataset) -> Figure:
    """Draw the gap of the trace against n with weakened assumptions, and the laws expected."""
    n = data.n.values
    fine = np.geomspace(n[0], n[-1], 60)
    with styled():
        figure = Figure(figsize=(9.6, 3.4))
        panels = figure.subplots(1, 3, sharey=True)
        for axes, (title, chosen) in zip(panels, EFFECTS.items(), strict=True):
            for look, dash, name in zip(LOOKS, DASHES, chosen, strict=False):
                cell = data.sel(effect=name)
                gap = np.abs(cell.gap.values)
                axes.errorbar(
                    n,
                    gap,
                    yerr=2 * cell.standard_error.values,
                    color=look.colour,
                    marker=look.marker,
                    markerfacecolor=look.face,
                    linestyle="none",
                    label=typeset(name),
                )
                line = np.exp(np.interp(np.log(fine), np.log(n), np.log(np.abs(cell.fitted.values))))
                axes.plot(fine, line, color=look.colour, linestyle=dash, linewidth=1)
            axes.set_title(title)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(n, [str(size) for size in n])
            axes.set_xlabel("number of tokens $n$")
            axes.set_ylim(1e-5, 1.0)
            axes.legend(loc="upper right")
        panels[0].set_ylabel(r"$|\gamma (m_n - m)|$")
    return figure


def typeset(name: str) -> str:
    """Return the plain name of a case with its mathematics set as such.

    >>> typeset("h_2, limit d = 0")
    '$h_2$, limit $d = 0$'
    """
    for plain, mathematics in MATHEMATICS:
        name = name.replace(plain, f"${mathematics}$")
    return name
