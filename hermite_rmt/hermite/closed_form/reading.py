"""Reading a SymPy expression into the algebra of `algebra.Combination`, one rule a kind of node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.closed_form import piecewise
from hermite_rmt.hermite.closed_form.algebra import Atom, Combination, NotClosedError, oscillating
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
    return _real_power(base, exponent)


def _real_power(base: Expr, exponent: Expr) -> Combination:
    """Read a real power of c |x|^m, with other c for x < 0 and x > 0."""
    parts = []
    for piece in piecewise.pieces(read(base)):
        if piece.left not in (S.NegativeInfinity, S.Zero):
            raise NotClosedError("a real power that vanishes elsewhere than at 0")
        if not piece.coefficients:
            if not exponent.is_positive:
                raise NotClosedError("a negative power of 0")
            parts.append((piece.left, Combination()))
            continue
        *lower, factor = piece.coefficients
        size = factor * S.NegativeOne ** (len(lower) if piece.right == 0 else 0)
        # x < 0 < x in one piece: an even degree keeps its sign
        odd = piece.left is S.NegativeInfinity and piece.right is S.Infinity and len(lower) % 2
        if any(lower) or odd or not size.is_positive:
            raise NotClosedError("a real power of something that is not a positive multiple of |x|^m")
        part = Combination({(Atom(power=len(lower) * exponent), 0): size**exponent})
        parts.append((piece.left, _ONE * part))
    return piecewise.assembled(parts)


def _on_pieces(argument: Expr, degree: int, build: Callable[[list[Expr]], Combination]) -> Combination:
    """Apply a function to a piecewise polynomial of at most `degree`, piece by piece."""
    parts = []
    for piece in piecewise.pieces(read(argument)):
        if len(piece.coefficients) > degree + 1:
            raise NotClosedError(f"a polynomial of degree {len(piece.coefficients) - 1} inside")
        padded = [*piece.coefficients, *[S.Zero] * (degree + 1 - len(piece.coefficients))]
        parts.append((piece.left, build(padded)))
    return piecewise.assembled(parts)


def _exp(expression: Expr) -> Combination:
    def build(c: list[Expr]) -> Combination:
        return Combination({(Atom(quadratic=c[2], linear=c[1]), 0): sympy.exp(c[0])})

    return _on_pieces(expression.args[0], 2, build)


def _wave(expression: Expr) -> Combination:
    # cos(u + c) = cos c cos u - sin c sin u, sin(u + c) = sin c cos u + cos c sin u
    is_cosine = isinstance(expression, sympy.cos)

    def build(c: list[Expr]) -> Combination:
        even, odd = (sympy.cos(c[0]), -sympy.sin(c[0])) if is_cosine else (sympy.sin(c[0]), sympy.cos(c[0]))
        total = Combination()
        for wave, factor in (("cos", even), ("sin", odd)):
            if factor != 0:
                for atom, signed in oscillating(Atom(chirp=c[2], frequency=c[1], wave=wave), factor):
                    total = total + Combination({(atom, 0): signed})
        return total

    return _on_pieces(expression.args[0], 2, build)


def _erf(expression: Expr) -> Combination:
    def build(c: list[Expr]) -> Combination:
        shift, scale = c
        if scale == 0:
            return Combination.constant(sympy.erf(shift))
        if scale.could_extract_minus_sign():
            return Combination({(Atom(errors=((-scale, -shift),)), 0): S.NegativeOne})
        return Combination({(Atom(errors=((scale, shift),)), 0): S.One})

    return _on_pieces(expression.args[0], 1, build)


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
    sympy.exp: _exp,
    sympy.Pow: _pow,
    sympy.cos: _wave,
    sympy.sin: _wave,
    sympy.erf: _erf,
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
