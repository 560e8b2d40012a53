"""Attention at complex gamma: the Stieltjes branch by continuation, and the spectral density of A^T A / n."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.attention_equations import Inputs, sums, symmetric_roots, trace
from hermite_rmt.solvers.attention_newton import Problem, evaluate, iterate, newton_step, solve_linear
from hermite_rmt.solvers.attention_response import quadratic_form, split_overlaps
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of, symmetric_from_pair

PATHS = (40, 320)  # steps of the rotation; points that make a long step on the coarse path take the fine one
LONGEST_STEP = 0.3
FINAL_STEPS = 30
CONVERGED_STEP = 1e-9


def solve_complex(
    c: FloatArray,
    gamma: FloatArray,
    a1: FloatArray,
    nu: FloatArray,
    eta: FloatArray,
    kappa: FloatArray,
    overlaps: FloatArray | None = None,
) -> Solution:
    """Solve Proposition 1 at complex gamma = -z: m(z) = lim tr (A^T A / n - z)^-1 / n off the spectrum, or on it.

    Theorem 1 is a rational function of its solution, so q = lim y^T (A^T A / n - z)^-1 y / n comes with it.

    From |gamma| > 0, where form (b) has one solution, gamma is rotated to its place: m is analytic off the negative
    axis, so this is the Stieltjes branch. A gamma on the negative axis means the limit from Im z > 0.

    Parameters
    ----------
    c, a1, nu, eta, kappa : float arrays of shape (N,), as in `solve_grid`
    gamma : complex array of shape (N,), not 0
    overlaps : float array of shape (N, 6), mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q; None for q = m

    Returns
    -------
    Solution
        Values `trace` and `quadratic_form`, complex; nan where the continuation failed (on the spectrum, at an edge
        of it). `residual` is the size of the last Newton step.

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
        # Im z >= 0; the other half plane by conjugation
        angle = -np.abs(np.angle(gamma))
        found = continued(Problem(inputs, np.abs(gamma) * scale * scale), angle)
        values = found.trace * scale * scale
        forms = values.copy()
        if overlaps is not None:
            turned = np.abs(gamma) * scale * scale * np.exp(1j * angle)
            forms = _form(inputs, turned, found.chart, overlaps) * scale * scale
        outcome = np.full(gamma.size, Outcome.CONVERGED, dtype=object)
        wrong = ~(np.imag(values) >= -1e-9 * np.abs(values))
        failed = ~(found.last_step < CONVERGED_STEP)
        outcome[wrong] = Outcome.WRONG_BRANCH
        outcome[failed] = Outcome.NOT_CONVERGED
        values[wrong | failed] = forms[wrong | failed] = np.nan
    values, forms = (np.where(gamma.imag > 0, value.conj(), value) for value in (values, forms))
    return Solution({"trace": values, "quadratic_form": forms}, found.last_step, outcome, None, found.steps)


def _form(inputs: Inputs, gamma: FloatArray, chart: FloatArray, overlaps: FloatArray) -> FloatArray:
    gram = tuple(overlaps.T)
    roots = symmetric_roots(inputs, gamma, *chart)
    split = split_overlaps(gram, np.where(gram[0] > 0, gram[0], 1.0))
    return quadratic_form(inputs, gamma, split, roots, sums(inputs, roots))


class Continued(NamedTuple):
    """Where a rotation of gamma ended: coordinates F1, F2, f3 (3, N), the trace, the last Newton step, steps."""

    chart: FloatArray
    trace: FloatArray
    last_step: FloatArray
    steps: FloatArray


def continued(problem: Problem, angle: FloatArray) -> Continued:
    """Continue the solution from real gamma > 0 to gamma exp(i angle), in the symmetric chart."""
    size = problem.gamma.size
    state = iterate(problem)
    start = _symmetric(problem, state.chart, state.use_pair)
    found = Continued(
        np.full((3, size), np.nan, dtype=complex),
        np.full(size, np.nan, dtype=complex),
        np.full(size, np.inf),
        np.zeros(size, dtype=int),
    )
    pending = np.flatnonzero(state.converged)
    for count in PATHS:
        for points, block in problem.blocks(pending):
            chart, value, last_step = _rotate(block, start[:, points], angle[points], count)
            found.chart[:, points], found.trace[points], found.last_step[points] = chart, value, last_step
            found.steps[points] += count
        pending = pending[~(found.last_step[pending] < CONVERGED_STEP)]
    return found


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
    converted = np.array(symmetric_from_pair(problem.inputs, problem.gamma, chart))
    return np.where(use_pair, converted, chart).astype(complex)


def _rotate(
    problem: Problem, x: FloatArray, angle: FloatArray, count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates, trace and last Newton step (inf where a step on the way was long)."""
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
    return x, trace(point.roots, point.integrals).value, np.where(long, np.inf, size)


def _size(step: FloatArray, x: FloatArray) -> FloatArray:
    scale = np.maximum(np.abs(x[0]) ** 2, np.abs(x[1]))
    return np.max((np.abs(step[0]) / np.sqrt(scale), np.abs(step[1]) / scale, np.abs(step[2])), axis=0)
