"""One point of a derived system: the branch, the low-rank response, the digits asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.known_complex import KnownComplex
from hermite_rmt.core.numbers import KnownDigits, Real
from hermite_rmt.core.solution import Outcome, Solution, SolveError
from hermite_rmt.equivalents.dyson import SCALE, SHIFT, Dyson
from hermite_rmt.equivalents.ensembles import overlap
from hermite_rmt.equivalents.spikes import response_system
from hermite_rmt.solvers.continuation import ContinuationError
from hermite_rmt.theory.engine.branch import InSpectrumError, physical_branch
from hermite_rmt.theory.engine.hermitised import exact_point, hermitised_trace
from hermite_rmt.theory.engine.solver import CompiledEquations, Solved, refine
from hermite_rmt.theory.engine.values import Number, require_complete

DOUBLE_DIGITS = 17
DOUBLES = 900  # spread of values, in bits, that doubles can follow
PRECISIONS = (200, 600)  # bits beyond the spread to follow a path with where doubles did not do
REMEMBERED = 256  # paths kept

Values = Mapping[Any, Number]
Branch = tuple[Any, int, tuple[str, ...]]


class PointSolver:
    """Solves one expression at one point after the other; compiles its equations once.

    Parameters
    ----------
    bulk : the Dyson equation of the plain pencil without vectors
    full : the same with them
    parameters : the symbols that need values, for the trace and for quadratic forms
    constants : symbols whose values are known
    """

    def __init__(
        self,
        bulk: Dyson,
        full: Dyson,
        parameters: tuple[tuple[Any, ...], tuple[Any, ...]],
        constants: Mapping[Any, Real],
    ) -> None:
        self._bulk, self._full = bulk, full
        self._parameters = parameters
        self._constants = {symbol: Number(real) for symbol, real in constants.items()}
        self._compiled: dict[Any, CompiledEquations] = {}
        self._paths: dict[Any, Branch] = {}

    def solve(
        self, point: Values, overlaps: Values, digits: int | None, form: Any = None, derivative: Any = None
    ) -> Solved:
        """Return the solution; its observables are the trace or form, then its derivative if one is asked for.

        Raises
        ------
        ValueError
            For symbols or overlaps without a value.
        SolveError
            If 0 lies in the spectrum of something that is inverted, or no path could be followed.
        """
        require_complete(point, self._parameters[form is not None])
        point = {**point, **self._constants}
        compiled = self._compile(form, derivative)
        every = {**point, **overlaps}
        path = {SCALE, SHIFT, *self._bulk.directions.values(), *self._full.directions.values()}
        needed = [s for s in compiled.system.parameters if s not in path and s not in point]
        require_complete(every, needed, "gram")
        dyson, followed = (self._bulk, compiled) if form is None else (self._full, self._full_equations)
        exact = exact_point(dyson, every)
        reasons: list[str] = []
        spread = exact.spread
        doubles = (None,) if spread <= DOUBLES else ()
        for precision in (*doubles, *(spread + more for more in PRECISIONS)):
            try:
                start, steps, notes = self._branch(dyson, followed, point, precision)
                extra = len(compiled.system.unknowns) - len(start)
                notes = notes if precision is None else (*notes, f"followed with {precision} bits")
                return refine(compiled, exact, [*start, *[0] * extra], digits or DOUBLE_DIGITS, steps, notes)
            except InSpectrumError as reason:
                raise _failure(Outcome.IN_SPECTRUM, str(reason), digits) from None
            except ContinuationError as reason:
                reasons.append(str(reason))
        raise _failure(Outcome.NOT_CONVERGED, "; ".join(dict.fromkeys(reasons)), digits)

    def numbers(self, point: Values, precision: int) -> dict[Any, Any]:
        """Return the parameters and constants at a point as numbers of the local context of `precision` bits."""
        return {symbol: number.at(precision) for symbol, number in {**point, **self._constants}.items()}

    def hermitised(self, point: Values, digits: int) -> Any:
        """Return the trace by the hermitised equation, to that many places; raises `SolveError`."""
        require_complete(point, self._parameters[0])
        try:
            return hermitised_trace(self._bulk, {**point, **self._constants}, digits)
        except ContinuationError as reason:
            raise _failure(Outcome.NOT_CONVERGED, str(reason), digits) from None

    def _compile(self, form: Any, derivative: Any) -> CompiledEquations:
        key = (form, derivative)
        if key not in self._compiled:
            dyson = self._bulk if form is None else self._full
            if form is None:
                system = dyson.system(SCALE, SHIFT)
            else:
                system = response_system(dyson, form[0], form[1], overlap, SCALE, SHIFT)
            places = {unknown: dyson.place(unknown) for unknown in dyson.unknowns}
            layout = tuple(places.get(unknown, (len(dyson.species), 0, 0)) for unknown in system.unknowns)
            self._compiled[key] = CompiledEquations(system, layout, derivative)
        return self._compiled[key]

    @cached_property
    def _full_equations(self) -> CompiledEquations:
        """The Dyson equation of the pencil with its vectors: followed before the response is solved for."""
        system = self._full.system(SCALE, SHIFT)
        return CompiledEquations(system, tuple(self._full.place(unknown) for unknown in system.unknowns))

    def _branch(self, dyson: Dyson, followed: CompiledEquations, point: Values, precision: int | None) -> Branch:
        """Return `physical_branch`, remembered: a form and its derivative follow one path."""
        key = (dyson is self._bulk, precision, tuple(sorted((str(s), number.text) for s, number in point.items())))
        if key not in self._paths:
            if len(self._paths) >= REMEMBERED:
                self._paths.clear()
            self._paths[key] = physical_branch(dyson, followed, point, precision)
        return self._paths[key]


def _failure(outcome: Outcome, reason: str, digits: int | None) -> SolveError:
    return SolveError(f"{outcome.value}; {reason}", Solution({}, None, outcome, digits, 0, (reason,)))


def rounded(value: Any, digits: int | None) -> Any:
    """Return a float (complex), or an mpf (mpc) with its digits; an imaginary part at rounding level is dropped."""
    imag: Any = getattr(value, "imag", 0)
    if imag and abs(imag) > abs(value.real) * value.context.mpf(10) ** -(digits or DOUBLE_DIGITS):
        if digits is None:
            return complex(_double(value.real), _double(imag))
        return KnownComplex.of(value, digits)
    return _double(value.real) if digits is None else KnownDigits.of(value.real, digits)


def _double(value: Any) -> float:
    """Return a float; a SolveError where it cannot hold the value."""
    double = float(value)
    if value and not 0 < abs(double) < math.inf:
        raise _failure(Outcome.OUT_OF_RANGE, f"a value is about {local_context(30).nstr(value, 3)}", None)
    return double
