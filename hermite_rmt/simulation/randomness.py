"""Seeds and standardised noise: results depend on the seed alone, never on the order or number of workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from hermite_rmt.simulation.checks import Array, positive_integer, real_array

Seed: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"
Sampler: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Any]
Noise: TypeAlias = str | Sampler


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


def _gaussian(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.standard_normal(shape)


def _rademacher(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return 2.0 * rng.integers(2, size=shape, dtype=np.int8) - 1.0


def _laplace(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.laplace(scale=0.5**0.5, size=shape)


def _uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(-(3**0.5), 3**0.5, size=shape)


def _student5(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.standard_t(5, size=shape) * 0.6**0.5


def _exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.standard_exponential(shape) - 1.0


#: Laws of the noise entries by name, each of mean 0 and variance 1. All are symmetric but the exponential one
#: (skewness 2), for which the limit theory does not hold in general.
NOISES: Mapping[str, Sampler] = MappingProxyType(
    {
        "gaussian": _gaussian,
        "rademacher": _rademacher,
        "laplace": _laplace,
        "uniform": _uniform,
        "student5": _student5,
        "exponential": _exponential,
    }
)


def check_noise(noise: Noise) -> None:
    """Raise unless `noise` is a name of `NOISES` or a callable."""
    if isinstance(noise, str):
        if noise not in NOISES:
            raise ValueError(
                f"noise: got {noise!r}; allowed: {', '.join(NOISES)}, or a callable (rng, shape) -> array"
            )
    elif not callable(noise):
        raise TypeError(f"noise: got {noise!r}; allowed: {', '.join(NOISES)}, or a callable (rng, shape) -> array")


def draw_noise(noise: Noise, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Draw independent entries of mean 0 and variance 1; a callable's own result is taken as standardised."""
    if isinstance(noise, str):
        drawn: Array = NOISES[noise](rng, shape)
        return drawn
    return real_array(noise(rng, shape), shape, "noise")
