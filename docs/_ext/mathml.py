"""Mathematics as MathML, converted while the site is built: no page needs a script or a network to show it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# SymPy wraps what it shows in a notebook; MathML needs no such hint
_WRAPPING = re.compile(r"\\displaystyle\s*")


def to_mathml(latex: str, display: str, node: nodes.Node) -> str:
    """Return MathML for LaTeX; what cannot be converted is a warning, and so fails the build."""
    try:
        return convert(_WRAPPING.sub("", latex).strip(), display=display)
    except Exception as error:
        LOGGER.warning("mathematics cannot be shown: %s (%s)", latex, error, location=node)
        return f"<code>{latex}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write inline mathematics."""
    writer.body.append(to_mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_display(writer: Any, node: nodes.math_block) -> None:
    """Write displayed mathematics, one block an equation, which scrolls where it is wider than the page."""
    writer.body.append(f'<div class="math-block">{to_mathml(node.astext(), "block", node)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name mathml."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
