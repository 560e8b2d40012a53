"""deterministic_equivalent: a matrix expression in random matrices -> its limiting traces and quadratic forms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import read_digits
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.theory.engine.certifier import GUARD, NO_CONGRUENCE, Certifier
from hermite_rmt.theory.engine.congruence import Congruence
from hermite_rmt.theory.engine.derived import DerivedEquations
from hermite_rmt.theory.engine.gram import gram_values
from hermite_rmt.theory.engine.point_solver import PointSolver, rounded
from hermite_rmt.theory.engine.values import Number, read_number, results

_DOUBLE = 17  # digits that hold a double


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
        return self._numbers(values, None, digits, None, derivative)

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
        return self._numbers(values, gram, digits, (a, b), derivative)

    def solve(self, values: Mapping[Any, Any], digits: int | None = None) -> Solution:
        """Return the `Solution` at one point: the trace and all unknowns of `dyson`, those of `equations` among them.

        Where the self-adjoint form of the pencil does not exist, a note says so and the values hold the trace alone.
        """
        digits = read_digits(digits)
        point = self._one_point(values)
        working = (digits or _DOUBLE) + GUARD
        solved = self._solver.solve(point, {}, digits if self._congruence is None else working)
        unknowns: dict[Any, Any] = dict(zip(self._plain_bulk.unknowns, solved.unknowns, strict=True))
        found, notes = {str(symbol): value for symbol, value in unknowns.items()}, solved.notes
        if self._congruence is not None:
            precision = bits(working)
            try:
                found = self._congruence.unknowns(unknowns, self._solver.numbers(point, precision), precision)
            except ZeroDivisionError:
                found, notes = {}, (*notes, NO_CONGRUENCE)
        named = {name: rounded(value, digits) for name, value in found.items()}
        named["trace"] = rounded(solved.observables[0], digits)
        return Solution(named, solved.residual, Outcome.CONVERGED, digits, solved.steps, notes)

    @cached_property
    def _congruence(self) -> Congruence | None:
        """From the plain pencil, along which the branch is followed, to the self-adjoint one of `equations`."""
        return Congruence(self._plain_bulk, self.dyson) if self.dyson.pencil.self_adjoint else None

    def certify(
        self,
        values: Mapping[Any, Any],
        digits: int = 30,
        form: tuple[Vector, Vector] | None = None,
        gram: Mapping[Any, Any] | None = None,
        derivative: Any = None,
    ) -> Solution:
        """Return balls for the trace and the unknowns of `dyson`, or for a quadratic form, at one real point.

        Proved: the equations have exactly one solution in a box (Krawczyk's test), for all parameters within their
        enclosures, and the values at that solution are in their balls. That this solution is the limit, and not
        another one, is proved where a positive map contracts at it: for all parameters within their enclosures at
        which the random matrices exist. The notes of the `Solution` say whether.

        Parameters
        ----------
        values : {symbol or its name: real number or `Ball`}
        digits : decimal digits of the relative radius; where a value may be 0, its radius is at most 10^-(2 digits)
            times the largest one
        form : (a, b), to have lim a^T Q b as for `quadratic_form` instead of the trace
        gram : the overlaps of vectors, real numbers or balls, as for `quadratic_form`
        derivative : a symbol, to have the derivative of the trace or form by it as well

        Returns
        -------
        Solution
            Values are `Ball`s: `trace` and the unknowns as `solve` names them, or `quadratic_form`; `derivative` if
            asked for. Outcome NOT_PROVED without values where the test does not close.

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
        >>> print(solution.notes[-1][:14])
        branch: proved
        """
        if form is None and self._node.rows != self._node.cols:
            raise ExpressionError(f"certify: the expression is {self._node.rows} x {self._node.cols}, not square")
        if form is not None and not (isinstance(form, (tuple, list)) and len(form) == 2):
            raise TypeError(f"form: got {form!r}; allowed: a pair (a, b) of vectors, or None for the trace")
        places = _require_places(digits)
        point = self._one_point(values, balls=True)
        for symbol, number in point.items():
            if number.imag is not None:
                raise ValueError(f"certify: got {number.text} for {symbol}; allowed: real numbers")
        overlaps = self._overlaps(gram, form, balls=True)
        return self._certifier.certify(point, overlaps, places, form, self._parameter(derivative))

    @cached_property
    def _certifier(self) -> Certifier:
        return Certifier(
            self._solver, self._plain_bulk, self._plain_full, lambda: self._congruence, self.linearised.constants
        )

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
        places = _require_places(digits)
        shape, points = self._read(values)
        return results(shape, (rounded(self._solver.hermitised(p, places), None) for p in points), None)

    def _numbers(self, values: Any, gram: Any, digits: Any, form: Any, derivative: Any) -> Any:
        digits = read_digits(digits)
        shape, points = self._read(values)
        derivative, overlaps = self._parameter(derivative), self._overlaps(gram, form)
        place = -1 if derivative is not None else 0
        solved = (self._solver.solve(point, overlaps, digits, form, derivative) for point in points)
        return results(shape, (rounded(s.observables[place], digits) for s in solved), digits)

    def _parameter(self, derivative: Any) -> Any:
        """Return the symbol to differentiate by, given as one or by its name."""
        if derivative is None:
            return None
        for symbol in self.parameters:
            if str(symbol) == str(derivative):
                return symbol
        raise ValueError(f"derivative: got {derivative}; allowed: {', '.join(map(str, self.parameters))}")

    def _overlaps(self, gram: Any, form: Any, balls: bool = False) -> dict[Any, Number]:
        """Return the overlaps of the vectors, those included that the linearisation brought in."""
        if form is None:
            return {}
        vectors = self._vectors(form)
        overlaps = gram_values(gram or {}, vectors, balls)
        for added, length in self.linearised.lengths.items():
            overlaps |= {overlap(added, v): read_number(0, "gram") for v in vectors}
            overlaps[overlap(added, added)] = read_number(length, "gram")
        return overlaps

    def _one_point(self, values: Mapping[Any, Any], balls: bool = False) -> dict[Any, Number]:
        shape, points = self._read(values, balls)
        if shape:
            raise ValueError(f"values: got arrays of shape {shape}; allowed: one point (trace takes arrays)")
        return points[0]


def _require_places(digits: Any) -> int:
    places = read_digits(digits)
    if places is None:
        raise ValueError("digits: got None; allowed: a whole number from 1 to 1000000")
    return places


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
