"""Attention with given weights: the 3 x 3 equations, Newton's method on them, and the path that selects the branch.

With X(g) of `weights_blocks`, the symmetric 3 x 3 unknown g in (u, t, s) solves (derivations/15_any_weights.py)

    g^-1 = [[gamma, c kappa, 0], [c kappa, 0, -c], [0, -c, 0]] + c <X(g)>
           - c [[eta g_tt, eps g_ut, 0], [eps g_ut, eta g_uu, 0], [0, 0, 0]]

eta = sum_{k>=2} a_k^2 and eps = sum_{k>=2} a_k^2 tau^k. Its branch has gamma g_uu -> 1 as gamma grows. There,
in the coordinates scaled by sqrt(gamma) along u, g -> [[1, 0, 0], [0, -tr Sigma/(c p), -1/c], [0, -1/c, 0]], and from
there it is followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hermite_rmt.solvers.linear import SingularError
from hermite_rmt.solvers.ridge_path import Array, Linearised, PathPoint
from hermite_rmt.solvers.weights_blocks import Forms, WeightBlocks

UPPER = np.triu_indices(3)
DIAGONAL = [0, 3]  # g_uu and g_tt among them
BASIS = np.zeros((6, 3, 3))  # of the symmetric matrices, in the order of UPPER
for _k, (_i, _j) in enumerate(zip(*UPPER, strict=True)):
    BASIS[_k, _i, _j] = BASIS[_k, _j, _i] = 1.0
POWERS = np.array([[1.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])  # of gamma, for g as gamma grows
SMALL_AMPLITUDE = 0.05  # of f, relative to sqrt(gamma), where the path starts


@dataclass(frozen=True)
class Limits:
    """What the equations know besides the blocks: c, kappa = diagonal + skip - a_1 tr C/p, eta and eps."""

    c: float
    kappa: float
    eta: float
    eps: float


@dataclass(frozen=True, eq=False)
class WeightsSystem:
    """The equations for g, packed as its upper triangle, for `ridge_path`."""

    blocks: WeightBlocks
    limits: Limits

    @property
    def powers(self) -> Array:
        """(6,) powers of gamma of the unknowns."""
        return np.asarray(POWERS[UPPER])

    @property
    def largest(self) -> float:
        """A ridge that is large for these weights."""
        limits = self.limits
        energy = limits.eta + float(np.sum(self.blocks.C**2)) / self.blocks.size + limits.kappa**2
        return energy * max(1.0, limits.c**-2) / SMALL_AMPLITUDE**2

    def start(self) -> Array:
        """Return the scaled unknowns for gamma -> infinity."""
        c = self.limits.c
        scaled = np.array([[1.0, 0.0, 0.0], [0.0, -self.blocks.mean_variance / c, -1 / c], [0.0, -1 / c, 0.0]])
        return np.asarray(scaled[UPPER])

    def linearise(self, x: Array, gamma: float) -> Linearised:
        """Return the image of g under the map g -> (...)^-1 and the Jacobian of g - map(g)."""
        c, kappa = self.limits.c, self.limits.kappa
        g = _symmetric(x)
        forms = self.blocks.at(g).trace()
        constant = np.array([[gamma, c * kappa, 0.0], [c * kappa, 0.0, -c], [0.0, -c, 0.0]])
        image = np.linalg.inv(constant + c * (forms.value - self._covariance(g)))
        if not image[0, 0] > 0 > image[1, 1]:
            raise SingularError("g_uu is not positive or g_tt not negative")
        jacobian = np.eye(6)
        for k, dg in enumerate(BASIS):
            change = c * (forms.change(dg) - self._covariance(dg))
            jacobian[:, k] += (image @ change @ image)[UPPER]
        return Linearised(image[UPPER], jacobian, -np.outer(image[:, 0], image[0])[UPPER], None)

    def _covariance(self, g: Array) -> Array:
        eta, eps = self.limits.eta, self.limits.eps
        return np.array([[eta * g[1, 1], eps * g[0, 1], 0.0], [eps * g[0, 1], eta * g[0, 0], 0.0], [0.0, 0.0, 0.0]])


@dataclass(frozen=True, eq=False)
class WeightsPoint:
    """What the solution at one ridge says."""

    path: PathPoint
    limits: Limits

    @cached_property
    def g(self) -> Array:
        """(3, 3) in (u, t, s)."""
        return _symmetric(self.path.x)

    @cached_property
    def slope(self) -> Array:
        """(3, 3) dg/dgamma."""
        return _symmetric(self.path.slope)

    def observables(self, forms: Forms | None) -> tuple[float, float]:
        """Return q = y^T Q y/n and E = -gamma^2 dq/dgamma for a signal seen through `forms`; None: pure noise."""
        if forms is None:
            return float(self.g[0, 0]), -(self.path.gamma**2) * float(self.slope[0, 0])
        inverse = np.linalg.inv(self.g)
        response = np.linalg.inv(inverse + forms.value)
        change = forms.change(self.slope) - inverse @ self.slope @ inverse
        column = response[:, 0]
        return float(response[0, 0]), self.path.gamma**2 * float(column @ change @ column)

    def noise(self, forms: Forms | None, error: float) -> float:
        """Return how much of E, relatively, rounding may have made: of g, its slope, and the response."""
        gamma, floor = self.path.gamma, max(error, float(np.finfo(float).tiny))
        scaled = self.path.x[DIAGONAL] * gamma ** POWERS[UPPER][DIAGONAL]
        relative = np.abs(self.path.changes[DIAGONAL] / scaled).max()
        if forms is None:
            return float(relative + self.path.slope_noise[0] / floor)
        of_slope = _symmetric(self.path.slope_noise / gamma * gamma ** -POWERS[UPPER])
        inverse = np.abs(np.linalg.inv(self.g))
        column = np.abs(np.linalg.inv(np.linalg.inv(self.g) + forms.value)[:, 0])
        rounded = np.abs(self.slope) * np.finfo(float).eps
        total = inverse @ (of_slope + rounded) @ inverse + np.abs(forms.change(rounded))
        return float(relative + gamma**2 * (column @ total @ column) / floor)

    def freedom(self, forms: Forms) -> float:
        """Return 1 - gamma g_uu as a sum without cancellation: the first row of the equations times g."""
        g, limits = self.g, self.limits
        linear = limits.kappa * g[0, 1] + forms.value[0] @ g[0]
        return float(limits.c * (linear - limits.eta * g[1, 1] * g[0, 0] - limits.eps * g[0, 1] ** 2))


def _symmetric(upper: Array) -> Array:
    return np.asarray(np.tensordot(upper, BASIS, 1))
