"""SymPy to text, in the formula language: `parsing.parse` reads it back."""

# ruff: noqa: N802  # SymPy finds printing methods by class names

from __future__ import annotations

from typing import Any

from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

Expr = Any


class _Writer(StrPrinter):  # type: ignore[misc]  # SymPy has no stubs
    """SymPy's own text, but for the nodes that people write differently."""

    def _print_Piecewise(self, expression: Expr) -> str:
        *branches, (last, condition) = expression.args
        text = self._print(last)
        if condition is not True and condition != True:  # noqa: E712  # a SymPy truth value
            raise ValueError("a Piecewise that is not defined everywhere")
        for branch, test in reversed(branches):
            text = f"{self._print(branch)} if {self._print(test)} else {text}"
        return f"({text})"

    def _join(self, expression: Expr, word: str) -> str:
        return f" {word} ".join(f"({self._print(part)})" for part in expression.args)

    def _print_And(self, expression: Expr) -> str:
        return self._join(expression, "and")

    def _print_Or(self, expression: Expr) -> str:
        return self._join(expression, "or")

    def _print_Not(self, expression: Expr) -> str:
        return f"not ({self._print(expression.args[0])})"

    def _print_Relational(self, expression: Expr) -> str:
        left, right = (self.parenthesize(side, precedence(expression)) for side in (expression.lhs, expression.rhs))
        return f"{left} {expression.rel_op} {right}"

    def _called(self, name: str, *arguments: Expr) -> str:
        return f"{name}({', '.join(map(self._print, arguments))})"

    def _print_Max(self, expression: Expr) -> str:
        return self._called("max", *expression.args)

    def _print_Min(self, expression: Expr) -> str:
        return self._called("min", *expression.args)

    def _print_Abs(self, expression: Expr) -> str:
        return self._called("abs", *expression.args)

    def _print_Heaviside(self, expression: Expr) -> str:
        return self._called("step", expression.args[0])

    def _print_ceiling(self, expression: Expr) -> str:
        return self._called("ceil", *expression.args)

    def _print_Exp1(self, expression: Expr) -> str:
        return "e"

    def _print_Pow(self, expression: Expr, rational: bool = False) -> str:
        if expression.exp.is_Rational and expression.exp.q > 2:
            return f"{self.parenthesize(expression.base, PRECEDENCE['Pow'])}**({expression.exp})"
        return str(super()._print_Pow(expression, rational))


def write(expression: Expr) -> str:
    """Return the text of an expression in the formula language.

    >>> from sympy import Max, Piecewise, Symbol
    >>> x = Symbol("x", real=True)
    >>> write(Max(x, 0) + Piecewise((x, x > 1), (0, True)) / 2)
    '(x if x > 1 else 0)/2 + max(0, x)'
    """
    return str(_Writer().doprint(expression))
