"""The named nonlinearities: `nonlinearities.relu`, `nonlinearities.leaky_relu(0.2)`, and the table of all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from hermite_rmt.hermite import formulas
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.hermite.sources import exact_constant

Expr = Any


class Catalogue:
    """A namespace of nonlinearities: attributes, `catalogue["name"]`, iteration over names.

    Entries with parameters are functions of them, and stand for their default in the table.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Callable[..., Nonlinearity] | Nonlinearity] = {}

    def register(self, name: str, source: Any) -> None:
        """Add a nonlinearity: text, SymPy expression, callable, or a function of parameters returning an expression."""
        if not name.isidentifier() or name in self._entries or hasattr(type(self), name):
            raise ValueError(f"name: got {name!r}; allowed: an identifier that is not taken yet")
        self._entries[name] = Nonlinearity(source, name=name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_entries"][name]
        except KeyError:
            raise AttributeError(f"no nonlinearity {name!r}; there are {', '.join(self)}") from None

    def __getitem__(self, name: str) -> Any:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._entries]


nonlinearities = Catalogue()
for _name, _formula in formulas.FORMULAS.items():
    if _name in ("clip",):
        continue
    nonlinearities._entries[_name] = Nonlinearity(_formula(X), name=_name)
