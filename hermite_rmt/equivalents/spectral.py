"""Deterministic matrices known by their spectral law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
from sympy.core.symbol import Str

from hermite_rmt.equivalents.declared import DeclaredMatrix, read_name, read_scalar


class Deterministic(DeclaredMatrix):
    """A real symmetric deterministic matrix known by its spectral law, one of a commuting family.

    Made by `deterministic` and `commuting`.
    """

    def __new__(cls, name: Any, size: Any, family: Any, index: Any, atoms: Any) -> Any:
        """Keep everything in args."""
        return sympy.Basic.__new__(
            cls, read_name(name, "Deterministic"), read_scalar(size, "size"), family, sympy.Integer(index), atoms
        )

    @property
    def shape(self) -> tuple[Any, Any]:
        """The size, twice."""
        return self.args[1], self.args[1]

    @property
    def family(self) -> tuple[Any, Any]:
        """What the commuting matrices share: their names and the atoms (weight, eigenvalues) of the joint law."""
        return self.args[2], self.args[4]

    @property
    def index(self) -> int:
        """The place in the family."""
        return int(self.args[3])

    def _eval_transpose(self) -> Any:
        return self


def commuting(names: str, size: Any, law: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """Return commuting deterministic symmetric matrices with a discrete joint spectral law.

    Parameters
    ----------
    names : str, separated by blanks
    size : dimension
    law : rows (weight, eigenvalue of the first matrix, eigenvalue of the second, ...)

    Raises
    ------
    ValueError
        If a row has the wrong length or the weights are known not to be positive with sum 1.

    >>> from hermite_rmt.equivalents.ensembles import dimensions
    >>> p = dimensions("p")
    >>> S, T = commuting("S T", p, [(sympy.Rational(1, 2), 1, 0), (sympy.Rational(1, 2), 3, 1)])
    """
    members = names.split()
    rows = [[read_scalar(entry, "law") for entry in row] for row in law]
    if not rows or any(len(row) != len(members) + 1 for row in rows):
        raise ValueError(f"law: allowed: rows of a weight and {len(members)} eigenvalues, got {rows}")
    total = sympy.simplify(sum(row[0] for row in rows))
    if (total.is_number and total != 1) or any(row[0].is_nonpositive for row in rows):
        raise ValueError(f"law: got weights {[row[0] for row in rows]}; allowed: positive weights of sum 1")
    atoms = sympy.Tuple(*(sympy.Tuple(*row) for row in rows))
    return tuple(Deterministic(name, size, Str(names), index, atoms) for index, name in enumerate(members))


def deterministic(name: str, size: Any, atoms: Mapping[Any, Any]) -> Any:
    """Return a deterministic symmetric matrix with eigenvalues ``atoms = {eigenvalue: weight}``.

    >>> from hermite_rmt.equivalents.ensembles import dimensions
    >>> p = dimensions("p")
    >>> deterministic("T", p, {1: sympy.Rational(1, 2), 3: sympy.Rational(1, 2)}).shape
    (p, p)
    """
    return commuting(name, size, [(weight, value) for value, weight in atoms.items()])[0]
