"""What a solve returns: values by name, residual, digits, and an outcome that is a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Any

import numpy as np


def html_table(rows: Mapping[str, str]) -> str:
    """Return a two-column table for a notebook."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
    return f"<table>{''.join(cells)}</table>"


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

    def __repr__(self) -> str:
        return f"Outcome.{self.name}"


class SolveError(ArithmeticError):
    """A solve that failed; carries the `solution` with its outcomes."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        if isinstance(self.outcome, Outcome):
            parts = {"values": dict(self.values), "residual": self.residual, "outcome": self.outcome}
            parts |= {"digits": self.digits, "steps": self.steps}
            return f"Solution({', '.join(f'{name}={value!r}' for name, value in parts.items())})"
        return f"<Solution on a grid of shape {self.outcome.shape}: {', '.join(self.values)}; {self._tally()}>"

    def _tally(self) -> str:
        """Say how many points of a grid ended how."""
        outcomes = list(self.outcome.ravel())
        return ", ".join(f"{outcomes.count(kind)} {kind.name}" for kind in Outcome if kind in outcomes)

    def _repr_html_(self) -> str:
        single = isinstance(self.outcome, Outcome)
        rows = {
            name: str(value) if single else f"array of shape {np.shape(value)}" for name, value in self.values.items()
        }
        rows["outcome"] = self.outcome.value if single else self._tally()
        largest = self.residual if single else (np.nanmax(self.residual) if np.size(self.residual) else 0.0)
        rows["residual"] = f"{float(largest):.1e}" + ("" if single else " (largest)")
        return html_table(rows)

    def require_success(self) -> Solution:
        """Return this solution, or raise `SolveError` naming how many points failed and why."""
        success = np.atleast_1d(self.success)
        if success.all():
            return self
        failed = np.atleast_1d(np.asarray(self.outcome, dtype=object))[~success]
        first = failed[0].value
        message = (
            "; ".join((first, *self.notes))
            if success.size == 1
            else f"{failed.size} of {success.size} points failed; first: {first}"
        )
        raise SolveError(message, self)
