"""The examples of a Markdown page: its Python blocks run in order, in one session, and print what is shown."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hermite_rmt.cli import DONE, main

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page as (language, text)."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def examples(page: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks in a language, each with the text block that follows it, or nothing."""
    listed = blocks(page)
    for (kind, code), (after, shown) in zip(listed, [*listed[1:], ("", "")], strict=True):
        if kind == language:
            yield code, shown if after == "text" else ""


def run_python(page: Path) -> None:
    """Run the Python blocks, and compare what each prints with what the page shows.

    A block that begins with the comment "needs NAME" is left out where no package of that name is installed.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    for code, shown in examples(page, "python"):
        needed = re.match("# needs (\\w+)\n", code)
        if needed and importlib.util.find_spec(needed.group(1)) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), namespace)
        assert printed.getvalue() == shown, code


def run_commands(page: Path) -> None:
    """Run each console block, one command with its output."""
    for text, _ in examples(page, "console"):
        command, _, shown = text.partition("\n")
        prompt, name, *arguments = shlex.split(command)
        assert (prompt, name) == ("$", "hermite-rmt")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main(arguments) == DONE
        assert printed.getvalue() == shown, command


def commands(page: Path) -> list[str]:
    """Return every command of the program that a page shows: in console blocks, indented, or in the text."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^(?:\$ |    )(?:\.venv/bin/)?(hermite-rmt .*)$", text, re.MULTILINE)
    return found + re.findall(r"`(hermite-rmt [^`]*)`", text)


def understood(command: str) -> dict[str, Any]:
    """Have the program read a command line, without running it, and return what it read.

    A usage error is raised; but text may speak of one option alone and leave out others that are required.
    """
    import typer

    from hermite_rmt.cli.app import app

    _, name, *arguments = shlex.split(command, comments=True)
    group: Any = typer.main.get_command(app)
    if name.startswith("--"):
        assert name in {"--help", *(option for parameter in group.params for option in parameter.opts)}
        return {}
    try:
        return dict(group.commands[name].make_context(name, arguments).params)
    except Exception as error:
        if type(error).__name__ != "MissingParameter":
            raise
    return {}


def links(page: Path) -> list[str]:
    """Return the targets of the links inside the project."""
    return [target for target in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
