"""The reference and the page on rigour name the whole public interface, and nothing that is not there."""

from __future__ import annotations

import importlib
import re
from functools import cached_property
from typing import Any

import pages
import pytest

import hermite_rmt as hr

REFERENCE = (pages.ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
RIGOUR = (pages.ROOT / "docs" / "rigour.md").read_text(encoding="utf-8")
# documented in the reference as building blocks of simulations and figures: no claim to rigour beyond their sources
BUILDING_BLOCKS = {
    "Ginibre",
    "Elliptic",
    "Level",
    "Specification",
    "simulate",
    "simulate_attention",
    "load_weights",
    "analyse_weights",
    "joint_family",
    "off_diagonal",
    "curve_figure",
    "comparison_figure",
    "spectrum_figure",
    "save",
}


def documented() -> dict[str, Any]:
    """Return what the reference lists, by its last name."""
    found = {}
    for path in re.findall(r"^\.\. auto(?:class|function|exception|data):: (\S+)", REFERENCE, re.MULTILINE):
        module, _, name = path.rpartition(".")
        found[name] = getattr(importlib.import_module(module), name)
    return found


def methods(cls: type) -> set[str]:
    """Return the public methods and properties that the package itself defines."""
    kinds = (property, cached_property, classmethod, staticmethod)
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("hermite_rmt")
        for name, value in vars(base).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, kinds))
    }


def covered() -> tuple[set[str], set[tuple[str, str]]]:
    """Return the names in the first cells of the tables on rigour, and the pairs of class and method."""
    names, pairs = set(), set()
    for cell in re.findall(r"^\| (`[^|]*) \|", RIGOUR, re.MULTILINE):
        for part in cell.split(";"):
            owners, _, members = part.partition(":")
            listed = re.findall(r"`(\w+)`", owners)
            names.update(listed)
            pairs.update((owner, member) for owner in listed for member in re.findall(r"`(\w+)`", members))
    return names, pairs


NAMES, PAIRS = covered()
CLASSES = {name: value for name, value in documented().items() if isinstance(value, type)}


def test_the_reference_lists_every_public_name() -> None:
    assert set(hr.__all__) - {"nonlinearities"} <= set(documented())
    for name in set(hr.__all__) & set(documented()):
        assert documented()[name] is getattr(hr, name)


def test_every_public_name_has_its_level_of_rigour() -> None:
    assert set(hr.__all__) <= NAMES
    assert set(documented()) - BUILDING_BLOCKS - {"Catalogue"} <= NAMES


@pytest.mark.parametrize("name", [*sorted(set(CLASSES) - BUILDING_BLOCKS - {"Catalogue"}), "nonlinearities"])
def test_every_method_has_its_level_of_rigour(name: str) -> None:
    cls = CLASSES.get(name, type(hr.nonlinearities))
    declared = {"GOE", "GUE", "Gaussian", "Vector"}  # their methods are the engine's
    if name not in declared:
        assert methods(cls) == {member for owner, member in PAIRS if owner == name}


def test_the_reference_documents_the_methods_of_every_class() -> None:
    with_members = set(re.findall(r"autoclass:: \S+\.(\w+)\n   :members:", REFERENCE))
    symbols = {"GOE", "GUE", "Gaussian", "Vector", "Ginibre", "Elliptic", "Specification"}
    assert {name for name, cls in CLASSES.items() if methods(cls)} - symbols <= with_members
