"""Pages that are computed while the site is built: the catalogue's table, the command line's help, figures.

They go to docs/generated/, and stay there: a figure or table that exists is not made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util import logging

import hermite_rmt as hr
from hermite_rmt.figures import save
from hermite_rmt.figures.drawn import unwatched
from hermite_rmt.figures.gallery import GALLERY
from hermite_rmt.hermite.catalogue import markdown

LOGGER = logging.getLogger(__name__)
QUICK_FIGURES = ("crossings", "spectrum")
# Where figures that take minutes to make are kept, with their data
STORED = ("_static/demo", "evidence/figures")


def catalogue(folder: Path) -> str:
    """Return the table of named nonlinearities, a small plot in each row."""
    head, rule, *rows = markdown(hr.nonlinearities.table()).splitlines()
    lines = [f"| f {head}", f"| --- {rule}"]
    plots = {f.name: f for f in hr.nonlinearities}
    for row in rows:
        name = row.split("|")[1].strip()
        save(small_plot(plots[name]), folder / f"f_{name}.svg")
        lines.append(f"| ![{name}](/generated/f_{name}.svg) {row}")
    return "\n".join(lines)


def small_plot(f: hr.Nonlinearity) -> Figure:
    """Return a plot of f on (-3, 3), in colours that show on light and on dark ground."""
    figure = Figure(figsize=(1.1, 0.8))
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    x = np.linspace(-3, 3, 241)
    values = np.asarray(f(x), dtype=float)
    values[1:][np.abs(np.diff(values)) > 0.4] = np.nan  # a jump is no slope
    axes.axhline(0, color="#888888", linewidth=0.6)
    axes.axvline(0, color="#888888", linewidth=0.6)
    axes.plot(x, values, color="#3b82c4", linewidth=1.5)
    axes.set_ylim(np.nanmin([*values, -0.3]) - 0.1, min(np.nanmax([*values, 0.3]), 4) + 0.1)
    axes.set_axis_off()
    figure.patch.set_alpha(0)
    return figure


def command_line(folder: Path) -> str:
    """Return the commands with their arguments, options and examples, from the program's own help."""
    import typer

    from hermite_rmt.cli.app import app

    group: Any = typer.main.get_command(app)
    return "\n\n".join(section(name, command) for name, command in group.commands.items())


def section(name: str, command: Any) -> str:
    """Return the section of one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["hermite-rmt", name, *(p.metavar or p.name.upper() for p in arguments), "[OPTIONS]"])
    parts = [f"## {name}", as_typed(command.help or ""), f"    {usage}"]
    rows = [f"| `{p.metavar or p.name.upper()}` | | {cell(p.help)} |" for p in arguments]
    for p in options:
        default = "required" if p.required else "" if p.default is None or p.default is False else f"`{p.default}`"
        rows.append(f"| {', '.join(f'`{o}`' for o in p.opts)} | {default} | {cell(p.help)} |")
    parts.append("\n".join(["| | default | |", "| --- | --- | --- |", *rows]))
    if command.epilog:
        parts.append("\n".join(f"    {line}" for line in command.epilog.splitlines()[1:] if line))
    return "\n\n".join(parts)


def cell(text: str | None) -> str:
    """Return text as it stands in a Markdown table."""
    return as_typed((text or "").replace("|", r"\|").replace("*", r"\*").replace("_", r"\_"))


def as_typed(text: str) -> str:
    """Return text with the options in it as code: two hyphens are a dash elsewhere."""
    return re.sub(r"--[a-z][\w-]*", r"`\g<0>`", text)


def gallery(folder: Path) -> str:
    """Return the gallery: every figure with what it shows, the command that makes it, and its data."""
    return "\n\n".join(gallery_entry(folder, name, str(make.__doc__)) for name, make in GALLERY.items())


def gallery_entry(folder: Path, name: str, caption: str) -> str:
    """Return one figure of the gallery; a quick one that is not there yet is made, a missing one is a warning."""
    root = folder.parent
    places = [*(root / place for place in STORED), folder / "gallery"]
    figure = next((path for place in places if (path := place / f"{name}.png").exists()), None)
    if figure is None and name in QUICK_FIGURES:
        figure = GALLERY[name](unwatched).save(folder / "gallery", name)[0]
    shown = caption.strip().splitlines()[0].removeprefix("Draw ")
    parts = [f"## {name}", f"{shown[0].upper()}{shown[1:]}", f"    hermite-rmt figures {name}"]
    if figure is None:
        LOGGER.warning("%s.png is in none of %s: hermite-rmt figures %s makes it", name, ", ".join(STORED), name)
        return "\n\n".join(parts)
    others = {other for other in GALLERY if other != name and other.startswith(f"{name}_")}
    tables = [
        path
        for path in sorted(figure.parent.glob(f"{name}_*.csv"))
        if not any(path.name.startswith(f"{other}_") for other in others)
    ]
    data = ", ".join(f"{{download}}`{path.stem} </{path.relative_to(root)}>`" for path in tables)
    picture = f"![{caption.splitlines()[0]}](/{figure.relative_to(root)})"
    return "\n\n".join([*parts[:2], picture, parts[2], f"Data: {data}."])


PAGES: dict[str, Callable[[Path], str]] = {
    "catalogue": catalogue,
    "command_line": command_line,
    "gallery": gallery,
}
# Always made anew: quick, and changes with the program
VOLATILE = ("command_line", "gallery")


def generate(app: Sphinx) -> None:
    """Write what is missing before the pages that include it are read."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        page = folder / f"{name}.md"
        if name in VOLATILE or not page.exists():
            text = make(folder)
            if not page.exists() or page.read_text() != text:
                page.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Generate before anything is read."""
    app.connect("builder-inited", generate)
    return {"parallel_read_safe": True}
