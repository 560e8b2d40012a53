"""The limit errors on arrays of parameters, and random points for scans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.scale import Scale, scaled_theory
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

ROUNDING = 1e-8  # relative accuracy of the errors in double precision, with a margin
NONE: Mapping[str, Any] = {}


def attention_error(
    c: Any,
    gamma: Any,
    fraction: Any,
    overlaps: Mapping[str, Any] = NONE,
    *,
    nu: Any = 1.0,
    diagonal: Any = 0.0,
    scale: Scale = "equal",
) -> Array:
    """Return attention's limit error; all arguments broadcast together.

    Parameters
    ----------
    c, gamma : p/n and the ridge
    fraction : a_1^2/nu, the linear fraction of f's energy, from 0 to 1
    overlaps : of the signal and the weights by name, as for `Overlaps`; 0 where missing
    nu : energy of f
    diagonal : the constant d
    scale : as for `hermite_rmt.compare`

    >>> attention_error(0.5, 0.1, [0, 1], nu=2.0).round(4)
    array([0.5075, 0.5905])
    """
    names = list(overlaps)
    arrays = np.broadcast_arrays(
        *(np.asarray(a, dtype=float) for a in (c, gamma, fraction, nu, diagonal, *overlaps.values()))
    )
    c, gamma, fraction, nu, diagonal, *values = arrays
    a1 = np.sqrt(fraction * nu)
    model = Attention(
        a1=a1,
        nu=np.maximum(nu, a1**2),
        diagonal=diagonal,
        overlaps=Overlaps(**dict(zip(names, values, strict=True))),
    )
    return scaled_theory(model, c, gamma, scale)["error"]


def regression_error(c: Any, gamma: Any, mu_mu: Any = 0.0) -> Array:
    """Return linear regression's limit error; the arguments broadcast together."""
    return np.asarray(LinearRegression(mu_mu=mu_mu).error(c, gamma))


def directed(mu_mu: Any, strength: Any, key: Any = 1.0, query: Any = 1.0, between: Any = None) -> dict[str, Any]:
    """Return the overlaps of weights of norm strength |mu| at given cosines to the signal.

    Parameters
    ----------
    mu_mu : |mu|^2
    strength : |w_K|/|mu| = |w_Q|/|mu|
    key, query : cosines of the angles of w_K and of w_Q to mu
    between : cosine of the angle of w_K to w_Q; None: their parts across mu are orthogonal to each other

    >>> directed(2.0, 1.0, key=1.0, query=-1.0)["K_Q"]
    -2.0
    """
    square = mu_mu * strength**2
    return {
        "mu_mu": mu_mu,
        "mu_K": mu_mu * strength * key,
        "mu_Q": mu_mu * strength * query,
        "K_K": square,
        "Q_Q": square,
        "K_Q": square * (key * query if between is None else between),
    }


@dataclass(frozen=True)
class Box:
    """Random points.

    Attributes
    ----------
    c : from 1/20 to 20; like gamma and mu_mu on a logarithmic scale
    gamma : from 1e-4 to 10
    fraction : a_1^2/nu from 0 to 1
    mu_mu : |mu|^2 from 0.1 to 10
    strength : of the weights, from 0 to 2
    """

    c: Array
    gamma: Array
    fraction: Array
    mu_mu: Array
    strength: Array

    @classmethod
    def draw(cls, count: int, seed: int) -> Box:
        """Draw points."""
        rng = np.random.default_rng(seed)
        return cls(
            np.exp(rng.uniform(np.log(0.05), np.log(20), count)),
            10 ** rng.uniform(-4, 1, count),
            rng.uniform(0, 1, count),
            10 ** rng.uniform(-1, 1, count),
            rng.uniform(0, 2, count),
        )

    def __len__(self) -> int:
        return len(self.c)

    def point(self, index: int, **values: Array) -> str:
        """Write one point, with further values at it."""
        named = {"c": self.c, "gamma": self.gamma, "a_1^2/nu": self.fraction, **values}
        return ", ".join(f"{name} = {array[index]:.4g}" for name, array in named.items())


def scan(box: Box, violated: Any, **values: Array) -> str:
    """Say where a statement fails in a scan or, if nowhere, what that excludes (rule of three, 95 % confidence)."""
    count = len(violated)
    if not violated.any():
        return f"holds at {count} of {count} random points: fails in less than {3 / count:.2g} of the box (95 %)"
    return f"fails at {violated.sum()} of {count} random points, e.g. {box.point(int(violated.argmax()), **values)}"
