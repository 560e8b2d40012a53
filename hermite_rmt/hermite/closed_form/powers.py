r"""Gaussian expectations of real powers |x|^q, on the line or for x > 0.

With M(q) = E|xi|^q = 2^(q/2) Gamma((q + 1)/2) / sqrt(pi), q > -1, and sgn the sign of xi,

    E |xi|^q He_{2j}         = M(q)     q (q - 2) ... (q - 2j + 2),
    E sgn |xi|^q He_{2j+1}   = M(q + 1) (q - 1)(q - 3) ... (q - 2j + 1),

and 0 for the other orders; on x > 0 half the sum of the two. Derived in derivations/02_closed_forms.py.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import S, gamma, pi, sqrt

from hermite_rmt.hermite.closed_form.algebra import Atom, NotClosedError

Expr = Any


def power_and_weights(atom: Atom, degree: int) -> tuple[Expr, Expr, Expr]:
    """Return (q, e, o) with x^degree G = e |x|^q + o sgn(x) |x|^q.

    Raises
    ------
    NotClosedError
        If G is not |x|^power alone (on the line or on x > 0), or the integral is not known to converge.
    """
    if atom != Atom(power=atom.power, edge=atom.edge) or atom.edge not in (S.NegativeInfinity, S.Zero):
        raise NotClosedError("a power times something else")
    q = atom.power + degree
    if not (q + 1).is_positive:
        raise NotClosedError(f"|x|^({q}) is not known to be integrable")
    if atom.edge == 0:
        return q, S.Half, S.Half
    return (q, S.Zero, S.One) if degree % 2 else (q, S.One, S.Zero)


def absolute_moment(q: Expr) -> Expr:
    """Return M(q) = E|xi|^q."""
    return 2 ** (q / 2) * gamma((q + 1) / 2) / sqrt(pi)


def falling(q: Any, steps: int) -> Any:
    """Return q (q - 2) ... (q - 2 steps + 2), for numbers of any kind."""
    product = q * 0 + 1
    for i in range(steps):
        product = product * (q - 2 * i)
    return product


def exact(atom: Atom, degree: int, k: int) -> tuple[Expr, Expr]:
    """Return (constant, rational factor) whose product is E[x^degree G He_k]."""
    q, even, odd = power_and_weights(atom, degree)
    if k % 2:
        return absolute_moment(q + 1), odd * falling(q - 1, k // 2)
    return absolute_moment(q), even * falling(q, k // 2)


def symbolic(atom: Atom, degree: int, k: sympy.Symbol) -> Expr:
    """Return E[x^degree G He_k] for all k."""
    q, even, odd = power_and_weights(atom, degree)
    sign = S.NegativeOne**k

    def product(q: Expr, steps: Expr) -> Expr:
        return absolute_moment(q) * 2**steps * gamma(q / 2 + 1) / gamma(q / 2 + 1 - steps)

    at_odd = absolute_moment(q + 1) * 2 ** ((k - 1) / 2) * gamma((q + 1) / 2) / gamma((q + 1) / 2 - (k - 1) / 2)
    return even * (1 + sign) / 2 * product(q, k / 2) + odd * (1 - sign) / 2 * at_odd
