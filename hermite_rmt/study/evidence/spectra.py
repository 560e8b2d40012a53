"""Eigenvalues of simulated kernels and Gram matrices under their limiting densities, and the engine's outliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import sympy
import xarray as xr

from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.simulation.spectra import gram_eigenvalues, kernel_eigenvalues
from hermite_rmt.simulation.tokens import token_model
from hermite_rmt.study.evidence.agreement import Report
from hermite_rmt.study.provenance import software
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.attention_spectrum import AttentionSpectrum
from hermite_rmt.theory.bulk_edges import spectrum_edges
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent
from hermite_rmt.theory.outliers import outlier

CASES: Mapping[str, tuple[str, float]] = {
    "tanh": ("tanh(x)", 0.5),
    "relu": ("relu(x)", 2.0),
    "cos": ("cos(x)", 0.5),
}
DISTANCE = 1e-4  # from the edge, where the threshold is extrapolated from
BINS, FINE = 60, 400
SEED = 31
Y, MU = Vector("y", dimensions("n"), norm="sqrt"), Vector("mu", dimensions("p"))
Z, SIZE = sympy.Symbol("z"), sympy.Symbol("s", positive=True)
UNIT = {(MU, MU): 1}


@cache
def kernel_equivalent() -> DeterministicEquivalent:
    """Return the equivalent of (K - z)^-1 for the linearised kernel of X = Z + s mu y^T, |mu| = 1, w = 0."""
    n, p = dimensions("n p")
    c = sympy.Symbol("c", positive=True)
    a1, kappa = sympy.symbols("a1 kappa", real=True)
    eta = sympy.Symbol("eta", nonnegative=True)
    X = Gaussian("Z", p, n) + SIZE * MU * Y.T
    K = a1 * X.T * X / p + kappa * sympy.Identity(n) + sympy.sqrt(eta / c) * GOE("W", n)
    return deterministic_equivalent((K - Z * sympy.Identity(n)).inv(), ratios={p: c * n})


def bulk(n: int = 1000, cases: Sequence[str] = tuple(CASES), progress: Report | None = None) -> xr.Dataset:
    """Compare histograms of K and of A^T A/n with the limiting densities, for nonlinearities on noise.

    Returns
    -------
    Dataset over (f, matrix): histogram and density over `bin` (density: mean over a bin) and centre of the bins
    (for a Gram matrix the middle in the square root);
    curve, the density, at the places `position` over `point`; distance: the largest difference of the two
    distribution functions at the bins' ends
    """
    chosen = [CASES[name] for name in cases]
    shape = (len(chosen), 2, BINS)
    histogram, density, centre = np.empty(shape), np.empty(shape), np.empty(shape)
    position, curve = np.empty((2, *shape[:2], FINE))
    distance = np.empty(shape[:2])
    for i, (text, c) in enumerate(chosen):
        f = Nonlinearity(text).centred()
        law = token_model(n, round(c * n), None, (None, None, None), None, "gaussian")
        tokens = law.draw(child_seed(np.random.SeedSequence(SEED), n, i))
        features = AttentionFeatures(f)
        with one_blas_thread:
            found = kernel_eigenvalues(tokens, features), gram_eigenvalues(features(tokens))
        spectrum = AttentionSpectrum(Attention(f), c)
        for j, eigenvalues in enumerate(found):
            kernel = j == 0
            kept = eigenvalues if kernel else eigenvalues[max(n - law.p, 0) :]
            # densities of Gram matrices diverge at 0: bins and points equal in the square root there
            power = 1 if kernel else 2
            low, high = (kept.min() if kernel else 0.0), kept.max() ** (1 / power)
            sides, fine = np.linspace(low, high, BINS + 1), np.linspace(low, high, FINE + 1)[1:]
            ends, position[i, j] = sides**power, fine**power
            histogram[i, j] = np.histogram(kept, ends)[0] / n / np.diff(ends)
            law_of = spectrum.kernel_density if kernel else spectrum.density
            # the middle of a bin (of its square root for a Gram matrix) has the bin's mean, to second order
            centre[i, j] = ((sides[:-1] + sides[1:]) / 2) ** power
            density[i, j] = law_of(centre[i, j])
            curve[i, j] = law_of(position[i, j])
            distance[i, j] = np.abs(np.cumsum((histogram[i, j] - density[i, j]) * np.diff(ends))).max()
            if progress is not None:
                progress(2 * i + j + 1, 2 * len(chosen))
    dims = ("f", "matrix", "bin")
    return xr.Dataset(
        {
            "histogram": (dims, histogram),
            "density": (dims, density),
            "centre": (dims, centre),
            "position": (("f", "matrix", "point"), position),
            "curve": (("f", "matrix", "point"), curve),
            "distance": (("f", "matrix"), distance),
        },
        {
            "f": list(cases),
            "matrix": ["K", "A^T A/n"],
            "c": ("f", [c for _, c in chosen]),
        },
        {
            "description": f"eigenvalues of one draw at n = {n}, diagonal 0 (for p < n the n - p zeros of A^T A left "
            "out), and the limiting densities",
            "software": software(),
        },
    )


def outliers(n: int = 800, trials: int = 8, progress: Report | None = None) -> xr.Dataset:
    """Compare the largest eigenvalue of K, and its eigenvector's overlap with the labels, with the engine's outlier.

    Returns
    -------
    Dataset over strength: predicted position and alignment (nan below the threshold); over mu_mu, a part of these
    |mu|^2: measured ones with standard errors; attributes edge and threshold (the smallest |mu|^2 with an outlier
    along the labels)
    """
    f, c = Nonlinearity("tanh(x)"), 0.5
    values = {
        "a1": sympy.Rational(str(round(f.coefficient(1), 12))),
        "kappa": -sympy.Rational(str(round(f.coefficient(1), 12))),
        "eta": sympy.Rational(str(round(f.nu() - f.coefficient(1) ** 2, 12))),
        "c": sympy.Rational(1, 2),
    }
    edge = max(spectrum_edges(kernel_equivalent(), Z, {**values, SIZE: 1}))
    strengths = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0])
    fine = np.unique([*strengths, *np.linspace(0.75, 4, 27)])
    predicted, alignment = np.full((2, len(fine)), np.nan)
    for k, r in enumerate(fine):
        there = _outlier(values, edge, float(r))
        if there is not None:
            predicted[k], alignment[k] = there
    measured = np.empty((2, len(strengths), trials))
    for k, r in enumerate(strengths):
        law = token_model(n, round(c * n), (r, 0, 0, 0, 0, 0), (None, None, None), None, "gaussian")
        for trial in range(trials):
            tokens = law.draw(child_seed(np.random.SeedSequence(SEED), k, trial))
            with one_blas_thread:
                measured[:, k, trial] = _largest(tokens, AttentionFeatures(f))
        if progress is not None:
            progress(k + 1, len(strengths))
    mean, error = measured.mean(axis=2), measured.std(axis=2, ddof=1) / np.sqrt(trials)
    return xr.Dataset(
        {
            "position": ("strength", predicted),
            "alignment": ("strength", alignment),
            "largest": ("mu_mu", mean[0]),
            "largest_error": ("mu_mu", error[0]),
            "overlap": ("mu_mu", mean[1]),
            "overlap_error": ("mu_mu", error[1]),
        },
        {"mu_mu": strengths, "strength": fine},
        {
            "c": c,
            "n": n,
            "trials": trials,
            "edge": edge,
            "threshold": _threshold(values, edge),
            "description": f"largest eigenvalue of K, tanh, c = {c:g}, n = {n}, no weights, {trials} trials",
            "software": software(),
        },
    )


def _largest(tokens: Any, features: AttentionFeatures) -> tuple[float, float]:
    K, _ = features.kernel(tokens)
    K = np.tril(K) + np.tril(K, -1).T
    values, vectors = np.linalg.eigh(K)
    return float(values[-1]), float(vectors[:, -1] @ tokens.y) ** 2 / len(K)


def _outlier(values: Mapping[str, Any], edge: float, mu_mu: float) -> tuple[float, float] | None:
    try:
        found = outlier(kernel_equivalent(), Y, Z, (edge + 1e-3, edge + 20), {**values, SIZE: mu_mu**0.5}, UNIT)
    except ValueError:
        return None
    return float(found.location), float(found.alignment)


def _threshold(values: Mapping[str, Any], edge: float) -> float:
    """Return the smallest |mu|^2 with an outlier along the labels."""

    def pole(distance: float) -> float:
        """Return the |mu|^2 whose outlier is at this distance from the edge: y^T Q y changes sign there."""
        low, high = 0.0, 4.0
        while high - low > 1e-5:
            middle = (low + high) / 2
            here = {**values, SIZE: middle**0.5, Z: edge + distance}
            above = kernel_equivalent().quadratic_form(Y, Y, here, UNIT) > 0
            low, high = (low, middle) if above else (middle, high)
        return (low + high) / 2

    return 2 * pole(DISTANCE / 4) - pole(DISTANCE)  # the first correction is the root of the distance
