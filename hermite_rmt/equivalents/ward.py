"""Ward identities: exact linear relations between traces of L^-1, from L L^-1 = 1 and L^-1 L = 1.

Both are written as traces of blocks. The traces with a letter, tau(x, k, j) = tr(x (L^-1)_kj), occur in both, by
cyclicity; in a self-adjoint pencil tau(x, k, j) = tau(x^T, j, k) too. Eliminating them leaves relations between the
unknowns that hold before any limit, whatever the law of the letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.fields import ParameterField, solve_affine
from hermite_rmt.equivalents.nodes import Letter
from hermite_rmt.equivalents.pencil import Sparse


def ward_identities(
    dyson: Dyson, field: ParameterField, order: list[Any], merged: Mapping[Any, Any]
) -> dict[Any, Any]:
    """Return {unknown: linear combination of the others}, the unknowns late in `order` solved for last.

    Only identities between unknowns are returned; the traces with letters are eliminated.

    Parameters
    ----------
    order : the unknowns left
    merged : {unknown: what it is}, for the others: 0 or plus or minus one of `order`
    """
    pencil, ratios = dyson.pencil, dyson.ratios
    auxiliary: dict[tuple[Letter, int, int], int] = {}

    def column(letter: Letter, k: int, j: int) -> int:
        key = (letter, k, j)
        if pencil.self_adjoint:
            key = min(key, (letter.reverse(), j, k), key=str)
        return auxiliary.setdefault(key, len(auxiliary))

    rows: list[tuple[dict[int, Any], dict[Any, Any], Any]] = []  # letter traces, unknowns, constant

    def equation(i: int, j: int, left: bool) -> None:
        traces: dict[int, Any] = {}
        unknowns: dict[Any, Any] = {}
        size = ratios[pencil.types[i]]
        for number, kind in enumerate(dyson.species):
            if kind.dimension != pencil.types[i]:
                continue
            for k, value in _line(dyson.constant(number), i if left else j, left):
                symbol = dyson.unknown(number, k, j) if left else dyson.unknown(number, i, k)
                sign, symbol = merged.get(symbol, symbol).as_coeff_Mul() if symbol != 0 else (0, symbol)
                if sign != 0:
                    unknowns[symbol] = unknowns.get(symbol, sympy.S.Zero) + sign * size * kind.weight * value
        for letter, entries in pencil.letters.items():
            for k, value in _line(entries, i if left else j, left):
                place = column(letter, k, j) if left else column(letter, i, k)
                traces[place] = traces.get(place, sympy.S.Zero) - value
        rows.append((traces, unknowns, size if i == j else sympy.S.Zero))

    for dimension in pencil.dimensions:
        blocks = pencil.blocks(dimension)
        for i in blocks:
            for j in blocks:
                equation(i, j, left=True)
                equation(i, j, left=False)
    count = len(auxiliary)
    positions = {symbol: count + index for index, symbol in enumerate(order)}
    width = count + len(order)
    sparse: dict[int, dict[int, Any]] = {}
    for traces, unknowns, constant in rows:
        row = {place: field.element(value) for place, value in traces.items()}
        row.update({positions[symbol]: field.element(value) for symbol, value in unknowns.items()})
        row[width] = field.element(constant)
        row = {place: value for place, value in row.items() if value}
        if row:
            sparse[len(sparse)] = row
    solved = solve_affine(DomainMatrix(sparse, (len(sparse), width + 1), field.domain), width)
    if solved is None:
        return {}  # the pencil is singular for every law of its letters: nothing to reduce
    identities: dict[Any, Any] = {}
    for pivot, entries in solved[1].items():
        if pivot >= count:
            identities[order[pivot - count]] = sympy.Add(
                *(
                    field.expression(value) * (order[place - count] if place < width else 1)
                    for place, value in entries.items()
                )
            )
    return identities


def _line(entries: Sparse, index: int, row: bool) -> list[tuple[int, Any]]:
    """Return the entries of one row, as (column, value), or of one column, as (row, value)."""
    if row:
        return [(j, value) for (i, j), value in entries.items() if i == index]
    return [(i, value) for (i, j), value in entries.items() if j == index]
