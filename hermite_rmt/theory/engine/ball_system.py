"""Proofs for an EquationSystem: its equations as functions of balls, its solution as balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.flint_context import require_flint
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.certified_system import enclose


@dataclass(frozen=True)
class Box:
    """Balls that are proved to hold exactly one solution, and what follows from it; python-flint's `arb`s.

    Attributes
    ----------
    unknowns, parameters : by symbol
    observables : by name
    derivative : of the one observable by the parameter the system was made with, if any
    residual : a bound of the residuals on the box
    """

    unknowns: Mapping[Any, Any]
    parameters: Mapping[Any, Any]
    observables: Mapping[str, Any]
    derivative: Any
    residual: float


class BallSystem:
    """A square `EquationSystem` with real parameters, compiled for balls.

    Parameters
    ----------
    system : as many residuals as unknowns, and one observable
    derivative : a parameter, to have the observable's derivative by it as well

    Raises
    ------
    ValueError
        If it is not square, or holds a function without an enclosure.
    """

    def __init__(self, system: EquationSystem, derivative: Any = None) -> None:
        size = len(system.unknowns)
        if len(system.residuals) != size:
            raise ValueError(f"system: got {len(system.residuals)} equations in {size} unknowns; allowed: as many")
        self.system = system
        self._arguments = (*system.unknowns, *system.parameters)
        self._residuals = self._functions(system.residuals)
        self._jacobian = dict(zip(system.jacobian, self._functions(system.jacobian.values()), strict=True))
        self._observables = self._functions(system.observables.values())
        self._slopes: list[BallFunction] = []
        self._gradient: list[BallFunction] = []
        if derivative is not None:
            (value,) = system.observables.values()
            self._slopes = self._functions(sympy.diff(residual, derivative) for residual in system.residuals)
            self._gradient = self._functions(sympy.diff(value, s) for s in (derivative, *system.unknowns))

    def _functions(self, expressions: Any) -> list[BallFunction]:
        return [BallFunction(self._arguments, expression) for expression in expressions]

    def prove(self, x: Sequence[Any], parameters: Mapping[Any, Any], numbers: BallArithmetic) -> Box | None:
        """Return a box around x that contains exactly one solution, for all parameters within their balls.

        None where that is not proved. Call inside ``numbers.active()``.

        Parameters
        ----------
        x : the solution approximately, mpf
        parameters : balls by symbol
        """
        size, zero = len(x), numbers.number(0.0)
        given = [parameters[symbol] for symbol in self.system.parameters]

        def residuals(values: Sequence[Any]) -> list[Any]:
            return [function.real(*values, *given) for function in self._residuals]

        def jacobian(values: Sequence[Any]) -> list[list[Any]]:
            rows = [[zero] * size for _ in range(size)]
            for (i, j), function in self._jacobian.items():
                rows[i][j] = function.real(*values, *given)
            return rows

        box = enclose(residuals, jacobian, x, numbers)
        if box is None:
            return None
        observables = [function.real(*box, *given) for function in self._observables]
        derivative = None
        if self._gradient:
            # of the solution by implicit differentiation: J dx = -dF, J and dF enclosed on the box
            flint = require_flint()
            slopes = flint.arb_mat([[-function.real(*box, *given)] for function in self._slopes])
            change = [1, *(entry for (entry,) in flint.arb_mat(jacobian(box)).solve(slopes).table())]
            partial = [function.real(*box, *given) for function in self._gradient]
            derivative = sum((d * entry for d, entry in zip(partial, change, strict=True)), start=zero)
        return Box(
            dict(zip(self.system.unknowns, box, strict=True)),
            parameters,
            dict(zip(self.system.observables, observables, strict=True)),
            derivative,
            max(float(value.abs_upper()) for value in residuals(box)),
        )


def sharp(value: Any, wanted: int, least: Any) -> bool:
    """Whether the relative radius is at most 2^-wanted, or the number as small as `least` where it may be 0."""
    if not value.is_finite():
        return False
    return bool(value.rel_accuracy_bits() > wanted or (value.contains(0) and value.abs_upper() <= least))
