"""Mathematics as MathML, converted while the site is built: no page needs a script or a network to show it.

The font is the site's own too. Brackets that grow and roots come from the MATH table of an OpenType font, which few
machines have installed; STIX Two Math (SIL Open Font Licence) is taken from the package ziamath, which carries it.
"""

from __future__ import annotations

import html
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
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
# It knows neither aligned nor gathered, nor the space after a line
_ENVIRONMENTS = {"aligned": "align*", "gathered": "matrix"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(aligned|gathered)\}")
_LINE_SPACE = re.compile(r"\\\\\[[^\]]*\]")
# It takes some operators, such as plus-minus, for letters, which sets them too close
_SIGN = re.compile(r"<mi>(&#x[0-9A-F]+;|[^\x00-\x7f])</mi>")
_LETTERS_AMONG_SIGNS = "\u221e\u2202\u2207\u2205\u22a4\u22a5"
# The root of a low letter hangs down unless something of a line's height stands beside the letter
_ROOT = "<msqrt>"
_STRUT = '<mspace height="0.75em" depth="0.2em" />'
# The converter does not count arguments: \\frac{a} would be shown as nothing
_ARGUMENTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}
# Longer formulas in the text scroll where a window is narrower than they are
_LONG = 30
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


def _sign(match: re.Match[str]) -> str:
    character = html.unescape(match.group(1))
    is_sign = unicodedata.category(character) == "Sm" and character not in _LETTERS_AMONG_SIGNS
    return f"<mo>{match.group(1)}</mo>" if is_sign else match.group()


def _known(latex: str) -> str:
    """Return LaTeX in the words that the converter knows."""
    latex = _ENVIRONMENT.sub(lambda match: f"\\{match[1]}{{{_ENVIRONMENTS[match[2]]}}}", latex)
    latex = _LINE_SPACE.sub(r"\\\\", _ARG.sub(r"\\operatorname{arg}", _WRAPPING.sub("", latex)))
    return _MATRIX_WITH_EXPONENT.sub(r"{\1}", latex).strip()


def _require_arguments(shown: str) -> None:
    for element in ElementTree.fromstring(shown).iter():
        wanted = _ARGUMENTS.get(element.tag.rpartition("}")[2], len(element))
        if len(element) != wanted:
            raise ValueError(f"{len(element)} arguments of {wanted}")


def to_mathml(latex: str, display: str, node: nodes.Node) -> str:
    """Return MathML for LaTeX; what cannot be converted is a warning, and so fails the build."""
    try:
        shown = _BRACE.sub(r">\1</mo>", _INFINITY.sub(r"<mi>\1</mi>", convert(_known(latex), display=display)))
        if ">\\" in shown or ">&<" in shown or "newline" in shown:
            raise ValueError("a command, an alignment or a new line was left as it is")
        _require_arguments(shown)
        return _VARIANT.sub(_letter, _SIGN.sub(_sign, shown)).replace(_ROOT, _ROOT + _STRUT)
    except Exception as error:
        LOGGER.warning("mathematics cannot be shown: %s (%s)", latex, error, location=node)
        return f"<code>{latex}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write inline mathematics, and the punctuation after it on the same line."""
    shown = to_mathml(node.astext(), "inline", node)
    if len(node.astext()) > _LONG:
        shown = f'<span class="math-long">{shown}</span>'
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
