"""Exponentials at equally spaced points, by multiplication."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.hermite.integrand import X


@dataclass(frozen=True)
class Grid:
    """The points (first + j step) / q, j = 0, 1, ..., whole numbers."""

    first: int
    step: int
    q: int

    def gaussians(self, count: int, number: Callable[[int], Any], exp: Callable[[Any], Any]) -> list[Any]:
        """Return exp(-x^2/2) at the first `count` points by two multiplications each; `number` makes exact numbers.

        The relative error grows like count^2.
        """
        square = number(self.q) ** 2
        value = exp(number(-(self.first**2)) / (2 * square))
        ratio = exp(number(-(2 * self.first * self.step + self.step**2)) / (2 * square))
        change = exp(number(-(self.step**2)) / square)
        values = []
        for _ in range(count):
            values.append(value)
            value, ratio = value * ratio, ratio * change
        return values


class Exponentials:
    """An expression with a symbol in place of each exp(a x + b): on a grid their values are geometric sequences.

    Attributes
    ----------
    expression : in `X` and the symbols; hyperbolic functions of a x + b are written by exponentials
    symbols : one for each exponential

    >>> Exponentials(sympy.tanh(X / 2)).expression
    (E0 - 1)/(E0 + 1)
    """

    def __init__(self, piece: sympy.Expr) -> None:
        self._exponents: dict[sympy.Expr, sympy.Symbol] = {}
        self.expression: sympy.Expr = piece.replace(_is_exponential, self._written)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols, in the order of `on`."""
        return tuple(self._exponents.values())

    def on(
        self, grid: Grid, count: int, constant: Callable[[sympy.Expr], Any], exp: Callable[[Any], Any]
    ) -> list[tuple[Any, ...]]:
        """Return the values of all symbols at the first `count` points of a grid; `constant` evaluates a and b."""
        columns = []
        for exponent in self._exponents:
            shift, slope = constant(exponent.coeff(X, 0)), constant(exponent.coeff(X, 1))
            value, ratio = exp(shift + slope * grid.first / grid.q), exp(slope * grid.step / grid.q)
            column = []
            for _ in range(count):
                column.append(value)
                value = value * ratio
            columns.append(column)
        return list(zip(*columns, strict=True)) if columns else [()] * count

    def _written(self, part: sympy.Expr) -> sympy.Expr:
        argument = sympy.expand(part.args[0])
        if isinstance(part, sympy.exp):
            return self._symbol(argument)
        if isinstance(part, sympy.tanh):
            square = self._symbol(2 * argument)
            return (square - 1) / (square + 1)
        value = self._symbol(argument)
        return (value + 1 / value if isinstance(part, sympy.cosh) else value - 1 / value) / 2

    def _symbol(self, exponent: sympy.Expr) -> sympy.Symbol:
        return self._exponents.setdefault(sympy.expand(exponent), sympy.Symbol(f"E{len(self._exponents)}"))


def _is_exponential(part: sympy.Expr) -> bool:
    if not isinstance(part, (sympy.exp, sympy.tanh, sympy.cosh, sympy.sinh)) or not part.has(X):
        return False
    argument = part.args[0]
    return bool(argument.is_polynomial(X) and sympy.degree(argument, X) == 1)
