"""Gauss-Legendre quadrature at any precision: for short intervals on which f is analytic, ends included."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.panels import Panel


def gauss_samples(panel: Panel, order: int, precision: int, more: int) -> list[tuple[Any, Any]]:
    """Return (x, weight times f(x) exp(-x^2/2)) at the nodes of a finite panel, as mpf.

    On an interval of length l, n nodes leave an error like (l / 4d)^(2n), d the distance of a singularity; a wave
    needs pi nodes a period. `more` nodes are taken for a second opinion.
    """
    assert panel.left is not None
    assert panel.right is not None
    left, right = panel.left.mpf(precision), panel.right.mpf(precision)
    half, middle = (right - left) / 2, (right + left) / 2
    nodes = 10 + math.ceil(precision / 7) + math.ceil(float(half) * math.sqrt(order)) + more
    rule = legendre(nodes, precision)
    context = local_context(precision)
    points = [middle + half * node for node, _ in rule]
    values = panel.evaluate(points, precision)
    return [
        (x, context.convert(value) * (half * weight))
        for x, value, (_, weight) in zip(points, values, rule, strict=True)
    ]


@lru_cache(maxsize=32)
def legendre(nodes: int, precision: int) -> tuple[tuple[Any, Any], ...]:
    """Return the abscissas and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method."""
    context = local_context(precision + 20)
    guesses = np.polynomial.legendre.leggauss(nodes)[0][nodes // 2 :]  # the other half is its mirror image
    steps = math.ceil(math.log2(max(2.0, (precision + 20) / 45))) + 1
    rule = []
    for guess in guesses:
        x = context.mpf(float(guess))
        for _ in range(steps + 1):
            previous, current = context.one, x
            for k in range(1, nodes):
                previous, current = current, ((2 * k + 1) * x * current - k * previous) / (k + 1)
            slope = nodes * (previous - x * current) / (1 - x**2)
            x -= current / slope
        rule.append((x, 2 / ((1 - x**2) * slope**2)))
    mirrored = [(-x, weight) for x, weight in reversed(rule[nodes % 2 :])]
    return tuple(mirrored + rule)
