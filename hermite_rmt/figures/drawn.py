"""A figure with the data it was drawn from, and how the making of one is watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures.style import save
from hermite_rmt.study.trials import Progress

# opens a display of progress for a part of the work, described in words
Watch = Callable[[str], AbstractContextManager[Progress | None]]


def unwatched(part: str) -> nullcontext[None]:
    """Show no progress."""
    return nullcontext()


@dataclass(frozen=True)
class Drawn:
    """A figure and the datasets it was drawn from, by name."""

    figure: Figure
    data: Mapping[str, xr.Dataset]

    def save(self, directory: Path, name: str) -> list[Path]:
        """Save the figure as PNG and PDF and each dataset as CSV beside it."""
        directory.mkdir(parents=True, exist_ok=True)
        paths = [save(self.figure, directory / f"{name}{suffix}") for suffix in (".png", ".pdf")]
        for label, data in self.data.items():
            paths.append(directory / f"{name}_{label}.csv")
            data.to_dataframe().to_csv(paths[-1], float_format="%.15g")
        return paths


def by_dims(data: xr.Dataset) -> dict[str, xr.Dataset]:
    """Split a dataset into tables, one for each set of dimensions, named by its first variable.

    >>> list(by_dims(xr.Dataset({"a": ("x", [1]), "b": ("x", [2]), "c": ("y", [3])})))
    ['a', 'c']
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, variable in data.data_vars.items():
        groups.setdefault(tuple(map(str, variable.dims)), []).append(str(name))
    return {names[0]: data[names] for names in groups.values()}
