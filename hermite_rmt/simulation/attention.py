"""Nonlinear attention at finite n and p."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermite_rmt.simulation.checks import Array, finite_number, positive_gammas, real_array
from hermite_rmt.simulation.covariance import CovariantTokens, read_covariance, score_size
from hermite_rmt.simulation.estimate import Estimate
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.noise import Noise
from hermite_rmt.simulation.seeds import Seed
from hermite_rmt.simulation.tokens import token_model
from hermite_rmt.simulation.trial import Specification, simulate


def attention_specification(
    f: Callable[[Array], Any],
    overlaps: Sequence[float] | None,
    n: int,
    p: int,
    gammas: Sequence[float],
    *,
    labels: Any = None,
    noise: Noise = "gaussian",
    mu: Any = None,
    w_K: Any = None,
    w_Q: Any = None,
    diagonal: float | None = 0.0,
    skip: float = 0.0,
    weights: Any = None,
    covariance: Any = None,
) -> Specification:
    """Check the arguments of `simulate_attention` and return what its trials run on.

    >>> import numpy as np
    >>> attention_specification(np.tanh, None, 8, 4, [0.1]).gammas
    (0.1,)
    """
    if not callable(f):
        raise TypeError(f"f: got {f!r}; allowed: a function of arrays")
    tokens = token_model(n, p, overlaps, (mu, w_K, w_Q), labels, noise)
    matrix = None if weights is None else _read_weights(weights, p)
    sigma = None if covariance is None else read_covariance(covariance, p)
    if sigma is not None and matrix is None:
        raise ValueError("covariance: got one without weights; allowed: weights beside it, such as the identity")
    features = AttentionFeatures(
        f,
        None if diagonal is None else finite_number(diagonal, "diagonal"),
        finite_number(skip, "skip"),
        matrix,
        None if matrix is None else score_size(matrix, sigma),
    )
    if weights is not None and (tokens.gram[1:].any() or w_K is not None or w_Q is not None):
        raise ValueError(
            "weights: got a matrix beside w_K, w_Q; allowed: weights alone, with no overlap of w_K or w_Q"
        )
    law = tokens if sigma is None else CovariantTokens(tokens, sigma)
    return Specification(law, features, positive_gammas(gammas))


def _read_weights(weights: Any, p: int) -> Array:
    matrix = real_array(weights, (p, p), "weights")
    if not matrix.any():
        raise ValueError("weights: got the zero matrix; allowed: any other p x p matrix")
    return matrix


def simulate_attention(
    f: Callable[[Array], Any],
    overlaps: Sequence[float] | None,
    n: int,
    p: int,
    gammas: Sequence[float],
    *,
    trials: int = 10,
    rng: Seed = None,
    labels: Any = None,
    noise: Noise = "gaussian",
    mu: Any = None,
    w_K: Any = None,
    w_Q: Any = None,
    diagonal: float | None = 0.0,
    skip: float = 0.0,
    weights: Any = None,
    covariance: Any = None,
) -> list[Estimate]:
    """Simulate the interpolation error of nonlinear attention, y - A^T w* with A = X (K + skip I).

    X = mu y^T + Z, K = f(X^T (I + w_K w_Q^T) X / sqrt p) / sqrt p with its diagonal replaced by `diagonal`
    (Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656, the model of Section 2).

    Parameters
    ----------
    f : function of arrays of doubles, entrywise; the theory assumes it centred, the simulation takes it as it is
    overlaps : mu.mu, mu.w_K, mu.w_Q, w_K.w_K, w_Q.w_Q, w_K.w_Q; or None: those of the given vectors, the others zero
    n, p : number of tokens, dimension
    gammas : ridge parameters, positive; all are computed from the same draws
    trials : number of independent trials; with one there is no standard error (nan)
    rng : None, an int, a SeedSequence or a Generator; trial k depends on the seed and on k alone
    labels : (n,) signs, or any vector of squared norm n; None: balanced signs in random order (their sum is 0, or +-1
        for odd n)
    noise : "gaussian", "rademacher", "laplace", "uniform", "student5", "exponential" (skewed), or a callable
        (rng, shape) -> array of entries of mean 0 and variance 1
    mu, w_K, w_Q : (p,) vectors that have the overlaps; None: drawn, uniformly among those that have them
    diagonal : the constant d, or None to keep f's own diagonal
    skip : weight of the skip connection
    weights : (p, p) matrix W for W_K^T W_Q instead of I + w_K w_Q^T; the scores are then X^T W X / (s sqrt p) with
        s = sqrt(tr W Sigma W^T Sigma / p), so that they keep variance 1
    covariance : (p, p) positive definite Sigma of each token's noise, X = mu y^T + Sigma^{1/2} Z, beside `weights`;
        None is the identity

    Returns
    -------
    list of Estimate, one an entry of `gammas`

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was got and what is allowed: sizes and gammas that are not positive, labels of
        another norm, overlaps that are not those of vectors or need more than p dimensions, given vectors that
        contradict them, an f that is not real and finite at every score.

    >>> import numpy as np
    >>> estimate, = simulate_attention(np.tanh, [0] * 6, n=60, p=30, gammas=[0.1], trials=4, rng=0)
    >>> 0.4 < estimate.error.mean < 0.8
    True
    """
    specification = attention_specification(
        f,
        overlaps,
        n,
        p,
        gammas,
        labels=labels,
        noise=noise,
        mu=mu,
        w_K=w_K,
        w_Q=w_Q,
        diagonal=diagonal,
        skip=skip,
        weights=weights,
        covariance=covariance,
    )
    return simulate(specification, trials, rng)
