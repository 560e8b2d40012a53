"""Noise: independent entries of mean 0 and variance 1, by the name of their law or from a function of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from hermite_rmt.simulation.checks import Array, real_array
from hermite_rmt.simulation.seeds import child_seed

Sampler: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Any]
Noise: TypeAlias = str | Sampler

#: Entries drawn from one stream. Blocks are drawn by several threads; what is drawn does not depend on how many.
BLOCK = 2**18


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


def draw_noise(noise: Noise, seed: np.random.SeedSequence, shape: tuple[int, int]) -> Array:
    """Draw a matrix of independent entries of mean 0 and variance 1.

    A law by name fills blocks of rows, each from its own child of `seed`. A callable is called once, and its result
    taken as standardised.

    Raises
    ------
    ValueError, TypeError
        If a callable returns another shape, or something else than finite real numbers.
    """
    if not isinstance(noise, str):
        return real_array(noise(np.random.default_rng(child_seed(seed, 0)), shape), shape, "noise")
    law, rows = NOISES[noise], max(1, BLOCK // shape[1])
    drawn = np.empty(shape)

    def fill(index: int) -> None:
        block = drawn[index * rows : (index + 1) * rows]
        block[...] = law(np.random.default_rng(child_seed(seed, index)), block.shape)

    blocks = range(-(-shape[0] // rows))
    if len(blocks) == 1:
        fill(0)
    else:
        with ThreadPoolExecutor() as threads:  # NumPy's generators release the interpreter lock
            list(threads.map(fill, blocks))
    return drawn
