"""The linearisation itself: how fast K - (K_N + low rank) vanishes in operator norm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.linearise import linearise
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.simulation.tokens import token_model
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.provenance import software

FORMULAS: Mapping[str, str] = {
    "tanh": "tanh(x)",
    "relu": "relu(x)",
    "cos": "cos(x)",
    "h_2": "(x^2 - 1)/sqrt(2)",
    "sign": "sign(x)",
}
SIZES = (128, 256, 512, 1024)
OVERLAPS = (1.0, 0.5, 0.5, 1.0, 1.0, 0.5)
RATIO = 0.5
SEED = 30


def remainder(sizes: tuple[int, ...] = SIZES, trials: int = 6, progress: Report | None = None) -> xr.Dataset:
    """Measure the operator norm of K - (K_N + low rank) of tokens with a signal and weights.

    Returns
    -------
    Dataset over (f, n, trial): norm; over f: slope of log norm against log n with slope_error (least squares over
    all trials, each an independent draw)
    """
    functions = {name: Nonlinearity(text).centred() for name, text in FORMULAS.items()}
    norm = np.empty((len(functions), len(sizes), trials))
    for k, n in enumerate(sizes):
        law = token_model(n, round(RATIO * n), OVERLAPS, (None, None, None), None, "gaussian")
        for trial in range(trials):
            tokens = law.draw(child_seed(np.random.SeedSequence(SEED), n, trial))
            for i, f in enumerate(functions.values()):
                with one_blas_thread:
                    split = linearise(
                        tokens.X, f, mu=tokens.mu, y=tokens.y, w_K=tokens.w_K, w_Q=tokens.w_Q
                    )  # fmt: skip
                    norm[i, k, trial] = split.remainder_norm()
        if progress is not None:
            progress(k + 1, len(sizes))
    x = np.log(np.repeat(sizes, trials))
    x -= x.mean()
    y = np.log(norm).reshape(len(functions), -1)
    slope = y @ x / (x @ x)
    residual = y - y.mean(axis=1, keepdims=True) - slope[:, None] * x
    error = np.sqrt((residual**2).sum(axis=1) / (x.size - 2) / (x @ x))
    return xr.Dataset(
        {"norm": (("f", "n", "trial"), norm), "slope": ("f", slope), "slope_error": ("f", error)},
        {"f": list(functions), "n": list(sizes)},
        {
            "description": f"operator norm of K - (K_N + low rank), c = {RATIO:g}, overlaps {OVERLAPS}, seed {SEED}",
            "software": software(),
        },
    )
