"""Checkpoints of sweeps in a zarr group (extra `distributed`): the samples as arrays that zarr opens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hermite_rmt.study.grid import OBSERVABLES
from hermite_rmt.study.provenance import differences
from hermite_rmt.study.store import FORMAT, TrialKey, TrialValues


class ZarrStore:
    """Trials in a zarr group, one array for each n, p and gamma: `n512/p256/gamma0.1` of shape (trials, observables).

    A trial is written as a region of its own, one chunk, which zarr's local store moves into place when it is whole.
    Trials that were not computed are nan.

    Raises
    ------
    ImportError
        If zarr, of the extra `distributed`, is not installed.
    """

    def __init__(self, path: str | Path) -> None:
        import zarr

        self.path = Path(path)
        self._open = zarr.open_group

    def load(self, provenance: Mapping[str, Any]) -> dict[TrialKey, TrialValues]:
        """Return the trials of the group, which is begun if it does not exist.

        Raises
        ------
        ValueError
            If there is something else at the path, or its provenance differs from `provenance`.
        """
        if not self.path.exists():
            self._group = self._open(
                self.path, mode="w-", attributes={"format": FORMAT, "provenance": dict(provenance)}
            )
            return {}
        try:
            self._group = self._open(self.path, mode="r+")
        except FileNotFoundError:
            raise ValueError(
                f"store: {self.path} is no zarr group; allowed: a new path or this sweep's own"
            ) from None
        if self._group.attrs.get("format") != FORMAT:
            raise ValueError(f"store: {self.path} is not a trial store; allowed: a new path or this sweep's own")
        changes = differences(self._group.attrs["provenance"], provenance)
        if changes:
            raise ValueError(f"store: {self.path} belongs to another sweep: {'; '.join(changes)}. Use another path")
        trials: dict[TrialKey, TrialValues] = {}
        for n_name, tokens in self._group.groups():
            for p_name, cell in tokens.groups():
                for gamma_name, array in cell.arrays():
                    n, p, gamma = int(n_name[1:]), int(p_name[1:]), gamma_name.removeprefix("gamma")
                    for trial, row in enumerate(array[:].tolist()):
                        if not any(map(math.isnan, row)):
                            values = dict(zip(OBSERVABLES, row, strict=True))
                            trials.setdefault((n, p, trial), {})[gamma] = values
        return trials

    def append(self, key: TrialKey, values: TrialValues) -> None:
        """Write one trial, a region of each of its arrays."""
        n, p, trial = key
        for gamma, observed in values.items():
            name = f"n{n}/p{p}/gamma{gamma}"
            width = len(OBSERVABLES)
            array = self._group.get(name)
            if array is None:
                array = self._group.create_array(
                    name,
                    shape=(trial + 1, width),
                    chunks=(1, width),
                    dtype=np.float64,
                    fill_value=np.nan,
                    dimension_names=("trial", "observable"),
                    attributes={"observables": list(OBSERVABLES)},
                )
            elif array.shape[0] <= trial:
                array.resize((trial + 1, width))
            array[trial] = [observed[observable] for observable in OBSERVABLES]
