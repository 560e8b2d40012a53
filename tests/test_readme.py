"""The README's examples run in order, in one session, and print what it shows."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pages
import pytest

from hermite_rmt.cli import DONE, main

README = pages.ROOT / "README.md"


def test_every_block_is_an_example_with_its_output() -> None:
    kinds = [kind for kind, _ in pages.blocks(README)]
    assert set(kinds) <= {"python", "text", "console"}
    followers = [after for before, after in itertools.pairwise(kinds) if before == "python"]
    assert followers == ["text"] * kinds.count("python")


def test_python_examples_print_what_is_shown() -> None:
    pages.run_python(README)


def test_commands_print_what_is_shown() -> None:
    pages.run_commands(README)


def test_the_curve_command_is_understood(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (line,) = re.findall(r"^    hermite-rmt (curve .*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    arguments = shlex.split(line)
    # the real one takes half a minute: a smaller one of the same form
    arguments[arguments.index("0.1:4:40")] = "0.5:2:2"
    arguments[arguments.index("512")] = "40"
    outputs = [arguments.index("--output") + 1, arguments.index("--plot") + 1]
    for position in outputs:
        arguments[position] = str(tmp_path / arguments[position])
    assert main(arguments) == DONE
    assert all(Path(arguments[position]).stat().st_size for position in outputs)


def test_what_it_links_to_exists() -> None:
    for target in pages.links(README):
        assert (README.parent / target).is_file()
