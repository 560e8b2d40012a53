"""Configuration of the documentation site."""

import shutil
import sys
from pathlib import Path

import hermite_rmt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# The derivations are programs in a folder of their own; the site renders copies of them
PAGES = HERE / "derivations"
PAGES.mkdir(exist_ok=True)
SOURCES = {source.name: source for source in (HERE.parent / "derivations").glob("[0-9][0-9]_*.py")}
for page in PAGES.iterdir():
    if page.name not in SOURCES:
        page.unlink()
for name, source in SOURCES.items():
    if not (PAGES / name).exists() or (PAGES / name).read_text() != source.read_text():
        shutil.copy(source, PAGES / name)

project = "hermite_rmt"
author = "The hermite_rmt developers"
copyright = "2026, the hermite_rmt developers"
release = hermite_rmt.__version__

extensions = [
    "generated",
    "mathml",
    "plain_docstrings",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "_ext", "conf.py", "generated"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_custom_sections = ["Result"]
# the words after a colon describe a parameter, and name no types to link to
napoleon_use_param = False
napoleon_use_rtype = False

bibtex_bibfiles = ["references.bib"]

# dashes alone: quotation marks are part of what is typed
smartquotes_action = "D"

html_theme = "furo"
html_title = "hermite_rmt"
html_static_path = ["_static"]
html_css_files = ["site.css"]
