"""Proofs that what is inverted is invertible, whatever the random matrices are.

Then the limit is analytic along the whole covariance path, and the path selects the branch. Where the answer is no,
the hermitised equation decides (`hermitise`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from hermite_rmt.equivalents.nodes import Letter, Node, add, multiply

Number = Callable[[Any], complex]  # value of a scalar or an eigenvalue


class Positivity:
    """Decides signs of nodes at given values of their scalars.

    Parameters
    ----------
    number : gives the value of a scalar expression
    """

    def __init__(self, number: Number) -> None:
        self._number = number

    def adjoint(self, node: Node) -> Node:
        """Return the adjoint, scalars as they are (the caller checks that they are real)."""
        if node.kind == "letter":
            letter = node.parts[0].reverse()
            return Node("letter", letter.rows, letter.cols, (letter,))
        if node.kind == "sum":
            return add([(self._conjugate(s), self.adjoint(part)) for s, part in node.parts], node.cols, node.rows)
        if node.kind == "product":
            return multiply([self.adjoint(part) for part in reversed(node.parts)])
        if node.kind == "inverse":
            return Node("inverse", node.cols, node.rows, (self.adjoint(node.parts[0]),))
        return node

    def _conjugate(self, scalar: Any) -> Any:
        value = self._number(scalar)
        if value.imag == 0:
            return scalar
        return -scalar if value.real == 0 else sympy.conjugate(scalar)

    def self_adjoint(self, node: Node) -> bool:
        """Whether the node equals its adjoint, as written."""
        return node.rows == node.cols and self.adjoint(node) == node

    def semidefinite(self, node: Node) -> bool:
        """Whether the node is provably positive semidefinite."""
        if node.kind == "identity":
            return True
        if node.kind == "deterministic":
            return all(_real(value, 0) for value in self._eigenvalues(node))
        if node.kind == "letter":
            letter: Letter = node.parts[0]
            return letter.low_rank and letter.left == letter.right
        if node.kind == "inverse":
            return self.definite(node.parts[0])
        if node.kind == "sum":
            return all(_real(self._number(scalar), 0) and self.semidefinite(part) for scalar, part in node.parts)
        half, odd = divmod(len(node.parts), 2)
        if odd and not self.semidefinite(node.parts[half]):
            return False
        return all(self.adjoint(node.parts[-1 - k]) == node.parts[k] for k in range(half))

    def definite(self, node: Node) -> bool:
        """Whether the node is provably positive definite, with a bound."""
        if node.kind == "sum":
            return self.semidefinite(node) and any(
                _real(self._number(scalar), 0) and self._number(scalar).real > 0 and self.definite(part)
                for scalar, part in node.parts
            )
        if node.kind == "deterministic":
            return all(_real(value, 0) and value.real > 0 for value in self._eigenvalues(node))
        return node.kind == "identity" or (node.kind == "inverse" and self.definite(node.parts[0]))

    def direction(self, node: Node) -> complex:
        """Return a number u such that node + t u is provably invertible, with a bound, for all t >= 0; 0 for none.

        1 or -1 for definite nodes, i or -i for self-adjoint ones minus a nonreal number.
        """
        if self.definite(node):
            return 1
        if self.definite(add([(sympy.S.NegativeOne, node)], node.rows, node.cols)):
            return -1
        if node.kind == "sum":
            nonreal = [(s, part) for s, part in node.parts if self._number(s).imag]
            if len(nonreal) == 1 and nonreal[0][1].kind == "identity":
                rest = add([pair for pair in node.parts if pair != nonreal[0]], node.rows, node.cols)
                if self.self_adjoint(rest):
                    return 1j if self._number(nonreal[0][0]).imag > 0 else -1j
        return 0

    def invertible(self, node: Node) -> bool:
        """Whether the node is provably invertible, with a bound."""
        if node.kind in ("product", "inverse"):
            return all(self.invertible(part) for part in node.parts)
        return self.direction(node) != 0

    def safe(self, node: Node) -> bool:
        """Whether every inverse inside the node is of something provably invertible."""
        if node.kind == "inverse":
            return self.invertible(node.parts[0]) and self.safe(node.parts[0])
        if node.kind == "sum":
            return all(self.safe(part) for _, part in node.parts)
        if node.kind == "product":
            return all(self.safe(part) for part in node.parts)
        return True

    def _eigenvalues(self, node: Node) -> list[complex]:
        symbol = node.parts[0]
        return [self._number(atom[1 + symbol.index]) for atom in symbol.family[1]]


def _real(value: complex, least: float) -> bool:
    return value.imag == 0 and value.real >= least
