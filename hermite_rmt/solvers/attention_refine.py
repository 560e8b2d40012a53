"""Newton's method for one point of attention, in any arithmetic and with growing precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from hermite_rmt.solvers.arithmetic import Arithmetic, arithmetic
from hermite_rmt.solvers.attention_equations import Roots, Sums, chart, residuals, sums
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.dual import Dual, seeds

REFRESH = 6  # the Jacobian is evaluated anew where that many times its own bits are right
FEWEST_BITS = 10  # a step with a fixed Jacobian is worth at least that many, or it is not accepted
STEPS = 60


class At(NamedTuple):
    """The equations at a point of a chart, with derivatives along its coordinates and log gamma."""

    gamma: Dual
    roots: Roots
    integrals: Sums
    equations: tuple[Dual, Dual, Dual]


def differentiate(scaled: Scaled, use_pair: bool, x: list[Any], one: Any) -> At:
    """Evaluate the equations with their derivatives, at numbers or balls."""
    *variables, gamma = seeds((*x, scaled.gamma), (one, one, one, scaled.gamma))
    roots = chart(use_pair)(scaled.inputs, gamma, *variables)
    integrals = sums(scaled.inputs, roots)
    return At(gamma, roots, integrals, residuals(scaled.inputs, gamma, roots, integrals))


def inverse_jacobian(here: At, one: Any) -> list[list[Any]]:
    """Return the inverse of the Jacobian, by the adjugate."""
    (a, b, c, _), (d, e, f, _), (g, h, i, _) = (equation.dense() for equation in here.equations)
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


def squared_sizes(use_pair: bool, step: list[Any], x: list[Any]) -> list[Any]:
    """Return the squares of the relative sizes of a step in a chart.

    F1 and S may vanish: their scales are those of sqrt(F2) and sqrt(v).
    """
    if use_pair:
        size = max(x[1] * x[1], abs(x[2]))
        return [(step[0] / x[0]) * (step[0] / x[0]), step[1] * step[1] / size, (step[2] / x[2]) * (step[2] / x[2])]
    size = max(x[0] * x[0], abs(x[1]))
    return [step[0] * step[0] / size, (step[1] / size) * (step[1] / size), (step[2] / x[2]) * (step[2] / x[2])]


def along_log_gamma(here: At, quantity: Dual, one: Any) -> Any:
    """Return the total derivative along log gamma: the coordinates move with -J^-1 dR/dlog(gamma)."""
    pull = [-equation.dense()[3] for equation in here.equations]
    velocity = apply(inverse_jacobian(here, one), pull)
    *partial, direct = quantity.dense()
    return direct + (partial[0] * velocity[0] + partial[1] * velocity[1] + partial[2] * velocity[2])


@dataclass
class Iterate:
    """Coordinates in a chart, and an approximate inverse Jacobian there."""

    use_pair: bool
    x: list[Any]
    inverse: list[list[Any]]
    inverse_bits: float
    right: float  # bits of x that are right, about
    steps: int = 0
    residual: Any = math.inf


def at_solution(
    scaled: Scaled, use_pair: bool, x: list[Any], one: Any, right: float, steps: int = 0
) -> Iterate | None:
    """Return the iterate at coordinates that are right to so many bits; None where the Jacobian is singular."""
    try:
        return Iterate(
            use_pair, x, inverse_jacobian(differentiate(scaled, use_pair, x, one), one), right, right, steps
        )
    except ArithmeticError:
        return None


def newton(
    scaled: Scaled, use_pair: bool, x: list[Any], one: Any, tolerance: float, largest: float = 0.5
) -> Iterate | None:
    """Newton's method from a guess; None unless its relative steps start below `largest` and shrink.

    Stops after a step below `tolerance`, with the Jacobian at the end.
    """
    size = math.inf
    for count in range(20):
        if size < tolerance:
            return at_solution(scaled, use_pair, x, one, -math.log2(tolerance), count)
        try:
            here = differentiate(scaled, use_pair, x, one)
            step = apply(inverse_jacobian(here, one), [equation.value for equation in here.equations])
            size = math.sqrt(max(float(square) for square in squared_sizes(use_pair, step, x)))
        except ArithmeticError:
            return None
        if not size < largest * 0.5**count:
            return None
        x = [v - s for v, s in zip(x, step, strict=True)]
    return None


def refine(point: ExactPoint, current: Iterate, precision: int, use_flint: bool | None) -> bool:
    """Step until the coordinates are right to about `precision` bits; False if the steps do not shrink."""
    for _ in range(STEPS):
        if current.right >= precision:
            return True
        if current.right > REFRESH * current.inverse_bits:
            bits_known = min(precision, math.ceil(current.right)) + point.cancelling
            _renew_inverse(point, current, arithmetic(bits_known, use_flint))
        before = current.right
        working = min(precision, math.ceil(before + current.inverse_bits)) + 20 + point.cancelling
        chord_step(point, current, arithmetic(working, use_flint))
        if current.right < before + FEWEST_BITS and current.right < precision:
            return False
    return False


def chord_step(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    """Make one step with the approximate inverse Jacobian."""
    with numbers.active():
        scaled = point.scaled(numbers)
        x = [numbers.number(value) for value in current.x]
        roots = chart(current.use_pair)(scaled.inputs, scaled.gamma, *x)
        equations = residuals(scaled.inputs, scaled.gamma, roots, sums(scaled.inputs, roots))
        change = apply([[numbers.number(entry) for entry in row] for row in current.inverse], list(equations))
        current.x = [numbers.number(value - step) for value, step in zip(x, change, strict=True)]
        size = max(numbers.magnitude(square) for square in squared_sizes(current.use_pair, change, x)) / 2
        current.residual = max(abs(numbers.mpf(value)) for value in equations)
    current.steps += 1
    current.right = min(current.inverse_bits - size, numbers.precision)


def _renew_inverse(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    with numbers.active():
        one = numbers.number(1.0)
        x = [numbers.number(value) for value in current.x]
        inverse = inverse_jacobian(differentiate(point.scaled(numbers), current.use_pair, x, one), one)
        current.inverse = [[numbers.number(entry) for entry in row] for row in inverse]
    current.inverse_bits = current.right - 5
