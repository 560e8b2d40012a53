"""The self-adjoint form of a pencil: a scalar matrix S with S L symmetric and S in = out, where there is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from hermite_rmt.equivalents.fields import ParameterField, solve_affine
from hermite_rmt.equivalents.nodes import Letter
from hermite_rmt.equivalents.pencil import Pencil, Sparse


def coefficients(pencil: Pencil) -> Iterator[tuple[Any, Any, Sparse]]:
    """Yield (key, reversed key, entries) of every coefficient matrix of a pencil."""
    yield None, None, pencil.constant
    for symbol, entries in pencil.deterministic.items():
        yield symbol, symbol, entries
    for group in (pencil.letters, pencil.low_rank):
        keys: dict[Letter, None] = dict.fromkeys([*group, *(letter.reverse() for letter in group)])
        for letter in keys:
            yield letter, letter.reverse(), group.get(letter, {})


def symmetrise(pencil: Pencil) -> Pencil | None:
    """Return the self-adjoint form ``S L``, or None where no nonsingular S exists.

    The symmetriser solves S A_x = (S A_{x^T})^T for every letter x, and S in = out. Its determinant is a
    rational function of the parameters: where that vanishes, the plain pencil must be used.
    """
    table = {key: (reverse, entries) for key, reverse, entries in coefficients(pencil)}
    values = [v for _, entries in table.values() for v in entries.values()]
    field = ParameterField([*values, *pencil.input.values(), *pencil.output.values()])
    symmetriser = _symmetriser(pencil, table, field)
    determinant = _determinant(symmetriser, pencil, field) if symmetriser is not None else sympy.S.Zero
    if symmetriser is None or determinant == 0:
        return None
    factors = {pair: field.expression(value) for pair, value in symmetriser.items()}

    def times(entries: Sparse) -> Sparse:
        total: Sparse = {}
        for (i, k), factor in factors.items():
            for (m, j), value in entries.items():
                if m == k:
                    total[i, j] = total.get((i, j), sympy.S.Zero) + factor * value
        return {pair: reduced for pair, value in total.items() if (reduced := sympy.cancel(value)) != 0}

    return dataclasses.replace(
        pencil,
        constant=times(pencil.constant),
        deterministic={key: times(entries) for key, entries in pencil.deterministic.items()},
        letters={key: times(entries) for key, entries in pencil.letters.items()},
        low_rank={key: times(entries) for key, entries in pencil.low_rank.items()},
        input=dict(pencil.output),
        inverses={},
        self_adjoint=True,
        symmetriser=factors,
        determinant=sympy.factor(determinant),
    )


def _symmetriser(
    pencil: Pencil, table: Mapping[Any, tuple[Any, Sparse]], field: ParameterField
) -> dict[tuple[int, int], Any] | None:
    """Return the nonzero entries of S in the field, or None."""
    unknowns = [(i, j) for d in pencil.dimensions for i in pencil.blocks(d) for j in pencil.blocks(d)]
    number = {pair: index for index, pair in enumerate(unknowns)}
    constant = len(unknowns)
    rows: list[dict[int, Any]] = []

    def contribute(row: dict[int, Any], i: int, j: int, entries: Sparse, sign: int) -> None:
        for (k, column), value in entries.items():
            if column == j and (i, k) in number:
                index = number[i, k]
                row[index] = row.get(index, field.domain.zero) + sign * field.element(value)

    for reverse, entries in table.values():
        other = table[reverse][1]
        for j in sorted({j for _, j in entries} | {i for _, i in other}):
            for i in range(pencil.size):
                row: dict[int, Any] = {}
                contribute(row, i, j, entries, 1)  # (S A_x)_ij
                contribute(row, j, i, other, -1)  # (S A_{x^T})_ji
                rows.append(row)
    for i in range(pencil.size):
        row = {number[i, k]: field.element(v) for k, v in pencil.input.items() if (i, k) in number}
        if i in pencil.output:
            row[constant] = field.element(pencil.output[i])
        rows.append(row)
    kept = [{index: value for index, value in row.items() if value} for row in rows]
    kept = [row for row in kept if row]
    solved = solve_affine(DomainMatrix(dict(enumerate(kept)), (len(kept), constant + 1), field.domain), constant)
    if solved is None:
        return None
    free, relations = solved
    # S is unique for a minimal pencil; where it is not, the identity on what is left free
    chosen = {index: field.domain.one for index in free if unknowns[index][0] == unknowns[index][1]}
    chosen[constant] = field.domain.one
    solution = {unknowns[index]: value for index, value in chosen.items() if index != constant}
    for index, affine in relations.items():
        terms = (value * chosen[j] for j, value in affine.items() if j in chosen)
        solution[unknowns[index]] = sum(terms, field.domain.zero)
    return {pair: value for pair, value in solution.items() if value}


def _determinant(symmetriser: Mapping[tuple[int, int], Any], pencil: Pencil, field: ParameterField) -> Any:
    determinant = field.domain.one
    for dimension in pencil.dimensions:
        blocks = pencil.blocks(dimension)
        rows = [[symmetriser.get((i, j), field.domain.zero) for j in blocks] for i in blocks]
        determinant *= DomainMatrix(rows, (len(blocks), len(blocks)), field.domain).det()
    return field.expression(determinant)
