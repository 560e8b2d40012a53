"""deterministic_equivalent: a matrix expression in random matrices -> its limiting traces and quadratic forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixSymbol

from hermite_rmt.core.numbers import read_digits
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.elimination import AlgebraicEquation, eliminate_by_series, eliminate_symbolically
from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.equivalents.linearisation import linearise_entrywise
from hermite_rmt.equivalents.moments import moments
from hermite_rmt.equivalents.pencil import Pencil, linearise, without_low_rank
from hermite_rmt.equivalents.reading import Reader
from hermite_rmt.equivalents.reduction import Reduction, reduce_dyson
from hermite_rmt.equivalents.selfadjoint import symmetrise
from hermite_rmt.equivalents.spikes import response_system
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.equivalents.verification import PencilReport, report
from hermite_rmt.theory.domain import Domain
from hermite_rmt.theory.gram import gram_values
from hermite_rmt.theory.point_solver import PointSolver, rounded
from hermite_rmt.theory.values import Number, read_number, read_points, require_complete, results

SMALL = 4  # unknowns of a system that is eliminated as far as it goes


def _reader(expression: Any, ratios: Mapping[Any, Any] | None) -> Reader:
    return Reader(ratios or {}, sorted(expression.atoms(MatrixSymbol, sympy.Identity), key=str))


class DeterministicEquivalent:
    """The limit of a matrix expression in random matrices; made by `deterministic_equivalent`.

    Attributes
    ----------
    expression : the SymPy expression
    linearised : what became of entrywise functions in it: expression, constants, assumptions
    ratios : each dimension over the base dimension
    """

    def __init__(self, expression: Any, ratios: Mapping[Any, Any] | None = None) -> None:
        if not getattr(expression, "is_Matrix", False):
            raise ExpressionError(f"expression: got {expression!r}; allowed: a SymPy matrix expression")
        self.expression, self._given = expression, dict(ratios or {})
        self.linearised = linearise_entrywise(expression, lambda part: _reader(part, ratios))
        self._reader = _reader(self.linearised.expression, ratios)
        reading = self._reader.read(self.linearised.expression)
        if reading.order != 0:
            raise ExpressionError(
                f"expression: it is of order {self._reader.base}^({reading.order}); allowed: order 1 (divide it)"
            )
        self._node = reading.node
        self._bulk_node = without_low_rank(self._node)
        self.ratios = dict(self._reader.ratios)

    def __reduce__(self) -> tuple[Any, ...]:
        # compiled equations hold symbols of this process: another one derives its own
        return DeterministicEquivalent, (self.expression, self._given)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answer takes for granted beyond the laws of the matrices, a sentence each."""
        told = self.linearised.assumptions
        if self.plain_pencil.deterministic and self.expression.atoms(Vector):
            told += ("vectors are spread evenly over the spectra of deterministic matrices",)
        return told

    @cached_property
    def plain_pencil(self) -> Pencil:
        """The pencil as the circuit gives it: always there, its equations have a path from vanishing covariance."""
        return linearise(self._node)

    @cached_property
    def pencil(self) -> Pencil:
        """The linear pencil: its self-adjoint form where one exists, else the plain one (`pencil.self_adjoint`)."""
        return symmetrise(self.plain_pencil) or self.plain_pencil

    def check_pencil(self, seed: int = 0) -> PencilReport:
        """Substitute random exact matrices into the pencil and the expression, and compare sizes with the least.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
        >>> W = GOE("W", dimensions("n"))
        >>> print(deterministic_equivalent((W * W + sympy.Identity(W.shape[0])).inv()).check_pencil())
        self-adjoint pencil of 2 blocks, equal to the expression at random exact matrices, of the smallest size
        """
        return report(self._node, self.plain_pencil, self.pencil, seed)

    @cached_property
    def dyson(self) -> Dyson:
        """The Dyson equation of the pencil, low-rank parts left out (they do not change it)."""
        plain = linearise(self._bulk_node)
        return Dyson(symmetrise(plain) or plain, self.ratios, self._names)

    @cached_property
    def reduction(self) -> Reduction:
        """The passes from the Dyson equation to `equations`; prints them, with operation counts."""
        return reduce_dyson(self.dyson, deeply=len(self.dyson.unknowns) <= SMALL)

    @property
    def equations(self) -> EquationSystem:
        """The self-consistent equations, reduced; `dyson.system()` has them all."""
        return self.reduction.system

    def polynomial(self, values: Mapping[Any, Any] | None = None, variable: Any = None) -> AlgebraicEquation:
        """Return one polynomial equation P = 0 for the trace m.

        Parameters
        ----------
        values : rational numbers for all symbols but one; None keeps all symbols (small systems only)
        variable : the symbol kept, where `values` leaves more than one: the spectral parameter

        Raises
        ------
        EliminationError
            If the system is too large, or the symbol kept is no spectral parameter.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
        >>> n, z = dimensions("n"), sympy.Symbol("z")
        >>> print(deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv()).polynomial())
        m**2 + m*z + 1 = 0
        (proved: combinations of equations; irreducible, no extraneous factor)
        """
        if values is None:
            return eliminate_symbolically(self.reduction, self._plain_bulk, self._bulk_parameters)
        exact = self._exact(values)
        left = [s for s in self._bulk_parameters if s not in exact]
        if variable is None and len(left) == 1:
            variable = left[0]
        if variable is None or str(variable) not in map(str, left) or len(left) > 1:
            raise ValueError(
                f"values: {', '.join(map(str, left)) or 'no symbol'} left; allowed: one, the spectral parameter"
            )
        return eliminate_by_series(self._plain_bulk, left[0], exact)

    def quadratic_equations(self, a: Vector, b: Vector) -> EquationSystem:
        """Return the equations of lim a^T Q b: the Dyson equation, and linear ones for the response of the vectors.

        The overlaps of the vectors are parameters, named ``<v,w>``.
        """
        self._vectors((a, b))
        return response_system(self._plain_full, a, b, overlap)

    def latex(self) -> str:
        """Return the equations as LaTeX."""
        return self.equations.latex()

    def _repr_latex_(self) -> str:
        return self.equations._repr_latex_()

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """The scalar symbols that need values (overlaps of vectors are given apart, as `gram`)."""
        return tuple(sorted({*self._bulk_parameters, *self._symbols(self.plain_pencil)}, key=str))

    @cached_property
    def _bulk_parameters(self) -> tuple[Any, ...]:
        """The parameters of the trace: those of vectors are not needed for it."""
        return tuple(sorted(self._symbols(self._plain_bulk.pencil), key=str))

    def _symbols(self, pencil: Pencil) -> set[Any]:
        found: set[Any] = set().union(*(value.free_symbols for value in self._scalars(pencil)))
        return found - set(self.linearised.constants)

    @property
    def _known(self) -> dict[str, Any]:
        """Return the symbols that may be given values, by name: the parameters, and ratios that cancelled."""
        ratios = {s for ratio in self.ratios.values() for s in ratio.free_symbols}
        return {str(s): s for s in (*ratios, *self.parameters)}

    def _scalars(self, pencil: Pencil) -> Iterator[Any]:
        for entries in (pencil.constant, *pencil.deterministic.values(), *pencil.low_rank.values()):
            yield from entries.values()
        yield from (*pencil.input.values(), *pencil.output.values(), pencil.offset)
        dyson = Dyson(pencil, self.ratios)
        yield from (factor for *_, factor in dyson.couplings)
        yield from (s for kind in dyson.species for s in (sympy.sympify(kind.weight), *kind.eigenvalues.values()))

    @property
    def _names(self) -> set[str]:
        return {str(s) for value in self._scalars(self.plain_pencil) for s in value.free_symbols}

    @cached_property
    def _plain_bulk(self) -> Dyson:
        return Dyson(linearise(self._bulk_node), self.ratios, self._names)

    @cached_property
    def _plain_full(self) -> Dyson:
        return Dyson(self.plain_pencil, self.ratios, self._names)

    def _exact(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        shape, points = self._read(values)
        if shape:
            raise ValueError(f"values: got arrays of shape {shape}; allowed: one rational number for each symbol")
        numbers = {**points[0], **{s: Number(real) for s, real in self.linearised.constants.items()}}
        return {symbol: _rational(number, symbol) for symbol, number in numbers.items()}

    def moments(self, count: int, values: Mapping[Any, Any]) -> list[Any]:
        """Return lim tr M^k / n for the expression M itself, k = 0, ..., count: exact, at rational values.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
        >>> deterministic_equivalent(GOE("W", dimensions("n"))).moments(6, {})
        [1, 0, 1, 0, 2, 0, 5]
        """
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"count: got {count!r}; allowed: a whole number, 0 or more")
        exact = self._exact(values)
        require_complete(exact, self._bulk_parameters)
        return moments(self._bulk_node, self.ratios, count, exact)

    # Numbers

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
        """Return the `Solution` of the whole Dyson equation at one point: all unknowns, and the trace."""
        digits = read_digits(digits)
        shape, points = self._read(values)
        if shape:
            raise ValueError(f"values: got arrays of shape {shape}; allowed: one point (trace takes arrays)")
        solved = self._solver.solve(points[0], {}, digits)
        unknowns = self._plain_bulk.unknowns
        found = {str(s): rounded(value, digits) for s, value in zip(unknowns, solved.unknowns, strict=True)}
        found["trace"] = rounded(solved.observables[0], digits)
        return Solution(found, solved.residual, Outcome.CONVERGED, digits, solved.steps, solved.notes)

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

    def _read(self, values: Mapping[Any, Any]) -> tuple[tuple[int, ...], list[dict[Any, Number]]]:
        shape, points = read_points(values, self._known)
        constants = {symbol: Number(real) for symbol, real in self.linearised.constants.items()}
        for point in points:
            self._domain.require({**constants, **point})
        return shape, points

    @cached_property
    def _domain(self) -> Domain:
        return Domain(self.linearised.expression.atoms(MatrixSymbol), self.ratios)

    def _vectors(self, form: Any) -> list[Vector]:
        found = set(self.expression.atoms(Vector)) | {v for v in form or () if isinstance(v, Vector)}
        names = [vector.name for vector in found]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"several vectors named {', '.join(twice)}; allowed: different names")
        return sorted(found, key=str)


def _rational(number: Number, symbol: Any) -> sympy.Rational:
    if number.imag is not None or number.real.rational is None:
        raise ValueError(f"{symbol}: got {number.real.text}; allowed: a rational number")
    return sympy.Rational(number.real.rational.numerator, number.real.rational.denominator)


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
