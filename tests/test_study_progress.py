"""The bar of a sweep: on a terminal, in a log, in a notebook's cell."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace

import pytest

import hermite_rmt as hr
from hermite_rmt.study import progress

SMALL = {"n": 10, "trials": 4, "rng": 0}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    hr.sweep(hr.LinearRegression(), [0.5, 1], 0.1, simulate=SMALL, progress=True)
    drawn = terminal.getvalue()
    lines = drawn.split("\r")[1:]
    assert [line.split("] ")[1].split("/")[0] for line in lines] == [str(k) for k in range(9)]
    assert "s left" in lines[4]
    assert lines[-1].startswith("[" + "#" * progress.WIDTH + "] 8/8 trials")
    assert drawn.endswith("\n")
    assert drawn.count("\n") == 1


def test_in_a_log_only_the_end_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    hr.sweep(hr.LinearRegression(), [0.5, 1], 0.1, simulate=SMALL, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"[{'#' * progress.WIDTH}] 8/8 trials\n"


@pytest.mark.parametrize("silent", [None, False])
def test_nothing_is_written_unasked(capsys: pytest.CaptureFixture[str], silent: bool | None) -> None:
    hr.sweep(hr.LinearRegression(), 1, 0.1, simulate=SMALL, progress=silent)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_in_a_notebook_one_output_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []

    def display(bar: progress.ProgressBar, display_id: bool) -> SimpleNamespace:
        assert display_id
        shown.append(bar._repr_html_())
        return SimpleNamespace(update=lambda again: shown.append(again._repr_html_()))

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    hr.sweep(hr.LinearRegression(), 1, 0.1, simulate=SMALL, progress=True)
    assert len(shown) == 5
    assert shown[-1] == '<progress value="4" max="4"></progress> 4/4 trials'
    assert capsys.readouterr().err == ""
