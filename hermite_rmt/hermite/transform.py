"""Sums of weights times orthonormal Hermite polynomials, for all degrees in one pass, in fixed-point arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpmath.libmp import MPZ, from_man_exp, to_fixed

from hermite_rmt.core.contexts import local_context

_BLOCK = 16  # degrees between two renormalisations
_EXCESS = 32  # bits a mantissa may grow before it is shifted back
_NOTHING = -(10**18)


def log2_peak(points: np.ndarray, order: int) -> np.ndarray:
    """Return log2 of max over k <= order of |h_k(x)|, elementwise, for |x| up to 1e100."""
    points = np.asarray(points, dtype=float)
    previous, current = np.zeros_like(points), np.ones_like(points)
    shift = np.zeros_like(points)
    peak = np.zeros_like(points)
    for k in range(order):
        previous, current = current, (points * current - math.sqrt(k) * previous) / math.sqrt(k + 1)
        size = np.maximum(np.abs(current), np.abs(previous))
        exponent = np.where(size > 1e100, np.ceil(np.log2(np.maximum(size, 1e-300))), 0.0)
        current, previous, shift = current * 2.0**-exponent, previous * 2.0**-exponent, shift + exponent
        peak = np.maximum(peak, shift + np.log2(np.maximum(np.abs(current), 1e-300)))
    return peak


def hermite_sums(
    points: Sequence[Any], even: Sequence[Any], odd: Sequence[Any], order: int, precision: int
) -> list[Any]:
    """Return sum_i w_i h_k(x_i) for k = 0..order, w the weights `even` for even k and `odd` for odd k.

    Parameters
    ----------
    points, even, odd : raw mpf tuples, of one length (equal `even` and `odd` give the plain sums; with weights folded
        to the half line the others' parity is used)
    order : highest degree
    precision : bits of the result, relative to the largest term |w_i h_k(x_i)|

    Returns
    -------
    list of mpf of the local context of `precision` bits

    The recurrence runs over g_k = He_k / 2^(E_k), E_k = round(log2(k!) / 2): one long product a step. Where h_k(x)
    grows (|x| > 2 sqrt(k)) the mantissas are shifted back every few degrees, and the weights with them.
    """
    context = local_context(precision)
    bits = precision + 16 + 2 * order.bit_length()
    peaks = log2_peak(np.array([_approximate(point) for point in points]), order)
    sizes = [max(_magnitude(a), _magnitude(b)) + int(peak) for a, b, peak in zip(even, odd, peaks, strict=True)]
    top = max((size for size in sizes if size > _NOTHING), default=0)
    kept = [index for index, size in enumerate(sizes) if size > top - bits - 8]
    if not kept:
        return [context.zero] * (order + 1)
    x = _fixed([points[i] for i in kept], bits)
    weights = [[even[i] for i in kept], [odd[i] for i in kept]]
    shifts = np.zeros(len(kept), dtype=int)
    # a weight is multiplied by what h_k grows to before the next renormalisation: that many more bits
    growth = _EXCESS + _BLOCK * max(1, math.ceil(math.log2(2 + max(abs(_approximate(points[i])) for i in kept))))
    scale = bits - top + min(growth, math.ceil(max(peaks[i] for i in kept)))
    scaled = [_fixed(part, scale) for part in weights]
    current = np.array([MPZ(1) << bits] * len(kept), dtype=object)
    previous = np.array([MPZ(0)] * len(kept), dtype=object)
    exponents = [round(math.lgamma(k + 1) / math.log(2) / 2) for k in range(order + 2)]
    norm = context.one
    sums = []
    for k in range(order + 1):
        total = np.dot(scaled[k % 2], current)
        sums.append(context.make_mpf(from_man_exp(total, exponents[k] - bits - scale)) * norm)
        if k == order:
            break
        norm /= context.sqrt(k + 1)
        step = exponents[k + 1] - exponents[k]
        before = exponents[k] - exponents[k - 1] if k else 0
        product = x * current
        if k:
            product = product - ((k * previous) << (bits - before))
        previous, current = current, product >> (bits + step)
        if k % _BLOCK == _BLOCK - 1:
            excess = np.maximum(_lengths(current), _lengths(previous)) - bits
            excess = np.where(excess > _EXCESS, excess, 0)
            if excess.any():
                moved = excess.astype(object)
                current, previous, shifts = current >> moved, previous >> moved, shifts + excess
                for part, target in zip(weights, scaled, strict=True):
                    for index in np.flatnonzero(excess):
                        target[index] = to_fixed(part[index], scale + int(shifts[index]))
    return sums


def _magnitude(raw: Any) -> int:
    return int(raw[2] + raw[3]) if raw[1] else _NOTHING


def _approximate(raw: Any) -> float:
    sign, mantissa, exponent, length = raw
    if not mantissa:
        return 0.0
    value = math.ldexp(float(mantissa >> max(0, length - 60)), int(exponent + max(0, length - 60)))
    return -value if sign else value


def _fixed(values: Sequence[Any], bits: int) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        out[index] = MPZ(to_fixed(value, bits))
    return out


_length = np.frompyfunc(lambda value: value.bit_length(), 1, 1)


def _lengths(values: np.ndarray) -> np.ndarray:
    return np.asarray(_length(values), dtype=int)
