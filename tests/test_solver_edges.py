"""Edges of the spectrum of attention: closed forms, the density around them, and two precisions."""

import numpy as np
import pytest

from hermite_rmt.core.contexts import local_context
from hermite_rmt.solvers.attention_complex import spectral_density
from hermite_rmt.solvers.attention_edges import spectral_edges
from tests.solver_cases import exact


def test_largest_eigenvalue_without_linear_part():
    """a_1 = d = 0: D^3 + (c - 1) D^2 + beta D - beta has a double root at beta = -c x/nu."""
    context = local_context(200)
    for c, nu in ((4, 1), (2, 3)):
        # discriminant over beta: -4 beta^2 + ((c-1)^2 - 18 (c-1) - 27) beta + 4 (c-1)^3
        b = (c - 1) ** 2 - 18 * (c - 1) - 27
        beta = min(context.polyroots([-4, b, 4 * (c - 1) ** 3]))
        (edge,) = spectral_edges(exact(c, 1, 0, nu), 40)
        assert abs(context.mpf(edge) + beta * nu / c) < context.mpf(10) ** -38


@pytest.mark.parametrize("c", [2, 3])
def test_linear_nonlinearity(c):
    """f(x) = x, d = 0: the features have the eigenvalues c x (x - 1)^2, x in the Marchenko-Pastur bulk."""
    context = local_context(200)
    end = (1 + 1 / context.sqrt(c)) ** 2
    (edge,) = spectral_edges(exact(c, 1, 1, 1), 40)
    assert abs(context.mpf(edge) - c * end * (end - 1) ** 2) < context.mpf(10) ** -38


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (("1/2", 1, "0.6", "0.5"), 2),
        ((2, 1, "0.6", "0.5"), 1),
        ((2, 1, "0.6", "0.5", 2), 2),
        ((5, 1, "-0.7", "0.5", -2), 2),
    ],
)
def test_density_vanishes_outside_and_only_there(model, count):
    point = exact(*model)
    edges = np.array([float(edge) for edge in spectral_edges(point, 20)])
    assert edges.size == count
    c, a1, eta, kappa = (float(point[name]) for name in ("c", "a1", "eta", "kappa"))
    x = np.concatenate([edges * (1 - 1e-3), edges * (1 + 1e-3)])
    one = np.ones(x.size)
    density = spectral_density(x, c * one, a1 * one, (a1 * a1 + eta) * one, eta * one, kappa * one)
    outside_is_below = np.arange(count)[::-1] % 2 == 1  # edges alternate, and the last one is the upper end
    below, above = density[:count], density[count:]
    assert (np.where(outside_is_below, below, above) < 1e-10).all()
    assert (np.where(outside_is_below, above, below) > 1e-6).all()


def test_digits_agree():
    point = exact("1/2", 1, "0.6", "0.5")
    context = local_context(400)
    for short, long in zip(spectral_edges(point, 20), spectral_edges(point, 80), strict=True):
        assert abs(context.mpf(short) / context.mpf(long) - 1) < context.mpf(10) ** -20


def test_scaling_of_f():
    context = local_context(200)
    plain, scaled = spectral_edges(exact(2, 1, "0.6", "0.5", 2), 30), spectral_edges(exact(2, 1, "1.8", "4.5", 6), 30)
    for one, nine in zip(plain, scaled, strict=True):
        assert abs(context.mpf(nine) / context.mpf(one) - 9) < context.mpf(10) ** -28
