"""Whether a proved solution of a Dyson equation is proved to be the limit itself, and not another solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.flint_context import require_flint
from hermite_rmt.equivalents.covariance import covariances, positive_map
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.solvers.stability import Part, contracts, positive_definite


class BranchProof:
    """The test of `solvers.stability` for one Dyson equation of a plain pencil with real coefficients.

    Parameters
    ----------
    dyson : of the plain pencil
    symbols : those that have values, in the order in which values are passed
    energies : symbols that stand for E[f g] - a_1 a_1: matrices of them are Gram matrices
    """

    def __init__(self, dyson: Dyson, symbols: Sequence[Any], energies: Iterable[Any]) -> None:
        self._dyson, self._symbols = dyson, tuple(symbols)
        self._energies = set(energies)
        self._places = [
            [
                (row, column, dyson.unknown(number, i, j))
                for row, i in enumerate(kind.blocks)
                for column, j in enumerate(kind.blocks)
                if dyson.unknown(number, i, j) != 0
            ]
            for number, kind in enumerate(dyson.species)
        ]
        self._terms = [
            (i, j, k, h, self._function(value)) for i, j, k, h, value in positive_map(dyson.pencil, dyson.ratios)
        ]
        self._weights = [self._function(kind.weight) for kind in dyson.species]
        self._ratios = [self._function(dyson.ratios[dimension]) for dimension in dyson.pencil.dimensions]
        self._laws = [
            [[self._function(entry) for entry in row] for row in matrix]
            for matrix in covariances(dyson.pencil)
            if not self._known(matrix)
        ]

    def _function(self, value: Any) -> BallFunction:
        return BallFunction(self._symbols, sympy.sympify(value))

    def _known(self, matrix: list[list[Any]]) -> bool:
        symbols = set().union(*(sympy.sympify(entry).free_symbols for row in matrix for entry in row))
        return bool(symbols) and symbols <= self._energies

    def holds(self, unknowns: Mapping[Any, Any], values: Sequence[Any]) -> bool:
        """Whether all solutions within the balls are proved to be the limit at the parameters within theirs.

        Call inside python-flint's precision.

        Parameters
        ----------
        unknowns : balls by symbol
        values : balls, in the order of `symbols`
        """
        weights = [weight.real(*values) for weight in self._weights]
        if not all(ratio.real(*values) > 0 for ratio in self._ratios) or not all(w >= 0 for w in weights):
            return False
        for law in self._laws:
            if not positive_definite([[f.real(*values) for f in row] for row in law], semidefinite=True):
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
