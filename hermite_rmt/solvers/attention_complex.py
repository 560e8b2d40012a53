"""Attention at complex gamma: the Stieltjes branch by continuation, and the spectral density of A^T A / n."""

from __future__ import annotations

import numpy as np

from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.attention_equations import Inputs, trace
from hermite_rmt.solvers.attention_newton import Problem, evaluate, iterate, newton_step, solve_linear
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of

PATHS = (40, 320)  # steps of the rotation; points that make a long step on the coarse path take the fine one
LONGEST_STEP = 0.3
FINAL_STEPS = 30
CONVERGED_STEP = 1e-9


def solve_complex(
    c: FloatArray, gamma: FloatArray, a1: FloatArray, nu: FloatArray, eta: FloatArray, kappa: FloatArray
) -> Solution:
    """Solve Proposition 1 at complex gamma = -z: m(z) = lim tr (A^T A / n - z)^-1 / n off the spectrum, or on it.

    From |gamma| > 0, where form (b) has one solution, gamma is rotated to its place: m is analytic off the negative
    axis, so this is the Stieltjes branch. A gamma on the negative axis means the limit from Im z > 0.

    Parameters
    ----------
    c, a1, nu, eta, kappa : float arrays of shape (N,), as in `solve_grid`
    gamma : complex array of shape (N,), not 0

    Returns
    -------
    Solution
        Value `trace`, complex; nan where the continuation failed (on the spectrum, at an edge of it). `residual` is
        the size of the last Newton step.

    >>> one = np.ones(1)
    >>> solution = solve_complex(one, 1j * one, 0 * one, 2 * one, 2 * one, 0 * one)
    >>> print(np.round(solution["trace"], 6))
    [0.219977-0.578928j]
    """
    gamma = np.asarray(gamma, dtype=complex)
    with np.errstate(all="ignore"):
        scale = np.exp2(-np.round(np.log2(nu) / 2))
        sign = np.where(a1 < 0, -1.0, 1.0)
        inputs = Inputs(shapes_of(c), np.abs(a1) * scale, eta * scale * scale, kappa * scale * sign)
        modulus = np.abs(gamma) * scale * scale
        problem = Problem(inputs, modulus)
        state = iterate(problem)
        start = _symmetric(problem, state.chart, state.use_pair)
        angle = -np.abs(np.angle(gamma))  # Im z >= 0; the other half plane by conjugation
        values = np.full(gamma.size, np.nan, dtype=complex)
        residual, steps = np.full(gamma.size, np.inf), np.zeros(gamma.size, dtype=int)
        pending = np.flatnonzero(state.converged)
        for count in PATHS:
            for points, block in problem.blocks(pending):
                found = _rotate(block, start[:, points], angle[points], count)
                values[points], residual[points] = found
                steps[points] += count
            pending = pending[~(residual[pending] < CONVERGED_STEP)]
        outcome = np.full(gamma.size, Outcome.CONVERGED, dtype=object)
        wrong = ~(np.imag(values) >= -1e-9 * np.abs(values))
        failed = ~(residual < CONVERGED_STEP)
        outcome[wrong] = Outcome.WRONG_BRANCH
        outcome[failed] = Outcome.NOT_CONVERGED
        values[wrong | failed] = np.nan
        values *= scale * scale
    return Solution({"trace": np.where(gamma.imag > 0, values.conj(), values)}, residual, outcome, None, steps)


def spectral_density(
    x: FloatArray, c: FloatArray, a1: FloatArray, nu: FloatArray, eta: FloatArray, kappa: FloatArray
) -> FloatArray:
    """Return the density of the eigenvalues of A^T A / n at x > 0, the continuous part; arrays of shape (N,).

    nan where the continuation fails: at most at an edge.

    >>> one = np.ones(2)
    >>> density = spectral_density(np.array([1.0, 99.0]), one, 0.6 * one, 0.5 * one, 0.14 * one, -0.6 * one)
    >>> print(density.round(6))
    [0.073892 0.      ]
    """
    m = solve_complex(c, -np.asarray(x, dtype=complex), a1, nu, eta, kappa)["trace"]
    return np.maximum(m.imag, 0.0) / np.pi


def _symmetric(problem: Problem, chart: FloatArray, use_pair: FloatArray) -> FloatArray:
    """Return the coordinates of the symmetric chart, whichever the solution is in."""
    a, b = problem.inputs.a, problem.inputs.shape.b
    f0, S, v = chart
    y0, both, product = problem.gamma * f0, S - a * b, v - a * S
    converted = np.array((a * y0 + both, a * y0 * both + product, f0 * product))
    return np.where(use_pair, converted, chart).astype(complex)


def _rotate(problem: Problem, x: FloatArray, angle: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Continue from gamma to gamma exp(i angle): the trace, and the last Newton step (inf where a step was long)."""
    x = x.copy()
    turn = 1j * angle / count
    long = np.zeros(angle.size, dtype=bool)
    for position in range(count + 1):
        here = Problem(problem.inputs, problem.gamma * np.exp(turn * position))
        for final in range(FINAL_STEPS if position == count else 1):
            point = evaluate(here, x, use_pair=False, along_gamma=True)
            step = newton_step(point)
            size = _size(step, x)
            x = np.array((x[0] + step[0], x[1] + step[1], x[2] * np.exp(step[2])))
            long |= ~(size < LONGEST_STEP) & (final == 0)
            if np.all((size < CONVERGED_STEP) | long):
                break
        velocity = solve_linear(point.residuals, tuple(-equation.dense()[3] for equation in point.residuals))
        if position < count:
            move = velocity * turn
            x = np.array((x[0] + move[0], x[1] + move[1], x[2] * np.exp(move[2])))
    point = evaluate(here, x, use_pair=False)
    return trace(point.roots, point.integrals).value, np.where(long, np.inf, size)


def _size(step: FloatArray, x: FloatArray) -> FloatArray:
    scale = np.maximum(np.abs(x[0]) ** 2, np.abs(x[1]))
    return np.max((np.abs(step[0]) / np.sqrt(scale), np.abs(step[1]) / scale, np.abs(step[2])), axis=0)
