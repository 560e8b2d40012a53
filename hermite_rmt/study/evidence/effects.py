"""How fast the noise-only trace comes to its limit with heavy tails, kept diagonals, skewed noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.noise import Sampler
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.evidence.decay import decay
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention

SIZES: Mapping[int, int] = {128: 1024, 256: 512, 512: 256, 1024: 96, 2048: 24}  # trials at each n
RATIO, GAMMA, SEED = 0.5, 0.1, 45


@dataclass(frozen=True)
class Effect:
    """A setting on pure noise, and the powers of 1/n that its gap is expected to be made of.

    Attributes
    ----------
    name : in words
    f : what is simulated
    powers : expected, the smallest first
    diagonal : of the limit at dimension p, as a function of p
    options : of the simulation
    """

    name: str
    f: Nonlinearity
    powers: tuple[float, ...]
    diagonal: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


def student(freedom: float) -> Sampler:
    """Return Student noise of variance 1 with this number of degrees of freedom, more than 2."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        scale = ((freedom - 2) / freedom) ** 0.5
        return np.asarray(scale * rng.standard_t(freedom, size=shape))

    return draw


@cache
def effects() -> tuple[Effect, ...]:
    """Return the settings.

    Noise with P(|z| > x) ~ x^-k, k < 4: one entry of size t sqrt(p) changes the scores of its token with all others,
    and n gamma m by some G(t) = O(1) that is quadratic for small t and saturates: the token is lost. Entries replaced
    one by one, of equal variance, add n p E[G(z/sqrt p) - G''(0) z^2/2p] to n gamma m, which is of the order of
    n p^(1 - k/2); two large entries in one token or row add p^(2 - k) to gamma m. For k > 4 the fourth moment is
    there: 1/n, and then p^(1 - k/2).
    Skewed noise: E[h_1(s) h_2(s)] = skewness^2/sqrt(2 p) mixes a_1 with a_2; where a_2 = 0 what is left are products
    of three with 1/n. The own diagonal of a bounded f is f(sqrt p)/sqrt p.
    """
    tanh, relu = Nonlinearity("tanh(x)"), Nonlinearity("relu(x)").centred()
    kept = {"diagonal": None}
    return (
        Effect("tanh, Gaussian", tanh, (1.0,)),
        Effect("tanh, own diagonal, limit d = 0", tanh, (0.5, 1.0), None, kept),
        Effect("tanh, own diagonal, limit d = tanh(sqrt p)/sqrt p", tanh, (1.0,), _own, kept),
        Effect("tanh, Student 5", tanh, (1.0, 1.5), None, {"noise": "student5"}),
        Effect("tanh, Student 3", tanh, (0.5, 1.0), None, {"noise": student(3.0)}),
        Effect("tanh, Student 2.5", tanh, (0.25, 0.5), None, {"noise": student(2.5)}),
        Effect("relu, Student 3", relu, (0.5, 1.0), None, {"noise": student(3.0)}),
        Effect("relu, exponential", relu, (0.5, 1.0), None, {"noise": "exponential"}),
        Effect("tanh, exponential", tanh, (1.0, 1.5), None, {"noise": "exponential"}),
    )


def _own(p: int) -> float:
    return float(np.tanh(p**0.5) / p**0.5)


def scaling(sizes: Mapping[int, int] = SIZES, progress: Report | None = None) -> xr.Dataset:
    """Measure the gap of gamma m in every setting, and the exponent with which it falls.

    Returns
    -------
    Dataset over (effect, n): gap (simulated minus limit), standard_error, deviation (of one trial), fitted (by the
    powers expected); over effect: expected (the first of them), probability (of a worse fit if that is the law),
    exponent and exponent_error (of the best single power); over n: trials
    """
    chosen = effects()
    gap, error = np.empty((2, len(chosen), len(sizes)))
    for i, effect in enumerate(chosen):
        for k, (n, trials) in enumerate(sizes.items()):
            p = round(RATIO * n)
            diagonal = 0.0 if effect.diagonal is None else effect.diagonal(p)
            limit = Attention(effect.f, diagonal=diagonal).trace(p / n, GAMMA)
            seed = child_seed(np.random.SeedSequence(SEED), i, n)
            with one_blas_thread:
                (estimate,) = simulate_attention(
                    effect.f, None, n, p, [GAMMA], trials=trials, rng=seed, **effect.options
                )
            gap[i, k] = GAMMA * (estimate.trace.mean - limit)
            error[i, k] = GAMMA * estimate.trace.standard_error
            if progress is not None:
                progress(i * len(sizes) + k + 1, len(chosen) * len(sizes))
    along = np.array(list(sizes), dtype=float)
    powers = np.array([decay(along, gap[i : i + 1], error[i : i + 1]) for i in range(len(chosen))])
    laws = [law(along, gap[i], error[i], effect.powers) for i, effect in enumerate(chosen)]
    return xr.Dataset(
        {
            "gap": (("effect", "n"), gap),
            "standard_error": (("effect", "n"), error),
            "deviation": (("effect", "n"), error * np.sqrt(list(sizes.values()))),
            "fitted": (("effect", "n"), np.array([fitted for fitted, _ in laws])),
            "probability": ("effect", [tail for _, tail in laws]),
            "exponent": ("effect", powers[:, 0]),
            "exponent_error": ("effect", powers[:, 1]),
            "expected": ("effect", [effect.powers[0] for effect in chosen]),
            "trials": ("n", list(sizes.values())),
        },
        {"effect": [effect.name for effect in chosen], "n": list(sizes)},
        {
            "description": f"gap of gamma m on pure noise, c = {RATIO:g}, gamma = {GAMMA:g}, seed {SEED}",
            "software": software(),
        },
    )


def law(n: Array, gap: Array, error: Array, powers: Sequence[float]) -> tuple[Array, float]:
    """Fit a sum of b_k n^-k over the given powers; return it, and the probability of a worse chi-square.

    >>> n = np.array([100.0, 200.0, 400.0, 800.0])
    >>> fitted, tail = law(n, 2 / n**0.5 - 3 / n, 1e-3 + 0 * n, (0.5, 1))
    >>> bool(np.allclose(fitted, 2 / n**0.5 - 3 / n)), round(tail, 6)
    (True, 1.0)
    """
    terms = np.stack([n**-k for k in powers], axis=1)
    coefficients, *_ = np.linalg.lstsq(terms / error[:, None], gap / error, rcond=None)
    fitted = terms @ coefficients
    return fitted, float(stats.chi2.sf(np.sum(((gap - fitted) / error) ** 2), len(n) - terms.shape[1]))
