"""Constants made plain: long ones and unassuming parameters become real symbols while the rules work."""

from __future__ import annotations

from typing import Any

import sympy

from hermite_rmt.hermite.integrand import X

Expr = Any
_LONG = 6


def with_plain_constants(expression: Expr) -> tuple[Expr, dict[Expr, Expr]]:
    """Return the expression with plain constants, and what each new symbol stands for.

    A parameter becomes real (it is a number), and a constant of more than a few operations, such as selu's scale, one
    positive or negative symbol: the closed form stays as short as that of the function it multiplies.
    """
    parameters = {
        symbol: sympy.Dummy(symbol.name, real=True)
        for symbol in expression.free_symbols - {X}
        if symbol.is_real is None
    }
    long: dict[Expr, Expr] = {}
    plain = _shortened(expression.xreplace(parameters), long)
    meaning = {dummy: symbol for symbol, dummy in parameters.items()}
    return plain, {**meaning, **{dummy: constant for constant, dummy in long.items()}}


def _shortened(expression: Any, long: dict[Expr, Expr]) -> Any:
    if X not in expression.free_symbols:
        return _symbol_for(expression, long)
    if expression.is_Add or expression.is_Mul:
        constant, rest = expression.as_independent(X, as_Add=bool(expression.is_Add))
        others = expression.func.make_args(rest)
        return expression.func(_symbol_for(constant, long), *(_shortened(part, long) for part in others))
    if isinstance(expression, sympy.Piecewise):
        return expression.func(*((_shortened(branch, long), condition) for branch, condition in expression.args))
    return expression  # constants inside a function decide where it kinks: they stay as they are


def _symbol_for(constant: Any, long: dict[Expr, Expr]) -> Any:
    if not isinstance(constant, sympy.Expr) or not constant.is_number or constant.is_Rational:
        return constant
    if constant not in long and constant.count_ops() > _LONG:
        value = sympy.N(constant, 15)
        if not (value.is_Float and abs(value) > 1e-10):
            return constant
        long[constant] = sympy.Dummy("c", positive=True) if value > 0 else sympy.Dummy("c", negative=True)
    return long.get(constant, constant)
