"""Mathematics as MathML, converted while the site is built: no page needs a script or a network to show it.

The font is the site's own too. Brackets that grow and roots come from the MATH table of an OpenType font, which few
machines have installed; STIX Two Math (SIL Open Font Licence) is taken from the package ziamath, which carries it.
"""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# SymPy wraps what it shows in a notebook; MathML needs no such hint
_WRAPPING = re.compile(r"\\displaystyle\s*")
# Browsers know no mathvariant but normal: the letters have code points of their own
_VARIANT = re.compile(r'<(m[in]) mathvariant="(bold|script|double-struck)">(\w)</\1>')
_DIGITS = ["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"]
# The converter takes infinity for an operator, which sets it apart
_INFINITY = re.compile(r"<mo>(&#x0*221E;|\u221e)</mo>")
# It sets the exponent of a matrix on its closing bracket, unless braces hold the matrix together
_MATRIX_WITH_EXPONENT = re.compile(r"(\\begin\{(\w*matrix)\}(?:(?!\\begin).)*?\\end\{\2\})(?=\s*[\^_])", re.DOTALL)
# It knows no arg
_ARG = re.compile(r"\\arg(?![a-zA-Z])")
# It leaves the backslash of braces of a given size
_BRACE = re.compile(r">\\([{}])</mo>")
_PUNCTUATION = re.compile(r"[,.;:!?)\]]+")


def _letter(match: re.Match[str]) -> str:
    tag, variant, letter = match.groups()
    kind = f"DIGIT {_DIGITS[int(letter)]}" if letter.isdigit() else unicodedata.name(letter).partition(" ")[2]
    kind = kind.replace("LETTER ", "")
    try:
        found = unicodedata.lookup(f"MATHEMATICAL {variant.upper()} {kind}")
    except KeyError:  # the letters that Unicode had before the alphabets, such as script L
        found = unicodedata.lookup(f"{variant.upper()} {kind}")
    return f"<{tag}>{found}</{tag}>"


def to_mathml(latex: str, display: str, node: nodes.Node) -> str:
    """Return MathML for LaTeX; what cannot be converted is a warning, and so fails the build."""
    try:
        held = _MATRIX_WITH_EXPONENT.sub(r"{\1}", _ARG.sub(r"\\operatorname{arg}", _WRAPPING.sub("", latex)).strip())
        shown = _BRACE.sub(r">\1</mo>", _INFINITY.sub(r"<mi>\1</mi>", convert(held, display=display)))
        if ">\\" in shown:
            raise ValueError("a command was left as it is")
        return _VARIANT.sub(_letter, shown)
    except Exception as error:
        LOGGER.warning("mathematics cannot be shown: %s (%s)", latex, error, location=node)
        return f"<code>{latex}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write inline mathematics, and the punctuation after it on the same line."""
    shown = to_mathml(node.astext(), "inline", node)
    if node.get("tail"):
        shown = f'<span class="math-tail">{shown}{node["tail"]}</span>'
    writer.body.append(shown)
    raise nodes.SkipNode


def visit_display(writer: Any, node: nodes.math_block) -> None:
    """Write displayed mathematics, one block an equation, which scrolls where it is wider than the page."""
    writer.body.append(f'<div class="math-block">{to_mathml(node.astext(), "block", node)}</div>')
    raise nodes.SkipNode


def bind_punctuation(app: Sphinx, document: nodes.document, name: str) -> None:
    """Move punctuation that follows inline mathematics into its node: a line may break between, but should not."""
    for node in document.findall(nodes.math):
        after = node.next_node(descend=False, siblings=True)
        found = _PUNCTUATION.match(after) if isinstance(after, nodes.Text) else None
        if found:
            node["tail"] = found.group()
            node.parent.replace(after, nodes.Text(after[found.end() :]))


def write_font(app: Sphinx, failure: Exception | None) -> None:
    """Write the font, compressed, to where site.css looks for it."""
    if failure is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "STIXTwoMath.woff"
        with files("ziamath").joinpath("fonts/STIXTwoMath-Regular.ttf").open("rb") as source:
            font = TTFont(source)
            font.flavor = "woff"
            font.save(target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name mathml."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.connect("doctree-resolved", bind_punctuation)
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
