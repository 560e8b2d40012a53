"""What correlated tokens see of a nonlinearity: the noise's features and the band around the kernel's diagonal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.correlation import TokenCorrelation

_ORDER = 400  # Hermite coefficients at most
_SMALL = 1e-14  # of the noise's energy that may be taken as white
_RANK = 1e-9  # relative size of a singular value that is dropped: its square enters
_NEGLIGIBLE = 1e-17  # of a correlation beside 1
_LINEAR = 1e-6  # mean of a score whose square no longer shows in E f(score) beside a_1 times that mean
_FAR = 1e100  # where f has the slope that it has at infinity


@dataclass(frozen=True)
class CorrelatedKernel:
    """The limit of K = a_1 X^T X/p + D + H on correlated tokens, at frequencies.

    Attributes
    ----------
    f : centred, growing no faster than linearly
    correlation : of the tokens
    band_at : dimension p at which the mean of the entries near the diagonal is kept; None: its limit
    """

    f: Nonlinearity
    correlation: TokenCorrelation
    band_at: int | None = None

    @property
    def a1(self) -> float:
        """a_1 of f."""
        return float(self._expansion[0][1])

    @cached_property
    def _expansion(self) -> tuple[np.ndarray, float]:
        """The coefficients that correlations can see, and the energy beyond, for which T^{.k} is 1 to rounding."""
        strength, nu = self.correlation.strength, self.f.nu()
        order = 1
        while True:
            coefficients = np.array(self.f.coefficients(order))
            rest = max(nu - float(np.sum(coefficients**2)), 0.0)
            if rest * strength ** (order + 1) <= _SMALL * nu or order == _ORDER:
                return coefficients, rest
            order = min(4 * order + 4, _ORDER)

    def features(self, frequencies: np.ndarray) -> np.ndarray:
        """Return few phi_r with sum_r phi_r phi_r' = sum_{k>=2} a_k^2 t_k t_k', by a singular value decomposition."""
        coefficients, rest = self._expansion
        stack = [a * self.correlation.symbol(frequencies, k) for k, a in enumerate(coefficients) if k >= 2 and a]
        stack.append(np.full(len(frequencies), math.sqrt(rest)))
        _, sizes, directions = np.linalg.svd(np.array(stack), full_matrices=False)
        kept = sizes > _RANK * max(sizes[0], np.finfo(float).tiny)
        return np.asarray(sizes[kept, None] * directions[kept])

    def band(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the symbol of what the entries near the diagonal have in excess of a_1 t_j."""
        lags = self._excess
        return np.asarray(2 * lags @ np.cos(np.multiply.outer(np.arange(1, len(lags) + 1), frequencies)))

    @cached_property
    def slopes(self) -> tuple[float, float]:
        """Lim f(x)/x for x -> -infinity and infinity: what the entries beside the diagonal keep.

        Raises
        ------
        ValueError
            If f grows faster than linearly.
        """
        return _slope(self.f, -1.0), _slope(self.f, 1.0)

    @cached_property
    def _excess(self) -> np.ndarray:
        a1, (below, above) = self.a1, self.slopes
        if self.band_at is None:
            t = self.correlation.visible(_NEGLIGIBLE)
            return np.where(t > 0, above, below) * t - a1 * t
        root = math.sqrt(self.band_at)
        t = self.correlation.visible(_LINEAR / root)
        # the score of tokens with correlation t is sqrt(p) t + sqrt(1 + t^2) xi, to leading order
        widths = np.sqrt(1 + t**2)
        means = [self.f.scaled(w).shifted(root * lag / w).mean() for lag, w in zip(t, widths, strict=True)]
        return np.array(means) / root - a1 * t


def _slope(f: Nonlinearity, sign: float) -> float:
    try:
        near, far = (float(f(sign * x)) / (sign * x) for x in (math.sqrt(_FAR), _FAR))
    except ValueError:
        near, far = 0.0, math.inf
    if not abs(near - far) <= 1e-6 * max(1.0, abs(near)):
        raise ValueError(
            f"f: got {f}, which grows faster than linearly (or is not real far out); allowed: at most linear growth, "
            "since entries beside the diagonal have scores of size sqrt(p)"
        )
    return far
