"""A program as a user would write it: it runs, and its types are complete."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "user_program.py"


def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PROGRAM), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy comes with the group dev")
def test_it_passes_mypy_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    from mypy import api

    monkeypatch.chdir(ROOT)  # where the configuration and the cache of the package's own check are
    report, errors, code = api.run(["--strict", str(PROGRAM)])
    # a fault inside the package is found by its own check
    assert not [line for line in report.splitlines() if "user_program.py" in line and "error" in line], report
    assert not errors
    assert code in (0, 1)
