"""The double-precision iteration for attention: Newton's method, safeguarded by the contraction of form (b)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.solvers.attention_equations import (
    Inputs,
    Roots,
    Shape,
    Sums,
    chart,
    residuals,
    sums,
)
from hermite_rmt.solvers.attention_start import (
    ARRAYS,
    FLOATS,
    FloatArray,
    Functions,
    Physical,
    coordinates,
    first_guess,
)
from hermite_rmt.solvers.dual import Dual, seeds

CHUNK = 4096  # points a block: its arrays stay in the cache
TRUSTED_STEP = 0.3  # a Newton step of this relative size is taken as it is
SHORTENED_STEP = 30.0  # in sweep j a step up to j times that is shortened; beyond, the contraction makes one step
CONVERGED_STEP = 1e-8  # the next step would be its square
STALLED_STEP = 1e-6  # rounding errors may keep steps longer: after some patience this will do, judged afterwards
PATIENCE = 30
SWEEPS = 200


class Problem(NamedTuple):
    """A block of points."""

    inputs: Inputs
    gamma: FloatArray

    def take(self, where: FloatArray) -> Problem:
        """Return the points selected by an index or a mask."""
        shape = Shape(*(entry[where] for entry in self.inputs.shape))
        _, a, eta, kappa = self.inputs
        return Problem(Inputs(shape, a[where], eta[where], kappa[where]), self.gamma[where])

    def blocks(self, points: FloatArray) -> Iterator[tuple[FloatArray, Problem]]:
        """Split the points with these indices into blocks of at most CHUNK."""
        for start in range(0, points.size, CHUNK):
            block = points[start : start + CHUNK]
            yield block, self.take(block)


class Point(NamedTuple):
    """The equations, with derivatives, at chart coordinates x."""

    roots: Roots
    integrals: Sums
    residuals: tuple[Dual, Dual, Dual]
    gamma: Dual | FloatArray


def evaluate(problem: Problem, x: FloatArray, use_pair: bool, along_gamma: bool = False) -> Point:
    """Evaluate with derivatives along the chart's coordinates (logarithmic for positive ones), and log gamma."""
    one = np.ones_like(x[0]) if isinstance(x[0], np.ndarray) else 1.0
    values, scales = tuple(x), (x[0] if use_pair else one, one, x[2])
    gamma: Dual | FloatArray = problem.gamma
    if along_gamma:
        *variables, gamma = seeds((*values, problem.gamma), (*scales, problem.gamma))
    else:
        variables = list(seeds(values, scales))
    roots = chart(use_pair)(problem.inputs, gamma, *variables)
    integrals = sums(problem.inputs, roots)
    return Point(roots, integrals, residuals(problem.inputs, gamma, roots, integrals), gamma)


def solve_linear(equations: tuple[Dual, Dual, Dual], right: tuple[FloatArray, ...]) -> FloatArray:
    """Solve the 3 x 3 systems whose rows are the first three derivatives of the equations (Cramer's rule)."""
    (a, b, c), (d, e, f), (g, h, i) = (equation.dense()[:3] for equation in equations)
    p, q, r = right
    ei_fh, fg_di, dh_eg = e * i - f * h, f * g - d * i, d * h - e * g
    x = ei_fh * p + (c * h - b * i) * q + (b * f - c * e) * r
    y = fg_di * p + (a * i - c * g) * q + (c * d - a * f) * r
    z = dh_eg * p + (b * g - a * h) * q + (a * e - b * d) * r
    return np.array((x, y, z)) / (a * ei_fh + b * fg_di + c * dh_eg)


def newton_step(point: Point) -> FloatArray:
    """Return the step of Newton's method in the chart."""
    return solve_linear(point.residuals, tuple(-equation.value for equation in point.residuals))


def moved(x: FloatArray, step: FloatArray, use_pair: bool) -> FloatArray:
    """Return the chart coordinates after a step."""
    first = x[0] * np.exp(step[0]) if use_pair else x[0] + step[0]
    return np.array((first, x[1] + step[1], x[2] * np.exp(step[2])))


def along(quantity: Dual, step: FloatArray) -> FloatArray:
    """Return the derivative of a quantity along a step in the chart."""
    first, second, third = quantity.dense()[:3]
    return first * step[0] + second * step[1] + third * step[2]


class State:
    """Where the iteration stands, point by point.

    Attributes
    ----------
    physical : array (3, N), log g, Q, k of the last guess
    chart : array (3, N), coordinates in the chart of pairs where `use_pair`, else in the symmetric one
    guessed : array (N,) of bool, whether `chart` is to be found from `physical` first
    converged : array (N,) of bool
    steps : array (N,), evaluations used
    """

    def __init__(self, problem: Problem) -> None:
        size = problem.gamma.size
        self.physical = np.empty((3, size))
        for points, block in problem.blocks(np.arange(size)):
            self.physical[:, points] = first_guess(block.inputs, block.gamma)
        self.chart = np.empty((3, size))
        self.use_pair = np.zeros(size, dtype=bool)
        self.guessed = np.ones(size, dtype=bool)
        self.converged = np.zeros(size, dtype=bool)
        self.steps = np.zeros(size, dtype=int)


def iterate(problem: Problem) -> State:
    """Make Newton steps on all points that have not converged, until there are none: blocks are always full."""
    state = State(problem)
    pending = np.arange(problem.gamma.size)
    for sweep in range(1, SWEEPS + 1):
        for points, block in problem.blocks(pending[state.guessed[pending]]):
            found = coordinates(block.inputs, block.gamma, Physical(*state.physical[:, points]))
            state.use_pair[points] = found.use_pair
            state.chart[:, points] = np.where(found.use_pair, found.pair, found.symmetric)
        for use_pair in (True, False):
            for points, block in problem.blocks(pending[state.use_pair[pending] == use_pair]):
                _newton(block, state, points, use_pair, sweep)
        pending = pending[~state.converged[pending]]
        if not pending.size:
            break
    return state


def _newton(problem: Problem, state: State, points: FloatArray, use_pair: bool, sweep: int) -> None:
    """Make one Newton step in one chart, or where it is too long a new guess of g, Q, k."""
    x = state.chart[:, points]
    point = evaluate(problem, x, use_pair)
    step = newton_step(point)
    size = step_size(problem, point.roots, step, x, use_pair)
    trusted = size < TRUSTED_STEP  # False for nan
    if not trusted.all():
        lost = points[~trusted]
        guess = _new_guess(problem, point, state.physical[1, points], step, size, sweep * SHORTENED_STEP)
        state.physical[:, lost] = np.array(guess)[:, ~trusted]
    state.chart[:, points] = moved(x, step, use_pair)
    state.guessed[points] = ~trusted
    state.converged[points] = size < (CONVERGED_STEP if sweep <= PATIENCE else STALLED_STEP)
    state.steps[points] += 1


def scale_of_k(problem: Problem, roots: Roots, functions: Functions = ARRAYS) -> FloatArray:
    """Return the size of a x + k at the roots of D: what errors of k (and, squared, of Q) are measured against."""
    k, Q = roots.k.value, functions.maximum(roots.Q.value, 0.0)
    # the last term is what remains where k = Q = 0
    level = problem.inputs.a * problem.gamma * roots.gain.value / problem.inputs.shape.c
    return functions.sqrt(k * k + Q) + functions.cbrt(level)


def step_size(
    problem: Problem, roots: Roots, step: Any, x: Any, use_pair: bool, functions: Functions = ARRAYS
) -> FloatArray:
    """Return the largest relative change of g, k, Q and of the chart's own positive coordinates."""
    absolute, maximum = functions.abs, functions.maximum
    scale = scale_of_k(problem, roots, functions)
    size = maximum(absolute(along(roots.gain, step) / roots.gain.value), absolute(step[2]))
    size = maximum(size, absolute(along(roots.k, step)) / scale)
    size = maximum(size, absolute(along(roots.Q, step)) / (scale * scale))
    if use_pair:
        size = maximum(size, absolute(step[0]))
        size = maximum(size, absolute(step[1]) / (absolute(x[1]) + functions.sqrt(x[2])))
    return size


def _new_guess(
    problem: Problem, point: Point, Q: Any, step: Any, size: Any, limit: float, functions: Functions = ARRAYS
) -> tuple[Any, Any, Any]:
    """Return log g, Q, k after a shortened Newton step or, where it is beyond the limit, after the contraction."""
    log, where = functions.log, functions.where
    inputs, gamma = problem.inputs, problem.gamma
    gain, k = point.roots.gain.value, point.roots.k.value
    eta_I1 = point.integrals.eta_I1.value
    Q = where(point.roots.Q.value > 0, point.roots.Q.value, Q)  # rounding errors may make it negative
    g = gamma * gain
    fraction = functions.log1p(size) / size
    newton = (
        log(g) + fraction * along(point.roots.gain, step) / gain,
        Q * functions.exp(functions.clip(fraction * along(point.roots.Q, step) / Q, -1.0, 1.0)),
        k + fraction * along(point.roots.k, step),
    )
    ratio = 1 / gain + eta_I1
    contraction = (
        log(g * ratio),
        ratio * ((inputs.eta / inputs.shape.c) * g * point.integrals.I0.value + Q * eta_I1),
        inputs.kappa - eta_I1 * (point.integrals.slope.value + k),
    )
    first, second, third = (where(size < limit, a, b) for a, b in zip(newton, contraction, strict=True))
    return first, second, third


def iterate_one(problem: Problem) -> tuple[bool, list[float]] | None:
    """Iterate one point of Python floats as `iterate` does arrays, several times faster; None if that fails.

    Returns
    -------
    (whether `x` is in the chart of pairs, coordinates x)
    """
    try:
        return _iterate_one(problem)
    except (ArithmeticError, ValueError):  # outside the domain of a function: where arrays go through nan or inf
        return None


def _iterate_one(problem: Problem) -> tuple[bool, list[float]] | None:
    physical, guessed = first_guess(problem.inputs, problem.gamma, FLOATS), True
    use_pair, x = False, [0.0] * 3
    for sweep in range(1, SWEEPS + 1):
        if guessed:
            found = coordinates(problem.inputs, problem.gamma, physical, FLOATS)
            use_pair = bool(found.use_pair)
            x = list(found.pair if use_pair else found.symmetric)
        point = evaluate(problem, x, use_pair)
        step = newton_step(point).tolist()
        size = step_size(problem, point.roots, step, x, use_pair, FLOATS)
        guessed = not size < TRUSTED_STEP
        if guessed:
            limit = sweep * SHORTENED_STEP
            physical = Physical(*_new_guess(problem, point, physical.Q, step, size, limit, FLOATS))
            continue
        x = [x[0] * math.exp(step[0]) if use_pair else x[0] + step[0], x[1] + step[1], x[2] * math.exp(step[2])]
        if size < (CONVERGED_STEP if sweep <= PATIENCE else STALLED_STEP):
            return use_pair, x
    return None
