"""Inverse questions about attention: which nonlinearity of a given energy has the smallest error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import html_table
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.model import one_number

SCAN_POINTS = 201


@dataclass(frozen=True)
class LinearPart:
    """A first Hermite coefficient, its share a_1^2/nu of the energy, and the error there."""

    a1: float
    share: float
    error: float

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


def best_linear_part(
    nu: Any, c: Any, gamma: Any, *, overlaps: Any = None, diagonal: Any = 0, skip: Any = 0
) -> LinearPart:
    """Return the a_1 in [-sqrt(nu), sqrt(nu)] with the smallest error among all f of one energy nu = E f(xi)^2.

    A scan in the sine of an angle, refined as the zero of dE/da_1 (`Attention.derivative`) beside its lowest point;
    a minimum narrower than the scan of `SCAN_POINTS` points can be missed. With diagonal = skip = 0 the sign of a_1
    does not matter: the a_1 >= 0 is returned.

    Parameters
    ----------
    nu, c, gamma : positive numbers
    overlaps, diagonal, skip : numbers, as for `Attention`

    Raises
    ------
    ValueError
        If an argument is outside its domain.

    >>> best_linear_part(1, c=0.5, gamma=0.1).share
    0.0
    """
    energy = one_number(Parameter(nu, "nu").require_positive())
    ratio, ridge = (one_number(Parameter(x, name).require_positive()) for x, name in ((c, "c"), (gamma, "gamma")))
    fixed = {"nu": energy, "overlaps": overlaps, "diagonal": diagonal, "skip": skip}
    even = all(one_number(Parameter(value, name)) == 0 for value, name in ((diagonal, "diagonal"), (skip, "skip")))
    angles = np.linspace(0.0 if even else -np.pi / 2, np.pi / 2, SCAN_POINTS)
    a1 = np.sqrt(energy) * np.sin(angles)

    def errors(value: Any) -> np.ndarray:
        return np.asarray(Attention(a1=value, **fixed).error(ratio, ridge))

    def slope(value: float) -> float:
        return float(Attention(a1=value, **fixed).derivative("a1", ratio, ridge))

    k = int(np.argmin(errors(a1)))
    best = float(a1[k])
    if 0 < k < SCAN_POINTS - 1:
        best = float(brentq(slope, a1[k - 1], a1[k + 1], xtol=1e-14 * np.sqrt(energy)))
    return LinearPart(best, min(best * best / energy, 1.0), float(errors(best)))
