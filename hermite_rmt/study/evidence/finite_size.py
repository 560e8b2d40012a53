"""Where the limit stops: finite size, labels, noise and diagonals that the model's statement leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.evidence.corrections import skewed_error, unbalanced_error
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps

SIZE, TRIALS, SEED = 600, 40, 40
SIGNAL = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
KURTOSIS: Mapping[str, float] = {"rademacher": -2.0, "gaussian": 0.0, "laplace": 3.0, "exponential": 6.0}  # excess
SKEWNESS = 2.0  # of exponential noise


@dataclass(frozen=True)
class Case:
    """One simulated case and what is expected of it.

    Attributes
    ----------
    effect : the line of the theory's limits it belongs to
    setting : in words
    f : what is simulated, as it is
    expected : the error predicted with the effect taken into account
    naive : the error predicted without it
    """

    effect: str
    setting: str
    f: Nonlinearity
    n: int
    p: int
    gamma: float
    expected: float
    naive: float
    overlaps: tuple[float, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 1  # times as many trials, for a small n


def finite_size(n: int = SIZE, trials: int = TRIALS, progress: Report | None = None) -> xr.Dataset:
    """Simulate every case.

    Returns
    -------
    Dataset along `case`: effect, n, expected, naive, simulated, standard_error, z (against expected), z_naive
    """
    rows = []
    chosen = cases(n)
    for done, case in enumerate(chosen):
        with one_blas_thread:
            estimate, *_ = simulate_attention(
                case.f,
                case.overlaps,
                case.n,
                case.p,
                [case.gamma],
                trials=case.repeat * trials,
                rng=SEED,
                **case.options,
            )
        error = estimate.error
        rows.append((case.n, case.expected, case.naive, error.mean, error.standard_error))
        if progress is not None:
            progress(done + 1, len(chosen))
    size, expected, naive, simulated, spread = np.array(rows).T
    return xr.Dataset(
        {
            "effect": ("case", [case.effect for case in chosen]),
            "n": ("case", size.astype(int)),
            "expected": ("case", expected),
            "naive": ("case", naive),
            "simulated": ("case", simulated),
            "standard_error": ("case", spread),
            "z": ("case", (simulated - expected) / spread),
            "z_naive": ("case", (simulated - naive) / spread),
        },
        {"case": [case.setting for case in chosen]},
        {"description": f"{trials} trials (more where n is smaller), seed {SEED}", "software": software()},
    )


@cache
def cases(n: int) -> tuple[Case, ...]:
    """Return all cases, the main size n."""
    return (*_diagonals(n), *_linear(n), *_means(n), *_unbalanced(n), *_symmetric(n), *_skewed(n))


def _diagonals(n: int) -> list[Case]:
    p = n // 2
    kept = {"diagonal": None}
    relu, tanh, identity = Nonlinearity("relu(x)").centred(), Nonlinearity("tanh(x)"), Nonlinearity("x")
    rows = [
        ("tanh kept: d = 0", tanh, 0.0),
        ("tanh kept: d = tanh(sqrt p)/sqrt p", tanh, float(np.tanh(p**0.5) / p**0.5)),
        ("relu kept: d = 1", relu, 1.0),
        ("x kept: d = a_1", identity, 1.0),
    ]
    return [
        Case(
            "kept diagonal", setting, f, n, p, 0.1, _limit(f, n, p, 0.1, diagonal=d), _limit(f, n, p, 0.1), None, kept
        )
        for setting, f, d in rows
    ]


def _linear(n: int) -> list[Case]:
    """Take f linear at a small ridge: the removed diagonal fluctuates, like sigma^2 + 2 a_1^2/p."""
    f = Nonlinearity("x")
    found = []
    for size in (n // 4, n // 2, n):
        p = size // 2
        like = Attention(a1=1, nu=1 + 2 / size).error(p / size, 0.003)  # nu - a_1^2 = c * 2 a_1^2/p
        setting = f"f = x, gamma = 0.003, n = {size}"
        limit, repeat = _limit(f, size, p, 0.003), (n // size) ** 2
        found.append(Case("removed diagonal of linear f", setting, f, size, p, 0.003, like, limit, None, {}, repeat))
    return found


def _means(n: int) -> list[Case]:
    p = n // 2
    relu, centred = Nonlinearity("relu(x)"), Nonlinearity("relu(x)").centred()
    limit = _limit(centred, n, p, 0.1)
    rho = 0.5
    unbalanced = {"labels": _labels(n, rho)}
    return [
        Case("f not centred", "relu as it is, balanced labels", relu, n, p, 0.1, limit, limit),
        Case(
            "f not centred",
            "relu as it is, labels of mean 1/2",
            relu, n, p, 0.1, (1 - rho**2) * limit, limit, None, unbalanced,
        ),
    ]  # fmt: skip


def _unbalanced(n: int) -> list[Case]:
    """Take f = h_2 and labels of mean rho: the rank-two term of a_2 becomes visible, by the noise's fourth moment."""
    f, p, gamma = Nonlinearity("(x^2 - 1)/sqrt(2)"), n // 2, 0.001
    naive = _limit(f, n, p, gamma)
    found = [Case("a_2 and unbalanced labels", "h_2, balanced", f, n, p, gamma, naive, naive)]
    for rho, noise in (
        (0.25, "gaussian"),
        (0.5, "gaussian"),
        (0.75, "gaussian"),
        (0.5, "laplace"),
        (0.5, "rademacher"),
    ):
        seen = unbalanced_error(0.0, 1.0, 1.0, p / n, gamma, rho, KURTOSIS[noise])
        setting = f"h_2, labels of mean {rho:g}, {noise}"
        options = {"labels": _labels(n, rho), "noise": noise}
        found.append(Case("a_2 and unbalanced labels", setting, f, n, p, gamma, seen, naive, None, options))
    return found


def _symmetric(n: int) -> list[Case]:
    p, f = n // 2, Nonlinearity("tanh(x)")
    limit = _limit(f, n, p, 0.1)
    return [
        Case("symmetric noise", f"tanh, {noise}", f, n, p, 0.1, limit, limit, None, {"noise": noise})
        for noise in ("rademacher", "uniform", "laplace", "student5")
    ]


def _skewed(n: int) -> list[Case]:
    """Take exponential noise, and a signal along 1_p, at an angle to it, and across it."""
    p, f = n // 2, Nonlinearity("relu(x)").centred()
    naive = _limit(f, n, p, 0.1, overlaps=Overlaps(mu_mu=1))
    a1, a2, nu = f.coefficient(1), f.coefficient(2), f.nu()
    one, across = np.ones(p) / p**0.5, np.resize([1.0, -1.0], p) / p**0.5
    found = []
    for words, cosine in (("across", 0.0), ("at 60 degrees to", 0.5), ("along", 1.0)):
        seen = skewed_error(a1, a2, nu, p / n, 0.1, 1.0, cosine, SKEWNESS, KURTOSIS["exponential"])
        options = {"noise": "exponential", "mu": cosine * one + (1 - cosine**2) ** 0.5 * across}
        setting = f"relu, exponential noise, signal {words} 1_p"
        found.append(Case("skewed noise", setting, f, n, p, 0.1, seen, naive, SIGNAL, options))
    return found


def _labels(n: int, mean: float) -> Array:
    labels = np.ones(n)
    labels[: round(n * (1 - mean) / 2)] = -1.0
    return labels


def _limit(f: Nonlinearity, n: int, p: int, gamma: float, **options: Any) -> float:
    return float(Attention(f, **options).error(p / n, gamma))
