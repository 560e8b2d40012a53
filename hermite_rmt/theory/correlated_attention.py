"""Attention on correlated tokens: the tokens of a sequence have a stationary correlation T."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Outcome, Solution
from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.correlation import CorrelatedTokens, TokenCorrelation
from hermite_rmt.simulation.tokens import TokenModel
from hermite_rmt.simulation.trial import Specification
from hermite_rmt.solvers.correlated import CorrelatedSystem
from hermite_rmt.solvers.ridge_path import PathPoint, follow
from hermite_rmt.theory.centred import read_centred
from hermite_rmt.theory.correlated_kernel import CorrelatedKernel
from hermite_rmt.theory.model import OBSERVABLES, one_number
from hermite_rmt.theory.overlaps import Overlaps, read_overlaps
from hermite_rmt.theory.simulated import SimulatedModel

_FREQUENCIES = (64, 4096)  # first and largest number of frequencies
# Relative changes of E, q and m when their number doubles: where it stops, what is promised, what may be used
_AGREE, _PROMISED, _REDUCED = 1e-11, 1e-9, 1e-6
_SMALL_AMPLITUDE = 0.05  # of f, relative to sqrt(gamma), where the path starts


class CorrelatedAttention(SimulatedModel):
    """Attention on tokens X = mu y^T + Z_0 T^{1/2}, T_ij = t_|i-j|; made by `Attention(f, token_correlation=...)`.

    The noise is correlated along the sequence, not across the entries of a token.

    In the limit K = a_1 X^T (I + w_K w_Q^T) X/p + D + H, where D is the Toeplitz matrix of what the entries near the
    diagonal, f(sqrt(p) t_j)/sqrt(p), have in excess of a_1 t_j, and E[H M H] = (1/p) sum_{k>=2} a_k^2 T^{.k}
    tr(T^{.k} M) with T^{.k} the entrywise power: every Hermite coefficient matters. All blocks of the pencil become
    functions of the frequency (derivations/16_correlated_tokens.py). The gap to finite n is of order log(p)/sqrt(p);
    most of it comes from the band around the diagonal, whose mean at a given p can be kept.

    Parameters
    ----------
    f : Nonlinearity or what it takes; centred, and growing no faster than linearly
    token_correlation : rho of t_j = rho^j, or the lags [t_1, ..., t_L], zero beyond
    overlaps, diagonal, skip : as for `Attention`
    label_frequency : omega for labels y_i of that frequency (pi: alternating); None: independent of the positions
    band_at : dimension p at which the mean of the near-diagonal band is kept; None: its limit

    Raises
    ------
    ValueError
        If f is not centred or grows faster than linearly, or the correlation is not positive definite.

    >>> model = CorrelatedAttention("tanh(x)", 0.3)
    >>> round(model.trace(c=0.5, gamma=0.1), 6)
    7.000357
    """

    name: ClassVar[str] = "correlated_attention"

    def __init__(
        self,
        f: Any,
        token_correlation: Any,
        overlaps: Any = None,
        diagonal: Any = 0,
        skip: Any = 0,
        label_frequency: Any = None,
        band_at: int | None = None,
    ) -> None:
        self.nonlinearity = read_centred(f)
        self.correlation = TokenCorrelation.read(token_correlation)
        self.overlaps: Overlaps = read_overlaps(overlaps)
        self._diagonal = Parameter(diagonal, "diagonal")
        self._skip = Parameter(skip, "skip")
        self._frequency = None if label_frequency is None else Parameter(label_frequency, "label_frequency")
        if band_at is not None and (isinstance(band_at, bool) or not isinstance(band_at, int) or band_at < 1):
            raise ValueError(f"band_at: got {band_at!r}; allowed: a dimension p, or None for the limit")
        self.kernel = CorrelatedKernel(self.nonlinearity, self.correlation, band_at)
        _ = self.kernel.slopes  # refuses an f that grows too fast

    def parameters(self) -> Mapping[str, Parameter]:
        """Return diagonal, skip, the six overlaps and, where it is given, label_frequency."""
        named = {"diagonal": self._diagonal, "skip": self._skip, **self.overlaps.parameters}
        return named if self._frequency is None else {**named, "label_frequency": self._frequency}

    def _solve_grid(self, values: Mapping[str, np.ndarray]) -> Solution:
        count = values["c"].size
        numbers, residual = np.full((count, len(OBSERVABLES)), np.nan), np.full(count, np.nan)
        outcome, steps = np.full(count, Outcome.NOT_CONVERGED, dtype=object), np.zeros(count, dtype=int)
        points = [{name: float(array[index]) for name, array in values.items()} for index in range(count)]
        groups: dict[tuple[float, ...], list[int]] = {}
        for index, point in enumerate(points):
            groups.setdefault(tuple(point[name] for name in ("c", "diagonal", "skip")), []).append(index)
        for members in groups.values():  # one path serves all ridges
            rows, changes, paths = self._converged([points[index] for index in members])
            for index, row, change, path in zip(members, rows, changes, paths, strict=True):
                if path is None:
                    continue
                residual[index], steps[index] = path.residual, path.steps
                if change <= _REDUCED:
                    numbers[index] = row
                    outcome[index] = Outcome.CONVERGED if change <= _PROMISED else Outcome.REDUCED
        return Solution(dict(zip(OBSERVABLES, numbers.T.copy(), strict=True)), residual, outcome, steps=steps)

    def _converged(self, points: list[dict[str, float]]) -> tuple[np.ndarray, np.ndarray, list[PathPoint | None]]:
        """Double the number of frequencies until the observables of all points that are solved stay the same.

        Returns
        -------
        The observables, (points, 3), nan where the path ended; the largest relative change of each point's with the
        last doubling, which shows rounding errors as well; and the paths' ends
        """
        size, last = _FREQUENCIES
        previous = np.full((len(points), len(OBSERVABLES)), np.inf)
        while True:
            frequencies = 2 * np.pi * np.arange(size) / size
            system, largest = self._system(frequencies, points[0])
            paths = follow(system, [point["gamma"] for point in points], largest)
            numbers = np.full(previous.shape, np.nan)
            for row, path, point in zip(numbers, paths, points, strict=True):
                if path is not None:
                    labels = _labels(point.get("label_frequency"), frequencies)
                    row[:] = system.observables(path, _gram(point), labels)
            changes = np.asarray((np.abs(numbers - previous) / np.abs(numbers)).max(axis=1))
            if size == last or ((changes <= _AGREE) | np.isnan(changes)).all():
                return numbers, changes, paths
            size, previous = 2 * size, numbers

    def _system(self, frequencies: np.ndarray, point: Mapping[str, float]) -> tuple[CorrelatedSystem, float]:
        """Return the equations at some frequencies, and a ridge that is large for them."""
        c = point["c"]
        kappa = point["diagonal"] + point["skip"] - self.kernel.a1 + self.kernel.band(frequencies)
        symbol = self.correlation.symbol(frequencies)
        system = CorrelatedSystem(c, self.kernel.a1, symbol, kappa, self.kernel.features(frequencies))
        energy = (self.nonlinearity.nu() + float(np.max(kappa**2))) * float(symbol.max()) ** 2
        return system, energy * max(1.0, c**-2) / _SMALL_AMPLITUDE**2

    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        """Labels of a `label_frequency` are sqrt(2) cos(omega i), rescaled to norm sqrt(n)."""
        if draws["labels"] is None and self._frequency is not None:
            wave = np.cos(one_number(self._frequency) * np.arange(n))
            draws["labels"] = wave * math.sqrt(n) / np.linalg.norm(wave)
        diagonal, skip = one_number(self._diagonal), one_number(self._skip)
        overlaps = self.overlaps.floats()
        plain = attention_specification(
            self.nonlinearity, overlaps, n, p, gammas, diagonal=diagonal, skip=skip, **draws
        )
        assert isinstance(plain.tokens, TokenModel)
        return replace(plain, tokens=CorrelatedTokens(plain.tokens, self.correlation))

    def describe(self) -> dict[str, str]:
        """Return the model and its parameters as plain text."""
        own = {"f": str(self.nonlinearity), "token_correlation": str(self.correlation.given)}
        return {
            **super().describe(),
            **own,
            **({} if self.kernel.band_at is None else {"band_at": str(self.kernel.band_at)}),
        }

    def __repr__(self) -> str:
        parts = [repr(self.nonlinearity), repr(self.correlation.given)]
        if self.overlaps != Overlaps():
            parts.append(f"overlaps={self.overlaps!r}")
        parts += [f"{p.name}={p!r}" for p in (self._diagonal, self._skip) if repr(p) != "0"]
        parts += [] if self._frequency is None else [f"label_frequency={self._frequency!r}"]
        parts += [] if self.kernel.band_at is None else [f"band_at={self.kernel.band_at}"]
        return f"CorrelatedAttention({', '.join(parts)})"


def _gram(point: Mapping[str, float]) -> np.ndarray:
    mm, mk, mq, kk, qq, kq = (point[name] for name in Overlaps.NAMES)
    return np.array([[mm, mk, mq], [mk, kk, kq], [mq, kq, qq]])


def _labels(frequency: float | None, frequencies: np.ndarray) -> np.ndarray:
    """Return weights that give the mean, or the value at a frequency by trigonometric interpolation."""
    size = len(frequencies)
    if frequency is None:
        return np.full(size, 1 / size)
    orders = np.arange(1, size // 2)
    even = np.cos(np.multiply.outer(orders, frequencies)).T @ np.cos(orders * frequency)
    highest = np.cos(size // 2 * frequencies) * math.cos(size // 2 * frequency)
    return np.asarray((1 + 2 * even + highest) / size)
