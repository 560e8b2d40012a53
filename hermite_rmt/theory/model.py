"""What every model shares: broadcasting over a grid, the choice of number type, and the Solution that comes back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from hermite_rmt.core.numbers import Real, read_digits
from hermite_rmt.core.parameter import Parameter, broadcast_shape
from hermite_rmt.core.solution import Outcome, Solution, html_table

OBSERVABLES = ("trace", "quadratic_form", "error")
DIFFERENTIABLE = ("error", "quadratic_form", "trace", "degrees_of_freedom")
NO_RIDGE = "gamma = 0 is a limit: tr Q diverges there for c <= 1; any gamma > 0, such as '1e-1000', has its digits"
# Normal doubles whose squares are normal too
_SMALLEST, _LARGEST = 1e-150, 1e150


class Model(ABC):
    """A model with an interpolation error: the observables of y^T Q y / n as functions of c and gamma.

    Subclasses state their name, their own parameters and how a flat grid is solved in double. The other methods with
    an underscore add what else can be asked: digits, certificates, derivatives, degrees of freedom.
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

    # What a model may leave out: asked for it, it says so

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Solve one point to `digits` decimal digits."""
        raise self._lacks("digits=", "_solve_point")

    def _certify_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Enclose one point in balls of relative radius at most 10^-digits."""
        raise self._lacks("certified=True", "_certify_point")

    def _derivative_grid(self, of: str, parameter: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return d(of)/d(parameter) in double for arrays of one common shape (N,); nan where there is no solution."""
        raise self._lacks("derivative()", "_derivative_grid")

    def _derivative_point(self, of: str, parameter: str, values: Mapping[str, Real], digits: int) -> Solution:
        """Return d(of)/d(parameter) at one point, as the value `derivative`."""
        raise self._lacks("derivative() with digits=", "_derivative_point")

    def _freedom_grid(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return 1 - gamma m in double for arrays of one common shape (N,); nan where there is no solution."""
        raise self._lacks("degrees_of_freedom()", "_freedom_grid")

    def _freedom_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        """Return 1 - gamma m at one point, as the value `degrees_of_freedom`."""
        raise self._lacks("degrees_of_freedom() with digits=", "_freedom_point")

    def _lacks(self, asked: str, method: str) -> NotImplementedError:
        return NotImplementedError(f"{self.name} has no {asked} (a model adds it by defining {method})")

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
        if not isinstance(certified, (bool, np.bool_)):
            raise TypeError(f"certified: got {certified!r}; allowed: True or False")
        if certified:
            solution = self._compute(c, gamma, digits or 30, self._solve_grid, self._certify_point, OBSERVABLES)
        else:
            solution = self._compute(c, gamma, digits, self._solve_grid, self._solve_point, OBSERVABLES)
        return solution.require_success() if raises else solution

    def derivative(self, parameter: str, c: Any, gamma: Any, digits: int | None = None, of: str = "error") -> Any:
        """Return d(of)/d(parameter), the other parameters fixed: exact, by the implicit function theorem.

        Parameters
        ----------
        parameter : "c", "gamma" or one of the names of `parameters`
        c, gamma, digits : as for `error`
        of : "error", "quadratic_form", "trace" or "degrees_of_freedom"

        Raises
        ------
        ValueError
            If there is no such parameter or value, or `c`, `gamma` or `digits` is outside its domain.
        SolveError
            If a point could not be solved.

        >>> from hermite_rmt import LinearRegression
        >>> LinearRegression(mu_mu=1).derivative("gamma", c=2, gamma=1, digits=20)
        mpf('0.12886115931254241182')
        """
        known = ("c", "gamma", *self.parameters())
        if parameter not in known:
            raise ValueError(f"parameter: got {parameter!r}; allowed: {', '.join(known)}")
        if of not in DIFFERENTIABLE:
            raise ValueError(f"of: got {of!r}; allowed: {', '.join(DIFFERENTIABLE)}")

        def on_grid(values: Mapping[str, np.ndarray]) -> Solution:
            return _of_array("derivative", self._derivative_grid(of, parameter, values))

        def on_point(values: Mapping[str, Real], digits: int) -> Solution:
            return self._derivative_point(of, parameter, values, digits)

        solution = self._compute(c, gamma, read_digits(digits), on_grid, on_point, ("derivative",))
        return solution.require_success()["derivative"]

    def degrees_of_freedom(self, c: Any, gamma: Any, digits: int | None = None) -> Any:
        """Return the effective degrees of freedom a token, lim tr(A Q A^T)/n^2 = 1 - gamma m, without cancellation.

        That is the trace of the smoother A^T (A A^T/n + gamma)^-1 A/n, which maps the labels to the fit, over n: from
        min(1, c) at gamma = 0 down to 0. Arguments and errors as for `error`.

        >>> from hermite_rmt import LinearRegression
        >>> LinearRegression().degrees_of_freedom(c=1, gamma="1e30", digits=10)
        mpf('1.000000000e-30')
        """

        def on_grid(values: Mapping[str, np.ndarray]) -> Solution:
            return _of_array("degrees_of_freedom", self._freedom_grid(values))

        names = ("degrees_of_freedom",)
        solution = self._compute(c, gamma, read_digits(digits), on_grid, self._freedom_point, names)
        return solution.require_success()["degrees_of_freedom"]

    def _compute(
        self,
        c: Any,
        gamma: Any,
        digits: int | None,
        on_grid: Callable[[Mapping[str, np.ndarray]], Solution],
        on_point: Callable[[Mapping[str, Real], int], Solution],
        names: tuple[str, ...],
    ) -> Solution:
        """Broadcast c, gamma and the model's parameters; compute values by `names` on the grid or point by point."""
        grid = {
            "c": Parameter(c, "c").require_positive(),
            "gamma": Parameter(gamma, "gamma").require_positive(NO_RIDGE),
            **self.parameters(),
            **self.derived(),
        }
        shape = broadcast_shape(grid.values())
        if digits is None:
            return _on_doubles(on_grid, grid, shape)
        for parameter in grid.values():
            parameter.require_digits(digits)
        return _on_points(on_point, grid, shape, digits, names)

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

    def _repr_html_(self) -> str:
        return html_table(self.describe())


def _on_doubles(
    on_grid: Callable[[Mapping[str, np.ndarray]], Solution], grid: Mapping[str, Parameter], shape: tuple[int, ...]
) -> Solution:
    values = {
        name: np.array(np.broadcast_to(parameter.floats, shape)).reshape(-1) for name, parameter in grid.items()
    }
    # exact inputs may leave the range of doubles; such points get their outcome here, on a harmless stand-in
    beyond = np.zeros(values["c"].shape, dtype=bool)
    for name in ("c", "gamma"):
        outside = ~((values[name] >= _SMALLEST) & (values[name] <= _LARGEST))
        values[name][outside] = 1.0
        beyond |= outside
    flat = on_grid(values)
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


def _of_array(name: str, array: np.ndarray) -> Solution:
    """Return values that come without residual or steps as a Solution; nan is a point that did not converge."""
    outcome = converged(array.size)
    outcome[np.isnan(array)] = Outcome.NOT_CONVERGED
    return Solution({name: array}, np.zeros(array.size), outcome, steps=np.zeros(array.size, dtype=int))


def _on_points(
    on_point: Callable[[Mapping[str, Real], int], Solution],
    grid: Mapping[str, Parameter],
    shape: tuple[int, ...],
    digits: int,
    names: tuple[str, ...],
) -> Solution:
    reals: dict[str, Any] = {name: np.broadcast_to(parameter.reals, shape) for name, parameter in grid.items()}
    if not shape:
        return on_point({name: entries[()] for name, entries in reals.items()}, digits)
    solutions: Any = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        solutions[index] = on_point({name: entries[index] for name, entries in reals.items()}, digits)

    def collected(pick: Callable[[Solution], Any]) -> np.ndarray:
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            array[index] = pick(solutions[index])
        return array

    names = tuple(solutions.flat[0].values) if solutions.size else names
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
