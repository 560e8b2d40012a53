"""Fixed-point equations followed from large ridges down: the path that selects the physical branch, in double.

Where x = map(x, gamma) has the physical solution gamma m -> 1 for gamma -> infinity, the unknowns are measured in
units of the powers of gamma they have there, and followed in log gamma by Euler's predictor and Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hermite_rmt.solvers.linear import SingularError

Array = np.ndarray
STEPS = 12  # of Newton's method at one ridge
EPSILON = float(np.finfo(float).eps)
FIRST = 0.3  # largest first correction, in scaled coordinates, that still counts as following the path
FOLLOWED = 1e-6  # size of a correction after which the path goes on
CONVERGED = 4e-15  # at a point asked for
ROUNDING = 1e-9  # a correction this small that stops falling is rounding
LARGEST_STEP, SMALLEST_STEP = 3.0, 1e-4  # of log gamma
FARTHER, TRIES = 100.0, 20  # where the start is not large enough


class PathError(ArithmeticError):
    """The branch could not be followed; the message says to which ridge."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """The map at a point.

    Attributes
    ----------
    image : (N,) map(x)
    jacobian : (N, N) of x - map(x)
    forcing : (N,) d map/d gamma at fixed x
    inner : what the system computed on its way
    """

    image: Array
    jacobian: Array
    forcing: Array
    inner: Any


class System(Protocol):
    """Equations x = map(x, gamma) for N real unknowns."""

    @property
    def powers(self) -> Array:
        """(N,) powers of gamma by which the unknowns are multiplied where gamma is large."""
        ...

    def start(self) -> Array:
        """Return the limit of gamma^powers x for gamma -> infinity."""
        ...

    def linearise(self, x: Array, gamma: float) -> Linearised:
        """Return the map at x; raises SingularError outside the signs of the physical branch."""
        ...


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The solution at one ridge.

    Attributes
    ----------
    x : (N,) unknowns
    slope : (N,) dx/dgamma
    inner : what the system computed on its way
    residual : largest |x - map(x)|, in scaled coordinates
    correction : relative size of the last Newton correction, not applied any more
    changes : (N,) that correction, in scaled coordinates
    slope_noise : (N,) bound, in scaled coordinates, on what rounding made of gamma dx/dgamma
    steps : Newton steps since the path's start
    """

    gamma: float
    x: Array
    slope: Array
    inner: Any
    residual: float
    correction: float
    changes: Array
    slope_noise: Array
    steps: int


def follow(system: System, gammas: Sequence[float], largest: float) -> list[PathPoint | None]:
    """Return the solution at each ridge, in the order given; one path from `largest` (or above) down serves all.

    None stands where the path could not be followed down to a ridge.
    """
    found: dict[float, PathPoint] = {}
    with suppress(PathError):
        walker = _Walker(system, max(*gammas, largest))
        for gamma in sorted(set(gammas), reverse=True):
            found[gamma] = walker.descend(gamma)
    return [found.get(gamma) for gamma in gammas]


class _Walker:
    def __init__(self, system: System, start: float) -> None:
        self._system = system
        self._steps = 0
        self._step = 1.0
        for _ in range(TRIES):
            try:
                self._here = self._newton(system.start(), start, FOLLOWED)
                return
            except (SingularError, np.linalg.LinAlgError):
                start *= FARTHER
        raise PathError(f"no start was found up to gamma = {start:.3g}")

    def descend(self, gamma: float) -> PathPoint:
        """Walk to a smaller ridge and return the converged solution there."""
        powers = self._system.powers
        while self._here.gamma > gamma:
            here = self._here
            step = min(self._step, float(np.log(here.gamma / gamma)))
            target = gamma if step < self._step else here.gamma * float(np.exp(-step))
            units = here.gamma**powers
            tangent = units * (here.gamma * here.slope + powers * here.x)
            try:
                self._here = self._newton(units * here.x - step * tangent, target, FOLLOWED)
                self._step = min(1.5 * step if step == self._step else self._step, LARGEST_STEP)
            except (SingularError, np.linalg.LinAlgError):
                self._step = step / 3
                if self._step < SMALLEST_STEP:
                    raise PathError(
                        f"the branch was followed from large ridges to gamma = {here.gamma:.6g}"
                    ) from None
        with suppress(SingularError, np.linalg.LinAlgError):  # rounding keeps it as it is: its `correction` tells
            self._here = self._newton(self._here.x * gamma**powers, gamma, CONVERGED)
        return self._here

    def _newton(self, scaled: Array, gamma: float, tolerance: float) -> PathPoint:
        units = gamma**self._system.powers
        previous, last = FIRST, False
        for _ in range(STEPS):
            at = self._system.linearise(scaled / units, gamma)
            jacobian = units[:, None] * at.jacobian / units
            difference = units * at.image - scaled
            change = np.linalg.solve(jacobian, difference)
            self._steps += 1
            size = float(np.abs(change).max() / np.abs(scaled).max())
            stalled = size < ROUNDING and size > 0.1 * previous
            if (size <= tolerance or stalled) and tolerance < FOLLOWED and not last:
                last = True  # one more: `size` is of the largest unknown, others may be smaller by many orders
            elif size <= tolerance or stalled:
                forcing = units * at.forcing
                slope = np.linalg.solve(jacobian, forcing)
                # componentwise: |J^-1| (|J| |slope| + |forcing|) rounding errors
                magnitude = np.abs(jacobian) @ np.abs(slope) + np.abs(forcing)
                noise = gamma * (EPSILON + size) * (np.abs(np.linalg.inv(jacobian)) @ magnitude)
                residual = float(np.abs(difference).max())
                x, inner = scaled / units, at.inner
                return PathPoint(gamma, x, slope / units, inner, residual, size, change, noise, self._steps)
            if size > previous and not last:
                break
            previous = size
            scaled = scaled + change
        raise SingularError("Newton's method left the path")
