"""Matrix expression -> linear pencil, by circuit linearisation.

The expression is applied to an input vector. A *form* is a linear combination of block variables, each with at
most one letter in front; a new variable is made only when a letter meets a form that already holds one, and for
the result of an inverse. Equal applications share their variables. The equations of the variables are the rows of
the pencil.
"""

from __future__ import annotations

from typing import Any

import sympy

from hermite_rmt.equivalents.nodes import Node
from hermite_rmt.equivalents.pencil import Pencil, Sparse
from hermite_rmt.equivalents.spectral import Deterministic

INPUT = -1
Form = dict[tuple[Any, int], Any]  # (letter or deterministic symbol or None, variable) -> scalar


class _Circuit:
    """The linearisation in progress."""

    def __init__(self) -> None:
        self.types: list[Any] = []
        self.rows: list[Form] = []  # the equation of variable k: sum of rows[k] = 0
        self.inverses: dict[int, Node] = {}
        self._applied: dict[Any, Form] = {}
        self._defined: dict[Any, int] = {}

    def variable(self, dimension: Any) -> int:
        self.types.append(dimension)
        self.rows.append({})
        return len(self.types) - 1

    def define(self, form: Form, dimension: Any) -> int:
        """Return the variable equal to a form."""
        key = frozenset(form.items())
        if key not in self._defined:
            index = self.variable(dimension)
            self._defined[key] = index
            self.rows[index] = _combine([(1, {(None, index): sympy.S.One}), (-1, form)])
        return self._defined[key]

    def apply(self, node: Node, form: Form) -> Form:
        """Return the form of ``node`` times what ``form`` stands for."""
        key = (node, frozenset(form.items()))
        if key not in self._applied:
            self._applied[key] = self._apply(node, form)
        return self._applied[key]

    def _apply(self, node: Node, form: Form) -> Form:
        if node.kind == "identity":
            return form
        if node.kind in ("letter", "deterministic"):
            if any(letter is not None or variable == INPUT for letter, variable in form):
                form = {(None, self.define(form, node.cols)): sympy.S.One}
            return {(node.parts[0], variable): scalar for (_, variable), scalar in form.items()}
        if node.kind == "sum":
            return _combine([(scalar, self.apply(part, form)) for scalar, part in node.parts])
        if node.kind == "product":
            for factor in reversed(node.parts):
                form = self.apply(factor, form)
            return form
        index = self.variable(node.rows)
        self.inverses[index] = node.parts[0]
        self.rows[index] = _combine([(1, self.apply(node.parts[0], {(None, index): sympy.S.One})), (-1, form)])
        return {(None, index): sympy.S.One}

    def merge(self, result: Form) -> Form | None:
        """Merge two defined variables that every equation uses in one combination; None where there are none.

        Such pairs come from products with a shared left factor: A*B*x + A*C*y needs only B*x + C*y.
        """
        uses: dict[int, dict[Any, Any]] = {}
        for place, form in enumerate([*self.rows, result]):
            for (letter, variable), scalar in form.items():
                if variable != INPUT and variable != place:
                    uses.setdefault(variable, {})[place, letter] = scalar
        defined = set(self._defined.values())
        for second in sorted(defined):
            for first in sorted(defined):
                if first >= second or self.types[first] != self.types[second]:
                    continue
                ratio = _proportion(uses.get(first, {}), uses.get(second, {}))
                if ratio is not None:
                    return self._merge(first, second, ratio, result)
        return None

    def _merge(self, first: int, second: int, ratio: Any, result: Form) -> Form:
        # first becomes (below * first + above * second), so that no parameter that may vanish is divided by;
        # second's own row and all its uses go
        above, below = sympy.fraction(ratio)
        diagonal = {place: {(None, place): sympy.S.One} for place in (first, second)}
        old, own = (_combine([(1, self.rows[place]), (-1, diagonal[place])]) for place in (first, second))
        self.rows[first] = _combine([(1, diagonal[first]), (below, old), (above, own)])

        def renumber(form: Form, place: int | None = None) -> Form:
            return {
                (letter, variable - (variable > second)): sympy.cancel(scalar / below)
                if variable == first != place
                else scalar
                for (letter, variable), scalar in form.items()
                if variable != second
            }

        self.rows = [renumber(form, place) for place, form in enumerate(self.rows) if place != second]
        del self.types[second]
        self.inverses = {index - (index > second): node for index, node in self.inverses.items()}
        self._defined = {k: index - (index > second) for k, index in self._defined.items() if index != second}
        return renumber(result)


def _proportion(first: dict[Any, Any], second: dict[Any, Any]) -> Any:
    """Return the common ratio second / first of two sparse vectors, or None."""
    if not first or set(first) != set(second):
        return None
    ratios = {sympy.cancel(second[key] / first[key]) for key in first}
    return ratios.pop() if len(ratios) == 1 else None


def _combine(parts: list[tuple[Any, Form]]) -> Form:
    total: Form = {}
    for scalar, form in parts:
        for key, value in form.items():
            total[key] = total.get(key, sympy.S.Zero) + scalar * value
    return {key: expanded for key, value in total.items() if (expanded := sympy.expand(value)) != 0}


def linearise(node: Node) -> Pencil:
    """Return the plain pencil of an expression."""
    circuit = _Circuit()
    result = circuit.apply(node, {(None, INPUT): sympy.S.One})
    if any(letter is not None for letter, _ in result):
        result = {(None, circuit.define(result, node.rows)): sympy.S.One}
    while (merged := circuit.merge(result)) is not None:
        result = merged
    offset = result.pop((None, INPUT), sympy.S.Zero)
    output = {variable: scalar for (_, variable), scalar in result.items()}
    constant: Sparse = {}
    groups: tuple[dict[Any, Sparse], ...] = ({}, {}, {})
    source: dict[int, Any] = {}
    for row, equation in enumerate(circuit.rows):
        for (letter, variable), scalar in equation.items():
            if variable == INPUT:
                source[row] = -scalar
            elif letter is None:
                constant[row, variable] = scalar
            elif isinstance(letter, Deterministic):
                groups[0].setdefault(letter, {})[row, variable] = scalar
            else:
                groups[2 if letter.low_rank else 1].setdefault(letter, {})[row, variable] = -scalar
    deterministic, letters, low_rank = groups
    return Pencil(
        tuple(circuit.types),
        constant,
        deterministic,
        letters,
        low_rank,
        output,
        source,
        offset,
        inverses=circuit.inverses,
    )
