"""What is derived from a matrix expression before any number: pencil, equations, polynomial, moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixSymbol

from hermite_rmt.equivalents.circuit import linearise
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.elimination import AlgebraicEquation, eliminate_by_series, eliminate_symbolically
from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.equivalents.linearisation import linearise_entrywise
from hermite_rmt.equivalents.moments import moments
from hermite_rmt.equivalents.nodes import without_low_rank
from hermite_rmt.equivalents.pencil import Pencil
from hermite_rmt.equivalents.reading import Reader
from hermite_rmt.equivalents.reduction import Reduction, reduce_dyson
from hermite_rmt.equivalents.selfadjoint import symmetrise
from hermite_rmt.equivalents.spikes import response_system
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.equivalents.verification import PencilReport, report
from hermite_rmt.theory.engine.domain import Domain
from hermite_rmt.theory.engine.values import Number, read_points, require_complete

SMALL = 4  # unknowns of a system that is eliminated as far as it goes


def _reader(expression: Any, ratios: Mapping[Any, Any] | None) -> Reader:
    return Reader(ratios or {}, sorted(expression.atoms(MatrixSymbol, sympy.Identity), key=str))


class DerivedEquations:
    """What is derived from a matrix expression without a number: pencil, equations, polynomial, moments.

    Attributes
    ----------
    expression : the SymPy expression
    linearised : what became of entrywise functions in it: expression, constants, assumptions
    ratios : each dimension over the base dimension
    """

    def __init__(self, expression: Any, ratios: Mapping[Any, Any] | None = None) -> None:
        if not getattr(expression, "is_Matrix", False):
            raise ExpressionError(f"expression: got {expression!r}; allowed: a SymPy matrix expression")
        if ratios is not None and not isinstance(ratios, Mapping):
            raise TypeError(f"ratios: got {ratios!r}; allowed: a mapping {{p: c*n}} of dimensions")
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
        return type(self), (self.expression, self._given)

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
        >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
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
        variable : the symbol kept, the spectral parameter; found by itself if not given

        Raises
        ------
        EliminationError
            If the system is too large, or the symbol kept is no spectral parameter.

        >>> import sympy
        >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
        >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
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

    def __repr__(self) -> str:
        return f"deterministic_equivalent({self.expression}, ratios={self.ratios})"

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
        >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
        >>> deterministic_equivalent(GOE("W", dimensions("n"))).moments(6, {})
        [1, 0, 1, 0, 2, 0, 5]
        """
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"count: got {count!r}; allowed: a whole number, 0 or more")
        exact = self._exact(values)
        require_complete(exact, self._bulk_parameters)
        return moments(self._bulk_node, self.ratios, count, exact)

    def _read(
        self, values: Mapping[Any, Any], balls: bool = False
    ) -> tuple[tuple[int, ...], list[dict[Any, Number]]]:
        shape, points = read_points(values, self._known, balls)
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
