"""What the symbols of the language share: names and scalars in their ``args``, and no sums with scalars."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixSymbol

from hermite_rmt.equivalents.errors import ExpressionError, clip


def read_name(name: Any, kind: str) -> Str:
    """Return a name as SymPy keeps it."""
    if isinstance(name, (str, Str)) and str(name):
        return Str(str(name))
    raise TypeError(f"{kind}: the name must be non-empty text, got {name!r}")


def read_scalar(value: Any, what: str) -> sympy.Expr:
    """Return a scalar parameter as an exact SymPy expression."""
    if isinstance(value, str):
        raise TypeError(f"{what}: got the text {value!r}; allowed: a number or a SymPy expression")
    scalar = sympy.Rational(value) if isinstance(value, float) else sympy.sympify(value)  # the double, exactly
    if not isinstance(scalar, sympy.Expr) or scalar.is_Matrix:
        raise TypeError(f"{what}: got {value!r}; allowed: a number or a SymPy scalar expression")
    return scalar


class WithoutScalars:
    """A matrix expression whose sum with a scalar says what to write instead of it."""

    def __add__(self, other: Any) -> Any:
        _refuse_scalar(self, other)
        return super().__add__(other)  # type: ignore[misc]

    def __radd__(self, other: Any) -> Any:
        _refuse_scalar(self, other)
        return super().__radd__(other)  # type: ignore[misc]

    def __sub__(self, other: Any) -> Any:
        _refuse_scalar(self, other)
        return super().__sub__(other)  # type: ignore[misc]

    def __rsub__(self, other: Any) -> Any:
        _refuse_scalar(self, other)
        return super().__rsub__(other)  # type: ignore[misc]


def _refuse_scalar(matrix: Any, other: Any) -> None:
    if other != 0 and not getattr(other, "is_Matrix", False):
        raise ExpressionError(
            f"{clip(matrix)} + {other}: a matrix plus a scalar; write {other}*Identity({matrix.shape[0]})"
        )


class DeclaredMatrix(WithoutScalars, MatrixSymbol):  # type: ignore[misc]  # sympy has no stubs
    """A matrix symbol whose law the engine knows."""

    def _eval_adjoint(self) -> Any:
        return self.T

    def _eval_conjugate(self) -> Any:
        return self
