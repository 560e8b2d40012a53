"""Reading whatever a user may hand over as f: text, a SymPy expression, a callable, a number."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.parsing import parse
from hermite_rmt.hermite.sources import Source, exact_constant, exact_points
from hermite_rmt.hermite.vocabulary import FUNCTIONS

Expr = Any


def read_source(source: Any, variable: Any, breakpoints: Iterable[Any] | None, name: str | None) -> Source:
    """Read whatever a user may hand over as f; see `Nonlinearity`."""
    points = None if breakpoints is None else exact_points(breakpoints)
    if isinstance(source, sympy.Lambda):
        if len(source.variables) != 1:
            raise TypeError(f"f: got {source}, a function of {len(source.variables)} variables; allowed: of one")
        source, variable = source.expr, source.variables[0]
    if isinstance(source, str):
        names = () if variable is None else (str(variable),)
        read = Source(_in_x(parse(source, names), variable), None, points, name)
        # with parameters a text would have to name its variable too
        return read if read.parameters else replace(read, text=" ".join(source.split()), cache={})
    if isinstance(source, (bool, np.bool_)):
        raise TypeError(f"f: got {source!r}; allowed: text, a SymPy expression, a callable or a Nonlinearity")
    if isinstance(source, (numbers.Number, np.number)) or hasattr(source, "_mpf_"):
        return Source(exact_constant(source, "f"), None, points, name)
    if isinstance(source, (sympy.core.relational.Relational, sympy.logic.boolalg.BooleanFunction)):
        source = sympy.Piecewise((1, source), (0, True))
    if isinstance(source, sympy.Expr):
        return Source(_in_x(source, variable), None, points, name)
    known = _known_function(source)
    if known is not None:
        return Source(known, None, points, name)
    if callable(source):
        return Source(None, source, points, name)
    raise TypeError(f"f: got {source!r}; allowed: text, a SymPy expression, a callable or a Nonlinearity")


def _known_function(source: Any) -> Expr | None:
    """Return the expression of SymPy's, NumPy's, SciPy's or `math`'s own elementary functions."""
    if isinstance(source, sympy.FunctionClass):
        return source(X)
    name = getattr(source, "__name__", "")
    own = isinstance(source, np.ufunc) or getattr(source, "__module__", None) == "math"
    if own and name in FUNCTIONS and 1 in FUNCTIONS[name].arity:
        return FUNCTIONS[name].build(X)
    return None


def _in_x(expression: Expr, variable: Any) -> Expr:
    """Return the expression with its variable replaced by `X`, floats as the exact numbers they are."""
    undefined = expression.atoms(AppliedUndef, sympy.DiracDelta)
    if undefined or expression.has(sympy.oo, -sympy.oo, sympy.zoo, sympy.nan):
        culprits = ", ".join(sorted(map(str, undefined))) or "infinity or nan"
        raise ValueError(f"f: got {expression} with {culprits}; allowed: functions with values at every point")
    floats = {number: sympy.Rational(number) for number in expression.atoms(sympy.Float)}
    expression = expression.xreplace(floats)
    symbols = expression.free_symbols
    wanted = sorted({str(symbol) for symbol in symbols}) if variable is None else [str(variable)]
    if len(wanted) > 1:
        raise ValueError(
            f"f: got {expression} with the symbols {', '.join(wanted)}; allowed: one variable "
            f"(say which with variable=, the others are then parameters)"
        )
    chosen = [symbol for symbol in symbols if str(symbol) in wanted]
    if X in symbols and X not in chosen:  # a parameter called x is not the variable
        expression = expression.xreplace({X: sympy.Dummy("x", real=True)})
    # subs and not xreplace: functions are to see that the variable is real, sqrt(x^2) is |x|
    for symbol in chosen:
        expression = expression if symbol == X else expression.subs(symbol, X)
    return expression
