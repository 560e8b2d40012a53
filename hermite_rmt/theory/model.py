"""What every model shares: broadcasting over a grid, the choice of number type, and the Solution that comes back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from hermite_rmt.core.numbers import Real, read_digits
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Outcome, Solution

# Normal doubles whose squares are normal too
_SMALLEST, _LARGEST = 1e-150, 1e150


class Model(ABC):
    """A model with an interpolation error: the observables of y^T Q y / n as functions of c and gamma.

    Subclasses state their own parameters and how a flat grid, or one point, is solved.
    """

    name: ClassVar[str]

    @abstractmethod
    def parameters(self) -> Mapping[str, Parameter]:
        """Return the model's numeric parameters besides c and gamma, by name."""

    def derived(self) -> Mapping[str, Parameter]:
        """Return what the solvers need besides `parameters`, computed from them without loss."""
        return {}

    @abstractmethod
    def _solve_grid(self, values: Mapping[str, np.ndarray]) -> Solution:
        """Solve in double for arrays of one common shape (N,)."""

    @abstractmethod
    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Solve one point to `digits` decimal digits."""

    @abstractmethod
    def _certify_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Enclose one point in balls of relative radius at most 10^-digits."""

    def error(self, c: Any, gamma: Any, digits: int | None = None, certified: bool = False) -> Any:
        """Return the interpolation error E = lim (1/n) |y - A^T w*|^2 = -gamma^2 dq/dgamma (Theorem 1).

        Parameters
        ----------
        c : p/n, positive
        gamma : ridge, positive; `c`, `gamma` and the model's own parameters broadcast together
        digits : None for double precision, else an mpmath.mpf with that many right digits
        certified : whether to return a `Ball` that is proved to contain the value (30 digits by default)

        Raises
        ------
        ValueError
            If `c`, `gamma` or `digits` is outside its domain.
        SolveError
            If a point could not be solved; the message says why.
        """
        return self.solve(c, gamma, digits=digits, certified=certified)["error"]

    def quadratic_form(self, c: Any, gamma: Any, digits: int | None = None, certified: bool = False) -> Any:
        """Return q = lim y^T Q y / n; arguments as for `error`."""
        return self.solve(c, gamma, digits=digits, certified=certified)["quadratic_form"]

    def trace(self, c: Any, gamma: Any, digits: int | None = None, certified: bool = False) -> Any:
        """Return m = lim tr Q / n (Proposition 1); arguments as for `error`."""
        return self.solve(c, gamma, digits=digits, certified=certified)["trace"]

    def solve(
        self, c: Any, gamma: Any, digits: int | None = None, certified: bool = False, raises: bool = True
    ) -> Solution:
        """Return the whole `Solution`: trace, quadratic_form, error, unknowns, residual, one outcome a point.

        `raises=False` keeps failed points, with their outcome, instead of raising `SolveError`.
        Other arguments as for `error`.
        """
        digits = read_digits(digits)
        grid = {
            "c": Parameter(c, "c").require_positive(),
            "gamma": Parameter(gamma, "gamma").require_positive(),
            **self.parameters(),
            **self.derived(),
        }
        try:
            shape = np.broadcast_shapes(*(parameter.shape for parameter in grid.values()))
        except ValueError:
            shapes = {name: parameter.shape for name, parameter in grid.items() if parameter.shape}
            raise ValueError(f"c, gamma: got shapes {shapes}; allowed: shapes that broadcast together") from None
        if digits is None and not certified:
            solution = self._solve_double(grid, shape)
        else:
            solve_one = self._certify_point if certified else self._solve_point
            solution = _solve_points(solve_one, grid, shape, digits or 30)
        return solution.require_success() if raises else solution

    def _solve_double(self, grid: Mapping[str, Parameter], shape: tuple[int, ...]) -> Solution:
        values = {
            name: np.array(np.broadcast_to(parameter.floats, shape)).reshape(-1) for name, parameter in grid.items()
        }
        # exact inputs may leave the range of doubles; such points get their outcome here, on a harmless stand-in
        beyond = np.zeros(values["c"].shape, dtype=bool)
        for name in ("c", "gamma"):
            outside = ~((values[name] >= _SMALLEST) & (values[name] <= _LARGEST))
            values[name][outside] = 1.0
            beyond |= outside
        flat = self._solve_grid(values)
        flat.outcome[beyond] = Outcome.OUT_OF_RANGE
        for array in flat.values.values():
            array[beyond] = np.nan

        def shaped(array: Any) -> Any:
            # item() of a 0-d array gives the plain float, int or Outcome
            return np.asarray(array).reshape(shape) if shape else np.asarray(array).reshape(()).item()

        return Solution(
            values={name: shaped(array) for name, array in flat.values.items()},
            residual=shaped(flat.residual),
            outcome=shaped(flat.outcome),
            steps=shaped(flat.steps),
            notes=flat.notes,
        )

    def describe(self) -> dict[str, str]:
        """Return the model and its parameters as plain text, for provenance and for the keys of stored cells."""
        described = {"model": self.name}
        for name, parameter in self.parameters().items():
            texts = [real.text for real in parameter.reals.flat]
            described[name] = texts[0] if not parameter.shape else f"{parameter.shape} {' '.join(texts)}"
        return described

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={parameter!r}" for name, parameter in self.parameters().items())
        return f"{type(self).__name__}({shown})"


def _solve_points(
    solve_one: Callable[[Mapping[str, Real], int], Solution],
    grid: Mapping[str, Parameter],
    shape: tuple[int, ...],
    digits: int,
) -> Solution:
    reals: dict[str, Any] = {name: np.broadcast_to(parameter.reals, shape) for name, parameter in grid.items()}
    if not shape:
        return solve_one({name: entries[()] for name, entries in reals.items()}, digits)
    solutions: Any = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        solutions[index] = solve_one({name: entries[index] for name, entries in reals.items()}, digits)

    def collected(pick: Callable[[Solution], Any]) -> np.ndarray:
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            array[index] = pick(solutions[index])
        return array

    names = solutions.flat[0].values if solutions.size else ("trace", "quadratic_form", "error")
    return Solution(
        values={name: collected(lambda solution, name=name: solution.values[name]) for name in names},  # type: ignore[misc]
        residual=collected(lambda solution: solution.residual),
        outcome=collected(lambda solution: solution.outcome),
        digits=digits,
        steps=collected(lambda solution: solution.steps).astype(int),
    )


def converged(count: int) -> np.ndarray:
    """Return the outcomes of `count` points that are given by a closed form."""
    outcome = np.empty(count, dtype=object)
    outcome[:] = Outcome.CONVERGED
    return outcome


def one_number(parameter: Parameter) -> float:
    """Return a scalar parameter as a float, or raise a ValueError for an array."""
    if parameter.shape:
        raise ValueError(f"{parameter.name}: got an array of shape {parameter.shape}; allowed here: one number")
    return float(parameter.floats)
