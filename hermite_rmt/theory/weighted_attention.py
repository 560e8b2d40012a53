"""Nonlinear attention with given weights in place of identity plus low rank, and with a covariance of the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hermite_rmt.core.derived import Derived, EnergyGap
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.hermite.dual_kernel import nonlinear_dual
from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.checks import Array, real_array
from hermite_rmt.solvers.ridge_path import follow
from hermite_rmt.solvers.weights_blocks import Forms, WeightBlocks
from hermite_rmt.solvers.weights_path import Limits, WeightsPoint, WeightsSystem
from hermite_rmt.theory.attention import kernel_constant
from hermite_rmt.theory.centred import energy, linear_part, read_centred, require_digits
from hermite_rmt.theory.model import one_number
from hermite_rmt.theory.overlaps import Overlaps
from hermite_rmt.theory.simulated import SimulatedModel
from hermite_rmt.theory.weights_equations import equations
from hermite_rmt.theory.weights_input import ScaledWeights, digest, read_arrays, read_signal
from hermite_rmt.theory.weights_point import solve_point

if TYPE_CHECKING:
    from hermite_rmt.equivalents.system import EquationSystem
    from hermite_rmt.simulation.trial import Specification

KNOWN = 1e-10  # relative to nu: how well the series in tau must be known
REDUCED, LOST = 1e-8, 1e-2  # share of the error that rounding may have made: fewer digits than promised, or none
VALUES = ("trace", "quadratic_form", "error", "delta", "tau")


class WeightedAttention(SimulatedModel):
    r"""Attention with scores X^T W X/(s sqrt p) for a p x p matrix W of any kind; made by `Attention(f, weights=W)`.

    The scores are divided by s = sqrt(tr W Sigma W^T Sigma/p), Sigma the covariance of the tokens, so that they have
    variance 1. In the limit W and Sigma stay as spectral data: with M = Sigma^{1/2} (W/s) Sigma^{1/2} the kernel is
    K = a_1 Z^T M Z/p + kappa I + H, kappa = diagonal + skip - a_1 tr M/p, where H is not symmetric any more:
    E H_ij^2 = eta/p and E H_ij H_ji = eps/p, eps = sum_{k>=2} a_k^2 tau^k, tau = tr M^2/p. So every Hermite
    coefficient matters. Derived in derivations/15_any_weights.py.

    Parameters
    ----------
    f : Nonlinearity or what `Nonlinearity` takes; centred
    weights : (p, p) in place of I + w_K w_Q^T; None is the identity
    covariance : (p, p) positive definite, of each token's noise: X = mu y^T + Sigma^{1/2} Z; None is the identity
    mu : (p,) the signal; or, in its place,
    overlaps : `Overlaps` with mu_mu alone: a signal in a uniformly random direction
    diagonal, skip : as for `Attention`

    Numbers with `digits` need python-flint (extra `certified`) and tokens of covariance I; the entries of W are taken
    as the doubles they are. One point at p = 384 takes some ten seconds.

    Raises
    ------
    ValueError
        If the arrays have not these shapes, W = 0, the covariance is not positive definite, w_K or w_Q is given
        beside the weights, or the series in tau is not known to 1e-10.

    >>> from hermite_rmt import Attention
    >>> rng = np.random.default_rng(0)
    >>> model = Attention("tanh(x)", weights=rng.standard_normal((60, 60)))
    >>> 6.6 < model.trace(c=0.5, gamma=0.1) < 6.8
    True
    >>> same = Attention("tanh(x)", weights=np.eye(3))
    >>> abs(same.error(0.5, 0.1) - Attention("tanh(x)").error(0.5, 0.1)) < 1e-13
    True
    """

    name: ClassVar[str] = "weighted_attention"

    def __init__(
        self,
        f: Any,
        *,
        overlaps: Any = None,
        diagonal: Any = 0,
        skip: Any = 0,
        weights: Any = None,
        covariance: Any = None,
        mu: Any = None,
    ) -> None:
        self.nonlinearity = read_centred(f)
        self.weights, self.covariance, self.mu = read_arrays(weights, covariance, mu)
        self._scaled = ScaledWeights(self.weights, self.covariance)
        self.overlaps = read_signal(overlaps, self.mu)
        self._a1 = Parameter(linear_part(self.nonlinearity), "a1")
        self._nu = Parameter(energy(self.nonlinearity), "nu").require_positive()
        self._diagonal = Parameter(diagonal, "diagonal")
        self._skip = Parameter(skip, "skip")
        self._eta = EnergyGap(self._a1, self._nu)
        self._solved: dict[tuple[Limits, float], WeightsPoint | None] = {}  # shared by `with_signal`
        self._eps, known = nonlinear_dual(self.nonlinearity, self.symmetry)
        if known > KNOWN * float(self._nu.floats):
            raise ValueError(
                f"weights: got tr W^2/tr W W^T = {self.symmetry:.9g}, at which the sum of a_k^2 tau^k for "
                f"{self.nonlinearity} is known to {known:.1g} only; allowed: other weights, or symmetric ones"
            )

    @property
    def p(self) -> int:
        """The dimension of the weights and of the covariance."""
        return self._scaled.p

    @property
    def symmetry(self) -> float:
        """The correlation tau = tr M^2/tr M M^T of s_ij and s_ji: 1 for symmetric, -1 for antisymmetric M."""
        return self._scaled.symmetry

    @cached_property
    def _blocks(self) -> tuple[WeightBlocks, Array | None]:
        """The blocks of the pencil, and the basis they are in (None: all of R^p)."""
        return self._scaled.blocks(float(self._a1.floats))

    def with_signal(self, mu: Any) -> WeightedAttention:
        """Return the model with another signal mu, (p,), and the same noise: what was solved for is not solved again.

        >>> from hermite_rmt import Attention
        >>> model = Attention("tanh(x)", weights=np.diag([1.0, 2.0, -1.0]))
        >>> model.with_signal([0, 1, 0]).trace(0.5, 0.1) == model.trace(0.5, 0.1)
        True
        """
        made = copy(self)
        made.mu = real_array(mu, (self.p,), "mu")
        made.overlaps = read_signal(None, made.mu)
        return made

    def parameters(self) -> Mapping[str, Parameter]:
        """Return a1, nu, diagonal, skip and mu_mu by name."""
        mu_mu = self.overlaps.parameters["mu_mu"]
        return {"a1": self._a1, "nu": self._nu, "diagonal": self._diagonal, "skip": self._skip, "mu_mu": mu_mu}

    def derived(self) -> Mapping[str, Parameter]:
        """Return eta = nu - a1^2 and kappa = diagonal + skip - a1 tr M/p."""
        share = Parameter(float(np.trace(self._scaled.matrix)) / self.p, "trace of M")
        linear = Derived("a1 tr M/p", (self._a1, share), _product, _product)
        return {"eta": self._eta, "kappa": kernel_constant("kappa", self._diagonal, self._skip, linear)}

    @property
    def _arrays(self) -> dict[str, Array]:
        arrays = {"weights": self.weights, "covariance": self.covariance, "mu": self.mu}
        return {name: array for name, array in arrays.items() if array is not None}

    def describe(self) -> dict[str, str]:
        """Return the model and its parameters as plain text, with the nonlinearity; arrays by shape and SHA-256."""
        described = super().describe() | {p.name: repr(float(p.floats)) for p in (self._a1, self._nu)}
        return described | {"f": str(self.nonlinearity)} | {k: digest(array) for k, array in self._arrays.items()}

    def __repr__(self) -> str:
        parts = [repr(self.nonlinearity)]
        parts += [f"{name}=<array of shape {array.shape}>" for name, array in self._arrays.items()]
        if self.mu is None and self.overlaps != Overlaps():
            parts.append(f"overlaps={self.overlaps!r}")
        parts += [f"{p.name}={p!r}" for p in (self._diagonal, self._skip) if repr(p) != "0"]
        return f"Attention({', '.join(parts)})"

    @property
    def equations(self) -> EquationSystem:
        """The equations in the two functions by which the weights enter, for tokens of covariance I.

        Raises
        ------
        ValueError
            If the model has a covariance.
        """
        if self.covariance is not None:
            raise ValueError("equations: got a covariance; allowed: none (see derivations/15_any_weights.py)")
        return equations()

    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        if p != self.p:
            raise ValueError(f"p: got {p}; allowed: {self.p}, the dimension of the weights")
        if draws["mu"] is not None and self.mu is not None and not np.array_equal(draws["mu"], self.mu):
            raise ValueError("mu: got another vector than the model's; allowed: the model's own, or None")
        return attention_specification(
            self.nonlinearity,
            self.overlaps.floats(),
            n,
            p,
            gammas,
            diagonal=one_number(self._diagonal),
            skip=one_number(self._skip),
            weights=np.eye(self.p) if self.weights is None else self.weights,
            covariance=self.covariance,
            **({**draws, "mu": self.mu} if draws["mu"] is None else draws),
        )

    def _signal(self, point: WeightsPoint, strength: float) -> Forms | None:
        """Return what the signal's response sees of X, None without a signal."""
        if strength == 0:
            return None
        blocks, basis = self._blocks
        inverse = blocks.at(point.g)
        if self.mu is None:
            forms = inverse.trace(inverse_covariance=self.covariance is not None)
            return Forms(strength * forms.value, strength * forms.products)
        if basis is None:
            return inverse.form(self.mu)
        vector = basis.T @ self.mu
        left_out = len(self.mu) > basis.shape[1]
        return inverse.form(vector, max(strength - float(vector @ vector), 0.0) if left_out else 0.0)

    def _points(self, values: Mapping[str, Array]) -> list[WeightsPoint | None]:
        """Solve all points that are not solved yet; one path serves the ridges of points with equal c and kappa."""
        eta, eps = float(self._eta.floats), float(self._eps)
        places = [
            (Limits(c, kappa, eta, eps), gamma)
            for c, kappa, gamma in zip(*(values[name].tolist() for name in ("c", "kappa", "gamma")), strict=True)
        ]
        missing: dict[Limits, dict[float, None]] = {}
        for limits, gamma in places:
            if (limits, gamma) not in self._solved:
                missing.setdefault(limits, {})[gamma] = None
        for limits, gammas in missing.items():
            system = WeightsSystem(self._blocks[0], limits)
            for gamma, path in zip(gammas, follow(system, list(gammas), system.largest), strict=True):
                self._solved[limits, gamma] = None if path is None else WeightsPoint(path, limits)
        return [self._solved[place] for place in places]

    def _solve_grid(self, values: Mapping[str, Array]) -> Solution:
        size = values["c"].size
        found = {name: np.full(size, np.nan) for name in VALUES}
        residual, steps = np.full(size, np.nan), np.zeros(size, dtype=int)
        outcome = np.full(size, Outcome.NOT_CONVERGED, dtype=object)
        for index, point in enumerate(self._points(values)):
            if point is None:
                continue
            forms = self._signal(point, float(values["mu_mu"][index]))
            q, error = point.observables(forms)
            noise = point.noise(forms, error)
            if not noise < LOST:
                continue
            g, c = point.g, point.limits.c
            for name, value in zip(VALUES, (g[0, 0], q, error, -(c**2) * g[1, 1], c * g[0, 1]), strict=True):
                found[name][index] = value
            residual[index], steps[index] = point.path.residual, point.path.steps
            outcome[index] = Outcome.CONVERGED if noise <= REDUCED else Outcome.REDUCED
        return Solution(found, residual, outcome, steps=steps)

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        if self.covariance is not None or self.weights is None:
            raise ValueError(f"digits: got {digits} with a covariance; allowed with one: None, double precision")
        require_digits(self.nonlinearity, digits)
        at = {name: np.array([float(real)]) for name, real in values.items()}
        (point,) = self._points(at)
        return solve_point(
            self.nonlinearity, self.weights, self.mu, values, None if point is None else point.g, digits
        )

    def _freedom_grid(self, values: Mapping[str, Array]) -> Array:
        blocks = self._blocks[0]
        return np.array(
            [np.nan if point is None else point.freedom(blocks.at(point.g).trace()) for point in self._points(values)]
        )


def _product(a: Any, b: Any) -> Any:
    return a * b
