"""Error curves: theory as lines, simulation as points with error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hermite_rmt.figures.bands import NOTE, deviation_band
from hermite_rmt.figures.style import DASHES, LOOKS, Look, NotebookFigure, styled

BAR = 2  # half length of an error bar in standard errors
WIDE = 50  # ratio of the largest to the smallest value from which an axis is logarithmic
STEEP = 200
FEWEST = 8  # trials from which their standard deviation says something


def curve_figure(sweeps: Sequence[xr.Dataset] | Mapping[str, Sequence[xr.Dataset]]) -> Figure:
    """Draw the error curves of several sweeps along c, one line for each model and gamma.

    Parameters
    ----------
    sweeps : datasets of `sweep`, one a model; those that were simulated get points at their realised p/n.
        A mapping of titles to such sequences makes one panel of each.

    >>> from hermite_rmt.study import sweep
    >>> from hermite_rmt.theory.linear_regression import LinearRegression
    >>> figure = curve_figure([sweep(LinearRegression(), c=[0.5, 1, 2], gamma=0.1)])
    >>> figure.axes[0].get_xlabel()
    '$c = p/n$'
    """
    panels = sweeps if isinstance(sweeps, Mapping) else {"": sweeps}
    everything = [data for part in panels.values() for data in part]
    with styled():
        figure = NotebookFigure(figsize=(1.6 + 4 * len(panels), 3.8))
        for column, (axes, (title, part)) in enumerate(
            zip(figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels.items(), strict=True)
        ):
            for index, data in enumerate(part):
                _draw(axes, data, LOOKS[index % len(LOOKS)], index if data.sizes["gamma"] == 1 else 0)
            name_axes(
                axes, np.concatenate([data.c.values for data in part]), [data.error.values for data in everything]
            )
            if column:
                axes.set_ylabel("")
            axes.set_title(title)
            axes.legend()
        figure.suptitle(_caption(everything), x=0.02, ha="left")
    return figure


def name_axes(axes: Axes, c: np.ndarray, errors: Sequence[np.ndarray]) -> None:
    """Name and scale the axes of an error curve along c."""
    axes.set_xlabel("$c = p/n$")
    axes.set_ylabel("interpolation error $E$")
    low, high = c.min(), c.max()
    if high / low >= WIDE:
        axes.set_xscale("log")
    lowest = min(float(np.min(np.asarray(error, dtype=float))) for error in errors)
    highest = max(float(np.max(np.asarray(error, dtype=float))) for error in errors)
    if highest / lowest >= STEEP:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _draw(axes: Axes, data: xr.Dataset, look: Look, first_dash: int) -> None:
    model = data.attrs["name"].replace("_", " ")
    for index, gamma in enumerate(data.gamma.values):
        dash = DASHES[(first_dash + index) % len(DASHES)]
        line = data.isel(gamma=index).sortby("c")
        axes.plot(
            line.c.values,
            line.error.values.astype(float),
            color=look.colour,
            linestyle=dash,
            label=rf"{model}, $\gamma = {gamma:g}$",
        )
        if "error_simulated" in data:
            axes.errorbar(
                line.c_realised.values,
                line.error_simulated.values,
                yerr=BAR * np.nan_to_num(line.error_standard_error.values),
                color=look.colour,
                markerfacecolor=look.face,
                marker=look.marker,
                linestyle="none",
            )
            trials = line.trials.values
            if trials.min() >= FEWEST:
                deviation = line.error_standard_error.values * np.sqrt(trials)
                deviation_band(axes, line.c_realised.values, line.error_simulated.values, deviation, look.colour)


def _caption(sweeps: Sequence[xr.Dataset]) -> str:
    functions = dict.fromkeys(data.attrs["nonlinearity"] for data in sweeps if "nonlinearity" in data.attrs)
    parts = [f"$f(x)$ = {name}" for name in functions]
    simulated = next((data for data in sweeps if "error_simulated" in data), None)
    if simulated is not None:
        n, trials = int(simulated.n.max()), int(simulated.trials.max())
        bars = rf", bars $\pm {BAR}$ standard errors" if trials > 1 else ""
        bars += f", {NOTE}" if simulated.trials.min() >= FEWEST else ""
        parts.append(f"points: simulation, $n = {n}$, {trials} trials{bars}")
    return "; ".join(parts)
