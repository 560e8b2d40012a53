"""Edges of the bulk of a self-adjoint matrix expression, from the discriminant of its polynomial."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import sympy

from hermite_rmt.codegen.roots import real_roots
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, Real, read_digits, read_real
from hermite_rmt.equivalents.elimination import M
from hermite_rmt.solvers.algebraic import follow_root
from hermite_rmt.theory.equivalent import DeterministicEquivalent

_SHRINKINGS = 10  # of the distance from the real axis
_HALVED = 1e-4  # how close to 1/2 the ratio is outside the spectrum


def spectrum_edges(
    equivalent: DeterministicEquivalent, variable: Any, values: Mapping[Any, Any], digits: int | None = None
) -> list[Any]:
    """Return the edges of the bulk of M, increasing, for Q = (M - z)^-1 at rational values.

    The candidates are the real zeros of the discriminant of P(m, z) and of its leading coefficient, isolated exactly:
    however close two of them are, each is known to any digits. Between them the density vanishes or does not: an edge
    is a candidate where that changes. Complex zeros, double points of other branches, atoms off the bulk, and a point
    where two bulks just touch are no edges.

    Parameters
    ----------
    equivalent : of (M - z*Identity(n)).inv(), M self-adjoint
    variable : z
    values : rational numbers for all other symbols
    digits : None for floats, else an mpf with that many right digits

    Raises
    ------
    EliminationError
        If no polynomial P(m, z) is found.
    ArithmeticError
        If the branch could not be followed to an interval between two candidates, or the density there is too small
        to be told from 0.

    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
    >>> n, z = dimensions("n"), sympy.Symbol("z")
    >>> semicircle = deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv())
    >>> spectrum_edges(semicircle, z, {}), spectrum_edges(semicircle, z, {}, digits=20)[1]
    ([-2.0, 2.0], mpf('2.0000000000000000000'))
    """
    places = read_digits(digits)
    polynomial = equivalent.polynomial(values, variable).polynomial
    z = next(s for s in polynomial.free_symbols if str(s) == str(variable))
    in_m = sympy.Poly(polynomial, M)
    critical = sympy.Poly(in_m.discriminant() * in_m.LC(), z)
    candidates = [root for root, _ in real_roots(critical)]
    rows = [[int(v) for v in sympy.Poly(row, z).all_coeffs()[::-1]] for row in in_m.all_coeffs()[::-1]]
    branch = _Branch(rows, _bound_of_zeros(critical))
    outside = [branch.is_outside(*gap) for gap in _gaps(candidates)]
    edges = [root for root, (left, right) in zip(candidates, pairwise(outside), strict=True) if left != right]
    return [float(e) if places is None else KnownDigits.of(e.mpf(bits(places) + 4), places) for e in edges]


@dataclass(frozen=True)
class _Branch:
    """The Stieltjes branch m ~ -1/z of a polynomial equation, in the upper half plane.

    rows : coefficients of P = sum of rows[j][k] m^j z^k
    far : no branch point is farther from 0
    """

    rows: list[list[int]]
    far: int

    def is_outside(self, middle: Fraction, width: Fraction) -> bool:
        """Whether the density vanishes in an interval that holds no branch point.

        There m continues through the real axis: outside the spectrum Im m(middle + i h) is odd in h, so that halving
        h halves it, up to (h/width)^2; inside it tends to pi times the density.
        """
        for power in range(1, _SHRINKINGS):
            low = width / 2 ** (10 * power)
            context = local_context(60 + 2 * math.ceil(math.log2(self.far / low)))
            x, start, end = (
                context.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in (middle, 16 * self.far, low)
            )
            z = context.mpc(x, start)
            above = follow_root(self.rows, -1 / z, partial(_vertical, x, start, end))
            below = follow_root(self.rows, above, partial(_vertical, x, end, end / 2))
            ratio = float(below.imag / above.imag)
            if abs(ratio - 0.5) < _HALVED:
                return True
            if ratio > 0.75:
                return False
        raise ArithmeticError(f"density near {float(middle):.6g}: too small to be told from 0")


def _vertical(x: Any, start: Any, end: Any, t: Any) -> Any:
    return x.context.mpc(x, start * (end / start) ** t)


def _bound_of_zeros(polynomial: sympy.Poly) -> int:
    """Return a whole number above the absolute values of all zeros (Cauchy)."""
    first, *rest = polynomial.all_coeffs()
    return 2 + math.floor(max((abs(entry / first) for entry in rest), default=0))


def _gaps(points: list[Real]) -> list[tuple[Fraction, Fraction]]:
    """Return the middles and widths of the intervals that increasing points leave, those at both ends of width 1."""
    if not points:
        return [(Fraction(0), Fraction(1))]
    precision = 64
    while True:
        near = [Fraction(read_real(point.mpf(precision), "edge").rational or 0) for point in points]
        if all((b - a) * 2 ** (precision // 2) > abs(a) + abs(b) for a, b in pairwise(near)):
            break
        precision *= 2
    inner = [((a + b) / 2, b - a) for a, b in pairwise(near)]
    half = Fraction(1, 2)
    return [(near[0] - half, Fraction(1)), *inner, (near[-1] + half, Fraction(1))]
