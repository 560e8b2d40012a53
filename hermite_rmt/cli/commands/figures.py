"""`hermite-rmt figures`: the project's figures, each with its data beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hermite_rmt.cli.output import print_columns, print_json, progress_bar
from hermite_rmt.figures.drawn import Drawn
from hermite_rmt.figures.evidence import RESUMABLE, MissingModelError
from hermite_rmt.figures.gallery import GALLERY


def run(names: Sequence[str], everything: bool, folder: Path, store: Path | None, as_json: bool) -> None:
    """Make the named figures, or list what there is; of all, those whose model is not installed are left out.

    Parameters
    ----------
    store : folder that keeps the trials of the longest ones, so that an interrupted command continues; None: nowhere

    Raises
    ------
    ValueError
        If there is no figure of such a name.
    """
    for name in names:
        if name not in GALLERY:
            raise ValueError(f"name: got {name!r}; allowed: {', '.join(GALLERY)}")
    if not names and not everything:
        listed = {name: str(make.__doc__) for name, make in GALLERY.items()}
        if as_json:
            print_json([{"name": name, "shows": text} for name, text in listed.items()])
        else:
            print_columns(("name", "what it shows"), list(listed.items()))
        return
    if store is not None:
        store.mkdir(parents=True, exist_ok=True)
    made = []
    for name in GALLERY if everything else names:
        try:
            make: Callable[..., Drawn] = GALLERY[name]
            drawn = make(progress_bar, store) if name in RESUMABLE else make(progress_bar)
        except MissingModelError as missing:
            if not everything:
                raise
            print(f"{name}: left out, {missing}", file=sys.stderr)
            continue
        paths = [str(path) for path in drawn.save(folder, name)]
        made.append({"name": name, "files": paths})
        if not as_json:
            print("\n".join(paths))
    if as_json:
        print_json(made)
