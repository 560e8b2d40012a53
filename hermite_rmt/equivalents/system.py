"""EquationSystem: self-consistent equations with their unknowns, parameters, branch and sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import sympy

from hermite_rmt.core.numbers import KnownDigits, Real, bits, read_digits
from hermite_rmt.equivalents.real_solutions import real_solutions

_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, repr=False)
class EquationSystem:
    """Polynomial or rational equations ``residual = 0`` in unknowns, with everything needed to read them.

    Attributes
    ----------
    unknowns, parameters : tuples of sympy.Symbol
        What is solved for, and what is given.
    residuals : tuple of sympy.Expr
        Each is zero at the solution. A reduced system may hold more equations than unknowns.
    branch : str
        The sentence that says which of the solutions is meant, and how it is selected.
    observables : mapping of names to expressions in unknowns and parameters
    meanings : mapping of unknowns to sentences
    citations : tuple of str

    Raises
    ------
    ValueError
        If a residual or observable holds a symbol that is neither unknown nor parameter.

    >>> m, z = sympy.symbols("m z")
    >>> EquationSystem((m,), (z,), (m**2 + z*m + 1,), branch="m ~ -1/z as z grows").latex()
    'm^{2} + m z + 1 = 0'
    """

    unknowns: tuple[sympy.Symbol, ...]
    parameters: tuple[sympy.Symbol, ...]
    residuals: tuple[sympy.Expr, ...]
    branch: str
    observables: Mapping[str, sympy.Expr] = field(default_factory=lambda: _NONE)
    meanings: Mapping[sympy.Symbol, str] = field(default_factory=lambda: _NONE)
    citations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {*self.unknowns, *self.parameters}
        for expression in (*self.residuals, *self.observables.values()):
            strange = expression.free_symbols - known
            if strange:
                names = ", ".join(sorted(map(str, strange)))
                raise ValueError(f"residuals: got the symbols {names}; allowed: unknowns and parameters")

    @cached_property
    def jacobian(self) -> dict[tuple[int, int], sympy.Expr]:
        """The nonzero derivatives of the residuals by the unknowns, exact, by (row, column)."""
        columns = {symbol: index for index, symbol in enumerate(self.unknowns)}
        entries = {}
        for row, residual in enumerate(self.residuals):
            for symbol in sorted(residual.free_symbols & set(columns), key=columns.__getitem__):
                entries[row, columns[symbol]] = _derivative(residual, symbol)
        return entries

    def substitute(self, values: Mapping[sympy.Symbol, Any]) -> EquationSystem:
        """Return the system with parameters replaced by exact numbers or other expressions."""
        exact = {}
        for symbol, value in values.items():
            if isinstance(value, str):
                raise TypeError(
                    f"values: got the text {value!r} for {symbol}; allowed: numbers and SymPy expressions"
                )
            exact[symbol] = sympy.Rational(value) if isinstance(value, float) else sympy.sympify(value)
        new = set().union(*(value.free_symbols for value in exact.values())) if exact else set()
        parameters = [symbol for symbol in self.parameters if symbol not in exact]
        parameters += sorted(new - set(parameters) - set(self.unknowns), key=str)
        return EquationSystem(
            self.unknowns,
            tuple(parameters),
            tuple(residual.xreplace(exact) for residual in self.residuals),
            self.branch,
            {name: value.xreplace(exact) for name, value in self.observables.items()},
            self.meanings,
            self.citations,
        )

    def real_solutions(self, digits: int | None = None) -> tuple[dict[sympy.Symbol, Any], ...]:
        """Return all real solutions, whichever branch they are on: none is missed and none is invented.

        Exact steps only (`real_solutions.real_solutions`): solutions are counted and isolated, then evaluated.

        Parameters
        ----------
        digits : None for floats, else that many right digits

        Raises
        ------
        ValueError
            If parameters are left (see `substitute`), an equation is not algebraic with rational coefficients, or
            there are infinitely many complex solutions.

        >>> m, z = sympy.symbols("m z")
        >>> semicircle = EquationSystem((m,), (z,), (m**2 + z*m + 1,), branch="m ~ -1/z as z grows")
        >>> [float(found[m]) for found in semicircle.substitute({z: -sympy.Rational(5, 2)}).real_solutions()]
        [0.5, 2.0]
        """
        if self.parameters:
            names = _names(self.parameters)
            raise ValueError(f"parameters: got no number for {names}; allowed: rational numbers, by substitute(...)")
        places = read_digits(digits)

        def published(value: Real) -> Any:
            return float(value) if places is None else KnownDigits.of(value.mpf(bits(places) + 4), places)

        return tuple(
            {symbol: published(value) for symbol, value in found.items()}
            for found in real_solutions(self.residuals, self.unknowns)
        )

    def operations(self) -> int:
        """Return the number of arithmetic operations in the residuals, common subexpressions counted once."""
        replacements, reduced = sympy.cse(self.residuals)
        return int(sum(sympy.count_ops(part) for part in (*(e for _, e in replacements), *reduced)))

    def latex(self) -> str:
        """Return the equations as LaTeX lines, one equation a line."""
        return " \\\\\n".join(f"{sympy.latex(residual)} = 0" for residual in self.residuals)

    def _repr_latex_(self) -> str:
        lines = self.latex().replace(" = 0", " &= 0")
        return f"$\\displaystyle \\begin{{aligned}} {lines} \\end{{aligned}}$"

    @property
    def _head(self) -> str:
        count = "1 equation" if len(self.residuals) == 1 else f"{len(self.residuals)} equations"
        return f"{count} in {_names(self.unknowns)}; parameters {_names(self.parameters)}"

    def __repr__(self) -> str:
        return f"<EquationSystem: {self._head}>"

    def __str__(self) -> str:
        return "\n".join(
            [self._head, *(f"  {residual} = 0" for residual in self.residuals), f"branch: {self.branch}"]
        )


def _derivative(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return the derivative; sums and products are taken apart here, several times faster than by `sympy.diff`."""
    if expression == symbol:
        return sympy.S.One
    if not expression.args or symbol not in expression.free_symbols:
        return sympy.S.Zero
    if expression.is_Add:
        return sympy.Add(*(_derivative(term, symbol) for term in expression.args))
    if expression.is_Mul:
        parts = expression.args
        slopes = [_derivative(part, symbol) for part in parts]
        return sympy.Add(*(sympy.Mul(*parts[:k], d, *parts[k + 1 :]) for k, d in enumerate(slopes) if d != 0))
    return sympy.diff(expression, symbol)


def _names(symbols: Iterable[sympy.Symbol]) -> str:
    return ", ".join(map(str, symbols)) or "(none)"
