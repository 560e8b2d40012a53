"""One point of attention with given weights, to any number of digits: the numbers the equations need, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hermite_rmt.core.contexts import BITS_PER_DIGIT, local_context
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.hermite.dual_kernel import nonlinear_dual
from hermite_rmt.simulation.checks import Array
from hermite_rmt.solvers.weights_digits import DigitsError, Equation, solve_weights


def solve_point(
    f: Nonlinearity, W: Array, mu: Array | None, values: Mapping[str, Real], start: Array | None, digits: int
) -> Solution:
    """Return trace, quadratic_form, error, delta and tau to `digits` digits, for tokens of covariance I.

    Parameters
    ----------
    f : the nonlinearity
    W : (p, p) weights, taken as the doubles they are
    mu : (p,) signal, or None
    values : c, gamma, a1, eta, diagonal, skip and mu_mu
    start : (3, 3) the solution in double; None where there is none
    """

    def equation(precision: int) -> Equation:
        context = local_context(precision)
        known = {name: real.mpf(precision) for name, real in values.items()}
        squares = context.fsum(context.mpf(w) ** 2 for w in W.ravel().tolist())
        crossed = context.fsum(
            context.mpf(v) * w for v, w in zip(W.ravel().tolist(), W.T.ravel().tolist(), strict=True)
        )
        size = context.sqrt(squares / len(W))
        factor = known["a1"] / size
        share = context.fsum(np.diag(W).tolist()) / len(W)
        eps, _ = nonlinear_dual(f, crossed / squares, math.ceil(precision / BITS_PER_DIGIT))
        kappa = known["diagonal"] + known["skip"] - factor * share
        return Equation(known["c"], known["gamma"], kappa, known["eta"], context.convert(eps), factor)

    failure = Outcome.NOT_CONVERGED
    if start is not None:
        try:
            found, residual, steps = solve_weights(W, mu, values["mu_mu"], equation, start, digits)
            return Solution(found, residual, Outcome.CONVERGED, digits, steps)
        except DigitsError:
            pass
    nan = local_context(53).nan
    return Solution(dict.fromkeys(("trace", "quadratic_form", "error", "delta", "tau"), nan), None, failure, digits)
