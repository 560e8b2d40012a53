"""What expectation makes of a scalar matrix between the random parts of two pencils.

With L_G = sum over letters x of A_x (x) x, and M block-scalar, E[L_G M L_G] and E[L_G^* M L_G] are block-scalar too;
each is a list of terms (i, j, k, h, factor): the entry (i, j) is the sum of factor <M_kh>, <> a normalised trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from hermite_rmt.equivalents.nodes import Letter
from hermite_rmt.equivalents.pencil import Pencil, Sparse

Couplings = tuple[tuple[int, int, int, int, Any], ...]


def covariance(first: Letter, second: Letter) -> Any:
    """Return the factor of E[first M second]: times <M>, and the relative size of M where entries are O(1)."""
    left, right = first.left, second.left
    common = left.covariance_with(right)
    if common == 0:
        return sympy.S.Zero
    return common * (left.crossed if first.transposed != second.transposed else left.direct)


def covariance_map(
    left: Mapping[Letter, Sparse], right: Mapping[Letter, Sparse], types: Sequence[Any], ratios: Mapping[Any, Any]
) -> Couplings:
    """Return the terms of E[(sum of A_x (x) x) M (sum of B_y (x) y)].

    Parameters
    ----------
    left, right : {x: A_x} and {y: B_y}
    types : the dimension of each block
    ratios : each dimension over the base dimension
    """
    total: dict[tuple[int, int, int, int], Any] = {}
    for first, before in left.items():
        for second, after in right.items():
            common = covariance(first, second)
            if common == 0:
                continue
            if first.left.entries_shrink is False:
                common *= ratios[first.cols]
            for (i, k), a in before.items():
                for (h, j), b in after.items():
                    if types[i] == types[j]:
                        key = (i, j, k, h)
                        total[key] = total.get(key, sympy.S.Zero) + a * b * common
    return tuple((*key, value) for key, entry in total.items() if (value := sympy.cancel(entry)) != 0)


def positive_map(pencil: Pencil, ratios: Mapping[Any, Any]) -> Couplings:
    """Return the terms of M -> E[L_G^* M L_G], a positive map; the coefficients of the pencil are real."""
    adjoint = {
        letter.reverse(): {(j, i): value for (i, j), value in entries.items()}
        for letter, entries in pencil.letters.items()
    }
    return covariance_map(adjoint, pencil.letters, pencil.types, ratios)


def covariances(pencil: Pencil) -> Iterator[list[list[Any]]]:
    """Yield the matrices that must be positive semidefinite for the letters to exist.

    One for each jointly Gaussian family; the variance of each other letter; the correlation of an entry with the
    transposed one, where it is a parameter.
    """
    seen: set[Any] = set()
    for matrix in (letter.left for letter in pencil.letters):
        key = (matrix.family[0], matrix.family[2]) if matrix.family else matrix
        if key in seen:
            continue
        seen.add(key)
        yield matrix.family[2].tolist() if matrix.family else [[matrix.variance]]
        if matrix.direct not in (0, 1):
            yield [[1, matrix.direct], [matrix.direct, 1]]
