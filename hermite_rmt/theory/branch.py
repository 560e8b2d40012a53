"""Which solution is meant: the covariance path where that is proved safe, the hermitised path otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from hermite_rmt.equivalents.dyson import SCALE, Dyson
from hermite_rmt.equivalents.hermitise import EPSILON, hermitise
from hermite_rmt.equivalents.nodes import Node
from hermite_rmt.equivalents.positivity import Positivity
from hermite_rmt.solvers.continuation import Arithmetic, ContinuationError
from hermite_rmt.theory.engine_solver import CompiledEquations, Point, branch_by_scale
from hermite_rmt.theory.values import Number, evaluate


class InSpectrumError(ContinuationError):
    """0 lies in the limiting spectrum of something that is inverted."""


# Decades of eps: at least ENOUGH, at most SMALLEST, before the jump to 0; the exponent with which the density at 0
# falls is 1 outside the spectrum and 0 inside it.
ENOUGH, SMALLEST = 5, 13
OUTSIDE, INSIDE = 0.95, 0.1


def physical_branch(
    node: Node, dyson: Dyson, bulk: CompiledEquations, exact: Point, point: Mapping[Any, Number]
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return a double approximation of R on the physical branch, Newton steps, and notes on the path."""
    positivity = Positivity(lambda scalar: evaluate(scalar, point))
    if positivity.safe(node):
        return branch_by_scale(bulk, exact)
    return branch_by_hermitisation(dyson, bulk, exact, point)


def branch_by_hermitisation(
    dyson: Dyson, bulk: CompiledEquations, exact: Point, point: Mapping[Any, Number]
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return R by the hermitised equation: eps from 1 to 0 after the covariance scale from 0 to 1.

    Raises
    ------
    InSpectrumError
        If 0 lies in the limiting spectrum of the pencil: the trace of an inverse has no continuous limit there.
    """
    conjugates = {s: sympy.Dummy(f"{s}_bar") for s, number in point.items() if number.imag is not None}
    doubled = Dyson(hermitise(dyson.pencil, conjugates), dyson.ratios)
    system = doubled.system(SCALE)
    equations = CompiledEquations(system, tuple(doubled.place(u) for u in system.unknowns))
    bars = {bar: point[s].conjugate().at for s, bar in conjugates.items()}
    extended = {**exact.exact, **bars}
    size = dyson.pencil.size

    def at(scale: float, epsilon: float) -> list[Any]:
        values = Point({**extended, EPSILON: lambda precision: epsilon})
        return values.doubles(system.parameters, scale)

    arithmetic = Arithmetic(equations.compiled)
    x = arithmetic.newton(arithmetic.array([0] * len(system.unknowns)), at(0.0, 1.0), 1e-6, guarded=False)
    x, trail = arithmetic.follow(x, lambda s: at(s, 1.0))
    diagonal = [k for k, u in enumerate(system.unknowns) for _, i, j in [doubled.place(u)] if i == j and i < size]
    densities: list[float] = []
    slope = 0.0
    for decade in range(SMALLEST):
        x, _ = arithmetic.follow(x, lambda u, d=decade: at(1.0, 10.0 ** -(d + u)), first=0.5)  # type: ignore[misc]
        densities.append(float(np.max(np.abs(x[diagonal]))))
        if decade >= ENOUGH:
            slope = float(np.log10(densities[-2] / densities[-1]))
            if slope > OUTSIDE or slope < INSIDE:
                break
    if slope < OUTSIDE:
        raise InSpectrumError(
            "0 lies in the limiting spectrum of something that is inverted "
            f"(eps tr(L L^* + eps^2)^-1 falls only like eps^{max(slope, 0.0):.2g}): Q has no limit there; "
            "shift it off the spectrum, or make the argument complex"
        )
    numbers = {doubled.place(u): value for u, value in zip(system.unknowns, x, strict=True)}
    start = np.array([numbers.get(_lower(dyson.place(u), size), 0.0) for u in bulk.system.unknowns])
    direct = Arithmetic(bulk.compiled)
    start = direct.newton(start, exact.doubles(bulk.system.parameters), 1e-9)
    notes = (
        f"hermitised: covariance scale 0 to 1 in {len(trail) - 1} steps, eps 1 to 1e-{len(densities)}, then to 0",
        f"0 outside the spectrum of what is inverted: eps tr(L L^* + eps^2)^-1 falls like eps^{slope:.3g}",
    )
    return start, arithmetic.steps + direct.steps, notes


def _lower(place: tuple[int, int, int], size: int) -> tuple[int, int, int]:
    """Return the place of L^-1 in the hermitised inverse: its lower left corner."""
    species, i, j = place
    return species, i + size, j
