"""Attention to any number of digits, one point at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import KnownDigits, Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import Arithmetic, arithmetic
from hermite_rmt.solvers.attention_equations import (
    chart,
    quadratic_form,
    residuals,
    sums,
    trace,
)
from hermite_rmt.solvers.attention_newton import evaluate, iterate, solve_linear
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.dual import Dual, seeds

GUARD_BITS = 30  # at first; raised by what the comparison of two precisions shows to be lost
CHECK_BITS = 40  # the second precision has that many more
JACOBIAN_BITS = 40  # what a step with a Jacobian of double precision is worth, about
REFRESH = 6  # the Jacobian is evaluated anew where that many times its own bits are right
STEPS = 60
ATTEMPTS = 8


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
    residual: Any = None


def solve_point(parameters: Mapping[str, Real], digits: int, use_flint: bool | None = None) -> Solution:
    """Solve Proposition 1 and Theorem 1 at one point to `digits` right digits.

    Parameters
    ----------
    parameters : mapping of c, gamma, a1, eta, kappa, mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q to `Real`
        eta = nu - a1^2, kappa = diagonal + skip - a1.
    digits : decimal digits
    use_flint : python-flint (True) or plain mpmath (False); None takes python-flint where it is installed

    Returns
    -------
    Solution
        Values `trace`, `quadratic_form`, `error`, `delta`, `tau` as KnownDigits.

    Notes
    -----
    Newton's method from the solution in double precision, with growing precision; the derivative along log gamma
    is carried as a dual number, so E = -gamma dq/dlog(gamma) comes from the same steps. Two precisions must agree
    to the digits asked for; bits lost on the way are made good by more of them.
    """
    point = ExactPoint(parameters)
    current = double_start(point)
    wanted = bits(digits) + 4
    precision = wanted + GUARD_BITS
    for _ in range(ATTEMPTS):
        if not refine(point, current, precision, use_flint):
            break
        coarse = _values(point, current, arithmetic(precision, use_flint))
        finer = arithmetic(precision + CHECK_BITS, use_flint)
        newton_step(point, current, finer)
        fine = _values(point, current, finer)
        agreed = min(_agreement(coarse[name], fine[name]) for name in fine)
        if agreed >= wanted:
            values = {name: KnownDigits.of(value, digits) for name, value in fine.items()}
            return Solution(values, current.residual, Outcome.CONVERGED, digits, current.steps)
        precision += math.ceil(wanted - max(agreed, 0)) + GUARD_BITS
    nothing = dict.fromkeys(("trace", "quadratic_form", "error", "delta", "tau"), math.nan)
    return Solution(nothing, current.residual, Outcome.NOT_CONVERGED, digits, current.steps)


def double_start(point: ExactPoint) -> Iterate:
    """Return the solution in double precision with its velocity and inverse Jacobian."""
    with np.errstate(all="ignore"):
        problem = point.double()
        state = iterate(problem)
        use_pair = bool(state.use_pair[0])
        x = state.chart
        at = evaluate(problem, x, use_pair, along_gamma=True)
        scale = np.array([x[0, 0] if use_pair else 1.0, 1.0, x[2, 0]])
        columns = [solve_linear(at.residuals, tuple(np.eye(3)[i][:, None])) for i in range(3)]
        inverse = scale[:, None] * np.hstack(columns)
        velocity = scale * solve_linear(at.residuals, tuple(-e.gradient[3] for e in at.residuals))[:, 0]
    if point.even and not use_pair:  # F1, proportional to k where a_1 = 0
        x[0, 0] = velocity[0] = inverse[0, 1] = inverse[0, 2] = 0.0
    entries = [[float(entry) for entry in row] for row in inverse]
    return Iterate(use_pair, x[:, 0].tolist(), velocity.tolist(), entries, JACOBIAN_BITS, JACOBIAN_BITS)


def refine(point: ExactPoint, current: Iterate, precision: int, use_flint: bool | None) -> bool:
    """Step until the coordinates are right to about `precision` bits; False if the steps do not shrink."""
    settled = 0  # the velocity follows the coordinates one step behind
    for _ in range(STEPS):
        if current.right > REFRESH * current.inverse_bits:
            _renew_inverse(point, current, arithmetic(min(precision, math.ceil(current.right)), use_flint))
        working = min(precision, math.ceil(current.right + 2 * current.inverse_bits) + 20)
        newton_step(point, current, arithmetic(working, use_flint))
        if not math.isfinite(current.right) and current.right < 0:
            return False
        if current.right >= precision - 10:
            settled += 1
            if settled == 2:
                return True
    return True


def newton_step(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    """One step with the approximate inverse, on the coordinates and on their derivatives at once."""
    with numbers.active():
        scaled = point.scaled(numbers)
        x, gamma, _, _, equations = _evaluate(scaled, current, numbers)
        size = -math.inf
        for i, row in enumerate(current.inverse):
            factors = [numbers.number(entry) for entry in row]
            change = sum((f * e.value for f, e in zip(factors, equations, strict=True)), numbers.number(0.0))
            drift = sum((f * e.gradient for f, e in zip(factors, equations, strict=True)), numbers.number(0.0))
            current.x[i] = numbers.number(x[i].value - change)
            current.velocity[i] = numbers.number(x[i].gradient - drift)
            size = max(size, numbers.magnitude(change) - numbers.magnitude(current.x[i]))
        current.residual = max(abs(numbers.mpf(e.value)) for e in equations)
    current.steps += 1
    current.right = min(-size + current.inverse_bits, numbers.precision)


def _evaluate(scaled: Scaled, current: Iterate, numbers: Arithmetic):
    x = [
        Dual(numbers.number(value), numbers.number(slope))
        for value, slope in zip(current.x, current.velocity, strict=True)
    ]
    gamma = Dual(scaled.gamma, scaled.gamma)
    roots = chart(current.use_pair)(scaled.inputs, gamma, *x)
    integrals = sums(scaled.inputs, roots)
    return x, gamma, roots, integrals, residuals(scaled.inputs, gamma, roots, integrals)


def _renew_inverse(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> None:
    with numbers.active():
        scaled = point.scaled(numbers)
        one = numbers.number(1.0)
        x = seeds(tuple(numbers.number(value) for value in current.x), (one, one, one))
        roots = chart(current.use_pair)(scaled.inputs, scaled.gamma, *x)
        equations = residuals(scaled.inputs, scaled.gamma, roots, sums(scaled.inputs, roots))
        (a, b, c), (d, e, f), (g, h, i) = (equation.gradient for equation in equations)
        first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
        determinant = a * first + b * second + c * third
        adjugate = [
            [first, c * h - b * i, b * f - c * e],
            [second, a * i - c * g, c * d - a * f],
            [third, b * g - a * h, a * e - b * d],
        ]
        current.inverse = [[numbers.number(entry / determinant) for entry in row] for row in adjugate]
    current.inverse_bits = current.right - 5


def _values(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> dict[str, Any]:
    with numbers.active():
        scaled = point.scaled(numbers)
        _, gamma, roots, integrals, _ = _evaluate(scaled, current, numbers)
        q = quadratic_form(scaled.inputs, gamma, scaled.overlaps, roots, integrals)
        c, I1 = scaled.inputs.shape.c, integrals.I1.value
        values = {
            "trace": trace(roots, integrals).value,
            "quadratic_form": q.value,
            "error": -scaled.gamma * q.gradient,
            "delta": c * (scaled.gamma * roots.gain.value) * I1,
            "tau": c * I1 * (integrals.slope.value + roots.k.value),
        }
        return {name: numbers.mpf(value) for name, value in point.unscaled(values, numbers).items()}


def _agreement(coarse: Any, fine: Any) -> float:
    """Return the number of leading bits in which two mpf agree."""
    difference = fine - coarse
    return _magnitude(fine) - _magnitude(difference) if difference else math.inf


def _magnitude(value: Any) -> float:
    _, mantissa, exponent, length = value._mpf_
    return float(exponent + length) if mantissa else -math.inf
