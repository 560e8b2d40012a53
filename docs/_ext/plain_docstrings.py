"""Docstrings are plain text with backticks and doctests: |mu|^2 and w* in them are mathematics, not markup."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# bars and stars, and an underscore at the end of a name, which would make it a link
_MARKUP = re.compile(r"(?<!\\)(?:[|*]|_(?!\w))")


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


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring in place, before its sections are read."""
    lines[:] = escape(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the escape ahead of napoleon's processing."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
