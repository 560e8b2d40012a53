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
    newton_step,
    scale_of_k,
    solve_linear,
)
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of

NAMES = ("trace", "quadratic_form", "error", "delta", "tau")
REDUCED_NOISE = 1e-11  # relative changes of m and q in one more Newton step: what rounding errors do to them
FAILED_NOISE = 1e-8
SMALLEST = 1e-290  # smaller doubles lose digits


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
        values, residual, noise, physical = _observe(problem, state, overlaps)
        values["trace"] *= scale * scale
        values["quadratic_form"] *= scale * scale
        values["tau"] *= scale * sign
        outcome = _outcomes(state, values, noise, physical)
    failed = np.array([not entry.success for entry in outcome], dtype=bool)
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
) -> tuple[dict[str, FloatArray], FloatArray, FloatArray, FloatArray]:
    """Return the values, the scaled residual, what one more Newton step would change, and whether the branch is right."""
    size = problem.gamma.size
    values = {name: np.full(size, np.nan) for name in NAMES}
    residual, noise = np.full(size, np.nan), np.full(size, np.nan)
    physical = np.zeros(size, dtype=bool)
    for use_pair in (True, False):
        for points, block in problem.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
            point = evaluate(block, state.chart[:, points], use_pair, along_gamma=True)
            roots, integrals = point.roots, point.integrals
            q = quadratic_form(block.inputs, point.gamma, _overlaps(gram[points]), roots, integrals)
            m = trace(roots, integrals)
            velocity = solve_linear(point.residuals, tuple(-equation.gradient[3] for equation in point.residuals))
            c, I1 = block.inputs.shape.c, integrals.I1.value
            values["trace"][points] = m.value
            values["quadratic_form"][points] = q.value
            values["error"][points] = -block.gamma * (along(q, velocity) + q.gradient[3])
            values["delta"][points] = c * (block.gamma * roots.gain.value) * I1
            values["tau"][points] = c * I1 * (integrals.slope.value + roots.k.value)
            residual[points] = _scaled_residual(block, point)
            again = newton_step(point)
            noise[points] = np.maximum(np.abs(along(q, again) / q.value), np.abs(along(m, again) / m.value))
            physical[points] = _is_physical(block, point)
    return values, residual, noise, physical


def _scaled_residual(problem: Problem, point: Point) -> FloatArray:
    first, second, third = (equation.value for equation in point.residuals)
    scale = scale_of_k(problem, point.roots)
    size = np.maximum(np.abs(first), np.abs(second) / (scale * scale))
    return np.maximum(size, np.abs(third) / (np.abs(problem.inputs.kappa) + scale))


def _is_physical(problem: Problem, point: Point) -> FloatArray:
    """Whether m > 0, delta >= 0 and the roots are on the sheet |u|^2 > cbar: then it is the solution of form (b)."""
    outside = point.roots.outside(np.sqrt(problem.inputs.shape.cbar))
    sheet = np.all([entry.value >= 0 for entry in outside], axis=0)  # rounding may make the smallest of them 0
    return np.asarray(sheet & (point.roots.gain.value > 0) & (point.integrals.I0.value > 0))


def _outcomes(state: State, values: dict[str, FloatArray], noise: FloatArray, physical: FloatArray) -> FloatArray:
    """Return the outcome of every point; the last one that applies is what the reader sees."""
    outcome = np.full(physical.size, Outcome.CONVERGED, dtype=object)
    outcome[noise > REDUCED_NOISE] = Outcome.REDUCED
    outcome[noise > FAILED_NOISE] = Outcome.NOT_CONVERGED
    outcome[~physical] = Outcome.WRONG_BRANCH
    outcome[~state.converged] = Outcome.NOT_CONVERGED
    normal = np.all([np.abs(values[name]) > SMALLEST for name in NAMES[:3]], axis=0)
    finite = np.all([np.isfinite(value) for value in values.values()], axis=0)
    outcome[state.converged & ~(normal & finite)] = Outcome.OUT_OF_RANGE
    return outcome
