"""`hermite-rmt figures`: the project's figures, each with its data beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hermite_rmt.cli.output import print_columns, progress_bar
from hermite_rmt.figures.gallery import GALLERY


def run(names: Sequence[str], everything: bool, directory: Path) -> None:
    """Make the named figures, or list what there is.

    Raises
    ------
    ValueError
        If there is no figure of such a name.
    """
    for name in names:
        if name not in GALLERY:
            raise ValueError(f"name: got {name!r}; allowed: {', '.join(GALLERY)}")
    if not names and not everything:
        print_columns(("name", "what it shows"), [(name, str(make.__doc__)) for name, make in GALLERY.items()])
    for name in GALLERY if everything else names:
        for path in GALLERY[name](progress_bar).save(directory, name):
            print(path)
