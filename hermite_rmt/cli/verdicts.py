"""Verdicts of a verification, and those of a long one kept in its folder so that an interrupted run continues."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import hermite_rmt
from hermite_rmt.study.lines import GrowingFile
from hermite_rmt.study.provenance import software


@dataclass(frozen=True)
class Verdict:
    """One check: its worst deviation, in units of what is allowed (None: there is no number, the check failed)."""

    check: str
    cells: int
    allowed: str
    worst: float | None

    @property
    def passed(self) -> bool:
        """Whether the worst deviation is allowed; not where it is nan."""
        return self.worst is not None and self.worst <= 1


class KeptVerdicts:
    """Verdicts by what they are about, in a file of JSON lines if there is a folder.

    Only verdicts that hold are kept: what failed is tried again. They are those of one state of the program, told
    by a digest of its source; of another state's file nothing is read, and it is begun anew.
    """

    def __init__(self, folder: Path | None, sources: Iterable[Path]) -> None:
        self._known: dict[str, list[Verdict]] = {}
        self._file, self._lock = None, threading.Lock()
        if folder is not None:
            heading = json.dumps({"software": software(), "python": sys.version, "source": digest(sources)}) + "\n"
            path = folder / "verdicts.jsonl"
            self._file = GrowingFile(path)
            lines = self._file.open(heading)
            if lines[:1] != [heading.rstrip("\n")]:
                path.unlink()
                self._file = GrowingFile(path)
                lines = self._file.open(heading)
            for line in lines[1:]:
                record = json.loads(line)
                self._known[record["about"]] = [Verdict(**verdict) for verdict in record["verdicts"]]

    def get(self, about: str) -> list[Verdict] | None:
        """Return the verdicts kept about something, or None."""
        return self._known.get(about)

    def keep(self, about: str, verdicts: Sequence[Verdict]) -> None:
        """Keep verdicts, if all hold; several threads may."""
        if self._file is not None and all(verdict.passed for verdict in verdicts):
            record = {"about": about, "verdicts": [asdict(verdict) for verdict in verdicts]}
            with self._lock:
                self._file.append(json.dumps(record) + "\n")


def largest(values: Iterable[float]) -> float:
    """Return the largest value; nan if one is nan, which `max` may pass over."""
    return float(np.max(list(values)))


def digest(sources: Iterable[Path]) -> str:
    """Return a digest of the package's modules and of further files."""
    package = Path(hermite_rmt.__file__).parent
    found = hashlib.sha256()
    for path in [*sorted(package.rglob("*.py")), *sorted(sources)]:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
