"""Claim a: on pure noise attention's error exceeds linear regression's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from hermite_rmt.core.numbers import read_real
from hermite_rmt.simulation.checks import Array
from hermite_rmt.study.evidence.claims import Claim, Part
from hermite_rmt.study.evidence.limits import ROUNDING, Box, attention_error, regression_error, scan
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression

FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
BISECTIONS = 50
RIDGELESS = Fraction(1, 10**8)  # a ridge small beside every scale of the points it is used at
DIGITS = 40


def noise(points: int = 20_000, resolution: int = 25) -> Claim:
    """Compare the two on pure noise, at equal ridge, at equal trace of the features, and without ridge.

    Parameters
    ----------
    points : random points of each scan
    resolution : values of c and of gamma in the phase diagram
    """
    return Claim(
        "a",
        "On pure noise attention's error exceeds linear regression's.",
        (
            _equal_ridge(points),
            _unit_energy(points),
            _equal_trace(points),
            _equal_trace_with_diagonal(points),
            _ridgeless(),
        ),
        {"phase": phase(resolution)},
    )


def phase(resolution: int, fractions: Sequence[float] = FRACTIONS) -> xr.Dataset:
    """Return the ratio of the errors over (linear fraction, c, gamma), and the energy at which it is 1."""
    c, gamma = np.geomspace(0.05, 20, resolution), np.geomspace(1e-3, 10, resolution)
    grid = np.ix_(np.array(fractions), c, gamma)
    fraction, c_grid, gamma_grid = grid
    regression = regression_error(c_grid, gamma_grid)
    dims = ("fraction", "c", "gamma")
    return xr.Dataset(
        {
            "equal": (dims, attention_error(c_grid, gamma_grid, fraction) / regression),
            "trace": (dims, attention_error(c_grid, gamma_grid, fraction, scale="trace") / regression),
            "critical_nu": (dims, critical_energy(c_grid, gamma_grid, fraction)),
        },
        {"fraction": list(fractions), "c": c, "gamma": gamma},
        {
            "description": "attention's over linear regression's error on pure noise, at equal ridge with nu = 1 and "
            "at equal trace; the energy nu above which attention's is smaller at equal ridge",
            "software": software(),
        },
    )


def critical_energy(c: Array, gamma: Array, fraction: Array) -> Array:
    """Return the energy nu at which attention's error equals linear regression's at the same ridge.

    f -> s f at gamma is f at gamma/s^2, and the error increases in gamma from (1-c)_+ to 1: there is exactly one.
    """
    target = regression_error(c, gamma)
    low = np.broadcast_to(np.log(1e-9), np.broadcast_shapes(c.shape, gamma.shape, fraction.shape))
    high = np.broadcast_to(np.log(1e9), low.shape)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = attention_error(c, np.exp(middle), fraction) > target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(gamma / np.exp((low + high) / 2))


def _equal_ridge(points: int) -> Part:
    box = Box.draw(points, 1)
    nu = 10 ** np.random.default_rng(2).uniform(-2, 2, points)
    attention = attention_error(box.c, box.gamma, box.fraction, nu=nu)
    violated = attention < regression_error(box.c, box.gamma) * (1 - ROUNDING)
    return Part(
        "at equal ridge, any f",
        not violated.any(),
        f"attention is better at {violated.mean():.0%} of {points} random points with energy nu from 0.01 to 100: "
        "every f is, once scaled up enough (the critical energy is in the phase diagram)",
    )


def _unit_energy(points: int) -> Part:
    box = Box.draw(points, 3)
    attention, regression = attention_error(box.c, box.gamma, box.fraction), regression_error(box.c, box.gamma)
    violated = attention < regression * (1 - ROUNDING)
    within = ~violated[box.c >= 1]
    worst = int(np.argmin(attention / regression))
    return Part(
        "at equal ridge, energy nu = 1, p >= n",
        bool(within.all()),
        f"{'holds at all' if within.all() else f'fails at {(~within).sum()} of'} {within.size} random points with "
        f"c >= 1; for c < 1 it fails at {violated[box.c < 1].mean():.0%}, e.g. "
        f"{box.point(worst)}: {attention[worst]:.4f} against {regression[worst]:.4f}",
    )


def _equal_trace(points: int) -> Part:
    box = Box.draw(points, 4)
    attention = attention_error(box.c, box.gamma, box.fraction, scale="trace")
    violated = attention < regression_error(box.c, box.gamma) * (1 - ROUNDING)
    return Part(
        "at equal trace of the features, diagonal 0",
        not violated.any(),
        f"{scan(box, violated)}; proved for a_1 = 0 with any diagonal, and for d = a_1 (derivation 14)",
    )


def _equal_trace_with_diagonal(points: int) -> Part:
    box = Box.draw(points, 5)
    diagonal = np.random.default_rng(6).normal(size=points)
    attention = attention_error(box.c, box.gamma, box.fraction, diagonal=diagonal, scale="trace")
    regression = regression_error(box.c, box.gamma)
    violated = attention < regression * (1 - ROUNDING)
    worst = int(np.argmin(np.where(violated, attention - regression, 0)))
    return Part(
        "at equal trace of the features, any diagonal",
        not violated.any(),
        f"fails at {violated.mean():.1%} of {points} random points (a_1 >= 0, d normal), "
        f"{int((violated & (diagonal >= 0)).sum())} of them with d >= 0; e.g. {box.point(worst, d=diagonal)}: "
        f"{attention[worst]:.4g} against {regression[worst]:.4g}",
    )


def _ridgeless() -> Part:
    """Compare the excess of both errors over (1 - c)_+ at a vanishing ridge, at equal trace, in many digits."""
    ratios = []
    for c in ("0.1", "0.3", "0.5", "0.8", "1.25", "2", "5"):
        for a1, nu in (("0", "1"), ("0.6", "0.5"), ("1", "1")):
            energy = Fraction(nu) / Fraction(c) + (Fraction(a1) / Fraction(c)) ** 2
            attention = _excess(Attention(a1=a1, nu=nu), c, RIDGELESS * energy)
            ratios.append(float(attention / _excess(LinearRegression(), c, RIDGELESS)))
    return Part(
        "in the ridgeless limit (both errors tend to (1 - c)_+; compared by their excess over it)",
        min(ratios) > 1,
        f"excess of attention over that of regression at gamma = {float(RIDGELESS):g}, equal trace, {len(ratios)} "
        f"points: between {min(ratios):.3g} and {max(ratios):.3g} times as large",
    )


def _excess(model: Any, c: str, gamma: Fraction) -> Fraction:
    error = read_real(model.error(c, gamma, digits=DIGITS), "error").rational
    assert error is not None
    return error - max(1 - Fraction(c), Fraction(0))
