"""Outliers of spiked matrices: where they are, when they leave the bulk, and how their eigenvectors align."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy

from hermite_rmt.core.solution import SolveError
from hermite_rmt.equivalents.elimination import M
from hermite_rmt.equivalents.ensembles import Vector
from hermite_rmt.theory.equivalent import DeterministicEquivalent

STEPS = 60
CLOSE = 1e-8
NEAR = 1e-5  # of the bracket: from where the residue is taken
DISTANCE = 1e-4  # from the edge, where the threshold is extrapolated from


@dataclass(frozen=True)
class Outlier:
    """An eigenvalue outside the bulk, and the squared overlap of its unit eigenvector with the given vector."""

    location: Any
    alignment: Any


def outlier(
    equivalent: DeterministicEquivalent,
    vector: Vector,
    variable: Any,
    between: tuple[float, float],
    values: Mapping[Any, Any],
    gram: Mapping[Any, Any] | None = None,
) -> Outlier:
    """Return the outlier of M between two numbers outside the bulk, for Q = (M - z)^-1.

    The pole of vector^T Q vector: a zero of h = 1 / (vector^T Q vector), found by Newton's method inside a bracket;
    the residue -1/h' is the squared overlap.

    Parameters
    ----------
    equivalent : of (M - z*Identity(n)).inv()
    variable : z
    between : numbers around the outlier, with nothing else of the spectrum in between
    values, gram : as for `quadratic_form`, without z

    Raises
    ------
    ValueError
        If there is no outlier with a component along the vector there.

    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
    >>> n, z = dimensions("n"), sympy.Symbol("z")
    >>> v = Vector("v", n)
    >>> Q = (GOE("W", n) + 2 * v * v.T - z * sympy.Identity(n)).inv()
    >>> found = outlier(deterministic_equivalent(Q), v, z, (2.2, 4), {}, {(v, v): 1})
    >>> round(found.location, 12), round(found.alignment, 9)  # theta + 1/theta and 1 - 1/theta^2
    (2.5, 0.75)
    """

    def form(z: float, derivative: Any = None) -> float:
        return float(equivalent.quadratic_form(vector, vector, {**values, variable: z}, gram, derivative=derivative))

    low, high = map(float, between)
    width = high - low
    left, right = 1 / form(low), 1 / form(high)
    if left * right > 0:
        raise ValueError(
            f"between: no outlier along {vector} between {low} and {high}; allowed: a bracket around one"
        )
    z = (low + high) / 2
    for _ in range(STEPS):
        q = form(z)
        if left / q > 0:
            low = z
        else:
            high = z
        slope = form(z, variable)
        step = q / slope
        if abs(step) <= CLOSE * max(abs(z), width):
            break  # the next step is the square of this one, and the form is singular at the pole itself
        z = z + step if low < z + step < high else (low + high) / 2
    location = z + step
    aside = NEAR * width
    # q^2/q' is the residue up to a term odd in the distance from the pole
    residues = [form(location + d) ** 2 / form(location + d, variable) for d in (-aside, aside)]
    return Outlier(location, sum(residues) / 2)


def spectrum_edges(equivalent: DeterministicEquivalent, variable: Any, values: Mapping[Any, Any]) -> list[float]:
    """Return the edges of the bulk of M, for Q = (M - z)^-1 at rational values.

    Real zeros of the discriminant of P(m, z), kept where the equation has an answer on one side only.

    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
    >>> n, z = dimensions("n"), sympy.Symbol("z")
    >>> spectrum_edges(deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv()), z, {})
    [-2.0, 2.0]
    """
    polynomial = equivalent.polynomial(values, variable).polynomial
    z = next(s for s in polynomial.free_symbols if str(s) == str(variable))
    discriminant = sympy.discriminant(polynomial, M)
    leading = sympy.Poly(polynomial, M).LC()
    candidates = sorted(
        {root for p in (discriminant, leading) if p.has(z) for root in sympy.real_roots(sympy.Poly(p, z))}
    )
    points = [float(root) for root in candidates]
    edges = []
    for number, point in enumerate(points):
        gaps = [abs(point - other) for k, other in enumerate(points) if k != number and other != point]
        step = min([1.0, *gaps]) / 4
        if _outside(equivalent, z, values, point - step) != _outside(equivalent, z, values, point + step):
            edges.append(point)
    return edges


def _outside(equivalent: DeterministicEquivalent, z: Any, values: Mapping[Any, Any], point: float) -> bool:
    try:
        equivalent.trace({**values, z: point})
    except SolveError:
        return False
    return True


def threshold(
    equivalent: DeterministicEquivalent,
    vector: Vector,
    variable: Any,
    edge: float,
    parameter: Any,
    start: float,
    values: Mapping[Any, Any],
    gram: Mapping[Any, Any] | None = None,
    above: bool = True,
) -> float:
    """Return the value of a parameter at which an outlier leaves the bulk at an edge.

    The zero of 1/(vector^T Q vector) as a function of the parameter, near the edge, extrapolated to it
    (corrections are powers of the root of the distance). About 8 digits.

    Parameters
    ----------
    edge : edge of the bulk; it must not depend on the parameter
    parameter : a symbol of the expression
    start : a first guess
    above : whether the outlier leaves upwards

    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
    >>> n, z, theta = dimensions("n"), sympy.Symbol("z"), sympy.Symbol("theta")
    >>> v = Vector("v", n)
    >>> spiked = deterministic_equivalent((GOE("W", n) + theta * v * v.T - z * sympy.Identity(n)).inv())
    >>> round(threshold(spiked, v, z, 2, theta, 1.5, {}, {(v, v): 1}), 6)  # Baik, Ben Arous, Peche
    1.0
    """

    def at(distance: float) -> float:
        z = edge + (distance if above else -distance)
        value = float(start)
        for _ in range(STEPS):
            here = {**values, variable: z, parameter: value}
            q = float(equivalent.quadratic_form(vector, vector, here, gram))
            step = q / float(equivalent.quadratic_form(vector, vector, here, gram, derivative=parameter))
            value += step
            if abs(step) <= 1e-12 * abs(value):
                return value
        raise ValueError(f"start: no threshold of {parameter} was found from {start}")

    rows = [at(DISTANCE / 4**k) for k in range(4)]
    for power in (1, 2, 3):  # Richardson in the root of the distance
        rows = [(2**power * fine - coarse) / (2**power - 1) for coarse, fine in pairwise(rows)]
    return rows[0]
