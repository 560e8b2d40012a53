"""Entrywise nonlinearities of score matrices, as parts of the language."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction

from hermite_rmt.equivalents.declared import WithoutScalars
from hermite_rmt.equivalents.ensembles import Vector
from hermite_rmt.equivalents.errors import ExpressionError, clip
from hermite_rmt.hermite.nonlinearity import Nonlinearity


class FunctionAtom(sympy.Atom):  # type: ignore[misc]  # sympy has no stubs
    """A `Nonlinearity` as a leaf of a SymPy expression, compared by what it is."""

    def __new__(cls, nonlinearity: Nonlinearity) -> Any:
        """Keep everything in args."""
        atom = sympy.Atom.__new__(cls)
        atom.nonlinearity = nonlinearity
        return atom

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.nonlinearity,)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.nonlinearity,)

    def sort_key(self, order: Any = None) -> Any:
        """Return the key SymPy sorts by."""
        return self.class_key(), (1, (repr(self.nonlinearity),)), sympy.S.One.sort_key(), sympy.S.One

    def _sympystr(self, printer: Any) -> str:
        return str(self.nonlinearity.name)


class Entrywise(WithoutScalars, sympy.MatrixExpr):  # type: ignore[misc]
    """f applied to every entry of a matrix."""

    def __new__(cls, function: Any, scores: Any) -> Any:
        """Keep everything in args."""
        if isinstance(function, Nonlinearity):
            function = FunctionAtom(function)
        return sympy.Basic.__new__(cls, function, scores)

    @property
    def nonlinearity(self) -> Nonlinearity:
        """The function."""
        return self.args[0].nonlinearity  # type: ignore[no-any-return]

    @property
    def scores(self) -> Any:
        """The matrix it is applied to."""
        return self.args[1]

    @property
    def shape(self) -> tuple[Any, Any]:
        """The shape of the scores."""
        return self.args[1].shape  # type: ignore[no-any-return]


class OffDiagonal(WithoutScalars, sympy.MatrixExpr):  # type: ignore[misc]
    """A square matrix with its diagonal replaced by zeros."""

    def __new__(cls, matrix: Any, ones: Any = None) -> Any:
        """Keep everything in args."""
        return sympy.Basic.__new__(cls, matrix, *(() if ones is None else (ones,)))

    @property
    def matrix(self) -> Any:
        """The matrix whose diagonal is removed."""
        return self.args[0]

    @property
    def ones(self) -> Any:
        """The all-ones vector, where the second-order term is kept."""
        return self.args[1] if len(self.args) > 1 else None

    @property
    def shape(self) -> tuple[Any, Any]:
        """The shape of the matrix."""
        return self.args[0].shape  # type: ignore[no-any-return]


def entrywise(function: Any, scores: Any) -> Any:
    """Return f(scores), entry by entry.

    Parameters
    ----------
    function : Nonlinearity, or whatever makes one (text, SymPy expression or Lambda, callable)
    scores : SymPy matrix expression

    >>> from hermite_rmt.equivalents.ensembles import Gaussian, dimensions
    >>> n, p = dimensions("n p")
    >>> Z = Gaussian("Z", p, n)
    >>> off_diagonal(entrywise("tanh(x)", Z.T * Z / sympy.sqrt(p))).shape
    (n, n)
    """
    if not getattr(scores, "is_Matrix", False):
        raise TypeError(f"scores: got {scores!r}; allowed: a SymPy matrix expression")
    return Entrywise(function if isinstance(function, Nonlinearity) else Nonlinearity(function), scores)


def off_diagonal(matrix: Any, ones: Vector | None = None) -> Any:
    """Return an entrywise function of scores with its diagonal replaced by zeros.

    The diagonal of f(X^T X/sqrt p) sits at f(sqrt p), another size than the rest, so the model sets it aside; a
    constant diagonal d is added by the user as ``d*Identity(n)``.

    Parameters
    ----------
    matrix : ``scores.applyfunc(f)`` or `entrywise(f, scores)`
    ones : the all-ones vector, a `Vector` of norm "sqrt". Given, the rank-two term of the second Hermite
        coefficient is kept; its overlaps (with labels, say) are then asked for. Not given, every vector is taken
        to be orthogonal to it (balanced labels).
    """
    if isinstance(matrix, ElementwiseApplyFunction):
        matrix = Entrywise(Nonlinearity(matrix.function), matrix.expr)
    if not isinstance(matrix, Entrywise):
        raise ExpressionError(
            f"off_diagonal: got {clip(matrix)}; allowed: scores.applyfunc(f) or entrywise(f, scores), alone"
        )
    if ones is not None and not (isinstance(ones, Vector) and ones.delocalised):
        raise TypeError(f"ones: got {ones!r}; allowed: a Vector of norm 'sqrt'")
    return OffDiagonal(matrix, ones)
