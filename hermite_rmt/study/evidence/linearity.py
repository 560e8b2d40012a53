"""Claims d and e: what the linear part a_1 of the nonlinearity decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.study.evidence.alignment import SCALES
from hermite_rmt.study.evidence.claims import Claim, Part
from hermite_rmt.study.evidence.limits import ROUNDING, Box, attention_error, directed, scan
from hermite_rmt.study.provenance import software

CASES: Mapping[str, Mapping[str, Any]] = {
    "noise": {},
    "signal": {"mu_mu": 1.0},
    "aligned": directed(1.0, 1.0),
}
CURVES = ((0.3, 0.01), (0.5, 0.1), (2.0, 0.1), (2.0, 1.0))  # (c, gamma) of the a_1 sweep


def linear_part_decides(points: int = 20_000, resolution: int = 41) -> Claim:
    """Check that signal and weights do nothing without a linear part, and how E moves with c then (claim d)."""
    box = Box.draw(points, 20)
    rng = np.random.default_rng(21)
    key, query = rng.uniform(-1, 1, (2, points))
    overlaps = directed(box.mu_mu, box.strength, key, query)
    alone = attention_error(box.c, box.gamma, 0.0)
    moved = np.abs(attention_error(box.c, box.gamma, 0.0, overlaps) / alone - 1) > ROUNDING
    kept = attention_error(0.5, 0.1, 0.0, diagonal=1.0).item()
    kept_signal = attention_error(0.5, 0.1, 0.0, {"mu_mu": 1.0}, diagonal=1.0).item()
    wider = attention_error(box.c * 1.01, box.gamma, 0.0)
    linear_rise = attention_error(box.c * 1.01, box.gamma, box.fraction) > attention_error(
        box.c, box.gamma, box.fraction
    ) * (1 + ROUNDING)
    rising_trace = attention_error(box.c * 1.01, box.gamma, box.fraction, scale="trace") > attention_error(
        box.c, box.gamma, box.fraction, scale="trace"
    ) * (1 + ROUNDING)
    rising_from = f", only for a_1^2/nu >= {box.fraction[linear_rise].min():.2f}" if linear_rise.any() else ""
    known = attention_error(np.array([0.5, 2.0]), 0.1, 0.0)
    return Claim(
        "d",
        "The linear part a_1 decides: with a_1 = 0 neither signal nor weights help.",
        (
            Part(
                "a_1 = 0 and diagonal 0: the error depends on neither the signal nor the weights",
                not moved.any(),
                f"{scan(box, moved)}; exact (derivation of the closed forms)",
            ),
            Part(
                "a_1 = 0 and any diagonal",
                bool(abs(kept / kept_signal - 1) < ROUNDING),
                f"c = 0.5, gamma = 0.1, nu = 1, d = 1: {kept:.4f} without signal, {kept_signal:.4f} with |mu|^2 = 1: "
                "a diagonal is a skip connection",
            ),
            Part(
                "a_1 = 0: the error falls with the dimension p at fixed n, and so rises with more tokens at fixed p",
                bool((wider < alone).all()),
                f"{known[0]:.3f} at c = 0.5, {known[1]:.3f} at c = 2 (nu = 1, gamma = 0.1); "
                f"{scan(box, wider >= alone)}; proved (derivation 14)",
            ),
            Part(
                "the same for every a_1, at equal ridge",
                not linear_rise.any(),
                f"E rises with c at {linear_rise.mean():.1%} of {points} random points{rising_from}",
            ),
            Part("the same for every a_1, at equal trace", not rising_trace.any(), scan(box, rising_trace)),
        ),
        {"dimension": along_dimension(resolution)},
    )


def best_linear_part(resolution: int = 31) -> Claim:
    """Find the linear fraction a_1^2/nu with the smallest error at fixed nu (claim e)."""
    data = best(resolution)
    parts = [
        Part(
            "more linear is always better",
            bool((data.best == 1).all()),
            "share of the diagram where f linear is best: "
            + ", ".join(
                f"{case} {float((data.best.sel(case=case, scale=s) == 1).mean()):.0%} ({s})"
                for case in CASES
                for s in SCALES
            ),
        )
    ]
    for case in CASES:
        for scale in SCALES:
            map_ = data.best.sel(case=case, scale=scale)
            shares = float((map_ == 0).mean()), float(((map_ > 0) & (map_ < 1)).mean()), float((map_ == 1).mean())
            far = map_.where((map_.c < 0.15) | (map_.c > 8)).values
            far_share = float((far[~np.isnan(far)] == 1).mean())
            parts.append(
                Part(
                    f"{case}, {scale}: more linear is better for c < 0.15 and c > 8 (gamma <= 3)",
                    far_share == 1,
                    f"best: a_1 = 0 at {shares[0]:.0%}, in between at {shares[1]:.0%}, f linear at {shares[2]:.0%} "
                    f"of the diagram; far from c = 1 f linear is best at {far_share:.0%}",
                )
            )
    return Claim(
        "e",
        "At fixed energy nu, a more linear f is better.",
        tuple(parts),
        {"best": data, "curves": sweeps(resolution)},
    )


def best(resolution: int) -> xr.Dataset:
    """Return the linear fraction with the smallest error over c and gamma, for each case and scale."""
    fractions = np.linspace(0, 1, 41)
    c, gamma = np.geomspace(0.05, 20, resolution), np.geomspace(1e-3, 3, resolution)
    c_grid, gamma_grid, fraction = np.ix_(c, gamma, fractions)
    shape = (len(CASES), len(SCALES), resolution, resolution)
    fraction_of_least, gain = np.empty(shape), np.empty(shape)
    for i, overlaps in enumerate(CASES.values()):
        for j, scale in enumerate(SCALES):
            error = attention_error(c_grid, gamma_grid, fraction, overlaps, scale=scale)
            fraction_of_least[i, j] = fractions[error.argmin(axis=-1)]
            gain[i, j] = error.min(axis=-1) / error[..., -1]
    dims = ("case", "scale", "c", "gamma")
    return xr.Dataset(
        {"best": (dims, fraction_of_least), "relative_to_linear": (dims, gain)},
        {"case": list(CASES), "scale": list(SCALES), "c": c, "gamma": gamma},
        {
            "description": "linear fraction a_1^2/nu with the smallest error at nu = 1, and that error over that of "
            "f linear; signal |mu| = 1, aligned: w_K = w_Q = mu",
            "software": software(),
        },
    )


def sweeps(resolution: int) -> xr.Dataset:
    """Return the error along the linear fraction at a few points."""
    fractions = np.linspace(0, 1, 2 * resolution + 1)
    error = np.array(
        [
            [attention_error(c, gamma, fractions, overlaps, scale="trace") for c, gamma in CURVES]
            for overlaps in CASES.values()
        ]
    )
    return xr.Dataset(
        {"error": (("case", "point", "fraction"), error)},
        {
            "case": list(CASES),
            "fraction": fractions,
            "c": ("point", [c for c, _ in CURVES]),
            "gamma": ("point", [gamma for _, gamma in CURVES]),
        },
        {"description": "error against the linear fraction a_1^2/nu at equal trace", "software": software()},
    )


def along_dimension(resolution: int) -> xr.Dataset:
    """Return the error along c for three linear fractions."""
    c, gammas, fractions = np.geomspace(0.05, 20, resolution), np.array([0.01, 0.1, 1.0]), np.array([0.0, 0.5, 1.0])
    gamma, fraction, c_grid = np.ix_(gammas, fractions, c)
    dims = ("gamma", "fraction", "c")
    return xr.Dataset(
        {
            "noise": (dims, attention_error(c_grid, gamma, fraction)),
            "aligned": (dims, attention_error(c_grid, gamma, fraction, directed(1.0, 1.0))),
        },
        {"gamma": gammas, "fraction": fractions, "c": c},
        {"description": "error along c at nu = 1, on noise and with aligned weights", "software": software()},
    )
