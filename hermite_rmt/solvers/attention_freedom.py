"""Effective degrees of freedom of attention, 1 - gamma m, as one quotient without cancellation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hermite_rmt.core.numbers import Real
from hermite_rmt.core.solution import Solution
from hermite_rmt.solvers.arithmetic import Arithmetic
from hermite_rmt.solvers.attention_bounds import largest_eigenvalue
from hermite_rmt.solvers.attention_digits import is_physical, solve_with
from hermite_rmt.solvers.attention_equations import Inputs
from hermite_rmt.solvers.attention_newton import Problem, evaluate, iterate
from hermite_rmt.solvers.attention_point import ExactPoint
from hermite_rmt.solvers.attention_refine import Iterate, differentiate
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of

FAR = 1e9  # gamma over the largest eigenvalue from where a small root sum is lost beside gamma in double precision


def freedom(inputs: Inputs, gamma: Any, use_pair: bool, x: Any, pairs: Any) -> Any:
    """Return 1 - gamma m at coordinates x of a chart (see attention_equations), `pairs` as in `Roots`.

    With F1 = a e_1, F2 = a^2 e_2, F3 = a^2 e_3, V = a^2 b^2 + b a F1 + F2 and U = a^2 b + a F1 + F2, the quotient
    gamma m of `gain` and `I0` leaves

        1 - gamma m = min(1, c) [F3 (V - a^2 cbar) + U V] / pairs,

    for c below and above 1 (derivations/08_rational_form.py). The leading terms of large F3 are gone.
    """
    _, cbar, b, _, _, zeta = inputs.shape
    a2 = inputs.a * inputs.a
    if use_pair:
        f0, S, v = x
        y0, aS = gamma * f0, inputs.a * S
        F3, V, U = y0 * (v - aS), v + aS * (y0 - cbar), v + y0 * (a2 * cbar + aS)
    else:
        F1, F2, f3 = x
        aF1 = inputs.a * F1
        F3, V, U = gamma * f3, (a2 * b + aF1) * b + F2, a2 * b + aF1 + F2
    return (F3 * (V - a2 * cbar) + U * V) / (zeta * pairs)


def degrees_of_freedom(
    c: FloatArray, gamma: FloatArray, a1: FloatArray, nu: FloatArray, eta: FloatArray, kappa: FloatArray
) -> FloatArray:
    """Return 1 - gamma m in double precision; arrays of shape (N,), as in `solve_grid`; nan where it is not solved.

    Right to about 1e-11; to about 1e-8 where gamma is 1e6 to 1e9 times the largest eigenvalue of A^T A/n.

    >>> one = np.ones(1)
    >>> found = degrees_of_freedom(one, 1e20 * one, 0 * one, 2 * one, 2 * one, 0 * one)
    >>> print(f"{found[0]:.12g}")
    2e-20
    """
    with np.errstate(all="ignore"):
        scale = np.exp2(-np.round(np.log2(nu) / 2))
        inputs = Inputs(
            shapes_of(c), np.abs(a1) * scale, eta * scale * scale, kappa * np.where(a1 < 0, -scale, scale)
        )
        problem = Problem(inputs, gamma * scale * scale)
        state = iterate(problem)
        result = np.full(c.size, np.nan)
        # lim tr(A^T A)/n^2 (study/scale.py derives it): 1 - gamma m is mean/gamma up to the largest eigenvalue/gamma
        mean = nu + (c * (kappa + a1) + a1) ** 2 / c
        for use_pair in (True, False):
            for points, block in problem.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
                x = state.chart[:, points]
                pairs = evaluate(block, x, use_pair).roots.pairs.value
                result[points] = freedom(block.inputs, block.gamma, use_pair, x, pairs)
        return np.where(gamma > FAR * largest_eigenvalue(c, np.abs(a1), eta, np.abs(kappa)), mean / gamma, result)


def degrees_of_freedom_digits(parameters: Mapping[str, Real], digits: int, use_flint: bool | None = None) -> Solution:
    """Return 1 - gamma m at one point to `digits` right digits; arguments as in `solve_point`."""

    def observe(point: ExactPoint, current: Iterate, numbers: Arithmetic) -> tuple[dict[str, Any], bool]:
        with numbers.active():
            x = [numbers.exact(value) for value in current.x]
            scaled = point.scaled(numbers)
            here = differentiate(scaled, current.use_pair, x, numbers.number(1.0))
            value = freedom(scaled.inputs, scaled.gamma, current.use_pair, x, here.roots.pairs.value)
            return {"degrees_of_freedom": value}, is_physical(scaled, here, numbers)

    return solve_with(observe, ("degrees_of_freedom",), ExactPoint(parameters), digits, use_flint)
