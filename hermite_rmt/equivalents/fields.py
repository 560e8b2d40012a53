"""Exact linear algebra over the field of rational functions in the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix


class ParameterField:
    """The field QQ(parameters), closed under the half powers that dimension ratios bring in.

    Every symbol that occurs under a root is replaced by a power of a new symbol, so that ``sqrt(c)**2 = c``
    holds in the field; `expression` undoes it. Ratios are positive, which makes this sound. Other functions of
    parameters become symbols of their own.

    >>> c = sympy.Symbol("c", positive=True)
    >>> field = ParameterField([sympy.sqrt(c) + c])
    >>> field.expression(field.element(sympy.sqrt(c)) ** 2)
    c
    """

    def __init__(self, expressions: Iterable[Any]) -> None:
        expressions = [sympy.sympify(e) for e in expressions]
        strange = sorted(set().union(*(_transcendental(e) for e in expressions)) if expressions else (), key=str)
        self._names = {part: sympy.Dummy(f"x{number}") for number, part in enumerate(strange)}
        expressions = [e.xreplace(self._names) for e in expressions]
        roots: dict[Any, int] = {}
        for expression in expressions:
            for power in expression.atoms(sympy.Pow):
                if power.exp.is_Rational and not power.exp.is_Integer and power.base.is_Symbol:
                    roots[power.base] = sympy.ilcm(roots.get(power.base, 1), power.exp.q)
        self._forward = {s: sympy.Dummy(f"{s}_root", positive=True) ** q for s, q in roots.items()}
        self._backward = {power.base: s ** sympy.Rational(1, power.exp) for s, power in self._forward.items()}
        self._backward |= {name: part for part, name in self._names.items()}
        replaced = [self.rational(e) for e in expressions]
        symbols = (
            sorted(set().union(*(e.free_symbols for e in replaced)), key=lambda s: s.sort_key()) if replaced else []
        )
        base: Any = sympy.QQ
        irrational = [e for e in _constants(replaced) if not e.is_Rational]
        if irrational:
            base = sympy.QQ.algebraic_field(*irrational)
        self.domain = base.frac_field(*symbols) if symbols else base

    def rational(self, expression: Any) -> Any:
        """Return the expression with its roots of parameters replaced."""
        return sympy.sympify(expression).xreplace(self._names).xreplace(self._forward)

    def restored(self, expression: Any) -> Any:
        """Return the expression with the roots of parameters put back."""
        return sympy.expand(expression.xreplace(self._backward))

    def element(self, expression: Any) -> Any:
        """Convert an expression to an element of the field."""
        value = self.rational(expression)
        if self.domain.is_QQ and value.is_Rational:
            return sympy.QQ(int(value.p), int(value.q))
        return self.domain.from_sympy(sympy.together(value))

    def expression(self, element: Any) -> Any:
        """Convert an element back to a SymPy expression in the parameters."""
        return self.domain.to_sympy(element).xreplace(self._backward)


def _transcendental(expression: Any) -> set[Any]:
    """Return the largest parts of an expression that are no rational function of symbols and their roots."""
    if expression.is_Symbol or expression.is_number:
        return set()
    if expression.is_Add or expression.is_Mul:
        return set().union(*map(_transcendental, expression.args))
    power = expression.is_Pow and expression.exp.is_Rational
    if power and (expression.exp.is_Integer or expression.base.is_Symbol):
        return _transcendental(expression.base)
    return {expression}


def _constants(expressions: Sequence[Any]) -> list[Any]:
    """Return the irrational algebraic constants (roots of numbers, the imaginary unit) inside expressions."""
    found = {power for e in expressions for power in e.atoms(sympy.Pow) if power.is_number and not power.is_Rational}
    if any(e.has(sympy.I) for e in expressions):
        found.add(sympy.I)
    return sorted(found, key=str)


def solve_affine(matrix: DomainMatrix, columns: int) -> tuple[list[int], dict[int, dict[int, Any]]] | None:
    """Solve the rows ``sum_j matrix[i, j] x_j = matrix[i, columns]``.

    Returns
    -------
    (free columns, {pivot column: {free column or `columns` (the constant): coefficient}}), or None if there is
    no solution.
    """
    reduced, pivots = matrix.rref()
    if columns in pivots:
        return None
    rows = reduced.to_sdm()
    solved = {}
    for row, pivot in enumerate(pivots):
        entries = rows.get(row, {})
        solved[pivot] = {j: (value if j == columns else -value) for j, value in entries.items() if j != pivot}
    free = [j for j in range(columns) if j not in solved]
    return free, solved
