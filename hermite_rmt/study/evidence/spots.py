"""Simulated points beside the claims: two settings on the same draws, their difference against the theory's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.study.provenance import software
from hermite_rmt.study.trials import Progress
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

SIZE = 600
TRIALS = 10
SEED = 7
ALIGNED = Overlaps.aligned(1)


@dataclass(frozen=True)
class Spot:
    """Two simulated settings (model, c, gamma), and what their difference shows."""

    claim: str
    shows: str
    first: tuple[Any, float, float]
    second: tuple[Any, float, float]


@cache
def spots() -> tuple[Spot, ...]:
    """Return the points that are simulated."""
    tanh, cos = Nonlinearity("tanh(x)"), Nonlinearity("cos(x)").centred()
    signal = Overlaps(mu_mu=1)
    regression, with_signal = LinearRegression(), LinearRegression(mu_mu=1)
    noise_cos = (Attention(cos), 0.5, 0.1)
    half = Overlaps.aligned(1, "1/2")
    plain = (Attention(tanh, overlaps=signal), 0.5, 0.1)
    opposed = Overlaps(1, 1, -1, 1, 1, -1)
    across = {"key": Overlaps(1, 1, 0, 1, 1, 0), "query": Overlaps(1, 0, 1, 1, 1, 0)}
    unit_cos, identity = float(cos.nu()) ** -0.5 * cos, Nonlinearity("x")
    return (
        Spot("a", "noise: attention above regression", (Attention(tanh), 0.5, 0.1), (regression, 0.5, 0.1)),
        Spot("a", "noise: 10 tanh below it", (Attention(10 * tanh), 0.5, 0.1), (regression, 0.5, 0.1)),
        Spot("b", "aligned: reversal", (Attention(tanh, overlaps=half), 0.2, 1.0), (with_signal, 0.2, 1.0)),
        Spot("b", "aligned: below no weights", (Attention(tanh, overlaps=ALIGNED), 0.5, 0.1), plain),
        Spot("c", "aligned, p > n: no reversal", (Attention(tanh, overlaps=ALIGNED), 2, 0.1), (with_signal, 2, 0.1)),
        Spot("d", "a_1 = 0: signal, weights do nothing", (Attention(cos, overlaps=half), 0.5, 0.1), noise_cos),
        Spot("d", "a_1 = 0: falls with the dimension", (Attention(cos), 2, 0.1), noise_cos),
        Spot("e", "noise, nu = 1: cos below linear f", (Attention(unit_cos), 1, 1.0), (Attention(identity), 1, 1.0)),
        Spot("f", "anti-aligned: above no weights", (Attention(tanh, overlaps=opposed), 0.5, 0.1), plain),
        Spot("f", "key aligned alone: above", (Attention(tanh, overlaps=across["key"]), 0.5, 0.1), plain),
        Spot("f", "query aligned alone: below", (Attention(tanh, overlaps=across["query"]), 0.5, 0.1), plain),
    )  # fmt: skip


def spot_checks(
    n: int = SIZE, trials: int = TRIALS, claims: Sequence[str] = "abcdef", progress: Progress | None = None
) -> xr.Dataset:
    """Simulate every spot of the claims.

    Returns
    -------
    Dataset along `spot`: theory (difference of the two limits at the realised p/n), simulated (mean of the paired
    differences), standard_error, and z, their distance in standard errors
    """
    chosen = [spot for spot in spots() if spot.claim in claims]
    rows = []
    for done, spot in enumerate(chosen):
        samples, limits = zip(*(_simulated(*side, n, trials) for side in (spot.first, spot.second)), strict=True)
        difference = samples[0] - samples[1]
        rows.append((limits[0] - limits[1], difference.mean(), difference.std(ddof=1) / trials**0.5))
        if progress is not None:
            progress(done + 1, len(chosen))
    theory, simulated, error = np.array(rows).T
    return xr.Dataset(
        {
            "theory": ("spot", theory),
            "simulated": ("spot", simulated),
            "standard_error": ("spot", error),
            "z": ("spot", (simulated - theory) / error),
        },
        {"claim": ("spot", [spot.claim for spot in chosen]), "spot": [spot.shows for spot in chosen]},
        {"description": f"n = {n}, {trials} paired trials, seed {SEED}", "software": software()},
    )


def _simulated(model: Any, c: float, gamma: float, n: int, trials: int) -> tuple[Any, float]:
    p = round(c * n)
    with one_blas_thread:
        estimate = model.simulate(n, p, gamma, trials=trials, rng=np.random.SeedSequence((SEED, n, p)))
    return estimate.error.samples, model.error(p / n, gamma)
