"""Attention at complex gamma to any number of digits, up to the real axis and on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import RationalReal, Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_complex import CONVERGED_STEP, continued
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_point import ExactPoint
from hermite_rmt.solvers.attention_refine import apply, differentiate, inverse_jacobian
from hermite_rmt.solvers.attention_response import quadratic_form

NAMES = ("trace", "quadratic_form")
_ONE = RationalReal(Fraction(1))
GUARD_BITS = 40
ATTEMPTS = 8  # each with twice as many guard bits
STEPS = 200
AT_AN_EDGE = "two precisions never agree: this is an edge of the spectrum, a double root, or too close to one"
LOST = "double precision does not follow the solution there: an edge of the spectrum, or values beyond its range"


def solve_complex_point(parameters: Mapping[str, Real], z: tuple[Real, Real], digits: int) -> Solution:
    """Solve Proposition 1 and Theorem 1 at z with Im z >= 0, gamma = -z; on the real axis the limit from above.

    Parameters
    ----------
    parameters : mapping of c, a1, eta, kappa and the six overlaps to `Real`, as in `solve_point`
    z : its real and imaginary part, not both 0
    digits : of the real and of the imaginary part each

    Returns
    -------
    Solution
        Values `trace`, lim tr (A^T A/n - z)^-1 / n, and `quadratic_form`, mpc of a local context; nan: it failed.

    Notes
    -----
    The solution in double precision, continued from gamma > 0, is refined by Newton's method until two precisions
    agree; outside the spectrum on the real axis in real numbers.

    >>> from hermite_rmt.core.numbers import read_real
    >>> point = {name: read_real(0, name) for name in ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q", "a1", "kappa")}
    >>> point |= {"c": read_real(1, "c"), "eta": read_real(2, "eta")}
    >>> solution = solve_complex_point(point, (read_real(0, "z"), read_real(1, "z")), 20)
    >>> print(f"{complex(solution['trace']):.6f}")
    0.219977+0.578928j
    """
    point = ExactPoint({**parameters, "gamma": _ONE})
    real_axis = z[1].rational == 0
    start, steps = _start(point, z)
    if start is None:
        return _failed(digits, steps, LOST)
    wanted, coarse = bits(digits) + 4, None
    for attempt in range(ATTEMPTS):
        numbers = MpmathArithmetic(wanted + (GUARD_BITS << attempt))
        found = _refined(point, z, start, numbers)
        if found is None:
            coarse = None
            continue
        fine, start = found
        if real_axis and start[2].imag and abs(start[2].imag) < abs(start[2]) * 0.5 ** (0.75 * numbers.precision):
            # outside the spectrum the solution is real; a density may be as small
            real = _refined(point, z, [value.real for value in start], numbers)
            if real is not None:
                fine, start = real
        if coarse is not None and all(_agree(a, b, wanted) for a, b in zip(coarse, fine, strict=True)):
            outcome = Outcome.CONVERGED if _is_stieltjes(fine[0], numbers, z) else Outcome.WRONG_BRANCH
            return Solution(dict(zip(NAMES, fine, strict=True)), 0.0, outcome, digits, steps)
        coarse = fine
    return _failed(digits, steps, AT_AN_EDGE)


def _failed(digits: int, steps: int, why: str) -> Solution:
    return Solution(dict.fromkeys(NAMES, math.nan), math.inf, Outcome.NOT_CONVERGED, digits, steps, (why,))


def _start(point: ExactPoint, z: tuple[Real, Real]) -> tuple[list[Any] | None, int]:
    """Return F1, F2, f3 in double precision."""
    context = local_context(128)
    number = context.mpc(-z[0].mpf(128), -z[1].mpf(128))
    size = float(context.ldexp(abs(number), 2 * point.shift))
    if not 0 < size < math.inf:
        return None, 0
    angle = -np.abs(np.array([float(context.arg(number))]))
    with np.errstate(all="ignore"):
        found = continued(Problem(point.double().inputs, np.array([size])), angle)
    steps = int(found.steps[0])
    if not found.last_step[0] < CONVERGED_STEP:
        return None, steps
    x = found.chart[:, 0]
    if angle[0] == 0:
        x = x.real
    return x.tolist(), steps


def _refined(
    point: ExactPoint, z: tuple[Real, Real], start: list[Any], numbers: MpmathArithmetic
) -> tuple[list[Any], list[Any]] | None:
    """Return trace and q, and the coordinates, at one precision; None where Newton's method does not converge."""
    context = local_context(numbers.precision)
    one = numbers.number(1.0)
    scaled = point.scaled(numbers)
    scale, _ = point.scales(numbers)
    gamma = -(
        context.mpc(z[0].mpf(context.prec), z[1].mpf(context.prec)) if z[1].rational != 0 else z[0].mpf(context.prec)
    )
    scaled = scaled._replace(gamma=gamma * (scale * scale))
    x = [context.convert(value) for value in start]
    for _ in range(STEPS):
        try:
            here = differentiate(scaled, False, x, one)
            step = apply(inverse_jacobian(here, one), [equation.value for equation in here.equations])
        except ZeroDivisionError:
            return None
        largest = max(abs(x[0]) ** 2, abs(x[1]))
        size = max(abs(step[0]) ** 2 / largest, abs(step[1] / largest) ** 2, abs(step[2] / x[2]) ** 2)
        x = [value - change for value, change in zip(x, step, strict=True)]
        if not size < 1:
            return None
        if size < context.ldexp(1, -numbers.precision):
            break
    else:
        return None
    here = differentiate(scaled, False, x, one)
    assert scaled.overlaps is not None
    q = quadratic_form(scaled.inputs, here.gamma, scaled.overlaps, here.roots, here.integrals)
    m = here.roots.gain.value * here.integrals.I0.value
    return [context.mpc(value * (scale * scale)) for value in (m, q.value)], x


def _agree(coarse: Any, fine: Any, wanted: int) -> bool:
    return all(abs(a - b) <= abs(b) * 0.5**wanted for a, b in ((coarse.real, fine.real), (coarse.imag, fine.imag)))


def _is_stieltjes(m: Any, numbers: MpmathArithmetic, z: tuple[Real, Real]) -> bool:
    """Whether Im m >= 0 and |m| Im z <= 1."""
    slack = 1 + numbers.number(0.5**30)
    return bool(m.imag >= 0 and abs(m) * z[1].mpf(numbers.precision) <= slack)
