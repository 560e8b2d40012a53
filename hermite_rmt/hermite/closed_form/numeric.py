"""Closed forms as numbers: the recurrences in floating point, at two precisions that have to agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sympy
from mpmath import libmp

from hermite_rmt.codegen.roots import with_floats
from hermite_rmt.core.contexts import BITS_PER_DIGIT, bits, local_context
from hermite_rmt.hermite.closed_form import powers
from hermite_rmt.hermite.closed_form.algebra import ONE, Atom, Combination
from hermite_rmt.hermite.closed_form.recurrence import expectations, hermite_values, moment, times_hermite

Expr = Any
_FLOAT_DIGITS = 17
_GUARD_BITS = 30
_MOST_BITS = 8_000


class Floating:
    """Numbers of the local context of `precision` bits, complex where they have to be."""

    def __init__(self, precision: int) -> None:
        self.context = local_context(precision)
        self._digits = math.ceil(precision / BITS_PER_DIGIT) + 3

    def scalar(self, value: Expr) -> Any:
        """Return the number."""
        if value.is_Rational:
            return self.context.mpf(int(value.p)) / int(value.q)
        number = sympy.N(with_floats(value, self.context.prec + 20), self._digits)
        if number.is_real:
            return self._rounded(number)
        return self.context.mpc(*map(self._rounded, number.as_real_imag()))

    constant = scalar

    def _rounded(self, number: Expr) -> Any:
        raw = sympy.Float(number, self._digits)._mpf_
        return self.context.make_mpf(libmp.mpf_pos(raw, self.context.prec, "n"))


def hermite_expectations(function: Combination, order: int, precision: int, parity: str | None) -> list[Any]:
    """Return [E f h_0, ..., E f h_order], h_k orthonormal, in floating point of `precision` bits."""
    first, step = (1 if parity == "odd" else 0), (1 if parity is None else 2)
    arithmetic = Floating(precision)
    context = arithmetic.context
    totals = [context.zero] * (order + 1)
    for atom, polynomial in function.by_atom().items():
        numbers = {degree: arithmetic.scalar(value) for degree, value in polynomial.items()}
        if atom == ONE:
            for k in range(first, min(order, max(numbers)) + 1, step):
                totals[k] += context.fsum(value * moment(degree, k) for degree, value in numbers.items())
            continue
        if atom.power != 0:
            for degree, value in numbers.items():
                _add_powers(totals, atom, degree, value, arithmetic)
            continue
        top = order + max(numbers)
        values = _of_step(atom.edge, top, arithmetic) if atom.is_step else expectations(atom, top, arithmetic)
        part = context.im if atom.wave == "sin" else context.re
        for k in range(first, order + 1, step):
            terms = [part(values[n]) * weight for n, weight in times_hermite(numbers, k).items()]
            totals[k] += context.fsum(terms)
    norm = context.one
    for k in range(1, order + 1):
        norm *= k
        totals[k] /= context.sqrt(norm)
    return totals


def _of_step(edge: Expr, top: int, arithmetic: Floating) -> list[Any]:
    """Return E[[x > edge] He_n], n <= top: the tail, then He_{n-1} phi at the edge, by Rodrigues' formula."""
    context, point = arithmetic.context, arithmetic.scalar(edge)
    density = context.exp(-(point**2) / 2) / context.sqrt(2 * context.pi)
    tail = context.erfc(point / context.sqrt(2)) / 2
    return [tail, *(density * value for value in hermite_values(point, top))]


def _add_powers(totals: list[Any], atom: Atom, degree: int, factor: Any, arithmetic: Floating) -> None:
    """Add factor E[x^degree |x|^power He_k] to totals[k] for all k."""
    q, *weights = powers.power_and_weights(atom, degree)
    for first, weight in enumerate(weights):
        if weight == 0:
            continue
        base = arithmetic.scalar(q - first)
        product = factor * arithmetic.scalar(weight * powers.absolute_moment(q + first))
        for step, k in enumerate(range(first, len(totals), 2)):
            totals[k] += product
            product *= base - 2 * step


def settled(evaluate: Callable[[int], list[Any]], digits: int | None, is_zero: Callable[[int], bool]) -> list[Any]:
    """Return the numbers of `evaluate(precision)` once they agree at two precisions to `digits` digits.

    Parameters
    ----------
    evaluate : the numbers at a working precision in bits
    digits : digits that have to agree, relatively, in each of them; None: those of a double
    is_zero : says whether the number of an index is 0 (asked where no digit settles)

    A number that stays below the rounding error at every precision up to thousands of digits is 0.
    """
    wanted = bits(_FLOAT_DIGITS if digits is None else digits) + 3
    precision = wanted + _GUARD_BITS
    coarse = evaluate(precision)
    zeros: set[int] = set()
    while True:
        precision += precision // 4 + _GUARD_BITS
        fine = evaluate(precision)
        missing = max(
            (
                _missing_bits(a, b, wanted)
                for n, (a, b) in enumerate(zip(coarse, fine, strict=True))
                if n not in zeros
            ),
            default=0,
        )
        if missing <= 0:
            return [b * 0 if n in zeros else b for n, b in enumerate(fine)]
        exhausted = precision > _MOST_BITS + 16 * wanted
        for n, (a, b) in enumerate(zip(coarse, fine, strict=True)):
            if n not in zeros and _missing_bits(a, b, wanted) >= wanted and (exhausted or is_zero(n)):
                zeros.add(n)
        precision += missing
        coarse = fine


def _missing_bits(coarse: Any, fine: Any, wanted: int) -> int:
    """How many more bits are needed until the two agree to `wanted` bits."""
    difference = abs(coarse - fine)
    if not difference:
        return 0
    if not fine:
        return wanted
    context = fine.context
    agreeing = -int(context.floor(context.log(difference / abs(fine), 2)))
    return max(0, min(wanted, wanted - agreeing))
