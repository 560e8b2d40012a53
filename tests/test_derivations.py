"""Every derivation is a program that ends in assertions: running it is the test."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "derivations"


def test_there_are_derivations():
    assert list(FOLDER.glob("[0-9][0-9]_*.py"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("[0-9][0-9]_*.py")), ids=lambda path: path.stem)
def test_derivation(path):
    runpy.run_path(str(path), run_name="__main__")
