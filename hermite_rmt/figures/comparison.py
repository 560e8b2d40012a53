"""Models side by side, with the crossings of their error curves."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.curves import name_axes
from hermite_rmt.figures.style import DASHES, LOOKS, NotebookFigure, styled

SCALES = {"equal": r"equal ridge $\gamma$", "trace": "features of equal trace norm"}


def comparison_figure(data: xr.Dataset) -> Figure:
    """Draw a dataset of `compare`: one panel a gamma, one line a model, a diamond at each crossing.

    >>> from hermite_rmt.study import compare
    >>> from hermite_rmt.theory.linear_regression import LinearRegression
    >>> data = compare([LinearRegression(), LinearRegression(mu_mu=1)], c=[0.5, 1, 2], gamma=[0.1, 1])
    >>> len(comparison_figure(data).axes)
    2
    """
    with styled():
        panels = data.sizes["gamma"]
        figure = NotebookFigure(figsize=(1.6 + 3.6 * panels, 3.8))
        for index, axes in enumerate(figure.subplots(1, panels, squeeze=False, sharey=True)[0]):
            panel = data.isel(gamma=index).sortby("c")
            for number, name in enumerate(panel.model.values):
                axes.plot(
                    panel.c.values,
                    panel.error.sel(model=name).values,
                    color=LOOKS[number % len(LOOKS)].colour,
                    linestyle=DASHES[number % len(DASHES)],
                    label=str(name).replace("_", " "),
                )
            here = panel.crossing_gamma.values == panel.gamma.item()
            points = panel.crossing_c.values[here], panel.crossing_error.values[here]
            axes.plot(*points, linestyle="none", marker="D", color="black", markerfacecolor="white", zorder=4)
            for c, error in zip(*points, strict=True):
                axes.annotate(f"$c = {c:.3g}$", (c, error), (7, 7), textcoords="offset points", fontsize=8.5)
            name_axes(axes, data.c.values, [data.error.values])
            if index:
                axes.set_ylabel("")
            else:
                axes.legend()
            axes.set_title(rf"$\gamma = {panel.gamma.item():g}$, {SCALES[data.attrs['scale']]}")
    return figure
