"""Whether a proved solution of a Dyson equation is proved to be the limit itself, and not another solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.flint_context import require_flint
from hermite_rmt.equivalents.covariance import covariances, positive_map
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.solvers.stability import Part, contracts, indefinite


class BranchProof:
    """The test of `solvers.stability` for one Dyson equation of a plain pencil; nothing is proved if it is not real.

    Parameters
    ----------
    dyson : of the plain pencil
    symbols : those that have values, in the order in which values are passed
    """

    def __init__(self, dyson: Dyson, symbols: Sequence[Any]) -> None:
        self._dyson, self._symbols = dyson, tuple(symbols)
        self._places = [
            [
                (row, column, dyson.unknown(number, i, j))
                for row, i in enumerate(kind.blocks)
                for column, j in enumerate(kind.blocks)
                if dyson.unknown(number, i, j) != 0
            ]
            for number, kind in enumerate(dyson.species)
        ]
        letters = [sympy.sympify(value) for entries in dyson.pencil.letters.values() for value in entries.values()]
        self._nonreal = any(value.has(sympy.I) for value in letters)
        self._letters = [] if self._nonreal else [self._function(value) for value in set(letters)]
        self._terms = [
            (i, j, k, h, self._function(value)) for i, j, k, h, value in positive_map(dyson.pencil, dyson.ratios)
        ]
        self._weights = [self._function(kind.weight) for kind in dyson.species]
        self._ratios = [self._function(dyson.ratios[dimension]) for dimension in dyson.pencil.dimensions]
        self._laws = [
            [[self._function(entry) for entry in row] for row in matrix] for matrix in covariances(dyson.pencil)
        ]

    def _function(self, value: Any) -> BallFunction:
        return BallFunction(self._symbols, sympy.sympify(value))

    def holds(self, unknowns: Mapping[Any, Any], values: Sequence[Any]) -> bool:
        """Whether all solutions within the balls are proved to be the limit at the parameters within theirs.

        For all parameters at which the random matrices exist: where none within the balls does, nothing is proved.
        Call inside python-flint's precision.

        Parameters
        ----------
        unknowns : balls by symbol
        values : balls, in the order of `symbols`
        """
        # letters times complex numbers: the products in the equations may be real, and the map not positive
        if self._nonreal or not all(value.real(*values).is_finite() for value in self._letters):
            return False
        weights = [weight.real(*values) for weight in self._weights]
        if any(ratio.real(*values) <= 0 for ratio in self._ratios) or any(weight < 0 for weight in weights):
            return False
        if any(indefinite([[entry.real(*values) for entry in row] for row in law]) for law in self._laws):
            return False
        zero = require_flint().arb(0)
        parts = []
        for number, (kind, weight) in enumerate(zip(self._dyson.species, weights, strict=True)):
            inverse = [[zero] * len(kind.blocks) for _ in kind.blocks]
            for row, column, symbol in self._places[number]:
                inverse[row][column] = unknowns[symbol]
            place = self._dyson.pencil.dimensions.index(kind.dimension)
            parts.append(Part(place, kind.blocks, weight, inverse))
        terms = [(i, j, k, h, factor.real(*values)) for i, j, k, h, factor in self._terms]
        return contracts(parts, terms)
