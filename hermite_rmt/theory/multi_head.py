"""Several attention heads side by side on the same scores, with features stacked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import sympy

from hermite_rmt.core.derived import Derived, EnergyGap
from hermite_rmt.core.numbers import Real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Solution
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions, joint_family
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.features import AttentionFeatures, StackedFeatures
from hermite_rmt.simulation.trial import Specification
from hermite_rmt.theory.attention import kernel_constant
from hermite_rmt.theory.centred import energy, linear_part, mixed_energy, read_centred, require_digits
from hermite_rmt.theory.derived_model import DerivedModel
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent
from hermite_rmt.theory.model import one_number
from hermite_rmt.theory.overlaps import Overlaps, read_overlaps
from hermite_rmt.theory.simulated import SimulatedModel

_N, _P = dimensions("n p")
Y, MU, W_K, W_Q = Vector("y", _N, norm="sqrt"), Vector("mu", _P), Vector("w_K", _P), Vector("w_Q", _P)
_PAIRS = {
    "mu_mu": (MU, MU),
    "mu_K": (MU, W_K),
    "mu_Q": (MU, W_Q),
    "K_K": (W_K, W_K),
    "Q_Q": (W_Q, W_Q),
    "K_Q": (W_K, W_Q),
}


@cache
def equivalent(heads: int, signal: bool = True) -> DeterministicEquivalent:
    """Return the deterministic equivalent of Q = (sum_h K_h^T X^T X K_h/n + gamma I)^-1.

    K_h = a_h X^T (I + w_K w_Q^T) X/p + kappa_h I + W_h, where the W_h are jointly GOE with covariances C_hk/c,
    C_hk = E f_h f_k - a_h a_k: all heads expand the same scores in Hermite polynomials. Without a signal X = Z, and
    the weights do not matter.
    """
    c, gamma = sympy.symbols("c gamma", positive=True)
    X, scores = Gaussian("Z", _P, _N), sympy.Identity(_P)
    if signal:
        X, scores = X + MU * Y.T, scores + W_K * W_Q.T
    names = range(1, heads + 1)
    covariance = [[sympy.Symbol(f"C_{min(h, k)}_{max(h, k)}", real=True) / c for k in names] for h in names]
    noise = joint_family(GOE, " ".join(f"W_{h}" for h in names), _N, covariance=covariance)
    gram = gamma * sympy.Identity(_N)
    for h in names:
        a, kappa = sympy.symbols(f"a1_{h} kappa_{h}", real=True)
        K = a * X.T * scores * X / _P + kappa * sympy.Identity(_N) + noise[h - 1]
        gram = gram + K.T * X.T * X * K / _N
    return deterministic_equivalent(gram.inv(), ratios={_P: c * _N})


class MultiHeadAttention(DerivedModel, SimulatedModel):
    """Ridge regression on the stacked outputs A = (X K_1; ...; X K_H) of attention heads with the same scores.

    Every K_h = f_h(X^T (I + w_K w_Q^T) X / sqrt(p)) / sqrt(p), its diagonal replaced by `diagonal`, plus `skip` times
    the identity, as in `Attention`. The limit sees each head's a_1 and, because the scores are shared, all mixed
    energies E f_h f_k. The engine derives the equations and solves them point by point: the number of unknowns grows
    with the square of the number of heads (12 for one, 25 for two, 43 for three, before reduction).

    Parameters
    ----------
    functions : the heads' nonlinearities, each a `Nonlinearity` or what it takes; centred
    overlaps, diagonal, skip : as for `Attention`, the same for all heads

    Raises
    ------
    ValueError
        If there is no head, or a nonlinearity is not centred or not square integrable.

    >>> heads = MultiHeadAttention(["tanh(x)", Nonlinearity("relu(x)").centred()])
    >>> round(heads.trace(c=0.5, gamma=0.1), 6)
    5.168236
    """

    name: ClassVar[str] = "multi_head_attention"

    def __init__(self, functions: Iterable[Any], overlaps: Any = None, diagonal: Any = 0, skip: Any = 0) -> None:
        if isinstance(functions, (str, Nonlinearity)) or not isinstance(functions, Iterable):
            raise TypeError(f"functions: got {functions!r}; allowed: a list of nonlinearities, one a head")
        self.nonlinearities: tuple[Nonlinearity, ...] = tuple(read_centred(f, "functions") for f in functions)
        if not self.nonlinearities:
            raise ValueError("functions: got none; allowed: one nonlinearity a head, at least one")
        self.overlaps: Overlaps = read_overlaps(overlaps)
        self._diagonal = Parameter(diagonal, "diagonal")
        self._skip = Parameter(skip, "skip")
        heads = list(enumerate(self.nonlinearities, start=1))
        self._a1 = {h: Parameter(linear_part(f), f"a1_{h}") for h, f in heads}
        self._energies = {
            (h, k): Parameter(energy(f) if h == k else mixed_energy(f, g), f"energy_{h}_{k}")
            for h, f in heads
            for k, g in heads[h - 1 :]
        }

    def parameters(self) -> Mapping[str, Parameter]:
        """Return each head's a1, the energies E f_h f_k, diagonal, skip and the six overlaps by name."""
        own = (*self._a1.values(), *self._energies.values(), self._diagonal, self._skip)
        return {**{parameter.name: parameter for parameter in own}, **self.overlaps.parameters}

    def derived(self) -> Mapping[str, Parameter]:
        """Return kappa_h = diagonal + skip - a1_h and C_hk = E f_h f_k - a1_h a1_k for all heads."""
        kappas = [kernel_constant(f"kappa_{h}", self._diagonal, self._skip, a1) for h, a1 in self._a1.items()]
        gaps = [
            EnergyGap(self._a1[h], both, f"C_{h}_{k}")
            if h == k
            else Derived(f"C_{h}_{k}", (both, self._a1[h], self._a1[k]), _rest, _rest)
            for (h, k), both in self._energies.items()
        ]
        return {parameter.name: parameter for parameter in (*kappas, *gaps)}

    @property
    def equivalent(self) -> DeterministicEquivalent:
        """The engine's deterministic equivalent of Q; see the function `equivalent`."""
        return equivalent(len(self.nonlinearities), self.labels is not None)

    @property
    def labels(self) -> Vector | None:
        """The vector y; None without a signal."""
        return Y if self.overlaps.parameters["mu_mu"].floats.any() else None

    def gram(self, values: Mapping[str, Any]) -> Mapping[tuple[Vector, Vector], Any]:
        """Return the overlaps of mu, w_K and w_Q."""
        return {pair: values[name] for name, pair in _PAIRS.items()}

    def _solve_point(self, values: Mapping[str, Real], digits: int) -> Solution:
        for f in self.nonlinearities:
            require_digits(f, digits)
        return super()._solve_point(values, digits)

    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        diagonal, skip = one_number(self._diagonal), one_number(self._skip)
        first, overlaps = self.nonlinearities[0], self.overlaps.floats()
        single = attention_specification(first, overlaps, n, p, gammas, diagonal=diagonal, skip=skip, **draws)
        stacked = StackedFeatures(tuple(AttentionFeatures(f, diagonal, skip) for f in self.nonlinearities))
        return replace(single, features=stacked)

    def describe(self) -> dict[str, str]:
        """Return the model and its parameters as plain text, with the nonlinearities."""
        return {**super().describe(), "functions": ", ".join(map(str, self.nonlinearities))}

    def __repr__(self) -> str:
        parts = [f"[{', '.join(map(repr, self.nonlinearities))}]"]
        if self.overlaps != Overlaps():
            parts.append(f"overlaps={self.overlaps!r}")
        parts += [f"{p.name}={p!r}" for p in (self._diagonal, self._skip) if repr(p) != "0"]
        return f"MultiHeadAttention({', '.join(parts)})"


def _rest(energy: Any, a: Any, b: Any) -> Any:
    return energy - a * b
