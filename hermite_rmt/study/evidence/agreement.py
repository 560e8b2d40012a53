"""Theory against simulation: cells over nonlinearities, c, gamma, signal and weights, at several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.hermite.catalogue import nonlinearities
from hermite_rmt.study.provenance import software
from hermite_rmt.study.sweep import sweep
from hermite_rmt.study.trials import Progress
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps

BOUNDED = ("sigmoid", "tanh", "erf", "sign", "cos")
UNBOUNDED = ("relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "exp")
NAMES = BOUNDED + UNBOUNDED
SETTINGS: Mapping[str, Overlaps] = {
    "noise": Overlaps(),
    "signal": Overlaps(mu_mu=1),
    "weights": Overlaps(1, "1/2", "3/10", "1/2", "1/2", "1/5"),
}
RATIOS = ("1/2", "2")
GAMMAS = ("1/100", "1/10", "1")
SIZES: Mapping[int, int] = {128: 64, 256: 32, 512: 16, 1024: 16}  # trials at each n; the largest n is the test
FULL_SIZES: Mapping[int, int] = {**SIZES, 2048: 12}
LARGE_SIZES: Mapping[int, int] = {256: 64, 512: 32, 1024: 16, 4096: 6}  # of the one cell that goes to 4096
OBSERVABLES = ("error", "trace")
FALSE_ALARMS = 0.01  # probability that a right theory fails in any cell by chance
SEED = 20
Report = Progress


def simulate_agreement(
    sizes: Mapping[int, int] = SIZES,
    names: Sequence[str] = NAMES,
    settings: Sequence[str] = tuple(SETTINGS),
    ratios: Sequence[str] = RATIOS,
    gammas: Sequence[str] = GAMMAS,
    executor: Executor | None = None,
    folder: Path | None = None,
    progress: Report | None = None,
) -> xr.Dataset:
    """Simulate all cells at all sizes.

    Parameters
    ----------
    sizes : {n: trials}
    names, settings : of `NAMES` and `SETTINGS`
    ratios, gammas : c = p/n and the ridges, as exact text
    executor : as for `hermite_rmt.sweep`
    folder : where finished trials are kept, so that an interrupted run continues
    progress : function of (work done, work in all), a trial weighed by its n^3

    Returns
    -------
    Dataset over (observable, f, setting, n, c, gamma): limit, gap (simulated mean minus the limit at the realised
    p/n), standard_error and deviation (of one trial); trials along n. Observables, all between 0 and 1: the error E
    and gamma times the trace m, whose fluctuations are of order 1/n, so that it shows the gap itself
    """
    shape = (len(OBSERVABLES), len(names), len(settings), len(sizes), len(ratios), len(gammas))
    limit, gap, error = np.empty(shape), np.empty(shape), np.empty(shape)
    work = _Work(sizes, len(names) * len(settings), progress)
    for i, name in enumerate(names):
        for j, setting in enumerate(settings):
            model = Attention(member(name), overlaps=SETTINGS[setting])
            for k, (n, trials) in enumerate(sizes.items()):
                store = None if folder is None else folder / f"{name}_{setting}_{n}.jsonl"
                simulation = {"n": n, "trials": trials, "rng": SEED}
                cell = sweep(
                    model, ratios, gammas, simulation, executor=executor, store=store, progress=work.within(n)
                )
                for which, name_of in enumerate(OBSERVABLES):
                    unit = cell.gamma if name_of == "trace" else 1.0
                    there = cell[f"{name_of}_at_realised"]
                    limit[which, i, j, k] = there * unit
                    gap[which, i, j, k] = (cell[f"{name_of}_simulated"] - there) * unit
                    error[which, i, j, k] = cell[f"{name_of}_standard_error"] * unit
                work.finish(n)
    dims = ("observable", "f", "setting", "n", "c", "gamma")
    trials_at = xr.DataArray(list(sizes.values()), dims="n")
    data = xr.Dataset(
        {"limit": (dims, limit), "gap": (dims, gap), "standard_error": (dims, error), "trials": trials_at},
        {
            "observable": list(OBSERVABLES),
            "f": list(names),
            "setting": list(settings),
            "n": list(sizes),
            "c": [float(Fraction(c)) for c in ratios],
            "gamma": [float(Fraction(gamma)) for gamma in gammas],
        },
        {
            "description": "simulated minus limit, attention, f centred, diagonal 0; trace times gamma",
            "software": software(),
        },
    )
    return data.assign(deviation=data.standard_error * np.sqrt(data.trials))


def simulate_largest(
    executor: Executor | None = None, folder: Path | None = None, progress: Report | None = None
) -> xr.Dataset:
    """Simulate the one cell that goes to n = p = 4096: tanh on noise, gamma = 1/10."""
    return simulate_agreement(LARGE_SIZES, ["tanh"], ["noise"], ["1"], ["1/10"], executor, folder, progress)


class _Work:
    """How much of all sweeps is done: trials at n cost (n/128)^3, so that time left can be told from it."""

    def __init__(self, sizes: Mapping[int, int], sweeps: int, report: Report | None) -> None:
        self._cost = {n: trials * max(round((n / 128) ** 3), 1) for n, trials in sizes.items()}
        self._total = sweeps * sum(self._cost.values())
        self._before, self._report = 0, report

    def within(self, n: int) -> Report:
        """Return the progress of one sweep at n."""

        def report(done: int, trials: int) -> None:
            self._say(self._cost[n] * done // trials)

        return report

    def finish(self, n: int) -> None:
        """Count a sweep at n as done."""
        self._before += self._cost[n]
        self._say(0)

    def _say(self, within: int) -> None:
        if self._report is not None:
            self._report(self._before + within, self._total)


def member(name: str) -> Nonlinearity:
    """Return a nonlinearity of the catalogue, at its default parameters, centred."""
    entry = nonlinearities[name]
    f = entry if isinstance(entry, Nonlinearity) else entry.default
    return f if f.is_centred() else f.centred()


def judge(data: xr.Dataset, false_alarms: float = FALSE_ALARMS) -> xr.Dataset:
    """Test the largest size against the limit plus the term b/n that the smaller sizes measure, cell by cell.

    The criterion is fixed beforehand: |gap - b/n| within Student's quantile for all cells together (Bonferroni: a
    right theory fails anywhere with probability `false_alarms`), in standard errors of gap and of b/n together.

    Returns
    -------
    Dataset over (observable, f, setting, c, gamma): coefficient b with coefficient_error, z (of the largest size,
    with the term b/n), z_limit (without it), passes; attribute quantile
    """
    n = data.n.values.astype(float)
    largest = int(n.argmax())
    calibration = np.delete(np.arange(len(n)), largest)
    weight = data.standard_error.isel(n=calibration) ** -2.0
    regressor = 1 / data.n.isel(n=calibration)
    precision = (weight * regressor**2).sum("n")
    coefficient = (weight * regressor * data.gap.isel(n=calibration)).sum("n") / precision
    coefficient_error = precision**-0.5
    last = data.isel(n=largest)
    allowed = np.hypot(last.standard_error, coefficient_error / n[largest])
    z = (last.gap - coefficient / n[largest]) / allowed
    quantile = float(stats.t.ppf(1 - false_alarms / z.size / 2, int(last.trials) - 1))
    return xr.Dataset(
        {
            "coefficient": coefficient,
            "coefficient_error": coefficient_error,
            "z": z,
            "z_limit": last.gap / last.standard_error,
            "passes": np.abs(z) <= quantile,
        },
        attrs={
            "quantile": quantile,
            "cells": z.size,
            "false_alarms": false_alarms,
            "tested_n": int(n[largest]),
            "description": "cells at the largest n against the limit plus b/n, b measured at the smaller n",
            "software": software(),
        },
    )
