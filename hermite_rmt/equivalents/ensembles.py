"""The letters of the language: random matrices, deterministic matrices and vectors, dimensions.

Everything a symbol knows sits in its ``args``, so that SymPy's rebuilding and comparing keep it intact.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.symbol import Str

from hermite_rmt.equivalents.declared import DeclaredMatrix, read_name, read_scalar

_ALONE = sympy.Tuple()


def dimensions(names: str) -> Any:
    """Return positive integer symbols for dimensions that grow together, as `sympy.symbols` does.

    >>> n, p = dimensions("n p")
    >>> n.is_positive
    True
    """
    return sympy.symbols(names, integer=True, positive=True)


class RandomMatrix(DeclaredMatrix):
    """A centred Gaussian matrix; subclasses say which pairs of its entries are correlated.

    ``direct`` and ``crossed`` are the factors of E[W M W] and E[W M W^T] (times a normalised trace of M).
    """

    direct = 0
    crossed = 0
    symmetric = False
    hermitian = False  # complex, equal to its adjoint
    entries_shrink = True  # entries of variance 1/size (norm O(1)), or of variance 1 (norm sqrt(n))

    @property
    def variance(self) -> sympy.Expr:
        """The variance parameter."""
        return self.args[-2]

    @property
    def family(self) -> sympy.Tuple:
        """Empty, or (names, index, covariance matrix) of the jointly Gaussian family it belongs to."""
        return self.args[-1]

    def covariance_with(self, other: RandomMatrix) -> sympy.Expr:
        """Return the covariance of corresponding entries with another matrix (normalised), 0 if independent."""
        if self == other:
            return self.variance
        same = self.family and other.family and self.family[0] == other.family[0]
        if not same or type(self) is not type(other) or self.family[2] != other.family[2]:
            return sympy.S.Zero
        return self.family[2][int(self.family[1]), int(other.family[1])]


class Gaussian(RandomMatrix):
    """A real matrix of independent Gaussian entries.

    Parameters
    ----------
    name : str
    rows, cols : dimensions
    variance : positive number or SymPy scalar, of every entry

    >>> n, p = dimensions("n p")
    >>> Gaussian("Z", p, n).shape
    (p, n)
    """

    crossed = 1
    entries_shrink = False

    def __new__(cls, name: Any, rows: Any, cols: Any, variance: Any = 1, family: Any = _ALONE) -> Any:
        """Keep everything in args."""
        rows, cols = read_scalar(rows, "rows"), read_scalar(cols, "cols")
        return sympy.Basic.__new__(
            cls, read_name(name, "Gaussian"), rows, cols, read_scalar(variance, "variance"), family
        )


class _SquareMatrix(RandomMatrix):
    def __new__(cls, name: Any, size: Any, variance: Any = 1, family: Any = _ALONE) -> Any:
        size = read_scalar(size, "size")
        return sympy.Basic.__new__(
            cls, read_name(name, cls.__name__), size, read_scalar(variance, "variance"), family
        )

    @property
    def shape(self) -> tuple[Any, Any]:
        """The size, twice."""
        return self.args[1], self.args[1]


class GOE(_SquareMatrix):
    """A real symmetric Gaussian matrix, off-diagonal variance ``variance/n``: the semicircle law.

    >>> n = dimensions("n")
    >>> W = GOE("W", n)
    >>> W.T == W
    True
    """

    direct = crossed = 1
    symmetric = True

    def _eval_transpose(self) -> Any:
        return self


class GUE(_SquareMatrix):
    """A complex Hermitian Gaussian matrix, E|W_ij|^2 = variance/n; its transpose is asymptotically free of it."""

    direct = 1
    hermitian = True

    def _eval_adjoint(self) -> Any:
        return self

    def _eval_conjugate(self) -> Any:
        return self.T


class Ginibre(_SquareMatrix):
    """A real square matrix of independent Gaussian entries of variance ``variance/n``: the circular law."""

    crossed = 1


class Elliptic(_SquareMatrix):
    """A real square Gaussian matrix, E W_ij^2 = variance/n and E W_ij W_ji = correlation * variance/n.

    Between the circular law (correlation 0), the GOE (1) and antisymmetric matrices (-1).

    >>> Elliptic("H", dimensions("n"), correlation=sympy.Rational(1, 3)).direct
    1/3
    """

    crossed = 1

    def __new__(cls, name: Any, size: Any, variance: Any = 1, family: Any = _ALONE, correlation: Any = 0) -> Any:
        """Keep everything in args."""
        alone = _SquareMatrix.__new__(cls, name, size, variance, family)
        return sympy.Basic.__new__(cls, *alone.args, read_scalar(correlation, "correlation"))

    @property
    def variance(self) -> sympy.Expr:
        """The variance parameter."""
        return self.args[2]

    @property
    def family(self) -> sympy.Tuple:
        """Empty, or (names, index, covariance matrix) of the jointly Gaussian family it belongs to."""
        return self.args[3]

    @property
    def direct(self) -> sympy.Expr:  # type: ignore[override]
        """The factor of E[W M W]."""
        return self.args[4]


def joint_family(kind: type[RandomMatrix], names: str, *shape: Any, covariance: Any) -> tuple[Any, ...]:
    """Return jointly Gaussian matrices of one kind and shape.

    Parameters
    ----------
    kind : Gaussian, GOE, GUE or Ginibre
    names : str, separated by blanks
    shape : the dimensions the kind takes
    covariance : symmetric matrix, of corresponding entries (each divided by n for GOE, GUE, Ginibre)

    >>> n = dimensions("n")
    >>> V, W = joint_family(GOE, "V W", n, covariance=[[1, sympy.Rational(1, 2)], [sympy.Rational(1, 2), 1]])
    >>> V.covariance_with(W)
    1/2
    """
    members = names.split()
    rows = covariance.tolist() if hasattr(covariance, "tolist") else covariance
    matrix = sympy.ImmutableMatrix([[read_scalar(entry, "covariance") for entry in row] for row in rows])
    if matrix.shape != (len(members), len(members)) or matrix != matrix.T:
        raise ValueError(
            f"covariance: got a {matrix.shape[0]} x {matrix.shape[1]} matrix; "
            f"allowed: a symmetric {len(members)} x {len(members)} matrix"
        )
    if len(set(members)) != len(members):
        raise ValueError(f"names: got {names!r}; allowed: different names")
    return tuple(
        kind(name, *shape, matrix[index, index], sympy.Tuple(Str(names), sympy.Integer(index), matrix))
        for index, name in enumerate(members)
    )


class Vector(DeclaredMatrix):
    """A deterministic vector, known by its overlaps with the others.

    Parameters
    ----------
    name : str
    dimension : dimension
    norm : "bounded" (O(1)) or "sqrt" (of order the square root of the dimension; overlaps are divided by it)
    """

    def __new__(cls, name: Any, dimension: Any, norm: Any = "bounded") -> Any:
        """Keep everything in args."""
        if str(norm) not in ("bounded", "sqrt"):
            raise ValueError(f"norm: got {norm!r}; allowed: 'bounded' or 'sqrt'")
        return sympy.Basic.__new__(
            cls, read_name(name, "Vector"), read_scalar(dimension, "dimension"), Str(str(norm))
        )

    @property
    def shape(self) -> tuple[Any, Any]:
        """The dimension and 1."""
        return self.args[1], sympy.S.One

    @property
    def delocalised(self) -> bool:
        """Whether the norm is of order the square root of the dimension."""
        return str(self.args[2]) == "sqrt"


def overlap(first: Vector, second: Vector) -> sympy.Symbol:
    """Return the symbol of the overlap of two vectors (divided by the dimension where their norm is "sqrt").

    >>> p = dimensions("p")
    >>> overlap(Vector("w", p), Vector("mu", p))
    <mu,w>
    """
    names = sorted((first.name, second.name))
    return sympy.Symbol(f"<{names[0]},{names[1]}>", real=True)
