"""`hermite-rmt demo`: nonlinear attention against linear regression, theory and simulation, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xarray as xr

from hermite_rmt.cli.output import number_text, print_json, print_table, progress_bar
from hermite_rmt.figures import curve_figure, save
from hermite_rmt.figures.gallery import DEMO_F, DEMO_GAMMA, DEMO_SIMULATION, demo_panels
from hermite_rmt.figures.style import check_suffix

TABULATED = (0.2, 0.6, 1.0, 2.0, 4.0)


def run(path: Path, as_json: bool) -> None:
    """Compute both models on pure noise and on a signal seen by aligned weights; print a table and save a figure."""
    check_suffix(path)
    panels = demo_panels(progress_bar)
    rows = [row for title, sweeps in panels.items() for data in sweeps for row in _rows(title.split(",")[0], data)]
    save(curve_figure(panels), path)
    if as_json:
        stated = {"f": DEMO_F, "gamma": DEMO_GAMMA, **DEMO_SIMULATION, "figure": str(path)}
        print_json({**stated, "rows": [{name: number_text(v) for name, v in row.items()} for row in rows]})
        return
    print_table(
        f"f(x) = {DEMO_F}, gamma = {DEMO_GAMMA}, n = {DEMO_SIMULATION['n']}, {DEMO_SIMULATION['trials']} trials",
        ("tokens", "features", "c = p/n", "E, theory", "E, simulated", "standard error"),
        [
            (
                *(str(row[name]) for name in ("tokens", "features")),
                f"{row['c']:g}",
                *(f"{row[name]:.4g}" for name in ("theory", "simulated")),
                f"{row['standard_error']:.2g}",
            )
            for row in rows
        ],
    )
    print("At equal ridge the comparison depends on the scale of f; hermite-rmt compare --scale trace takes it out.")
    print(f"figure: {path}")


def _rows(tokens: str, data: xr.Dataset) -> list[dict[str, Any]]:
    rows = []
    for c in TABULATED:
        point = data.sel(c=c, method="nearest").isel(gamma=0)
        numbers = {"theory": point.error_at_realised, "simulated": point.error_simulated}
        numbers["standard_error"] = point.error_standard_error
        named = {"tokens": tokens, "features": data.attrs["name"].replace("_", " "), "c": c}
        rows.append({**named, **{name: float(value) for name, value in numbers.items()}})
    return rows
