"""One point of a derived system with proofs: a box around the solution, what follows in it, and the branch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.ensembles import overlap
from hermite_rmt.equivalents.spikes import response_system
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.theory.engine.ball_system import BallSystem, Box, sharp
from hermite_rmt.theory.engine.branch_proof import BranchProof
from hermite_rmt.theory.engine.congruence import Congruence
from hermite_rmt.theory.engine.point_solver import PointSolver
from hermite_rmt.theory.engine.values import Number

PROVED = "proved: exactly one solution of the equations in the box, by Krawczyk's test"
BRANCH_PROVED = "branch: proved; the map of derivations/17_branch.py contracts here, as it does at the limit alone"
BRANCH_FOLLOWED = "branch: followed numerically, not proved"
NO_CONGRUENCE = "the self-adjoint form of the pencil does not exist at this point"
GUARD = 6  # digits, for the step from one form of the pencil to the other

Point = Mapping[Any, Number]


class Certifier:
    """Proves the solutions that a `PointSolver` finds; compiles its equations once.

    Parameters
    ----------
    solver : finds them
    bulk, full : the Dyson equations of the plain pencil without and with vectors
    congruence : to the unknowns of the self-adjoint pencil, where there is one
    constants : symbols whose values are known: Hermite coefficients and energies
    """

    def __init__(
        self,
        solver: PointSolver,
        bulk: Dyson,
        full: Dyson,
        congruence: Callable[[], Congruence | None],
        constants: Mapping[Any, Real],
    ) -> None:
        self._solver, self._bulk, self._full, self._constants = solver, bulk, full, constants
        self._make_congruence = congruence
        self._systems: dict[Any, BallSystem] = {}
        self._branches: dict[Any, BranchProof] = {}

    @cached_property
    def _congruence(self) -> Congruence | None:
        return self._make_congruence()

    def certify(self, point: Point, overlaps: Point, digits: int, form: Any, derivative: Any) -> Solution:
        """Return the balls at one real point; see `DeterministicEquivalent.certify`."""
        known = {**{symbol: number.real for symbol, number in {**point, **overlaps}.items()}, **self._constants}
        system = self.system(form, derivative)
        steps = 0
        notes: list[str] = []
        for working in (digits + 2 * GUARD, 2 * digits + 8 * GUARD):
            numbers = BallArithmetic(bits(working) + 32)
            with numbers.active():  # first: what has no enclosure is refused here
                parameters = {symbol: numbers.read(real) for symbol, real in known.items()}
            solved = self._solver.solve(point, overlaps, working, form)
            steps += solved.steps
            start = [getattr(value, "real", value) for value in solved.unknowns]
            with numbers.active():
                box = system.prove(start, parameters, numbers)
                found, notes = ({}, []) if box is None else self._values(box, form is None)
                if box is not None and _all_sharp(found, box, digits, numbers):
                    proved = self._branch(form is None, known).holds(box.unknowns, list(parameters.values()))
                    balls = {name: Ball.of_arb(value, digits) for name, value in found.items()}
                    notes += [PROVED, BRANCH_PROVED if proved else BRANCH_FOLLOWED]
                    told = (*solved.notes, *notes)
                    return Solution(balls, box.residual, Outcome.CONVERGED, digits, steps, told)
        return Solution({}, math.inf, Outcome.NOT_PROVED, digits, steps, (*solved.notes, *notes, BRANCH_FOLLOWED))

    def system(self, form: Any = None, derivative: Any = None) -> BallSystem:
        """Return the equations of the trace, or of a form, as functions of balls."""
        key = (form, derivative)
        if key not in self._systems:
            self._systems[key] = BallSystem(self._equations(form), derivative)
        return self._systems[key]

    def _equations(self, form: Any) -> EquationSystem:
        return self._bulk.system() if form is None else response_system(self._full, form[0], form[1], overlap)

    def _branch(self, bulk: bool, known: Mapping[Any, Real]) -> BranchProof:
        key = (bulk, *known)
        if key not in self._branches:
            self._branches[key] = BranchProof(self._bulk if bulk else self._full, tuple(known))
        return self._branches[key]

    def _values(self, box: Box, unknowns: bool) -> tuple[dict[str, Any], list[str]]:
        found: dict[str, Any] = {}
        notes: list[str] = []
        if unknowns and self._congruence is None:
            found = {str(symbol): value for symbol, value in box.unknowns.items()}
        elif unknowns:
            assert self._congruence is not None
            try:
                found = self._congruence.balls(box.unknowns, box.parameters)
            except ZeroDivisionError:
                notes = [NO_CONGRUENCE]
        found |= box.observables
        if box.derivative is not None:
            found["derivative"] = box.derivative
        return found, notes


def _all_sharp(found: Mapping[str, Any], box: Box, digits: int, numbers: BallArithmetic) -> bool:
    largest = max((value.abs_upper() for value in (*box.unknowns.values(), *found.values())), default=0)
    least = largest * numbers.number(2.0) ** (-2 * bits(digits))
    return all(sharp(value, bits(digits), least) for value in found.values())
