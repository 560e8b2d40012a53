"""Ridge regression on the tokens X = mu y^T + Z themselves, the yardstick for attention."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import enclose_constant
from hermite_rmt.codegen.evaluation import evaluate
from hermite_rmt.core.derived import exact_expression
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.equivalents.ensembles import Gaussian, Vector, dimensions
from hermite_rmt.theory.model import converged, one_number
from hermite_rmt.theory.overlaps import read_norm
from hermite_rmt.theory.simulated import SimulatedModel

if TYPE_CHECKING:
    from hermite_rmt.equivalents.system import EquationSystem
    from hermite_rmt.simulation.trial import Specification
    from hermite_rmt.theory.equivalent import DeterministicEquivalent

C, GAMMA, MU_MU = sympy.symbols("c gamma mu_mu", positive=True)


@cache
def equivalent() -> DeterministicEquivalent:
    """Return the engine's deterministic equivalent of Q = (X^T X/n + gamma I)^-1, X = Z + mu y^T."""
    from hermite_rmt.theory.equivalent import deterministic_equivalent

    n, p = dimensions("n p")
    y, mu = Vector("y", n, norm="sqrt"), Vector("mu", p)
    X = Gaussian("Z", p, n) + mu * y.T
    return deterministic_equivalent((X.T * X / n + GAMMA * sympy.Identity(n)).inv(), ratios={p: C * n})


@cache
def observables() -> dict[str, sympy.Expr]:
    r"""Return trace, quadratic form and error in closed form, written so that no difference cancels.

    The Marchenko-Pastur equation m = 1/(gamma + c/(1 + m)) is solved by tau = m/(1 + m), the root in (0, 1) of
    c tau^2 - (gamma + c + 1) tau + 1 = 0 (derivations/03_marchenko_pastur_and_ridge.py). With s = c - 1 - gamma and
    Delta = sqrt(s^2 + 4 c gamma) = (1 - c tau^2)/tau,

        tau = 2/(gamma + c + 1 + Delta),   gamma m = 1 - c tau = tau (Delta - s)/2,   q = m/(1 + r tau),
        E = (gamma m)^2 (1 + r tau^2)/((1 + r tau)^2 tau Delta),   r = |mu|^2.
    """
    s = C - 1 - GAMMA
    delta = sympy.sqrt(s**2 + 4 * C * GAMMA)
    tau = 2 / (GAMMA + C + 1 + delta)
    # Delta - s loses its digits for s > 0, where its conjugate does not
    difference = sympy.Piecewise((4 * C * GAMMA / (delta + s), s > 0), (delta - s, True))
    gamma_m = tau * difference / 2
    trace = gamma_m / GAMMA
    error = gamma_m**2 * (1 + MU_MU * tau**2) / ((1 + MU_MU * tau) ** 2 * tau * delta)
    return {"trace": trace, "quadratic_form": trace / (1 + MU_MU * tau), "error": error}


@cache
def _kernel() -> Kernel:
    return Kernel([C, GAMMA, MU_MU], observables().values())


@cache
def _derivative_kernel(of: str, parameter: str) -> Kernel:
    value = _freedom() if of == "degrees_of_freedom" else observables()[of]
    return Kernel([C, GAMMA, MU_MU], [value.diff(sympy.Symbol(parameter, positive=True))])


def _freedom() -> sympy.Expr:
    """1 - gamma m = c tau; see `observables`."""
    delta = sympy.sqrt((C - 1 - GAMMA) ** 2 + 4 * C * GAMMA)
    return 2 * C / (GAMMA + C + 1 + delta)


@cache
def _freedom_kernel() -> Kernel:
    return Kernel([C, GAMMA, MU_MU], [_freedom()])


class LinearRegression(SimulatedModel):
    """Linear ridge regression of the labels on the tokens X = mu y^T + Z, with the same gamma as attention.

    Parameters
    ----------
    mu_mu : |mu|^2, the signal's squared norm, at least 0

    Marchenko-Pastur with a rank-one signal: derivations/03_marchenko_pastur_and_ridge.py.

    >>> LinearRegression(mu_mu="3/2").error(1, 1, digits=30)
    mpf('0.220310357887596932434593108765')
    """

    name: ClassVar[str] = "linear_regression"

    def __init__(self, mu_mu: Any = 0) -> None:
        self._mu_mu = read_norm(mu_mu)

    def parameters(self) -> Mapping[str, Parameter]:
        """Return |mu|^2 under the name mu_mu."""
        return {"mu_mu": self._mu_mu}

    @property
    def equations(self) -> EquationSystem:
        """The self-consistent equations as the engine derives them from the matrix expression (see `equivalent`)."""
        return equivalent().equations

    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        from hermite_rmt.simulation.linear_regression import linear_regression_specification

        for name in ("w_K", "w_Q"):
            if draws.pop(name) is not None:
                raise ValueError(f"{name}: got a vector; allowed: None, linear regression has no weights")
        return linear_regression_specification(one_number(self._mu_mu), n, p, gammas, **draws)

    def _solve_grid(self, values: Mapping[str, np.ndarray]) -> Solution:
        results = _kernel().double(values["c"], values["gamma"], values["mu_mu"])
        outcome = converged(results[0].size)
        finite = np.logical_and.reduce([np.isfinite(result) & (result > 0) for result in results])
        outcome[~finite] = Outcome.OUT_OF_RANGE
        solution = dict(zip(observables(), (np.where(finite, result, np.nan) for result in results), strict=True))
        m, c, gamma = solution["trace"], values["c"], values["gamma"]
        with np.errstate(all="ignore"):  # points out of range carry their outcome
            residual = np.abs(m * (gamma + c / (1 + m)) - 1)
        return Solution(solution, residual, outcome, steps=np.zeros(residual.shape, dtype=int))

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        results = evaluate(_kernel(), [values["c"], values["gamma"], values["mu_mu"]], digits)
        return Solution(dict(zip(observables(), results, strict=True)), 0.0, Outcome.CONVERGED, digits)

    def _certify_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        point = {symbol: exact_expression(values[str(symbol)]) for symbol in (C, GAMMA, MU_MU)}
        balls = {name: enclose_constant(value.subs(point), digits) for name, value in observables().items()}
        return Solution(balls, 0.0, Outcome.CONVERGED, digits)

    def _derivative_grid(self, of: str, parameter: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
        return _on_grid(_derivative_kernel(of, parameter), values)

    def _derivative_point(self, of: str, parameter: str, values: Mapping[str, Real], digits: int) -> Solution:
        return _at_point("derivative", _derivative_kernel(of, parameter), values, digits)

    def _freedom_grid(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        return _on_grid(_freedom_kernel(), values)

    def _freedom_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        return _at_point("degrees_of_freedom", _freedom_kernel(), values, digits)


def _on_grid(kernel: Kernel, values: Mapping[str, np.ndarray]) -> np.ndarray:
    (array,) = kernel.double(*(values[str(symbol)] for symbol in kernel.arguments))
    return np.where(np.isfinite(array), array, np.nan)


def _at_point(name: str, kernel: Kernel, values: Mapping[str, Real], digits: int) -> Solution:
    (value,) = evaluate(kernel, [values[str(symbol)] for symbol in kernel.arguments], digits)
    return Solution({name: value}, 0.0, Outcome.CONVERGED, digits)
