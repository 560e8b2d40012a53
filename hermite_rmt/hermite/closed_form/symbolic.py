"""Closed forms for a symbolic order k: one formula for all k from some order on, single values before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy import S, cos, exp, factorial, hermite, pi, sqrt

from hermite_rmt.hermite.closed_form import powers
from hermite_rmt.hermite.closed_form.algebra import Atom, Combination, NotClosedError
from hermite_rmt.hermite.closed_form.recurrence import Unknown, boundary, derivative, start

Expr = Any


def symbolic_expectation(function: Combination, single: Callable[[int], Expr], k: sympy.Symbol) -> Expr:
    """Return E[f He_k] for all nonnegative integers k.

    Parameters
    ----------
    function : the combination f
    single : E[f He_k] for one integer k, used below the order from which the formula holds
    k : the symbol

    Raises
    ------
    NotClosedError
        If an atom has no formula for all orders.
    """
    atoms = function.by_atom()
    steps = Combination({key: value for key, value in function.terms.items() if key[0].is_step})
    of_powers = S.Zero
    total, first = _of_steps(steps, k), max((degree + 1 for atom, degree in steps.terms), default=0)
    for atom, polynomial in atoms.items():
        if atom.is_step:
            continue
        if atom.power != 0:
            of_powers += sympy.Add(
                *(value * powers.symbolic(atom, degree, k) for degree, value in polynomial.items())
            )
            continue
        degree = max(polynomial)
        formula, least = _formula(atom)
        first = max(first, least + degree) if least or degree else first
        for offset, weight in _times_hermite(polynomial, k).items():
            total += weight * formula(k + offset)
    total += sympy.expand(of_powers)
    cases = [(single(order), sympy.Eq(k, order)) for order in range(first)]
    return sympy.Piecewise(*cases, (total, True)) if cases else total


def _of_steps(function: Combination, k: sympy.Symbol) -> Expr:
    """Return E[f He_k] of a piecewise polynomial for k above its degree: only jumps of f and f^(j) are left."""
    total = S.Zero
    for atom, polynomial in function.by_atom().items():
        edge = atom.edge
        if edge is S.NegativeInfinity:
            continue
        x = sympy.Dummy()
        jump = sympy.Add(*(value * x**degree for degree, value in polynomial.items()))
        density = exp(-(edge**2) / 2) / sqrt(2 * pi)
        for order in range(max(polynomial) + 1):
            size = sympy.expand(sympy.diff(jump, x, order).subs(x, edge))
            if size != 0:
                total += size * density * hermite_value(k - 1 - order, edge)
    return total


def _times_hermite(polynomial: Mapping[int, Expr], k: sympy.Symbol) -> dict[int, Expr]:
    """Return the d_j with p(x) He_k(x) = sum_j d_j He_{k+j}(x)."""
    result: dict[int, Expr] = {}
    for degree in range(max(polynomial), -1, -1):
        shifted: dict[int, Expr] = {}
        for offset, value in result.items():
            shifted[offset + 1] = shifted.get(offset + 1, S.Zero) + value
            shifted[offset - 1] = shifted.get(offset - 1, S.Zero) + value * (k + offset)
        if degree in polynomial:
            shifted[0] = shifted.get(0, S.Zero) + polynomial[degree]
        result = shifted
    return {offset: sympy.factor(value) for offset, value in result.items() if value != 0}


def _formula(atom: Atom) -> tuple[Callable[[Expr], Expr], int]:
    """Return n -> I_n = E[G He_n], and the least n for which it holds."""
    on_line = atom.edge is S.NegativeInfinity
    if not atom.errors and on_line:
        return _of_exponential(atom), 0
    if atom.wave or not atom.quadratic.is_zero or len(atom.errors) > 1 or (atom.errors and not on_line):
        raise NotClosedError("no formula for all orders")
    if on_line:
        ((b, c),) = atom.errors
        inner = _of_exponential(derivative(atom, 0))

        def source(n: Expr) -> Expr:
            return 2 * b / sqrt(pi) * exp(-(c**2)) * inner(n)

    else:
        at_edge = boundary(atom)

        def source(n: Expr) -> Expr:
            return at_edge * hermite_value(n, atom.edge)

    if atom.linear == 0:
        return lambda n: source(n - 1), 1
    # the recurrence I_n = (linear) I_{n-1} + source_{n-1}, solved
    first, i = start(atom), sympy.Dummy("i", integer=True, nonnegative=True)
    if first.has(Unknown):
        raise NotClosedError("no formula for all orders")
    return lambda n: atom.linear**n * first + sympy.Sum(atom.linear ** (n - 1 - i) * source(i), (i, 0, n - 1)), 0


def _of_exponential(atom: Atom) -> Callable[[Expr], Expr]:
    """Return I_n of an exponential times a wave: the n-th derivative at t = 0 of E G(xi + t)."""
    if not atom.chirp.is_zero:
        raise NotClosedError("no formula for all orders")
    if atom.wave:
        return _of_wave(atom)
    s = 1 - 2 * atom.quadratic
    u, v = atom.linear / s, atom.quadratic / s
    mass = start(atom)
    if v == 0:
        return lambda n: mass * u**n
    if u == 0:
        # only even orders are left: (2j)!/j! v^j
        root, turn = (sqrt(v), _is_even) if not v.is_nonpositive else (sqrt(-v), lambda n: cos(pi * n / 2))
        return lambda n: mass * root**n * factorial(n) / factorial(n / 2) * turn(n)
    if v.is_negative:
        return lambda n: mass * sqrt(-v) ** n * hermite(n, u / (2 * sqrt(-v)))
    j = sympy.Dummy("j", integer=True, nonnegative=True)

    def with_sum(n: Expr) -> Expr:
        term = factorial(n) / (factorial(j) * factorial(n - 2 * j)) * v**j * u ** (n - 2 * j)
        return mass * sympy.Sum(term, (j, 0, sympy.floor(n / 2)))

    return with_sum


def _of_wave(atom: Atom) -> Callable[[Expr], Expr]:
    if not atom.quadratic.is_zero:
        raise NotClosedError("no formula for all orders")
    function = cos if atom.wave == "cos" else sympy.sin
    if atom.linear == 0:
        mass = exp(-(atom.frequency**2) / 2)
        return lambda n: mass * atom.frequency**n * function(pi * n / 2)
    modulus = sqrt(atom.linear**2 + atom.frequency**2)
    angle = sympy.atan2(atom.frequency, atom.linear)
    size = exp((atom.linear**2 - atom.frequency**2) / 2)
    return lambda n: size * modulus**n * function(n * angle + atom.linear * atom.frequency)


def _is_even(n: Expr) -> Expr:
    return (1 + S.NegativeOne**n) / 2


def hermite_value(n: Expr, point: Expr) -> Expr:
    """Return He_n(point) for a symbolic n; SymPy 1.14's own value at 0 lacks the factor 2^(n/2)."""
    if point == 0:
        return 2 ** (n / 2) * sqrt(pi) / sympy.gamma((1 - n) / 2)
    return sympy.hermite_prob(n, point)


__all__ = ["hermite_value", "symbolic_expectation"]
