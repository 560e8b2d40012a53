"""The checks of `hermite-rmt verify --full`: claims, simulated spots, where the limit stops, all simulated cells."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from hermite_rmt.cli.output import progress_bar
from hermite_rmt.cli.verdicts import Verdict, largest
from hermite_rmt.study.evidence import agreement, finite_size, spots
from hermite_rmt.study.evidence.atlas import ATLAS, DOCUMENTED, differences


def claim_verdicts() -> Iterator[Verdict]:
    """Study every claim, and compare each of its parts with what is documented."""
    with progress_bar("claims") as progress:
        for done, (letter, study) in enumerate(ATLAS.items()):
            if progress is not None:
                progress(done, len(ATLAS))
            claim = study()
            worst = None if differences(claim) else 0.0
            yield Verdict(f"claim {letter}", len(claim.parts), f"as documented: {DOCUMENTED[letter].verdict}", worst)


def spot_verdicts() -> Iterator[Verdict]:
    """Simulate the spots beside the claims."""
    with progress_bar("simulated spots") as progress:
        data = spots.spot_checks(progress=progress)
    yield _family("simulated spots of the claims", data.z.values, spots.TRIALS)


def limit_verdicts() -> Iterator[Verdict]:
    """Simulate where the limit stops: each case against the limit with its effect in it."""
    with progress_bar("where the limit stops") as progress:
        data = finite_size.finite_size(progress=progress)
    yield _family("simulation, where the limit stops", data.z.values, finite_size.TRIALS)


def cell_verdicts(folder: Path | None, executor: Executor | None = None) -> Iterator[Verdict]:
    """Compare all cells with simulation, the largest n against the limit plus the b/n of the smaller ones."""
    with progress_bar("theory against simulation") as progress:
        data = agreement.simulate_agreement(agreement.FULL_SIZES, executor=executor, folder=folder, progress=progress)
    yield from _judged(agreement.judge(data), "")
    with progress_bar("n = p = 4096") as progress:
        data = agreement.simulate_largest(executor, folder, progress)
    yield from _judged(agreement.judge(data), ", n = p")


def _judged(judged: xr.Dataset, where: str) -> Iterator[Verdict]:
    quantile, n = judged.attrs["quantile"], judged.attrs["tested_n"]
    for observable in judged.observable.values:
        for name in judged.f.values:
            z = judged.z.sel(observable=observable, f=name).values.ravel()
            text = f"{quantile:.3g} standard errors, limit + b/n"
            check = f"simulation, {observable}, {name}{where} to {n}"
            yield Verdict(check, z.size, text, largest(np.abs(z)) / quantile)


def _family(check: str, z: np.ndarray, trials: int) -> Verdict:
    """Compare deviations with Student's quantile for all of them together."""
    quantile = float(stats.t.ppf(1 - agreement.FALSE_ALARMS / z.size / 2, trials - 1))
    return Verdict(check, z.size, f"{quantile:.3g} standard errors", largest(np.abs(z)) / quantile)
