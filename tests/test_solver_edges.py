"""Edges of the spectrum of attention: closed forms, the density around them, and two precisions."""

from fractions import Fraction

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


@pytest.mark.parametrize("c", [2, 3, "1/2", "1/4", "1/5", 1])
@pytest.mark.parametrize("diagonal", [0, 1, 2, "5/2"])
def test_linear_nonlinearity_is_the_image_of_the_bulk(c, diagonal):
    """Against a fine grid of the Marchenko-Pastur bulk; c = 1/4, d = 0: a_1 x + kappa vanishes at the bulk's edge."""
    edges = [float(edge) for edge in spectral_edges(exact(c, 1, 1, 1, diagonal), 17)]
    c, diagonal = float(Fraction(c)), float(Fraction(diagonal))
    x = np.linspace((1 - c**-0.5) ** 2, (1 + c**-0.5) ** 2, 400001)
    image = c * x * (x + diagonal - 1) ** 2
    assert edges[-1] == pytest.approx(image.max(), rel=1e-9)
    assert len(edges) == 1 + (image.min() > 1e-8)
    if len(edges) == 2:
        assert edges[0] == pytest.approx(image.min(), rel=1e-9)


def test_nearly_linear_is_nearly_linear():
    linear, nearly = (spectral_edges(exact("1/2", 1, 1, nu, 2), 30) for nu in (1, 1 + Fraction(1, 10**12)))
    assert len(linear) == len(nearly) == 2
    for one, other in zip(linear, nearly, strict=True):
        assert abs(other / one - 1) < 1e-10


@pytest.mark.parametrize("exponent", [1, 4, 12, 25])
def test_lower_edge_as_c_tends_to_one(exponent):
    """a_1 = d = 0: the other double root of D^3 + (c - 1) D^2 + beta D - beta; 4 nu (1 - c)^3/(27 c) as c -> 1."""
    small = Fraction(1, 10**exponent)
    lower, upper = spectral_edges(exact(1 - small, 1, 0, 1), 20)
    context = local_context(400)
    c = context.mpf((1 - small).numerator) / (1 - small).denominator
    b = (c - 1) ** 2 - 18 * (c - 1) - 27
    # -4 beta^2 + b beta + 4 (c - 1)^3 = 0, its roots without cancellation
    large = (b - context.sqrt(b * b + 64 * (c - 1) ** 3)) / 8
    assert abs(context.mpf(upper) + large / c) < context.mpf(10) ** -18
    assert abs(context.mpf(lower) * c * large / (c - 1) ** 3 - 1) < context.mpf(10) ** -19


def test_the_search_says_what_it_could_not_see():
    with pytest.raises(ArithmeticError, match="does not reach 0, but that could not be seen within"):
        spectral_edges(exact("1e-14", 1, "0.6", "0.5"), 20)
    with pytest.raises(ArithmeticError, match="beyond double precision"):
        spectral_edges(exact("1e400", 1, "0.6", "0.5"), 20)


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
