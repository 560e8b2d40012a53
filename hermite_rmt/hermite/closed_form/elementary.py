"""Elementary functions of piecewise polynomials, as combinations of atoms; other arguments raise `NotClosedError`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy import S

from hermite_rmt.hermite.closed_form import piecewise
from hermite_rmt.hermite.closed_form.algebra import Atom, Combination, NotClosedError, oscillating

Expr = Any
_ONE = Combination.constant(S.One)


def real_power(base: Combination, exponent: Expr) -> Combination:
    """Return a real power of c |x|^m, with other c for x < 0 and x > 0."""
    parts = []
    for piece in piecewise.pieces(base):
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


def _on_pieces(argument: Combination, degree: int, build: Callable[[list[Expr]], Combination]) -> Combination:
    """Apply a function to a piecewise polynomial of at most `degree`, piece by piece."""
    parts = []
    for piece in piecewise.pieces(argument):
        if len(piece.coefficients) > degree + 1:
            raise NotClosedError(f"a polynomial of degree {len(piece.coefficients) - 1} inside")
        padded = [*piece.coefficients, *[S.Zero] * (degree + 1 - len(piece.coefficients))]
        parts.append((piece.left, build(padded)))
    return piecewise.assembled(parts)


def exponential(argument: Combination) -> Combination:
    """Return exp of pieces of degree at most 2."""

    def build(c: list[Expr]) -> Combination:
        return Combination({(Atom(quadratic=c[2], linear=c[1]), 0): sympy.exp(c[0])})

    return _on_pieces(argument, 2, build)


def wave(argument: Combination, kind: str) -> Combination:
    """Return the cosine (kind "cos") or the sine ("sin") of pieces of degree at most 2."""
    # cos(u + c) = cos c cos u - sin c sin u, sin(u + c) = sin c cos u + cos c sin u

    def build(c: list[Expr]) -> Combination:
        even, odd = (sympy.cos(c[0]), -sympy.sin(c[0])) if kind == "cos" else (sympy.sin(c[0]), sympy.cos(c[0]))
        total = Combination()
        for part, factor in (("cos", even), ("sin", odd)):
            if factor != 0:
                for atom, signed in oscillating(Atom(chirp=c[2], frequency=c[1], wave=part), factor):
                    total = total + Combination({(atom, 0): signed})
        return total

    return _on_pieces(argument, 2, build)


def error_function(argument: Combination) -> Combination:
    """Return erf of pieces of degree at most 1."""

    def build(c: list[Expr]) -> Combination:
        shift, scale = c
        if scale == 0:
            return Combination.constant(sympy.erf(shift))
        if scale.could_extract_minus_sign():
            return Combination({(Atom(errors=((-scale, -shift),)), 0): S.NegativeOne})
        return Combination({(Atom(errors=((scale, shift),)), 0): S.One})

    return _on_pieces(argument, 1, build)
