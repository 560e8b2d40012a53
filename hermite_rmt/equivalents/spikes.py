"""Deterministic low-rank parts -> quadratic forms a^T Q b.

Deterministic vectors do not change R = E L^-1. With L = L_bulk - sum of C_ij (x) v w^T, and R known, the form is a
corner of a small matrix: on the span of the vectors x^T (L_bulk^-1)_ij y -> R_ij <x, y>, so with B = R (x) Gram

    a^T Q b = offset <a, b> + out^T B (1 - C B)^-1 in        (response w = (1 - C B)^-1 in: linear equations)

Where deterministic matrices stand in the expression, vectors are taken to be spread evenly over their spectrum
(x^T f(T) y -> <f(T)> <x, y>), as a vector in general position is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.ensembles import Vector
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.equivalents.system import EquationSystem

Gram = Callable[[Vector, Vector], Any]


def response_system(
    dyson: Dyson, left: Vector, right: Vector, gram: Gram, scale: Any = 1, shift: Any = 0
) -> EquationSystem:
    """Return the Dyson equation joined with the linear response of the low-rank parts.

    The observable "quadratic_form" is lim left^T Q right (each vector divided by its order).

    Parameters
    ----------
    dyson : of the pencil of the whole expression, vectors included
    left, right : vectors
    gram : function giving the overlap of two vectors of one dimension
    """
    bulk = dyson.system(scale, shift)
    pencil = dyson.pencil
    _require_dimension(dyson, left, right)
    # C B, row by row: the low-rank term C_ij v w^T sends B's column (k, x) at j to v at i, with R_jk <w, x>
    places = sorted(
        {(i, letter.left) for letter, entries in pencil.low_rank.items() for i, _ in entries},
        key=lambda place: (place[0], str(place[1])),
    )
    taken = {str(symbol) for symbol in (*bulk.parameters, *bulk.unknowns)}
    taken |= {
        str(s) for entries in pencil.low_rank.values() for value in entries.values() for s in value.free_symbols
    }
    letter_name = next(name for name in ("w", "response", "response_") if not any(t.startswith(name) for t in taken))
    response = {place: sympy.Symbol(f"{letter_name}{number}") for number, place in enumerate(places, 1)}
    equations = dict(response)

    def reached(j: int, vector: Vector) -> Any:
        """<vector| B (in + response) at block j: the form against one row of the response."""
        terms = [
            dyson.trace(j, k) * gram(vector, x) * symbol
            for (k, x), symbol in response.items()
            if pencil.types[k] == pencil.types[j]
        ]
        terms += [
            dyson.trace(j, k) * gram(vector, right) * value
            for k, value in pencil.input.items()
            if pencil.types[k] == pencil.types[j]
        ]
        return sympy.Add(*terms)

    for letter, entries in pencil.low_rank.items():
        for (i, j), value in entries.items():
            equations[i, letter.left] -= value * reached(j, letter.right)
    form = pencil.offset * gram(left, right)
    for i, value in pencil.output.items():
        form += value * reached(i, left)
    residuals = (*bulk.residuals, *equations.values())
    unknowns = (*bulk.unknowns, *response.values())
    symbols = set().union(form.free_symbols, *(r.free_symbols for r in residuals)) - set(unknowns)
    meanings = {
        **bulk.meanings,
        **{
            w: f"response of the low-rank part along {place[1]} in block {place[0] + 1}"
            for place, w in response.items()
        },
    }
    return EquationSystem(
        unknowns,
        tuple(sorted(symbols, key=str)),
        residuals,
        bulk.branch + "; the response is the solution of its linear equations",
        {"quadratic_form": form},
        meanings,
        bulk.citations,
    )


def _require_dimension(dyson: Dyson, left: Vector, right: Vector) -> None:
    outer = {dyson.pencil.types[i] for i in dyson.pencil.output}, {dyson.pencil.types[i] for i in dyson.pencil.input}
    for vector, sizes, place in ((left, outer[0], "a"), (right, outer[1], "b")):
        if not isinstance(vector, Vector):
            raise TypeError(f"{place}: got {vector!r}; allowed: a Vector")
        if sizes and vector.shape[0] not in sizes:
            raise ExpressionError(
                f"{place}: {vector} has dimension {vector.shape[0]}; allowed: {', '.join(map(str, sizes))}"
            )
