"""SymPy matrix expression -> nodes with checked sizes and orders, everything measured in one base dimension.

SymPy checks no symbolic size, so the reader does. Every random matrix and vector is divided by its order
n^k, so that the nodes hold O(1) quantities and the scalars are free of dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.equivalents.declared import DeclaredMatrix, read_scalar
from hermite_rmt.equivalents.ensembles import RandomMatrix, Vector
from hermite_rmt.equivalents.errors import ExpressionError, clip
from hermite_rmt.equivalents.nodes import Letter, Node, add, identity, invert, multiply, transpose
from hermite_rmt.equivalents.spectral import Deterministic

HALF = sympy.Rational(1, 2)


def _require_one_meaning(matrices: list[Any]) -> None:
    """Refuse different matrices of one name, and families of the same names with different covariances."""
    meanings: dict[str, Any] = {}
    for matrix in matrices:
        if not isinstance(matrix, DeclaredMatrix):
            continue
        claims = {matrix.name: matrix}
        if isinstance(matrix, RandomMatrix) and matrix.family:
            claims[f"family {matrix.family[0]}"] = matrix.family[2]
        for name, meaning in claims.items():
            if meanings.setdefault(name, meaning) != meaning:
                raise ExpressionError(
                    f"two different matrices or covariances are called {name}: allowed: one meaning for every name "
                    "(dependent matrices are declared by joint_family)"
                )


@dataclass(frozen=True)
class Reading:
    """A read expression: the node, times base^order."""

    node: Node
    order: Any


class Reader:
    """Reads expressions of one model: dimensions as ratios of a base dimension.

    Raises
    ------
    ExpressionError
        For anything outside the language, naming the subexpression.
    """

    def __init__(self, ratios: Mapping[Any, Any], matrices: list[Any]) -> None:
        _require_one_meaning(matrices)
        sizes = {size for matrix in matrices for size in matrix.shape if size != 1}
        given = {read_scalar(key, "ratios"): read_scalar(value, "ratios") for key, value in ratios.items()}
        for size in sorted(sizes, key=str):
            if not isinstance(size, sympy.Symbol):
                raise ExpressionError(f"the dimension {size}: allowed: a symbol made by dimensions()")
        growing = sizes | {s for value in given.values() for s in value.free_symbols if s in sizes or s.is_integer}
        free = sorted(growing - set(given), key=str)
        bases = {s for s in free if any(v.has(s) for v in given.values())} or set(free)
        missing = [s for s in free if s not in bases] or (free[1:] if len(bases) > 1 else [])
        if missing or not free:
            named = ", ".join(map(str, missing or sorted(given, key=str)))
            raise ExpressionError(
                f"ratios: the ratio of {named} to the base dimension is missing or circular; "
                f"allowed: ratios={{p: c*n}} for every dimension but one (dimensions: {sorted(map(str, sizes))})"
            )
        self.base = free[0]
        self.ratios = {self.base: sympy.S.One}
        for size, value in given.items():
            ratio = sympy.simplify(value / self.base)
            if ratio.has(self.base) or ratio.free_symbols & set(given):
                raise ExpressionError(f"ratios: got {size}: {value}; allowed: a scalar times {self.base}")
            if ratio.is_positive is False:
                raise ExpressionError(f"ratios: got {size}: {value}; allowed: a positive number times {self.base}")
            self.ratios[size] = ratio
        self._sizes = {size: ratio * self.base for size, ratio in self.ratios.items() if size != self.base}

    def ratio(self, size: Any) -> Any:
        """Return a dimension over the base dimension."""
        try:
            return self.ratios[size]
        except KeyError:
            raise ExpressionError(f"ratios: no ratio for the dimension {size}; add ratios={{{size}: ...}}") from None

    def scalar(self, value: Any, where: Any) -> tuple[Any, Any]:
        """Split a scalar into (factor free of dimensions, power of the base)."""
        value = sympy.sympify(value)
        value = value.xreplace({number: sympy.Rational(number) for number in value.atoms(sympy.Float)})
        if value.atoms(sympy.MatrixSymbol):
            raise ExpressionError(
                f"the scalar {clip(value)} in {clip(where)}: allowed: scalars without matrices in them"
            )
        if not value.free_symbols & set(self.ratios):
            return value, sympy.S.Zero
        value = sympy.expand_power_base(value.xreplace(self._sizes), force=True)
        value = sympy.powdenest(sympy.factor_terms(value), force=True)
        rest, order = sympy.S.One, sympy.S.Zero
        for factor in sympy.Mul.make_args(value):
            base, exponent = factor.as_base_exp()
            if base == self.base:
                order += exponent
            else:
                rest *= factor
        if rest.has(self.base):
            raise ExpressionError(f"the scalar {value} in {clip(where)}: a sum of different orders in {self.base}")
        return rest, order

    def read(self, expression: Any) -> Reading:
        """Read a SymPy matrix expression."""
        if isinstance(expression, RandomMatrix):
            node = Letter(expression)
            self.ratio(node.rows), self.ratio(node.cols)
            order = sympy.S.Zero if expression.entries_shrink else HALF
            return Reading(Node("letter", node.rows, node.cols, (node,)), order)
        if isinstance(expression, Deterministic):
            size = expression.shape[0]
            self.ratio(size)
            return Reading(Node("deterministic", size, size, (expression,)), sympy.S.Zero)
        if isinstance(expression, sympy.Identity):
            self.ratio(expression.shape[0])
            return Reading(identity(expression.shape[0]), sympy.S.Zero)
        if isinstance(expression, sympy.MatAdd):
            return self._read_sum(expression)
        if isinstance(expression, sympy.MatMul):
            return self._read_product(expression)
        if isinstance(expression, sympy.MatPow):  # Inverse is one
            return self._read_power(expression)
        if isinstance(expression, sympy.Transpose):
            inner = self.read(expression.arg)
            return Reading(transpose(inner.node), inner.order)
        if isinstance(expression, sympy.Adjoint):
            return self._read_adjoint(expression)
        raise ExpressionError(self._unknown(expression))

    def _unknown(self, expression: Any) -> str:
        if isinstance(expression, Vector):
            return f"the vector {expression}: allowed inside an expression only as a rank-one part {expression}*v.T"
        if isinstance(expression, sympy.MatrixSymbol):
            return (
                f"the matrix {expression} is undeclared; allowed: Gaussian, GOE, GUE, Ginibre, a member of a joint "
                "family, or a deterministic matrix (each made by its constructor)"
            )
        if isinstance(expression, sympy.matrices.expressions.applyfunc.ElementwiseApplyFunction):
            return (
                f"the entrywise function {clip(expression)}: its diagonal is of another size than the rest; "
                "write off_diagonal(scores.applyfunc(f))/sqrt(p)"
            )
        if isinstance(expression, sympy.Expr) and not expression.is_Matrix:
            return f"the scalar {clip(expression)} where a matrix is needed; write {clip(expression)}*Identity(n)"
        return f"{clip(expression)} ({type(expression).__name__}) is outside the language"

    def _read_adjoint(self, expression: Any) -> Reading:
        raise ExpressionError(f"{clip(expression)}: write .T (real matrices), or the Hermitian matrix itself")

    def _read_sum(self, expression: Any) -> Reading:
        terms: list[tuple[Any, Node]] = []
        first: tuple[Any, Any, Any] | None = None
        order = None
        for argument in expression.args:
            reading = self.read(argument)
            shape = (reading.node.rows, reading.node.cols)
            if first is None:
                first, order = (argument, *shape), reading.order
            elif shape != first[1:]:
                raise ExpressionError(
                    f"sizes differ in the sum {clip(expression)}: {clip(first[0])} is {first[1]} x {first[2]}, "
                    f"{clip(argument)} is {shape[0]} x {shape[1]}"
                )
            elif reading.order != order:
                raise ExpressionError(
                    f"orders differ in the sum {clip(expression)}: {clip(first[0])} is of order "
                    f"{self.base}^({order}), {clip(argument)} of order {self.base}^({reading.order}); "
                    "one of them vanishes in the limit"
                )
            terms.append((sympy.S.One, reading.node))
        assert first is not None
        return Reading(add(terms, *first[1:]), order)

    def _read_product(self, expression: Any) -> Reading:
        scalar, order = sympy.S.One, sympy.S.Zero
        factors: list[tuple[Any, Node]] = []
        waiting = None
        for argument in expression.args:
            if not argument.is_Matrix:
                rest, power = self.scalar(argument, expression)
                scalar, order = scalar * rest, order + power
                continue
            if waiting is not None:
                reading = self._read_rank_one(waiting, argument, expression)
                shown, waiting = waiting * argument, None
            elif isinstance(argument, Vector):
                waiting = argument
                continue
            else:
                reading, shown = self.read(argument), argument
            if factors and factors[-1][1].cols != reading.node.rows:
                left = factors[-1]
                raise ExpressionError(
                    f"sizes do not fit in the product {clip(expression)}: {clip(left[0])} is "
                    f"{left[1].rows} x {left[1].cols}, {clip(shown)} is {reading.node.rows} x {reading.node.cols}"
                )
            factors.append((shown, reading.node))
            order += reading.order
        if waiting is not None:
            raise ExpressionError(self._unknown(waiting))
        product = multiply([node for _, node in factors])
        return Reading(add([(scalar, product)], product.rows, product.cols), order)

    def _read_rank_one(self, left: Vector, right: Any, where: Any) -> Reading:
        if not (isinstance(right, sympy.Transpose) and isinstance(right.arg, Vector)):
            raise ExpressionError(f"{clip(where)}: the vector {left} must be followed by a transposed vector")
        letter = Letter(left, right.arg)
        scalar, order = sympy.S.One, sympy.S.Zero
        for vector in (left, right.arg):
            ratio = self.ratio(vector.shape[0])
            if vector.delocalised:  # of norm sqrt(dimension): divided by it
                scalar, order = scalar * sympy.sqrt(ratio), order + HALF
        node = Node("letter", letter.rows, letter.cols, (letter,))
        return Reading(add([(scalar, node)], letter.rows, letter.cols), order)

    def _read_power(self, expression: Any) -> Reading:
        exponent = expression.exp
        if not exponent.is_Integer:
            raise ExpressionError(f"the power {clip(expression)}: allowed: whole powers and inverses")
        reading = self.read(expression.base)
        if reading.node.rows != reading.node.cols:
            raise ExpressionError(
                f"{clip(expression)}: the base is {reading.node.rows} x {reading.node.cols}, not square"
            )
        base = invert(reading.node) if exponent < 0 else reading.node
        if exponent == 0:
            return Reading(identity(base.rows), sympy.S.Zero)
        return Reading(multiply([base] * abs(int(exponent))), exponent * reading.order)
