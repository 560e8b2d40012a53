"""Claim g: attention with the key and query weights of a pretrained transformer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.embeddings import EmbeddingTokens
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.pretrained import PretrainedWeights
from hermite_rmt.simulation.trial import Specification, simulate
from hermite_rmt.simulation.weights import WeightAnalysis, analyse_weights
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.evidence.any_weights import AnyWeights
from hermite_rmt.study.evidence.claims import Claim, Part
from hermite_rmt.study.executors import one_blas_thread
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps

RANKS = (0, 1, 4, 16, 64)
RATIOS = (0.5, 1.0, 2.0)
SIGNALS = (0.0, 0.5, 1.0, 2.0, 4.0)
GAMMA = 0.1
SEED = 50
CLOSE = 0.05  # relative difference from the simulated error up to which a prediction counts as one


def pretrained(
    weights: PretrainedWeights,
    embeddings: Array | None = None,
    layers: Sequence[int] | None = None,
    trials: int = 6,
    progress: Report | None = None,
) -> Claim:
    """Compare simulations with real weights against Theorem 1 under Assumption 1 as fitted, and against other limits.

    Nothing is fitted to the errors. The predictions, all for scores scaled to variance 1:

    identity : Theorem 1 with W = I
    fitted : Assumption 1 taken at its word, W/s = scale (I + w_K w_Q^T) with scale and vectors fitted to W alone
    full : the limit for the whole matrix W (`AnyWeights`)

    Parameters
    ----------
    weights : of the model, from `load_weights`
    embeddings : (vocabulary, p) token embeddings, or None
    layers : which layers are simulated; None: first, middle and last
    """
    chosen = list(layers) if layers is not None else default_layers(weights)
    data = {"anatomy": anatomy(weights), "experiment": experiment(weights, chosen, trials, progress)}
    if embeddings is not None:
        data["embeddings"] = with_embeddings(weights, embeddings, chosen, trials)
    return Claim("g", "The theory matches pretrained weights.", _parts(data), data)


def default_layers(weights: PretrainedWeights) -> list[int]:
    """Return the first, a middle and the last layer."""
    return sorted({0, max(weights.layers // 2 - 1, 0), weights.layers - 1})


def anatomy(weights: PretrainedWeights) -> xr.Dataset:
    """Return what each layer's W_K^T W_Q, and each head's, is made of."""
    ranks = [rank for rank in RANKS if rank <= weights.p]
    layers = [analyse_weights(weights.product(layer), ranks) for layer in range(weights.layers)]
    heads = [
        [analyse_weights(weights.product(layer, head), ()) for head in range(weights.heads)]
        for layer in range(weights.layers)
    ]

    def table(name: str) -> dict[str, tuple[tuple[str, ...], list[float] | list[list[float]]]]:
        return {
            name: (("layer",), [getattr(a, name) for a in layers]),
            f"head_{name}": (("layer", "head"), [[getattr(a, name) for a in row] for row in heads]),
        }

    def sizes(a: WeightAnalysis) -> Array:
        return np.asarray(a.singular_values / np.sqrt(np.mean(a.singular_values**2)))

    return xr.Dataset(
        {
            **table("identity_energy"),
            **table("symmetry"),
            **table("participation_ratio"),
            "unexplained": (("layer", "rank"), [[fit.unexplained for fit in a.fits] for a in layers]),
            "singular_value": (("layer", "index"), [sizes(a) for a in layers]),
        },
        {"rank": ranks},
        {
            "description": "W = W_K^T W_Q: share of the identity in the Frobenius energy, tr W^2/tr W W^T, effective "
            "number of singular values, and what the best scale I + rank r leaves unexplained",
            "software": software(),
        },
    )


def experiment(
    weights: PretrainedWeights, layers: Sequence[int], trials: int = 6, progress: Report | None = None
) -> xr.Dataset:
    """Simulate with real W and synthetic tokens over c and the signal's strength, and predict.

    Returns
    -------
    Dataset over (layer, c, mu_mu): simulated, standard_error, and the predictions identity, fitted, full
    """
    f = Nonlinearity("tanh(x)")
    p = weights.p
    direction = np.random.default_rng(SEED).standard_normal(p)
    direction /= np.linalg.norm(direction)
    mus = [strength**0.5 * direction for strength in SIGNALS]
    shape = (len(layers), len(RATIOS), len(SIGNALS))
    values = {name: np.empty(shape) for name in ("simulated", "standard_error", "identity", "fitted", "full")}
    done = 0
    for i, layer in enumerate(layers):
        W = weights.product(layer)
        whole, assumed = AnyWeights(f, W), _Fitted(f, W)
        for j, c in enumerate(RATIOS):
            n = round(p / c)
            values["full"][i, j] = [limit.error for limit in whole.limit(c, GAMMA, mus)]
            for k, mu in enumerate(mus):
                with one_blas_thread:
                    estimate, *_ = simulate_attention(
                        f, None, n, p, [GAMMA], mu=mu, weights=W, trials=trials, rng=SEED
                    )  # fmt: skip
                values["simulated"][i, j, k] = estimate.error.mean
                values["standard_error"][i, j, k] = estimate.error.standard_error
                values["identity"][i, j, k] = Attention(f, overlaps=Overlaps(mu_mu=SIGNALS[k])).error(p / n, GAMMA)
                values["fitted"][i, j, k] = assumed.error(p / n, mu)
            done += 1
            if progress is not None:
                progress(done, len(layers) * len(RATIOS))
    return xr.Dataset(
        {name: (("layer", "c", "mu_mu"), array) for name, array in values.items()},
        {"layer": list(layers), "c": list(RATIOS), "mu_mu": list(SIGNALS)},
        {
            "description": f"interpolation error, tanh, gamma = {GAMMA:g}, real W (whole layers), Gaussian tokens "
            f"with a signal in a random direction, {trials} trials, seed {SEED}",
            "software": software(),
        },
    )


def with_embeddings(
    weights: PretrainedWeights, embeddings: Array, layers: Sequence[int], trials: int = 6
) -> xr.Dataset:
    """Simulate with real W and real token embeddings beside Gaussian tokens: labels independent of both."""
    f = Nonlinearity("tanh(x)")
    p = weights.p
    rows = np.empty((len(layers), len(RATIOS), 4))
    for i, layer in enumerate(layers):
        W = weights.product(layer)
        for j, c in enumerate(RATIOS):
            n = round(p / c)
            real = Specification(EmbeddingTokens.of(embeddings, n), AttentionFeatures(f, weights=W), (GAMMA,))
            with one_blas_thread:
                (estimate,) = simulate(real, trials, SEED)
                gaussian, *_ = simulate_attention(f, None, n, p, [GAMMA], weights=W, trials=trials, rng=SEED)
            rows[i, j] = [
                v for e in (estimate, gaussian) for v in (e.error.mean, e.error.standard_error)
            ]  # fmt: skip
    names = ("embeddings", "embeddings_error", "gaussian", "gaussian_error")
    return xr.Dataset(
        {name: (("layer", "c"), rows[..., k]) for k, name in enumerate(names)},
        {"layer": list(layers), "c": list(RATIOS)},
        {
            "description": f"interpolation error without signal, tanh, gamma = {GAMMA:g}, real W",
            "software": software(),
        },
    )


class _Fitted:
    """Theorem 1 under W/s = scale (I + w_K w_Q^T): the scores of f(scale x), with the fitted vectors."""

    def __init__(self, f: Nonlinearity, W: Array) -> None:
        size = float(np.linalg.norm(W)) / np.sqrt(len(W))
        fit = analyse_weights(W, ranks=(1,)).fits[0]
        self._f = f.scaled(fit.scale / size)
        # equal norms of the two vectors: only their product matters
        left, right = fit.left[:, 0] / fit.scale, fit.right[:, 0]
        balance = np.sqrt(np.linalg.norm(left) / np.linalg.norm(right))
        self._w_K, self._w_Q = left / balance, right * balance

    def error(self, c: float, mu: Array) -> float:
        vectors = np.array([mu, self._w_K, self._w_Q])
        gram = vectors @ vectors.T
        overlaps = Overlaps(gram[0, 0], gram[0, 1], gram[0, 2], gram[1, 1], gram[2, 2], gram[1, 2])
        return float(Attention(self._f, overlaps=overlaps).error(c, GAMMA))


def _parts(data: dict[str, xr.Dataset]) -> tuple[Part, ...]:
    layers, found = data["anatomy"], data["experiment"]
    off = {name: np.abs(found[name] / found.simulated - 1) for name in ("fitted", "identity", "full")}
    noise = 2 * float((found.standard_error / found.simulated).mean())

    def part(name: str, statement: str) -> Part:
        largest, middle = float(off[name].max()), float(off[name].median())
        return Part(
            statement,
            middle <= CLOSE,
            f"relative difference from the simulated error: median {middle:.1%}, largest {largest:.0%} over "
            f"{off[name].size} cells (two standard errors are {noise:.1%})",
        )

    return (
        part("fitted", "Theorem 1 under Assumption 1 as fitted to the real W"),
        Part(
            "Assumption 1 describes the real W: identity plus rank one",
            float(layers.unexplained.sel(rank=1).max()) < 0.1,
            f"the identity holds at most {float(layers.identity_energy.max()):.2%} of a layer's Frobenius energy "
            f"({float(layers.head_identity_energy.max()):.2%} of a head's); left unexplained by identity + rank r: "
            + ", ".join(
                f"{float(layers.unexplained.sel(rank=r).min()):.0%} to "
                f"{float(layers.unexplained.sel(rank=r).max()):.0%} (r = {r})"
                for r in layers["rank"].values.tolist()
            ),
        ),
        part("identity", "Theorem 1 with the identity in the place of W (scores scaled to variance 1)"),
        part("full", "the limit for the whole matrix W"),
    )
