"""What a study was computed from, as plain text beside its data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np


def software() -> str:
    """Return the versions of what numbers depend on."""
    return f"hermite_rmt {version('hermite-rmt')}, numpy {version('numpy')}, scipy {version('scipy')}"


def provenance(model: Any, seed: int | None = None, options: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return versions, model, seed and options; where they are equal, trials of equal n, p and index are equal."""
    stated = {
        "name": model.name,
        "model": json.dumps(model.describe()),
        "software": software(),
    }
    f = getattr(model, "nonlinearity", None)
    if f is not None:
        stated["nonlinearity"] = f.name
    if seed is not None:
        described = {name: _text(value) for name, value in sorted((options or {}).items())}
        stated |= {"seed": str(seed), "simulation": json.dumps(described)}
    return stated


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Say in which entries two provenances differ.

    >>> differences({"seed": "0", "model": "tanh"}, {"seed": "1", "model": "tanh"})
    ['seed is 0, not 1']
    """
    names = sorted({*found, *wanted})
    return [f"{n} is {found.get(n)}, not {wanted.get(n)}" for n in names if found.get(n) != wanted.get(n)]


def _text(value: Any) -> str:
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    array = np.ascontiguousarray(value)
    return f"array of shape {array.shape}, sha256 {hashlib.sha256(array.tobytes()).hexdigest()}"
