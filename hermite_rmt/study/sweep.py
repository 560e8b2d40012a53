"""Sweeps: the theory on a grid of c and gamma, and the same model simulated beside it, as a labelled dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.study.grid import LONG_NAMES, OBSERVABLES, Grid, labelled
from hermite_rmt.study.progress import ProgressBar
from hermite_rmt.study.provenance import provenance
from hermite_rmt.study.store import JsonLinesStore, TrialStore, TrialValues
from hermite_rmt.study.trials import Progress, Simulation, simulate_cells


def sweep(
    model: Any,
    c: Any,
    gamma: Any,
    simulate: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    store: str | Path | TrialStore | None = None,
    progress: Progress | bool | None = None,
    digits: int | None = None,
) -> xr.Dataset:
    """Compute a model's limits on a grid and, on request, simulate it in every cell.

    Parameters
    ----------
    model : a model with scalar parameters, such as `Attention` or `LinearRegression`
    c, gamma : numbers or one-dimensional sequences: the axes of the grid
    simulate : dict(n=..., trials=10, rng=seed, ...); further entries go to `model.simulate` (labels, noise)
    executor : any `concurrent.futures.Executor`; trials run in this process without one.
        Each trial is one task, on one BLAS thread and with a random stream of its own, so all executors and numbers
        of workers give the same bits (on one kind of machine, with one version of NumPy and SciPy).
    store : path of a checkpoint (a zarr group if it ends in .zarr, else a file of JSON lines), or a `TrialStore`.
        A trial that is there with all gammas is not simulated again: call again with the same arguments to continue
        an interrupted sweep, also with more c or trials. (Simulated with other gammas beside it, a value may differ
        in its last digits: many gammas are solved by another factorisation than few.)
    progress : function of (trials done, trials in all), called in this process; True: a bar in the notebook's cell
        or, outside a notebook, on stderr
    digits : digits of the theory; its variables then hold mpf objects

    Returns
    -------
    Dataset with dims (c, gamma): error, quadratic_form, trace (theory at c). With `simulate` also their means
    `error_simulated`, ..., standard errors `error_standard_error`, ..., the theory at the realised p/n
    `error_at_realised`, ..., and along c the coordinates c_realised, n, p, trials. The attributes are the provenance.
    Cells of one c at several gammas share their draws; so do cells of one p.

    Raises
    ------
    ValueError
        If an axis, `simulate` or the checkpoint does not fit.
    TypeError
        If `model` is no model, or `simulate` no dict.

    >>> from hermite_rmt import LinearRegression
    >>> data = sweep(LinearRegression(), c=[0.5, 2], gamma=[0.1, 1])
    >>> dict(data.error.sizes), round(float(data.error.sel(c=2, gamma=1)), 6)
    ({'c': 2, 'gamma': 2}, 0.207107)
    """
    grid = Grid.read(c, gamma)
    data = xr.Dataset(grid.theory(model, digits), grid.coordinates)
    simulation = None if simulate is None else read_simulation(grid, simulate, needs_seed=store is not None)
    if simulation is None:
        return data.assign_attrs(provenance(model))
    data.attrs = provenance(model, simulation.seed, simulation.options)
    kept = open_store(store) if isinstance(store, (str, Path)) else store
    known = kept.load(data.attrs) if kept is not None else {}
    dimensions = grid.dimensions(simulation.n)
    report = ProgressBar() if progress is True else progress or None
    cells = dict(simulate_cells(model, simulation, dimensions, known, executor, kept, report))
    return data.assign(simulated_variables(model, grid, simulation, cells))


def open_store(path: str | Path) -> TrialStore:
    """Return the checkpoint that a path stands for."""
    if Path(path).suffix == ".zarr":
        from hermite_rmt.study.zarr_store import ZarrStore

        return ZarrStore(path)
    return JsonLinesStore(path)


def simulated_variables(
    model: Any, grid: Grid, simulation: Simulation, cells: Mapping[int, Sequence[TrialValues]]
) -> dict[str, Any]:
    """Return what a sweep holds about its simulated cells, as labelled variables."""
    dimensions = grid.dimensions(simulation.n)
    realised = Grid(Parameter([Fraction(p, simulation.n) for p in dimensions], "c"), grid.gamma)
    variables = {f"{name}_at_realised": array for name, array in realised.theory(model).items()}
    for name in OBSERVABLES:
        samples = np.array(
            [[[trial[repr(g)][name] for g in simulation.gammas] for trial in cells[p]] for p in dimensions]
        )
        spread = samples.std(axis=1, ddof=1) if simulation.trials > 1 else np.full(samples.shape[::2], np.nan)
        described = {"long_name": f"{LONG_NAMES[name]}, simulated", "units": "1"}
        variables[f"{name}_simulated"] = (("c", "gamma"), samples.mean(axis=1), described)
        described = {"long_name": f"{LONG_NAMES[name]}, standard error of the simulated mean", "units": "1"}
        variables[f"{name}_standard_error"] = (("c", "gamma"), spread / np.sqrt(simulation.trials), described)
    variables["c_realised"] = labelled("c_realised", ("c",), realised.c.floats)
    variables["p"] = labelled("p", ("c",), np.array(dimensions))
    variables["n"] = labelled("n", ("c",), np.full(len(dimensions), simulation.n))
    variables["trials"] = labelled("trials", ("c",), np.full(len(dimensions), simulation.trials))
    return variables


def read_simulation(grid: Grid, simulate: Mapping[str, Any], needs_seed: bool = False) -> Simulation:
    """Check the `simulate` argument of a sweep."""
    allowed = "a dict with n, trials, rng and options"
    if not isinstance(simulate, Mapping):
        raise TypeError(f"simulate: got {simulate!r}; allowed: {allowed}")
    options = dict(simulate)
    if "n" not in options:
        raise ValueError(f"simulate: got {sorted(options)}; allowed: {allowed}")
    n, trials = (_count(options.pop(name, default), name) for name, default in (("n", None), ("trials", 10)))
    seed = options.pop("rng", None)
    if seed is None:
        if needs_seed:
            raise ValueError("simulate: got no rng; allowed with a store: a whole number as seed, rng=0 say")
        seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(
            f"rng: got {seed!r}; allowed: a whole number, at least 0, so that every trial can be repeated"
        )
    return Simulation(n, tuple(grid.gamma.floats.tolist()), trials, int(seed), options)


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}: got {value!r}; allowed: a whole number, at least 1")
    return int(value)
