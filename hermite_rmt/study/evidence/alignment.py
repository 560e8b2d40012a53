"""Claims b, c and f: what a signal and the direction of the weights do to attention's error."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.evidence.claims import Claim, Part
from hermite_rmt.study.evidence.limits import ROUNDING, Box, attention_error, directed, regression_error, scan
from hermite_rmt.study.provenance import software
from hermite_rmt.study.scale import Scale

SCALES: tuple[Scale, ...] = ("equal", "trace")
GAMMAS = (0.01, 0.1, 1.0)
FRACTIONS = (0.3, 0.6, 0.9)
STRENGTHS = np.linspace(0, 4, 17)
# a signal with a negative diagonal, where aligned weights hurt
COUNTEREXAMPLE: dict[str, Any] = {"c": 2.5, "gamma": 0.4, "fraction": 0.16**2 / 0.028, "nu": 0.028, "diagonal": -1.0}
COUNTEREXAMPLE_OVERLAPS: dict[str, Any] = {"mu_mu": 3.2, "strength": 0.9}


def aligned_weights(points: int = 20_000, resolution: int = 21) -> Claim:
    """Compare with linear regression on a signal, with weights w_K = w_Q = strength * mu (claim b)."""
    data = reversal(resolution)
    reversed_share = (data.ratio < 1).mean(("fraction", "c", "mu_mu", "strength"))
    most = data.ratio.min()
    text = ", ".join(
        f"{float(reversed_share.sel(scale=s, gamma=g)):.0%} (gamma = {g:g}, {s})" for s in SCALES for g in GAMMAS
    )
    beyond = data.ratio.where(data.c > 1.0001)
    return Claim(
        "b",
        "With a structured signal and aligned weights the gap closes and reverses.",
        (
            Part(
                "everywhere",
                bool((data.ratio.sel(strength=STRENGTHS[-1]) < 1).all()),
                f"attention is better in these shares of the diagram: {text}; at best its error is "
                f"{float(most):.3f} of linear regression's",
            ),
            Part(
                "somewhere: there is a region where attention with aligned weights is better",
                bool((data.ratio.min(("fraction", "c", "gamma", "mu_mu", "strength")) < 1).all()),
                "smallest ratio at equal ridge (nu = 1) "
                f"{float(data.ratio.sel(scale='equal').min()):.3f}, at equal trace "
                f"{float(data.ratio.sel(scale='trace').min()):.3f}; for p > n "
                f"{float(beyond.sel(scale='equal').min()):.3f} and {float(beyond.sel(scale='trace').min()):.3f}",
            ),
            *_gap_closes(points),
        ),
        {"reversal": data},
    )


def reversal(resolution: int) -> xr.Dataset:
    """Return the ratio of attention's to linear regression's error, with aligned weights."""
    c, mu_mu = np.geomspace(0.05, 20, resolution), np.geomspace(0.1, 10, resolution)
    fraction, c_grid, gamma, r, strength = np.ix_(np.array(FRACTIONS), c, np.array(GAMMAS), mu_mu, STRENGTHS)
    overlaps = directed(r, strength)
    regression = regression_error(c_grid, gamma, r)
    ratio = np.stack([attention_error(c_grid, gamma, fraction, overlaps, scale=s) / regression for s in SCALES])
    return xr.Dataset(
        {"ratio": (("scale", "fraction", "c", "gamma", "mu_mu", "strength"), ratio)},
        {
            "scale": list(SCALES),
            "fraction": list(FRACTIONS),
            "c": c,
            "gamma": list(GAMMAS),
            "mu_mu": mu_mu,
            "strength": STRENGTHS,
        },
        {
            "description": "attention's over linear regression's error on a signal, w_K = w_Q = strength mu, nu = 1",
            "software": software(),
        },
    )


def over_parametrised(resolution: int = 21) -> Claim:
    """Measure where along c weights aligned with the signal do most (claim c)."""
    c, mu_mu, strengths = np.geomspace(0.05, 20, 4 * resolution), np.geomspace(0.1, 10, 9), np.array([0.5, 1.0, 2.0])
    c_grid, gamma, fraction, r, strength = np.ix_(c, np.array(GAMMAS), np.array(FRACTIONS), mu_mu, strengths)
    aligned = attention_error(c_grid, gamma, fraction, directed(r, strength), scale="trace")
    without = attention_error(c_grid, gamma, fraction, {"mu_mu": r}, scale="trace")
    regression = regression_error(c_grid, gamma, r)
    dims = ("c", "gamma", "fraction", "mu_mu", "strength")
    measures = {
        "against_regression": aligned / regression,
        "gain": aligned / without,
        "difference": aligned - without,
    }
    data = xr.Dataset(
        {name: (dims, np.broadcast_to(values, aligned.shape)) for name, values in measures.items()},
        {"c": c, "gamma": list(GAMMAS), "fraction": list(FRACTIONS), "mu_mu": mu_mu, "strength": strengths},
        {
            "description": "aligned weights at equal trace: error over linear regression's, over that without "
            "weights, and minus that without weights",
            "software": software(),
        },
    )
    place = {name: c[data[name].values.argmin(axis=0)] for name in measures}
    better = (data.against_regression < 1).mean(("gamma", "fraction", "mu_mu", "strength"))
    median = float(np.median(place["gain"]))
    share = float((place["gain"] > 1).mean())
    return Claim(
        "c",
        "The effect is strongest in the over-parametrised regime.",
        (
            Part(
                "p > n, the effect measured against linear regression",
                bool((place["against_regression"] > 1).all()),
                f"attention with aligned weights is better at {float(better.where(data.c < 1).mean()):.0%} of the "
                f"points with p < n and {float(better.where(data.c > 1).mean()):.0%} of those with p > n; the ratio "
                f"to regression is smallest at p < n in {(place['against_regression'] < 1).mean():.0%} of all cases",
            ),
            Part(
                "p > n, the effect measured as the relative gain from the weights",
                median > 1,
                f"the gain is largest at p > n in {share:.0%} of all cases (median c = {median:.3g}): with more "
                "dimensions than tokens the weights do more for attention, but regression interpolates there anyway",
            ),
            Part(
                "p > n, the effect measured as the difference the weights make",
                float(np.median(place["difference"])) > 1,
                f"the difference is largest at a median c = {np.median(place['difference']):.3g}, at p > n in "
                f"{(place['difference'] > 1).mean():.0%} of all cases",
            ),
        ),
        {"regime": data},
    )


def misaligned_weights(points: int = 20_000, resolution: int = 37) -> Claim:
    """Turn the weights away from the signal, both and one by one (claim f)."""
    box = Box.draw(points, 11)

    def relative(key: float, query: float) -> Array:
        overlaps = directed(box.mu_mu, box.strength, key, query)
        return attention_error(box.c, box.gamma, box.fraction, overlaps) / without

    without = attention_error(box.c, box.gamma, box.fraction, {"mu_mu": box.mu_mu})
    aligned, opposed, key_only, query_only = (relative(*pair) for pair in ((1, 1), (1, -1), (1, 0), (0, 1)))
    helps = opposed < 1 - ROUNDING
    weak = box.strength <= 0.5
    return Claim(
        "f",
        "Anti-aligned and misaligned weights hurt; keys against queries.",
        (
            Part(
                "anti-aligned weights (w_K = s mu, w_Q = -s mu) give a larger error than none",
                not helps.any(),
                f"they do at {1 - helps.mean():.0%} of {points} random points, up to {opposed.max():.1f} times; "
                f"strong ones help all the same (the regression learns the sign of the query's feature): at "
                f"{helps[~weak].mean():.0%} of the points with s > 0.5, {helps[weak].mean():.1%} with s <= 0.5",
            ),
            Part(
                "anti-aligned weights give a larger error than aligned ones of the same strength",
                bool((opposed >= aligned * (1 - ROUNDING)).all()),
                scan(box, opposed < aligned * (1 - ROUNDING), mu_mu=box.mu_mu, s=box.strength),
            ),
            Part(
                "keys aligned with the signal and queries across it never help",
                bool((key_only >= 1 - ROUNDING).all()),
                f"the error grows by up to {key_only.max():.1f} times (median {np.median(key_only):.3f})",
            ),
            Part(
                "queries aligned with the signal and keys across it never hurt",
                bool((query_only <= 1 + ROUNDING).all()),
                f"they hurt at {(query_only > 1 + ROUNDING).mean():.2%} of the points, by at most "
                f"{query_only.max() - 1:.1%}; median {np.median(query_only):.3f}, at best {query_only.min():.3f}: "
                "the query puts the labels into the features, as the right factor of the added rank-one part "
                "(X X^T w_K)(X^T w_Q)^T; the key only sets that feature's size and its interference",
            ),
        ),
        {"angles": angles(resolution)},
    )


def angles(resolution: int) -> xr.Dataset:
    """Return the error relative to that without weights, over the angles of w_K and w_Q to the signal."""
    degrees = np.linspace(0, 180, resolution)
    c, key, query = np.ix_(np.array([0.5, 2.0]), np.cos(np.radians(degrees)), np.cos(np.radians(degrees)))
    error = attention_error(c, 0.1, 0.6, directed(1.0, 1.0, key, query))
    return xr.Dataset(
        {"relative": (("c", "key_angle", "query_angle"), error / attention_error(c, 0.1, 0.6, {"mu_mu": 1.0}))},
        {"c": [0.5, 2.0], "key_angle": degrees, "query_angle": degrees},
        {
            "description": "error with weights of norm 1 over that without, |mu| = 1, gamma = 0.1, nu = 1, "
            "a_1^2/nu = 0.6; angles of w_K and w_Q to the signal in degrees",
            "software": software(),
        },
    )


def _gap_closes(points: int) -> tuple[Part, Part]:
    box = Box.draw(points, 10)
    without = attention_error(box.c, box.gamma, box.fraction, {"mu_mu": box.mu_mu})
    aligned = attention_error(box.c, box.gamma, box.fraction, directed(box.mu_mu, box.strength))
    worse = aligned > without * (1 + ROUNDING)
    overlaps = directed(**COUNTEREXAMPLE_OVERLAPS)
    hurt = attention_error(overlaps=overlaps, **COUNTEREXAMPLE).item()
    fine = attention_error(overlaps={"mu_mu": COUNTEREXAMPLE_OVERLAPS["mu_mu"]}, **COUNTEREXAMPLE).item()
    return (
        Part(
            "aligned weights reduce attention's error, diagonal 0",
            not worse.any(),
            scan(box, worse, mu_mu=box.mu_mu, s=box.strength),
        ),
        Part(
            "aligned weights reduce attention's error, any diagonal",
            hurt <= fine,
            f"a_1 = 0.16, nu = 0.028, c = 2.5, gamma = 0.4, d = -1, |mu|^2 = 3.2, s = 0.9: {hurt:.3f} with weights "
            f"against {fine:.3f} without",
        ),
    )
