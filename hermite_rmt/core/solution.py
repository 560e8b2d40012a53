"""What a solve returns: values by name, residual, digits, and an outcome that is a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np


class Outcome(Enum):
    """How the solution of one point ended; the value is the sentence a reader sees."""

    CONVERGED = "converged: residual and branch were checked"
    REDUCED = "converged, but double precision holds fewer digits here than promised; ask for digits="
    NOT_CONVERGED = "not converged: the steps ran out before the residual was small enough"
    WRONG_BRANCH = "not accepted: the solution found is not the physical branch"
    OUT_OF_RANGE = "not computed: the values leave what double precision can hold; ask for digits="
    IN_SPECTRUM = "not answered: 0 lies in the limiting spectrum of something that is inverted, so there is no limit"
    NOT_PROVED = "not proved: the interval test did not close at this precision"

    @property
    def success(self) -> bool:
        """Whether the values may be used."""
        return self in (Outcome.CONVERGED, Outcome.REDUCED)


class SolveError(ArithmeticError):
    """A solve that failed; carries the `solution` with its outcomes."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


@dataclass(frozen=True)
class Solution:
    """The result of a solve, for one point or for a grid with one outcome a point.

    Attributes
    ----------
    values : mapping of names to float, ndarray, mpf or Ball
    residual : the largest scaled residual of the equations, checked at higher precision than the solve
    digits : decimal digits promised, or None for double precision
    outcome : `Outcome`, or an object array of them in the shape of the grid
    steps : iterations used (int or integer array)
    notes : what the solver recorded on its way (the continuation path, the chart used)
    """

    values: Mapping[str, Any]
    residual: Any
    outcome: Any
    digits: int | None = None
    steps: Any = 0
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Any:
        """Return the value of one unknown or observable."""
        return self.values[name]

    @property
    def success(self) -> Any:
        """Whether the values may be used: bool, or a boolean array for a grid."""
        if isinstance(self.outcome, Outcome):
            return self.outcome.success
        return np.frompyfunc(lambda outcome: outcome.success, 1, 1)(self.outcome).astype(bool)

    def require_success(self) -> Solution:
        """Return this solution, or raise `SolveError` naming how many points failed and why."""
        success = np.atleast_1d(self.success)
        if success.all():
            return self
        failed = np.atleast_1d(np.asarray(self.outcome, dtype=object))[~success]
        first = failed[0].value
        message = first if success.size == 1 else f"{failed.size} of {success.size} points failed; first: {first}"
        raise SolveError(message, self)
