"""Linear regression on the tokens themselves at finite n and p: the yardstick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermite_rmt.simulation.checks import finite_number, positive_gammas
from hermite_rmt.simulation.estimate import Estimate
from hermite_rmt.simulation.features import RawFeatures
from hermite_rmt.simulation.noise import Noise
from hermite_rmt.simulation.seeds import Seed
from hermite_rmt.simulation.tokens import token_model
from hermite_rmt.simulation.trial import Specification, simulate


def linear_regression_specification(
    mu_mu: float | None,
    n: int,
    p: int,
    gammas: Sequence[float],
    *,
    labels: Any = None,
    noise: Noise = "gaussian",
    mu: Any = None,
) -> Specification:
    """Check the arguments of `simulate_linear_regression` and return what its trials run on."""
    if mu_mu is not None and finite_number(mu_mu, "mu_mu") < 0:
        raise ValueError(f"mu_mu: got {mu_mu}; allowed: a squared norm, at least 0")
    overlaps = None if mu_mu is None else (mu_mu, 0, 0, 0, 0, 0)
    tokens = token_model(n, p, overlaps, (mu, None, None), labels, noise)
    return Specification(tokens, RawFeatures(), positive_gammas(gammas))


def simulate_linear_regression(
    mu_mu: float | None,
    n: int,
    p: int,
    gammas: Sequence[float],
    *,
    trials: int = 10,
    rng: Seed = None,
    labels: Any = None,
    noise: Noise = "gaussian",
    mu: Any = None,
) -> list[Estimate]:
    """Simulate the interpolation error of linear regression, y - X^T w* with X = mu y^T + Z.

    Parameters
    ----------
    mu_mu : |mu|^2, or None: that of the given mu (zero without one)
    n, p, gammas, trials, rng, labels, noise, mu : as in `simulate_attention`; the same `rng` draws the same tokens

    Returns
    -------
    list of Estimate, one an entry of `gammas`

    >>> estimate, = simulate_linear_regression(0, n=60, p=30, gammas=[0.1], trials=4, rng=0)
    >>> 0.4 < estimate.error.mean < 0.8
    True
    """
    specification = linear_regression_specification(mu_mu, n, p, gammas, labels=labels, noise=noise, mu=mu)
    return simulate(specification, trials, rng)
