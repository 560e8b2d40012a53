"""Ridge regression of the labels on given features: error, quadratic form and trace at several gammas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.products import gram_of_columns, gram_of_rows, times, transposed_times
from hermite_rmt.simulation.shifted import CholeskySolver, ShiftedSolver, TridiagonalSolver

#: From this many gammas on, one tridiagonalisation costs less than a Cholesky factor a gamma (see benchmarks/).
MANY_GAMMAS = 4

#: Below this multiple of the Gram matrix's largest entry, gamma drowns in the matrix's rounding errors.
SMALL_GAMMA = 1e-9


@dataclass(frozen=True, eq=False)
class RidgeValues:
    """What one set of features gives, one entry a gamma.

    Attributes
    ----------
    error : E = (1/n) |y - A^T w*|^2
    quadratic_form : y^T Q y / n
    trace : tr Q / n
    """

    error: Array
    quadratic_form: Array
    trace: Array


def ridge_values(A: Array, y: Array, gammas: Sequence[float]) -> RidgeValues:
    """Return error, quadratic form and trace of Q(gamma) = (A^T A / n + gamma I)^{-1} at each gamma.

    Through the smaller of A^T A and A A^T. With w = w* and s = y - A^T w* = gamma Q y, the error is |s|^2/n and the
    quadratic form error/gamma + |w|^2: sums of positive terms, so nothing cancels.

    Parameters
    ----------
    A : (p, n) features
    y : (n,) labels
    gammas : positive numbers
    """
    p, n = A.shape
    gram = gram_of_columns(A, 1.0 / n) if n <= p else gram_of_rows(A, 1.0 / n)
    smallest = SMALL_GAMMA * float(np.diag(gram).max())
    ordinary = [gamma for gamma in gammas if gamma > smallest]
    tridiagonal = TridiagonalSolver(gram) if len(ordinary) >= MANY_GAMMAS and len(gram) > 1 else None
    rows = []
    for index, gamma in enumerate(gammas):
        solver: ShiftedSolver
        if gamma <= smallest:
            solver = CholeskySolver.of_factor((A if n <= p else A.T) / math.sqrt(n), gamma)
        elif tridiagonal is not None:
            solver = tridiagonal.shifted(gamma)
        else:
            solver = CholeskySolver.of_gram(gram, gamma, overwrite=index == len(gammas) - 1)
        s, w = _residual(A, y, gamma, solver)
        error = float(s @ s) / n
        trace = solver.trace_inverse() + max(n - p, 0) / gamma
        rows.append((error, error / gamma + float(w @ w), trace / n))
    return RidgeValues(*np.array(rows).T)


def _residual(A: Array, y: Array, gamma: float, solver: ShiftedSolver) -> tuple[Array, Array]:
    """Return s = y - A^T w* and w*, with one step of refinement through A itself.

    The Gram matrix has lost what lies below its rounding errors; A has not (corrected seminormal equations,
    Bjorck 1987).
    """
    p, n = A.shape
    if n <= p:
        u = solver.solve(y)
        u = u + solver.solve(y - transposed_times(A, times(A, u)) / n - gamma * u)
        return gamma * u, times(A, u) / n
    w = solver.solve(times(A, y) / n)
    w = w + solver.solve(times(A, y - transposed_times(A, w)) / n - gamma * w)
    return y - transposed_times(A, w), w
