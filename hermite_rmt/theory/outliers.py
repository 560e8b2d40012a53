"""Outliers of spiked matrices: where they are, when they leave the bulk, and how their eigenvectors align."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hermite_rmt.core.solution import Outcome, SolveError
from hermite_rmt.equivalents.ensembles import Vector
from hermite_rmt.theory.equivalent import DeterministicEquivalent

STEPS = 60
CLOSE = 1e-8
NEAR = 1e-8  # of the bracket: from where the residue is taken
SQUARED = 1e-5  # a Newton step whose square does not count
ASIDE = 1e-3  # how far around the pole, of the bracket or the value, at first
DIGITS = 30  # so near the pole doubles lose half their digits
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
        If there is no outlier with a component along the vector there, or an end of the bracket is in the spectrum.

    >>> import sympy
    >>> from hermite_rmt.equivalents.ensembles import GOE, dimensions
    >>> from hermite_rmt.theory.equivalent import deterministic_equivalent
    >>> n, z = dimensions("n"), sympy.Symbol("z")
    >>> v = Vector("v", n)
    >>> Q = (GOE("W", n) + 2 * v * v.T - z * sympy.Identity(n)).inv()
    >>> found = outlier(deterministic_equivalent(Q), v, z, (2.2, 4), {}, {(v, v): 1})
    >>> round(found.location, 12), round(found.alignment, 9)  # theta + 1/theta and 1 - 1/theta^2
    (2.5, 0.75)
    """

    def form(z: Any, derivative: Any = None, digits: int | None = None) -> float:
        here = {**values, variable: z}
        return float(equivalent.quadratic_form(vector, vector, here, gram, digits=digits, derivative=derivative))

    low, high = map(float, between)
    width = high - low
    try:
        left, right = 1 / form(low), 1 / form(high)
    except SolveError as failure:
        raise ValueError(
            f"between: got {low} and {high}, where {vector}^T Q {vector} has no value at one end ({failure}); "
            "allowed: ends outside the bulk, and not at the outlier itself"
        ) from None
    if left * right > 0:
        raise ValueError(
            f"between: no outlier along {vector} between {low} and {high}; allowed: a bracket around one"
        )
    z, step, aside = (low + high) / 2, width, ASIDE
    for _ in range(STEPS):
        try:
            q, slope = form(z), form(z, variable)
        except SolveError as failure:  # at the pole itself there is no number
            if failure.solution.outcome is not Outcome.NOT_CONVERGED:
                raise
            if abs(step) <= SQUARED * max(abs(z), width):
                step = 0.0
                break
            z += aside * ((high - z) if high - z > z - low else (low - z))
            aside /= 10
            continue
        if left / q > 0:
            low = z
        else:
            high = z
        step = q / slope
        if abs(step) <= CLOSE * max(abs(z), width):
            break  # the next step is the square of this one, and the form is singular at the pole itself
        z = z + step if low < z + step < high else (low + high) / 2
    location = z + step
    near = Fraction(NEAR * width)
    # q^2/q' is the residue up to a term odd in the distance from the pole
    points = [Fraction(location) + d for d in (-near, near)]
    residues = [form(x, digits=DIGITS) ** 2 / form(x, variable, DIGITS) for x in points]
    return Outlier(location, sum(residues) / 2)


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

    >>> import sympy
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
        step, aside = math.inf, ASIDE
        for _ in range(STEPS):
            here = {**values, variable: z, parameter: value}
            try:
                q = float(equivalent.quadratic_form(vector, vector, here, gram))
                slope = float(equivalent.quadratic_form(vector, vector, here, gram, derivative=parameter))
            except SolveError as failure:  # at the pole itself there is no number
                if failure.solution.outcome is not Outcome.NOT_CONVERGED:
                    raise
                if abs(step) <= SQUARED * abs(value):
                    return value
                value *= 1 + aside
                aside /= 10
                continue
            step = q / slope
            value += step
            if abs(step) <= CLOSE * abs(value):
                return value  # the next step is the square of this one
        raise ValueError(f"start: no threshold of {parameter} was found from {start}")

    rows = [at(DISTANCE / 4**k) for k in range(4)]
    for power in (1, 2, 3):  # Richardson in the root of the distance
        rows = [(2**power * fine - coarse) / (2**power - 1) for coarse, fine in pairwise(rows)]
    return rows[0]
