"""Certified Gaussian expectations: balls that contain a_k and nu, quadrature and tails enclosed by Arb.

The line is cut at exact breakpoints; between them the analytic pieces are integrated by `acb.integral` (Johansson,
Numerical integration in arbitrary-precision ball arithmetic, 2018), with integrands that say where they are analytic;
the tails are bounded by `bounds`. Where breakpoints could only be searched for, `isolation` proves that there are no
others, close surroundings of them left out; where it cannot, f keeps its Abs, Max, ..., whose extensions know their
kinks.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction, constant_ball
from hermite_rmt.codegen.roots import AlgebraicReal
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import BITS_PER_DIGIT, bits
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.core.numbers import Real, SymbolicReal, read_digits
from hermite_rmt.hermite import quadrature
from hermite_rmt.hermite.bounds import TailBounds
from hermite_rmt.hermite.breakpoints import between, branches_at, breakpoints, equations, normalised, piece_at
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.isolation import enclosure_around, unproved_points
from hermite_rmt.hermite.pieces import Pieces
from hermite_rmt.hermite.zeros import real_zeros, solved_exactly

_ATTEMPTS = 4
_GUARD_BITS = 24  # beyond the target: how close to a breakpoint that was searched for the pieces are proved
_ROUGH_DIGITS = 6
_EVALUATIONS = 60_000


def certified_coefficients(integrand: Integrand, order: int, digits: int) -> list[Ball]:
    """Return balls that contain a_0..a_order.

    Parameters
    ----------
    integrand : f, an expression
    order : highest degree
    digits : the relative radius is at most 10^-digits; where a_k cannot be told from 0 the radius is absolute

    Raises
    ------
    ImportError
        If python-flint (extra `certified`) is not installed.
    ValueError
        If f cannot be certified: a callable, a function without enclosure, an unbounded singularity, tails without a
        bound, or for the reasons of `quadrature.coefficients`.

    >>> from hermite_rmt.hermite.integrand import X
    >>> print(certified_coefficients(Integrand.of_expression(sympy.Max(X, 0)), 1, 20)[1])
    [0.50000000000000000000 +/- 1.8e-30]
    """
    known, work = _prepared(integrand, order, digits)
    rough = quadrature.coefficients(integrand, order, _ROUGH_DIGITS)
    return [work.ball(k, known, value) for k, value in enumerate(rough)]


def certified_coefficient(integrand: Integrand, degree: int, digits: int) -> Ball:
    """Return a ball that contains a_degree, the others left alone; as `certified_coefficients`."""
    known, work = _prepared(integrand, degree, digits)
    return work.ball(degree, known, quadrature.coefficient(integrand, degree, _ROUGH_DIGITS))


def _prepared(integrand: Integrand, order: int, digits: int) -> tuple[int, _Enclosure]:
    known = read_digits(digits)
    if known is None:
        raise ValueError("digits: got None; allowed: a whole number")
    if flint_module() is None:
        raise ImportError("certified=True needs python-flint: pip install 'hermite-rmt[certified]'")
    if integrand.expression is None:
        raise ValueError(
            f"certified: {integrand.name} is a callable; allowed: expressions, every step of which is enclosed"
        )
    return known, _Enclosure(integrand, order)


def certified_energy(integrand: Integrand, digits: int) -> Ball:
    """Return a ball that contains nu = E[f(xi)^2], of relative radius at most 10^-digits.

    Raises
    ------
    ImportError, ValueError
        As `certified_coefficients`, for f^2.
    """
    if integrand.expression is None:
        return certified_coefficients(integrand, 0, digits)[0]
    return certified_coefficients(integrand.squared(), 0, digits)[0]


_Piece = tuple[Real | None, Real | None, BallFunction]
"""The ends of an interval, and f between them."""


class _Enclosure:
    """The pieces of f with enclosures."""

    def __init__(self, integrand: Integrand, order: int) -> None:
        assert integrand.expression is not None
        self.name = integrand.name
        self.expression = normalised(integrand.expression)
        self.search = Pieces(integrand, order)
        self._cuts: dict[tuple[int, int], tuple[list[_Piece], list[Real]]] = {}

    def ball(self, degree: int, digits: int, rough: Any) -> Ball:
        """Return the ball of a_degree, `rough` being its value to a few digits (0 if it cannot be told from 0)."""
        if not rough and self.search.symmetry.proved(degree):
            return Ball.between(rough, rough, digits)
        wanted = bits(digits) + 8
        small = max(0, -rough.context.mag(rough)) if rough else wanted
        target = wanted + small
        for _ in range(_ATTEMPTS):
            with flint_precision(target + 40) as flint:
                value = self._integral(flint, degree, target)
                if value.is_finite():
                    radius, size = value.rad(), abs(value).lower()
                    goal = flint.arb(10) ** -digits
                    if radius <= goal * size or (not rough and radius <= goal):
                        return Ball.of_arb(value, digits)
            target += 32 + target // 8
        raise ValueError(
            f"certified: {self.name}: a_{degree} could not be enclosed to {digits} digits: f may be unbounded, or "
            "the arguments of a Max, Min or Abs may touch without crossing"
        )

    def _integral(self, flint: Any, degree: int, target: int) -> Any:
        density = 1 / (2 * flint.arb.pi()).sqrt()
        radius, tails = self._tails(flint, degree, target, density)
        total = flint.arb(0)
        tolerance = flint.arb((1, -target - 8))
        pieces, guarded = self._pieces(radius, target)
        guard = flint.arb((1, -target - _GUARD_BITS))
        for point in guarded:
            total += self._around(flint, _end(flint, point, radius), guard, degree)
        for left, right, function in pieces:
            a, b = (_end(flint, left, -radius), _end(flint, right, radius))
            a, b = a + guard * (left in guarded), b - guard * (right in guarded)
            if not a < b:
                continue

            def term(z: Any, analytic: Any, function: BallFunction = function) -> Any:
                return function.complex(z, bool(analytic)) * _hermite(flint, z, degree) * (z * z / -2).exp()

            self._check_ends(flint, function, (a, left), (b, right))
            part = flint.acb.integral(
                term, flint.acb(a), flint.acb(b), abs_tol=tolerance, rel_tol=tolerance, eval_limit=_EVALUATIONS
            )
            if not part.is_finite():
                raise ValueError(
                    f"certified: {self.name} is unbounded, undefined or too rough on [{float(a.mid()):.6g}, "
                    f"{float(b.mid()):.6g}]: no enclosure of its integral"
                )
            total += part.real
        return total * density + flint.arb(0, tails)

    def _check_ends(self, flint: Any, function: BallFunction, *ends: Any) -> None:
        """Refuse at once what no subdivision could enclose: f unbounded, or 0/0, at an end of a piece."""
        for end, point in ends:
            if point is not None:
                around = flint.acb(end + flint.arb(0, flint.arb((1, -flint.ctx.prec))))
                if not function.complex(around, False).is_finite():
                    raise ValueError(
                        f"certified: {self.name} has no bound near x = {float(end.mid()):.6g}: unbounded "
                        "singularities (and quotients 0/0) cannot be enclosed"
                    )

    def _around(self, flint: Any, point: Any, guard: Any, degree: int) -> Any:
        """Return an enclosure of the integral over a breakpoint's surroundings, where f may be any of its pieces."""
        ball = point + flint.arb(0, guard)
        size = abs(enclosure_around(self.expression, ball) * _hermite(flint, flint.acb(ball), degree).real)
        return flint.arb(0, (2 * guard * size * (ball * ball / -2).exp()).upper())

    def _pieces(self, radius: int, target: int) -> tuple[list[_Piece], list[Real]]:
        """Return the analytic pieces, and the breakpoints around which nothing is known about them.

        Where the pieces are not proved f keeps its Abs, Max, ..., whose extensions know their kinks.
        """
        key = radius, target
        if key not in self._cuts:
            points = breakpoints(self.expression, -radius, radius)
            exact = all(solved_exactly(equation) for equation in equations(self.expression, -radius, radius))
            guarded = [] if exact else unproved_points(self.expression, points, radius, target + 2 * _GUARD_BITS)
            proved = guarded is not None
            if not proved and self.expression.has(sympy.Piecewise):
                raise ValueError(f"certified: {self.name}: the ends of the branches are not known exactly")
            pieces = []
            for left, right in itertools.pairwise([None, *points, None]):
                piece = piece_at(self.expression, between(left, right)) if proved else self.expression
                if piece != 0:
                    pieces.append((left, right, BallFunction(X, piece)))
            self._cuts[key] = pieces, guarded or []
        return self._cuts[key]

    def _tails(self, flint: Any, degree: int, target: int, density: Any) -> tuple[int, Any]:
        """Return R and a bound of the integral over |x| > R, below 2^-target."""
        size = flint.arb(1)  # |h_k(x)| <= size x^k for x >= 1
        before = flint.arb(0)
        for k in range(degree):
            before, size = size, (size + flint.arb(k).sqrt() * before) / flint.arb(k + 1).sqrt()
        radius = self.search.reach(target + 16)
        for _ in range(60):
            bound = flint.arb(0)
            for mirrored in (False, True):
                tail = self._tail_expression(radius, mirrored)
                start = flint.arb(radius)
                part = None if tail == 0 else TailBounds(start).growth(tail).tail(start, degree, density * size)
                if tail != 0:
                    bound = bound + part if part is not None else flint.arb.pos_inf()
            if bound < flint.arb((1, -target)):
                return radius, bound.upper()
            radius += 1 + radius // 8
        raise ValueError(f"certified: {self.name}: no small enough bound of the tails of degree {degree}")

    def _tail_expression(self, radius: int, mirrored: bool) -> sympy.Expr:
        """Return what f(x), or f(-x), is for x > radius."""
        expression = self.expression
        if expression.has(sympy.Piecewise):
            conditions = [part for part in expression.atoms(sympy.core.relational.Relational) if part.has(X)]
            bounds = [part.lhs - part.rhs for part in conditions]
            if any(part.has(sympy.sin, sympy.cos, sympy.tan, sympy.floor) for part in bounds):
                raise ValueError(f"certified: {self.name}: infinitely many branches have no common bound here")
            if not all(map(solved_exactly, bounds)):
                raise ValueError(f"certified: {self.name}: the ends of the branches are not known exactly")
            points = [point for part in bounds for point in real_zeros(part, -math.inf, math.inf)]
            if any(abs(float(point)) >= radius for point in points):
                raise ValueError(f"certified: {self.name}: a breakpoint beyond {radius} is not supported")
            expression = branches_at(expression, sympy.Integer(-radius - 1 if mirrored else radius + 1))
        return expression.subs(X, -X) if mirrored else expression


def _end(flint: Any, point: Real | None, infinity: int) -> Any:
    if point is None:
        return flint.arb(infinity)
    if point.rational is not None:
        return flint.arb(flint.fmpq(point.rational.numerator, point.rational.denominator))
    if isinstance(point, SymbolicReal):
        return constant_ball(point.expression)
    if isinstance(point, AlgebraicReal):
        return point.enclosure(math.ceil(flint.ctx.prec / BITS_PER_DIGIT)).arb()
    # a point that was searched for only guides the cut: the integrand knows its kinks itself
    value = point.mpf(flint.ctx.prec)
    sign, mantissa, exponent, _ = value._mpf_
    return flint.arb((int(-mantissa if sign else mantissa), int(exponent)))


def _hermite(flint: Any, z: Any, degree: int) -> Any:
    previous, current = flint.acb(0), flint.acb(1)
    for k in range(degree):
        previous, current = current, (z * current - previous * flint.arb(k).sqrt()) / flint.arb(k + 1).sqrt()
    return current
