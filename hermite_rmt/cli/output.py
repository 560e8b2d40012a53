"""What commands print: numbers as text, JSON, tables, progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermite_rmt.study.trials import Progress


def number_text(value: Any) -> str:
    """Write a number so that all it knows can be read back: a float, an mpf with its digits, a Ball.

    >>> number_text(0.1)
    '0.1'
    """
    return repr(float(value)) if isinstance(value, float) else str(value)


def print_json(value: Any) -> None:
    """Print JSON; numbers that are results come as exact decimal strings."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_columns(header: Sequence[str], rows: Sequence[Sequence[str]], prefix: str = "") -> None:
    """Print aligned plain columns, each line after `prefix`."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    for row in table:
        print(prefix + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for reading, with colours only where the terminal and NO_COLOR allow them."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name, justify="right" if name != header[0] else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a file has no width to fit into
    console.print(table)


@contextmanager
def progress_bar(description: str) -> Iterator[Progress | None]:
    """Show progress on stderr while trials run; nothing at all if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
