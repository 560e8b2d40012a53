"""The hermitised Dyson equation, followed from eps = 1 towards 0: it has an answer whatever is inverted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import sympy

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.equivalents.dyson import SCALE, Dyson
from hermite_rmt.equivalents.hermitise import EPSILON, hermitise
from hermite_rmt.solvers.continuation import Arithmetic, ContinuationError
from hermite_rmt.theory.engine.solver import CompiledEquations, Exact, Point
from hermite_rmt.theory.engine.values import Number

NONE: Mapping[Any, complex] = MappingProxyType({})


def exact_point(dyson: Dyson, point: Mapping[Any, Number], directions: Mapping[Any, complex] = NONE) -> Point:
    """Return a point with the directions of the shifts, 0 if not given."""
    ways = {symbol: directions.get(symbol, 0) for symbol in dyson.directions.values()}
    exact: dict[Any, Exact] = {symbol: number.at for symbol, number in point.items()}
    exact |= {symbol: partial(_constant, way) for symbol, way in ways.items()}
    return Point(exact)


def _constant(value: complex, precision: int) -> Any:
    context = local_context(precision)
    return context.mpc(value) if value.imag else context.mpf(value.real)


class HermitisedPath:
    """The solution of the hermitised equation of a pencil at eps = 10^-decades.

    Parameters
    ----------
    dyson : of the plain pencil
    point : values of its symbols
    precision : bits, None for double precision

    Raises
    ------
    ContinuationError
        If the covariance scale could not be followed from 0 to 1 at eps = 1.
    """

    def __init__(self, dyson: Dyson, point: Mapping[Any, Number], precision: int | None) -> None:
        nonreal = tuple(sorted((s for s, number in point.items() if number.imag is not None), key=str))
        self._doubled, conjugates, self.equations = _hermitised(dyson, nonreal)
        self._unknowns = self.equations.system.unknowns
        bars = {bar: point[symbol].conjugate() for symbol, bar in conjugates.items()}
        self._exact = exact_point(dyson, {**point, **bars}).exact
        self._size, self._precision = dyson.pencil.size, precision
        self.arithmetic = Arithmetic(self.equations.compiled, precision)
        start = self.arithmetic.array([0] * len(self._unknowns))
        x = self.arithmetic.newton(start, self._at(0.0, 0.0), 1e-6, guarded=False)
        self.x, trail = self.arithmetic.follow(x, lambda scale: self._at(scale, 0.0))
        self.length = len(trail) - 1
        self.decades = 0

    def _at(self, scale: float, decades: float) -> list[Any]:
        point = Point({**self._exact, EPSILON: partial(_epsilon, decades)})
        return point.numbers(self.equations.system.parameters, self._precision, scale)

    def shrink(self) -> None:
        """Make eps ten times smaller."""
        here = self.decades
        self.x, _ = self.arithmetic.follow(self.x, lambda u: self._at(1.0, here + u), first=0.5)
        self.decades += 1

    def density(self) -> float:
        """Return the largest block of eps tr(L L^* + eps^2)^-1: of order eps where 0 is outside the spectrum of L."""
        places = map(self._doubled.place, self._unknowns)
        upper = [value for value, (_, i, j) in zip(self.x, places, strict=True) if i == j and i < self._size]
        return float(max(map(abs, upper)))

    def inverse(self) -> dict[tuple[int, int, int], Any]:
        """Return the lower left corner, which tends to L^-1, by (species, row, column) of L."""
        places = map(self._doubled.place, self._unknowns)
        return {(species, i - self._size, j): value for (species, i, j), value in zip(places, self.x, strict=True)}

    def trace(self) -> Any:
        """Return the trace of the expression with every L^-1 replaced by L^* (L L^* + eps^2)^-1."""
        return self.equations.observe(self.arithmetic, self.x, self._at(1.0, self.decades))[0]


def hermitised_trace(dyson: Dyson, point: Mapping[Any, Number], digits: int) -> Any:
    """Return the limit eps -> 0 of the hermitised trace, to `digits` decimal places.

    Raises
    ------
    ContinuationError
        If eps = 10^-(digits + 6) does not tell the limit.
    """
    path = HermitisedPath(dyson, point, bits(2 * digits + 40))
    tolerance = local_context(64).mpf(10) ** -digits
    previous = None
    for decade in range(digits + 6):
        path.shrink()
        if decade >= digits - 1:
            current = path.trace()
            if previous is not None and abs(current - previous) <= tolerance:
                return current
            previous = current
    raise ContinuationError(f"the limit eps -> 0 was not reached to {digits} places")


def _epsilon(decades: float, precision: int) -> Any:
    return local_context(precision).mpf(10) ** -decades


@lru_cache(maxsize=32)
def _hermitised(dyson: Dyson, nonreal: tuple[Any, ...]) -> tuple[Dyson, dict[Any, Any], CompiledEquations]:
    """Return the hermitised Dyson equation, the symbols of the conjugates, and the equations compiled."""
    conjugates = {symbol: sympy.Dummy(f"{symbol}_bar") for symbol in nonreal}
    doubled = Dyson(hermitise(dyson.pencil, conjugates), dyson.ratios)
    system = doubled.system(SCALE)
    return doubled, conjugates, CompiledEquations(system, tuple(doubled.place(u) for u in system.unknowns))
