"""Edges of the spectrum of attention's kernel K to any digits, where bulks are about to merge too."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy

from hermite_rmt.codegen.roots import increasing, real_roots, value_at
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, RationalReal, Real, read_real

NAMES = ("c", "a1", "eta", "kappa")
_H = sympy.Dummy("h")
_GUARD_BITS = 60
_MOST = 8  # times the bits asked for, before the edges of a model given by procedures are given up on


def kernel_edges(parameters: Mapping[str, Real], digits: int) -> tuple[KnownDigits, ...]:
    """Return the edges of the limiting spectrum of K, increasing, to `digits` digits: two, or four with a gap.

    K is kappa + a_1 G + sigma W with G Marchenko-Pastur of ratio 1/c, W a free semicircle, sigma^2 = eta/c. So its
    transform h(x) = int 1/(x - t) has the inverse

        x(h) = 1/h + kappa + sigma^2 h + a_1 c/(c - a_1 h).

    K is freely infinitely divisible: h maps the upper half plane onto a component of {h: Im x(h) > 0} one to one
    (Bercovici, Voiculescu 1993), so the complement of the spectrum is x({h real: x'(h) < 0}), and the edges are x at
    the roots of odd multiplicity of the quartic h^2 (c - a_1 h)^2 x'(h). At a double root a gap closes: no edge.

    Parameters
    ----------
    parameters : mapping of c, a1, eta, kappa to `Real`
    digits : decimal digits

    Raises
    ------
    ArithmeticError
        If a parameter is given by a procedure, and whether two edges merge, or whether one is 0, cannot be told.

    >>> point = {name: read_real(value, name) for name, value in zip(NAMES, (4, 0, 1, 2))}
    >>> kernel_edges(point, 20)
    (mpf('1.0000000000000000000'), mpf('3.0000000000000000000'))
    """
    reals = [parameters[name] for name in NAMES]
    wanted = bits(digits) + 4
    exact = [real.rational for real in reals]
    if None not in exact:
        return tuple(KnownDigits.of(edge.mpf(wanted), digits) for edge in _edges(*exact))  # type: ignore[arg-type]
    guard, coarse = _GUARD_BITS, None
    while guard <= _MOST * wanted + 1000:
        precision = wanted + guard
        rounded = [read_real(real.mpf(precision), name).rational for real, name in zip(reals, NAMES, strict=True)]
        fine = [edge.mpf(wanted) for edge in _edges(*rounded)]  # type: ignore[arg-type]
        if coarse is not None and len(coarse) == len(fine):
            context = local_context(wanted)
            if all(abs(a - b) <= context.ldexp(abs(b), 2 - wanted) for a, b in zip(coarse, fine, strict=True)):
                return tuple(KnownDigits.of(edge, digits) for edge in fine)
        guard, coarse = 2 * guard, fine
    raise ArithmeticError(
        f"edges of K: two merge, or one is 0, to within {precision} bits of the parameters; "
        "numbers known by a procedure cannot decide which: give a1 and nu exactly"
    )


def _edges(c: Fraction, a: Fraction, eta: Fraction, kappa: Fraction) -> list[Real]:
    constant, h = kappa, _H
    c, a, eta, kappa = map(sympy.Rational, (c, a, eta, kappa))
    variance = eta / c
    slope = sympy.Poly(variance * h**2 * (c - a * h) ** 2 + a**2 * c * h**2 - (c - a * h) ** 2, h)
    denominator = sympy.Poly(h * (c - a * h), h)
    numerator = sympy.Poly((1 + kappa * h + variance * h**2) * (c - a * h) + a * c * h, h)
    edges = [value_at(numerator, denominator, root) for root, multiplicity in real_roots(slope) if multiplicity % 2]
    if len(edges) % 2:  # x' changes its sign at h = infinity: f linear and c = 1, the hard edge
        edges.append(RationalReal(constant))
    return increasing(edges)
