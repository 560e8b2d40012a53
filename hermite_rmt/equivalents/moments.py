"""Exact limiting moments, from the power series of the resolvent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from hermite_rmt.equivalents.circuit import linearise
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.guess import rational
from hermite_rmt.equivalents.modular import NoResidueError
from hermite_rmt.equivalents.nodes import Node, add, identity, invert
from hermite_rmt.equivalents.series import NoSeriesError, SpectralSeries

_EXPONENTS = (521, 2203, 4423, 11213)  # of Mersenne primes


def moments(node: Node, ratios: Mapping[Any, Any], count: int, values: Mapping[Any, Any]) -> list[Any]:
    """Return lim tr M^k / (dimension of M), k = 0, ..., count, as exact rational numbers.

    From (M - z)^-1 = -sum M^k z^(-k-1). The residues modulo two primes must give the same fractions.

    Raises
    ------
    ArithmeticError
        If the moments are not rational.
    NoSeriesError
        If the series is not found in finitely many steps, as for inverses of random matrices.
    """
    z = sympy.Dummy("z")
    shifted = add([(sympy.S.One, node), (-z, identity(node.rows))], node.rows, node.cols)
    dyson = Dyson(linearise(invert(shifted)), ratios)
    previous = None
    for exponent in _EXPONENTS:
        prime = 2**exponent - 1
        try:
            series = SpectralSeries(dyson, z, values, prime).trace(count + 2)
        except NoResidueError:
            continue
        except NoSeriesError:
            raise NoSeriesError(
                "moments: got an expression with an inverse (or one that acts as it); allowed: polynomials in the "
                "matrices, whose resolvent has a power series that is found in finitely many steps"
            ) from None
        found = [rational(-value % prime, prime) for value in series[1:]]
        if previous is not None and found == previous and None not in found:
            return [sympy.Rational(*pair) for pair in found if pair is not None]
        previous = found
    raise ArithmeticError("the moments are not rational numbers of fewer than 1600 digits at these values")
