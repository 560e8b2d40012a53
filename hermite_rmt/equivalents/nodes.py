"""What an expression is read into: letters, and the algebra of nodes made of them.

Sums and products are flat and in a canonical order, so that regrouping an expression changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True)
class Letter:
    """A normalised random matrix, its transpose, or a rank-one matrix of vectors ``left right^T``."""

    left: Any
    right: Any = None
    transposed: bool = False

    @property
    def low_rank(self) -> bool:
        """Whether this is a rank-one deterministic matrix."""
        return self.right is not None

    @property
    def rows(self) -> Any:
        """The dimension of the columns' space."""
        if self.low_rank:
            return self.left.shape[0]
        return self.left.shape[1] if self.transposed else self.left.shape[0]

    @property
    def cols(self) -> Any:
        """The dimension of the rows' space."""
        if self.low_rank:
            return self.right.shape[0]
        return self.left.shape[0] if self.transposed else self.left.shape[1]

    def transpose(self) -> Letter:
        """Return the transposed letter."""
        if self.low_rank:
            return Letter(self.right, self.left)
        if getattr(self.left, "symmetric", False):
            return self
        return Letter(self.left, None, not self.transposed)

    def reverse(self) -> Letter:
        """Return the letter's image under the anti-automorphism that keeps every law: transpose, or adjoint (GUE)."""
        return self if getattr(self.left, "hermitian", False) else self.transpose()

    def __str__(self) -> str:
        if self.low_rank:
            return f"{self.left}*{self.right}.T"
        return f"{self.left}.T" if self.transposed else str(self.left)


@dataclass(frozen=True)
class Node:
    """A matrix of order 1: a letter, a deterministic matrix, an identity, a sum, a product, or an inverse.

    ``kind`` is "letter", "deterministic", "identity", "sum", "product" or "inverse"; ``parts`` holds the letter,
    the symbol, nothing, pairs (scalar, node), the factors from left to right, or the node inverted.
    """

    kind: str
    rows: Any
    cols: Any
    parts: tuple[Any, ...] = ()


def identity(size: Any) -> Node:
    """Return the identity node."""
    return Node("identity", size, size)


def add(terms: list[tuple[Any, Node]], rows: Any, cols: Any) -> Node:
    """Return a flat sum with equal terms collected, in a canonical order (regrouping changes nothing)."""
    collected: dict[Node, Any] = {}
    for scalar, node in terms:
        inner = [(scalar * s, part) for s, part in node.parts] if node.kind == "sum" else [(scalar, node)]
        for coefficient, part in inner:
            collected[part] = collected.get(part, sympy.S.Zero) + coefficient
    parts = [(sympy.expand(coefficient), part) for part, coefficient in collected.items()]
    parts = [(coefficient, part) for coefficient, part in parts if coefficient != 0]
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    return Node("sum", rows, cols, tuple(sorted(parts, key=lambda pair: str(pair[1]))))


def multiply(factors: list[Node]) -> Node:
    """Return a flat product; identities and scalar multiples of one are absorbed."""
    flat: list[Node] = []
    scalar = sympy.S.One
    for factor in factors:
        if factor.kind == "sum" and len(factor.parts) == 1:
            scalar *= factor.parts[0][0]
            factor = factor.parts[0][1]
        flat.extend(factor.parts if factor.kind == "product" else [factor])
    rows, cols = factors[0].rows, factors[-1].cols
    flat = [factor for factor in flat if factor.kind != "identity"]
    if not flat:
        product = identity(rows)
    elif len(flat) == 1:
        product = flat[0]
    else:
        product = Node("product", rows, cols, tuple(flat))
    return product if scalar == 1 else add([(scalar, product)], rows, cols)


def invert(node: Node) -> Node:
    """Return the inverse of a node."""
    if node.kind == "inverse":
        return node.parts[0]  # type: ignore[no-any-return]
    if node.kind == "identity":
        return node
    if node.kind == "sum" and len(node.parts) == 1:
        scalar, part = node.parts[0]
        return add([(1 / scalar, invert(part))], node.rows, node.cols)
    return Node("inverse", node.rows, node.cols, (node,))


def transpose(node: Node) -> Node:
    """Return the transpose of a node."""
    if node.kind == "letter":
        letter = node.parts[0].transpose()
        return Node("letter", letter.rows, letter.cols, (letter,))
    if node.kind == "sum":
        return add([(scalar, transpose(part)) for scalar, part in node.parts], node.cols, node.rows)
    if node.kind == "product":
        return multiply([transpose(part) for part in reversed(node.parts)])
    if node.kind == "inverse":
        return Node("inverse", node.cols, node.rows, (transpose(node.parts[0]),))
    return node


def without_low_rank(node: Node) -> Node:
    """Return the expression with its rank-one parts removed: what decides the limiting trace."""
    if node.kind == "letter" and node.parts[0].low_rank:
        return Node("sum", node.rows, node.cols)
    if node.kind == "sum":
        return add([(scalar, without_low_rank(part)) for scalar, part in node.parts], node.rows, node.cols)
    if node.kind == "product":
        return multiply([without_low_rank(part) for part in node.parts])
    if node.kind == "inverse":
        return invert(without_low_rank(node.parts[0]))
    return node
