"""Which solution of a matrix Dyson equation is the limit: the one at which a positive map contracts.

R solves (L_0 - eta(R)) R = 1. With L_G the random part of the pencil, C(X) = R^T E[L_G^* X L_G] R is a positive map.
At most one real solution R has a C of spectral radius below 1, and that one is lim E L^-1 (derivations/17_branch.py).
The radius is below 1 if some Z > 0 has Z - E[L_G^* (R^T Z R) L_G] > 0: that is what is shown here, with balls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hermite_rmt.core.flint_context import require_flint

Matrix = list[list[Any]]
Term = tuple[int, int, int, int, Any]  # (i, j, k, h, factor): factor <X_kh> in the entry (i, j) of E[L_G^* X L_G]


@dataclass(frozen=True)
class Part:
    """R on one dimension at one atom of its spectral law.

    Attributes
    ----------
    dimension : a number for the dimension
    blocks : the blocks of the pencil that have it
    weight : of the atom, a ball
    inverse : R, rows of balls
    """

    dimension: int
    blocks: tuple[int, ...]
    weight: Any
    inverse: Matrix


def contracts(parts: Sequence[Part], terms: Sequence[Term]) -> bool:
    """Whether it is proved that C has a spectral radius below 1 for all values within the balls.

    Call inside python-flint's precision. The weights must be nonnegative and the map positive.

    >>> from hermite_rmt.core.flint_context import flint_precision
    >>> with flint_precision(64) as flint:  # a GOE matrix minus 5/2: R = -1/2 and -2
    ...     for inverse in (-0.5, -2):
    ...         parts = [Part(0, (0,), flint.arb(1), [[flint.arb(inverse)]])]
    ...         print(contracts(parts, [(0, 0, 0, 0, flint.arb(1))]))
    True
    False
    """
    dimension = {block: part.dimension for part in parts for block in part.blocks}
    terms = [term for term in terms if dimension[term[2]] == dimension[term[3]]]
    middle = [
        Part(part.dimension, part.blocks, part.weight.mid(), [[entry.mid() for entry in row] for row in part.inverse])
        for part in parts
    ]
    ones = {block: require_flint().arb(1) for block in dimension}
    scales = _candidate(middle, terms, ones)
    if scales is None:
        return False
    # entries of the unknowns differ by many orders: measured against these scales, they do not
    candidate = _candidate(middle, terms, {block: abs(scales[block, block]) for block in dimension})
    if candidate is None:
        return False
    rest = {pair: candidate[pair] - value for pair, value in _image(parts, terms, candidate).items()}
    for blocks in _by_dimension(parts).values():
        for values in (candidate, {**candidate, **rest}):
            if not positive_definite([[values.get((i, j), 0) for j in blocks] for i in blocks]):
                return False
    return True


def radius(parts: Sequence[Part], terms: Sequence[Term]) -> float:
    """Return the spectral radius of C in doubles; weights, entries of R and factors are doubles.

    C(X) depends on the traces <X_kh> that occur in terms alone: the radius of the map of those.

    >>> radius([Part(0, (0,), 1.0, [[-0.5]])], [(0, 0, 0, 0, 1.0)])
    0.25
    """
    dimension = {block: part.dimension for part in parts for block in part.blocks}
    terms = [term for term in terms if dimension[term[2]] == dimension[term[3]]]
    place = {pair: index for index, pair in enumerate(sorted({(k, h) for _, _, k, h, _ in terms}))}
    matrix = np.zeros((len(place), len(place)))
    for part in parts:
        local = {block: index for index, block in enumerate(part.blocks)}
        R = np.array(part.inverse, dtype=float)
        for (k, h), row in place.items():
            if k in local:
                for i, j, k2, h2, factor in terms:
                    if i in local:
                        entry = R[local[i], local[k]] * R[local[j], local[h]]
                        matrix[row, place[k2, h2]] += part.weight * factor * entry
    return float(max(abs(np.linalg.eigvals(matrix)), default=0.0))


def positive_definite(matrix: Sequence[Sequence[Any]]) -> bool:
    """Whether all symmetric matrices within the balls are proved to be positive definite."""
    return all(pivot > 0 for pivot in _pivots(matrix))


def indefinite(matrix: Sequence[Sequence[Any]]) -> bool:
    """Whether no symmetric matrix within the balls is positive semidefinite, as far as elimination tells."""
    return any(pivot < 0 for pivot in _pivots(matrix))


def _pivots(matrix: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """Yield the pivots of Gaussian elimination, up to the first that is not proved to be positive.

    Rows that are exactly zero in their turn are passed over by what follows.
    """
    rows = [list(row) for row in matrix]
    size = len(rows)
    for k in range(size):
        yield rows[k][k]
        if all(entry == 0 for entry in rows[k][k:]):
            continue
        if not rows[k][k] > 0:
            return
        for i in range(k + 1, size):
            if rows[k][i] != 0:
                factor = rows[k][i] / rows[k][k]
                for j in range(i, size):
                    rows[i][j] = rows[i][j] - factor * rows[k][j]


def _by_dimension(parts: Sequence[Part]) -> dict[int, tuple[int, ...]]:
    return {part.dimension: part.blocks for part in parts}


def _candidate(
    parts: Sequence[Part], terms: Sequence[Term], start: dict[int, Any]
) -> dict[tuple[int, int], Any] | None:
    """Return about the solution of Z - E[L_G^* (R^T Z R) L_G] = diagonal `start`, exact and symmetric numbers.

    Z depends on the traces <(R^T Z R)_kh> that occur in terms alone: linear equations for those.
    """
    flint = require_flint()
    pairs = sorted({(k, h) for _, _, k, h, _ in terms})
    place = {pair: index for index, pair in enumerate(pairs)}
    columns: list[list[Any]] = [[flint.arb(0)] * len(pairs) for _ in pairs]
    right = [[flint.arb(0)] for _ in pairs]
    for part in parts:
        local = {block: index for index, block in enumerate(part.blocks)}
        mine = [pair for pair in pairs if pair[0] in local]
        R, weight = part.inverse, part.weight
        for k, h in mine:
            row = place[k, h]
            for i in part.blocks:
                right[row][0] += weight * start[i] * R[local[i]][local[k]] * R[local[i]][local[h]]
            for i, j, k2, h2, factor in terms:
                if i in local:
                    change = weight * factor.mid() * R[local[i]][local[k]] * R[local[j]][local[h]]
                    columns[row][place[k2, h2]] += change
    for index, row_entries in enumerate(columns):
        columns[index] = [(1 if index == other else 0) - entry for other, entry in enumerate(row_entries)]
    try:
        solved = flint.arb_mat(columns).solve(flint.arb_mat(right)) if pairs else flint.arb_mat(0, 1)
    except ZeroDivisionError:
        return None
    traces = {pair: solved[index, 0].mid() for pair, index in place.items()}
    result = {(block, block): value for block, value in start.items()}
    for i, j, k, h, factor in terms:
        result[i, j] = result.get((i, j), 0) + factor.mid() * traces[k, h]
    symmetric = {(i, j): ((value + result.get((j, i), 0)) / 2).mid() for (i, j), value in result.items()}
    return symmetric | {(j, i): value for (i, j), value in symmetric.items()}


def _image(
    parts: Sequence[Part], terms: Sequence[Term], matrix: dict[tuple[int, int], Any]
) -> dict[tuple[int, int], Any]:
    """Return E[L_G^* (R^T Z R) L_G] with error bounds."""
    flint = require_flint()
    traces: dict[tuple[int, int], Any] = {}
    for part in parts:
        blocks = part.blocks
        R = flint.arb_mat(part.inverse)
        Z = flint.arb_mat([[matrix.get((i, j), 0) for j in blocks] for i in blocks])
        product = (R.transpose() * Z * R).table()
        for a, k in enumerate(blocks):
            for b, h in enumerate(blocks):
                traces[k, h] = traces.get((k, h), 0) + part.weight * product[a][b]
    image: dict[tuple[int, int], Any] = {}
    for i, j, k, h, factor in terms:
        image[i, j] = image.get((i, j), 0) + factor * traces[k, h]
    return image
