"""Krawczyk's test: a square system of equations has exactly one solution in a box; for any equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermite_rmt.core.flint_context import require_flint
from hermite_rmt.solvers.arithmetic import BallArithmetic

ATTEMPTS = 4  # boxes tried, each widened to what the image of the one before asks for

Residuals = Callable[[Sequence[Any]], Sequence[Any]]  # n balls -> n balls
Jacobian = Callable[[Sequence[Any]], Sequence[Sequence[Any]]]  # n balls -> n rows of n balls


def enclose(residuals: Residuals, jacobian: Jacobian, x: Sequence[Any], numbers: BallArithmetic) -> list[Any] | None:
    """Return a box around the approximation x that contains exactly one solution; None where that is not proved.

    Parameters
    ----------
    residuals, jacobian : functions of n balls that enclose the equations and their derivatives, by rows, on the box
    x : n numbers, near the solution
    numbers : the arithmetic; call inside its ``active()``

    Notes
    -----
    Balls among the parameters of the equations are allowed: the statement holds for all values within them.
    Source: Krawczyk, Computing 4 (1969); Rump, Acta Numerica 19 (2010), section 13.

    >>> numbers = BallArithmetic(100)
    >>> with numbers.active():
    ...     (box,) = enclose(lambda v: [v[0] * v[0] - 2], lambda v: [[2 * v[0]]], [2**0.5], numbers)
    ...     print(box.contains(numbers.number(2).sqrt()), box.str(12))
    True [1.41421356237 +/- 3.10e-12]
    >>> with numbers.active():  # a double zero is never proved
    ...     enclose(lambda v: [v[0] * v[0]], lambda v: [[2 * v[0]]], [1e-20], numbers) is None
    True
    """
    centre = [numbers.number(value) for value in x]
    inverse = _preconditioner(jacobian(centre))
    if inverse is None:
        return None
    change = _apply(inverse, residuals(centre))
    box = box_around(centre, change, numbers)
    for _ in range(ATTEMPTS):
        image = krawczyk(centre, change, box, inverse, jacobian(box))
        if inside(image, box):
            return box
        if not all(side.is_finite() for side in image):
            return None
        # sides of very different widths: widen to what the image asks for
        box = box_around(centre, [side - entry for side, entry in zip(image, centre, strict=True)], numbers)
    return None


def prove(
    residuals: Residuals, jacobian: Jacobian, centre: Sequence[Any], radii: Sequence[Any], numbers: BallArithmetic
) -> bool:
    """Whether it is proved that the box of these radii around the centre contains exactly one solution."""
    centre = [numbers.number(value) for value in centre]
    inverse = _preconditioner(jacobian(centre))
    if inverse is None:
        return False
    box = [numbers.ball(entry, numbers.number(radius)) for entry, radius in zip(centre, radii, strict=True)]
    return contracts(centre, _apply(inverse, residuals(centre)), box, inverse, jacobian(box))


def box_around(centre: Sequence[Any], change: Sequence[Any], numbers: BallArithmetic) -> list[Any]:
    """Return a box twice as wide as Newton's step and the uncertain parameters ask for, and a last bit."""
    ulp = numbers.number(2.0**-40) ** (numbers.precision // 40)
    radii = [2 * abs(step) + (abs(entry) + ulp) * ulp for step, entry in zip(change, centre, strict=True)]
    return [numbers.ball(entry, radius) for entry, radius in zip(centre, radii, strict=True)]


def contracts(
    centre: Sequence[Any],
    change: Sequence[Any],
    box: Sequence[Any],
    inverse: Sequence[Sequence[Any]],
    jacobian: Sequence[Sequence[Any]],
) -> bool:
    """Whether Krawczyk's operator maps a box into its interior: then it contains exactly one zero of R.

    Parameters as for `krawczyk`.
    """
    return inside(krawczyk(centre, change, box, inverse, jacobian), box)


def krawczyk(
    centre: Sequence[Any],
    change: Sequence[Any],
    box: Sequence[Any],
    inverse: Sequence[Sequence[Any]],
    jacobian: Sequence[Sequence[Any]],
) -> list[Any]:
    """Return the image of a box, x - C R(x) + (1 - C J(X)) (X - x), for any matrix C.

    Parameters
    ----------
    centre : x, without error bounds
    change : C R(x)
    box : X, around x
    inverse, jacobian : C and J(X), by rows
    """
    flint = require_flint()
    size = len(centre)
    offset = [side - entry for side, entry in zip(box, centre, strict=True)]
    product = (flint.arb_mat(inverse) * flint.arb_mat(jacobian)).table()
    images = []
    for i in range(size):
        image = centre[i] - change[i]
        for j in range(size):
            image += ((1 if i == j else 0) - product[i][j]) * offset[j]
        images.append(image)
    return images


def inside(image: Sequence[Any], box: Sequence[Any]) -> bool:
    """Whether every side of the image lies in the interior of the box's side."""
    return all(
        side.is_finite() and part.is_finite() and bool(side.contains_interior(part))
        for part, side in zip(image, box, strict=True)
    )


def _preconditioner(jacobian: Sequence[Sequence[Any]]) -> list[list[Any]] | None:
    """Return about the inverse; None where the matrix may be singular."""
    try:
        inverse = require_flint().arb_mat(jacobian).inv()
    except ZeroDivisionError:
        return None
    return [[entry.mid() for entry in row] for row in inverse.table()]


def _apply(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    flint = require_flint()
    product = flint.arb_mat(matrix) * flint.arb_mat([[entry] for entry in vector])
    return [entry for (entry,) in product.table()]
