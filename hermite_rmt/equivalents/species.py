"""The species of a pencil: a dimension, with one atom of the spectral law of its deterministic matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.equivalents.pencil import Pencil

_NAMES = "ghkqrstu"


@dataclass(frozen=True)
class Species:
    """A dimension with one atom of its spectral law: the blocks, the weight, and the eigenvalues there."""

    dimension: Any
    blocks: tuple[int, ...]
    weight: Any
    eigenvalues: Mapping[Any, Any]
    label: str


def species_of(pencil: Pencil) -> tuple[Species, ...]:
    """Return the species of a pencil: one for every dimension and atom."""
    found = []
    for position, dimension in enumerate(pencil.dimensions):
        blocks = tuple(pencil.blocks(dimension))
        matrices = [m for m in pencil.deterministic if m.shape[0] == dimension]
        families = {m.family for m in matrices}
        if len(families) > 1:
            raise ExpressionError(
                f"deterministic matrices {', '.join(map(str, matrices))} on the dimension {dimension}: allowed: one "
                "commuting family with a joint spectral law, made by commuting(...)"
            )
        name = _NAMES[position % len(_NAMES)]
        if not families:
            found.append(Species(dimension, blocks, sympy.S.One, {}, name))
            continue
        (_, atoms) = next(iter(families))
        for number, atom in enumerate(atoms, 1):
            eigenvalues = {m: atom[1 + m.index] for m in matrices}
            found.append(Species(dimension, blocks, atom[0], eigenvalues, f"{name}{number}_"))
    return tuple(found)
