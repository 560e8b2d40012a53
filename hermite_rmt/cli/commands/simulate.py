"""`hermite-rmt simulate`: the finite model at one n and p, beside its limit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hermite_rmt.cli.axes import decimal_text
from hermite_rmt.cli.output import number_text, print_json, print_table
from hermite_rmt.study.grid import OBSERVABLES


def run(
    model: Any, n: int, p: int, gammas: Sequence[Fraction], trials: int, seed: int, noise: str, as_json: bool
) -> None:
    """Print mean and standard error of error, quadratic form and trace, and the limit at p/n."""
    estimates = model.simulate(n, p, [float(gamma) for gamma in gammas], trials=trials, rng=seed, noise=noise)
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
