"""`hermite-rmt simulate`: the finite model at one n and p, beside its limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hermite_rmt.cli.axes import decimal_text
from hermite_rmt.cli.output import number_text, print_json, print_table, progress_bar
from hermite_rmt.simulation.trial import watched
from hermite_rmt.study.grid import OBSERVABLES


def run(
    model: Any, n: int, p: int, gammas: Sequence[Fraction], trials: int, seed: int, noise: str, as_json: bool
) -> None:
    """Print mean and standard error of error, quadratic form and trace, and the limit at p/n; time and memory too."""
    start = time.monotonic()
    with progress_bar(f"n = {n}, p = {p}") as progress, watched(progress):
        estimates = model.simulate(n, p, [float(gamma) for gamma in gammas], trials=trials, rng=seed, noise=noise)
    seconds = time.monotonic() - start
    limits = model.solve(Fraction(p, n), list(gammas))
    rows = [
        {
            "gamma": decimal_text(gamma),
            "quantity": name,
            "simulated": getattr(estimate, name).mean,
            "standard_error": getattr(estimate, name).standard_error,
            "theory": float(limits[name][k]),
        }
        for k, (gamma, estimate) in enumerate(zip(gammas, estimates, strict=True))
        for name in OBSERVABLES
    ]
    if as_json:
        described = {"model": model.describe(), "n": n, "p": p, "trials": trials, "seed": seed, "noise": noise}
        print_json({**described, "results": [{k: number_text(v) for k, v in row.items()} for row in rows]})
        return
    print_table(
        f"{model.name.replace('_', ' ')}, n = {n}, p = {p}, {trials} trials",
        ("gamma", "quantity", "simulated", "standard error", "theory at p/n"),
        [
            (
                row["gamma"],
                row["quantity"],
                *(f"{row[name]:.6g}" for name in ("simulated", "standard_error", "theory")),
            )
            for row in rows
        ],
    )
    print(f"{seconds / trials:.3g} s a trial{_peak_memory()}")


def _peak_memory() -> str:
    """Say how much memory this process has held at most, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024
    return f"; peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30:.2f} GiB"
