"""Where an analytic expression varies on a scale much shorter than the Gaussian's: peaks, steps, poles close by."""

from __future__ import annotations

import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.zeros import distinct, real_zeros

_SHARP = 8  # features narrower than 1/8 get a panel boundary
_END_BITS = 400  # precision of the values at the ends of a piece
_WAVES = (sympy.sin, sympy.cos, sympy.tan)
_STEPS = (sympy.tanh, sympy.erf, sympy.erfc, sympy.atan, sympy.asinh, sympy.sech, sympy.cosh, sympy.sinc, sympy.acot)


def features(expression: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Return points of [lower, upper] at which narrow features of an analytic `expression` sit.

    The double exponential rules crowd their nodes at the ends of a panel, so a feature at an end is resolved at the
    cost of the logarithm of its width, and never missed.

    >>> features(1 + sympy.exp(-(10**8) * (X - sympy.Rational(1, 3)) ** 2), -10, 10)
    [RationalReal(1/3)]
    """
    points: list[Real] = []
    for part in sympy.preorder_traversal(expression):
        if not isinstance(part, sympy.Expr) or not part.has(X) or not part.args:
            continue
        argument = part.exp if isinstance(part, sympy.exp) else part.args[0]
        if isinstance(part, sympy.exp):
            points += _steps(argument, lower, upper) + _peaks(argument, sympy.Integer(1), lower, upper)
        elif isinstance(part, _STEPS):
            points += _steps(argument, lower, upper)
        elif isinstance(part, sympy.log) or (isinstance(part, sympy.Pow) and not _entire(part)):
            points += _peaks(argument, argument, lower, upper)
    return distinct(points)


def refuse_endless_oscillation(piece: sympy.Expr, left: Real | None, right: Real | None, name: str) -> None:
    """Refuse sin(1/x) at once: no rule converges where a wave has no shortest length (unless it is damped away).

    Raises
    ------
    ValueError
        If the argument of a sine or cosine grows without bound at an end of the piece, where the piece is not tiny.
    """
    arguments = {wave.args[0] for wave in piece.atoms(*_WAVES)}
    arguments = {argument for argument in arguments if not argument.is_polynomial(X)}
    for end, side in ((left, 1), (right, -1)):
        if end is None or not arguments:
            continue
        start = end.mpf(_END_BITS)
        near, nearer = (start + side * start.context.ldexp(1, -shift) for shift in (20, 40))
        for argument in arguments:
            phase = Kernel([X], [argument, piece]).multiprecision(_END_BITS)
            try:
                (first, _), (second, value) = phase(near), phase(nearer)
            except (ZeroDivisionError, ValueError):
                continue
            if abs(second) > max(256 * abs(first), 10_000) and abs(value) > start.context.ldexp(1, -_END_BITS):
                raise ValueError(
                    f"{name}: f oscillates without end as x -> {float(end):.6g}: no rule here converges to its "
                    "expectation"
                )


def _entire(part: sympy.Pow) -> bool:
    return bool(part.exp.is_integer and part.exp.is_nonnegative)


def _steps(argument: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Zeros of the argument where it has a large slope."""
    slope = sympy.diff(argument, X)
    if not slope.has(X) and abs(sympy.N(slope, 15)) <= _SHARP:
        return []
    return [zero for zero in real_zeros(argument, lower, upper) if _size(slope, zero) > _SHARP]


def _peaks(argument: sympy.Expr, scale: sympy.Expr, lower: float, upper: float) -> list[Real]:
    """Stationary points of the argument where it bends by more than `scale` within a short distance."""
    if argument.func == sympy.exp:
        return []
    slope = sympy.diff(argument, X)
    if not slope.has(X):
        return []
    bend = sympy.diff(slope, X)
    return [
        zero
        for zero in real_zeros(slope, lower, upper)
        if _size(bend, zero) > _SHARP**2 * max(1e-300, _size(scale, zero))
    ]


def _size(expression: sympy.Expr, point: Real) -> float:
    value = sympy.N(expression.subs(X, sympy.Float(str(point.mpf(200)), 60)), 15)
    return abs(float(value)) if value.is_Float or value.is_Rational else 0.0
