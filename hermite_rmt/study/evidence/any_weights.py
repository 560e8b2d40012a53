"""The limit for one given weight matrix of any kind, in place of identity plus low rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.checks import Array

ORDER = (
    40  # Hermite coefficients kept in sum a_k^2 tau^k; |tau| <= 1, and what is left out is bounded by the rest of nu
)
DAMPED, STEPS = 8, 20
TOLERANCE = 1e-7  # of a Newton step: the next would be its square
UPPER = np.triu_indices(3)
BASIS = np.zeros((6, 3, 3))  # of the symmetric matrices, in the order of UPPER
for _k, (_i, _j) in enumerate(zip(*UPPER, strict=True)):
    BASIS[_k, _i, _j] = BASIS[_k, _j, _i] = 1.0
DERIVATIVE = 1e-4  # relative step in gamma of the derivative


@dataclass(frozen=True)
class WeightsLimit:
    """Trace m, quadratic form q and error E for one signal."""

    trace: float
    quadratic_form: float
    error: float


class AnyWeights:
    r"""Attention with scores X^T W X/(s sqrt p), s = sqrt(tr W W^T/p), for a matrix W that is not near low rank.

    The kernel is K = a_1 X^T M X/p - a_1 (tr M/p) I + d I + H, M = W/s, where H is no longer symmetric:
    E H_ij^2 = (nu - a_1^2)/p and E H_ij H_ji = (1/p) sum_{k>=2} a_k^2 tau^k, tau = tr M^2/p. In the 3 x 3 form of
    Proposition 1, Phi holds M and M^T in its (u,t) blocks, a block trace over p replaces it, and

        g^-1 = L + c X(g) - c [[(nu - a_1^2) g_tt, eps g_ut], [eps g_ut, (nu - a_1^2) g_uu]],  eps = sum a_k^2 tau^k

    with X the block trace of (B^-1 + g (x) I)^-1, B = [[0, a_1 M^T], [a_1 M, 0]] + I_s, whose s block is eliminated
    by hand. Followed from a large ridge downwards by damped iteration (the branch gamma m -> 1), then by Newton.

    Parameters
    ----------
    f : centred nonlinearity
    W : (p, p) weights
    diagonal : the constant d

    >>> f = Nonlinearity("tanh(x)")
    >>> (limit,) = AnyWeights(f, np.eye(8)).limit(0.5, 0.1)  # the identity: Proposition 1
    >>> from hermite_rmt import Attention
    >>> abs(limit.error / Attention(f).error(0.5, 0.1) - 1) < 1e-6
    True
    """

    def __init__(self, f: Nonlinearity, W: Array, diagonal: float = 0.0) -> None:
        p = len(W)
        self._M = np.asarray(W) / (np.linalg.norm(W) / np.sqrt(p))
        symmetry = float(np.sum(self._M * self._M.T)) / p
        coefficients = np.asarray(f.coefficients(ORDER), dtype=float)
        self._a1 = float(coefficients[1])
        self._eta = max(float(f.nu()) - self._a1**2, 0.0)
        self._mixed = float(np.sum(coefficients[2:] ** 2 * symmetry ** np.arange(2, ORDER + 1)))
        self._kappa = diagonal - self._a1 * float(np.trace(self._M)) / p

    def limit(self, c: float, gamma: float, mus: Sequence[Array | None] = (None,)) -> list[WeightsLimit]:
        """Return the limit at one point, for several signals.

        Parameters
        ----------
        mus : (p,) signals, or None for pure noise

        Raises
        ------
        ArithmeticError
            If the iteration does not converge.
        """
        g, slope = self._solve(c, gamma)
        step = DERIVATIVE * gamma
        found = []
        for mu in mus:
            below, q, above = (self._form(g + k * step * slope, c, mu) for k in (-1, 0, 1))
            found.append(WeightsLimit(float(g[0, 0]), q, -(gamma**2) * (above - below) / (2 * step)))
        return found

    def _solve(self, c: float, gamma: float) -> tuple[Array, Array]:
        """Return g and its derivative with respect to gamma."""
        ridge = max(gamma, 10 * (self._eta + self._a1**2) * max(1.0, 1 / c**2))
        g: Array = np.asarray(np.linalg.inv(self._constant(c, ridge) + c * np.diag([0.0, 0.0, 1.0])), dtype=float)
        while True:
            for _ in range(DAMPED):
                g = np.asarray((g + self._map(c, ridge, g)) / 2)
            if ridge <= gamma:
                return self._newton(c, gamma, g)
            ridge = max(gamma, ridge / 4)

    def _newton(self, c: float, gamma: float, g: Array) -> tuple[Array, Array]:
        for _ in range(STEPS):
            image = self._map(c, gamma, g)
            jacobian = np.eye(6)  # of g - map(g)
            for k, direction in enumerate(BASIS):
                step = 1e-6 * np.abs(g).max()
                jacobian[:, k] -= ((self._map(c, gamma, g + step * direction) - image) / step)[UPPER]
            change = np.linalg.solve(jacobian, (image - g)[UPPER])
            g = g + np.tensordot(change, BASIS, 1)
            if np.abs(change).max() < TOLERANCE * np.abs(g).max():
                # the ridge enters the map through one entry of its inverse alone
                slope = np.linalg.solve(jacobian, -np.outer(image[:, 0], image[0])[UPPER])
                return g, np.tensordot(slope, BASIS, 1)
        raise ArithmeticError(f"any weights: no convergence at c = {c}, gamma = {gamma}")

    def _map(self, c: float, gamma: float, g: Array) -> Array:
        inverse = self._constant(c, gamma) + c * self._block_trace(g) - self._covariance(c, g)
        return np.asarray(np.linalg.inv(inverse), dtype=float)

    def _constant(self, c: float, gamma: float) -> Array:
        return np.array([[gamma, c * self._kappa, 0.0], [c * self._kappa, 0.0, -c], [0.0, -c, 0.0]])

    def _covariance(self, c: float, g: Array) -> Array:
        out = np.zeros((3, 3))
        out[0, 0], out[1, 1] = c * self._eta * g[1, 1], c * self._eta * g[0, 0]
        out[0, 1] = out[1, 0] = c * self._mixed * g[0, 1]
        return out

    def _inner(self, g: Array) -> tuple[Array, Array, float]:
        """Return B (I + h B)^-1 on the (u, t) blocks, h = g with s eliminated, and what restores s."""
        rest = 1 + g[2, 2]
        h = g[:2, :2] - np.outer(g[:2, 2], g[2, :2]) / rest
        M = self._a1 * self._M
        identity = np.eye(len(M))
        system = np.block([[identity + h[0, 1] * M, h[0, 0] * M.T], [h[1, 1] * M, identity + h[1, 0] * M.T]])
        zero = np.zeros_like(M)
        B = np.block([[zero, M.T], [M, zero]])
        return scipy.linalg.solve(system.T, B, overwrite_a=True, check_finite=False).T, g[:2, 2], rest

    def _restore(self, reduced: Array, beside: Array, rest: float) -> Array:
        """Return the 3 x 3 matrix from its (u, t) part."""
        coupling = -reduced @ beside / rest
        corner = 1 / rest + beside @ reduced @ beside / rest**2
        return np.block([[reduced, coupling[:, None]], [coupling[None, :], np.array([[corner]])]])

    def _block_trace(self, g: Array) -> Array:
        X, beside, rest = self._inner(g)
        p = len(self._M)
        reduced = np.array([[np.trace(X[i : i + p, j : j + p]) / p for j in (0, p)] for i in (0, p)])
        return self._restore((reduced + reduced.T) / 2, beside, rest)

    def _form(self, g: Array, c: float, mu: Array | None) -> float:
        if mu is None:
            return float(g[0, 0])
        X, beside, rest = self._inner(g)
        p = len(self._M)
        reduced = np.array([[mu @ X[i : i + p, j : j + p] @ mu for j in (0, p)] for i in (0, p)])
        # the s block of (B^-1 + g)^-1 carries |mu|^2 instead of a trace of 1
        full = self._restore(reduced, beside, rest)
        full[2, 2] += (float(mu @ mu) - 1) / rest
        return float(np.linalg.inv(np.linalg.inv(g) + full)[0, 0])
