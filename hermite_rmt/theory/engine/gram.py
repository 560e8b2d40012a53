"""Overlaps of deterministic vectors, as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.theory.engine.values import Number, read_number

TOLERANCE = 1e-12  # a float Gram matrix may have eigenvalues down to this much of its largest, negative


def gram_values(gram: Mapping[Any, Any], vectors: Sequence[Vector], balls: bool = False) -> dict[Any, Number]:
    """Return the overlap symbols of `vectors` with their values; ``balls`` lets them be `Ball`s.

    Raises
    ------
    ValueError
        For a pair of differently sized vectors, contradicting values, or a matrix that is not positive
        semidefinite.
    TypeError
        If `gram` is not a mapping of pairs of vectors.
    """
    if not isinstance(gram, Mapping):
        raise TypeError(f"gram: got {gram!r}; allowed: a mapping {{(vector, vector): overlap}}")
    one = read_number(1, "gram")
    result = {overlap(v, v): one for v in vectors if v.delocalised}
    for pair, value in gram.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(v, Vector) for v in pair)):
            raise TypeError(f"gram: got the key {pair!r}; allowed: a pair of vectors")
        left, right = pair
        if left.shape != right.shape:
            raise ValueError(f"gram: {left} and {right} have dimensions {left.shape[0]} and {right.shape[0]}")
        number = read_number(value, f"gram[{left}, {right}]", balls)
        if number.imag is not None:
            raise ValueError(f"gram[{left}, {right}]: got {value}; allowed: a real number")
        symbol = overlap(left, right)
        other = gram.get((right, left))
        if other is not None and float(read_number(other, "gram", balls).real) != float(number.real):
            raise ValueError(f"gram: <{left},{right}> is given twice, as {value} and {other}")
        result[symbol] = number
    every = sorted({*vectors, *(v for pair in gram for v in pair)}, key=str)
    for dimension in dict.fromkeys(v.shape[0] for v in every):
        _require_semidefinite([v for v in every if v.shape[0] == dimension], result)
    return result


def _require_semidefinite(vectors: Sequence[Vector], values: Mapping[Any, Number]) -> None:
    if any(overlap(a, b) not in values for a in vectors for b in vectors):
        return  # whether the missing ones are needed is seen later
    matrix = np.array([[float(values[overlap(a, b)].real) for b in vectors] for a in vectors])
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -TOLERANCE * max(eigenvalues[-1], 0.0) or eigenvalues[-1] < 0:
        raise ValueError(
            f"gram: the overlaps of {', '.join(map(str, vectors))} have the eigenvalue {eigenvalues[0]:.3g}; "
            "allowed: the Gram matrix of vectors (positive semidefinite)"
        )
