"""Checkpoints of sweeps: an append-only file of JSON lines, one line a trial."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from hermite_rmt.study.lines import GrowingFile
from hermite_rmt.study.provenance import differences

FORMAT = "hermite_rmt trials, version 1"
TrialKey = tuple[int, int, int]  # n, p, index of the trial
TrialValues = dict[str, dict[str, float]]  # text of gamma -> observable -> value


class TrialStore(Protocol):
    """What a sweep needs of a checkpoint."""

    def load(self, provenance: Mapping[str, Any]) -> dict[TrialKey, TrialValues]:
        """Return the trials kept so far, or raise a ValueError if they belong to something else."""
        ...

    def append(self, key: TrialKey, values: TrialValues) -> None:
        """Keep one trial, so that it survives the end of this process, however it ends."""
        ...


class JsonLinesStore:
    """Trials in a file of JSON lines: the first line says what they belong to, every other line is one trial.

    Floats are written so that they read back exactly. See `GrowingFile` for what happens when a process is killed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file = GrowingFile(path)

    def load(self, provenance: Mapping[str, Any]) -> dict[TrialKey, TrialValues]:
        """Return the trials of the file, which is begun if it does not exist.

        Raises
        ------
        ValueError
            If the file is not such a store, or its provenance differs from `provenance`.
        """
        heading, *lines = self._file.open(_line({"format": FORMAT, "provenance": dict(provenance)})) or [""]
        self._check_heading(self._parse(heading, 1), provenance)
        trials: dict[TrialKey, TrialValues] = {}
        for number, line in enumerate(lines, start=2):
            record = self._parse(line, number)
            trials.setdefault((record["n"], record["p"], record["trial"]), {}).update(record["values"])
        return trials

    def append(self, key: TrialKey, values: TrialValues) -> None:
        """Append one trial as one line."""
        n, p, trial = key
        self._file.append(_line({"n": n, "p": p, "trial": trial, "values": values}))

    def _parse(self, line: str, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("not a JSON object")
        except ValueError as error:
            raise ValueError(f"store: {self.path}, line {number} is not a line of a trial store ({error})") from None
        return record

    def _check_heading(self, found: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
        if found.get("format") != FORMAT:
            raise ValueError(f"store: {self.path} is not a trial store; allowed: a new path or this sweep's own")
        changes = differences(found["provenance"], provenance)
        if changes:
            raise ValueError(f"store: {self.path} belongs to another sweep: {'; '.join(changes)}. Use another path")


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"
