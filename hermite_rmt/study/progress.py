"""A bar for whoever asks a sweep to show its progress: in a notebook as part of the cell's output, else on stderr."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

WIDTH = 30  # characters of the bar
PAUSE = 0.1  # seconds between two drawings


class ProgressBar:
    """A progress callback that draws itself: how many trials are done, and about how long the others will take.

    >>> bar = ProgressBar()
    >>> bar.done, bar.total = 3, 12
    >>> print(bar)
    [#######                       ] 3/12 trials
    """

    def __init__(self) -> None:
        self.done, self.total = 0, 0
        self._started: tuple[float, int] | None = None  # time, and how many were done by then
        self._drawn = -PAUSE
        self._show = _NotebookOutput() if _in_notebook() else _Line()

    def __call__(self, done: int, total: int) -> None:
        """Take note of the progress, and draw it unless that was done a moment ago."""
        self.done, self.total = done, total
        now = time.monotonic()
        if self._started is None:
            self._started = now, done
        if done == total or now - self._drawn >= PAUSE:
            self._drawn = now
            self._show.draw(self, last=done == total)

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest will take at the pace so far; None before there is one."""
        if self._started is None or self.done == self._started[1]:
            return None
        since, before = self._started
        return (time.monotonic() - since) / (self.done - before) * (self.total - self.done)

    def __repr__(self) -> str:
        full = WIDTH * self.done // max(self.total, 1)
        return f"[{'#' * full}{' ' * (WIDTH - full)}] {self._words()}"

    def _repr_html_(self) -> str:
        return f'<progress value="{self.done}" max="{self.total}"></progress> {self._words()}'

    def _words(self) -> str:
        left = self.remaining
        rest = "" if left is None or self.done == self.total else f", {left:.0f} s left"
        return f"{self.done}/{self.total} trials{rest}"


class _Line:
    """One line of stderr, written over and over."""

    def draw(self, bar: ProgressBar, last: bool) -> None:
        sys.stderr.write(f"\r{bar}\x1b[K{chr(10) * last}" if sys.stderr.isatty() else f"{bar}\n" * last)
        sys.stderr.flush()


class _NotebookOutput:
    """One output of a notebook's cell, replaced at each drawing; saved with the notebook like any other."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, bar: ProgressBar, last: bool) -> None:
        if self._handle is None:
            self._handle = import_module("IPython.display").display(bar, display_id=True)
        else:
            self._handle.update(bar)


def _in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel; without one nothing of IPython is imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")
