"""One trial of a simulation, as a picklable function for any executor, and the summary of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.estimate import Estimate, Statistic
from hermite_rmt.simulation.ridge import RidgeValues, ridge_values
from hermite_rmt.simulation.tokens import Tokens, TokenSource


@dataclass(frozen=True, eq=False)
class Specification:
    """Everything a trial needs but its seed; pickles if `features` does.

    Attributes
    ----------
    tokens : law of the tokens
    features : Tokens -> array of shape (number of features, n), such as `AttentionFeatures` or any function of yours
    gammas : ridge parameters, all computed from one draw
    """

    tokens: TokenSource
    features: Callable[[Tokens], Array]
    gammas: tuple[float, ...]


TrialResult = RidgeValues


def run_trial(specification: Specification, seed: np.random.SeedSequence) -> TrialResult:
    """Draw tokens, build features, solve: one independent sample of error, quadratic form and trace at each gamma.

    Depends on its two arguments alone, so trials may run anywhere and in any order.
    """
    tokens = specification.tokens.draw(seed)
    return ridge_values(specification.features(tokens), tokens.y, specification.gammas)


def summarise(specification: Specification, results: Iterable[TrialResult]) -> list[Estimate]:
    """Return one estimate a gamma from the results of the trials, in their order."""
    collected = list(results)
    error = np.array([result.error for result in collected])
    quadratic_form = np.array([result.quadratic_form for result in collected])
    trace = np.array([result.trace for result in collected])
    n, p = specification.tokens.n, specification.tokens.p
    return [
        Estimate(Statistic(error[:, k]), Statistic(quadratic_form[:, k]), Statistic(trace[:, k]), n, p, gamma)
        for k, gamma in enumerate(specification.gammas)
    ]
