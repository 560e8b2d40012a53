"""The project's own figures: what each shows, computed from nothing, with its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import xarray as xr

from hermite_rmt.figures.comparison import comparison_figure
from hermite_rmt.figures.curves import curve_figure
from hermite_rmt.figures.drawn import Drawn, Watch, unwatched
from hermite_rmt.figures.evidence import EVIDENCE
from hermite_rmt.figures.spectrum import spectrum_figure
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.study import compare, sweep
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

Panels = dict[str, list[xr.Dataset]]

DEMO_F = "tanh(x)"
DEMO_GAMMA = "0.1"
DEMO_SIMULATION = {"n": 400, "trials": 10, "rng": 0}


def demo_panels(watch: Watch = unwatched) -> Panels:
    """Return attention and linear regression, simulated, on pure noise and on a signal seen by aligned weights."""
    f = Nonlinearity(DEMO_F)
    cases = {
        r"pure noise, $\mu = 0$": [Attention(f), LinearRegression()],
        r"signal, $|\mu| = 1$, $w_K = w_Q = \mu$": [
            Attention(f, overlaps=Overlaps.aligned(1)),
            LinearRegression(mu_mu=1),
        ],
    }
    c = [Fraction(k, 5) for k in range(1, 21)]
    panels: Panels = {}
    for title, models in cases.items():
        panels[title] = []
        for model in models:
            with watch(f"{title.split(',')[0]}, {model.name.replace('_', ' ')}") as progress:
                panels[title].append(sweep(model, c, DEMO_GAMMA, simulate=DEMO_SIMULATION, progress=progress))
    return panels


def demo(watch: Watch = unwatched) -> Drawn:
    """Draw attention against linear regression, on pure noise and on a signal with which its weights are aligned."""
    panels = demo_panels(watch)
    flat = {f"{data.attrs['name']}_{k}": data for k, sweeps in enumerate(panels.values()) for data in sweeps}
    return Drawn(curve_figure(panels), flat)


def crossings(watch: Watch = unwatched) -> Drawn:
    """Draw where attention and linear regression cross on a signal, with features of equal trace norm."""
    models = [Attention(DEMO_F, overlaps=Overlaps.aligned(1)), LinearRegression(mu_mu=1)]
    with watch("crossings"):
        data = compare(models, c=np.geomspace(0.05, 20, 120), gamma=[0.1, 1], scale="trace")
    table = [name for name in data.data_vars if str(name).startswith("crossing_")]
    return Drawn(comparison_figure(data), {"curves": data.drop_vars(table), "crossings": data[table]})


def spectrum(watch: Watch = unwatched) -> Drawn:
    """Draw the Hermite energies of the centred relu."""
    f = Nonlinearity("relu(x)").centred()
    with watch("spectrum"):
        coefficients, nu = f.coefficients(24), f.nu()
    data = xr.Dataset({"a": ("k", coefficients)}, {"k": np.arange(len(coefficients))}, {"nu": nu, "f": f.name})
    return Drawn(spectrum_figure(coefficients, nu, f.name), {"coefficients": data})


GALLERY: Mapping[str, Callable[[Watch], Drawn]] = {
    "demo": demo,
    "crossings": crossings,
    "spectrum": spectrum,
    **EVIDENCE,
}
