"""Stationary correlations between tokens: Toeplitz matrices, their symbols and tokens drawn with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from hermite_rmt.simulation.checks import Array, finite_number, real_array
from hermite_rmt.simulation.tokens import TransformedTokens

_GRID = 4096  # frequencies at which a banded correlation must be positive


@dataclass(frozen=True)
class TokenCorrelation:
    """The correlation T_ij = t_|i-j| of tokens in a sequence, t_0 = 1: geometric, t_j = rho^j, or a few lags.

    Attributes
    ----------
    rho : of a geometric correlation, else None
    lags : (t_1, ..., t_L), zero beyond, else ()
    """

    rho: float | None = None
    lags: tuple[float, ...] = ()

    @classmethod
    def read(cls, value: Any) -> TokenCorrelation:
        """Return the correlation for a number rho or a sequence of lags (t_1, ..., t_L).

        Raises
        ------
        ValueError
            If |rho| >= 1, or the Toeplitz matrices are not positive definite.

        >>> TokenCorrelation.read(0.5).symbol(np.array([0.0, np.pi])).round(12).tolist()
        [3.0, 0.333333333333]
        >>> TokenCorrelation.read([0.25]).symbol(np.array([0.0, np.pi])).tolist()
        [1.5, 0.5]
        """
        if isinstance(value, TokenCorrelation):
            return value
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
            rho = finite_number(value, "token_correlation")
            if not -1 < rho < 1:
                raise ValueError(
                    f"token_correlation: got {rho}; allowed: a number between -1 and 1, or a list of lags"
                )
            return cls(rho=rho)
        lags = tuple(real_array(value, np.shape(value), "token_correlation").tolist())
        if np.ndim(value) != 1:
            raise ValueError(f"token_correlation: got shape {np.shape(value)}; allowed: a number, or a list of lags")
        made = cls(lags=lags)
        frequencies = 2 * np.pi * np.arange(_GRID) / _GRID
        symbol = made.symbol(frequencies)
        if symbol.min() <= 0:
            raise ValueError(
                f"token_correlation: got the lags {list(lags)}, whose symbol is {symbol.min():.6g} at the frequency "
                f"{frequencies[symbol.argmin()]:.4g}; allowed: lags of a positive definite correlation"
            )
        return made

    def symbol(self, frequencies: Array, power: int = 1) -> Array:
        """Return sum_j t_j^power e^(i j omega), the symbol of the entrywise power of T."""
        if self.rho is not None:
            rho = self.rho**power
            return np.asarray((1 - rho**2) / (1 - 2 * rho * np.cos(frequencies) + rho**2))
        angles = np.multiply.outer(np.arange(1, len(self.lags) + 1), frequencies)
        return np.asarray(1 + 2 * np.array(self.lags, dtype=float) ** power @ np.cos(angles))

    @property
    def given(self) -> float | list[float]:
        """What `read` makes this correlation from."""
        return self.rho if self.rho is not None else list(self.lags)

    def visible(self, smallest: float) -> Array:
        """Return t_1, t_2, ... without a tail of correlations below `smallest`."""
        if self.rho is None:
            return self.first(len(self.lags) + 1)[1:]
        count = 1 + math.ceil(math.log(smallest) / math.log(abs(self.rho))) if self.rho else 1
        return self.first(count)[1:]

    def first(self, count: int) -> Array:
        """Return t_0, ..., t_(count-1)."""
        if self.rho is not None:
            return np.asarray(self.rho ** np.arange(count))
        values = np.zeros(count)
        known = (1.0, *self.lags)[:count]
        values[: len(known)] = known
        return values

    @property
    def strength(self) -> float:
        """The largest |t_j|, j > 0."""
        return abs(self.rho) if self.rho is not None else max(map(abs, self.lags), default=0.0)

    def factor(self, n: int) -> Array:
        """Return the lower triangular L with L L^T = T, n x n."""
        return np.asarray(scipy.linalg.cholesky(scipy.linalg.toeplitz(self.first(n)), lower=True))


@dataclass(frozen=True, eq=False)
class CorrelatedTokens(TransformedTokens):
    """Tokens X = mu y^T + Z_0 T^{1/2}: those of a `TokenModel` with correlated columns of the noise.

    Attributes
    ----------
    model : the law of uncorrelated tokens
    correlation : of the tokens
    """

    correlation: TokenCorrelation

    def transformed(self, noise: Array) -> Array:
        """Return Z_0 L^T, L L^T = T: of the same law as Z_0 T^{1/2}."""
        return np.asarray(noise @ self.correlation.factor(self.n).T)
