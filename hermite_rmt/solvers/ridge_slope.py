"""Proved balls of E and gamma dE/dgamma at a point: attention and linear regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import Real
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.attention_derivatives import moving_point
from hermite_rmt.solvers.attention_equations import chart, residuals, sums
from hermite_rmt.solvers.attention_path import starts
from hermite_rmt.solvers.attention_point import ExactPoint
from hermite_rmt.solvers.attention_refine import Iterate, differentiate, refine
from hermite_rmt.solvers.attention_slopes import along_parameter
from hermite_rmt.solvers.certified_system import enclose
from hermite_rmt.solvers.dual import Series

GUARD_BITS = 30
ATTEMPTS = 4


def attention_slope(parameters: Mapping[str, Real], digits: int) -> tuple[Ball, Ball] | None:
    """Return balls of E and gamma dE/dgamma, relative radius at most 10^-digits; None if it is not proved.

    Krawczyk's test for a box around the solution, and on the box the signs that make it that of form (b), as in
    `attention_certified`; the derivative is evaluated on the whole box.

    Parameters
    ----------
    parameters : as in `certify_point`
    """
    point = ExactPoint(parameters)
    for current in starts(point):
        for attempt in range(1, ATTEMPTS + 1):
            precision = bits(digits) * (1 + attempt) // 2 + attempt * GUARD_BITS
            if not refine(point, current, precision, True):
                break
            numbers = BallArithmetic(precision + GUARD_BITS)
            with numbers.active():
                found = _on_box(point, current, numbers)
                if found is not None and _sharp(found, digits):
                    return Ball.of_arb(found[0], digits), Ball.of_arb(found[1], digits)
    return None


def _on_box(point: ExactPoint, current: Iterate, numbers: BallArithmetic) -> tuple[Any, Any] | None:
    scaled, one = point.scaled(numbers), numbers.number(1.0)

    def equations(x: Sequence[Any]) -> Sequence[Any]:
        roots = chart(current.use_pair)(scaled.inputs, scaled.gamma, *x)
        return residuals(scaled.inputs, scaled.gamma, roots, sums(scaled.inputs, roots))

    def jacobian(x: Sequence[Any]) -> Sequence[Sequence[Any]]:
        here = differentiate(scaled, current.use_pair, list(x), one)
        return [equation.dense()[:3] for equation in here.equations]

    box = enclose(equations, jacobian, current.x, numbers)
    if box is None:
        return None
    here = differentiate(scaled, current.use_pair, box, one)
    outside = here.roots.outside(scaled.inputs.shape.cbar.sqrt())
    if not all(sign.value > 0 for sign in (*outside, here.roots.gain, here.integrals.I0, here.integrals.I1)):
        return None
    moved = along_parameter("error", moving_point(point, "gamma", numbers), current.use_pair, box, one)
    return moved.value, numbers.read(point.reals["gamma"]) * moved.slope


def regression_slope(parameters: Mapping[str, Real], digits: int) -> tuple[Ball, Ball] | None:
    """Return the same for linear regression, from its closed form (theory/linear_regression.py).

    Parameters
    ----------
    parameters : c, gamma and mu_mu
    """
    for attempt in range(1, ATTEMPTS + 1):
        numbers = BallArithmetic(bits(digits) * attempt + attempt * GUARD_BITS)
        with numbers.active():
            c, gamma, r = (numbers.read(parameters[name]) for name in ("c", "gamma", "mu_mu"))
            ridge = Series(gamma, numbers.number(1.0))
            s = c - 1 - ridge
            square = s * s + 4 * c * ridge
            root = square.value.sqrt()
            delta = Series(root, square.slope / (2 * root))
            tau = 2 / (c + 1 + ridge + delta)
            gamma_m, loop = tau * (delta - s) / 2, r * tau + 1
            error = gamma_m * gamma_m * (r * tau * tau + 1) / (loop * loop * tau * delta)
            found = error.value, gamma * error.slope
            if _sharp(found, digits):
                return Ball.of_arb(found[0], digits), Ball.of_arb(found[1], digits)
    return None


def _sharp(found: tuple[Any, Any], digits: int) -> bool:
    return all(value.is_finite() and value.rel_accuracy_bits() > bits(digits) for value in found)
