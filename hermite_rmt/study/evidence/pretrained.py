"""Claim g: attention with the key and query weights of a pretrained transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import xarray as xr

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.pretrained import PretrainedWeights
from hermite_rmt.study.evidence import pretrained_experiment as run
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.evidence.claims import Claim, Part
from hermite_rmt.study.evidence.pretrained_anatomy import anatomy

CLOSE = 0.05  # relative difference from the simulated value up to which a prediction counts as one
HEAD_SIGNALS = (0.0, 1.0, 4.0)
COPIED_HEADS = 2  # heads whose weights are copied too

TRIALS = 8
PARTS = ("anatomy", "layers", "heads", "copies", "tokens")
STATEMENT = "the theory matches pretrained weights"


def pretrained(
    weights: PretrainedWeights,
    embeddings: Array | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    trials: int = TRIALS,
    progress: Report | None = None,
) -> Claim:
    """Compare simulations with real weights against Theorem 1 under Assumption 1 as fitted, and against other limits.

    Nothing is fitted to the errors; see `pretrained_experiment.experiment` for the predictions. Arguments and errors
    as for `study`.
    """
    parts = PARTS if embeddings is not None else PARTS[:-1]
    data = study(weights, embeddings, layers, heads, trials, parts, progress)
    return Claim("g", STATEMENT, tuple(_parts(data)), data)


def study(
    weights: PretrainedWeights,
    embeddings: Array | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    trials: int = TRIALS,
    parts: Sequence[str] = PARTS,
    progress: Report | None = None,
) -> dict[str, xr.Dataset]:
    """Return the datasets of the study.

    Parameters
    ----------
    weights : of the model, from `load_weights`
    embeddings : (vocabulary, p) token embeddings, for the part "tokens"
    layers : which layers are simulated; None: all. Copies and real tokens are for the first, middle and last of them
    heads : which heads of these layers are simulated alone, beside their sum; None: all
    trials : draws a cell, at least 4; half as many for single heads, twice as many for real tokens
    parts : of `PARTS`

    Raises
    ------
    ValueError
        If there is no such layer, head or part, no layer at all, fewer trials, or no embeddings for "tokens".
    """
    if trials < 4:
        raise ValueError(f"trials: got {trials}; allowed: 4 or more")
    for part in parts:
        if part not in PARTS or (part == "tokens" and embeddings is None):
            raise ValueError(f"parts: got {part!r}; allowed: {', '.join(PARTS)}, the last with embeddings")
    layers = _chosen(layers, weights.layers, "layer")
    if not layers:
        raise ValueError("layers: got none; allowed: at least one")
    heads = _chosen(heads, weights.heads, "head")
    whole: list[run.Place] = [(layer, None) for layer in layers]
    single: list[run.Place] = [(layer, head) for layer in layers for head in heads]
    few = sorted({layers[0], layers[(len(layers) - 1) // 2], layers[-1]})
    copied: list[run.Place] = [*((layer, None) for layer in few), *single[:COPIED_HEADS]]
    work: dict[str, tuple[int, Callable[[run.Step], xr.Dataset]]] = {
        "anatomy": (len(layers) * (1 + weights.heads), lambda step: anatomy(weights, layers, step)),
        "layers": (2 * len(whole), lambda step: run.experiment(weights, whole, run.SIGNALS, trials, step)),
        "heads": (2 * len(single), lambda step: run.experiment(weights, single, HEAD_SIGNALS, trials // 2, step)),
        "copies": (3 * len(copied), lambda step: run.copies(weights, copied, step)),
        "tokens": (
            6 * len(few),
            lambda step: run.with_embeddings(weights, np.asarray(embeddings), few, 2 * trials, step),
        ),
    }
    step = _Counter(sum(work[part][0] for part in parts), progress)
    return {part: work[part][1](step) for part in parts}


def _chosen(given: Sequence[int] | None, count: int, name: str) -> list[int]:
    chosen = list(range(count)) if given is None else list(given)
    for index in chosen:
        if not 0 <= index < count:
            raise ValueError(f"{name}: got {index}; allowed: 0 to {count - 1}")
    return chosen


class _Counter:
    """Counts steps and reports them."""

    def __init__(self, total: int, progress: Report | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def deviation(data: xr.Dataset, name: str) -> xr.DataArray:
    """Return simulated value / prediction - 1."""
    found: xr.DataArray = data.simulated / data[name] - 1
    return found


def _parts(data: dict[str, xr.Dataset]) -> Iterable[Part]:
    look, layers, heads = data["anatomy"], data["layers"], data["heads"]
    yield _part(layers, "fitted", "whole layers: Theorem 1 under Assumption 1 as fitted to the real W")
    left = look.unexplained
    yield Part(
        "Assumption 1 describes the real W: identity plus rank one",
        float(left.sel(rank=1).max()) < 0.1,
        f"the identity holds at most {float(look.identity_energy.max()):.2%} of a layer's Frobenius energy "
        f"({float(look.head_identity_energy.max()):.2%} of a head's); left by the best scale I + rank r: "
        + ", ".join(
            f"{float(left.sel(rank=r).min()):.0%} to {float(left.sel(rank=r).max()):.0%} (r = {r})"
            for r in look["rank"].values.tolist()
        ),
    )
    yield _part(layers, "identity", "whole layers: Theorem 1 with the identity in the place of W")
    yield _part(layers, "whole", "whole layers: the limit for the whole matrix W")
    if heads.sizes["place"]:
        for f in heads.f.values.tolist():
            yield _part(heads.sel(f=[f]), "whole", f"single heads, {f}: the limit for the whole matrix W")
    if "tokens" in data:
        for tokens in data["tokens"].tokens.values.tolist():
            cells = data["tokens"].sel(tokens=[tokens])
            yield _part(cells, "whole", f"whole layers, tokens: {tokens}: the limit for W (and their covariance)")


def _part(data: xr.Dataset, name: str, statement: str) -> Part:
    evidence, close = [], True
    for quantity in data.quantity.values.tolist():
        cells = data.sel(quantity=quantity)
        off = abs(cells[name] / cells.simulated - 1)
        noise = 2 * float((cells.standard_error / cells.simulated).mean())
        middle, largest = float(off.median()), float(off.max())
        close &= middle <= CLOSE
        evidence.append(f"{quantity} off by {middle:.1%} (median), {largest:.0%} (largest); two s.e. are {noise:.1%}")
    return Part(statement, close, f"{'; '.join(evidence)}; {off.size} cells each")
