"""Estimates: means of independent trials with their standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from hermite_rmt.core.solution import html_table
from hermite_rmt.simulation.checks import Array


@dataclass(frozen=True, eq=False, repr=False)
class Statistic:
    """Independent samples of one quantity.

    Attributes
    ----------
    samples : one value a trial

    >>> Statistic(np.array([1.0, 2.0, 3.0]))
    2.00 +/- 0.58 (3 trials)
    """

    samples: Array

    def _repr_html_(self) -> str:
        return html_table({"mean": repr(self), "samples": f"{len(self.samples)}"})

    @property
    def mean(self) -> float:
        """The mean of the samples."""
        return float(np.mean(self.samples))

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of one trial, estimated; nan for one trial, which tells nothing about it."""
        return float(np.std(self.samples, ddof=1)) if len(self.samples) > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; nan for one trial."""
        return self.standard_deviation / math.sqrt(len(self.samples))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return Student's confidence interval of the mean; the whole line for one trial.

        Raises
        ------
        ValueError
            If `level` is not between 0 and 1.

        >>> low, high = Statistic(np.array([1.0, 2.0, 3.0])).interval(0.95)
        >>> round(low, 3), round(high, 3)
        (-0.484, 4.484)
        """
        if not 0 < level < 1:
            raise ValueError(f"level: got {level!r}; allowed: a number between 0 and 1")
        trials = len(self.samples)
        if trials == 1:
            return -math.inf, math.inf
        half = float(stdtrit(trials - 1, (1 + level) / 2)) * self.standard_error
        return self.mean - half, self.mean + half

    def __repr__(self) -> str:
        trials, error = len(self.samples), self.standard_error
        if trials == 1:
            return f"{self.mean:.6g} (1 trial)"
        # two digits of the standard error, and the mean to the same place
        places = 1 - math.floor(math.log10(error)) if error > 0 else 99
        if places > 12:
            return f"{self.mean:.12g} +/- {error:.2g} ({trials} trials)"
        places = max(places, 0)
        return f"{self.mean:.{places}f} +/- {error:.{places}f} ({trials} trials)"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """A simulated model at one (n, p, gamma).

    Attributes
    ----------
    error : interpolation error E
    quadratic_form : y^T Q y / n
    trace : tr Q / n
    n, p, gamma : where it was simulated
    """

    error: Statistic
    quadratic_form: Statistic
    trace: Statistic
    n: int
    p: int
    gamma: float

    @property
    def c(self) -> float:
        """The realised ratio p/n, at which theory is to be evaluated beside this estimate."""
        return self.p / self.n

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {getattr(self, name)}" for name in ("error", "quadratic_form", "trace"))
        return f"<Estimate at n={self.n}, p={self.p}, gamma={self.gamma:g}: {found}>"

    def _repr_html_(self) -> str:
        rows = {name: repr(getattr(self, name)) for name in ("error", "quadratic_form", "trace")}
        return html_table({**rows, "simulated at": f"n = {self.n}, p = {self.p}, gamma = {self.gamma:g}"})

    @property
    def trials(self) -> int:
        """The number of trials."""
        return len(self.error.samples)
