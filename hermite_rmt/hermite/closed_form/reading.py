"""Reading a SymPy expression into the algebra of `algebra.Combination`, one rule a kind of node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.closed_form import elementary, piecewise
from hermite_rmt.hermite.closed_form.algebra import Combination, NotClosedError
from hermite_rmt.hermite.integrand import X

Expr = Any
_ONE = Combination.constant(S.One)
_LARGEST_POWER = 400


def read(expression: Expr) -> Combination:
    """Return the combination that equals `expression` in `X` (almost everywhere).

    Raises
    ------
    NotClosedError
        If it is not in the algebra.
    """
    if X not in expression.free_symbols:
        if expression.is_real is False or (not expression.is_finite and expression.is_number):
            raise NotClosedError(f"the constant {expression}")
        return Combination.constant(expression)
    if expression == X:
        return Combination.polynomial([S.Zero, S.One])
    if expression.is_polynomial(X):
        if _degree(expression) > _LARGEST_POWER:
            raise NotClosedError("a polynomial of large degree")
        return Combination.polynomial(sympy.Poly(expression, X).all_coeffs()[::-1])
    for kind, rule in _RULES.items():
        if isinstance(expression, kind):
            return rule(expression)
    raise NotClosedError(f"no rule for {expression.func}")


def _degree(polynomial: Expr) -> int:
    """Return a bound of the degree, without expanding."""
    if X not in polynomial.free_symbols:
        return 0
    if polynomial.is_Pow:
        return _degree(polynomial.base) * int(polynomial.exp)
    degrees = [_degree(argument) for argument in polynomial.args]
    return sum(degrees) if polynomial.is_Mul else max(degrees, default=1)


def _add(expression: Expr) -> Combination:
    total = Combination()
    for term in expression.args:
        total = total + read(term)
    return total


def _mul(expression: Expr) -> Combination:
    product = _ONE
    for factor in expression.args:
        product = product * read(factor)
    return product


def _pow(expression: Expr) -> Combination:
    base, exponent = expression.args
    if X not in base.free_symbols:
        if not base.is_positive:
            raise NotClosedError(f"a power of {base}")
        return read(sympy.exp(exponent * sympy.log(base)))
    if exponent.is_Integer and 0 < exponent <= _LARGEST_POWER:
        return read(base) ** int(exponent)
    if X in exponent.free_symbols:
        raise NotClosedError(f"the power {exponent}")
    return elementary.real_power(read(base), exponent)


def sign(expression: Expr) -> Combination:
    """Return the sign of an expression, where its zeros are known exactly."""
    try:
        return piecewise.sign(read(expression))
    except NotClosedError:
        pass
    if isinstance(expression, sympy.exp):
        return _ONE
    if isinstance(expression, sympy.erf):
        return sign(expression.args[0])
    if isinstance(expression, sympy.Abs):
        return sign(expression.args[0]) ** 2
    if expression.is_Mul:
        product = _ONE
        for factor in expression.args:
            product = product * sign(factor)
        return product
    if expression.is_Pow and X not in expression.exp.free_symbols:
        of_base = sign(expression.base)
        if not expression.exp.is_integer and of_base**2 != of_base:
            raise NotClosedError("a real power of something negative is complex")
        return of_base if expression.exp.is_odd else of_base**2
    factored = sympy.factor_terms(expression)
    if factored.is_Mul:
        return sign(factored)
    return _sign_of_shifted(expression)


def _sign_of_shifted(expression: Expr) -> Combination:
    """Return the sign of shift + scale g(u), g = exp or erf: g increases, so it is that of scale (u - g^-1(...))."""
    shift, rest = expression.as_independent(X, as_Add=True)
    scale, function = rest.as_independent(X, as_Add=False)
    if isinstance(function, sympy.exp):
        least, most, inverse = S.Zero, None, sympy.log
    elif isinstance(function, sympy.erf):
        least, most, inverse = S.NegativeOne, S.One, sympy.erfinv
    else:
        raise NotClosedError(f"the zeros of {expression}")
    increasing = Combination.constant(sympy.Integer(piecewise.sign_of_constant(scale)))
    level = -shift / scale
    if piecewise.sign_of_constant(level - least) <= 0:
        return increasing
    if most is not None and piecewise.sign_of_constant(level - most) >= 0:
        return increasing.times(S.NegativeOne)
    return increasing * sign(function.args[0] - inverse(level))


def _is_positive(expression: Expr) -> Combination:
    """Return the indicator of expression > 0, also where the expression vanishes on an interval."""
    signs = sign(expression)
    return (signs**2 + signs).times(S.Half)


def _abs(expression: Expr) -> Combination:
    argument = expression.args[0]
    return read(argument) * sign(argument)


def _extremum(expression: Expr) -> Combination:
    # max(u, v) = (u + v + |u - v|) / 2
    direction = S.One if isinstance(expression, sympy.Max) else S.NegativeOne
    chosen, *others = expression.args
    value = read(chosen)
    for other in others:
        difference = value + read(other).times(S.NegativeOne)
        size = difference * sign(chosen - other)
        value = (value + read(other) + size.times(direction)).times(S.Half)
        chosen = expression.func(chosen, other)
    return value


def _piecewise(expression: Expr) -> Combination:
    total, remaining = Combination(), _ONE
    for branch, condition in expression.args:
        here = remaining * _indicator(condition)
        if here.terms:
            total = total + read(branch) * here
        remaining = remaining + here.times(S.NegativeOne)
    if remaining.terms:
        raise NotClosedError("a Piecewise that is not defined everywhere")
    return total


def _indicator(condition: Any) -> Combination:
    """Return the indicator of a condition, up to points of no weight."""
    if condition in (sympy.true, sympy.false):
        return _ONE if condition == sympy.true else Combination()
    if isinstance(condition, sympy.Gt):
        return _is_positive(condition.lhs - condition.rhs)
    if isinstance(condition, sympy.Lt):
        return _is_positive(condition.rhs - condition.lhs)
    if isinstance(condition, (sympy.Ge, sympy.Le)):
        return _ONE + _indicator(sympy.Not(condition)).times(S.NegativeOne)
    if isinstance(condition, (sympy.Eq, sympy.Ne)):
        differs = sign(condition.lhs - condition.rhs) ** 2
        return differs if isinstance(condition, sympy.Ne) else _ONE + differs.times(S.NegativeOne)
    if isinstance(condition, sympy.And):
        product = _ONE
        for part in condition.args:
            product = product * _indicator(part)
        return product
    if isinstance(condition, sympy.Or):
        return _ONE + _indicator(sympy.Not(condition)).times(S.NegativeOne)
    raise NotClosedError(f"the condition {condition}")


def _rewritten(target: Any) -> Callable[[Expr], Combination]:
    return lambda expression: read(expression.rewrite(target))


_RULES: dict[Any, Callable[[Expr], Combination]] = {
    sympy.Add: _add,
    sympy.Mul: _mul,
    sympy.exp: lambda expression: elementary.exponential(read(expression.args[0])),
    sympy.Pow: _pow,
    sympy.cos: lambda expression: elementary.wave(read(expression.args[0]), "cos"),
    sympy.sin: lambda expression: elementary.wave(read(expression.args[0]), "sin"),
    sympy.erf: lambda expression: elementary.error_function(read(expression.args[0])),
    sympy.erfc: _rewritten(sympy.erf),
    sympy.sinh: _rewritten(sympy.exp),
    sympy.cosh: _rewritten(sympy.exp),
    sympy.Abs: _abs,
    sympy.sign: lambda expression: sign(expression.args[0]),
    sympy.Heaviside: lambda expression: (_ONE + sign(expression.args[0])).times(S.Half),
    sympy.Max: _extremum,
    sympy.Min: _extremum,
    sympy.Piecewise: _piecewise,
}
