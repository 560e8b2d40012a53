"""Piecewise polynomials: their pieces in order, and the sign of one as another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.closed_form.algebra import Atom, Combination, NotClosedError

Expr = Any
_DIGITS = 40
_LARGEST_DEGREE = 12


@dataclass(frozen=True)
class Piece:
    """The polynomial sum coefficients[m] x^m on (left, right)."""

    left: Expr
    right: Expr
    coefficients: tuple[Expr, ...]


def sign_of_constant(value: Expr) -> int:
    """Return -1, 0 or 1, decided from assumptions or exact numbers; raise `NotClosedError` where it is open."""
    if value.is_positive:
        return 1
    if value.is_negative:
        return -1
    if value.is_zero:
        return 0
    if value.is_number:
        approximation = sympy.N(value, _DIGITS)
        if abs(approximation) > sympy.Float(10) ** (_DIGITS // -2):
            return 1 if approximation > 0 else -1
        if sympy.simplify(value) == 0:
            return 0
    raise NotClosedError(f"the sign of {value} is open")


def pieces(function: Combination) -> list[Piece]:
    """Return the pieces of a piecewise polynomial from left to right."""
    jumps: dict[Expr, dict[int, Expr]] = {}
    for (atom, degree), value in function.terms.items():
        if not atom.is_step:
            raise NotClosedError("not a piecewise polynomial")
        jumps.setdefault(atom.edge, {})[degree] = value
    current = jumps.pop(S.NegativeInfinity, {})
    edges = _sorted(list(jumps))
    found = []
    for left, right in zip([S.NegativeInfinity, *edges], [*edges, S.Infinity], strict=True):
        for degree, value in jumps.get(left, {}).items():
            current[degree] = sympy.expand(current.get(degree, S.Zero) + value)
        top = max((degree for degree, value in current.items() if value != 0), default=-1)
        found.append(Piece(left, right, tuple(current.get(degree, S.Zero) for degree in range(top + 1))))
    return found


def assembled(parts: list[tuple[Expr, Combination]]) -> Combination:
    """Return the function that equals each combination from its edge to the next one; the first edge is -oo."""
    total = Combination()
    before = Combination()
    for edge, part in parts:
        jump = part + before.times(S.NegativeOne)
        total = total + (jump if edge is S.NegativeInfinity else jump * Combination({(Atom(edge=edge), 0): S.One}))
        before = part
    return total


def squared(function: Combination) -> Combination:
    """Return the square; that of a piecewise polynomial piece by piece, so that many pieces cost no more than few."""
    if not all(atom.is_step for atom in function.by_atom()):
        return function * function
    parts = [(piece.left, Combination.polynomial(list(piece.coefficients))) for piece in pieces(function)]
    return assembled([(edge, part * part) for edge, part in parts])


def sign(function: Combination) -> Combination:
    """Return the sign of a piecewise polynomial."""
    parts = []
    for piece in pieces(function):
        if not piece.coefficients:
            parts.append((piece.left, Combination()))
            continue
        roots = _sign_changes(piece.coefficients)
        inside = [root for root in roots if _between(piece.left, root, piece.right)]
        beyond = 0
        if piece.right is not S.Infinity:
            beyond = sum(sign_of_constant(root - piece.right) >= 0 for root in roots)
        value = _sign_of_leading(piece.coefficients) * (-1) ** (len(inside) + beyond)
        for edge in (piece.left, *inside):
            parts.append((edge, Combination.constant(value)))
            value = -value
    return assembled(parts)


def _sign_of_leading(coefficients: tuple[Expr, ...]) -> Expr:
    # the zero of c1 x + c0 is where it is whatever the sign of c1
    if len(coefficients) == 2:
        return sympy.sign(coefficients[1])
    return sympy.Integer(sign_of_constant(coefficients[-1]))


def _between(left: Expr, point: Expr, right: Expr) -> bool:
    return (left is S.NegativeInfinity or sign_of_constant(point - left) > 0) and (
        right is S.Infinity or sign_of_constant(right - point) > 0
    )


def _sorted(points: list[Expr]) -> list[Expr]:
    ordered: list[Expr] = []
    for point in points:
        index = len(ordered)
        while index and sign_of_constant(point - ordered[index - 1]) < 0:
            index -= 1
        ordered.insert(index, point)
    return ordered


def _sign_changes(coefficients: tuple[Expr, ...]) -> list[Expr]:
    """Return the real zeros of odd multiplicity of a polynomial, in increasing order."""
    degree = len(coefficients) - 1
    if degree == 0:
        return []
    if degree == 1:
        return [sympy.expand(-coefficients[0] / coefficients[1])]
    if degree == 2:
        return _of_quadratic(*coefficients)
    if all(value.is_Rational for value in coefficients) and degree <= _LARGEST_DEGREE:
        x = sympy.Dummy()
        counted: dict[Expr, int] = {}
        for root in sympy.Poly(coefficients[::-1], x).real_roots():
            counted[root] = counted.get(root, 0) + 1
        return [root for root, multiplicity in counted.items() if multiplicity % 2]
    if not any(coefficients[:-1]):
        return [S.Zero] if degree % 2 else []
    raise NotClosedError(
        "the zeros of a polynomial of degree 3 or more with irrational coefficients, or of large degree"
    )


def _of_quadratic(c: Expr, b: Expr, a: Expr) -> list[Expr]:
    discriminant = sympy.expand(b**2 - 4 * a * c)
    if sign_of_constant(discriminant) <= 0:
        return []
    root = sympy.sqrt(discriminant)
    both = [sympy.expand((-b - root) / (2 * a)), sympy.expand((-b + root) / (2 * a))]
    return both if sign_of_constant(a) > 0 else both[::-1]
