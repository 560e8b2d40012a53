"""Attention with given weights: the 3 x 3 equations, Newton's method on them, and the path that selects the branch.

With X(g) of `weights_blocks`, the symmetric 3 x 3 unknown g in (u, t, s) solves (derivations/15_any_weights.py)

    g^-1 = [[gamma, c kappa, 0], [c kappa, 0, -c], [0, -c, 0]] + c <X(g)>
           - c [[eta g_tt, eps g_ut, 0], [eps g_ut, eta g_uu, 0], [0, 0, 0]]

eta = sum_{k>=2} a_k^2 and eps = sum_{k>=2} a_k^2 tau^k. Its branch has gamma g_uu -> 1 as gamma grows. There,
in the coordinates scaled by sqrt(gamma) along u, g -> [[1, 0, 0], [0, -tr Sigma/(c p), -1/c], [0, -1/c, 0]], and from
there it is followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from hermite_rmt.solvers.linear import SingularError
from hermite_rmt.solvers.weights_blocks import Array, BlockInverse, Forms, WeightBlocks

UPPER = np.triu_indices(3)
BASIS = np.zeros((6, 3, 3))  # of the symmetric matrices, in the order of UPPER
for _k, (_i, _j) in enumerate(zip(*UPPER, strict=True)):
    BASIS[_k, _i, _j] = BASIS[_k, _j, _i] = 1.0
POWERS = np.array([[1.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])  # of gamma, in the scaled coordinates
STEPS = 12  # of Newton's method at one ridge
FIRST = 0.3  # largest first correction, in scaled coordinates, that still counts as following the path
FOLLOWED = 1e-6  # size of a correction after which the path goes on
CONVERGED = 4e-15  # at a point asked for
ROUNDING = 1e-9  # a correction this small that stops falling is rounding
LARGEST_STEP, SMALLEST_STEP = 3.0, 1e-4  # of log gamma
SMALL_AMPLITUDE = 0.05  # of f, relative to sqrt(gamma), where the path starts


class PathError(ArithmeticError):
    """The branch could not be followed; the message says to which ridge."""


@dataclass(frozen=True)
class Limits:
    """What the equations know besides the blocks: c, kappa = diagonal + skip - a_1 tr C/p, eta and eps."""

    c: float
    kappa: float
    eta: float
    eps: float


@dataclass(frozen=True, eq=False)
class WeightsPoint:
    """The solution at one ridge.

    Attributes
    ----------
    g : (3, 3)
    slope : (3, 3) dg/dgamma
    inverse : X(g)
    residual : largest |g - map(g)|, in scaled coordinates
    correction : relative size of the last Newton correction, not applied any more
    steps : Newton steps since the path's start
    """

    gamma: float
    g: Array
    slope: Array
    inverse: BlockInverse
    residual: float
    correction: float
    steps: int

    def observables(self, forms: Forms | None) -> tuple[float, float]:
        """Return q = y^T Q y/n and E = -gamma^2 dq/dgamma for a signal seen through `forms`; None: pure noise."""
        if forms is None:
            return float(self.g[0, 0]), -(self.gamma**2) * float(self.slope[0, 0])
        inverse = np.linalg.inv(self.g)
        response = np.linalg.inv(inverse + forms.value)
        change = forms.change(self.slope) - inverse @ self.slope @ inverse
        column = response[:, 0]
        return float(response[0, 0]), self.gamma**2 * float(column @ change @ column)

    def freedom(self, limits: Limits, forms: Forms) -> float:
        """Return 1 - gamma g_uu as a sum without cancellation: the first row of the equations times g."""
        g, c = self.g, limits.c
        linear = limits.kappa * g[0, 1] + forms.value[0] @ g[0]
        return float(c * (linear - limits.eta * g[1, 1] * g[0, 0] - limits.eps * g[0, 1] ** 2))


def solve_path(blocks: WeightBlocks, limits: Limits, gammas: Sequence[float]) -> list[WeightsPoint | None]:
    """Return the solution at each ridge, in the order given; one path from large ridges down serves all.

    None stands where the path could not be followed down to a ridge.
    """
    energy = limits.eta + float(np.sum(blocks.C**2)) / blocks.size + limits.kappa**2
    start = max(*gammas, energy * max(1.0, limits.c**-2) / SMALL_AMPLITUDE**2)
    found: dict[float, WeightsPoint] = {}
    with suppress(PathError):
        walker = _Walker(blocks, limits, start)
        for gamma in sorted(set(gammas), reverse=True):
            found[gamma] = walker.descend(gamma)
    return [found.get(gamma) for gamma in gammas]


class _Walker:
    """Walks down in log gamma with an Euler predictor and Newton's method."""

    def __init__(self, blocks: WeightBlocks, limits: Limits, start: float) -> None:
        self._blocks, self._limits = blocks, limits
        self._steps = 0
        self._step = 1.0
        c = limits.c
        scaled = np.array([[1.0, 0.0, 0.0], [0.0, -blocks.mean_variance / c, -1 / c], [0.0, -1 / c, 0.0]])
        for _ in range(20):
            try:
                self._here = self._newton(scaled, start, FOLLOWED)
                return
            except (SingularError, np.linalg.LinAlgError):
                start *= 100.0
        raise PathError(f"no start was found up to gamma = {start:.3g}")

    def descend(self, gamma: float) -> WeightsPoint:
        """Walk to a smaller ridge and return the converged solution there."""
        while self._here.gamma > gamma:
            here = self._here
            step = min(self._step, float(np.log(here.gamma / gamma)))
            target = gamma if step < self._step else here.gamma * float(np.exp(-step))
            scaled = _scaled(here.g, here.gamma)
            tangent = _scaled(here.gamma * here.slope, here.gamma) + POWERS * scaled
            try:
                self._here = self._newton(scaled - step * tangent, target, FOLLOWED)
                self._step = min(1.5 * step if step == self._step else self._step, LARGEST_STEP)
            except (SingularError, np.linalg.LinAlgError):
                self._step = step / 3
                if self._step < SMALLEST_STEP:
                    raise PathError(
                        f"the branch was followed from large ridges to gamma = {here.gamma:.6g}"
                    ) from None
        self._here = self._newton(_scaled(self._here.g, gamma), gamma, CONVERGED)
        return self._here

    def _newton(self, scaled: Array, gamma: float, tolerance: float) -> WeightsPoint:
        previous = FIRST
        for _ in range(STEPS):
            inverse, image, jacobian = self._linearise(scaled, gamma)
            difference = image - scaled
            change = np.linalg.solve(jacobian, difference[UPPER])
            self._steps += 1
            size = float(np.abs(change).max() / np.abs(scaled).max())
            stalled = size < ROUNDING and size > 0.1 * previous
            if size <= tolerance or stalled:
                slope = np.linalg.solve(jacobian, -np.outer(image[:, 0], image[0])[UPPER])
                g, dg = (_unscaled(np.tensordot(v, BASIS, 1), gamma) for v in (scaled[UPPER], slope))
                residual = float(np.abs(difference).max())
                return WeightsPoint(gamma, g, dg / gamma, inverse, residual, size, self._steps)
            if size > previous:
                break
            previous = size
            scaled = scaled + np.tensordot(change, BASIS, 1)
        raise SingularError("Newton's method left the path")

    def _linearise(self, scaled: Array, gamma: float) -> tuple[BlockInverse, Array, Array]:
        """Return X, the image of g under the map g -> (...)^-1 and the Jacobian of g - map(g), scaled."""
        c, kappa, eta, eps = self._limits.c, self._limits.kappa, self._limits.eta, self._limits.eps
        g = _unscaled(scaled, gamma)
        inverse = self._blocks.at(g)
        forms = inverse.trace()

        def covariance(h: Array) -> Array:
            out = np.zeros((3, 3))
            out[0, 0], out[1, 1], out[0, 1] = eta * h[1, 1], eta * h[0, 0], eps * h[0, 1]
            out[1, 0] = out[0, 1]
            return out

        constant = np.array([[gamma, c * kappa, 0.0], [c * kappa, 0.0, -c], [0.0, -c, 0.0]])
        image = np.linalg.inv(_unscaled(constant + c * (forms.value - covariance(g)), gamma))
        if not image[0, 0] > 0 > image[1, 1]:
            raise SingularError("g_uu is not positive or g_tt not negative")
        jacobian = np.eye(6)
        for k, direction in enumerate(BASIS):
            dg = _unscaled(direction, gamma)
            change = _unscaled(c * (forms.change(dg) - covariance(dg)), gamma)
            jacobian[:, k] += (image @ change @ image)[UPPER]
        return inverse, image, jacobian


def _unscaled(matrix: Array, gamma: float) -> Array:
    """Return D g D, D = diag(gamma^-1/2, 1, 1): g from its scaled form, or a scaled inverse from an inverse."""
    return np.asarray(matrix * gamma**-POWERS)


def _scaled(matrix: Array, gamma: float) -> Array:
    return np.asarray(matrix * gamma**POWERS)
