"""The self-adjoint form of a pencil: a scalar matrix S with S L symmetric and S in = out, where there is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
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
    unknowns = [(i, j) for d in pencil.dimensions for i in pencil.blocks(d) for j in pencil.blocks(d)]
    number = {pair: index for index, pair in enumerate(unknowns)}
    table = {key: (reverse, entries) for key, reverse, entries in coefficients(pencil)}
    values = [v for _, entries in table.values() for v in entries.values()]
    field = ParameterField([*values, *pencil.input.values(), *pencil.output.values()])
    rows: list[dict[int, Any]] = []

    def contribute(row: dict[int, Any], i: int, j: int, entries: Sparse, sign: int) -> None:
        for (k, column), value in entries.items():
            if column == j and (i, k) in number:
                index = number[i, k]
                row[index] = row.get(index, field.domain.zero) + sign * field.element(value)

    def append(row: dict[int, Any]) -> None:
        kept = {index: value for index, value in row.items() if value}
        if kept:
            rows.append(kept)

    for reverse, entries in table.values():
        other = table[reverse][1]
        columns = sorted({j for _, j in entries} | {i for _, i in other})
        for j in columns:
            for i in range(pencil.size):
                row: dict[int, Any] = {}
                contribute(row, i, j, entries, 1)  # (S A_x)_ij
                contribute(row, j, i, other, -1)  # (S A_{x^T})_ji
                append(row)
    constant = len(unknowns)
    for i in range(pencil.size):
        row = {number[i, k]: field.element(v) for k, v in pencil.input.items() if (i, k) in number}
        if i in pencil.output:
            row[constant] = field.element(pencil.output[i])
        append(row)
    system = DomainMatrix(dict(enumerate(rows)), (len(rows), constant + 1), field.domain)
    solved = solve_affine(system, constant)
    if solved is None:
        return None
    free, relations = solved
    solution = {unknowns[index]: affine.get(constant, field.domain.zero) for index, affine in relations.items()}
    if free:  # S is not unique for a pencil that is not minimal: the identity on what is left free
        chosen = {
            index: field.domain.one if unknowns[index][0] == unknowns[index][1] else field.domain.zero
            for index in free
        }
        for index, affine in relations.items():
            solution[unknowns[index]] = sum(
                (value * (chosen[j] if j != constant else field.domain.one) for j, value in affine.items()),
                field.domain.zero,
            )
        solution.update({unknowns[index]: value for index, value in chosen.items()})
    symmetriser = {pair: field.expression(value) for pair, value in solution.items() if value}
    determinant = sympy.S.One
    for dimension in pencil.dimensions:
        blocks = pencil.blocks(dimension)
        block = field.matrix(
            {(a, b): symmetriser.get((i, j), 0) for a, i in enumerate(blocks) for b, j in enumerate(blocks)},
            len(blocks),
            len(blocks),
        )
        determinant *= field.expression(block.to_dense().det())
    if determinant == 0:
        return None

    def times(entries: Sparse) -> Sparse:
        total: Sparse = {}
        for (i, k), factor in symmetriser.items():
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
        self_adjoint=True,
        determinant=sympy.factor(determinant),
    )
