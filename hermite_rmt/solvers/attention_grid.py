"""Attention in double precision: many points at once, one outcome a point."""

from __future__ import annotations

import numpy as np

from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.attention_equations import Inputs, Overlaps, quadratic_form, split_overlaps, trace
from hermite_rmt.solvers.attention_newton import (
    Point,
    Problem,
    State,
    along,
    evaluate,
    iterate,
    scale_of_k,
    solve_linear,
)
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of

NAMES = ("trace", "quadratic_form", "error", "delta", "tau")


def solve_grid(
    c: FloatArray,
    gamma: FloatArray,
    a1: FloatArray,
    nu: FloatArray,
    eta: FloatArray,
    kappa: FloatArray,
    overlaps: FloatArray,
) -> Solution:
    """Solve Proposition 1 and Theorem 1 in double precision.

    What double precision cannot do is said in the outcome of the point: nothing is raised, no warning is given.

    Parameters
    ----------
    c, gamma, a1, nu : float arrays of shape (N,)
        Aspect ratio, ridge, first Hermite coefficient, E f^2; c, gamma, nu > 0.
    eta : float array of shape (N,)
        nu - a1^2 >= 0, computed without cancellation; 0 exactly where f is linear.
    kappa : float array of shape (N,)
        diagonal + skip - a1.
    overlaps : float array of shape (N, 6)
        |mu|^2, mu.w_K, mu.w_Q, |w_K|^2, |w_Q|^2, w_K.w_Q; positive semidefinite Gram matrices.

    Returns
    -------
    Solution
        Values `trace`, `quadratic_form`, `error`, `delta`, `tau`, each of shape (N,); nan where the point failed.

    Notes
    -----
    Newton's method on the rational form (attention_equations); E = -gamma^2 dq/dgamma by implicit differentiation.

    >>> one = np.ones(1)
    >>> solution = solve_grid(one, one, 0 * one, 2 * one, 2 * one, 0 * one, np.zeros((1, 6)))
    >>> print(round(float(solution["error"][0]), 12))
    0.456854030623
    """
    with np.errstate(all="ignore"):  # a point beyond double range becomes nan here, and its outcome says so
        scale = np.exp2(-np.round(np.log2(nu) / 2))
        # (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma), exactly: s is a power of 2
        sign = np.where(a1 < 0, -1.0, 1.0)
        inputs = Inputs(shapes_of(c), np.abs(a1) * scale, eta * scale * scale, kappa * scale * sign)
        problem = Problem(inputs, gamma * scale * scale)
        state = iterate(problem)
        values, residual, physical = _observe(problem, state, overlaps)
        values["trace"] *= scale * scale
        values["quadratic_form"] *= scale * scale
        values["tau"] *= scale * sign
        outcome = _outcomes(problem, state, values, physical)
    failed = np.array([not entry.success for entry in outcome])
    for value in values.values():
        value[failed] = np.nan
    return Solution(values, residual, outcome, None, state.steps)


def _overlaps(gram: FloatArray) -> Overlaps:
    r = gram[:, 0]
    split = split_overlaps(tuple(gram.T), np.divide(1.0, r, out=np.zeros_like(r), where=r > 0))
    # squared lengths: rounding may have made them negative
    return split._replace(across_KK=np.maximum(split.across_KK, 0.0), across_QQ=np.maximum(split.across_QQ, 0.0))


def _observe(
    problem: Problem, state: State, gram: FloatArray
) -> tuple[dict[str, FloatArray], FloatArray, FloatArray]:
    size = problem.gamma.size
    values = {name: np.full(size, np.nan) for name in NAMES}
    residual = np.full(size, np.nan)
    physical = np.zeros(size, dtype=bool)
    converged = ~np.isnan(state.last_step)
    for use_pair in (True, False):
        for points, block in problem.blocks(np.flatnonzero(converged & (state.use_pair == use_pair))):
            point = evaluate(block, state.chart[:, points], use_pair, along_gamma=True)
            roots, integrals = point.roots, point.integrals
            q = quadratic_form(block.inputs, point.gamma, _overlaps(gram[points]), roots, integrals)
            velocity = solve_linear(point.residuals, tuple(-equation.gradient[3] for equation in point.residuals))
            gain, I1 = roots.gain.value, integrals.eta_I1.value
            values["trace"][points] = trace(roots, integrals).value
            values["quadratic_form"][points] = q.value
            values["error"][points] = -block.gamma * (along(q, velocity) + q.gradient[3])
            I1 = integrals.I1.value
            values["delta"][points] = block.inputs.shape.c * (block.gamma * gain) * I1
            values["tau"][points] = block.inputs.shape.c * I1 * (integrals.slope.value + roots.k.value)
            residual[points] = _scaled_residual(block, point)
            physical[points] = _is_physical(block, point)
    return values, residual, physical


def _scaled_residual(problem: Problem, point: Point) -> FloatArray:
    first, second, third = (equation.value for equation in point.residuals)
    scale = scale_of_k(problem, point.roots)
    size = np.maximum(np.abs(first), np.abs(second) / (scale * scale))
    return np.maximum(size, np.abs(third) / (np.abs(problem.inputs.kappa) + scale))


def _is_physical(problem: Problem, point: Point) -> FloatArray:
    """Whether m > 0, delta >= 0 and all three u_k lie outside the circle |u|^2 = cbar (Jury's criterion)."""
    roots, shape = point.roots, problem.inputs.shape
    radius = np.sqrt(shape.cbar)
    inner = shape.b / (1 + radius)  # 1 - radius
    positive = (roots.gain, roots.pairs, point.integrals.I0, roots.shifted(-radius), roots.shifted(radius))
    signs = np.all([entry.value > 0 for entry in positive], axis=0)
    return signs & (roots.product.value > problem.inputs.a**2 * radius**3) & (inner >= 0)


def _outcomes(problem: Problem, state: State, values: dict[str, FloatArray], physical: FloatArray) -> FloatArray:
    outcome = np.full(problem.gamma.size, Outcome.CONVERGED, dtype=object)
    converged = ~np.isnan(state.last_step)
    outcome[converged & ~physical] = Outcome.WRONG_BRANCH
    outcome[~converged] = Outcome.NOT_CONVERGED
    finite = np.all([np.isfinite(values[name]) & (np.abs(values[name]) > 0) for name in NAMES[:3]], axis=0)
    outcome[converged & ~finite] = Outcome.OUT_OF_RANGE
    return outcome
