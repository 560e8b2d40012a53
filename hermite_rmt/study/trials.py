"""Simulated cells of a sweep: one task a trial, on any executor, with the same bits on all of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.trial import Progress as Progress  # the same for sweeps
from hermite_rmt.study.grid import OBSERVABLES
from hermite_rmt.study.store import TrialKey, TrialStore, TrialValues


@dataclass(frozen=True)
class Simulation:
    """What is simulated in every cell of a sweep.

    Attributes
    ----------
    n : number of tokens; p = round(c n) is the embedding dimension
    gammas : ridges, all computed from the same draws
    trials : draws a cell
    seed : entropy of all draws
    options : keyword arguments of `model.simulate`, such as labels and noise
    """

    n: int
    gammas: tuple[float, ...]
    trials: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def keys(self, dimensions: Iterable[int]) -> list[TrialKey]:
        """Return the trials of the cells with these embedding dimensions, each once, cell after cell."""
        return [(self.n, p, trial) for p in dict.fromkeys(dimensions) for trial in range(self.trials)]

    def is_complete(self, values: TrialValues) -> bool:
        """Whether a stored trial has all ridges."""
        return all(repr(gamma) in values for gamma in self.gammas)


class Portable:
    """A model on its way to workers: pickled once, and unpickled once a worker rather than once a trial."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @cached_property
    def _content(self) -> bytes:
        return pickle.dumps(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self._content,)


@lru_cache(maxsize=8)
def _arrived(content: bytes) -> Portable:
    return Portable(pickle.loads(content))


def run_trial(
    portable: Portable, key: TrialKey, gammas: Sequence[float], seed: int, options: Mapping[str, Any]
) -> TrialValues:
    """Simulate one trial at several ridges: the task that travels to a worker.

    The draws are a function of the seed, n, p and the index of the trial alone, so they depend neither on the grid
    nor on the workers, and models simulated with one seed see the same tokens.
    """
    n, p, trial = key
    stream = np.random.SeedSequence(seed, spawn_key=(n, p, trial))
    with one_blas_thread:
        estimates = portable.model.simulate(n, p, list(gammas), trials=1, rng=stream, **options)
    return {
        repr(gamma): {name: float(getattr(estimate, name).samples[0]) for name in OBSERVABLES}
        for gamma, estimate in zip(gammas, estimates, strict=True)
    }


def simulate_cells(
    model: Any,
    simulation: Simulation,
    dimensions: Sequence[int],
    known: Mapping[TrialKey, TrialValues],
    executor: Executor | None = None,
    store: TrialStore | None = None,
    progress: Progress | None = None,
) -> Generator[tuple[int, list[TrialValues]]]:
    """Yield (p, values of its trials) for each distinct p in turn, as soon as it and all before it are complete.

    Whatever ends the iteration early, every trial that has been computed is in the store by then.
    """
    keys = simulation.keys(dimensions)
    done = {key: dict(known.get(key, {})) for key in keys}
    # a trial that lacks a ridge is computed again at all ridges: which are solved together shows in the last digits
    tasks = {key for key in keys if not simulation.is_complete(done[key])}

    def keep(key: TrialKey, values: TrialValues) -> None:
        if store is not None:
            store.append(key, values)
        done[key].update(values)
        tasks.remove(key)
        report()

    def report() -> None:
        if progress is not None:
            progress(len(keys) - len(tasks), len(keys))

    portable = Portable(model)

    def task(key: TrialKey) -> tuple[Any, ...]:
        return run_trial, portable, key, simulation.gammas, simulation.seed, simulation.options

    report()
    with closing(_run([(key, task(key)) for key in keys if key in tasks], executor, keep)) as running:
        for p in dict.fromkeys(dimensions):
            cell = simulation.keys([p])
            while any(key in tasks for key in cell):
                next(running)
            yield p, [done[key] for key in cell]


def _run(
    tasks: Sequence[tuple[TrialKey, tuple[Any, ...]]],
    executor: Executor | None,
    keep: Callable[[TrialKey, TrialValues], None],
) -> Generator[None]:
    """Run all tasks and keep each result, handing over after each."""
    if executor is None:
        for key, (function, *arguments) in tasks:
            keep(key, function(*arguments))
            yield
        return
    futures: dict[Future[TrialValues], TrialKey] = {executor.submit(*task): key for key, task in tasks}
    try:
        for future in as_completed(list(futures)):
            keep(futures.pop(future), future.result())
            yield
    finally:
        # after an interrupt or a failed trial: what runs already runs to its end anyway, so it is kept as well
        running = {future: key for future, key in futures.items() if not future.cancel()}
        for future, key in running.items():
            if future.exception() is None:
                keep(key, future.result())
