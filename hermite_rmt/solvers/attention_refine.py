"""Newton's method for one point of attention with growing precision, the derivative along log gamma carried along."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.solvers.arithmetic import Arithmetic, arithmetic
from hermite_rmt.solvers.attention_equations import Roots, Sums, chart, residuals, sums
from hermite_rmt.solvers.attention_newton import Problem, evaluate, iterate, solve_linear
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.dual import Dual, seeds

JACOBIAN_BITS = 40  # what a step with a Jacobian of double precision is worth, about
REFRESH = 6  # the Jacobian is evaluated anew where that many times its own bits are right
STEPS = 60


@dataclass
class Iterate:
    """Coordinates in a chart with their derivatives along log gamma, and an approximate inverse Jacobian."""

    use_pair: bool
    x: list[Any]
    velocity: list[Any]
    inverse: list[list[Any]]
    inverse_bits: float
    right: float  # bits of x that are right, about
    steps: int = 0
    residual: Any = math.inf


class At(NamedTuple):
    """The equations at a point of a chart, with derivatives."""

    gamma: Dual
    x: tuple[Dual, ...]
    roots: Roots
    integrals: Sums
    equations: tuple[Dual, Dual, Dual]


def at(scaled: Scaled, use_pair: bool, x: tuple[Dual, ...], gamma: Dual) -> At:
    """Evaluate the equations (inside the `active` block of the arithmetic of the numbers)."""
    roots = chart(use_pair)(scaled.inputs, gamma, *x)
    integrals = sums(scaled.inputs, roots)
    return At(gamma, x, roots, integrals, residuals(scaled.inputs, gamma, roots, integrals))


def along_gamma(scaled: Scaled, current: Iterate, numbers: Arithmetic) -> At:
    """Evaluate at an iterate, with derivatives along log gamma: gradients are single numbers."""
    x = (Dual(numbers.number(v), numbers.number(w)) for v, w in zip(current.x, current.velocity, strict=True))
    return at(scaled, current.use_pair, tuple(x), Dual(scaled.gamma, scaled.gamma))


def in_all_directions(scaled: Scaled, use_pair: bool, x: list[Any], one: Any) -> At:
    """Evaluate with derivatives along the three coordinates and log gamma, at numbers or balls."""
    *variables, gamma = seeds((*x, scaled.gamma), (one, one, one, scaled.gamma))
    return at(scaled, use_pair, tuple(variables), gamma)


def inverse_jacobian(here: At, one: Any) -> list[list[Any]]:
    """Return the inverse of the Jacobian (of gradients in all directions), by the adjugate."""
    (a, b, c), (d, e, f), (g, h, i) = (equation.gradient[:3] for equation in here.equations)
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    scale = one / (a * first + b * second + c * third)
    adjugate = (
        (first, c * h - b * i, b * f - c * e),
        (second, a * i - c * g, c * d - a * f),
        (third, b * g - a * h, a * e - b * d),
    )
    return [[entry * scale for entry in row] for row in adjugate]


def apply(matrix: list[list[Any]], vector: list[Any]) -> list[Any]:
    """Return a 3 x 3 matrix times a vector."""
    x, y, z = vector
    return [row[0] * x + row[1] * y + row[2] * z for row in matrix]


def double_start(problem: Problem, even: bool) -> Iterate | None:
    """Return the solution of a block of one point in double precision; None if there is none.

    even : a_1 = kappa = 0, where the coordinate F1, proportional to k, vanishes exactly
    """
    with np.errstate(all="ignore"):
        state = iterate(problem)
        if not state.converged[0]:
            return None
        use_pair, x = bool(state.use_pair[0]), state.chart
        point = evaluate(problem, x, use_pair, along_gamma=True)
        scale = np.array([x[0, 0] if use_pair else 1.0, 1.0, x[2, 0]])
        columns = [solve_linear(point.residuals, tuple(unit[:, None])) for unit in np.eye(3)]
        inverse = scale[:, None] * np.hstack(columns)
        velocity = scale * solve_linear(point.residuals, tuple(-e.gradient[3] for e in point.residuals))[:, 0]
    if even and not use_pair:
        x[0, 0] = velocity[0] = inverse[0, 1] = inverse[0, 2] = 0.0
    if not (np.isfinite(inverse).all() and np.isfinite(velocity).all()):
        return None
    return Iterate(use_pair, x[:, 0].tolist(), velocity.tolist(), inverse.tolist(), JACOBIAN_BITS, JACOBIAN_BITS)


def refine(point: ExactPoint, current: Iterate, precision: int, use_flint: bool | None) -> bool:
    """Step until the coordinates are right to about `precision` bits; False if the steps do not shrink."""
    settled, best = 0, current.right
    for _ in range(STEPS):
        if current.right > REFRESH * current.inverse_bits:
            _renew_inverse(point, current, arithmetic(min(precision, math.ceil(current.right)), use_flint))
        working = min(precision, math.ceil(current.right + current.inverse_bits) + 20)
        newton_step(point, current, arithmetic(working, use_flint))
        if current.right < best / 2:
            return False
        best = max(best, current.right)
        if current.right >= precision - 10:
            settled += 1
            if settled == 2:  # the derivatives follow the coordinates one step behind
                return True
    return True


def newton_step(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    """Make one step with the approximate inverse, on the coordinates and on their derivatives at once."""
    with numbers.active():
        here = along_gamma(point.scaled(numbers), current, numbers)
        inverse = [[numbers.number(entry) for entry in row] for row in current.inverse]
        change = apply(inverse, [e.value for e in here.equations])
        drift = apply(inverse, [e.gradient for e in here.equations])
        current.x = [numbers.number(x.value - step) for x, step in zip(here.x, change, strict=True)]
        current.velocity = [numbers.number(x.gradient - step) for x, step in zip(here.x, drift, strict=True)]
        sizes = (numbers.magnitude(s) - numbers.magnitude(x) for s, x in zip(change, current.x, strict=True))
        shrunk = -max((size for size in sizes if not math.isnan(size)), default=-math.inf)
        current.residual = max(abs(numbers.mpf(e.value)) for e in here.equations)
    current.steps += 1
    current.right = min(shrunk + current.inverse_bits, numbers.precision)


def _renew_inverse(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    with numbers.active():
        x = [numbers.number(value) for value in current.x]
        one = numbers.number(1.0)
        inverse = inverse_jacobian(in_all_directions(point.scaled(numbers), current.use_pair, x, one), one)
        current.inverse = [[numbers.number(entry) for entry in row] for row in inverse]
    current.inverse_bits = current.right - 5
