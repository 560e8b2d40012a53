"""DerivedModel: a model whose limit the engine derives from its matrix expression, point by point."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, Real, read_real
from hermite_rmt.core.solution import Outcome, Solution, SolveError
from hermite_rmt.equivalents.ensembles import Vector
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.theory.engine.certifier import BRANCH_PROVED
from hermite_rmt.theory.equivalent import DeterministicEquivalent
from hermite_rmt.theory.model import OBSERVABLES, Model

_DOUBLE_DIGITS = 17
_GUARD = 6


class DerivedModel(Model):
    """Ridge regression on features whose resolvent Q the engine turns into equations.

    A subclass states the expression. Its symbols carry the names of `parameters` and `derived`, c and gamma among
    them; the labels y, a `Vector` of norm "sqrt", are independent of everything but the signal.
    """

    @property
    @abstractmethod
    def equivalent(self) -> DeterministicEquivalent:
        """The engine's deterministic equivalent of Q."""

    @property
    @abstractmethod
    def labels(self) -> Vector | None:
        """The vector y of the expression; None where y^T Q y / n = tr Q / n, without a signal."""

    @abstractmethod
    def gram(self, values: Mapping[str, Any]) -> Mapping[tuple[Vector, Vector], Any]:
        """Return the overlaps of the expression's vectors from the values of the parameters."""

    @property
    def equations(self) -> EquationSystem:
        """The equations of lim tr Q / n, as the engine derives them."""
        return self.equivalent.equations

    def _observe(self, values: Mapping[str, Any], digits: int | None, derivative: str | None = None) -> Any:
        """Return lim y^T Q y / n, or its derivative by a symbol."""
        point = self._symbols(values)
        if self.labels is None:
            return self.equivalent.trace(point, digits, derivative)
        form = (self.labels, self.labels)
        return self.equivalent.quadratic_form(*form, point, self.gram(values), digits, derivative)

    def _symbols(self, values: Mapping[str, Any]) -> dict[Any, Any]:
        return {symbol: values[str(symbol)] for symbol in self.equivalent.parameters}

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        solution = self.equivalent.solve(self._symbols(values), digits)
        trace = solution["trace"]
        q = trace if self.labels is None else self._observe(values, digits)
        slope = self._observe(values, digits + _GUARD, "gamma")
        context = local_context(bits(digits + 2 * _GUARD))
        error = -(values["gamma"].mpf(context.prec) ** 2) * context.convert(slope)  # E = -gamma^2 dq/dgamma
        found = dict(zip(OBSERVABLES, (trace, q, KnownDigits.of(error, digits)), strict=True))
        unknowns = {name: value for name, value in solution.values.items() if name not in found}
        return Solution(
            {**unknowns, **found}, solution.residual, solution.outcome, digits, solution.steps, solution.notes
        )

    def _certify_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        point, working = self._symbols(values), digits + _GUARD
        proofs = [self.equivalent.certify(point, working, derivative="gamma")]
        if self.labels is not None:
            form = self.labels, self.labels
            proofs.append(self.equivalent.certify(point, working, form, self.gram(values), "gamma"))
        last, steps = proofs[-1], sum(proof.steps for proof in proofs)
        if not all(proof.success and BRANCH_PROVED in proof.notes for proof in proofs):
            missing = dict.fromkeys(OBSERVABLES, math.nan)
            return Solution(missing, math.inf, Outcome.NOT_PROVED, digits, steps, last.notes)
        forms = proofs[0]["trace"], last["trace" if self.labels is None else "quadratic_form"]
        balls = [Ball.between(ball.lower, ball.upper, digits) for ball in forms]
        numbers = BallArithmetic(bits(digits + 2 * _GUARD))
        with numbers.active():
            error = -(numbers.read(values["gamma"]) ** 2) * last["derivative"].arb()  # E = -gamma^2 dq/dgamma
            balls.append(Ball.of_arb(error, digits))
        found = dict(zip(OBSERVABLES, balls, strict=True))
        return Solution(found, last.residual, Outcome.CONVERGED, digits, steps, last.notes)

    def _solve_grid(self, values: Mapping[str, np.ndarray]) -> Solution:
        count = values["c"].size
        found = {name: np.full(count, np.nan) for name in OBSERVABLES}
        residual, steps = np.full(count, np.nan), np.zeros(count, dtype=int)
        outcome = np.empty(count, dtype=object)
        for index in range(count):
            point = {name: float(array[index]) for name, array in values.items()}
            try:
                solution = self.equivalent.solve(self._symbols(point))
                found["trace"][index] = solution["trace"]
                found["quadratic_form"][index] = (
                    solution["trace"] if self.labels is None else self._observe(point, None)
                )
                found["error"][index] = -(point["gamma"] ** 2) * self._observe(point, None, "gamma")
            except SolveError as failure:
                solution = failure.solution
            outcome[index], steps[index] = solution.outcome, solution.steps
            residual[index] = np.nan if solution.residual is None else solution.residual
        return Solution(found, residual, outcome, steps=steps)

    def _freedom_grid(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        def at(index: int) -> float:
            point = {name: read_real(float(array[index]), name) for name, array in values.items()}
            try:
                return float(self._freedom_point(point, _DOUBLE_DIGITS)["degrees_of_freedom"])
            except SolveError:
                return math.nan

        return np.array([at(index) for index in range(values["c"].size)])

    def _freedom_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Return 1 - gamma m with as many more digits of m as cancel."""
        working = digits + _GUARD
        while True:
            solution = self.equivalent.solve(self._symbols(values), working)
            context = local_context(bits(working + _GUARD))
            freedom = 1 - values["gamma"].mpf(context.prec) * context.convert(solution["trace"])
            lost = working if freedom <= 0 else max(0, -int(context.floor(context.log10(freedom))))
            if working - lost >= digits + 1:
                break
            working = digits + lost + _GUARD if lost < working else 2 * working
        value = KnownDigits.of(freedom, digits)
        return Solution({"degrees_of_freedom": value}, solution.residual, Outcome.CONVERGED, digits, solution.steps)
