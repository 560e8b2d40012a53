"""Error curves of several nonlinearities and regression, along p/n, the signal's strength, the alignment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.study.evidence.agreement import Report, member
from hermite_rmt.study.evidence.limits import directed
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

NAMES = ("tanh", "relu", "sign", "cos")
GAMMA = 0.1
SIZE, TRIALS, SEED = 400, 40, 60
Setting = Callable[[float], tuple[float, Overlaps]]  # position on the axis -> c and overlaps


def along_ratio(progress: Report | None = None) -> xr.Dataset:
    """Return curves along c, with a signal and aligned weights, |mu|^2 = 1, w_K = w_Q = mu/2."""
    overlaps = Overlaps(**directed(1.0, 0.5))
    return _curves("c", np.geomspace(0.1, 5, 41), np.geomspace(0.1, 5, 7), lambda c: (c, overlaps), progress)


def along_signal(progress: Report | None = None) -> xr.Dataset:
    """Return curves along |mu|^2 at c = 1/2, without weights."""
    return _curves(
        "mu_mu", np.geomspace(0.05, 20, 41), np.geomspace(0.05, 20, 7), lambda r: (0.5, Overlaps(mu_mu=r)), progress
    )


def along_alignment(progress: Report | None = None) -> xr.Dataset:
    """Return curves along the angle of w_K = w_Q to the signal at c = 1/2, |mu| = |w| = 1."""

    def setting(degrees: float) -> tuple[float, Overlaps]:
        cosine = float(np.cos(np.radians(degrees)))
        return 0.5, Overlaps(**directed(1.0, 1.0, cosine, cosine, 1.0))

    return _curves("angle", np.linspace(0, 90, 31), np.linspace(0, 90, 7), setting, progress)


def _curves(axis: str, fine: Array, coarse: Array, setting: Setting, progress: Report | None) -> xr.Dataset:
    """Return limits on `fine` and simulated means on `coarse`, for each nonlinearity and linear regression."""
    names = [*NAMES, "linear regression"]
    limit = np.empty((len(names), len(fine)))
    simulated, error, positions = np.empty((3, len(names), len(coarse)))
    functions = {name: member(name) for name in NAMES}

    def model(name: str, overlaps: Overlaps) -> Any:
        if name in functions:
            return Attention(functions[name], overlaps=overlaps)
        return LinearRegression(mu_mu=overlaps.parameters["mu_mu"].floats.item())

    for i, name in enumerate(names):
        for k, at in enumerate(fine):
            c, overlaps = setting(float(at))
            limit[i, k] = model(name, overlaps).error(c, GAMMA)
        for k, at in enumerate(coarse):
            c, overlaps = setting(float(at))
            p = round(c * SIZE)
            seed = child_seed(np.random.SeedSequence(SEED), p, k)
            with one_blas_thread:
                estimate = model(name, overlaps).simulate(SIZE, p, GAMMA, trials=TRIALS, rng=seed)
            simulated[i, k], error[i, k] = estimate.error.mean, estimate.error.standard_error
            positions[i, k] = p / SIZE if axis == "c" else at
        if progress is not None:
            progress(i + 1, len(names))
    return xr.Dataset(
        {
            "limit": (("model", axis), limit),
            "simulated": (("model", "point"), simulated),
            "standard_error": (("model", "point"), error),
            "deviation": (("model", "point"), error * TRIALS**0.5, {"long_name": "standard deviation of one draw"}),
        },
        {"model": names, axis: np.asarray(fine), "position": ("point", positions[0])},
        {"gamma": GAMMA, "n": SIZE, "trials": TRIALS, "software": software()},
    )
