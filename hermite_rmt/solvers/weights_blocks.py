"""Block traces of the pencil of attention with given weights and token covariance, in double precision.

The deterministic blocks of the 3 x 3 pencil in (u, t, s), p x p each, are (derivations/15_any_weights.py)

    B = [[0, C^T, 0], [C, 0, 0], [0, 0, Sigma]],   C = a_1 Sigma^{1/2} M Sigma^{1/2}

and the self-consistent equations see them through X(g) = (B^-1 + g (x) I_p)^-1 for a symmetric 3 x 3 matrix g alone:
through the block traces <X_ij> = tr X_ij/p, the products <X_ia X_bj> that are their derivatives, and the same for a
vector in the place of the trace. Everything here is in the basis where Sigma is diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from hermite_rmt.solvers.linear import SingularError

Array = np.ndarray
BLOCKS = tuple((i, j) for i in range(3) for j in range(3))


@dataclass(frozen=True, eq=False)
class Forms:
    """What a functional L of p x p matrices (a normalised trace, a quadratic form) sees of X.

    Attributes
    ----------
    value : (3, 3) L(X_ij)
    products : (3, 3, 3, 3) L(X_ia X_bj) at [i, a, b, j]: dL(X)_ij = -sum_ab L(X_ia X_bj) dg_ab
    """

    value: Array
    products: Array

    def change(self, dg: Array) -> Array:
        """Return the derivative of `value` in the direction of a symmetric change of g."""
        return np.asarray(-np.einsum("iabj,ab->ij", self.products, dg))


@dataclass(frozen=True, eq=False)
class WeightBlocks:
    """The matrices C and Sigma, in the eigenbasis of Sigma.

    Attributes
    ----------
    C : (q, q) weights; the other p - q directions, where C vanishes and Sigma is 1, are left out
    sigma : (q,) eigenvalues of Sigma, positive
    size : p
    """

    C: Array
    sigma: Array
    size: int

    @classmethod
    def of(cls, C: Array) -> tuple[WeightBlocks, Array | None]:
        """Return the blocks for Sigma = I in the smallest space that holds C, and that space's basis (None: R^p).

        For C of rank r it has a dimension of 2 r at most, in place of p.
        """
        p = len(C)
        basis, sizes, _ = scipy.linalg.svd(np.hstack([C, C.T]), full_matrices=False)
        basis = basis[:, sizes > p * np.finfo(float).eps * sizes[0]]
        if basis.shape[1] > p // 2:
            return cls(C, np.ones(p), p), None
        return cls(basis.T @ C @ basis, np.ones(basis.shape[1]), p), basis

    @property
    def mean_variance(self) -> float:
        """The normalised trace of Sigma."""
        return float(np.sum(self.sigma) + self.size - len(self.sigma)) / self.size

    def at(self, g: Array) -> BlockInverse:
        """Return X(g).

        Raises
        ------
        SingularError
            If g is not of the signs it has on the physical branch.
        """
        return BlockInverse(self, g)


class BlockInverse:
    """X(g) = (B^-1 + g (x) I)^-1, by one Cholesky factor of order q.

    s is eliminated first, which leaves h_ij = g_ij - g_is g_js T, T = Sigma (1 + g_ss Sigma)^-1, on u and t; then,
    with P = 1 + h_ut C,

        X_tt = -C R C^T,  X_ut = h_uu^-1 P R C^T,  X_uu = h_uu^-1 - h_uu^-1 P R P^T h_uu^-1,
        R = (P^T h_uu^-1 P - C^T h_tt C)^-1,  positive definite since h_uu > 0 > h_tt.
    """

    def __init__(self, blocks: WeightBlocks, g: Array) -> None:
        self._blocks = blocks
        C, sigma = blocks.C, blocks.sigma
        q = len(sigma)
        if not (1 + g[2, 2] * sigma > 0).all():
            raise SingularError("1 + g_ss Sigma is not positive")
        T = sigma / (1 + g[2, 2] * sigma)
        uu, ut, tt = (g[i, j] - g[i, 2] * g[j, 2] * T for i, j in ((0, 0), (0, 1), (1, 1)))
        if not ((uu > 0).all() and (tt < 0).all()):
            raise SingularError("the (u, t) part of g is not of the signs of the physical branch")
        P = ut[:, None] * C
        P[np.diag_indices(q)] += 1
        stacked = np.vstack([P / np.sqrt(uu)[:, None], C * np.sqrt(-tt)[:, None]])
        try:
            factor = scipy.linalg.cholesky(stacked.T @ stacked, lower=True, overwrite_a=True)
        except scipy.linalg.LinAlgError as error:
            raise SingularError("a matrix that is positive definite on the physical branch is not") from error
        half_C = scipy.linalg.solve_triangular(factor, C.T, lower=True)  # R = half^T half
        half_P = scipy.linalg.solve_triangular(factor, (P / uu[:, None]).T, lower=True)
        X = np.empty((3, 3, q, q))
        X[1, 1] = -half_C.T @ half_C
        X[0, 1] = half_P.T @ half_C
        X[0, 0] = -half_P.T @ half_P
        X[0, 0][np.diag_indices(q)] += 1 / uu
        X[1, 0] = X[0, 1].T
        beside = [g[0, 2] * T, g[1, 2] * T]
        for i in range(2):
            X[i, 2] = -(X[i, 0] * beside[0] + X[i, 1] * beside[1])
            X[2, i] = X[i, 2].T
        X[2, 2] = -(beside[0][:, None] * X[0, 2] + beside[1][:, None] * X[1, 2])
        X[2, 2][np.diag_indices(q)] += T
        self._X = X
        self._left_out = (blocks.size - q, 1 / (1 + g[2, 2]))

    def trace(self, inverse_covariance: bool = False) -> Forms:
        """Return the normalised block traces, of X or of Sigma^-1 X (the mean over directions of Sigma^-1/2 v)."""
        q, p = len(self._blocks.sigma), self._blocks.size
        X = self._X
        left = X / self._blocks.sigma[:, None] if inverse_covariance else X
        value = np.einsum("ijkk->ij", left) / p
        flat, other = left.reshape(9, q * q), X.swapaxes(2, 3).reshape(9, q * q)
        products = (flat @ other.T).reshape(3, 3, 3, 3) / p
        count, rest = self._left_out
        value[2, 2] += count * rest / p
        products[2, 2, 2, 2] += count * rest**2 / p
        return Forms(value, products)

    def form(self, vector: Array, beyond: float = 0.0) -> Forms:
        """Return the quadratic forms v^T X_ij v.

        Parameters
        ----------
        vector : (q,) coordinates of v
        beyond : squared norm of the part of v in the directions left out
        """
        images = self._X @ vector
        value, products = images @ vector, np.einsum("aik,bjk->iabj", images, images)
        _, rest = self._left_out
        value[2, 2] += beyond * rest
        products[2, 2, 2, 2] += beyond * rest**2
        return Forms(value, products)
