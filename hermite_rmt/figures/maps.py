"""Phase diagrams: a quantity over two logarithmic axes, and the line where two models are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize

from hermite_rmt.figures.style import LOOKS

# the colours of attention and of linear regression, with white where they are equal
BALANCE = LinearSegmentedColormap.from_list("balance", [LOOKS[0].colour, "#ffffff", LOOKS[1].colour])
SHADES = LinearSegmentedColormap.from_list("shades", ["#f4efe6", LOOKS[3].colour, LOOKS[0].colour])


def ratio_map(axes: Axes, x: np.ndarray, y: np.ndarray, ratio: np.ndarray, span: float = 1.0) -> Any:
    """Draw log10 of a ratio of errors over (x, y), `ratio` of shape (x, y), with the line where it is 1.

    Colours saturate at a factor of 10^span in both directions.
    """
    mapped = map_of(axes, x, y, np.log10(ratio), BALANCE, Normalize(-span, span))
    if ratio.min() < 1 < ratio.max():
        axes.contour(x, y, ratio.T, levels=[1.0], colors="black", linewidths=1.2)
    return mapped


def map_of(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    colours: Colormap,
    norm: Normalize,
    logs: bool = True,
) -> Any:
    """Draw values of shape (x, y) as colours, in between as well."""
    mapped = axes.pcolormesh(x, y, values.T, cmap=colours, norm=norm, shading="gouraud", rasterized=True)
    axes.grid(visible=False)
    if logs:
        axes.set_xscale("log")
        axes.set_yscale("log")
    return mapped
