"""Every page of the documentation: its examples run and print what is shown, its links resolve."""

from __future__ import annotations

import runpy
from pathlib import Path

import pages
import pytest

DOCS = pages.ROOT / "docs"
# evidence/ shows commands that take long, and has tests of its own
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated", "evidence"} & set(page.parts))
PAGES.append(pages.ROOT / "CONTRIBUTING.md")
BY_NAME = [pytest.param(page, id=str(page.relative_to(pages.ROOT))) for page in PAGES]
WITH_EXAMPLES = [
    param for param in BY_NAME if {"python", "console"} & {kind for kind, _ in pages.blocks(param.values[0])}
]


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples_print_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # pages write figures and tables
    pages.run_python(page)
    pages.run_commands(page)


@pytest.mark.parametrize("page", BY_NAME)
def test_links_resolve(page: Path) -> None:
    for target in pages.links(page):
        if not target.startswith(("derivations/", "../derivations/")):  # rendered from the folder of that name
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted((DOCS / "tutorials").glob("*.py")), ids=lambda path: path.stem)
def test_tutorial_runs(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")
