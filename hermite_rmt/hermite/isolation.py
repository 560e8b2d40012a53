"""Proof, by balls, that f is one analytic piece between its breakpoints, also where these were searched for.

On an interval an expression has no zero if its enclosure leaves out 0, or if its derivative has no zero there (shown
the same way) and it has one sign at both ends. Intervals are halved, and grow geometrically from a breakpoint on, so
that a zero of higher order at it (exp(x) - 1 - x at 0) is told from its surroundings.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.flint_context import flint_precision
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.breakpoints import between, equations, piece_at
from hermite_rmt.hermite.integrand import X

_UNCOUNTED = (sympy.floor, sympy.ceiling, sympy.gamma, sympy.loggamma, sympy.polygamma)  # which integers are met?
_ORDERS = 6  # of zeros at a breakpoint that are recognised
_HALVINGS = 12
_MOST_BRANCHES = 32


def unproved_points(expression: sympy.Expr, points: Sequence[Real], radius: int, bits: int) -> list[Real] | None:
    """Return the `points` in whose surroundings of 2^-bits f is not proved to be its two pieces; None: nor elsewhere.

    Everywhere else, from -radius to radius, no argument of an Abs, Max, ... of f has a zero, and f is the piece that
    `piece_at` finds at one point between two breakpoints. It is so up to a point that is known exactly, if arguments
    that vanish there do so exactly.

    >>> from hermite_rmt.core.numbers import read_real
    >>> f = sympy.Max(X, sympy.exp(X) - 1)
    >>> unproved_points(f, [read_real(0, "x")], 10, 60), unproved_points(f, [], 10, 60)
    ([], None)
    """
    if expression.has(*_UNCOUNTED):
        return None
    candidates = set(equations(expression, -radius, radius))
    open_points: dict[Real, None] = {}
    try:
        with flint_precision((_ORDERS + 2) * bits) as flint:
            for left, right in itertools.pairwise([None, *points, None]):
                ends = [_end(flint, left, -radius), _end(flint, right, radius)]
                intervals = list(_growing(flint, ends[0], ends[1], bits, left is not None, right is not None))
                probe = between(left, right)
                for candidate in candidates:
                    piece = sympy.expand(piece_at(candidate, probe))
                    if not piece.has(X):
                        continue
                    functions = _derivatives(piece)
                    if not all(_without_zero(flint, [each for _, each in functions], *ab) for ab in intervals):
                        return None
                    for point, end in zip((left, right), ends, strict=True):
                        if point is not None and not _settled(flint, functions, point, end, bits):
                            open_points[point] = None
    except ValueError:  # a function without enclosure
        return None
    return list(open_points)


def enclosure_around(expression: sympy.Expr, ball: Any) -> Any:
    """Return an `arb` that contains f on a ball that may hold breakpoints.

    Raises
    ------
    ValueError
        If f holds a function without enclosure, or too many branches.
    """
    variants = [expression]
    while variants[0].has(sympy.Piecewise):
        choice = min(variants[0].atoms(sympy.Piecewise), key=lambda part: part.count_ops())  # the innermost
        variants = [each.xreplace({choice: value}) for each in variants for value, _ in choice.args]
        if len(variants) > _MOST_BRANCHES:
            raise ValueError("certified: f has too many branches")
    values = [BallFunction(X, each).real(ball) for each in variants]
    total = values[0]
    for value in values[1:]:
        total = total.union(value)
    return total


def _end(flint: Any, point: Real | None, infinity: int) -> Any:
    if point is None:
        return flint.arb(infinity)
    sign, mantissa, exponent, _ = point.mpf(flint.ctx.prec)._mpf_
    return flint.arb((int(-mantissa if sign else mantissa), int(exponent)))


def _growing(flint: Any, a: Any, b: Any, bits: int, from_left: bool, from_right: bool) -> Iterator[tuple[Any, Any]]:
    """Yield exact intervals that cover (a, b), growing from its ends where these are breakpoints."""
    start = flint.arb((1, -bits))
    middle = ((a + b) / 2).mid()
    for end, growing, sign in ((a, from_left, 1), (b, from_right, -1)):
        # half of the distance named: the end is rounded
        near, step = (end + sign * start / 2, start) if growing else (end, abs(middle - end).mid())
        while sign * (middle - near) > 0:
            far = (near + sign * step).mid()
            if not sign * (middle - far) > 0:
                far = middle
            yield (near.mid(), far) if sign > 0 else (far, near.mid())
            near, step = far, 2 * step


_Derivatives = Sequence[tuple[sympy.Expr, Callable[[Any], Any]]]


def _derivatives(piece: sympy.Expr) -> _Derivatives:
    found = []
    for _ in range(_ORDERS):
        found.append((piece, BallFunction(X, piece).real))
        piece = sympy.diff(piece, X)
    return found


def _settled(flint: Any, functions: _Derivatives, point: Real, end: Any, bits: int) -> bool:
    """Whether the function has no zero within 2^-bits of the point, but for one exactly at it."""
    exact = sympy.Rational(point.rational) if point.rational is not None else getattr(point, "expression", None)
    around = end + flint.arb(0, flint.arb((1, -bits + 1)))
    for expression, function in functions:
        if _sign(function(around)):
            return True
        if exact is None or expression.subs(X, exact) != 0:
            return False
    return False


def _without_zero(
    flint: Any, derivatives: Sequence[Callable[[Any], Any]], a: Any, b: Any, halvings: int = _HALVINGS
) -> bool:
    """Whether the function has no zero in [a, b]."""
    if _monotone_sign(derivatives, a, b):
        return True
    if not halvings:
        return False
    middle = ((a + b) / 2).mid()
    return all(_without_zero(flint, derivatives, *ends, halvings - 1) for ends in ((a, middle), (middle, b)))


def _monotone_sign(derivatives: Sequence[Callable[[Any], Any]], a: Any, b: Any) -> bool:
    if not derivatives:
        return False
    function = derivatives[0]
    if _sign(function(a.union(b))):
        return True
    first, last = _sign(function(a)), _sign(function(b))
    return first == last != 0 and _monotone_sign(derivatives[1:], a, b)


def _sign(ball: Any) -> int:
    return 1 if ball > 0 else -1 if ball < 0 else 0
