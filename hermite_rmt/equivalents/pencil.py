"""Linear pencils: an expression as one corner of the inverse of a matrix that is linear in the random letters.

L = L_0 - sum over letters of A_letter (x) letter,        Q = offset + out^T L^-1 in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from hermite_rmt.equivalents.nodes import Letter, Node

Sparse = dict[tuple[int, int], Any]


@dataclass(frozen=True, repr=False)
class Pencil:
    """The linear pencil of an expression.

    Attributes
    ----------
    types : the dimension of each block
    constant : entries of L_0, scalars, by (row, column)
    deterministic : entries of L_0 that multiply a deterministic matrix, {symbol: {(row, column): scalar}}
    letters : {letter: {(row, column): A_letter}}, random matrices
    low_rank : the same for rank-one matrices of vectors
    output, input : the vectors ``out`` and ``in``, by block
    offset : the constant term
    self_adjoint : whether L is symmetric (then ``in`` equals ``out``)
    symmetriser : entries of the matrix S that made it so, S times the plain pencil
    determinant : of S; where it vanishes the plain pencil is needed
    inverses : {row E u = form: E}, the rows that come from an inverse (plain pencil)
    """

    types: tuple[Any, ...]
    constant: Sparse
    deterministic: dict[Any, Sparse]
    letters: dict[Letter, Sparse]
    low_rank: dict[Letter, Sparse]
    output: dict[int, Any]
    input: dict[int, Any]
    offset: Any = sympy.S.Zero
    self_adjoint: bool = False
    symmetriser: Sparse = field(default_factory=dict)
    determinant: Any = sympy.S.One
    inverses: Mapping[int, Node] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of blocks."""
        return len(self.types)

    def blocks(self, dimension: Any) -> list[int]:
        """Return the blocks of one dimension."""
        return [index for index, kind in enumerate(self.types) if kind == dimension]

    @property
    def dimensions(self) -> tuple[Any, ...]:
        """The dimensions that occur, in order of appearance."""
        return tuple(dict.fromkeys(self.types))

    def matrix(self) -> sympy.Matrix:
        """Return L as a matrix with noncommuting symbols for the letters, to look at."""
        result = sympy.zeros(self.size, self.size)
        for (i, j), scalar in self.constant.items():
            result[i, j] += scalar
        for group, sign in ((self.deterministic, 1), (self.letters, -1), (self.low_rank, -1)):
            for letter, entries in group.items():
                name = sympy.Symbol(_latex_name(letter), commutative=False)
                for (i, j), scalar in entries.items():
                    result[i, j] += sign * scalar * name
        return result

    def latex(self) -> str:
        """Return L as LaTeX; every matrix stands divided by its order."""
        return str(sympy.latex(self.matrix()))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @property
    def _head(self) -> str:
        counts = " + ".join(f"{len(self.blocks(d))} {d}-blocks" for d in self.dimensions)
        return f"{'self-adjoint' if self.self_adjoint else 'plain'} pencil of {counts}"

    def __repr__(self) -> str:
        return f"<Pencil: {self._head}>"

    def __str__(self) -> str:
        return f"{self._head}\n{self.matrix()}"


def _latex_name(letter: Any) -> str:
    if isinstance(letter, Letter):
        if letter.low_rank:
            return f"{letter.left} {letter.right}^T"
        return f"{letter.left}^T" if letter.transposed else str(letter.left)
    return str(letter)
