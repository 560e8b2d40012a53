"""The long table of a curve as an append-only CSV file: result and checkpoint in one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from hermite_rmt.study.lines import GrowingFile
from hermite_rmt.study.provenance import differences

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Row:
    """One line: theory leaves error_se, n, p, trials empty; for simulated rows c is the realised p/n."""

    model: str
    c: str
    gamma: str
    error: str
    error_se: str = ""
    n: str = ""
    p: str = ""
    trials: str = ""

    @property
    def key(self) -> Key:
        """What the row is about."""
        return self.model, self.c, self.gamma, self.n

    @property
    def simulated(self) -> bool:
        """Whether the row is a simulation's."""
        return bool(self.n)


COLUMNS = tuple(field.name for field in fields(Row))


class CurveTable:
    """Rows of a curve, in memory and, if a path is given, in a CSV file that only grows.

    Lines that start with # say what the rows were computed from. See `GrowingFile` for what a killed process leaves.

    Raises
    ------
    ValueError
        If the file is there and holds something else.
    """

    def __init__(self, path: Path | None, provenance: Mapping[str, str]) -> None:
        self.path = path
        self.provenance = dict(provenance)
        self.rows: dict[Key, Row] = {}
        self._file = None if path is None else GrowingFile(path)
        if self._file is not None:
            self._load(self._file.open(self.heading()))

    def heading(self) -> str:
        """Return the comments and the names of the columns."""
        comments = "".join(f"# {name}: {text}\n" for name, text in self.provenance.items())
        return f"{comments}{','.join(COLUMNS)}\n"

    def text(self) -> str:
        """Return the whole table as CSV."""
        return self.heading() + _lines(self.rows.values())

    def add(self, rows: Iterable[Row]) -> None:
        """Add the rows that are not there yet."""
        new = {row.key: row for row in rows if row.key not in self.rows}
        self.rows.update(new)
        if new and self._file is not None:
            self._file.append(_lines(new.values()))

    def _load(self, lines: list[str]) -> None:
        comments = [line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("#")]
        found = {parts[0]: parts[-1] for parts in comments}
        heading, *rest = [line for line in lines if not line.startswith("#")] or [""]
        if heading != ",".join(COLUMNS):
            raise ValueError(
                f"output: {self.path} exists and is not a curve; allowed: a new path, or this curve's own"
            )
        changes = differences(found, self.provenance)
        if changes:
            raise ValueError(f"output: {self.path} holds another curve: {'; '.join(changes)}. Use another path")
        for line in rest:
            values = next(csv.reader([line]))
            if len(values) != len(COLUMNS):
                raise ValueError(f"output: {self.path} has the line {line!r}; allowed: {len(COLUMNS)} values a line")
            row = Row(*values)
            self.rows[row.key] = row


def _lines(rows: Iterable[Row]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(astuple, rows))
    return text.getvalue()
