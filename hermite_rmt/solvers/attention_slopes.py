"""How the values of attention change along a parameter, at a solution: the same lines on arrays, mpf and balls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermite_rmt.solvers.attention_equations import chart, sums, trace
from hermite_rmt.solvers.attention_freedom import freedom
from hermite_rmt.solvers.attention_point import OVERLAPS, Scaled
from hermite_rmt.solvers.attention_refine import along_log_gamma, apply, differentiate, inverse_jacobian
from hermite_rmt.solvers.attention_response import quadratic_form
from hermite_rmt.solvers.dual import Series

PARAMETERS = ("c", "gamma", "a1", "nu", "diagonal", *OVERLAPS)
VALUES = ("error", "quadratic_form", "trace", "degrees_of_freedom")
# (powers of s, of t) under (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma) and (w_K, w_Q) -> (t w_K, w_Q/t)
SCALE_POWERS = {"gamma": 2, "a1": 1, "nu": 2, "diagonal": 1, "quadratic_form": -2, "trace": -2}
BALANCE_POWERS = {"mu_K": 1, "mu_Q": -1, "K_K": 2, "Q_Q": -2}


def require_known(of: str, parameter: str) -> None:
    """Raise a ValueError for a value or a parameter that is none of `VALUES`, `PARAMETERS`."""
    if parameter not in PARAMETERS:
        raise ValueError(f"parameter: got {parameter!r}; allowed: {', '.join(PARAMETERS)}")
    if of not in VALUES:
        raise ValueError(f"of: got {of!r}; allowed: {', '.join(VALUES)}")


def vanishes(of: str, parameter: str, zero: Mapping[str, Any]) -> Any:
    """Whether the derivative is exactly 0, which no number of digits would show.

    m does not see signal and weights. E and q do not see the weights where a_1 = 0 or mu.w_K = mu.w_Q = 0 (and there
    they are even in these two), and not the others where one of them is missing. All values are even in (a_1, d), and
    where both are 0 the signal does not enter.

    Parameters
    ----------
    zero : for a1, kappa and the overlaps by name, whether they are 0; bool or arrays of bool
    """
    even = zero["a1"] & zero["kappa"]
    if parameter in ("a1", "diagonal", "mu_mu"):
        blind = parameter == "mu_mu" and of in ("trace", "degrees_of_freedom")
        return even | blind
    if parameter not in OVERLAPS:
        return even & False
    without_K, without_Q = zero["mu_K"] & zero["K_K"], zero["mu_Q"] & zero["Q_Q"]
    unseen = {"mu_K": without_Q, "K_K": without_Q, "mu_Q": without_K, "Q_Q": without_K, "K_Q": without_K | without_Q}
    across = zero["mu_K"] & zero["mu_Q"]
    return zero["a1"] | across | unseen[parameter] | (of in ("trace", "degrees_of_freedom"))


def along_parameter(of: str, scaled: Scaled, use_pair: bool, x: Any, one: Any) -> Series:
    """Return a value of the scaled problem at its solution x, and its derivative: first how x moves, then the value.

    scaled : its numbers are `Series` along the parameter
    """
    assert scaled.overlaps is not None
    here = differentiate(scaled, use_pair, [Series(v, 0 * v) for v in x], one)
    inverse = [[entry.value for entry in row] for row in inverse_jacobian(here, one)]
    motion = apply(inverse, [-equation.value.slope for equation in here.equations])
    moving = [Series(v, w) for v, w in zip(x, motion, strict=True)]
    if of == "error":
        here = differentiate(scaled, use_pair, moving, one)
        q = quadratic_form(scaled.inputs, here.gamma, scaled.overlaps, here.roots, here.integrals)
        error: Series = -scaled.gamma * along_log_gamma(here, q, one)
        return error
    roots = chart(use_pair)(scaled.inputs, scaled.gamma, *moving)
    if of == "degrees_of_freedom":
        fitted: Series = freedom(scaled.inputs, scaled.gamma, use_pair, moving, roots.pairs)
        return fitted
    integrals = sums(scaled.inputs, roots)
    if of == "trace":
        m: Series = trace(roots, integrals)
        return m
    form: Series = quadratic_form(scaled.inputs, scaled.gamma, scaled.overlaps, roots, integrals)
    return form
