"""Hermite coefficients of a nonlinearity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hermite_rmt.figures.style import LOOKS, NotebookFigure, styled

NEGLIGIBLE = 1e-25  # relative energy below which a coefficient is drawn as none


def spectrum_figure(coefficients: Sequence[Any], nu: Any, name: str) -> Figure:
    r"""Draw the energy a_k^2 of each Hermite coefficient, and what the coefficients beyond k still hold.

    Parameters
    ----------
    coefficients : a_0, a_1, ... in the orthonormal basis h_k
    nu : E[f(xi)^2], the sum of all a_k^2
    name : text of f for the title

    >>> spectrum_figure([0, 1], 1, "x").axes[0].get_xlabel()
    'degree $k$'
    """
    energy = np.array([float(a) ** 2 for a in coefficients])
    total = float(nu)
    degrees = np.arange(len(energy))
    shown = energy > NEGLIGIBLE * total
    rest = total - np.cumsum(energy)
    kept = rest > 1e-15 * total  # below this the difference is rounding
    with styled():
        figure = NotebookFigure()
        axes = figure.add_subplot()
        look, other = LOOKS[:2]
        axes.bar(degrees[shown], energy[shown], width=0.45, color=look.colour, label="$a_k^2$")
        axes.plot(
            degrees[kept],
            rest[kept],
            color=other.colour,
            marker=other.marker,
            markerfacecolor=other.face,
            linestyle="--",
            label=r"$\nu - \sum_{j \leq k} a_j^2$",
        )
        axes.set_yscale("log")
        axes.set_xlim(-0.6, len(energy) - 0.4)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("degree $k$")
        axes.set_ylabel("energy")
        axes.set_title(rf"$f(x)$ = {name}; $\nu = {total:.6g}$")
        axes.legend()
    return figure
