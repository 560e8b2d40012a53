"""Edges of the spectrum of A^T A / n as folds of the solution: Newton's method, and paths from model to model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import KnownDigits
from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_point import ExactPoint
from hermite_rmt.solvers.attention_refine import differentiate
from hermite_rmt.solvers.dual import Series
from hermite_rmt.solvers.linear import SingularError, eliminate

STEPS = 60
GUARD_BITS = 40
ATTEMPTS = 7  # each with twice as many guard bits
PATH_BITS = 600
FIRST_STEP, SMALLEST_STEP = 0.004, 1e-5


class Fold(NamedTuple):
    """An edge: coordinates F1, F2, f3 there, the direction in which they leave the real axis, and the edge.

    In the units of the scaled problem.
    """

    x: list[Any]
    direction: list[Any]
    edge: Any


def to_digits(point: ExactPoint, start: Fold, digits: int) -> KnownDigits:
    """Return an edge to so many right digits: two precisions must agree.

    Raises
    ------
    ArithmeticError
        If Newton's method does not converge, or precisions never agree.
    """
    wanted = bits(digits) + 4
    coarse: Fold | None = None
    for attempt in range(ATTEMPTS):
        numbers = MpmathArithmetic(wanted + (GUARD_BITS << attempt))
        try:
            fine = fold(point, start, numbers)
        except ArithmeticError:  # perhaps for too few bits
            coarse = None
            continue
        if coarse is not None and abs(coarse.edge - fine.edge) <= abs(fine.edge) * 0.5**wanted:
            scale, _ = point.scales(numbers)
            return KnownDigits.of(fine.edge / (scale * scale), digits)
        coarse = start = fine
    raise ArithmeticError(
        f"edge near {float(start.edge):.6g} (in units of nu): not found with {numbers.precision} bits: "
        "two edges merge, or f is too close to a linear one for the search in double precision"
    )


def follow(path: Callable[[float], ExactPoint], start: Fold) -> Fold:
    """Follow an edge along models, from position 0 to 1, the secant in logarithms as the guess: exact for power laws.

    Raises
    ------
    ArithmeticError
        If it is lost.
    """
    numbers = MpmathArithmetic(PATH_BITS)
    here, position, step = fold(path(0.0), start, numbers), 0.0, FIRST_STEP
    before: tuple[float, Fold] | None = None
    while position < 1:
        following = min(position + step, 1.0)
        try:
            found = fold(path(following), _secant(before, (position, here), following), numbers)
        except ArithmeticError:
            if step < SMALLEST_STEP:
                raise
            step /= 4
            continue
        before, position, here = (position, here), following, found
        step *= 2
    return here


def _secant(before: tuple[float, Fold] | None, now: tuple[float, Fold], position: float) -> Fold:
    if before is None:
        return now[1]
    (first, old), (second, new) = before, now
    factor = (position - second) / (second - first)

    def moved(a: Any, b: Any) -> Any:
        return b * (b / a) ** factor if a and b / a > 0 else b

    return Fold(
        [moved(a, b) for a, b in zip(old.x, new.x, strict=True)],
        [moved(a, b) for a, b in zip(old.direction, new.direction, strict=True)],
        moved(old.edge, new.edge),
    )


def fold(point: ExactPoint, start: Fold, numbers: MpmathArithmetic) -> Fold:
    """Return an edge by Newton's method on R = 0, J w = 0, w.w_0 = 1 for coordinates, direction and log edge.

    Raises
    ------
    ArithmeticError
        If it does not converge.
    """
    one = numbers.number(1.0)
    nothing = one - one
    scaled = point.scaled(numbers)
    x, w = ([numbers.number(value) for value in values] for values in (start.x, start.direction))
    edge = numbers.number(start.edge)
    length = sum(v * v for v in w)
    normal = [v / length for v in w]
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
        try:
            step = eliminate(matrix, right)
        except SingularError:
            break
        size = max(abs(step[6]), *(abs(step[i]) / (abs(x[i]) + abs(edge) * one) for i in range(3)))
        x = [value + change for value, change in zip(x, step[:3], strict=True)]
        w = [value + change for value, change in zip(w, step[3:6], strict=True)]
        edge = edge * (one + step[6])
        if not size < 1:
            break
        if size < 0.5 ** (numbers.precision // 2 + 5):
            return Fold(x, w, edge)
    raise ArithmeticError(f"edge near {float(start.edge):.6g} (in units of nu): Newton's method does not converge")
