"""Attention on correlated tokens: the 3 x 3 equations at every frequency, on a grid of frequencies, in double.

Tokens Z = Z_0 T^{1/2} with T Toeplitz of symbol t(omega). Asymptotically all blocks of the pencil in (u, t, s) are
functions of the frequency (Szego); with <.> the mean over omega (derivations/16_correlated_tokens.py)

    g(omega)^-1 = [[gamma, c kappa, 0], [c kappa, 0, -c], [0, -c, 0]] + t A - c sum_r phi_r swap <phi_r g>,
    A = Phi (1 + <t g> Phi/c)^-1,   Phi = [[0, c a_1, 0], [c a_1, 0, 0], [0, 0, c]],

where swap exchanges u and t and leaves s out, and sum_r phi_r(omega) phi_r(omega') = sum_{k>=2} a_k^2 t_k(omega)
t_k(omega') with t_k the symbol of the entrywise power T^{.k}. The unknowns are G = <t g> and the u, t parts of the
<phi_r g>.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hermite_rmt.solvers.linear import SingularError
from hermite_rmt.solvers.ridge_path import Array, Linearised, PathPoint

UPPER = np.triu_indices(3)
ROWS, COLUMNS = (np.array([0, 0, 1]), np.array([0, 1, 1]))  # uu, ut, tt: what the noise sees of g
SWAPPED = [2, 1, 0]  # their order under the exchange of u and t
POWERS = np.array([[1.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])  # of gamma, for g as gamma grows
PARTS = [[0, 1], [1, 2]]  # where uu, ut, tt stand in the u, t block


@dataclass(frozen=True, eq=False)
class CorrelatedSystem:
    """The equations at given c, for `ridge_path`.

    Attributes
    ----------
    c, a1 : numbers
    symbol, kappa : (N,) t and kappa at the frequencies
    features : (R, N) the phi_r
    """

    c: float
    a1: float
    symbol: Array
    kappa: Array
    features: Array

    @cached_property
    def _weights(self) -> Array:
        """(R + 1, N): t, then the features; the unknowns are means with these weights."""
        return np.vstack([self.symbol, self.features])

    @cached_property
    def _pairs(self) -> Array:
        weights = self._weights
        return np.asarray((weights[:, None] * weights[None]).reshape(len(weights) ** 2, -1) / len(self.symbol))

    @cached_property
    def powers(self) -> Array:
        """(6 + 3 R,) powers of gamma of the unknowns."""
        return self._packed(np.broadcast_to(POWERS, (len(self._weights), 3, 3)))

    def start(self) -> Array:
        """Return the scaled unknowns for gamma -> infinity, where g -> [[1, 0, 0], [0, -t/c, -1/c], [0, -1/c, 0]]."""
        g = np.zeros((len(self.symbol), 3, 3))
        g[:, 0, 0] = 1.0
        g[:, 1, 1] = -self.symbol / self.c
        g[:, 1, 2] = g[:, 2, 1] = -1 / self.c
        return self._packed(self._means(g))

    def linearise(self, x: Array, gamma: float) -> Linearised:
        """Return the map at the unknowns, its Jacobian and what g(omega) is; see `ridge_path.System`."""
        c, (count, size) = self.c, self._weights.shape
        G, noise = self._unpacked(x)
        A = self._response(G)
        inverse = np.zeros((size, 3, 3))
        inverse[:, 0, 0] = gamma
        inverse[:, 0, 1] = inverse[:, 1, 0] = c * self.kappa
        inverse[:, 1, 2] = inverse[:, 2, 1] = -c
        inverse += self.symbol[:, None, None] * A
        inverse[:, :2, :2] -= c * (self.features.T @ noise[:, SWAPPED])[:, PARTS]
        g = np.linalg.inv(inverse)
        if not ((g[:, 0, 0] > 0).all() and (g[:, 1, 1] < 0).all()):
            raise SingularError("g_uu is not positive or g_tt not negative")
        image = self._packed(self._means(g))
        # <w_j g_ia w_l g_bm>: how means of g change with a matrix that stands beside the weight l
        products = (g[:, :, :, None, None] * g[:, None, None, :, :]).reshape(size, 81)
        changes = (self._pairs @ products).reshape(count, count, 3, 3, 3, 3)
        columns = [np.einsum("jiabm,ab->jim", changes[:, 0], A @ E @ A / c) for E in _symmetric(3, UPPER)]
        for r in range(1, count):
            columns += [
                c * np.einsum("jiabm,ab->jim", changes[:, r, :, :2, :2], E[::-1, ::-1])
                for E in _symmetric(2, (ROWS, COLUMNS))
            ]
        jacobian = np.eye(len(x)) - np.column_stack([self._packed(column) for column in columns])
        forcing = -self._packed(self._means(np.einsum("wi,wj->wij", g[:, :, 0], g[:, 0, :])))
        return Linearised(image, jacobian, forcing, g)

    def _response(self, G: Array) -> Array:
        Phi = self.c * np.array([[0.0, self.a1, 0.0], [self.a1, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(Phi @ np.linalg.inv(np.eye(3) + G @ Phi / self.c))

    def _means(self, g: Array) -> Array:
        return np.asarray(np.einsum("jw,wim->jim", self._weights, g) / len(self.symbol))

    def _packed(self, means: Array) -> Array:
        return np.concatenate([means[0][UPPER], means[1:, ROWS, COLUMNS].ravel()])

    def _unpacked(self, x: Array) -> tuple[Array, Array]:
        G = np.zeros((3, 3))
        G[UPPER] = x[:6]
        return G + G.T - np.diag(np.diag(G)), x[6:].reshape(-1, 3)

    def change(self, point: PathPoint) -> Array:
        """Return dg(omega)/dgamma, (N, 3, 3), at a solution."""
        g, c = point.inner, self.c
        G, _ = self._unpacked(point.x)
        dG, dnoise = self._unpacked(point.slope)
        A = self._response(G)
        moved = -self.symbol[:, None, None] * (A @ dG @ A) / c
        moved[:, 0, 0] += 1.0
        moved[:, :2, :2] -= c * (self.features.T @ dnoise[:, SWAPPED])[:, PARTS]
        return np.asarray(-(g @ moved @ g))

    def observables(self, point: PathPoint, gram: Array, labels: Array) -> tuple[float, float, float]:
        """Return m, q = y^T Q y/n and E = -gamma^2 dq/dgamma.

        Parameters
        ----------
        gram : (3, 3) inner products of mu, w_K, w_Q
        labels : (N,) the labels' spectral measure at the frequencies, of sum 1
        """
        g, dg = point.inner, self.change(point)
        trace = float(g[:, 0, 0].mean())
        y, dy = (np.tensordot(labels, matrices, 1) for matrices in (g, dg))
        if not gram[0, 0]:
            return trace, float(y[0, 0]), -(point.gamma**2) * float(dy[0, 0])
        G, _ = self._unpacked(point.x)
        dG, _ = self._unpacked(point.slope)
        inverse = np.linalg.inv(y)
        S, dS = _signal(self.c, self.a1, gram, G, dG)
        response = np.linalg.inv(inverse + S / self.c)
        column = response[:, 0]
        moved = -inverse @ dy @ inverse + dS / self.c
        return trace, float(response[0, 0]), point.gamma**2 * float(column @ moved @ column)


def _signal(c: float, a1: float, gram: Array, G: Array, dG: Array) -> tuple[Array, Array]:
    """Return S = (1 (x) mu)^T Phi_w (1 + (G (x) 1) Phi_w/c)^-1 (1 (x) mu) of Theorem 1, and its change with G."""
    vectors = _vectors(gram)
    mu, w_K, w_Q = vectors
    eye = np.eye(3)
    Phi = np.kron(c * np.array([[0.0, a1, 0.0], [a1, 0.0, 0.0], [0.0, 0.0, 1.0]]), eye)
    mixed = np.zeros((3, 3, 3, 3))
    mixed[0, :, 1], mixed[1, :, 0] = c * a1 * np.outer(w_Q, w_K), c * a1 * np.outer(w_K, w_Q)
    Phi = Phi + mixed.reshape(9, 9)
    response = Phi @ np.linalg.inv(np.eye(9) + np.kron(G, eye) @ Phi / c)
    signal = np.kron(eye, mu[:, None])
    return signal.T @ response @ signal, -signal.T @ response @ np.kron(dG, eye) @ response @ signal / c


def _vectors(gram: Array) -> Array:
    """Return three vectors of R^3 with these inner products."""
    values, directions = np.linalg.eigh(gram)
    return np.asarray(directions * np.sqrt(np.maximum(values, 0.0)))


def _symmetric(size: int, places: tuple[Array, Array]) -> Array:
    """Return the symmetric matrices with one at a place and its mirror image, in order."""
    basis = np.zeros((len(places[0]), size, size))
    for k, (i, j) in enumerate(zip(*places, strict=True)):
        basis[k, i, j] = basis[k, j, i] = 1.0
    return basis
