"""Every page of the documentation: its examples run and print what is shown, its links resolve."""

from __future__ import annotations

import runpy
import shlex
from pathlib import Path

import pages
import pytest

from hermite_rmt.figures.gallery import GALLERY

DOCS = pages.ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.relative_to(DOCS).parts))
PAGES += [pages.ROOT / name for name in ("CONTRIBUTING.md", "README.md", "benchmarks/README.md")]
BY_NAME = [pytest.param(page, id=str(page.relative_to(pages.ROOT))) for page in PAGES]
WITH_EXAMPLES = [
    param
    for param in BY_NAME
    if {"python", "console"} & {kind for kind, _ in pages.blocks(param.values[0])} and param.id != "README.md"
]  # the README has tests of its own


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples_print_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # pages write figures and tables
    pages.run_python(page)
    if page.parent.name != "evidence":  # commands that take minutes to hours: see below
        pages.run_commands(page)


@pytest.mark.parametrize(
    "command", [pytest.param(text, id=text) for page in PAGES for text in dict.fromkeys(pages.commands(page))]
)
def test_commands_are_understood(command: str) -> None:
    if command.split()[1:] != ["figures", "NAME"]:
        pages.understood(command)


def test_figures_named_on_pages_exist() -> None:
    for page in PAGES:
        for command in pages.commands(page):
            _, name, *arguments = shlex.split(command, comments=True)
            if name == "figures":
                assert set(arguments) <= {*GALLERY, "NAME"}, command


@pytest.mark.parametrize("page", BY_NAME)
def test_links_resolve(page: Path) -> None:
    for target in pages.links(page):
        if not target.startswith(("derivations/", "../derivations/")):  # rendered from the folder of that name
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted((DOCS / "tutorials").glob("*.py")), ids=lambda path: path.stem)
def test_tutorial_runs(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")
