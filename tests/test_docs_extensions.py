"""The site's own Sphinx extensions, on their own."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pages
import pytest

import hermite_rmt as hr
from hermite_rmt.figures.gallery import GALLERY

for needed in ("sphinx", "latex2mathml", "fontTools", "ziamath"):
    pytest.importorskip(needed, reason="the group docs is not installed")
nodes = pytest.importorskip("docutils.nodes")
sys.path.insert(0, str(pages.ROOT / "docs" / "_ext"))
generated, mathml, plain_docstrings = map(importlib.import_module, ("generated", "mathml", "plain_docstrings"))

MATHML = "{http://www.w3.org/1998/Math/MathML}"


def shown(latex: str) -> ElementTree.Element:
    """Return the MathML of an equation, parsed: an XML parser sees every tag that is not closed."""
    return ElementTree.fromstring(mathml.to_mathml(latex, "block", nodes.math_block()))


def texts(latex: str, tag: str) -> list[str]:
    return [element.text or "" for element in shown(latex).iter(MATHML + tag)]


@pytest.mark.parametrize(
    ("latex", "tag", "expected"),
    [
        (r"a \pm b", "mo", ["±"]),
        (r"a \to \infty", "mi", ["a", "∞"]),
        (r"\partial f", "mo", ["∂"]),
        (r"\mathbb{E} f", "mi", ["𝔼", "f"]),
        (r"\mathcal{L}", "mi", ["ℒ"]),
        (r"\mathbf{1}", "mn", ["𝟏"]),
        (r"\arg z", "mo", ["arg"]),
        (r"\big\{ x \big\}", "mo", ["{", "}"]),
    ],
)
def test_letters_and_operators(latex: str, tag: str, expected: list[str]) -> None:
    found = [text for text in texts(latex, tag) if text not in ("→", "\u2061")]
    assert [text for text in found if text in expected] == expected


def test_the_exponent_of_a_matrix_belongs_to_all_of_it() -> None:
    (power,) = shown(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}").iter(MATHML + "msup")
    assert power[0].find(f".//{MATHML}mtable") is not None


def test_several_equations_are_rows_of_a_table() -> None:
    (aligned,) = shown(r"\displaystyle \begin{aligned} a &= b \\ c &= d^2 \end{aligned}").iter(MATHML + "mtable")
    assert [len(row) for row in aligned] == [2, 2]
    (gathered,) = shown(r"\begin{gathered} \text{step one} \\[1ex] a + b \end{gathered}").iter(MATHML + "mtable")
    assert [len(row) for row in gathered] == [1, 1]
    assert "".join(shown(r"E_{\mathrm{aligned}}").itertext()) == "Ealigned"


@pytest.mark.parametrize("latex", [r"a &= b", r"a \\ b", r"\begin{gather} a \\ b \end{gather}"])
def test_lines_that_are_no_table_are_refused(latex: str, monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[Any] = []
    monkeypatch.setattr(mathml.LOGGER, "warning", lambda *arguments, **options: warned.append(arguments))
    mathml.to_mathml(latex, "block", nodes.math_block())
    assert len(warned) == 1


def test_what_objects_show_in_a_notebook_can_be_shown_on_the_site() -> None:
    import sympy

    n = hr.dimensions("n")
    z = sympy.Symbol("z")
    equivalent = hr.deterministic_equivalent((hr.GOE("W", n) - z * sympy.Identity(n)).inv())
    verdict = hr.check("E <= gamma*q", "linear_regression", points=3)
    things = [equivalent, equivalent.pencil, equivalent.reduction, equivalent.polynomial(), verdict, hr.Overlaps()]
    things += [*equivalent.reduction.steps, hr.nonlinearities.relu.centred(), hr.nonlinearities.leaky_relu]
    for thing in [*things, hr.nonlinearities.tanh.expansion(5), hr.MarchenkoPastur(2)]:
        shown(thing._repr_latex_().strip("$"))


def test_roots_have_a_strut() -> None:
    (root,) = shown(r"\sqrt n").iter(MATHML + "msqrt")
    assert root[0].tag == MATHML + "mspace"


def test_what_cannot_be_shown_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[Any] = []
    monkeypatch.setattr(mathml.LOGGER, "warning", lambda *arguments, **options: warned.append(arguments))
    assert mathml.to_mathml(r"\frac{a}", "inline", nodes.math()).startswith("<code>")
    assert mathml.to_mathml(r"a \nosuchcommand b", "inline", nodes.math()).startswith("<code>")
    assert len(warned) == 2


def test_punctuation_stays_with_the_formula_before_it() -> None:
    formula = nodes.math("", "x")
    paragraph = nodes.paragraph("", "", formula, nodes.Text(", and so on"))
    document = SimpleNamespace(findall=paragraph.findall)
    mathml.bind_punctuation(None, document, "page")  # type: ignore[arg-type]
    assert formula["tail"] == ","
    assert paragraph.astext() == "x and so on"


def test_long_formulas_in_the_text_are_marked() -> None:
    for latex, marked in (("x", False), ("+".join("abcdefghijklmnopqrst"), True)):
        writer = SimpleNamespace(body=[])
        with pytest.raises(nodes.SkipNode):
            mathml.visit_inline(writer, nodes.math("", latex))
        assert ("math-long" in writer.body[0]) is marked


def test_docstrings_are_text() -> None:
    lines = ["E |mu|^2 = w* with `a|b` and ``c*d``", ">>> a | b * c", "1 | 2", "", "then |x|, a_{ij}"]
    assert plain_docstrings.escape(lines) == [
        r"E \|mu\|^2 = w\* with ``a|b`` and ``c*d``",
        ">>> a | b * c",
        "1 | 2",
        "",
        r"then \|x\|, a\_{ij}",
    ]


def test_descriptions_and_doctests_of_docstrings_are_told_apart() -> None:
    written = """Return it.

    Parameters
    ----------
    c : p/n, positive
    gamma : ridge, whose
        second line goes on
    source : text or SymPy expression
        Text is read and never evaluated.

    Returns
    -------
    The value; c and gamma
    broadcast.
    first : one of them
        and on

    Raises
    ------
    ValueError
        If c is not positive.

    What else there is to say.

    >>> 1 + 1
    2
    """
    arranged = plain_docstrings.arrange(inspect.cleandoc(written).splitlines())
    assert arranged[4:] == [
        "c",
        "    p/n, positive",
        "gamma",
        "    ridge, whose",
        "    second line goes on",
        "source : text or SymPy expression",
        "    Text is read and never evaluated.",
        "",
        "Result",
        "------",
        "The value; c and gamma",
        "broadcast.",
        "",
        "first",
        "    one of them",
        "    and on",
        "",
        "Raises",
        "------",
        "ValueError",
        "    If c is not positive.",
        "",
        "Notes",
        "-----",
        "What else there is to say.",
        "",
        "Examples",
        "--------",
        ">>> 1 + 1",
        "2",
    ]


def test_the_catalogue_has_a_row_and_a_plot_for_every_nonlinearity(tmp_path: Path) -> None:
    table = generated.catalogue(tmp_path).splitlines()
    assert len(table) == 2 + len(hr.nonlinearities)
    assert len({line.count("|") for line in table}) == 1
    assert {path.stem for path in tmp_path.glob("f_*.svg")} == {f"f_{name}" for name in hr.nonlinearities.names}


def test_the_command_line_page_has_every_command_and_option(tmp_path: Path) -> None:
    import typer

    from hermite_rmt.cli.app import app

    page = generated.command_line(tmp_path)
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            assert parameter.name == "help" or parameter.param_type_name == "argument" or parameter.opts[0] in section
    assert "| `--seed` | `0` |" in page
    assert not re.search(r"[^`-]--[a-z]", re.sub(r"^    .*$", "", page, flags=re.MULTILINE))


def test_every_figure_of_the_gallery_is_shown_with_its_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for place in generated.STORED:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).symlink_to(pages.ROOT / "docs" / place)
    (tmp_path / "generated").mkdir()
    page = generated.gallery(tmp_path / "generated")
    for name in GALLERY:
        entry = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert f"hermite-rmt figures {name}\n" in entry
        (picture,) = re.findall(r"!\[.*\]\(/(.*)\)", entry)
        tables = re.findall(r"`\w+ </(.*?\.csv)>`", entry)
        assert tables
        for path in (picture, *tables):
            assert (tmp_path / path).stat().st_size


def test_pages_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    makers = {name: lambda folder, name=name: made.append(name) or f"text of {name}" for name in ("slow", "quick")}
    monkeypatch.setattr(generated, "PAGES", makers)
    monkeypatch.setattr(generated, "VOLATILE", ("quick",))
    for _ in range(2):
        generated.generate(SimpleNamespace(srcdir=tmp_path))  # type: ignore[arg-type]
    assert made == ["slow", "quick", "quick"]
    assert (tmp_path / "generated" / "slow.md").read_text() == "text of slow"
