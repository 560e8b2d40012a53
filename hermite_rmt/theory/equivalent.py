"""deterministic_equivalent: a matrix expression in random matrices -> its limiting traces and quadratic forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import read_digits
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.theory.engine.ball_system import BallSystem
from hermite_rmt.theory.engine.congruence import Congruence
from hermite_rmt.theory.engine.derived import DerivedEquations
from hermite_rmt.theory.engine.gram import gram_values
from hermite_rmt.theory.engine.point_solver import PointSolver, rounded
from hermite_rmt.theory.engine.values import read_number, results

PROVED = "proved: the box contains exactly one solution of the equations of plain_pencil, whose unknowns these are"
FOLLOWED = "not proved: that it is the physical branch; the branch was followed numerically"
_GUARD = 6  # digits, for the step from one form of the pencil to the other


class DeterministicEquivalent(DerivedEquations):
    """The limit of a matrix expression in random matrices; made by `deterministic_equivalent`."""

    @cached_property
    def _solver(self) -> PointSolver:
        needed = self._bulk_parameters, self.parameters
        return PointSolver(self._plain_bulk, self._plain_full, needed, self.linearised.constants)

    def trace(self, values: Mapping[Any, Any], digits: int | None = None, derivative: Any = None) -> Any:
        """Return lim tr Q / (its dimension).

        Parameters
        ----------
        values : {symbol or its name: number or array}, broadcast together; complex numbers are allowed
        digits : None for double precision, else an mpf (mpc) with that many right digits
        derivative : a symbol, to return the derivative by it instead (exact, by implicit differentiation)

        Raises
        ------
        ValueError
            For missing or unknown symbols and values that are no numbers.
        SolveError
            If 0 lies in the limiting spectrum of something that is inverted, or the branch could not be followed.
        """
        if self._node.rows != self._node.cols:
            raise ExpressionError(f"trace: the expression is {self._node.rows} x {self._node.cols}, not square")
        return self._numbers(values, {}, digits, None, derivative)

    def quadratic_form(
        self,
        a: Vector,
        b: Vector,
        values: Mapping[Any, Any],
        gram: Mapping[Any, Any] | None = None,
        digits: int | None = None,
        derivative: Any = None,
    ) -> Any:
        """Return lim a^T Q b, each vector of norm "sqrt" divided by the root of its dimension.

        Parameters
        ----------
        a, b : vectors
        values, digits, derivative : as for `trace`
        gram : {(vector, vector): overlap}; a vector of norm "sqrt" has overlap 1 with itself if not given

        Raises
        ------
        ValueError
            As `trace`, and for a missing overlap or overlaps of no vectors.
        """
        return self._numbers(values, gram or {}, digits, (a, b), derivative)

    def solve(self, values: Mapping[Any, Any], digits: int | None = None) -> Solution:
        """Return the `Solution` at one point: the trace and all unknowns of `dyson`, those of `equations` among them.

        Where the self-adjoint form of the pencil does not exist, a note says so and the values hold the trace alone.
        """
        digits = read_digits(digits)
        shape, points = self._read(values)
        if shape:
            raise ValueError(f"values: got arrays of shape {shape}; allowed: one point (trace takes arrays)")
        solved = self._solver.solve(points[0], {}, digits if self._congruence is None else (digits or 17) + _GUARD)
        found = dict(zip(map(str, self._plain_bulk.unknowns), solved.unknowns, strict=True))
        notes = solved.notes
        if self._congruence is not None:
            precision = bits((digits or 17) + _GUARD)
            try:
                found = self._congruence.unknowns(found, self._solver.numbers(points[0], precision), precision)
            except ZeroDivisionError:
                found, notes = {}, (*notes, "the self-adjoint form of the pencil does not exist at this point")
        unknowns = {name: rounded(value, digits) for name, value in found.items()}
        values = {**unknowns, "trace": rounded(solved.observables[0], digits)}
        return Solution(values, solved.residual, Outcome.CONVERGED, digits, solved.steps, notes)

    @cached_property
    def _congruence(self) -> Congruence | None:
        """From the plain pencil, along which the branch is followed, to the self-adjoint one of `equations`."""
        return Congruence(self._plain_bulk, self.dyson) if self.dyson.pencil.self_adjoint else None

    def certify(self, values: Mapping[Any, Any], digits: int = 30) -> Solution:
        """Return balls for the trace and the unknowns of the Dyson equation of `plain_pencil`, at one real point.

        Proved: the box of the unknowns contains exactly one solution of these equations (Krawczyk's test), for all
        parameters within their enclosures, and the trace at that solution is in its ball. Not proved: that this
        solution is the physical branch, which `solve` follows numerically; the notes say both.

        Parameters
        ----------
        values : {symbol or its name: real number}
        digits : decimal digits of the relative radius; where a value may be 0, its radius is at most 10^-(2 digits)
            times the largest unknown

        Returns
        -------
        Solution
            Values are `Ball`s, `trace` among them. Outcome NOT_PROVED without values where the test does not close.
            The unknowns of `solve` are those of the self-adjoint pencil where there is one: other numbers.

        Raises
        ------
        ValueError
            For arrays, complex numbers, numbers without an enclosure, missing or unknown symbols.
        SolveError
            As `trace`: at the edge of a spectrum, where the Jacobian is singular, there is nothing to prove.
        ImportError
            If python-flint is not installed.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
        >>> n, z = dimensions("n"), sympy.Symbol("z")
        >>> semicircle = deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv())
        >>> solution = semicircle.certify({z: -3}, digits=20)
        >>> print(solution["trace"].mid, solution["trace"].rad < 1e-20)
        0.38196601125010515180 True
        """
        if self._node.rows != self._node.cols:
            raise ExpressionError(f"certify: the expression is {self._node.rows} x {self._node.cols}, not square")
        places = read_digits(digits)
        if places is None:
            raise ValueError("digits: got None; allowed: a whole number from 1 to 1000000")
        shape, points = self._read(values)
        if shape:
            raise ValueError(f"values: got arrays of shape {shape}; allowed: one point")
        for symbol, number in points[0].items():
            if number.imag is not None:
                raise ValueError(f"certify: got {number.text} for {symbol}; allowed: real numbers")
        point = {symbol: number.real for symbol, number in points[0].items()} | self.linearised.constants
        steps = 0
        for working in (places + 2 * _GUARD, 2 * places + 8 * _GUARD):
            solved = self._solver.solve(points[0], {}, working)
            steps += solved.steps
            start = [getattr(value, "real", value) for value in solved.unknowns]
            proof = self._ball_system.certify(start, point, places, solved.precision + 32)
            if proof is not None:
                balls, residual = proof
                notes = (*solved.notes, PROVED, FOLLOWED)
                return Solution(balls, residual, Outcome.CONVERGED, places, steps, notes)
        return Solution({}, math.inf, Outcome.NOT_PROVED, places, steps, (*solved.notes, FOLLOWED))

    @cached_property
    def _ball_system(self) -> BallSystem:
        return BallSystem(self._plain_bulk.system())

    def hermitised_trace(self, values: Mapping[Any, Any], digits: int = 12) -> Any:
        """Return the trace where `trace` refuses to answer: the limit eps -> 0 of Y^* (Y Y^* + eps)^-1 for Y^-1.

        Inside the spectrum of a matrix that is not normal the trace of its inverse has no limit that could be
        continued from outside; this one is what finite matrices show. Absolute accuracy 10^-digits.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import Ginibre, dimensions
        >>> n = dimensions("n")
        >>> inside = deterministic_equivalent((Ginibre("X", n) + sympy.Identity(n) / 2).inv())
        >>> round(inside.hermitised_trace({}), 10)  # in the disc it is the conjugate, not 1/z
        0.5
        """
        places = read_digits(digits)
        shape, points = self._read(values)
        if places is None:
            raise ValueError("digits: got None; allowed: a whole number from 1 to 1000000")
        return results(shape, (rounded(self._solver.hermitised(p, places), None) for p in points), None)

    def _numbers(self, values: Any, gram: Any, digits: Any, form: Any, derivative: Any) -> Any:
        digits = read_digits(digits)
        shape, points = self._read(values)
        if derivative is not None:
            derivative = next((s for s in self.parameters if str(s) == str(derivative)), derivative)
            if derivative not in self.parameters:
                raise ValueError(f"derivative: got {derivative}; allowed: {', '.join(map(str, self.parameters))}")
        overlaps = gram_values(gram, self._vectors(form)) if form else {}
        for added, length in self.linearised.lengths.items():
            overlaps |= {overlap(added, v): read_number(0, "gram") for v in self._vectors(form)}
            overlaps[overlap(added, added)] = read_number(length, "gram")
        place = -1 if derivative is not None else 0
        solved = (self._solver.solve(point, overlaps, digits, form, derivative) for point in points)
        return results(shape, (rounded(s.observables[place], digits) for s in solved), digits)


def deterministic_equivalent(expression: Any, ratios: Mapping[Any, Any] | None = None) -> DeterministicEquivalent:
    """Return the deterministic equivalent of a matrix expression as its dimensions grow together.

    Parameters
    ----------
    expression : a SymPy matrix expression in declared matrices, with sums, products, transposes, inverses, powers
    ratios : ``{p: c*n}``: every dimension but one, as a multiple of that one

    Raises
    ------
    ExpressionError
        (a ValueError) for sizes that do not fit, undeclared matrices, missing ratios, terms of different order in n,
        pointing at the subexpression.

    >>> import sympy
    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> n, z = dimensions("n"), sympy.Symbol("z")
    >>> semicircle = deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv())
    >>> round(semicircle.trace({z: -3}), 12), semicircle.trace({z: -3}, digits=20)
    (0.38196601125, mpf('0.38196601125010515180'))
    """
    return DeterministicEquivalent(expression, ratios)
