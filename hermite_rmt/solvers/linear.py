"""Linear systems of multiprecision numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


class SingularError(ArithmeticError):
    """The matrix is singular."""


def eliminate(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve ``matrix x = right`` for object arrays of mpf or mpc: Gaussian elimination, scaled partial pivoting.

    Zeros are skipped, which matters for Jacobians of polynomial systems.

    Raises
    ------
    SingularError
        If the matrix is singular.

    >>> from hermite_rmt.core.contexts import local_context
    >>> one = local_context(100).mpf(1)
    >>> eliminate(np.array([[0, 2], [4, 0]], dtype=object) * one, np.array([6, 8], dtype=object) * one)
    array([mpf('2.0'), mpf('3.0')], dtype=object)
    """
    size = len(right)
    rows = [[*row, entry] for row, entry in zip(matrix.tolist(), right.tolist(), strict=True)]
    weights = [max(abs(value) for value in row[:-1]) for row in rows]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]) / weights[i] if weights[i] else -1)
        if not rows[pivot][k]:
            raise SingularError("the matrix is singular")
        rows[k], rows[pivot], weights[k], weights[pivot] = rows[pivot], rows[k], weights[pivot], weights[k]
        head = rows[k]
        columns = [j for j in range(k + 1, size + 1) if head[j]]
        for i in range(k + 1, size):
            row = rows[i]
            if row[k]:
                factor = row[k] / head[k]
                for j in columns:
                    row[j] = row[j] - factor * head[j]
    solution: list[Any] = [None] * size
    for k in reversed(range(size)):
        total = rows[k][size]
        for j in range(k + 1, size):
            if rows[k][j]:
                total = total - rows[k][j] * solution[j]
        solution[k] = total / rows[k][k]
    result = np.empty(size, dtype=object)
    result[:] = solution
    return result
