"""Functions that NumPy lacks or spells differently from SymPy, as elementwise functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

_LARGEST_INTEGER = 2**63


def _lambertw(x: Any, branch: int = 0) -> Any:
    """Return Lambert's W, real where it is real (SciPy's is complex everywhere)."""
    from scipy import special

    value = special.lambertw(x, branch)
    return np.where(value.imag == 0, value.real, np.nan)


def _expint(order: Any, x: Any) -> Any:
    """Return the generalised exponential integral E_n, n a whole number."""
    from scipy import special

    return special.expn(order, x)


DOUBLE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Heaviside": lambda x, at_zero=0.5: np.heaviside(x, at_zero),
    "expint": _expint,
    "lambertw": _lambertw,
}


def with_float_constants(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with its constants of very large integers as floats: NumPy's functions refuse those.

    >>> with_float_constants(sympy.sqrt(sympy.factorial(200))).evalf(6)
    2.80831e+187
    """
    if not isinstance(expression, sympy.Basic) or not any(
        abs(number) >= _LARGEST_INTEGER for number in expression.atoms(sympy.Integer)
    ):
        return expression
    if isinstance(expression, sympy.Expr) and expression.is_number:
        return sympy.N(expression, 17)
    if expression.is_Mul or expression.is_Add:  # their constant terms belong together
        constant, rest = expression.as_independent(*expression.free_symbols)
        if rest != expression:
            return expression.func(with_float_constants(constant), with_float_constants(rest))
    return expression.func(*map(with_float_constants, expression.args))
