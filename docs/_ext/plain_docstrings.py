"""Docstrings are plain text with backticks and doctests: |mu|^2 and w* in them are mathematics, not markup."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# bars and stars, and an underscore at the end of a name, which would make it a link
_MARKUP = re.compile(r"(?<!\\)(?:[|*]|_(?!\w))")


_OF_NAMES = ("Parameters", "Attributes", "Raises", "Returns")
_DESCRIBED = re.compile(r"(\S.*?) : (.*)")


def escape(lines: list[str]) -> list[str]:
    """Return the lines with | and * escaped outside of backticks and doctests, and what is in backticks as code."""
    escaped, in_doctest = [], False
    for line in lines:
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        if not in_doctest:
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
            parts[1::2] = [f"`{part}`" if not part.startswith("``") else part for part in parts[1::2]]
            line = "".join(parts)
        escaped.append(line)
    return escaped


def arrange(lines: list[str]) -> list[str]:
    """Return the lines as napoleon wants them.

    What follows the colon after a name is its description, unless a sentence of its own comes below it. What is
    returned is text (in the section Result of conf.py), unless it is a type with a description below. Text and
    doctests that follow a section have one of their own: else they would belong to the one before.
    """
    arranged: list[str] = []
    section = ""
    for line, below, second in zip(lines, [*lines[1:], ""], [*lines[2:], "", ""], strict=True):
        is_heading = bool(line.strip() and below and set(below) == {"-"})
        if is_heading:
            section = line.strip()
        elif section == "Returns" and set(line) == {"-"} and not second[:1].isspace():
            arranged[-1] = section = "Result"
            line = "-" * len(section)
        elif section and line.startswith(">>>"):
            section = _begin(arranged, section, "Examples")
        elif section in _OF_NAMES and line[:1].strip() and not arranged[-1].strip() and " : " not in line:
            section = _begin(arranged, section, "Notes")
        described = _DESCRIBED.match(line) if section in ("Parameters", "Attributes", "Result") else None
        if described and (not below[:1].isspace() or not below.strip()[:1].isupper() or line[-1] in ",;."):
            if section == "Result" and arranged[-1][:1].strip():
                arranged.append("")
            arranged += [described[1], f"    {described[2]}"]
        else:
            arranged.append(line)
    return arranged


def _begin(arranged: list[str], section: str, name: str) -> str:
    if section != name:
        arranged += [name, "-" * len(name)]
    return name


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Arrange and escape a docstring in place, before its sections are read."""
    lines[:] = escape(arrange(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the escape ahead of napoleon's processing."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
