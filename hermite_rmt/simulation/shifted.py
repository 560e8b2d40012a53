"""Solves with G + gamma I, G a Gram matrix of which the lower triangle is filled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack

from hermite_rmt.simulation.checks import Array


class ShiftedSolver(Protocol):
    """The matrix M = G + gamma I, factored."""

    def solve(self, b: Array) -> Array:
        """Return M^{-1} b."""
        ...

    def trace_inverse(self) -> float:
        """Return tr M^{-1}."""
        ...


@dataclass(frozen=True, eq=False)
class CholeskySolver:
    """M = L L^T by its lower triangular factor; tr M^{-1} is the squared Frobenius norm of L^{-1}.

    Attributes
    ----------
    factor : (m, m) lower triangular, in Fortran order, zero above the diagonal
    """

    factor: Array

    @classmethod
    def of_gram(cls, gram: Array, gamma: float, overwrite: bool = False) -> CholeskySolver:
        """Factor gram + gamma I, of which the lower triangle is read; in place if `overwrite`."""
        shifted = gram if overwrite else np.array(gram, order="F")
        shifted[np.diag_indices(len(shifted))] += gamma
        factor, info = lapack.dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
        if info:
            raise np.linalg.LinAlgError(f"the Gram matrix plus gamma = {gamma:g} is not positive definite")
        return cls(factor)

    @classmethod
    def of_factor(cls, tall: Array, gamma: float) -> CholeskySolver:
        """Factor tall^T tall + gamma I by QR of `tall` above sqrt(gamma) I, without squaring its condition."""
        rows, m = tall.shape
        stacked = np.zeros((rows + m, m), order="F")
        stacked[:rows] = tall
        stacked[rows + np.arange(m), np.arange(m)] = math.sqrt(gamma)
        triangle = lapack.dgeqrf(stacked, overwrite_a=1)[0][:m]
        return cls(np.triu(triangle).T)

    def solve(self, b: Array) -> Array:
        """Return M^{-1} b."""
        return np.asarray(lapack.dpotrs(self.factor, b, lower=1)[0])

    def trace_inverse(self) -> float:
        """Return tr M^{-1}."""
        inverse, _ = lapack.dtrtri(self.factor, lower=1)
        return float(blas.dnrm2(inverse.ravel(order="K"))) ** 2


class TridiagonalSolver:
    """G = U T U^T with T tridiagonal, found once: each gamma then costs O(m^2) for U and O(m) for T.

    Parameters
    ----------
    gram : (m, m), m > 1, of which the lower triangle is read
    """

    def __init__(self, gram: Array) -> None:
        work, _ = lapack.dsytrd_lwork(len(gram), lower=1)
        reflectors, self._diagonal, self._beside, self._tau, _ = lapack.dsytrd(gram, lower=1, lwork=int(work))
        self._reflectors = np.asfortranarray(reflectors[1:, :-1])
        self._eigenvalues, _ = lapack.dsterf(self._diagonal, self._beside)

    def shifted(self, gamma: float) -> ShiftedTridiagonal:
        """Return the solver for G + gamma I."""
        return ShiftedTridiagonal(self, gamma)

    def rotate(self, b: Array, transpose: bool) -> Array:
        """Return U^T b or U b."""
        trans = "T" if transpose else "N"
        rest = b[1:, None]
        work = int(lapack.dormqr("L", trans, self._reflectors, self._tau, rest, -1)[1][0])
        rest = lapack.dormqr("L", trans, self._reflectors, self._tau, rest, work)[0]
        return np.concatenate([b[:1], rest[:, 0]])

    def solve(self, b: Array, gamma: float) -> Array:
        """Return (G + gamma I)^{-1} b."""
        rotated = self.rotate(b, transpose=True)
        _, _, solution, info = lapack.dptsv(self._diagonal + gamma, self._beside, rotated)
        if info:
            raise np.linalg.LinAlgError(f"the Gram matrix plus gamma = {gamma:g} is not positive definite")
        return self.rotate(solution, transpose=False)

    def trace_inverse(self, gamma: float) -> float:
        """Return tr (G + gamma I)^{-1}."""
        return float(np.sum(1.0 / (self._eigenvalues + gamma)))


@dataclass(frozen=True, eq=False)
class ShiftedTridiagonal:
    """G + gamma I with G tridiagonalised."""

    tridiagonal: TridiagonalSolver
    gamma: float

    def solve(self, b: Array) -> Array:
        """Return (G + gamma I)^{-1} b."""
        return self.tridiagonal.solve(b, self.gamma)

    def trace_inverse(self) -> float:
        """Return tr (G + gamma I)^{-1}."""
        return self.tridiagonal.trace_inverse(self.gamma)
