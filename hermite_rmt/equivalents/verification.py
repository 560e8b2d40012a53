"""Checks of a pencil by exact substitution: that it holds, and that it is as small as it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermite_rmt.equivalents.modular import (
    PRIME,
    Matrix,
    RandomPoint,
    inverse,
    product,
    rank,
    reduce_rows,
    transposed,
)
from hermite_rmt.equivalents.nodes import Letter, Node
from hermite_rmt.equivalents.pencil import Pencil


class Substitution:
    """Random exact matrices of small sizes for the letters of an expression."""

    def __init__(self, seed: int) -> None:
        self.point = RandomPoint(seed)
        self._sizes: dict[Any, int] = {}
        self._matrices: dict[Any, Matrix] = {}

    def size(self, dimension: Any) -> int:
        """Return the size given to a dimension: 2, 3, ... in order of appearance."""
        return self._sizes.setdefault(dimension, len(self._sizes) + 2)

    def _matrix(self, symbol: Any) -> Matrix:
        if symbol not in self._matrices:
            rows, cols = symbol.shape
            matrix = self.point.matrix(self.size(rows), 1 if cols == 1 else self.size(cols))
            if symbol == symbol.T:
                matrix = [
                    [a + b for a, b in zip(*pair, strict=True)]
                    for pair in zip(matrix, transposed(matrix), strict=True)
                ]
            self._matrices[symbol] = matrix
        return self._matrices[symbol]

    def letter(self, letter: Letter) -> Matrix:
        """Return the matrix of a letter."""
        if letter.low_rank:
            return product(self._matrix(letter.left), transposed(self._matrix(letter.right)))
        matrix = self._matrix(letter.left)
        return transposed(matrix) if letter.transposed else matrix

    def node(self, node: Node) -> Matrix:
        """Return the matrix of an expression."""
        if node.kind == "identity":
            return _scaled_identity(1, self.size(node.rows))
        if node.kind == "letter":
            return self.letter(node.parts[0])
        if node.kind == "deterministic":
            return self._matrix(node.parts[0])
        if node.kind == "product":
            matrix = self.node(node.parts[0])
            for part in node.parts[1:]:
                matrix = product(matrix, self.node(part))
            return matrix
        if node.kind == "sum":
            total = [[0] * self.size(node.cols) for _ in range(self.size(node.rows))]
            for scalar, part in node.parts:
                _add_block(total, 0, 0, self.point(scalar), self.node(part))
            return total
        inverted = inverse(self.node(node.parts[0]))
        if inverted is None:
            raise ArithmeticError(
                f"{node.rows} x {node.cols}: a random matrix is singular, so is every one of its kind"
            )
        return inverted

    def pencil(self, pencil: Pencil) -> Matrix | None:
        """Return offset + out^T L^-1 in, or None where L is singular."""
        starts = [0]
        for dimension in pencil.types:
            starts.append(starts[-1] + self.size(dimension))
        full = [[0] * starts[-1] for _ in range(starts[-1])]
        for (i, j), value in pencil.constant.items():
            block = _scaled_identity(1, self.size(pencil.types[i]))
            _add_block(full, starts[i], starts[j], self.point(value), block)
        for group, sign in ((pencil.deterministic, 1), (pencil.letters, -1), (pencil.low_rank, -1)):
            for letter, entries in group.items():
                matrix = self.letter(letter) if isinstance(letter, Letter) else self._matrix(letter)
                for (i, j), value in entries.items():
                    _add_block(full, starts[i], starts[j], sign * self.point(value), matrix)
        inverted = inverse(full)
        if inverted is None:
            return None
        rows = self.size(pencil.types[next(iter(pencil.output))])
        cols = self.size(pencil.types[next(iter(pencil.input))])
        total = [[0] * cols for _ in range(rows)]
        if pencil.offset != 0:
            _add_block(total, 0, 0, self.point(pencil.offset), _scaled_identity(1, rows))
        for i, left in pencil.output.items():
            for j, right in pencil.input.items():
                block = [row[starts[j] : starts[j + 1]] for row in inverted[starts[i] : starts[i + 1]]]
                _add_block(total, 0, 0, self.point(left) * self.point(right), block)
        return total


def pencil_holds(node: Node, pencil: Pencil, seed: int = 0) -> bool:
    """Whether the pencil equals the expression at random exact matrices (an error has probability about 1e-16)."""
    substitution = Substitution(seed)
    expected = [[entry % PRIME for entry in row] for row in substitution.node(node)]
    return substitution.pencil(pencil) == expected


@dataclass(frozen=True)
class PencilReport:
    """What exact substitution says of a pencil.

    Attributes
    ----------
    holds : whether it equals the expression at random exact matrices
    size : its number of blocks
    minimal : the smallest number possible, None where that is not known (L_0 singular)
    """

    holds: bool
    size: int
    minimal: int | None
    kind: str

    def __str__(self) -> str:
        equal = "equal to the expression" if self.holds else "NOT equal to the expression"
        least = {None: "smallest size not known: L_0 is singular", self.size: "of the smallest size"}
        told = least.get(self.minimal, f"smallest size {self.minimal}")
        return f"{self.kind} pencil of {self.size} blocks, {equal} at random exact matrices, {told}"


def report(node: Node, plain: Pencil, pencil: Pencil, seed: int = 0) -> PencilReport:
    """Check a pencil and its plain form against the expression they come from."""
    holds = pencil_holds(node, plain, seed) and pencil_holds(node, pencil, seed + 1)
    kind = "self-adjoint" if pencil.self_adjoint else "plain"
    return PencilReport(holds, pencil.size, minimal_size(plain, seed), kind)


def minimal_size(pencil: Pencil, seed: int = 0) -> int | None:
    """Return the size of the smallest pencil of the same expression; None where L_0 is singular.

    The rank of the Hankel matrix of out^T (L_0^-1 A_x1) (L_0^-1 A_x2) ... L_0^-1 in over words in the letters,
    that is, of (observable) x (reachable).
    """
    point = RandomPoint(seed)
    size = range(pencil.size)
    dense = [[point(pencil.constant.get((i, j), 0)) for j in size] for i in size]
    inverted = inverse(dense)
    if inverted is None:
        return None
    steps = []
    for group in (pencil.letters, pencil.low_rank, pencil.deterministic):
        for entries in group.values():
            steps.append(product(inverted, [[point(entries.get((i, j), 0)) for j in size] for i in size]))
    start = product(inverted, [[point(pencil.input.get(i, 0))] for i in size])
    reachable = _closure([column[0] for column in start], [transposed(step) for step in steps], pencil)
    observable = _closure([point(pencil.output.get(i, 0)) for i in size], steps, pencil)
    hankel = product(observable, transposed(reachable))
    return rank(hankel)


def _closure(vector: list[int], steps: list[Matrix], pencil: Pencil) -> Matrix:
    """Return a basis of the span of all words of row steps applied to a vector, each vector of one type."""
    basis: Matrix = []
    queue = [vector]
    while queue:
        candidate = queue.pop()
        grown = [*basis, candidate]
        if len(reduce_rows(grown)[1]) > len(basis):
            basis = grown
            queue.extend(product([candidate], step)[0] for step in steps)
    return basis


def _scaled_identity(scalar: int, size: int) -> Matrix:
    return [[scalar * (i == j) for j in range(size)] for i in range(size)]


def _add_block(total: Matrix, top: int, left: int, scalar: int, block: Matrix) -> None:
    for i, row in enumerate(block):
        target = total[top + i]
        for j, entry in enumerate(row):
            target[left + j] = (target[left + j] + scalar * entry) % PRIME
