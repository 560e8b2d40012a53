"""Which values make sense: positive ratios, variances that are variances, spectral laws that are laws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy

from hermite_rmt.equivalents.ensembles import RandomMatrix
from hermite_rmt.equivalents.spectral import Deterministic
from hermite_rmt.theory.engine.values import Number, evaluate

ROUNDING = 1e-12  # how far below 0 a variance may be, against its size


class Domain:
    """The conditions an expression puts on the values of its symbols.

    Parameters
    ----------
    matrices : the matrix symbols of the expression
    ratios : each dimension over the base dimension
    """

    def __init__(self, matrices: Iterable[Any], ratios: Mapping[Any, Any]) -> None:
        self._matrices = [m for m in matrices if isinstance(m, (RandomMatrix, Deterministic))]
        self._ratios = dict(ratios)

    def require(self, point: Mapping[Any, Number]) -> None:
        """Check a point; conditions on symbols that have no value are left out.

        Raises
        ------
        ValueError
            Naming the quantity, what it is, and what is allowed.
        """
        for size, ratio in self._ratios.items():
            value = _value(ratio, point)
            if value is not None and not (value.imag == 0 and value.real > 0):
                raise ValueError(f"the ratio of {size}: got {_shown(value)} for {ratio}; allowed: a positive number")
        for matrix in self._matrices:
            if isinstance(matrix, Deterministic):
                _require_law(matrix, point)
            elif matrix.family:
                _require_covariance(matrix, point)
            else:
                value = _value(matrix.variance, point)
                if value is not None and not (value.imag == 0 and value.real >= -ROUNDING):
                    raise ValueError(
                        f"the variance of {matrix}: got {_shown(value)}; allowed: 0 or a positive number"
                    )
            correlation = _value(getattr(matrix, "direct", 0), point)
            if correlation is not None and not (correlation.imag == 0 and abs(correlation.real) <= 1 + ROUNDING):
                raise ValueError(f"the correlation of {matrix}: got {_shown(correlation)}; allowed: between -1 and 1")


def _require_covariance(matrix: RandomMatrix, point: Mapping[Any, Number]) -> None:
    names, _, covariance = matrix.family
    entries = [[_value(entry, point) for entry in row] for row in covariance.tolist()]
    if any(entry is None for row in entries for entry in row):
        return
    eigenvalues = np.linalg.eigvalsh(np.array(entries, dtype=complex))
    if eigenvalues[0] < -ROUNDING * max(eigenvalues[-1], 1.0):
        raise ValueError(
            f"the covariance of {names}: got a matrix with the eigenvalue {eigenvalues[0]:.3g}; "
            "allowed: positive semidefinite"
        )


def _require_law(matrix: Deterministic, point: Mapping[Any, Number]) -> None:
    weights = [_value(atom[0], point) for atom in matrix.family[1]]
    known = [weight for weight in weights if weight is not None]
    if any(weight.imag or weight.real < 0 for weight in known):
        raise ValueError(f"the spectral law of {matrix}: got the weights {known}; allowed: positive weights")
    if len(known) == len(weights) and abs(sum(known) - 1) > ROUNDING:
        raise ValueError(f"the spectral law of {matrix}: got weights of sum {_shown(sum(known))}; allowed: sum 1")
    for atom in matrix.family[1]:
        value = _value(atom[1 + matrix.index], point)
        if value is not None and value.imag:
            raise ValueError(f"the spectral law of {matrix}: got the eigenvalue {value}; allowed: real numbers")


def _value(expression: Any, point: Mapping[Any, Number]) -> complex | None:
    expression = sympy.sympify(expression)
    return evaluate(expression, point) if expression.free_symbols <= set(point) else None


def _shown(value: complex) -> str:
    return f"{value.real:.6g}" if value.imag == 0 else f"{value:.6g}"
