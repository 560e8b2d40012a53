"""The physical branch at real points where only the map of derivations/17_branch.py can tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.equivalents.covariance import positive_map
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.solvers.continuation import ContinuationError
from hermite_rmt.solvers.stability import Part, radius
from hermite_rmt.theory.engine.hermitised import exact_point
from hermite_rmt.theory.engine.solver import CompiledEquations, branch_by_scale
from hermite_rmt.theory.engine.values import Number, evaluate

PRECISION = 400  # bits to follow a path with that ends close to the spectrum
MARGIN = 1e-12  # how far below 1 a spectral radius must be in doubles


def branch_by_contraction(
    dyson: Dyson, bulk: CompiledEquations, point: Mapping[Any, Number]
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return R by the covariance path at a real point where the map of derivations/17_branch.py contracts at it.

    Raises
    ------
    ContinuationError
        Where the path ends before, or the map does not contract: R is then not the limit.
    """
    groups = (dyson.pencil.constant, *dyson.pencil.deterministic.values(), *dyson.pencil.letters.values())
    if any(evaluate(value, point).imag for entries in groups for value in entries.values()):
        raise ContinuationError("the map that tells the limit needs real coefficients")
    start, steps, notes = branch_by_scale(bulk, exact_point(dyson, point), PRECISION)
    unknowns = dict(zip(bulk.system.unknowns, start, strict=True))
    parts = [
        Part(
            dyson.pencil.dimensions.index(kind.dimension),
            kind.blocks,
            evaluate(kind.weight, point).real,
            [[float(unknowns.get(dyson.unknown(number, i, j), 0)) for j in kind.blocks] for i in kind.blocks],
        )
        for number, kind in enumerate(dyson.species)
    ]
    terms = [
        (i, j, k, h, evaluate(factor, point).real) for i, j, k, h, factor in positive_map(dyson.pencil, dyson.ratios)
    ]
    size = radius(parts, terms)
    if not size < 1 - MARGIN:
        raise ContinuationError(f"the map that contracts at the limit has a spectral radius of {size:.6g}")
    return start, steps, (*notes, f"the map that contracts at the limit has a spectral radius of 1 - {1 - size:.3g}")
