"""Attention with proofs: balls from Krawczyk's test and the sign conditions that single out the solution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.attention_digits import NAMES, observe
from hermite_rmt.solvers.attention_equations import chart, residuals, sums
from hermite_rmt.solvers.attention_path import starts
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import At, apply, differentiate, refine
from hermite_rmt.solvers.certified_system import box_around, contracts

GUARD_BITS = 30
ATTEMPTS = 4


def certify_point(parameters: Mapping[str, Real], digits: int) -> Solution:
    """Prove the solution of Proposition 1 and Theorem 1 at one point.

    The proof: Krawczyk's operator maps a box in the coordinates of a chart into its interior, so the box contains
    exactly one solution of the equations; on the whole box m > 0, delta > 0 and the three roots are on the sheet
    |u|^2 > cbar, so this solution is one of form (b), which has only one (derivations/08_rational_form.py).

    Parameters
    ----------
    parameters : mapping of c, gamma, a1, eta, kappa, mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q to `Real`
        Rational numbers are taken exactly, others by their enclosures.
    digits : decimal digits of the relative radius

    Returns
    -------
    Solution
        Values `trace`, `quadratic_form`, `error`, `delta`, `tau` as `Ball`; outcome NOT_PROVED and nan where the test
        does not close.

    Raises
    ------
    ValueError
        If a parameter is neither rational nor able to give an enclosure.
    ImportError
        If python-flint is not installed.

    >>> from hermite_rmt.core.numbers import read_real
    >>> names = ("kappa", "a1", "mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")
    >>> point = {name: read_real(0, name) for name in names}
    >>> point |= {"c": read_real(1, "c"), "gamma": read_real(1, "gamma"), "eta": read_real(2, "eta")}
    >>> ball = certify_point(point, 20)["error"]
    >>> print(ball.mid, ball.rad < 1e-20)
    0.45685403062301732370 True
    """
    point = ExactPoint(parameters)
    wanted, steps = bits(digits), 0
    for current in starts(point):
        for attempt in range(1, ATTEMPTS + 1):
            precision = wanted + attempt * GUARD_BITS + (attempt - 1) * wanted // 2
            if not refine(point, current, precision, True):
                break
            numbers = BallArithmetic(precision + GUARD_BITS)
            with numbers.active():
                scaled = point.scaled(numbers)
                box = prove(scaled, current.use_pair, current.x, current.inverse, numbers)
                if box is None:
                    continue
                values = observe(point, scaled, box, numbers)
                if all(_sharp(value, wanted) for value in values.values()):
                    balls = {name: Ball.of_arb(value, digits) for name, value in values.items()}
                    widest = max(float(equation.value.abs_upper()) for equation in box.equations)
                    return Solution(balls, widest, Outcome.CONVERGED, digits, steps + current.steps)
        steps += current.steps
    return Solution(dict.fromkeys(NAMES, math.nan), math.inf, Outcome.NOT_PROVED, digits, steps)


def prove(
    scaled: Scaled, use_pair: bool, x: list[Any], preconditioner: list[list[Any]], numbers: BallArithmetic
) -> At | None:
    """Return the equations on a box around x that contains exactly one solution, that of form (b); None if unproved.

    By Krawczyk's test (`contracts`); R and J are balls: true for all parameters within theirs.
    """
    one = numbers.number(1.0)
    centre = [numbers.number(entry) for entry in x]
    inverse = [[numbers.number(entry) for entry in row] for row in preconditioner]
    roots = chart(use_pair)(scaled.inputs, scaled.gamma, *centre)
    change = apply(inverse, list(residuals(scaled.inputs, scaled.gamma, roots, sums(scaled.inputs, roots))))
    box = box_around(centre, change, numbers)
    on_box = differentiate(scaled, use_pair, box, one)
    if not contracts(centre, change, box, inverse, [equation.dense() for equation in on_box.equations]):
        return None
    outside = on_box.roots.outside(scaled.inputs.shape.cbar.sqrt())
    signs = (*outside, on_box.roots.gain, on_box.integrals.I0, on_box.integrals.I1)
    return on_box if all(sign.value > 0 for sign in signs) else None


def _sharp(value: Any, wanted: int) -> bool:
    """Whether the relative radius is at most 2^-wanted; exact zeros are."""
    return bool(value.is_zero() or value.rel_accuracy_bits() > wanted)
