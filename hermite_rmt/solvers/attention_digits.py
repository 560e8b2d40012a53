"""Attention to any number of digits, one point at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import KnownDigits, Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import Arithmetic, arithmetic
from hermite_rmt.solvers.attention_path import starts
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import (
    At,
    Iterate,
    along_log_gamma,
    chord_step,
    differentiate,
    refine,
)
from hermite_rmt.solvers.attention_response import quadratic_form

NAMES = ("trace", "quadratic_form", "error", "delta", "tau")
GUARD_BITS = 20  # at first; raised by what the comparison of two precisions shows to be lost
CHECK_BITS = 30  # the second precision has that many more
ATTEMPTS = 8
NO_START = "neither doubles nor a path in log c, log gamma and log |kappa| from within their range reached the point"
NO_AGREEMENT = "from a solution to few digits, Newton's method or two precisions did not agree on more"


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
        Values `trace`, `quadratic_form`, `error`, `delta`, `tau` as KnownDigits; nan where it failed.

    Notes
    -----
    Newton's method from the solution in double precision (continued from within where the point is beyond), with
    growing precision; E = -gamma dq/dlog(gamma) by implicit differentiation. Two precisions must agree to the digits
    asked for (with python-flint: its error bounds must leave them); bits lost are made good by more.

    >>> from hermite_rmt.core.numbers import read_real
    >>> names = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")
    >>> point = {name: read_real(0, name) for name in names}
    >>> point |= {"c": read_real(1, "c"), "gamma": read_real(1, "gamma"), "a1": read_real(0, "a1")}
    >>> point |= {"eta": read_real(2, "eta"), "kappa": read_real(0, "kappa")}
    >>> solve_point(point, 30)["error"]
    mpf('0.456854030623017323704199442931')
    """
    return solve_with(_observe, NAMES, ExactPoint(parameters), digits, use_flint)


class Observer(Protocol):
    """Evaluates values at an iterate, and says whether it is on the physical branch."""

    def __call__(self, point: ExactPoint, current: Iterate, numbers: Arithmetic) -> tuple[dict[str, Any], bool]:
        """Return the values by name, in the arithmetic, and whether they are the physical ones."""
        ...


def solve_with(
    observer: Observer, names: tuple[str, ...], point: ExactPoint, digits: int, use_flint: bool | None
) -> Solution:
    """Solve one point and evaluate what `observer` says to `digits` digits."""
    outcome, steps, residual, why = Outcome.NOT_CONVERGED, 0, math.inf, NO_START
    point.prepare(bits(digits) + GUARD_BITS + 3 * CHECK_BITS)
    for current in starts(point):
        values, outcome = _solve_from(observer, point, current, digits, use_flint)
        steps, residual = steps + current.steps, current.residual
        if values is not None:
            return Solution(values, residual, outcome, digits, steps)
        why = NO_AGREEMENT
    notes = (why,) if outcome is Outcome.NOT_CONVERGED else ()
    return Solution(dict.fromkeys(names, math.nan), residual, outcome, digits, steps, notes)


def _solve_from(
    observer: Observer, point: ExactPoint, current: Iterate, digits: int, use_flint: bool | None
) -> tuple[dict[str, KnownDigits] | None, Outcome]:
    wanted = bits(digits) + 4
    precision = wanted + GUARD_BITS + point.cancelling
    for _ in range(ATTEMPTS):
        if not refine(point, current, precision, use_flint):
            break
        agreed, values, physical = _compare(observer, point, current, precision, use_flint)
        if agreed >= wanted:
            if not physical:
                return None, Outcome.WRONG_BRANCH
            return {name: KnownDigits.of(value, digits) for name, value in values.items()}, Outcome.CONVERGED
        precision += max(math.ceil(wanted - max(agreed, 0)) + GUARD_BITS, precision if agreed <= 0 else 0)
    return None, Outcome.NOT_CONVERGED


def _compare(
    observer: Observer, point: ExactPoint, current: Iterate, precision: int, use_flint: bool | None
) -> tuple[float, dict[str, Any], bool]:
    """Return how many bits of the values are right, the values and whether they are physical.

    Error bounds say how many where the arithmetic has them, at an iterate right to more bits than it works with;
    else two precisions are compared.
    """
    numbers, finer = (arithmetic(precision + extra, use_flint) for extra in (CHECK_BITS, 2 * CHECK_BITS))
    coarse, _ = (
        observer(point, current, arithmetic(precision, use_flint)) if not numbers.bounds_errors else ({}, True)
    )
    chord_step(point, current, finer)
    values, physical = observer(point, current, numbers)
    with numbers.active():
        if numbers.bounds_errors:
            agreed = min(numbers.accuracy(value) for value in values.values())
            if agreed <= 0:  # nothing is known yet, perhaps not even that the values are finite
                return agreed, {}, physical
        result = {name: numbers.mpf(value) for name, value in values.items()}
    if not numbers.bounds_errors:
        agreed = min(_agreement(coarse[name], result[name]) for name in result)
    return agreed, result, physical


def _observe(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> tuple[dict[str, Any], bool]:
    with numbers.active():
        scaled = point.scaled(numbers)
        x = [numbers.exact(value) for value in current.x]
        here = differentiate(scaled, current.use_pair, x, numbers.number(1.0))
        return observe(point, scaled, here, numbers), is_physical(scaled, here, numbers)


def is_physical(scaled: Scaled, here: At, numbers: Arithmetic) -> bool:
    """Whether m > 0, delta >= 0 and the roots are on the sheet |u|^2 > cbar: then it is the solution of form (b)."""
    outside = here.roots.outside(numbers.sqrt(scaled.inputs.shape.cbar))
    return all(sign.value > 0 for sign in (*outside, here.roots.gain, here.integrals.I0))


def observe(point: ExactPoint, scaled: Scaled, here: At, numbers: Arithmetic) -> dict[str, Any]:
    """Return the values by name, numbers or balls; E = -gamma dq/dlog(gamma)."""
    assert scaled.overlaps is not None
    q = quadratic_form(scaled.inputs, here.gamma, scaled.overlaps, here.roots, here.integrals)
    c, I1 = scaled.inputs.shape.c, here.integrals.I1.value
    gain, k = here.roots.gain.value, here.roots.k.value
    values = (
        gain * here.integrals.I0.value,
        q.value,
        -scaled.gamma * along_log_gamma(here, q, numbers.number(1.0)),
        c * (scaled.gamma * gain) * I1,
        numbers.number(0.0) if point.even else c * I1 * (here.integrals.slope.value + k),
    )
    return point.unscaled(dict(zip(NAMES, values, strict=True)), numbers)


def _agreement(coarse: Any, fine: Any) -> float:
    """Return the number of leading bits in which two mpf agree."""
    difference = fine - coarse
    return _magnitude(fine) - _magnitude(difference) if difference else math.inf


def _magnitude(value: Any) -> float:
    _, mantissa, exponent, length = value._mpf_
    return float(exponent + length) if mantissa else -math.inf
