"""One trial of a simulation, as a picklable function for any executor, and the estimates from many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.estimate import Estimate, Statistic
from hermite_rmt.simulation.ridge import RidgeValues, ridge_values
from hermite_rmt.simulation.seeds import Seed, trial_seeds
from hermite_rmt.simulation.tokens import Tokens, TokenSource

#: What one trial gives.
TrialResult = RidgeValues
Progress = Callable[[int, int], None]
_watcher: ContextVar[Progress | None] = ContextVar("watcher", default=None)


@dataclass(frozen=True, eq=False)
class Specification:
    """Everything a trial needs but its seed; pickles if its parts do.

    Attributes
    ----------
    tokens : law of the tokens: `TokenModel`, `EmbeddingTokens`, or any other object with n, p and draw(seed)
    features : Tokens -> array of shape (number of features, n): `AttentionFeatures`, or any other function
    gammas : ridge parameters, all computed from one draw
    """

    tokens: TokenSource
    features: Callable[[Tokens], Array]
    gammas: tuple[float, ...]


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


def simulate(specification: Specification, trials: int = 10, rng: Seed = None) -> list[Estimate]:
    """Run independent trials in turn, and return one estimate a gamma.

    Parameters
    ----------
    specification : tokens, features and gammas, yours or those of `attention_specification`
    trials : number of trials; with one there is no standard error (nan)
    rng : None, an int, a SeedSequence or a Generator; trial k depends on the seed and on k alone

    Features of one's own, here of two heads without weights side by side:

    >>> from hermite_rmt.simulation.attention import attention_specification
    >>> from hermite_rmt.simulation.features import AttentionFeatures
    >>> heads = [AttentionFeatures(np.tanh), AttentionFeatures(np.sign)]
    >>> tokens = attention_specification(np.tanh, None, n=40, p=20, gammas=[0.1]).tokens
    >>> both = Specification(tokens, lambda drawn: np.vstack([head(drawn) for head in heads]), (0.1,))
    >>> estimate, = simulate(both, trials=3, rng=0)
    >>> estimate.n, estimate.p, estimate.trials
    (40, 20, 3)
    """
    report = _watcher.get() or (lambda done, total: None)
    seeds = trial_seeds(rng, trials)
    results = []
    report(0, trials)
    for seed in seeds:
        results.append(run_trial(specification, seed))
        report(len(results), trials)
    return summarise(specification, results)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Call `progress` with (trials done, trials in all) during every simulation inside, of whatever model.

    >>> from hermite_rmt.simulation.attention import simulate_attention
    >>> with watched(lambda done, total: print(f"{done}/{total}")):
    ...     estimates = simulate_attention(np.tanh, None, n=20, p=10, gammas=[0.1], trials=2, rng=0)
    0/2
    1/2
    2/2
    """
    token = _watcher.set(progress)
    try:
        yield
    finally:
        _watcher.reset(token)
