"""Errors with pretrained weights, simulated and predicted: whole layers, single heads, copies, real tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.covariance import score_size
from hermite_rmt.simulation.embeddings import EmbeddingTokens
from hermite_rmt.simulation.estimate import Estimate
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.pretrained import PretrainedWeights
from hermite_rmt.simulation.trial import Specification, simulate
from hermite_rmt.simulation.weights import analyse_weights, identity_plus_low_rank
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps
from hermite_rmt.theory.weighted_attention import WeightedAttention

Place = tuple[int, int | None]  # layer and head; None: the sum over the heads
Step = Callable[[], None]

RELU = Nonlinearity("max(x, 0)").centred()
CURVATURE = RELU.coefficient(2) / 2**0.5  # of h_2 = (x^2 - 1)/sqrt 2
FUNCTIONS = {"tanh": Nonlinearity("tanh(x)"), "relu": RELU}
WITHOUT_H2 = {**FUNCTIONS, "relu less its h_2": RELU - CURVATURE * Nonlinearity("x^2 - 1")}
RATIOS = (0.5, 1.0, 2.0)
SIGNALS = (0.0, 0.5, 1.0, 2.0, 4.0)
COPIES = {1: 8, 2: 4, 4: 2}  # copies of W side by side: trials
GAMMA = 0.1
SEED = 50
QUANTITIES = ("error", "trace")
TOKENS = ("Gaussian", "Gaussian with their covariance", "embeddings, whitened", "embeddings")


def experiment(
    weights: PretrainedWeights,
    places: Sequence[Place],
    signals: Sequence[float] = SIGNALS,
    trials: int = 8,
    step: Step = lambda: None,
) -> xr.Dataset:
    """Simulate with real W and Gaussian tokens over c and the signal's strength, and predict.

    The scores are scaled to variance 1; the signal has one direction, drawn at random. Nothing is fitted to errors.

    Returns
    -------
    Dataset over (f, place, c, mu_mu, quantity): simulated, standard_error, and the predictions

    identity : Theorem 1 with W = I
    fitted : Theorem 1 under Assumption 1 as fitted to W: W/s = scale (I + w_K w_Q^T), the scores of f(scale x)
    whole : the limit for the whole matrix W, `Attention(f, weights=W)`

    and over place the participation ratio of W's singular values, and tr W^2/tr W W^T.
    """
    p = weights.p
    direction = np.random.default_rng(SEED).standard_normal(p)
    direction /= np.linalg.norm(direction)
    shape = (len(FUNCTIONS), len(places), len(RATIOS), len(signals), len(QUANTITIES))
    names = ("simulated", "standard_error", "identity", "fitted", "whole")
    values = {name: np.empty(shape) for name in names}
    looks = [analyse_weights(weights.product(*place), ()) for place in places]
    for f, function in enumerate(FUNCTIONS.values()):
        paper = Attention(function, overlaps=Overlaps(mu_mu=np.array(signals)))
        for j, c in enumerate(RATIOS):
            n = round(p / c)
            solution = paper.solve(p / n, GAMMA)
            values["identity"][f, :, j] = np.stack([solution[quantity] for quantity in QUANTITIES], axis=-1)
        for i, place in enumerate(places):
            W = weights.product(*place)
            assumption, noise = _Assumption(W, function), WeightedAttention(function, weights=W)
            for j, c in enumerate(RATIOS):
                n = round(p / c)
                for k, strength in enumerate(signals):
                    mu = strength**0.5 * direction
                    whole = noise.with_signal(mu)
                    with one_blas_thread:
                        estimate = whole.simulate(n, p, GAMMA, trials=trials, rng=SEED)
                        found = {
                            "whole": whole.solve(p / n, GAMMA),
                            "fitted": assumption.model(mu).solve(p / n, GAMMA),
                        }
                    at = f, i, j, k
                    values["simulated"][at], values["standard_error"][at] = _statistics(estimate)
                    for name, solution in found.items():
                        values[name][at] = [solution[quantity] for quantity in QUANTITIES]
            step()
    return xr.Dataset(
        {
            **{name: (("f", "place", "c", "mu_mu", "quantity"), array) for name, array in values.items()},
            "participation_ratio": ("place", [look.participation_ratio for look in looks]),
            "symmetry": ("place", [look.symmetry for look in looks]),
        },
        {
            "f": list(FUNCTIONS),
            **_place_coordinates(places),
            "c": list(RATIOS),
            "mu_mu": list(signals),
            "quantity": list(QUANTITIES),
        },
        _attributes(f"real W, Gaussian tokens, signal in one random direction, {trials} trials"),
    )


def copies(weights: PretrainedWeights, places: Sequence[Place], step: Step = lambda: None) -> xr.Dataset:
    """Simulate with W (x) I_k: k times the dimension, the same limit to all digits, so the gap is of finite size.

    Returns
    -------
    Dataset over (f, place, copies, quantity): simulated, standard_error, whole; c = 1/2, no signal
    """
    shape = (len(WITHOUT_H2), len(places), len(COPIES), len(QUANTITIES))
    values = {name: np.empty(shape) for name in ("simulated", "standard_error", "whole")}
    for i, place in enumerate(places):
        W = weights.product(*place)
        for f, function in enumerate(WITHOUT_H2.values()):
            solution = WeightedAttention(function, weights=W).solve(0.5, GAMMA)
            for j, (count, trials) in enumerate(COPIES.items()):
                large = WeightedAttention(function, weights=np.kron(W, np.eye(count)))
                with one_blas_thread:
                    estimate = large.simulate(2 * large.p, large.p, GAMMA, trials=trials, rng=SEED)
                values["simulated"][f, i, j], values["standard_error"][f, i, j] = _statistics(estimate)
                values["whole"][f, i, j] = [solution[quantity] for quantity in QUANTITIES]
            step()
    return xr.Dataset(
        {name: (("f", "place", "copies", "quantity"), array) for name, array in values.items()},
        {
            "f": list(WITHOUT_H2),
            **_place_coordinates(places),
            "copies": list(COPIES),
            "quantity": list(QUANTITIES),
        },
        _attributes("W (x) I_k, c = 0.5, no signal"),
    )


def with_embeddings(
    weights: PretrainedWeights, embeddings: Array, layers: Sequence[int], trials: int = 12, step: Step = lambda: None
) -> xr.Dataset:
    """Simulate with real W and real token embeddings, and Gaussian tokens beside; labels independent of both.

    Whitened embeddings and plain Gaussian tokens have the limit for W, embeddings and Gaussian tokens of the same
    covariance that for W and the covariance. The scores are scaled to variance 1 in both.

    Returns
    -------
    Dataset over (f, layer, c, tokens, quantity): simulated, standard_error, whole
    """
    p = weights.p
    shape = (len(FUNCTIONS), len(layers), len(RATIOS), len(TOKENS), len(QUANTITIES))
    values = {name: np.empty(shape) for name in ("simulated", "standard_error", "whole")}
    for j, c in enumerate(RATIOS):
        n = round(p / c)
        plain, white = (EmbeddingTokens.of(embeddings, n, whiten) for whiten in (False, True))
        sigma = plain.covariance
        for i, layer in enumerate(layers):
            W = weights.product(layer)
            for f, function in enumerate(FUNCTIONS.values()):
                models = [
                    WeightedAttention(function, weights=W),
                    WeightedAttention(function, weights=W, covariance=sigma),
                ]
                laws = [
                    Specification(tokens, AttentionFeatures(function, weights=W, size=size), (GAMMA,))
                    for tokens, size in ((white, None), (plain, score_size(W, sigma)))
                ]
                with one_blas_thread:
                    solutions = [model.solve(p / n, GAMMA) for model in models]
                    estimates = [model.simulate(n, p, GAMMA, trials=trials, rng=SEED) for model in models]
                    estimates += [simulate(law, trials, SEED)[0] for law in laws]
                for k, estimate in enumerate(estimates):
                    values["simulated"][f, i, j, k], values["standard_error"][f, i, j, k] = _statistics(estimate)
                    values["whole"][f, i, j, k] = [solutions[k % 2][quantity] for quantity in QUANTITIES]
                step()
    return xr.Dataset(
        {name: (("f", "layer", "c", "tokens", "quantity"), array) for name, array in values.items()},
        {
            "f": list(FUNCTIONS),
            "layer": list(layers),
            "c": list(RATIOS),
            "tokens": list(TOKENS),
            "quantity": list(QUANTITIES),
        },
        _attributes(f"real W, real and Gaussian tokens, no signal, {trials} trials"),
    )


class _Assumption:
    """Assumption 1 taken at its word: W/s = scale (I + w_K w_Q^T), scale and vectors fitted to W alone."""

    def __init__(self, W: Array, f: Nonlinearity) -> None:
        fit = identity_plus_low_rank(W, 1)
        of_scores = f.scaled(fit.scale * np.sqrt(len(W)) / float(np.linalg.norm(W))).centred()
        self._numbers = {"a1": of_scores.coefficient(1), "nu": of_scores.nu()}
        left, right = fit.left[:, 0] / fit.scale, fit.right[:, 0]
        balance = np.sqrt(np.linalg.norm(left) / np.linalg.norm(right))  # only the product of the two norms matters
        self._w_K, self._w_Q = left / balance, right * balance

    def model(self, mu: Array) -> Attention:
        """Return Theorem 1's model for this signal."""
        vectors = np.array([mu, self._w_K, self._w_Q])
        gram = vectors @ vectors.T
        overlaps = Overlaps(gram[0, 0], gram[0, 1], gram[0, 2], gram[1, 1], gram[2, 2], gram[1, 2])
        return Attention(**self._numbers, overlaps=overlaps)


def _statistics(estimate: Estimate | list[Estimate]) -> tuple[list[float], list[float]]:
    statistics = [getattr(estimate, quantity) for quantity in QUANTITIES]
    return [s.mean for s in statistics], [s.standard_error for s in statistics]


def _place_coordinates(places: Sequence[Place]) -> dict[str, Any]:
    names = [f"{layer}" if head is None else f"{layer}.{head}" for layer, head in places]
    return {
        "place": names,
        "layer": ("place", [layer for layer, _ in places]),
        "head": ("place", ["all" if head is None else str(head) for _, head in places]),
    }


def _attributes(what: str) -> dict[str, str]:
    return {"description": f"{what}, gamma = {GAMMA:g}, seed {SEED}", "software": software()}
