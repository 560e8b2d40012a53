"""Proofs for an EquationSystem: its equations as functions of balls, its solution as balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits
from hermite_rmt.core.numbers import Real
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.certified_system import enclose


class BallSystem:
    """A square `EquationSystem` with real parameters, compiled for balls.

    Parameters
    ----------
    system : as many residuals as unknowns

    Raises
    ------
    ValueError
        If it is not square, or holds a function without an enclosure.
    """

    def __init__(self, system: EquationSystem) -> None:
        size = len(system.unknowns)
        if len(system.residuals) != size:
            raise ValueError(f"system: got {len(system.residuals)} equations in {size} unknowns; allowed: as many")
        self.system = system
        arguments = (*system.unknowns, *system.parameters)
        self._residuals = [BallFunction(arguments, residual) for residual in system.residuals]
        self._jacobian = {place: BallFunction(arguments, value) for place, value in system.jacobian.items()}
        self._observables = {name: BallFunction(arguments, value) for name, value in system.observables.items()}

    def certify(
        self, x: Sequence[Any], point: Mapping[Any, Real], digits: int, precision: int
    ) -> tuple[dict[str, Ball], float] | None:
        """Return unknowns and observables as balls, and a bound of the residuals on the box; None if not proved.

        The box contains exactly one solution, for all parameters within their enclosures. Relative radii are at most
        10^-digits; a ball that contains 0 has a radius of at most 10^-(2 digits) times the largest unknown instead.

        Parameters
        ----------
        x : the solution approximately, mpf, right to somewhat more than `digits` digits
        point : the parameters
        precision : working precision in bits

        Raises
        ------
        ValueError
            If a parameter cannot be enclosed.
        """
        numbers = BallArithmetic(precision)
        size, wanted = len(x), bits(digits)
        with numbers.active():
            parameters = [numbers.read(point[symbol]) for symbol in self.system.parameters]
            zero = numbers.number(0.0)

            def residuals(values: Sequence[Any]) -> list[Any]:
                return [function.real(*values, *parameters) for function in self._residuals]

            def jacobian(values: Sequence[Any]) -> list[list[Any]]:
                rows = [[zero] * size for _ in range(size)]
                for (i, j), function in self._jacobian.items():
                    rows[i][j] = function.real(*values, *parameters)
                return rows

            box = enclose(residuals, jacobian, x, numbers)
            if box is None:
                return None
            found = dict(zip(map(str, self.system.unknowns), box, strict=True))
            found |= {name: function.real(*box, *parameters) for name, function in self._observables.items()}
            least = max(entry.abs_upper() for entry in box) * numbers.number(2.0) ** (-2 * wanted)
            if not all(_sharp(value, wanted, least) for value in found.values()):
                return None
            widest = max(float(value.abs_upper()) for value in residuals(box))
            return {name: Ball.of_arb(value, digits) for name, value in found.items()}, widest


def _sharp(value: Any, wanted: int, least: Any) -> bool:
    """Whether the relative radius is at most 2^-wanted, or the number as small as `least` where it may be 0."""
    if not value.is_finite():
        return False
    return bool(value.rel_accuracy_bits() > wanted or (value.contains(0) and value.abs_upper() <= least))
