"""Equal unknowns: a partition of the entries of R (up to sign) that the Dyson map keeps, found and then proved.

Equalities seen in a few iterates of R -> (L_0 - eta(R))^-1 need not be invariant. Candidates are read off exact
iterates, and kept only if a *generic* point of the merged pattern is mapped into the pattern; classes that fail are
split until the pattern is closed. Then every coefficient of the power series of R lies in it.
"""

from __future__ import annotations

from typing import Any

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.modular import PRIME, Matrix, NoResidueError, RandomPoint, inverse

Values = dict[Any, int]  # unknown -> residue


class DysonMap:
    """The Dyson map at random exact parameter values."""

    def __init__(self, dyson: Dyson, seed: int) -> None:
        self._dyson = dyson
        point = RandomPoint(seed)
        self.draw = point.draw
        self._constants = [
            {pair: point(value) for pair, value in dyson.constant(number).items()}
            for number in range(len(dyson.species))
        ]
        self._weights = [point(kind.weight) for kind in dyson.species]
        self._couplings = [(i, j, k, h, point(factor)) for i, j, k, h, factor in dyson.couplings]

    def __call__(self, values: Values) -> Values | None:
        """Return the image of R, or None where a matrix is singular."""
        dyson = self._dyson
        traces: dict[tuple[int, int], int] = {}
        for number, kind in enumerate(dyson.species):
            for i in kind.blocks:
                for j in kind.blocks:
                    symbol = dyson.unknown(number, i, j)
                    if symbol != 0:
                        traces[i, j] = traces.get((i, j), 0) + self._weights[number] * values[symbol]
        eta: dict[tuple[int, int], int] = {}
        for i, j, k, h, factor in self._couplings:
            if (k, h) in traces:
                eta[i, j] = eta.get((i, j), 0) + factor * traces[k, h]
        image: Values = {}
        for number, kind in enumerate(dyson.species):
            blocks = kind.blocks
            constant = self._constants[number]
            matrix: Matrix = [
                [(constant.get((i, j), 0) - eta.get((i, j), 0)) % PRIME for j in blocks] for i in blocks
            ]
            inverted = inverse(matrix)
            if inverted is None:
                return None
            for a, i in enumerate(blocks):
                for b, j in enumerate(blocks):
                    symbol = dyson.unknown(number, i, j)
                    if symbol != 0:
                        image[symbol] = inverted[a][b]
        return image


def equal_unknowns(dyson: Dyson, seed: int = 0, iterates: int = 4) -> dict[Any, Any]:
    """Return {unknown: 0, or plus or minus an earlier unknown}, proved invariant under the Dyson map.

    The proof is by random exact points of the pattern and of the parameters (an error has probability about 1e-15).
    """
    try:
        step = DysonMap(dyson, seed)
    except NoResidueError:  # parameters under composite roots: nothing is merged
        return {}
    values = step(dict.fromkeys(dyson.unknowns, 0))
    history: list[Values] = []
    while values is not None and len(history) < iterates:
        history.append(values)
        values = step(values)
    if not history:
        return {}
    partition = _guess(dyson.unknowns, history)
    for attempt in range(2 * len(dyson.unknowns) + 1):
        check = DysonMap(dyson, seed + 1 + attempt)
        generic = {leader: check.draw() for leader, _ in partition.values()}
        image = check({s: sign * generic[leader] % PRIME for s, (leader, sign) in partition.items()})
        if image is None:
            return {}
        finer = _split(partition, image)
        if finer == partition:
            return {s: sign * leader for s, (leader, sign) in partition.items() if leader != s or sign != 1}
        partition = finer
    return {}


Partition = dict[Any, tuple[Any, int]]  # unknown -> (leader, sign); sign 0 for what vanishes


def _guess(unknowns: Any, history: list[Values]) -> Partition:
    """Group unknowns that are equal up to sign in every iterate."""
    leaders: dict[tuple[int, ...], Any] = {}
    result: Partition = {}
    for symbol in unknowns:
        key = tuple(values[symbol] for values in history)
        negative = tuple(-entry % PRIME for entry in key)
        if not any(key):
            result[symbol] = (symbol, 0)
        elif negative in leaders:
            result[symbol] = (leaders[negative], -1)
        else:
            result[symbol] = (leaders.setdefault(key, symbol), 1)
    return result


def _split(partition: Partition, image: Values) -> Partition:
    """Split the classes on which the image is not constant (up to the signs), and zeros that do not stay zero."""
    leaders: dict[tuple[Any, int], Any] = {}
    result: Partition = {}
    for symbol, (leader, sign) in partition.items():
        if sign == 0 and image[symbol] == 0:
            result[symbol] = (symbol, 0)
            continue
        first = leaders.setdefault((leader, (sign or 1) * image[symbol] % PRIME), symbol)
        result[symbol] = (first, (sign or 1) * (partition[first][1] or 1))
    return result
