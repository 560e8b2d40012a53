"""Exact evaluation at random points of a large prime field: identities of polynomials, ranks, null spaces.

A nonzero polynomial of degree d vanishes at a random point with probability at most d / PRIME (Schwartz, Zippel),
about 1e-16 for what is evaluated here. PRIME is 1 modulo 840, so that the roots of -1, 2, 3, 5 and 7 exist.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import sympy

PRIME = 2305843009213690801
Matrix = list[list[int]]


class NoResidueError(ValueError):
    """An expression has no value modulo a prime: a root that does not exist there, or a division by zero."""


@cache
def _prime_root(number: int, degree: int, prime: int) -> int:
    """Return a root of a prime number (or -1), always the same one."""
    found = sympy.ntheory.residue_ntheory.nthroot_mod(number % prime, degree, prime)
    if found is None:
        raise NoResidueError(f"{number} has no root of degree {degree} modulo {prime}")
    return int(found)


def residue(expression: Any, prime: int, power: Callable[[Any, int, int], int]) -> int:
    """Return a rational expression with roots modulo a prime; ``power(symbol, a, b)`` is symbol^(a/b)."""
    expression = sympy.sympify(expression)
    if expression.is_Rational:
        return int(expression.p) * _reciprocal(int(expression.q), prime) % prime
    if expression.is_Symbol:
        return power(expression, 1, 1)
    if expression is sympy.I:
        return _prime_root(-1, 2, prime)
    if expression.is_Add:
        return sum(residue(part, prime, power) for part in expression.args) % prime
    if expression.is_Mul:
        total = 1
        for part in expression.args:
            total = total * residue(part, prime, power) % prime
        return total
    if expression.free_symbols and not expression.is_Pow:
        return power(expression, 1, 1)  # a function of parameters: as good as a symbol
    if not (expression.is_Pow and expression.exp.is_Rational):
        raise NoResidueError(f"{expression} has no residue: allowed are rational expressions with roots")
    base, numerator, denominator = expression.base, int(expression.exp.p), int(expression.exp.q)
    if base.is_Symbol:
        return power(base, numerator, denominator)
    if denominator == 1:
        value = residue(base, prime, power)
    elif base.is_Rational:
        value = 1
        for factor, multiplicity in sympy.factorrat(base).items():
            root = _prime_root(int(factor), denominator, prime)
            value = value * (
                pow(root, multiplicity, prime) if multiplicity > 0 else _reciprocal(root**-multiplicity, prime)
            )
    else:
        raise NoResidueError(f"{expression} has no residue: allowed are roots of numbers and symbols")
    return pow(value, numerator, prime) if numerator >= 0 else _reciprocal(pow(value, -numerator, prime), prime)


def _reciprocal(value: int, prime: int) -> int:
    if value % prime == 0:
        raise NoResidueError(f"a division by zero modulo {prime}")
    return pow(value, -1, prime)


class RandomPoint:
    """Random residues for symbols, drawn when first asked for, the same ever after.

    >>> c = sympy.Symbol("c", positive=True)
    >>> point = RandomPoint(1)
    >>> point(sympy.sqrt(c)) ** 2 % PRIME == point(c)
    True
    """

    _DEGREE = 12  # every symbol is a 12th power, so that it has square, cube, fourth and sixth roots

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._roots: dict[Any, int] = {}

    def draw(self) -> int:
        """Return a random nonzero residue."""
        return self._random.randrange(1, PRIME)

    def matrix(self, rows: int, cols: int) -> Matrix:
        """Return a random matrix."""
        return [[self.draw() for _ in range(cols)] for _ in range(rows)]

    def __call__(self, expression: Any) -> int:
        """Return the residue of a rational expression with roots in the symbols."""
        return residue(expression, PRIME, self._power)

    def _power(self, symbol: Any, numerator: int, denominator: int) -> int:
        if self._DEGREE % denominator:
            raise NoResidueError(f"{symbol}^({numerator}/{denominator}) has no residue")
        if symbol not in self._roots:
            self._roots[symbol] = self.draw()
        return pow(self._roots[symbol], self._DEGREE // denominator * numerator, PRIME)


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return the matrix product modulo PRIME."""
    columns = list(zip(*right, strict=True))
    return [[sum(map(int.__mul__, row, column)) % PRIME for column in columns] for row in left]


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def reduce_rows(rows: Iterable[Sequence[int]], prime: int = PRIME) -> tuple[Matrix, list[int], list[int]]:
    """Return (reduced rows, pivot columns, indices of the rows that gave a pivot), row by row."""
    reduced: Matrix = []
    pivots: list[int] = []
    chosen: list[int] = []
    for index, entries in enumerate(rows):
        row = [entry % prime for entry in entries]
        for other, pivot in zip(reduced, pivots, strict=True):
            if factor := row[pivot]:
                row = [(a - factor * b) % prime for a, b in zip(row, other, strict=True)]
        pivot = next((column for column, entry in enumerate(row) if entry), -1)
        if pivot < 0:
            continue
        scale = pow(row[pivot], -1, prime)
        row = [entry * scale % prime for entry in row]
        for place, other in enumerate(reduced):
            if factor := other[pivot]:
                reduced[place] = [(a - factor * b) % prime for a, b in zip(other, row, strict=True)]
        reduced.append(row)
        pivots.append(pivot)
        chosen.append(index)
    return reduced, pivots, chosen


def rank(rows: Iterable[Sequence[int]]) -> int:
    """Return the rank modulo PRIME.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    return len(reduce_rows(rows)[1])


def inverse(matrix: Matrix, prime: int = PRIME) -> Matrix | None:
    """Return the inverse modulo a prime, or None."""
    size = len(matrix)
    rows = [[*row, *(int(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    reduced, pivots, _ = reduce_rows(rows, prime)
    if any(pivot >= size for pivot in pivots) or len(pivots) < size:
        return None
    ordered = [row for _, row in sorted(zip(pivots, reduced, strict=True))]
    return [row[size:] for row in ordered]


def null_space(rows: Sequence[Sequence[int]], width: int, prime: int = PRIME) -> Matrix:
    """Return a basis of {v: row . v = 0 for all rows} modulo a prime."""
    reduced, pivots, _ = reduce_rows(rows, prime)
    basis = []
    for free in range(width):
        if free not in pivots:
            vector = [0] * width
            vector[free] = 1
            for row, pivot in zip(reduced, pivots, strict=True):
                vector[pivot] = -row[free] % prime
            basis.append(vector)
    return basis
