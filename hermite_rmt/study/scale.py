"""The scale of a model's features, on which a comparison at equal ridge depends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from hermite_rmt.core.derived import combine, exact_expression
from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression

Scale = Literal["equal", "trace"]


def feature_energy(model: Any, c: Any) -> np.ndarray:
    r"""Return lim tr(A A^T)/(n p), the mean square of an entry of the p x n features A, at each c.

    Linear regression has A = X, so 1. Attention has A = X K with K = a_1 (G - I) + delta I + sigma W + (finite rank),
    G = X^T X/p, delta = diagonal + skip, sigma^2 = (nu - a_1^2)/c (derivations/05_kernel_matrix.py), so

        tr(A A^T)/(n p) = tr(K G K)/n -> int x (a_1 (x - 1) + delta)^2 dMP(x) + sigma^2
                        = nu/c + a_1^2/c^2 + 2 a_1 delta/c + delta^2,

    with the Marchenko-Pastur moments 1, 1 + 1/c, 1 + 3/c + 1/c^2 of G. Signal and weights have finite rank and do not
    enter.

    Raises
    ------
    TypeError
        If the energy of such a model is not known.

    >>> round(feature_energy(Attention(a1=0.6, nu=0.5), 2.0).item(), 12)
    0.34
    """
    c = np.asarray(c, dtype=float)
    if isinstance(model, LinearRegression):
        return np.ones(c.shape)
    if isinstance(model, Attention):
        values: Mapping[str, Parameter] = model.parameters()
        a1, nu, diagonal, skip = (values[name].floats for name in ("a1", "nu", "diagonal", "skip"))
        delta = diagonal + skip
        return np.asarray(nu / c + (a1 / c) ** 2 + 2 * a1 * delta / c + delta**2)
    raise TypeError(f"model: got {model!r}; allowed with scale='trace': Attention or LinearRegression")


def scaled_theory(model: Any, c: Any, gamma: Any, scale: Scale) -> dict[str, np.ndarray]:
    """Return error, quadratic_form and trace of the model with its features at the given scale, in double precision.

    With features A/s the ridge problem is that of A at the ridge s^2 gamma, and its resolvent is s^2 times as large.
    """
    factor = feature_energy(model, c) if scale == "trace" else np.ones(np.shape(c))
    solution = model.solve(c, np.asarray(gamma) * factor)
    return {
        "error": np.asarray(solution["error"]),
        "quadratic_form": factor * solution["quadratic_form"],
        "trace": factor * solution["trace"],
    }


def scaled_error(model: Any, c: Real, gamma: Real, scale: Scale, digits: int) -> Any:
    """Return the error at one point with its features at the given scale, to `digits` digits."""
    return model.error(c, scaled_ridge(model, c, gamma, scale), digits=digits)


def scaled_ridge(model: Any, c: Real, gamma: Real, scale: Scale) -> Real:
    """Return the ridge at which the model is what it is at `gamma` with its features at the given scale."""
    if scale == "trace" and not isinstance(model, LinearRegression):
        feature_energy(model, 1.0)  # refuses what is not known
        names = ("nu", "a1", "diagonal", "skip")
        a1_and_others = (model.parameters()[name].reals[()] for name in names)
        return combine(_scaled_ridge, gamma, _inverse(c), *a1_and_others, text="gamma")
    return gamma


def _scaled_ridge(gamma: Any, inverse: Any, nu: Any, a1: Any, diagonal: Any, skip: Any) -> Any:
    delta, linear = diagonal + skip, a1 * inverse
    return gamma * (nu * inverse + linear * linear + 2 * linear * delta + delta * delta)


def _inverse(c: Real) -> Real:
    return read_real(1 / exact_expression(c), "1/c")
