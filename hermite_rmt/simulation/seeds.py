"""Seeds: results depend on the seed alone, never on the order or number of workers."""

from __future__ import annotations

from numbers import Integral
from typing import TypeAlias

import numpy as np

from hermite_rmt.simulation.checks import positive_integer

Seed: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"


def root_seed(rng: Seed) -> np.random.SeedSequence:
    """Return the seed sequence that `rng` stands for.

    None takes entropy from the system. An int or a SeedSequence is a value: the same one gives the same results,
    however often it is used. A Generator has a state: 128 bits are drawn from it, so its next use gives others.

    Raises
    ------
    TypeError, ValueError
        If `rng` is of another type, or a negative int.
    """
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in rng.integers(2**32, size=4, dtype=np.uint32)])
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng: got {rng}; allowed: None, a non-negative int, a SeedSequence or a Generator")
        return np.random.SeedSequence(int(rng))
    raise TypeError(f"rng: got {rng!r}; allowed: None, a non-negative int, a SeedSequence or a Generator")


def child_seed(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child of `seed` at this key, without changing `seed` (SeedSequence.spawn counts its children).

    >>> seed = np.random.SeedSequence(7)
    >>> bool((child_seed(seed, 1).generate_state(4) == seed.spawn(2)[1].generate_state(4)).all())
    True
    """
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size)


def trial_seeds(rng: Seed, trials: int) -> list[np.random.SeedSequence]:
    """Return one seed sequence a trial; those of the first trials do not depend on how many are asked for."""
    root = root_seed(rng)
    return [child_seed(root, trial) for trial in range(positive_integer(trials, "trials"))]
