"""Figures of studies: matplotlib `Figure` objects in one style, without pyplot and its global state."""

from hermite_rmt.figures.comparison import comparison_figure
from hermite_rmt.figures.curves import curve_figure
from hermite_rmt.figures.plot import plot
from hermite_rmt.figures.spectrum import spectrum_figure
from hermite_rmt.figures.style import FORMATS, save

__all__ = ["FORMATS", "comparison_figure", "curve_figure", "plot", "save", "spectrum_figure"]
