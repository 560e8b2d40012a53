r"""Gaussian expectations I_n = E[G He_n] of an atom G, for all n at once, by Stein's identity.

With He_n phi = -(He_{n-1} phi)' and s = 1 - 2 (quadratic coefficient of G), integration by parts from the edge l
gives

    s I_n = G(l) phi(l) He_{n-1}(l) + (linear coefficient) I_{n-1} + (1 - s)(n - 1) I_{n-2}
            + sum_i (2 b_i / sqrt(pi)) exp(-c_i^2) J^(i)_{n-1},

where J^(i) belongs to G with exp(-b_i^2 x^2 - 2 b_i c_i x) in the place of its i-th erf(b_i x + c_i). The same lines
run on exact numbers and on floating-point ones. Derived in derivations/02_closed_forms.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

import sympy
from sympy import S, erf, erfc, exp, pi, sqrt

from hermite_rmt.hermite.closed_form.algebra import Atom, NotClosedError

Expr = Any


class Arithmetic(Protocol):
    """The numbers a recurrence runs on: `scalar` for parameters, `constant` for the values it starts from."""

    def scalar(self, value: Expr) -> Any:
        """Return a parameter as a number that multiplies constants."""
        ...

    def constant(self, value: Expr) -> Any:
        """Return a starting value: something that is added, and multiplied by scalars from the right."""
        ...


def expectations(atom: Atom, order: int, arithmetic: Arithmetic) -> list[Any]:
    """Return [I_0, ..., I_order] of an atom."""
    s = 1 - 2 * atom.curvature
    zero = arithmetic.constant(S.Zero)
    values = [arithmetic.constant(start(atom))]
    if order == 0:
        return values
    variance, slope = arithmetic.scalar(1 / s), arithmetic.scalar(atom.slope)
    drift, spring = variance * slope, variance - 1
    sources = [zero] * order
    if atom.edge is not S.NegativeInfinity:
        at_edge = arithmetic.constant(boundary(atom))
        for n, hermite in enumerate(hermite_values(arithmetic.scalar(atom.edge), order)):
            sources[n] = sources[n] + at_edge * hermite
    for index, (b, c) in enumerate(atom.errors):
        weight = 2 * b / sqrt(pi) * exp(-(c**2))
        inner = _Weighted(arithmetic, weight)
        for n, value in enumerate(expectations(derivative(atom, index), order - 1, inner)):
            sources[n] = sources[n] + value
    for n in range(1, order + 1):
        value = sources[n - 1] * variance + values[n - 1] * drift
        if n > 1:
            value = value + values[n - 2] * (spring * (n - 1))
        values.append(value)
    return values


class _Weighted:
    """An arithmetic whose constants all carry one more factor."""

    def __init__(self, arithmetic: Arithmetic, weight: Expr) -> None:
        self.scalar = arithmetic.scalar
        self._arithmetic = arithmetic
        self._weight = weight

    def constant(self, value: Expr) -> Any:
        return self._arithmetic.constant(self._weight * value)


def derivative(atom: Atom, index: int) -> Atom:
    """Return the atom left of G' when the erf at `index` is differentiated (without its constant factor)."""
    b, c = atom.errors[index]
    rest = atom.errors[:index] + atom.errors[index + 1 :]
    return replace(atom, quadratic=atom.quadratic - b**2, linear=atom.linear - 2 * b * c, errors=rest)


def parameters(atom: Atom) -> Iterator[Expr]:
    """Yield every number that the recurrence of an atom uses as a scalar."""
    yield from (1 / (1 - 2 * atom.curvature), atom.slope)
    if atom.edge is not S.NegativeInfinity:
        yield atom.edge
    for index in range(len(atom.errors)):
        yield from parameters(derivative(atom, index))


def boundary(atom: Atom) -> Expr:
    """Return G(l) phi(l) at the edge l."""
    l = atom.edge  # noqa: E741
    value = exp(atom.curvature * l**2 + atom.slope * l - l**2 / 2) / sqrt(2 * pi)
    for b, c in atom.errors:
        value *= erf(b * l + c)
    return value


def hermite_values(point: Any, count: int) -> list[Any]:
    """Return [He_0, ..., He_{count-1}] at a scalar."""
    values = [point * 0 + 1, point]
    for n in range(1, count - 1):
        values.append(point * values[n] - values[n - 1] * n)
    return values[:count]


def start(atom: Atom) -> Expr:
    """Return I_0 = E G, or symbols of its own (`Unknown`) where it has no closed form.

    Raises
    ------
    NotClosedError
        If the integral of G itself diverges (a sum of atoms may still converge).
    """
    if atom.power != 0:
        raise NotClosedError("real powers have rules of their own")
    s = 1 - 2 * atom.curvature
    if (1 - 2 * atom.quadratic).is_nonpositive:
        raise NotClosedError("an atom that grows faster than the Gaussian decays")
    mean = atom.slope / s
    mass = exp(atom.slope**2 / (2 * s)) / sqrt(s)
    on_line = atom.edge is S.NegativeInfinity
    at_mean = [sympy.expand(b * mean + c) for b, c in atom.errors]
    if not atom.errors:
        return mass if on_line else _on_axis(atom, erfc, sqrt(s / 2) * (atom.edge - mean), mass / 2)
    if len(atom.errors) == 1 and on_line:
        ((b, _),) = atom.errors
        return _on_axis(atom, erf, at_mean[0] / sqrt(1 + 2 * b**2 / s), mass)
    if any(value != 0 for value in at_mean):
        return _unknown(atom)
    if len(atom.errors) == 1 and sympy.expand(atom.edge - mean) == 0:
        ((b, _),) = atom.errors
        return mass * sympy.atan(b * sqrt(2 / s)) / pi
    if len(atom.errors) == 2 and on_line:
        (b1, _), (b2, _) = atom.errors
        return mass * 2 / pi * sympy.asin(2 * b1 * b2 / sqrt((s + 2 * b1**2) * (s + 2 * b2**2)))
    return _unknown(atom)


def _on_axis(atom: Atom, function: Any, argument: Expr, factor: Expr) -> Expr:
    """Return factor times erf or erfc of a real or an imaginary number; others have no real closed form."""
    if argument.has(S.ImaginaryUnit):
        real, imaginary = sympy.expand(argument, complex=True).as_real_imag()
        if real != 0 and imaginary != 0:
            return _unknown(atom)
    return factor * function(argument)


class Unknown(sympy.Dummy):  # type: ignore[misc]  # SymPy has no stubs
    """A real number without closed form: symbols of their own for each atom, so that two never cancel."""


@lru_cache(maxsize=4096)
def _unknown(atom: Atom) -> Expr:
    real, imaginary = (Unknown(f"{part} E[{atom}]", real=True) for part in ("re", "im"))
    return real if atom.wave == "" else real + S.ImaginaryUnit * imaginary


def times_hermite(polynomial: Mapping[int, Any], k: int) -> dict[int, Any]:
    """Return the d_n with p(x) He_k(x) = sum_n d_n He_n(x), by Horner's rule and x He_n = He_{n+1} + n He_{n-1}."""
    result: dict[int, Any] = {}
    for degree in range(max(polynomial), -1, -1):
        shifted: dict[int, Any] = {}
        for n, value in result.items():
            shifted[n + 1] = shifted.get(n + 1, 0) + value
            if n:
                shifted[n - 1] = shifted.get(n - 1, 0) + value * n
        if degree in polynomial:
            shifted[k] = shifted.get(k, 0) + polynomial[degree]
        result = shifted
    return result


def moment(degree: int, k: int) -> int:
    """Return E[x^degree He_k] = degree! / (2^j j!), j = (degree - k)/2, or 0 where j is no whole number."""
    j, rest = divmod(degree - k, 2)
    return 0 if rest or j < 0 else math.factorial(degree) // (2**j * math.factorial(j))
