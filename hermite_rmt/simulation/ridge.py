"""One ridge problem a gamma through the smaller Gram matrix of its features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack

from hermite_rmt.simulation.checks import Array


@dataclass(frozen=True, eq=False)
class RidgeValues:
    """What one set of features gives at each gamma.

    Attributes
    ----------
    error : E = (1/n) |y - A^T w*|^2, one entry a gamma
    quadratic_form : y^T Q y / n
    trace : tr Q / n
    """

    error: Array
    quadratic_form: Array
    trace: Array


class ShiftedSolver(Protocol):
    """The matrix G + gamma I, factored."""

    def solve(self, b: Array) -> Array:
        """Return (G + gamma I)^{-1} b."""
        ...

    def trace_inverse(self) -> float:
        """Return tr (G + gamma I)^{-1}."""
        ...


class CholeskySolver:
    """G + gamma I = L L^T; the trace of the inverse is the squared Frobenius norm of L^{-1}."""

    def __init__(self, gram: Array, gamma: float) -> None:
        shifted = np.array(gram, order="F")
        shifted[np.diag_indices(len(shifted))] += gamma
        self._factor, info = lapack.dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
        if info > 0:
            raise np.linalg.LinAlgError("not positive definite")

    def solve(self, b: Array) -> Array:
        """Return (G + gamma I)^{-1} b."""
        solution: Array = lapack.dpotrs(self._factor, b, lower=1)[0]
        return solution

    def trace_inverse(self) -> float:
        """Return tr (G + gamma I)^{-1}."""
        inverse, _ = lapack.dtrtri(self._factor, lower=1)
        return float(np.vdot(inverse, inverse))


def ridge_values(A: Array, y: Array, gammas: Sequence[float]) -> RidgeValues:
    """Return error, quadratic form and trace of Q(gamma) = (A^T A / n + gamma I)^{-1} at each gamma.

    With w = w* and s = y - A^T w* = gamma Q y: error = |s|^2/n, and quadratic form = error/gamma + |w|^2, a sum of
    positive terms.

    Parameters
    ----------
    A : (p, n) features
    y : (n,) labels
    gammas : positive numbers
    """
    p, n = A.shape
    dual = n <= p
    # the transpose of a C-ordered A is what Fortran sees: A^T A = (A^T)(A^T)^T
    gram = blas.dsyrk(1.0 / n, A.T, trans=0 if dual else 1, lower=1)
    rows = []
    for gamma in gammas:
        solver = CholeskySolver(gram, gamma)
        s, w = _residual(A, y, gamma, solver)
        error = float(s @ s) / n
        trace = solver.trace_inverse() + (0 if dual else (n - p) / gamma)
        rows.append((error, error / gamma + float(w @ w), trace / n))
    return RidgeValues(*np.array(rows).T)


def _residual(A: Array, y: Array, gamma: float, solver: ShiftedSolver) -> tuple[Array, Array]:
    """Return s = y - A^T w* and w*, with one step of refinement through A itself."""
    p, n = A.shape
    if n <= p:
        u = solver.solve(y)
        u += solver.solve(y - A.T @ (A @ u) / n - gamma * u)
        return gamma * u, A @ u / n
    w = solver.solve(A @ y / n)
    w += solver.solve(A @ (y - A.T @ w) / n - gamma * w)
    return y - A.T @ w, w
