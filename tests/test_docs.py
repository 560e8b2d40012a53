"""Every page of the documentation: its examples run and print what is shown, its links resolve."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pages
import pytest

import hermite_rmt as hr
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
            if command.split()[1] == "figures":
                assert set(pages.understood(command)["names"] or ()) <= {*GALLERY, "NAME"}, command


@pytest.mark.parametrize("page", BY_NAME)
def test_links_resolve(page: Path) -> None:
    for target in pages.links(page):
        if not target.startswith(("derivations/", "../derivations/")):  # rendered from the folder of that name
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted((DOCS / "tutorials").glob("*.py")), ids=lambda path: path.stem)
def test_tutorial_runs(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")


def test_a_new_model_takes_less_than_40_lines() -> None:
    (whole, *_) = (code for kind, code in pages.blocks(DOCS / "howto" / "model.md") if kind == "python")
    assert len(whole.splitlines()) < 40
    # from nothing: what it imports is all it builds on
    assert whole.startswith("import ")
    assert "Z * K + beta * Z" in whole
    assert "estimate" in whole


def test_every_worked_example_for_contributors_takes_less_than_30_lines() -> None:
    text = (pages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}
    for name in ("A nonlinearity", "A model", "An ensemble", "A derivation", "A claim"):
        lines = [
            line
            for block in re.findall(r"```python\n(.*?)```", sections[name], re.DOTALL)
            for line in block.splitlines()
        ]
        assert 0 < len([line for line in lines if line]) < 30, name


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (pages.ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (pages.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert project["version"] == hr.__version__
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [hr.__version__]
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == hr.__version__
    assert set(re.findall(r"^\s*license: (\S+)$", citation, re.MULTILINE)) == {project["license"]}
