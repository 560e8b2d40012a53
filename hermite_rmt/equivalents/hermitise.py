"""The hermitised pencil [[eps, L], [-L^*, eps]]: invertible at every eps > 0, whatever L is.

Its inverse holds L^* (L L^* + eps^2)^-1 -> L^-1 in the lower left corner, and eps (L L^* + eps^2)^-1 in the upper
left one, whose trace stays O(1) as eps -> 0 exactly where 0 lies in the limiting spectrum of |L|.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from hermite_rmt.equivalents.nodes import Letter
from hermite_rmt.equivalents.pencil import Pencil, Sparse

EPSILON = sympy.Dummy("epsilon", positive=True)


def hermitise(pencil: Pencil, conjugates: Mapping[Any, Any]) -> Pencil:
    """Return the hermitised pencil; `output` and `input` point at the corner that tends to L^-1.

    Parameters
    ----------
    pencil : a plain pencil of real parameters, except
    conjugates : symbols with complex values, each with the symbol of its complex conjugate
    """
    size = pencil.size

    def conjugate(value: Any) -> Any:
        return sympy.sympify(value).xreplace({sympy.I: -sympy.I, **conjugates})

    def lower(entries: Sparse) -> Sparse:
        return {(j + size, i): -conjugate(value) for (i, j), value in entries.items()}

    def upper(entries: Sparse) -> Sparse:
        return {(i, j + size): value for (i, j), value in entries.items()}

    constant: Sparse = {(i, i): EPSILON for i in range(2 * size)}
    constant.update(upper(pencil.constant))
    constant.update(lower(pencil.constant))
    letters: dict[Letter, Sparse] = {}
    for letter, entries in pencil.letters.items():
        letters.setdefault(letter, {}).update(upper(entries))
        letters.setdefault(letter.reverse(), {}).update(lower(entries))
    return Pencil(
        types=pencil.types * 2,
        constant=constant,
        deterministic={m: {**upper(entries), **lower(entries)} for m, entries in pencil.deterministic.items()},
        letters=letters,
        low_rank={},
        output={i + size: value for i, value in pencil.output.items()},
        input=dict(pencil.input),
        offset=pencil.offset,
    )
