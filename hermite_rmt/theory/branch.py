"""Which solution is meant: the covariance path where that is proved safe, the hermitised path otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from hermite_rmt.core.contexts import local_context
from hermite_rmt.equivalents.dyson import SCALE, Dyson
from hermite_rmt.equivalents.hermitise import EPSILON, hermitise
from hermite_rmt.equivalents.pencil import without_low_rank
from hermite_rmt.equivalents.positivity import Positivity
from hermite_rmt.solvers.continuation import Arithmetic, ContinuationError
from hermite_rmt.theory.engine_solver import CompiledEquations, Exact, Point, branch_by_scale
from hermite_rmt.theory.values import Number, evaluate

NONE: Mapping[Any, complex] = MappingProxyType({})


class InSpectrumError(ContinuationError):
    """0 lies in the limiting spectrum of something that is inverted."""


# Decades of eps: at least ENOUGH, at most SMALLEST, before the jump to 0; the exponent with which the density at 0
# falls is 1 outside the spectrum and 0 inside it.
ENOUGH, SMALLEST = 5, 13
OUTSIDE, INSIDE = 0.95, 0.1


def physical_branch(
    dyson: Dyson, bulk: CompiledEquations, point: Mapping[Any, Number], precision: int | None
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return R on the physical branch approximately, the Newton steps taken, and notes on the path.

    Parameters
    ----------
    dyson : of a plain pencil
    bulk : its equations, compiled with path parameters
    point : values of all symbols
    precision : bits to follow the path with, None for double precision

    Raises
    ------
    ContinuationError
        If the path could not be followed at this precision.
    InSpectrumError
        If 0 lies in the limiting spectrum of something that is inverted.
    """
    positivity = Positivity(lambda scalar: evaluate(scalar, point))
    inverses = {row: without_low_rank(node) for row, node in dyson.pencil.inverses.items()}
    if all(positivity.invertible(node) for node in inverses.values()):
        ways = {dyson.directions[row]: positivity.direction(node) for row, node in inverses.items()}
        return branch_by_scale(bulk, exact_point(dyson, point, ways), precision)
    return branch_by_hermitisation(dyson, bulk, point, precision)


def exact_point(dyson: Dyson, point: Mapping[Any, Number], directions: Mapping[Any, complex] = NONE) -> Point:
    """Return a point with the directions of the shifts, 0 if not given."""
    ways = {symbol: directions.get(symbol, 0) for symbol in dyson.directions.values()}
    exact: dict[Any, Exact] = {symbol: number.at for symbol, number in point.items()}
    exact |= {symbol: partial(_constant, way) for symbol, way in ways.items()}
    return Point(exact)


def _constant(value: complex, precision: int) -> Any:
    context = local_context(precision)
    return context.mpc(value) if value.imag else context.mpf(value.real)


def branch_by_hermitisation(
    dyson: Dyson, bulk: CompiledEquations, point: Mapping[Any, Number], precision: int | None
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return R by the hermitised equation: eps from 1 to 0 after the covariance scale from 0 to 1."""
    nonreal = tuple(sorted((s for s, number in point.items() if number.imag is not None), key=str))
    doubled, conjugates, equations = _hermitised(dyson, nonreal)
    system = equations.system
    bars = {bar: point[s].conjugate() for s, bar in conjugates.items()}
    extended = exact_point(dyson, {**point, **bars}).exact
    size = dyson.pencil.size

    def at(scale: float, epsilon: float) -> list[Any]:
        values = Point({**extended, EPSILON: partial(_constant, epsilon)})
        return values.numbers(system.parameters, precision, scale)

    arithmetic = Arithmetic(equations.compiled, precision)
    x = arithmetic.newton(arithmetic.array([0] * len(system.unknowns)), at(0.0, 1.0), 1e-6, guarded=False)
    x, trail = arithmetic.follow(x, lambda s: at(s, 1.0))
    diagonal = [k for k, u in enumerate(system.unknowns) for _, i, j in [doubled.place(u)] if i == j and i < size]
    densities: list[float] = []
    slope = 0.0
    for decade in range(SMALLEST):
        x, _ = arithmetic.follow(x, lambda u, d=decade: at(1.0, 10.0 ** -(d + u)), first=0.5)  # type: ignore[misc]
        densities.append(float(max(abs(x[k]) for k in diagonal)))
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
    direct = Arithmetic(bulk.compiled, precision)
    start = direct.array([numbers.get(_lower(dyson.place(u), size), 0.0) for u in bulk.system.unknowns])
    values = exact_point(dyson, point).numbers(bulk.system.parameters, precision)
    start = direct.newton(start, values, 1e-9)
    notes = (
        f"hermitised: covariance scale 0 to 1 in {len(trail) - 1} steps, eps 1 to 1e-{len(densities)}, then to 0",
        f"0 outside the spectrum of what is inverted: eps tr(L L^* + eps^2)^-1 falls like eps^{slope:.3g}",
    )
    return start, arithmetic.steps + direct.steps, notes


@lru_cache(maxsize=32)
def _hermitised(dyson: Dyson, nonreal: tuple[Any, ...]) -> tuple[Dyson, dict[Any, Any], CompiledEquations]:
    """Return the hermitised Dyson equation, the symbols of the conjugates, and the equations compiled."""
    conjugates = {symbol: sympy.Dummy(f"{symbol}_bar") for symbol in nonreal}
    doubled = Dyson(hermitise(dyson.pencil, conjugates), dyson.ratios)
    system = doubled.system(SCALE)
    return doubled, conjugates, CompiledEquations(system, tuple(doubled.place(u) for u in system.unknowns))


def _lower(place: tuple[int, int, int], size: int) -> tuple[int, int, int]:
    """Return the place of L^-1 in the hermitised inverse: its lower left corner."""
    species, i, j = place
    return species, i + size, j
