"""Effective degrees of freedom of attention, 1 - gamma m, without cancellation: one quotient, or integrals."""

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

FAR = 10.0  # gamma over a bound of the largest eigenvalue, from where integrals are taken by Gauss's rule
NODES, ROUNDS = 24, 20  # of the rule and of the iteration: both errors are below 1e-15 from there


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

    Right to about 1e-11, for kappa as it is given: at c above 1e10 its rounding hides a diagonal that is small beside
    a1. Where gamma is well above the spectrum, right to rounding.

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
        _, a, noise, shift = inputs
        ends = np.abs([a * (1 / c + side / np.sqrt(c)) + (shift + a) for side in (-2, 2)])  # of a x + kappa
        far = problem.gamma > FAR * largest_eigenvalue(c, 0.0, noise, ends.max(axis=0))
        result = np.full(c.size, np.nan)
        for points, block in problem.blocks(np.flatnonzero(far)):
            result[points] = _far_freedom(block.inputs, block.gamma)
        near = np.flatnonzero(~far)
        rest = problem.take(near)
        state = iterate(rest)
        for use_pair in (True, False):
            for points, block in rest.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
                x = state.chart[:, points]
                pairs = evaluate(block, x, use_pair).roots.pairs.value
                result[near[points]] = freedom(block.inputs, block.gamma, use_pair, x, pairs)
        return result


def _far_freedom(inputs: Inputs, gamma: FloatArray) -> FloatArray:
    r"""Return 1 - gamma m where the spectrum ends well below gamma.

    There the roots of D are far, and the sums over them cancel. But D = g (1 + eta m x) + c x (a x + k)^2 is nearly
    constant on the spectrum, and with 1 - gamma m = 1 - g I_0 all that is needed are integrals with a factor x,

        1 - gamma m = \int x (eta g m + c (a x + k)^2)/D,    1/G = 1 - eta \int x/D,
        k = kappa - eta \int x (a x + k)/D,

    those of the first positive. x times the Marchenko-Pastur law is the semicircle law about 1 + 1/c of radius
    2/sqrt(c): Gauss's rule has Chebyshev's nodes. A cubic bounded by the largest eigenvalue lambda on the spectrum is
    at most gamma on an ellipse of parameter (gamma/lambda)^(1/3), so the rule of N nodes is right to about
    (gamma/lambda)^(-2 N/3). The equations are iterated from gamma = infinity, where they contract by lambda/gamma.
    """
    c, a, eta = inputs.shape.c, inputs.a, inputs.eta
    angle = (np.pi / (NODES + 1) * np.arange(1, NODES + 1))[:, None]
    weight = 2 / (NODES + 1) * np.sin(angle) ** 2
    beside = 1 / c + 2 * np.cos(angle) / np.sqrt(c)  # x - 1
    x = 1 + beside
    fixed = a * beside + (inputs.kappa + a)  # a x + kappa: for f without a diagonal nothing is left of a
    gain, moved, share = np.ones_like(c), np.zeros_like(c), np.zeros_like(c)
    for _ in range(ROUNDS):
        linear = fixed + moved
        noise = eta * (1 - share)  # eta gamma m
        square = c * linear * linear
        D = gamma * gain + x * (noise * gain + square)
        gain = 1 / (1 - eta * (weight / D).sum(axis=0))
        moved = -eta * (weight * linear / D).sum(axis=0)
        share = (weight * (noise * gain + square) / D).sum(axis=0)
    return share


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
