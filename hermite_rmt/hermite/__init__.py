"""From a nonlinearity f to its Hermite coefficients a_k and its energy nu."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermite_rmt.hermite.catalogue import nonlinearities
    from hermite_rmt.hermite.expansion import HermiteExpansion
    from hermite_rmt.hermite.nonlinearity import Nonlinearity

__all__ = ["HermiteExpansion", "Nonlinearity", "nonlinearities"]

_HOMES = {"HermiteExpansion": "expansion", "Nonlinearity": "nonlinearity", "nonlinearities": "catalogue"}


def __getattr__(name: str) -> Any:
    # loaded on first use: importing the package stays fast
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
