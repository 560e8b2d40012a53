"""`hermite-rmt curve`: error curves of attention and of linear regression, with simulated points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.cli import DONE, INTERRUPTED, fail
from hermite_rmt.cli.axes import decimal_text
from hermite_rmt.cli.output import number_text, print_json, progress_bar
from hermite_rmt.cli.table import CurveTable, Row
from hermite_rmt.study.executors import process_pool
from hermite_rmt.study.grid import Grid
from hermite_rmt.study.provenance import provenance
from hermite_rmt.study.store import JsonLinesStore, TrialValues
from hermite_rmt.study.sweep import read_simulation
from hermite_rmt.study.trials import Simulation, simulate_cells

SCALE_NOTE = "all models at one ridge: attention's error depends on the scale of f, linear regression's does not"


@dataclass(frozen=True)
class Request:
    """What a curve is computed from: exact axes, digits of the theory, and what is simulated (n, trials, seed)."""

    c: Sequence[Fraction]
    gamma: Sequence[Fraction]
    digits: int | None = None
    simulate: tuple[int, int, int] | None = None
    workers: int = 1

    @property
    def simulation(self) -> Simulation | None:
        """The simulation, checked."""
        if self.simulate is None:
            return None
        n, trials, seed = self.simulate
        return read_simulation(self.grid, {"n": n, "trials": trials, "rng": seed})

    @property
    def grid(self) -> Grid:
        """The axes as a grid."""
        return Grid.read(list(self.c), list(self.gamma))


def run(models: Sequence[Any], request: Request, output: Path | None, plot: Path | None, as_json: bool) -> int:
    """Compute the curves of the models, add what is missing to the table, print or draw it."""
    if plot is not None:
        from hermite_rmt.figures.style import check_suffix

        check_suffix(plot)
    if request.simulation is not None:  # refused before a file is begun
        request.grid.dimensions(request.simulation.n)
    table = CurveTable(output, heading(models, request))
    for model in models:
        table.add(theory_rows(model, request.c, request))
    try:
        simulate_missing(models, request, table)
    except KeyboardInterrupt:
        simulated = sum(row.simulated for row in table.rows.values())
        if output is None:
            return fail("interrupted; nothing is kept without --output", INTERRUPTED)
        return fail(
            f"interrupted; {output} keeps {simulated} simulated points, the same command continues", INTERRUPTED
        )
    if plot is not None:
        from hermite_rmt.figures import curve_figure, save

        save(curve_figure([dataset(model, request, table) for model in models]), plot)
    if as_json:
        rows = [{name: text for name, text in asdict(row).items() if text} for row in table.rows.values()]
        print_json({**table.provenance, "rows": rows})
    elif output is None:
        print(table.text(), end="")
    return DONE


def heading(models: Iterable[Any], request: Request) -> dict[str, str]:
    """Return the provenance of a curve; a file is only continued where it is the same."""
    stated = {
        "columns": "c = p/n, error = interpolation error, error_se = standard error of a simulated mean",
        "scale": SCALE_NOTE,
    }
    seed = None if request.simulate is None else request.simulate[2]
    for model in models:
        described = provenance(model, seed)
        stated[model.name] = described["model"]
        stated |= {name: described[name] for name in ("software", "seed") if name in described}
    if request.digits is not None:
        stated["digits"] = str(request.digits)
    if request.simulate is not None:
        stated["simulation"] = f"n = {request.simulate[0]}, trials = {request.simulate[1]}"
    return stated


def theory_rows(model: Any, c: Sequence[Fraction], request: Request) -> Iterator[Row]:
    """Return the rows of the limit at these c and all gammas."""
    error = model.error([[value] for value in c], [list(request.gamma)], digits=request.digits)
    for i, c_value in enumerate(c):
        for j, gamma in enumerate(request.gamma):
            yield Row(model.name, *_texts(request, c_value, gamma), number_text(error[i, j]))


def simulate_missing(models: Iterable[Any], request: Request, table: CurveTable) -> None:
    """Simulate every cell that the table lacks, and add each, beside the theory at its p/n, when it is complete.

    The trials of cells that are not complete are kept in a file beside the table's until the model is done.
    """
    simulation = request.simulation
    if simulation is None:
        return
    dimensions = dict.fromkeys(request.grid.dimensions(simulation.n))
    missing = {
        model: [p for p in dimensions if any(_key(model, p, g, request) not in table.rows for g in request.gamma)]
        for model in models
    }
    with (
        process_pool(request.workers) if request.workers > 1 and any(missing.values()) else nullcontext() as executor
    ):
        for model, cells in missing.items():
            store = None if table.path is None else JsonLinesStore(trials_path(table.path, model))
            known = {} if store is None or not cells else store.load(provenance(model, simulation.seed))
            with (
                progress_bar(model.name.replace("_", " ")) as progress,
                closing(simulate_cells(model, simulation, cells, known, executor, store, progress)) as simulated,
            ):
                for p, trials in simulated:
                    table.add(cell_rows(model, p, trials, request))
            if store is not None:
                store.path.unlink(missing_ok=True)


def trials_path(output: Path, model: Any) -> Path:
    """Return where the trials of incomplete cells are kept."""
    return output.with_name(f"{output.name}.{model.name}.trials")


def cell_rows(model: Any, p: int, trials: Sequence[TrialValues], request: Request) -> Iterator[Row]:
    """Return the rows of one simulated cell: the theory at p/n where it is new, and the simulated means."""
    assert request.simulate is not None
    n = request.simulate[0]
    yield from theory_rows(model, [Fraction(p, n)], request)
    for gamma in request.gamma:
        errors = np.array([trial[repr(float(gamma))]["error"] for trial in trials])
        spread = number_text(float(errors.std(ddof=1) / np.sqrt(len(errors)))) if len(errors) > 1 else ""
        texts = _texts(request, Fraction(p, n), gamma)
        mean = number_text(float(errors.mean()))
        yield Row(model.name, *texts, mean, spread, str(n), str(p), str(len(errors)))


def dataset(model: Any, request: Request, table: CurveTable) -> xr.Dataset:
    """Return the rows of one model as figures take them."""

    def grid_of(field: str, c: Sequence[Fraction], n: str) -> tuple[tuple[str, str], np.ndarray]:
        rows = [[table.rows[(model.name, *_texts(request, v, g), n)] for g in request.gamma] for v in c]
        return ("c", "gamma"), np.array([[float(getattr(row, field) or "nan") for row in line] for line in rows])

    data = xr.Dataset(
        {"error": grid_of("error", request.c, "")},
        {"c": [float(c) for c in request.c], "gamma": [float(gamma) for gamma in request.gamma]},
        provenance(model),
    )
    if request.simulate is None:
        return data
    n, trials, _ = request.simulate
    realised = [Fraction(p, n) for p in request.grid.dimensions(n)]
    return data.assign(
        error_simulated=grid_of("error", realised, str(n)),
        error_standard_error=grid_of("error_se", realised, str(n)),
        c_realised=("c", [float(c) for c in realised]),
        n=("c", [n] * len(realised)),
        trials=("c", [trials] * len(realised)),
    )


def _texts(request: Request, c: Fraction, gamma: Fraction) -> tuple[str, str]:
    return decimal_text(c, request.digits), decimal_text(gamma, request.digits)


def _key(model: Any, p: int, gamma: Fraction, request: Request) -> tuple[str, str, str, str]:
    assert request.simulate is not None
    n = request.simulate[0]
    return (model.name, *_texts(request, Fraction(p, n), gamma), str(n))
