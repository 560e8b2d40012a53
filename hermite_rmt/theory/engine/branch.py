"""Which solution is meant: the covariance path where that is proved safe, the hermitised path otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.nodes import without_low_rank
from hermite_rmt.equivalents.positivity import Positivity
from hermite_rmt.solvers.continuation import Arithmetic, ContinuationError
from hermite_rmt.theory.engine.contraction import branch_by_contraction
from hermite_rmt.theory.engine.hermitised import HermitisedPath, exact_point
from hermite_rmt.theory.engine.solver import CompiledEquations, branch_by_scale
from hermite_rmt.theory.engine.values import Number, evaluate


class InSpectrumError(ContinuationError):
    """0 lies in the limiting spectrum of something that is inverted."""


# Decades of eps: at least ENOUGH, at most SMALLEST, before the jump to 0; the exponent with which the density at 0
# falls is 1 outside the spectrum and 0 inside it.
ENOUGH, SMALLEST = 5, 13
OUTSIDE, INSIDE = 0.95, 0.1
LEAST = 1e-10  # relative size from which a sign in double precision is believed
LAST = 600  # bits of a last attempt: a sign that is lost in rounding errors there is let pass


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
        ways = {row: positivity.direction(node) for row, node in inverses.items()}
        shifts = {dyson.directions[row]: way for row, way in ways.items()}
        return branch_by_scale(bulk, exact_point(dyson, point, shifts), precision, _Signs(dyson, bulk, ways).require)
    try:
        return branch_by_hermitisation(dyson, bulk, point, precision)
    except InSpectrumError:
        # a real point may be outside the spectrum, but closer to it than eps goes
        try:
            return branch_by_contraction(dyson, bulk, point)
        except ContinuationError:
            pass
        raise


class _Signs:
    """That every inverse N^-1 with N + t u invertible for all t >= 0, N of one sign along u, keeps Re u <N^-1> > 0.

    Where solutions nearly meet on the covariance path, steps can pass from one to the other unseen.
    """

    def __init__(self, dyson: Dyson, bulk: CompiledEquations, ways: Mapping[int, complex]) -> None:
        places = {symbol: index for index, symbol in enumerate(bulk.system.unknowns)}
        entries = [(dyson.unknown(a, row, row), way) for row, way in ways.items() for a in range(len(dyson.species))]
        self._signed = [(places[symbol], way) for symbol, way in entries if way and symbol in places]

    def require(self, x: np.ndarray, precision: int | None) -> None:
        """Raise a ContinuationError unless all signs are right, beyond rounding errors but for the last precision."""
        tolerance: Any = LEAST if precision is None else local_context(precision).ldexp(1, -precision // 2)
        last = precision is not None and precision >= LAST
        for index, way in self._signed:
            part, rounding = (x[index] * way).real, tolerance * abs(x[index])
            if part < (-rounding if last else rounding):
                raise ContinuationError("an inverse has the wrong sign: the path left the physical branch")


def branch_by_hermitisation(
    dyson: Dyson, bulk: CompiledEquations, point: Mapping[Any, Number], precision: int | None
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return R by the hermitised equation: eps from 1 to 0 after the covariance scale from 0 to 1."""
    path = HermitisedPath(dyson, point, precision)
    densities: list[float] = []
    slope = 0.0
    for decade in range(SMALLEST):
        path.shrink()
        densities.append(path.density())
        if decade >= ENOUGH:
            slope = float(np.log10(densities[-2] / densities[-1]))
            if slope > OUTSIDE or slope < INSIDE:
                break
    if slope < OUTSIDE:
        raise InSpectrumError(
            "0 lies in the limiting spectrum of something that is inverted "
            f"(eps tr(L L^* + eps^2)^-1 falls only like eps^{max(slope, 0.0):.2g}): Q has no limit there; "
            "shift it off the spectrum, make the argument complex, or ask for hermitised_trace"
        )
    inner = path.inverse()
    direct = Arithmetic(bulk.compiled, precision)
    start = direct.array([inner.get(dyson.place(u), 0.0) for u in bulk.system.unknowns])
    values = exact_point(dyson, point).numbers(bulk.system.parameters, precision)
    start = direct.newton(start, values, 1e-9)
    notes = (
        f"hermitised: covariance scale 0 to 1 in {path.length} steps, eps 1 to 1e-{len(densities)}, then to 0",
        f"0 outside the spectrum of what is inverted: eps tr(L L^* + eps^2)^-1 falls like eps^{slope:.3g}",
    )
    return start, path.arithmetic.steps + direct.steps, notes
