"""Claims: equalities and inequalities as a user gives them, taken apart into left side, relation, right side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.logic.boolalg import BooleanAtom

from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.theory.check.text import read_text

_RELATIONS: dict[Any, str] = {
    sympy.Eq: "=",
    sympy.StrictLessThan: "<",
    sympy.LessThan: "<=",
    sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=",
}
_LATEX = {"=": "=", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}
ALLOWED = (
    "an equation or inequality of SymPy, an expression (meaning = 0), text, an EquationSystem, "
    "or a list or mapping of these"
)


@dataclass(frozen=True)
class Claim:
    """One relation between two expressions."""

    left: Any
    relation: str
    right: Any
    label: str = ""

    @property
    def excess(self) -> Any:
        """The expression claimed to be zero, or positive (nonnegative)."""
        return self.left - self.right if self.relation in ("=", ">", ">=") else self.right - self.left

    @property
    def is_equality(self) -> bool:
        """Whether it is an equation."""
        return self.relation == "="

    @property
    def is_strict(self) -> bool:
        """Whether it is an inequality without equality."""
        return self.relation in ("<", ">")

    def mapped(self, function: Callable[[Any], Any]) -> Claim:
        """Return the claim with both sides replaced."""
        return Claim(function(self.left), self.relation, function(self.right), self.label)

    def latex(self) -> str:
        """Return the claim as LaTeX."""
        return f"{sympy.latex(self.left)} {_LATEX[self.relation]} {sympy.latex(self.right)}"

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


def read_claims(claim: Any, known: Mapping[str, Any]) -> list[Claim]:
    """Return the single claims in what the user gave.

    Parameters
    ----------
    claim : see `hermite_rmt.theory.check.check`
    known : {name: symbol} for claims given as text

    Raises
    ------
    ValueError
        For text that cannot be read, and for relations that SymPy has evaluated by itself.
    TypeError
        For anything that is no claim.
    """
    found = list(_read(claim, known, ""))
    if not found:
        raise ValueError("claim: got no claim; allowed: at least one")
    if len(found) > 1:
        found = [
            entry if entry.label else Claim(entry.left, entry.relation, entry.right, f"equation {number}")
            for number, entry in enumerate(found, 1)
        ]
    return found


def _read(claim: Any, known: Mapping[str, Any], label: str) -> Iterator[Claim]:
    if isinstance(claim, str):
        for left, relation, right in read_text(claim, known):
            yield Claim(left, relation, right, label)
    elif isinstance(claim, EquationSystem):
        for number, residual in enumerate(claim.residuals, 1):
            yield Claim(residual, "=", sympy.S.Zero, f"{label or 'equation'} {number}")
    elif isinstance(claim, Mapping):
        for key, entry in claim.items():
            yield from _read(entry, known, str(key))
    elif isinstance(claim, (list, tuple)):
        for number, entry in enumerate(claim, 1):
            yield from _read(entry, known, f"{label or 'equation'} {number}")
    elif isinstance(claim, (bool, BooleanAtom)):
        raise ValueError(
            f"claim: got {claim}: SymPy has evaluated the relation by itself; allowed: a relation in symbols without "
            "assumptions that decide it, or text"
        )
    elif isinstance(claim, sympy.And):
        for number, entry in enumerate(claim.args, 1):
            yield from _read(entry, known, f"{label or 'part'} {number}")
    elif isinstance(claim, sympy.core.relational.Relational) and type(claim) in _RELATIONS:
        if isinstance(claim.lhs, sympy.MatrixBase) or isinstance(claim.rhs, sympy.MatrixBase):
            yield from _entries(sympy.Matrix(claim.lhs), sympy.Matrix(claim.rhs), label)
        else:
            yield Claim(claim.lhs, _RELATIONS[type(claim)], claim.rhs, label)
    elif isinstance(claim, sympy.MatrixBase):
        yield from _entries(claim, sympy.zeros(*claim.shape), label)
    elif isinstance(claim, sympy.Expr):
        yield Claim(claim, "=", sympy.S.Zero, label)
    else:
        raise TypeError(f"claim: got {claim!r} of type {type(claim).__name__}; allowed: {ALLOWED}")


def _entries(left: Any, right: Any, label: str) -> Iterator[Claim]:
    if left.shape != right.shape:
        raise ValueError(f"claim: got matrices of shapes {left.shape} and {right.shape}; allowed: one shape")
    for i in range(left.rows):
        for j in range(left.cols):
            yield Claim(left[i, j], "=", right[i, j], f"{label or 'entry'} ({i + 1}, {j + 1})")
