"""The style of all figures, and how they are saved: the same data give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE_FILE = Path(__file__).with_name("hermite_rmt.mplstyle")
# what would make two files of one figure differ: the clock and the version of matplotlib
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Creator": None, "Date": None},
}
FORMATS = tuple(METADATA)
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)))


@dataclass(frozen=True)
class Look:
    """How one model is drawn; models differ in brightness and marker, so that they do in grey as well."""

    colour: str
    marker: str
    face: str


LOOKS = (
    Look("#14375e", "o", "#14375e"),
    Look("#dd7a2f", "s", "white"),
    Look("#7d7d7d", "^", "#7d7d7d"),
    Look("#3f8f6b", "D", "white"),
    Look("#a5335d", "v", "#a5335d"),
)


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself, without pyplot and its global state."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.savefig(buffer, format="png", metadata=METADATA[".png"])
        return buffer.getvalue()


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style while a figure is made or saved."""
    with mpl.rc_context(fname=STYLE_FILE):
        yield


def save(figure: Figure, path: str | Path) -> Path:
    """Save a figure in the format of the path's suffix: .png, .pdf or .svg.

    Raises
    ------
    ValueError
        If the suffix is another one.
    """
    path = Path(path)
    check_suffix(path)
    with styled():
        figure.savefig(path, metadata=METADATA[path.suffix.lower()])
    return path


def check_suffix(path: Path) -> None:
    """Raise a ValueError if no figure can be saved at `path`, before anything is computed for it."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"figure: got the path {str(path)!r}; allowed: a path that ends in {', '.join(FORMATS)}")
