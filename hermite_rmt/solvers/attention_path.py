"""A start for points of attention beyond double precision: continuation from a point within."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_equations import Inputs, shape_of
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import Iterate, apply, double_start, in_all_directions, inverse_jacobian
from hermite_rmt.solvers.attention_start import shapes_of

PRECISION = 300  # bits on the way
WITHIN = {"c": (1e-3, 1e3), "gamma": (1e-8, 1e8)}  # where double precision starts (gamma in units of nu)
LARGEST_CORRECTION = 0.5
SMALLEST_STEP = 1e-5
CONVERGED_BITS = 100


def far_start(point: ExactPoint) -> Iterate | None:
    """Follow the solution along straight lines of log c and log gamma from within double range; None if it is lost."""
    numbers = MpmathArithmetic(PRECISION)
    target = point.scaled(numbers)
    start = {
        "c": _clipped(target.inputs.shape.c, *WITHIN["c"]),
        "gamma": _clipped(target.gamma, *WITHIN["gamma"]),
    }
    begin = double_start(_block(target, start["c"], start["gamma"]), point.even)
    if begin is None:
        return None
    path = _Path(target, numbers.number(start["c"]), numbers.number(start["gamma"]), begin.use_pair, numbers)
    x = path.correct(0.0, [numbers.number(value) for value in begin.x])
    if x is None:
        return None
    x = path.follow(x)
    if x is None:
        return None
    one = numbers.number(1.0)
    here = in_all_directions(target, begin.use_pair, x, one)
    inverse = inverse_jacobian(here, one)
    velocity = [-value for value in apply(inverse, [equation.gradient[3] for equation in here.equations])]
    return Iterate(begin.use_pair, x, velocity, inverse, CONVERGED_BITS / 2, CONVERGED_BITS, path.steps)


def starts(point: ExactPoint) -> Iterator[Iterate]:
    """Yield starts for one point, the cheaper one first."""
    for start in (lambda: double_start(point.double(), point.even), lambda: far_start(point)):
        found = start()
        if found is not None:
            yield found


def _clipped(value: Any, low: float, high: float) -> Any:
    return type(value)(low) if value < low else type(value)(high) if value > high else value


def _block(target: Scaled, c: Any, gamma: Any) -> Problem:
    c, gamma, a, eta, kappa = (
        np.array([float(x)]) for x in (c, gamma, target.inputs.a, target.inputs.eta, target.inputs.kappa)
    )
    return Problem(Inputs(shapes_of(c), a, eta, kappa), gamma)


class _Path:
    """The line from (c, gamma) within range at 0 to the target at 1, both in logarithms."""

    def __init__(self, target: Scaled, c: Any, gamma: Any, use_pair: bool, numbers: MpmathArithmetic) -> None:
        self.target, self.c, self.gamma = target, c, gamma
        self.use_pair, self.numbers, self.steps = use_pair, numbers, 0

    def scaled(self, position: float) -> Scaled:
        inputs = self.target.inputs
        if position == 1:
            return self.target
        rest = 1 - position
        c = self.c**rest * inputs.shape.c**position
        gamma = self.gamma**rest * self.target.gamma**position
        shape = inputs.shape if self.c == inputs.shape.c else shape_of(c, bool(c > 1), self.numbers.number(1.0))
        return self.target._replace(inputs=inputs._replace(shape=shape), gamma=gamma)

    def correct(self, position: float, x: list[Any]) -> list[Any] | None:
        """Newton's method; None if the guess was too far away."""
        scaled, one = self.scaled(position), self.numbers.number(1.0)
        for count in range(12):
            try:
                here = in_all_directions(scaled, self.use_pair, x, one)
                step = apply(inverse_jacobian(here, one), [equation.value for equation in here.equations])
            except ZeroDivisionError:
                return None
            self.steps += 1
            size = max(abs(s) / abs(v) for s, v in zip(step, x, strict=True) if v)
            if size > LARGEST_CORRECTION * 0.5**count:
                return None
            x = [v - s for v, s in zip(x, step, strict=True)]
            if size < 0.5**CONVERGED_BITS:
                return x
        return None

    def follow(self, x: list[Any]) -> list[Any] | None:
        """Go from 0 to 1 with the secant in logarithms as the guess: exact for power laws."""
        position, step = 0.0, 0.01
        before: tuple[float, list[Any]] | None = None
        while position < 1:
            following = min(position + step, 1.0)
            found = self.correct(following, _secant(before, (position, x), following))
            if found is None:
                step /= 4
                if step < SMALLEST_STEP:
                    return None
            else:
                before, position, x = (position, x), following, found
                step *= 2
        return x


def _secant(before: tuple[float, list[Any]] | None, now: tuple[float, list[Any]], position: float) -> list[Any]:
    if before is None:
        return now[1]
    factor = (position - now[0]) / (now[0] - before[0])
    return [v * (v / u) ** factor if u and v / u > 0 else v for u, v in zip(before[1], now[1], strict=True)]
