"""Nonlinear attention: Proposition 1 and Theorem 1 for A = X K, K = f(scores)/sqrt(p)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy

from hermite_rmt.core.derived import Derived, EnergyGap
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Solution
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions
from hermite_rmt.solvers.attention_derivatives import grid_derivative, point_derivative
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_freedom import degrees_of_freedom, degrees_of_freedom_digits
from hermite_rmt.solvers.attention_grid import solve_grid
from hermite_rmt.theory.centred import energy, linear_part, read_centred, require_digits
from hermite_rmt.theory.model import one_number
from hermite_rmt.theory.overlaps import Overlaps, read_overlaps
from hermite_rmt.theory.simulated import SimulatedModel

if TYPE_CHECKING:
    from hermite_rmt.equivalents.system import EquationSystem
    from hermite_rmt.simulation.trial import Specification
    from hermite_rmt.theory.attention_spectrum import AttentionSpectrum
    from hermite_rmt.theory.equivalent import DeterministicEquivalent

CITATIONS = (
    "Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656: Proposition 1 and Theorem 1",
    "Cheng, Singer, Random Matrices: Theory and Applications 2 (2013), 1350010: the linearisation of K",
    "Fan, Montanari, Probability Theory and Related Fields 173 (2019), 27-85: in operator norm",
)


@cache
def equivalent() -> DeterministicEquivalent:
    """Return the engine's deterministic equivalent of attention's resolvent, in the symbols a1, eta, kappa, gamma, c.

    Q = (K^T X^T X K/n + gamma I)^-1 with X = Z + mu y^T and the linearised kernel
    K = a_1 X^T (I + w_K w_Q^T) X/p + kappa I + sqrt(eta/c) W, eta = nu - a_1^2, kappa = diagonal + skip - a_1.
    `trace` is Proposition 1, `quadratic_form` with y on both sides is q of Theorem 1.
    """
    from hermite_rmt.theory.equivalent import deterministic_equivalent

    n, p = dimensions("n p")
    c, gamma = sympy.symbols("c gamma", positive=True)
    a1, kappa = sympy.symbols("a1 kappa", real=True)
    eta = sympy.Symbol("eta", nonnegative=True)
    y, mu, w_K, w_Q = Vector("y", n, norm="sqrt"), Vector("mu", p), Vector("w_K", p), Vector("w_Q", p)
    X = Gaussian("Z", p, n) + mu * y.T
    scores = X.T * (sympy.Identity(p) + w_K * w_Q.T) * X / p
    K = a1 * scores + kappa * sympy.Identity(n) + sympy.sqrt(eta / c) * GOE("W", n)
    return deterministic_equivalent((K.T * X.T * X * K / n + gamma * sympy.Identity(n)).inv(), ratios={p: c * n})


class Attention(SimulatedModel):
    """Ridge regression on the output A = X K of a nonlinear attention layer, signal-plus-noise tokens X = mu y^T + Z.

    K = f(X^T (I + w_K w_Q^T) X / sqrt(p)) / sqrt(p) with its diagonal replaced by the constant `diagonal`, plus
    `skip` times the identity. In the limit n, p -> infinity, p/n -> c only a_1 = E[xi f(xi)], nu = E[f(xi)^2], c,
    gamma and the overlaps remain (Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656: Proposition 1 and Theorem 1; the
    equations as derived in derivations/08_rational_form.py).

    Parameters
    ----------
    f : Nonlinearity or what `Nonlinearity` takes; centred, E f(xi) = 0
    a1, nu : in place of `f`, its two numbers, nu >= a1^2 (then the model cannot simulate)
    overlaps : `Overlaps` of the signal and the weights; None for pure noise
    diagonal : the constant d on the diagonal of K
    skip : alpha in A = X (K + alpha I), a skip connection
    weights, covariance : p x p matrices in place of I + w_K w_Q^T and of the identity for the tokens' noise; given
        one, the model made is a `WeightedAttention`, which says what else changes
    token_correlation : rho of the correlation rho^|i-j| of tokens, or a list of lags; given, the model made is a
        `CorrelatedAttention`, which takes further arguments

    Raises
    ------
    ValueError
        If f is not centred or not square integrable, or nu < a1^2.
    TypeError
        If neither or both of `f` and (`a1`, `nu`) are given.

    >>> Attention(a1="0.6", nu="0.5").error("0.5", "0.1", digits=25)
    mpf('0.5837938816084730462828085')
    """

    name: ClassVar[str] = "attention"

    def __new__(
        cls,
        f: Any = None,
        *,
        weights: Any = None,
        covariance: Any = None,
        token_correlation: Any = None,
        **others: Any,
    ) -> Any:
        """Return a `WeightedAttention` or a `CorrelatedAttention` where their arguments are given."""
        if weights is None and covariance is None and token_correlation is None:
            return super().__new__(cls)
        if f is None or "a1" in others or "nu" in others:
            raise TypeError(
                "f: got none, or numbers a1 and nu; allowed beside weights, covariance or token_correlation: a "
                "nonlinearity f alone, as all its Hermite coefficients matter"
            )
        if token_correlation is None:
            from hermite_rmt.theory.weighted_attention import WeightedAttention

            return WeightedAttention(f, weights=weights, covariance=covariance, **others)
        if weights is not None or covariance is not None:
            raise TypeError("token_correlation: got one beside weights or covariance; allowed: one or the other")
        from hermite_rmt.theory.correlated_attention import CorrelatedAttention

        return CorrelatedAttention(f, token_correlation, **others)

    def __init__(
        self,
        f: Any = None,
        *,
        a1: Any = None,
        nu: Any = None,
        overlaps: Any = None,
        diagonal: Any = 0,
        skip: Any = 0,
        weights: Any = None,
        covariance: Any = None,
        token_correlation: None = None,
    ) -> None:
        if (f is None) == (a1 is None) or (a1 is None) != (nu is None):
            raise TypeError("f, a1, nu: allowed: a nonlinearity f, or both numbers a1 and nu, and not all three")
        self.nonlinearity = None if f is None else read_centred(f)
        if self.nonlinearity is not None:
            a1, nu = linear_part(self.nonlinearity), energy(self.nonlinearity)
        self.overlaps: Overlaps = read_overlaps(overlaps)
        self._a1 = Parameter(a1, "a1")
        self._nu = Parameter(nu, "nu").require_positive()
        self._diagonal = Parameter(diagonal, "diagonal")
        self._skip = Parameter(skip, "skip")
        self._eta = EnergyGap(self._a1, self._nu)
        # named nu in errors: the gap itself is no argument of the user's
        Parameter.require(self._nu, self._eta.floats >= 0, "at least a1^2 (nu = E f^2 contains a_1^2)")

    def parameters(self) -> Mapping[str, Parameter]:
        """Return a1, nu, diagonal, skip and the six overlaps by name."""
        return {
            "a1": self._a1,
            "nu": self._nu,
            "diagonal": self._diagonal,
            "skip": self._skip,
            **self.overlaps.parameters,
        }

    def derived(self) -> Mapping[str, Parameter]:
        """Return eta = nu - a1^2 and kappa = diagonal + skip - a1."""
        return {"eta": self._eta, "kappa": kernel_constant("kappa", self._diagonal, self._skip, self._a1)}

    @property
    def equations(self) -> EquationSystem:
        """The equations of Proposition 1 as the engine derives them from the matrix expression (see `equivalent`)."""
        return replace(equivalent().equations, citations=CITATIONS)

    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        from hermite_rmt.simulation.attention import attention_specification

        if self.nonlinearity is None:
            raise ValueError(
                "f: got none, the model was made from a1 and nu; allowed: simulating needs a nonlinearity f"
            )
        diagonal, skip = one_number(self._diagonal), one_number(self._skip)
        overlaps = self.overlaps.floats()
        return attention_specification(
            self.nonlinearity, overlaps, n, p, gammas, diagonal=diagonal, skip=skip, **draws
        )

    def spectrum(self, c: Any) -> AttentionSpectrum:
        """Return the limiting spectra of A^T A/n and of K at one aspect ratio; see `AttentionSpectrum`."""
        from hermite_rmt.theory.attention_spectrum import AttentionSpectrum

        return AttentionSpectrum(self, c)

    def describe(self) -> dict[str, str]:
        """Return the model and its parameters as plain text, with the nonlinearity where there is one.

        a1 and nu of a nonlinearity are rounded to doubles: the nonlinearity beside them is what is exact.
        """
        described = super().describe()
        if self.nonlinearity is not None:
            described |= {p.name: repr(float(p.floats)) for p in (self._a1, self._nu)}
            described["f"] = str(self.nonlinearity)
        return described

    def __repr__(self) -> str:
        if self.nonlinearity is not None:
            parts = [repr(self.nonlinearity)]
        else:
            parts = [f"a1={self._a1!r}", f"nu={self._nu!r}"]
        if self.overlaps != Overlaps():
            parts.append(f"overlaps={self.overlaps!r}")
        parts += [f"{p.name}={p!r}" for p in (self._diagonal, self._skip) if repr(p) != "0"]
        return f"Attention({', '.join(parts)})"

    def _solve_grid(self, values: Mapping[str, np.ndarray]) -> Solution:
        overlaps = np.stack([values[name] for name in Overlaps.NAMES], axis=-1)
        c, gamma, a1, nu, eta, kappa = (values[name] for name in ("c", "gamma", "a1", "nu", "eta", "kappa"))
        return solve_grid(c, gamma, a1, nu, eta, kappa, overlaps)

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        if self.nonlinearity is not None:
            require_digits(self.nonlinearity, digits)
        return solve_point(values, digits)

    def _certify_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        from hermite_rmt.solvers.attention_certified import certify_point  # needs the extra `certified`

        if self.nonlinearity is not None and self.nonlinearity.integrand.expression is None:
            self.nonlinearity.coefficient(1, digits=digits, certified=True)  # refuses, with the reason
        return certify_point(values, digits)

    def _derivative_grid(self, of: str, parameter: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
        overlaps = np.stack([values[name] for name in Overlaps.NAMES], axis=-1)
        c, gamma, a1, nu, eta, kappa = (values[name] for name in ("c", "gamma", "a1", "nu", "eta", "kappa"))
        return np.asarray(grid_derivative(of, _moved_by(parameter), c, gamma, a1, nu, eta, kappa, overlaps))

    def _derivative_point(self, of: str, parameter: str, values: Mapping[str, Real], digits: int) -> Solution:
        return point_derivative(of, _moved_by(parameter), values, digits)

    def _freedom_grid(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        inputs = (values[name] for name in ("c", "gamma", "a1", "nu", "eta", "kappa"))
        return np.asarray(degrees_of_freedom(*inputs))

    def _freedom_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        return degrees_of_freedom_digits(values, digits)


def kernel_constant(name: str, diagonal: Parameter, skip: Parameter, a1: Parameter) -> Derived:
    """Return kappa = diagonal + skip - a_1, the multiple of the identity in the linearised kernel."""
    return Derived(name, (diagonal, skip, a1), lambda d, s, a: d + s - a, lambda d, s, a: (d - a) + s)


def _moved_by(parameter: str) -> str:
    return "diagonal" if parameter == "skip" else parameter  # only their sum enters
