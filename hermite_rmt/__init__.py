"""hermite_rmt: a symbolic-numeric theory toolkit for nonlinear random matrices.

From a nonlinearity f through its Hermite coefficients and a random matrix expression to self-consistent equations,
and from those to numbers of any precision, curves, and comparisons with simulation. See the README for a first tour.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Each public name with the module that defines it: loaded when first used, so that importing the package stays quick
_HOMES = {
    "Attention": "theory.attention",
    "Ball": "core.ball",
    "GOE": "equivalents.ensembles",
    "GUE": "equivalents.ensembles",
    "Gaussian": "equivalents.ensembles",
    "HermiteExpansion": "hermite.expansion",
    "LinearRegression": "theory.linear_regression",
    "MarchenkoPastur": "theory.marchenko_pastur",
    "MultiHeadAttention": "theory.multi_head",
    "Nonlinearity": "hermite.nonlinearity",
    "Outcome": "core.solution",
    "Overlaps": "theory.overlaps",
    "Solution": "core.solution",
    "SolveError": "core.solution",
    "Vector": "equivalents.ensembles",
    "Verdict": "theory.check",
    "best_linear_part": "study.inverse",
    "check": "theory.check",
    "compare": "study.compare",
    "crossing_curve": "study.crossing_curves",
    "crossings": "study.crossings",
    "deterministic_equivalent": "theory.equivalent",
    "dimensions": "equivalents.ensembles",
    "linearise": "simulation.linearise",
    "nonlinearities": "hermite.catalogue",
    "plot": "figures.plot",
    "signal_threshold": "study.thresholds",
    "sweep": "study.sweep",
    "threshold": "study.thresholds",
}

if TYPE_CHECKING:
    from hermite_rmt.core.ball import Ball
    from hermite_rmt.core.solution import Outcome, Solution, SolveError
    from hermite_rmt.equivalents.ensembles import GOE, GUE, Gaussian, Vector, dimensions
    from hermite_rmt.figures.plot import plot
    from hermite_rmt.hermite.catalogue import nonlinearities
    from hermite_rmt.hermite.expansion import HermiteExpansion
    from hermite_rmt.hermite.nonlinearity import Nonlinearity
    from hermite_rmt.simulation.linearise import linearise
    from hermite_rmt.study.compare import compare
    from hermite_rmt.study.crossing_curves import crossing_curve
    from hermite_rmt.study.crossings import crossings
    from hermite_rmt.study.inverse import best_linear_part
    from hermite_rmt.study.sweep import sweep
    from hermite_rmt.study.thresholds import signal_threshold, threshold
    from hermite_rmt.theory.attention import Attention
    from hermite_rmt.theory.check import Verdict, check
    from hermite_rmt.theory.equivalent import deterministic_equivalent
    from hermite_rmt.theory.linear_regression import LinearRegression
    from hermite_rmt.theory.marchenko_pastur import MarchenkoPastur
    from hermite_rmt.theory.multi_head import MultiHeadAttention
    from hermite_rmt.theory.overlaps import Overlaps

__all__ = [
    "GOE",
    "GUE",
    "Attention",
    "Ball",
    "Gaussian",
    "HermiteExpansion",
    "LinearRegression",
    "MarchenkoPastur",
    "MultiHeadAttention",
    "Nonlinearity",
    "Outcome",
    "Overlaps",
    "Solution",
    "SolveError",
    "Vector",
    "Verdict",
    "best_linear_part",
    "check",
    "compare",
    "crossing_curve",
    "crossings",
    "deterministic_equivalent",
    "dimensions",
    "linearise",
    "nonlinearities",
    "plot",
    "signal_threshold",
    "sweep",
    "threshold",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
