"""Exact evaluation of claims in a field of rational functions, where an identity is an element equal to 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from hermite_rmt.theory.check.quotients import Quotient, converted, restored

LARGEST, LARGEST_QUICK = 1_000_000, 20_000_000  # products of terms in one multiplication, SymPy's and python-flint's


class NotExactError(ArithmeticError):
    """An expression has no value in the field, or is too large; the message says which."""


def evaluate(expression: Any, values: Mapping[Any, Any], one: Any) -> Any:
    """Return the element of a field that an expression becomes at `values`; `one` is its 1.

    Raises
    ------
    NotExactError
        For functions and roots that leave the field, symbols without value, a division by zero, and sizes above
        `LARGEST`.
    """
    if expression.is_Rational:
        return one * int(expression.p) / int(expression.q)
    if expression.is_Symbol:
        if expression not in values:
            raise NotExactError(f"{expression} has no exact expression on the branch")
        return values[expression]
    if expression.is_Add:
        total = one * 0
        for part in expression.args:
            term = evaluate(part, values, one)
            _guard(total, term)
            total = total + term
        return total
    if expression.is_Mul:
        total = one
        for part in expression.args:
            factor = evaluate(part, values, one)
            _guard(total, factor)
            total = total * factor
        return total
    if expression.is_Pow and expression.exp.is_Rational:
        base = evaluate(expression.base, values, one)
        if expression.exp.q == 2:
            if isinstance(base, Quotient):
                raise NotExactError(f"{expression} is no rational function on the branch")
            base = square_root(base)
        elif expression.exp.q != 1:
            raise NotExactError(f"{expression} is no rational function on the branch")
        exponent = int(expression.exp.p)
        if exponent < 0:
            if not base:
                raise NotExactError(f"a division by {expression.base}, which vanishes on the branch")
            base, exponent = one / base, -exponent
        for _ in range(exponent - 1):
            _guard(base, base)
        return base**exponent
    raise NotExactError(f"{expression} is no rational function")


def evaluate_quickly(expression: Any, values: Mapping[Any, Any], one: Any) -> Any:
    """Return `evaluate` by way of python-flint where it is installed; roots leave it no chance."""
    needed = {symbol: values[symbol] for symbol in expression.free_symbols if symbol in values}
    fast = converted(needed, one)
    if fast is None:
        return evaluate(expression, needed, one)
    return restored(evaluate(expression, *fast), one)


def _guard(left: Any, right: Any) -> None:
    if not hasattr(left, "numer"):
        return
    sizes = [max(len(side.numer), len(side.denom)) for side in (left, right)]
    if sizes[0] * sizes[1] > (LARGEST_QUICK if isinstance(left, Quotient) else LARGEST):
        raise NotExactError("the expressions grow too large for an exact expansion")


def square_root(element: Any) -> Any:
    """Return the root of a perfect square that is positive where all generators are.

    Raises
    ------
    NotExactError
        If it is no perfect square, or its sign is not clear from its coefficients.
    """
    root = one = element.field.one
    for part, power in ((element.numer, 1), (element.denom, -1)):
        content, factors = part.factor_list()
        number = sympy.sqrt(sympy.Rational(int(content.numerator), int(content.denominator)))
        if not number.is_Rational or any(multiplicity % 2 for _, multiplicity in factors):
            raise NotExactError("the argument of a root is no perfect square on the branch")
        value = one * int(number.p) / int(number.q)
        for factor, multiplicity in factors:
            value = value * element.field(factor) ** (multiplicity // 2)
        root = root * value if power == 1 else root / value
    if sign(root) is None:
        raise NotExactError("the sign of a root is not clear on the branch")
    return root if sign(root) == 1 else -root


def sign(element: Any) -> int | None:
    """Return 1 or -1 if the coefficients show the sign for positive generators, 0 for zero, else None."""
    if not element:
        return 0
    signs = [{1 if value > 0 else -1 for value in part.values()} for part in (element.numer, element.denom)]
    if any(len(found) > 1 for found in signs):
        return None
    return signs[0].pop() * signs[1].pop()


def vanishes(element: Any, conditions: Sequence[Any], units: Sequence[Any]) -> str | None:
    """Return why an element is zero wherever the conditions are: "" for an identity, a reason, or None.

    Parameters
    ----------
    element : of the field of a chart
    conditions : elements that are zero on the domain
    units : polynomials (as elements) that are zero nowhere on the branch
    """
    if not element:
        return ""
    for condition in conditions:
        rest = condition.numer
        for unit in units:
            while not rest.is_ground and not rest.rem(unit.numer):
                rest = rest.quo(unit.numer)
        if not rest.is_ground and not element.numer.rem(rest):
            return "its numerator is a multiple of that of a condition (factors that never vanish left out)"
    return None


def gradient_quotient(function: Any, parameter: Any, held: Sequence[Any], generators: Sequence[Any]) -> Any:
    """Return the derivative of `function` by `parameter`, `held` fixed, all functions of the generators (Cramer)."""

    def determinant(first: Any) -> Any:
        rows = [[entry.diff(g) for g in generators] for entry in (first, *held)]
        if len(rows) == 2:
            return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
        (a, b, c), (d, e, f), (g, h, i) = rows
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    return determinant(function) / determinant(parameter)
