"""Edges of the spectrum of A^T A / n: where the real solution turns, in double and to any digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import KnownDigits, RationalReal, Real
from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_complex import continued
from hermite_rmt.solvers.attention_equations import Inputs
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_point import OVERLAPS, ExactPoint
from hermite_rmt.solvers.attention_refine import differentiate
from hermite_rmt.solvers.attention_start import FloatArray
from hermite_rmt.solvers.dual import Series
from hermite_rmt.solvers.linear import eliminate

SCAN = 800  # points of the scan, equally spaced in the logarithm
DECADES = 12  # below the largest possible eigenvalue
INSIDE = 1e-6  # imaginary part over modulus of m that counts as inside the spectrum
BISECTIONS = 14
STEPS = 60
GUARD_BITS = 40


class Fold(NamedTuple):
    """An edge: coordinates F1, F2, f3 there, the direction in which they leave the real axis, and the edge."""

    x: list[Any]
    direction: list[Any]
    edge: Any


def spectral_edges(parameters: Mapping[str, Real], digits: int) -> tuple[KnownDigits, ...]:
    """Return the positive edges of the limiting spectrum of A^T A / n, increasing, to `digits` digits.

    Found by a scan of the density over twelve decades, then as solutions of the equations R = 0 with a singular
    Jacobian, J w = 0: there the real solution outside the spectrum turns back. An odd number of edges means that the
    spectrum starts at 0.

    Parameters
    ----------
    parameters : mapping of c, a1, eta, kappa to `Real`, as in `solve_point`
    digits : decimal digits

    Raises
    ------
    ArithmeticError
        If an edge that the scan shows cannot be refined: two edges closer than the scan, or about to merge.

    >>> from hermite_rmt.core.numbers import read_real
    >>> point = {name: read_real(value, name) for name, value in zip(("c", "a1", "eta", "kappa"), (4, 0, 1, 0))}
    >>> spectral_edges(point, 20)
    (mpf('4.8480762113533159403'),)
    """
    unit = RationalReal(Fraction(1))
    model = {name: parameters[name] for name in ("c", "a1", "eta", "kappa")}
    point = ExactPoint({"gamma": unit, **dict.fromkeys(OVERLAPS, unit), **model})
    with np.errstate(all="ignore"):
        starts = _scan(point.double().inputs)
    return tuple(_to_digits(point, start, digits) for start in starts)


def _scan(inputs: Inputs) -> list[Fold]:
    """Return a point just inside the spectrum at each of its edges, with the imaginary part as the direction."""
    c, a, eta, kappa = (float(value[0]) for value in (inputs.shape.c, inputs.a, inputs.eta, inputs.kappa))
    end = (1 + c**-0.5) ** 2
    largest = c * end * (a * end + abs(kappa) + 2 * math.sqrt(eta / c)) ** 2  # of the squared norm of the features
    logs = math.log(largest) + np.linspace(-DECADES * math.log(10), 0.01, SCAN)

    def at(log: FloatArray) -> tuple[FloatArray, FloatArray]:
        every = np.zeros(log.size, dtype=int)
        found = continued(
            Problem(inputs, np.ones(1)).take(every)._replace(gamma=np.exp(log)), np.full(log.size, -np.pi)
        )
        return found.chart, found.trace.imag > INSIDE * np.abs(found.trace)  # False for nan

    _, inside = at(logs)
    change = np.flatnonzero(inside[1:] != inside[:-1])
    within = np.where(inside[change], logs[change], logs[change + 1])
    without = np.where(inside[change], logs[change + 1], logs[change])
    for _ in range(BISECTIONS if change.size else 0):
        middle = (within + without) / 2
        _, hit = at(middle)
        within, without = np.where(hit, middle, within), np.where(hit, without, middle)
    chart = at(within)[0]
    return [
        Fold(
            chart[:, i].real.tolist(),
            (chart[:, i].imag / np.linalg.norm(chart[:, i].imag)).tolist(),
            math.exp(within[i]),
        )
        for i in range(change.size)
    ]


def _to_digits(point: ExactPoint, start: Fold, digits: int) -> KnownDigits:
    wanted = bits(digits) + 4
    coarse, fine = (_newton(point, start, MpmathArithmetic(wanted + guard)) for guard in (GUARD_BITS, 2 * GUARD_BITS))
    if abs(coarse - fine) > abs(fine) * 0.5**wanted:
        raise ArithmeticError(
            f"edge near {float(fine):.6g}: two precisions disagree; it is about to merge with another"
        )
    return KnownDigits.of(fine, digits)


def _newton(point: ExactPoint, start: Fold, numbers: MpmathArithmetic) -> Any:
    """Return an edge by Newton's method on R = 0, J w = 0, w.w_0 = 1 for coordinates, direction and log edge."""
    one = numbers.number(1.0)
    nothing = one - one
    scaled = point.scaled(numbers)
    x, w = ([numbers.number(value) for value in values] for values in (start.x, start.direction))
    edge, normal = numbers.number(start.edge), w
    for _ in range(STEPS):
        moving = [Series(value, slope) for value, slope in zip(x, w, strict=True)]
        here = differentiate(scaled._replace(gamma=Series(-edge, nothing)), False, moving, one)
        matrix = np.full((7, 7), nothing, dtype=object)
        right = np.empty(7, dtype=object)
        for i, equation in enumerate(here.equations):
            for j, entry in enumerate(equation.dense()):
                matrix[i, j if j < 3 else 6] = entry.value
                matrix[3 + i, j if j < 3 else 6] = entry.slope
                if j < 3:
                    matrix[3 + i, 3 + j] = entry.value
            right[i], right[3 + i] = -equation.value.value, -equation.value.slope
        matrix[6, 3:6] = normal
        right[6] = one - sum(n * v for n, v in zip(normal, w, strict=True))
        step = eliminate(matrix, right)
        size = max(abs(step[6]), *(abs(step[i]) / (abs(x[i]) + abs(edge) * one) for i in range(3)))
        x = [value + change for value, change in zip(x, step[:3], strict=True)]
        w = [value + change for value, change in zip(w, step[3:6], strict=True)]
        edge = edge * (one + step[6])
        if not size < 1:
            break
        if size < 0.5 ** (numbers.precision // 2 + 5):
            scale, _ = point.scales(numbers)
            return edge / (scale * scale)
    raise ArithmeticError(
        f"edge near {start.edge:.6g} (in units of nu): not found; it is about to merge with another"
    )
