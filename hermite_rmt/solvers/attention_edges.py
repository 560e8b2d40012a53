"""Edges of the spectrum of A^T A / n: where the real solution turns, in double and to any digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, RationalReal, Real, read_real
from hermite_rmt.solvers.attention_bounds import largest_eigenvalue
from hermite_rmt.solvers.attention_complex import continued
from hermite_rmt.solvers.attention_equations import Inputs
from hermite_rmt.solvers.attention_folds import Fold, follow, to_digits
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_point import OVERLAPS, ExactPoint
from hermite_rmt.solvers.attention_start import FloatArray

POINTS_A_DECADE = 66  # of the scan
DEPTHS = (12, 36, 100)  # decades below the largest possible eigenvalue: deeper where the lower edge was not seen
NEAR_ONE = 3  # more for each decade of |1 - c|: the lower edge falls like its third power
CLOSE = 1e-4  # of 0 to the spectrum of K, in units of nu, from where the edges are followed there
NARROW, NARROWEST = 1e-2, 1e-6  # c from where on the scan is finer at the upper end, and from where it is not finer
INSIDE = 1e-6  # imaginary part over modulus of m that counts as inside the spectrum
BISECTIONS = 14
_GUARD_BITS = 40


def spectral_edges(
    parameters: Mapping[str, Real], digits: int, nearest: Real | None = None
) -> tuple[KnownDigits, ...]:
    """Return the positive edges of the limiting spectrum of A^T A / n, increasing, to `digits` digits.

    Found by a scan of the density, then as solutions of the equations R = 0 with a singular Jacobian, J w = 0: there
    the real solution outside the spectrum turns back. An odd number of edges means that the spectrum starts at 0: for
    c = 1, and for c > 1 where 0 is in the spectrum of K. The scan goes deeper until the number agrees with that.
    Where 0 is closer to the spectrum of K than doubles tell, the edges are followed there along kappa. Where f is
    linear the eigenvalues are c x (a_1 x + kappa)^2, x in the Marchenko-Pastur bulk, and so are the edges.

    Parameters
    ----------
    parameters : mapping of c, a1, eta, kappa to `Real`, as in `solve_point`
    digits : decimal digits
    nearest : for c > 1, the edge of the spectrum of K that is nearest to 0 (its sign says where), 0 if 0 is in the
        spectrum; None: not known, and the number of edges is not checked

    Raises
    ------
    ArithmeticError
        If the lower edge is too small to be seen, or an edge that the scan shows cannot be refined.

    >>> from hermite_rmt.core.numbers import read_real
    >>> point = {name: read_real(value, name) for name, value in zip(("c", "a1", "eta", "kappa"), (4, 0, 1, 0))}
    >>> spectral_edges(point, 20)
    (mpf('4.8480762113533159403'),)
    """
    model = {name: parameters[name] for name in ("c", "a1", "eta", "kappa")}
    if model["eta"].rational == 0:
        return linear_edges(model, digits)
    point, square = _point(model), model["c"].rational == 1
    with np.errstate(all="ignore"):
        if not point.wide or nearest is None or not _is_close(point, nearest):
            reaches_zero = square if not point.wide else None if nearest is None else nearest.rational == 0
            starts = _all_starts(point.double().inputs, reaches_zero)
        else:
            path = _towards_zero(model, nearest, digits)
            starts = [follow(path, start) for start in _all_starts(path(0.0).double().inputs, False)]
    return tuple(to_digits(point, start, digits) for start in starts)


def _point(model: Mapping[str, Real]) -> ExactPoint:
    unit = RationalReal(Fraction(1))
    return ExactPoint({"gamma": unit, **dict.fromkeys(OVERLAPS, unit), **model})


def _is_close(point: ExactPoint, nearest: Real) -> bool:
    """Whether 0 is close to the spectrum of K, in units of nu, without being in it."""
    return nearest.rational != 0 and abs(nearest.mpf(64)) * local_context(64).ldexp(1, point.shift) < CLOSE


def _towards_zero(model: Mapping[str, Real], nearest: Real, digits: int) -> Callable[[float], ExactPoint]:
    """Return models by position: at 0 with kappa shifted so that K is at the distance CLOSE of 0, at 1 the one given.

    The distance is a power of the position.
    """
    context = local_context(64)
    ratio = CLOSE / (abs(nearest.mpf(64)) * context.ldexp(1, _point(model).shift))
    precision = bits(digits) + 2 * math.ceil(float(context.log(ratio, 2))) + 200
    edge, kappa = nearest.mpf(precision), model["kappa"].mpf(precision)

    def place(position: float) -> ExactPoint:
        if position == 1:
            return _point(model)
        return _point({**model, "kappa": read_real(kappa + edge * (ratio ** (1 - position) - 1), "kappa")})

    return place


def linear_edges(model: Mapping[str, Real], digits: int) -> tuple[KnownDigits, ...]:
    """Return the edges for a linear f: the extremes of c x (a_1 x + kappa)^2 over the Marchenko-Pastur bulk.

    Raises
    ------
    ArithmeticError
        If a parameter is given by a procedure and the zero of a_1 x + kappa is an edge of the bulk as far as can be
        told.
    """
    wanted = bits(digits) + 4
    context = local_context(2 * wanted + _GUARD_BITS)
    c, a, kappa = (model[name].mpf(context.prec) for name in ("c", "a1", "kappa"))
    root = context.sqrt(c)
    low, high = ((1 - root) / root) ** 2, ((1 + root) / root) ** 2

    def eigenvalue(x: Any) -> Any:
        return c * x * (a * x + kappa) ** 2

    zero = -kappa / a
    if any(abs(zero - end) <= context.ldexp(abs(end), -wanted) for end in (low, high)):
        exact = [model[name].rational for name in ("c", "a1", "kappa")]
        if None in exact:
            raise ArithmeticError(
                "edges: a_1 x + kappa vanishes at an edge of the Marchenko-Pastur bulk, as far as the digits of the "
                "parameters tell; numbers known by a procedure cannot decide whether the spectrum starts at 0"
            )
        ratio, slope, constant = (Fraction(value or 0) for value in exact)
        # x = 1 + 1/c -+ 2/sqrt(c)
        starts = (-constant / slope - 1 - 1 / ratio) ** 2 == 4 / ratio
    else:
        starts = low < zero < high
    ends = [eigenvalue(low), eigenvalue(high)]
    largest = max([*ends, *([eigenvalue(zero / 3)] if low < zero / 3 < high else [])])
    edges = [largest] if starts or c == 1 else [min(ends), largest]
    return tuple(KnownDigits.of(edge, digits) for edge in edges)


def _all_starts(inputs: Inputs, expected: bool | None) -> list[Fold]:
    """Return what a scan shows, deeper until the spectrum starts at 0 where that is expected, and only there."""
    b = float(inputs.shape.b[0])
    more = -NEAR_ONE * math.log10(b) if b and not expected else 0.0
    for decades in DEPTHS:
        starts = _scan(inputs, decades + more)
        if starts and (expected is None or expected == bool(len(starts) % 2)):
            return starts
    raise ArithmeticError(
        f"edges: the spectrum {'starts at 0' if expected else 'does not reach 0'}, but that could not be seen within "
        f"{decades + more:.0f} decades below its upper end: c or the diagonal is too extreme for double precision"
    )


def _scan(inputs: Inputs, decades: float) -> list[Fold]:
    """Return a point just inside the spectrum at each of its edges, with the imaginary part as the direction."""
    c, a, eta, kappa = (float(value[0]) for value in (inputs.shape.c, inputs.a, inputs.eta, inputs.kappa))
    largest = largest_eigenvalue(c, a, eta, abs(kappa))
    if not (math.isfinite(largest) and largest > 0 and c > 0):
        raise ArithmeticError("edges: c or the diagonal is beyond double precision, where the edges are searched for")
    count = math.ceil(POINTS_A_DECADE * decades)
    steps = np.linspace(-decades * math.log(10), 0.01, count)
    if c < NARROW:  # the bulk is about 4 sqrt(c) wide
        steps = np.union1d(steps, np.linspace(-math.log(10), 0.01, math.ceil(4 / math.sqrt(max(c, NARROWEST)))))
    logs = math.log(largest) + steps

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
