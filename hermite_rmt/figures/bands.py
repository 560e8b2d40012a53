"""Where a single draw at finite n falls: one standard deviation to both sides of the simulated mean."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

OPACITY = 0.16
NOTE = r"bands $\pm 1$ standard deviation of one draw"


def deviation_band(axes: Axes, x: np.ndarray, mean: np.ndarray, deviation: np.ndarray, colour: str) -> None:
    """Draw the band mean +- deviation along x, behind lines and points."""
    axes.fill_between(x, mean - deviation, mean + deviation, color=colour, alpha=OPACITY, linewidth=0, zorder=0.5)
