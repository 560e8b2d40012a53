"""`hermite-rmt demo`: nonlinear attention against linear regression, theory and simulation, in under a minute."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from hermite_rmt.cli.output import print_table, progress_bar
from hermite_rmt.figures import curve_figure, save
from hermite_rmt.figures.gallery import DEMO_F, DEMO_GAMMA, DEMO_SIMULATION, demo_panels
from hermite_rmt.figures.style import check_suffix

TABULATED = (0.2, 0.6, 1.0, 2.0, 4.0)


def run(path: Path) -> None:
    """Compute both models on pure noise and on a signal seen by aligned weights; print a table and save a figure."""
    check_suffix(path)
    panels = demo_panels(progress_bar)
    print_table(
        f"f(x) = {DEMO_F}, gamma = {DEMO_GAMMA}, n = {DEMO_SIMULATION['n']}, {DEMO_SIMULATION['trials']} trials",
        ("tokens", "features", "c = p/n", "E, theory", "E, simulated", "standard error"),
        [row for title, sweeps in panels.items() for data in sweeps for row in _rows(title.split(",")[0], data)],
    )
    save(curve_figure(panels), path)
    print("At equal ridge the comparison depends on the scale of f; hermite-rmt compare --scale trace takes it out.")
    print(f"figure: {path}")


def _rows(tokens: str, data: xr.Dataset) -> list[tuple[str, ...]]:
    features = data.attrs["name"].replace("_", " ")
    rows: list[tuple[str, ...]] = []
    for c in TABULATED:
        point = data.sel(c=c, method="nearest").isel(gamma=0)
        theory, simulated = (f"{float(value):.4g}" for value in (point.error_at_realised, point.error_simulated))
        rows.append((tokens, features, f"{c:g}", theory, simulated, f"{float(point.error_standard_error):.2g}"))
    return rows
