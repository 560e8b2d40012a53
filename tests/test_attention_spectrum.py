"""Spectra of attention: mass and moments of the densities against the engine, and a finite matrix."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import hermite_rmt as hr
from hermite_rmt.core.solution import SolveError
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.seeds import child_seed
from hermite_rmt.simulation.spectra import gram_eigenvalues, kernel_eigenvalues
from hermite_rmt.simulation.tokens import token_model
from hermite_rmt.theory.bulk_edges import spectrum_edges

CASES = [("0.6", "0.5", "0.5", 0), ("-0.6", "0.9", 2, "0.3"), (0, 1, 3, 0)]


def between(low: float, high: float, count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights that are exact enough with square roots at both ends."""
    angle = (np.arange(count) + 0.5) * np.pi / count
    return (low + high) / 2 - (high - low) / 2 * np.cos(angle), (high - low) / 2 * np.sin(angle) * np.pi / count


@pytest.mark.parametrize(("a1", "nu", "c", "diagonal"), CASES)
def test_densities_have_the_moments_of_the_engine(a1: Any, nu: Any, c: Any, diagonal: Any) -> None:
    spectrum = hr.Attention(a1=a1, nu=nu, diagonal=diagonal).spectrum(c)
    edges = (0.0, *spectrum.edges()) if len(spectrum.edges()) % 2 else spectrum.edges()
    gram = np.zeros(4)
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        # in the cube root: densities diverge as x^(-1/2) or x^(-2/3) at 0
        root, weights = between(low ** (1 / 3), high ** (1 / 3))
        mass = spectrum.density(root**3) * 3 * root**2 * weights
        gram += [np.sum(mass * root ** (3 * k)) for k in range(4)]
    gram[0] += spectrum.atom()
    assert gram == pytest.approx([float(value) for value in spectrum.moments(3)], rel=1e-6)
    x, weights = between(-20.0, 20.0, 40000)
    kernel = [np.sum(spectrum.kernel_density(x) * x**k * weights) for k in range(4)]
    assert kernel == pytest.approx([float(v) for v in spectrum.moments(3, of="kernel")], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("a1", "nu", "c", "diagonal"), [*CASES, (1, 1, "1/4", 0), (1, "1.0001", "1/10", "0.3")])
def test_kernel_edges_against_the_discriminant(a1: Any, nu: Any, c: Any, diagonal: Any) -> None:
    """Critical points of the inverse transform here, the engine's polynomial and its branch there."""
    spectrum = hr.Attention(a1=a1, nu=nu, diagonal=diagonal).spectrum(c)
    edges = spectrum.kernel_edges(digits=30)
    n, p = hr.dimensions("n p")
    exact = [sympy.Rational(str(value)) for value in (a1, nu, c, diagonal)]
    slope, energy, ratio, shift = exact
    Z, W, z = hr.Gaussian("Z", p, n), hr.GOE("W", n), sympy.Symbol("z")
    sigma2, constant = (energy - slope**2) / ratio, shift - slope
    K = slope * Z.T * Z / p + sympy.sqrt(sigma2) * W + (constant - z) * sympy.Identity(n)
    right = spectrum_edges(hr.deterministic_equivalent(K.inv(), ratios={p: ratio * n}), z, {}, digits=30)
    assert [str(edge) for edge in edges] == [str(edge) for edge in right]
    middles = (np.array(edges[1:], dtype=float) + np.array(edges[:-1], dtype=float)) / 2
    assert (spectrum.kernel_density(middles) > 0).tolist() == [k % 2 == 0 for k in range(len(middles))]


@pytest.mark.slow
@pytest.mark.parametrize(("c", "diagonal"), [(4, 2), ("1/2", 1)])
def test_edges_against_the_discriminant(c: Any, diagonal: Any) -> None:
    """a_1 = 0: folds of the rational form here, the engine's polynomial of degree 7 and its branch there."""
    n, p = hr.dimensions("n p")
    ratio = sympy.Rational(c)
    Z, W, z = hr.Gaussian("Z", p, n), hr.GOE("W", n), sympy.Symbol("z")
    K = W / sympy.sqrt(ratio) + diagonal * sympy.Identity(n)
    gram = (K.T * Z.T * Z * K / n - z * sympy.Identity(n)).inv()
    right = spectrum_edges(hr.deterministic_equivalent(gram, ratios={p: ratio * n}), z, {}, digits=30)
    edges = hr.Attention(a1=0, nu=1, diagonal=diagonal).spectrum(c).edges(digits=30)
    assert [str(edge) for edge in edges] == [str(edge) for edge in right if edge]


def test_merging_edges_of_the_kernel() -> None:
    """a_1 = 1, c = 1/8: x'(h) has a double root at h = 1/4 where nu = 2."""
    tiny = Fraction(1, 10**30)
    open_gap, closed, merged = (
        hr.Attention(a1=1, nu=nu).spectrum("1/8").kernel_edges(digits=60) for nu in (2 - tiny, 2, 2 + tiny)
    )
    assert len(open_gap) == 4
    assert len(closed) == len(merged) == 2
    # the gap is of order (2 - nu)^(3/2)
    assert 0 < open_gap[2] - open_gap[1] < 1e-40
    assert abs(open_gap[1] - 4) < 1e-28  # x(1/4) = 4 - 1 + 8/4 + (1/8)/(1/8 - 1/4)


@pytest.mark.parametrize("exponent", [3, pytest.param(25, marks=pytest.mark.slow)])
def test_lower_edge_where_zero_leaves_the_spectrum_of_the_kernel(exponent: int) -> None:
    """c = 4, a_1 = 0, nu = 1: K has the bulk d +- 1; the lower edge falls like the square of the distance d - 1."""
    distance = Fraction(1, 10**exponent)
    lower, upper = hr.Attention(a1=0, nu=1, diagonal=1 + distance).spectrum(4).edges(digits=20)
    (closer, _) = hr.Attention(a1=0, nu=1, diagonal=1 + distance / 10).spectrum(4).edges(digits=20)
    assert float(lower / closer) == pytest.approx(100, rel=max(10 * float(distance), 1e-12))
    for at in (1, 1 - distance):
        (only,) = hr.Attention(a1=0, nu=1, diagonal=at).spectrum(4).edges(digits=20)
        assert abs(float(only - upper)) <= 100 * float(distance)


def test_kernel_edges_of_numbers_given_by_procedures() -> None:
    spectrum = hr.Attention(hr.Nonlinearity("tanh(x)")).spectrum("1/2")
    short, long = spectrum.kernel_edges(digits=20), spectrum.kernel_edges(digits=40)
    assert [str(a) for a in short] == [
        str(b)[: len(str(a)) - 1] + str(a)[-1] for a, b in zip(short, long, strict=True)
    ]
    assert abs(short[0] - long[0]) < 1e-19


def test_histograms_of_a_finite_matrix() -> None:
    n, p = 600, 300
    f = hr.Nonlinearity("tanh(x)")
    tokens = token_model(n, p, None, (None, None, None), None, "gaussian").draw(
        child_seed(np.random.SeedSequence(5), 0)
    )
    features, spectrum = AttentionFeatures(f), hr.Attention(f).spectrum(p / n)
    gram, kernel = gram_eigenvalues(features(tokens)), kernel_eigenvalues(tokens, features)
    _, high = spectrum.edges()
    assert np.sum(gram == 0) == n - p == spectrum.atom() * n
    for levels, density, end in ((gram, spectrum.density, high), (kernel, spectrum.kernel_density, kernel[-1] + 1)):
        for level in np.quantile(levels, (0.6, 0.7, 0.8, 0.9)):
            x, weights = between(level, end)
            # rigid eigenvalues: the counts differ by a few of n
            assert np.sum(density(x) * weights) == pytest.approx(np.mean(levels > level), abs=10 / n)


def test_transforms_at_complex_arguments() -> None:
    model = hr.Attention(a1="0.6", nu="0.5", overlaps=hr.Overlaps.aligned("1.5"))
    spectrum = model.spectrum("0.5")
    for name in ("stieltjes", "quadratic_form"):
        transform = getattr(spectrum, name)
        assert complex(transform(2 + 1j, digits=30)) == pytest.approx(transform(2 + 1j), rel=1e-12)
        below, above = transform(2 - 1j, digits=30), transform(2 + 1j, digits=30)
        assert (below.real, mpmath.mp.fneg(below.imag, exact=True)) == (above.real, above.imag)
        assert transform([1j, 2.0]).shape == (2,)
        right = getattr(model, "trace" if name == "stieltjes" else name)("0.5", "1/3", digits=30)
        assert abs(transform("-1/3", digits=30).real / right - 1) < 1e-29
    assert float(spectrum.density(2, digits=30)) == pytest.approx(spectrum.density(2.0), rel=1e-12)
    assert spectrum.density(["100", 2], digits=20)[0] == 0
    with pytest.raises(ValueError, match="z: got 0"):
        spectrum.stieltjes(0)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="a1: got an array"):
        hr.Attention(a1=[0.1, 0.2], nu=1).spectrum(1)
    beyond = hr.Attention(a1=0, nu="1e400").spectrum(1)
    for ask in (beyond.density, beyond.kernel_density, beyond.stieltjes):
        with pytest.raises(ValueError, match=r"nu: got .*ask for digits="):
            ask(1.0)
    with pytest.raises(SolveError, match="this is an edge of the spectrum, a double root"):
        hr.Attention(a1=0, nu=1).spectrum(1).stieltjes("27/4", digits=5)
    with pytest.raises(ValueError, match=r"moments: a1: got .*a computed number"):
        hr.Attention("tanh(x)").spectrum(1).moments(2)
    with pytest.raises(ValueError, match="of: got 'A'"):
        hr.Attention(a1=0, nu=1).spectrum(1).moments(2, of="A")


def test_doubles_off_the_spectrum_are_real() -> None:
    spectrum = hr.Attention(a1=0.6, nu=0.5).spectrum(0.5)
    lower, upper = spectrum.edges()
    points = [lower / 10, 0.99 * lower, 1.01 * lower, 0.99 * upper, 1.01 * upper, 10 * upper]
    outside = [True, True, False, False, True, True]
    assert ((spectrum.density(points) == 0) == outside).all()
    for ask in (spectrum.stieltjes, spectrum.quadratic_form):
        assert ((ask(points).imag == 0) == outside).all()
        assert ask(-1).imag == 0
        assert ask(-1 + 1e-12j).imag > 0
    reaches_zero = hr.Attention(a1=0.6, nu=0.5).spectrum(1)
    (end,) = reaches_zero.edges()
    assert ((reaches_zero.density([1e-6, 0.9 * end, 1.1 * end]) == 0) == [False, False, True]).all()
