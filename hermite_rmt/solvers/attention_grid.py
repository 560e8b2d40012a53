"""Attention in double precision: many points at once, one outcome a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hermite_rmt.core.numbers import read_real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_equations import Inputs, trace
from hermite_rmt.solvers.attention_newton import (
    Point,
    Problem,
    along,
    evaluate,
    iterate,
    moved,
    newton_step,
    scale_of_k,
    solve_linear,
)
from hermite_rmt.solvers.attention_point import NAMES as POINT
from hermite_rmt.solvers.attention_response import Overlaps, Response, response, split_overlaps
from hermite_rmt.solvers.attention_start import FloatArray, shapes_of
from hermite_rmt.solvers.dual import Dual

NAMES = ("trace", "quadratic_form", "error", "delta", "tau")
# relative changes of m and q in one more Newton step: what rounding errors do to them
SUSPECT, NOISY, REDUCED_NOISE, FAILED_NOISE = 1e-14, 3e-13, 1e-11, 1e-8
LOSING = 3e-10  # relative changes of E under changes of few ulp: from where digits decide
DIGITS = 17  # of the points that are solved one by one
NEAR_POLE = 1e-3  # relative size of 1 + a_1 T below which its rounding errors are measured
FEW_ULPS = 4 * 2.0**-52
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
    About one point in 10^4 of a wide box, where rounding errors are seen, is solved again with more digits.

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
        observed = _Observed(gamma.size)
        for use_pair in (True, False):
            for points, block in problem.blocks(np.flatnonzero(state.converged & (state.use_pair == use_pair))):
                observed.record(points, block, state.chart[:, points], use_pair, _overlaps(overlaps[points]))
        for use_pair in (True, False):
            suspect = observed.near_pole | (observed.noise > SUSPECT)
            for points, block in problem.blocks(np.flatnonzero(suspect & (state.use_pair == use_pair))):
                split = _overlaps(overlaps[points])
                observed.lost[points] = _lost(block, state.chart[:, points], use_pair, split)
        values = observed.values
        values["trace"] *= scale * scale
        values["quadratic_form"] *= scale * scale
        values["tau"] *= scale * sign
    observed.improve((c, gamma, a1, eta, kappa, *overlaps.T))
    with np.errstate(all="ignore"):
        outcome = observed.judge(state.converged)
    return Solution(values, observed.residual, outcome, None, state.steps)


def _overlaps(gram: FloatArray) -> Overlaps:
    # weights across the signal do not enter: dropped, they leave no rounding errors either
    heard = (gram[:, 1] != 0) | (gram[:, 2] != 0)
    r, *weights = gram.T
    split = split_overlaps((r, *(np.where(heard, entry, 0.0) for entry in weights)), np.where(r > 0, r, 1.0))
    # squared lengths: rounding may have made them negative
    return split._replace(across_KK=np.maximum(split.across_KK, 0.0), across_QQ=np.maximum(split.across_QQ, 0.0))


class _Forms(NamedTuple):
    """q and E at points of a chart, and what they come from."""

    point: Point
    response: Response
    quadratic_form: Dual
    error: FloatArray

    @classmethod
    def at(cls, block: Problem, x: FloatArray, use_pair: bool, overlaps: Overlaps) -> _Forms:
        """Evaluate; E from the velocity of the coordinates along log gamma."""
        point = evaluate(block, x, use_pair, along_gamma=True)
        theorem = response(block.inputs, point.gamma, overlaps, point.roots, point.integrals)
        q = theorem.quadratic_form()
        velocity = solve_linear(point.residuals, tuple(-equation.dense()[3] for equation in point.residuals))
        return cls(point, theorem, q, -block.gamma * (along(q, velocity) + q.dense()[3]))


def _near_pole(theorem: Response) -> FloatArray:
    """Whether 1 + a_1 T cancels: near this pole of Theorem 1 (gamma -> 0) the last digits of the overlaps decide."""
    size = 1 + np.abs(theorem.T_across.value) + np.abs(theorem.T_along.value)
    return np.asarray(np.abs(theorem.closed_loop().value) < NEAR_POLE * size)


def _lost(block: Problem, x: FloatArray, use_pair: bool, overlaps: Overlaps) -> FloatArray:
    """Return the relative change of q and E under changes of a few ulp of the overlaps and of the solution."""
    lost = np.zeros(block.gamma.size)
    forms = _Forms.at(block, x, use_pair, overlaps)
    polished = moved(x, newton_step(forms.point), use_pair)
    for across, along_mu, coordinates in ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)):  # one may leave no trace
        shifted = overlaps._replace(
            across_KQ=overlaps.across_KQ * (1 + across * FEW_ULPS),
            along_KQ=overlaps.along_KQ * (1 + along_mu * FEW_ULPS),
            across_KK=overlaps.across_KK + FEW_ULPS * overlaps.along_KK,
            across_QQ=overlaps.across_QQ + FEW_ULPS * overlaps.along_QQ,
        )
        again = _Forms.at(block, polished * (1 + coordinates * FEW_ULPS), use_pair, shifted)
        for one, other in ((again.error, forms.error), (again.quadratic_form.value, forms.quadratic_form.value)):
            lost = np.maximum(lost, np.abs(one / other - 1))
    return lost


class _Observed:
    """Values, and what is needed to judge them, at the points of a grid.

    Attributes
    ----------
    values : dict of arrays (N,); nan until recorded
    residual : array (N,), scaled residual of the equations
    noise : array (N,), relative change of m and q in one more Newton step
    near_pole : array (N,) of bool
    lost : array (N,), relative change of q and E under changes of few ulp, where there is reason to look
    physical : array (N,) of bool, m > 0, delta >= 0 and the roots on the sheet |u|^2 > cbar
    """

    def __init__(self, size: int) -> None:
        self.values = {name: np.full(size, np.nan) for name in NAMES}
        self.residual = np.full(size, np.nan)
        self.noise = np.full(size, np.nan)
        self.near_pole = np.zeros(size, dtype=bool)
        self.lost = np.zeros(size)
        self.physical = np.zeros(size, dtype=bool)

    def record(self, points: FloatArray, block: Problem, x: FloatArray, use_pair: bool, overlaps: Overlaps) -> None:
        """Evaluate a block at its solution."""
        forms = _Forms.at(block, x, use_pair, overlaps)
        point, q = forms.point, forms.quadratic_form
        roots, integrals = point.roots, point.integrals
        c, I1, gain = block.inputs.shape.c, integrals.I1.value, roots.gain.value
        m = trace(roots, integrals)
        self.values["trace"][points] = m.value
        self.values["quadratic_form"][points] = q.value
        self.values["error"][points] = forms.error
        self.values["delta"][points] = c * (block.gamma * gain) * I1
        self.values["tau"][points] = c * I1 * (integrals.slope.value + roots.k.value)
        scale = scale_of_k(block, roots)
        self.residual[points] = np.max(
            np.abs([e.value for e in point.residuals])
            / np.array([np.ones_like(scale), scale * scale, np.abs(block.inputs.kappa) + scale]),
            axis=0,
        )
        again = newton_step(point)
        self.noise[points] = np.maximum(np.abs(along(q, again) / q.value), np.abs(along(m, again) / m.value))
        self.near_pole[points] = _near_pole(forms.response)
        sheet = np.all([entry.value >= 0 for entry in roots.outside(np.sqrt(block.inputs.shape.cbar))], axis=0)
        self.physical[points] = sheet & (gain > 0) & (integrals.I0.value > 0)

    def improve(self, columns: tuple[FloatArray, ...]) -> None:
        """Solve the few points where the solution is not sharp enough for m, q or E to `DIGITS` digits.

        columns : the parameters `POINT` in this order
        """
        for index in np.flatnonzero((self.noise > NOISY) | (~self.near_pole & (self.lost > LOSING))):
            point = {name: read_real(float(column[index]), name) for name, column in zip(POINT, columns, strict=True)}
            solution = solve_point(point, DIGITS)
            if solution.success:
                for name, value in self.values.items():
                    value[index] = float(solution[name])
                self.noise[index], self.physical[index] = 0.0, True
                if not self.near_pole[index]:  # there the parameters themselves are not sharp enough
                    self.lost[index] = 0.0

    def judge(self, converged: FloatArray) -> FloatArray:
        """Return the outcome of every point, the last one that applies; forget the values of those that failed."""
        outcome = np.full(converged.size, Outcome.CONVERGED, dtype=object)
        outcome[np.maximum(self.noise, self.lost) > REDUCED_NOISE] = Outcome.REDUCED
        beyond = ~np.all([np.abs(self.values[name]) > SMALLEST for name in NAMES[:3]], axis=0)
        beyond |= self.lost > FAILED_NOISE
        beyond |= ~np.all([np.isfinite(value) for value in self.values.values()], axis=0)
        wrong, lost = ~self.physical, ~converged | (self.noise > FAILED_NOISE)
        outcome[wrong] = Outcome.WRONG_BRANCH
        outcome[lost] = Outcome.NOT_CONVERGED
        outcome[converged & beyond] = Outcome.OUT_OF_RANGE
        failed = wrong | lost | beyond
        for value in self.values.values():
            value[failed] = np.nan
        return outcome
