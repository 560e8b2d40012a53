"""Attention at complex gamma: analytic, the right branch, and a density of the right mass and moments."""

from fractions import Fraction

import numpy as np
import pytest

from hermite_rmt.core.numbers import read_real
from hermite_rmt.core.solution import Outcome
from hermite_rmt.solvers.attention_complex import solve_complex, spectral_density
from hermite_rmt.solvers.attention_complex_digits import solve_complex_point
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_grid import solve_grid
from tests.solver_cases import OVERLAPS, box, exact


def model(c, a1, nu, diagonal, size):
    """c, a1, nu, eta, kappa as arrays."""
    return [np.full(size, value) for value in (c, a1, nu, nu - a1 * a1, diagonal - a1)]


def random_models(rng, size):
    """Points of the box with gamma not too far from the scale of the spectrum."""
    c, _, a1, nu, eta, kappa, _ = box(rng, size)
    return c, a1, nu, eta, kappa, nu * 10 ** rng.uniform(-3, 3, size)


def test_real_gamma_is_the_grid_solver():
    c, a1, nu, eta, kappa, gamma = random_models(np.random.default_rng(51), 500)
    right = solve_grid(c, gamma, a1, nu, eta, kappa, np.zeros((500, 6)))["trace"]
    found = solve_complex(c, gamma, a1, nu, eta, kappa)["trace"]
    np.testing.assert_allclose(found, right, rtol=1e-8)


def test_stieltjes_transform_of_a_probability_measure():
    """Im m > 0, Im(z m) >= 0 and |m| <= 1/|Im z| for Im z > 0; conjugate for Im z < 0."""
    rng = np.random.default_rng(52)
    c, a1, nu, eta, kappa, size = random_models(rng, 1000)
    z = size * np.exp(1j * rng.uniform(0.01, np.pi - 0.01, 1000))
    solution = solve_complex(c, -z, a1, nu, eta, kappa)
    assert (solution.outcome == Outcome.CONVERGED).all()
    m = solution["trace"]
    assert (m.imag > 0).all()
    assert ((z * m).imag >= -1e-12).all()
    assert (abs(m) <= (1 + 1e-12) / z.imag).all()
    np.testing.assert_allclose(solve_complex(c, -z.conj(), a1, nu, eta, kappa)["trace"], m.conj(), rtol=1e-12)


def test_analytic():
    """m at a centre is its mean over a circle around it, which no point on a wrong branch could be."""
    rng = np.random.default_rng(53)
    c, a1, nu, eta, kappa, size = random_models(rng, 200)
    angle = rng.uniform(-np.pi + 0.3, np.pi - 0.3, 200)
    centre = size * np.exp(1j * angle)
    circle = [
        solve_complex(c, centre * (1 + 0.05 * np.exp(2j * np.pi * k / 24)), a1, nu, eta, kappa)["trace"]
        for k in range(24)
    ]
    np.testing.assert_allclose(
        np.mean(circle, axis=0), solve_complex(c, centre, a1, nu, eta, kappa)["trace"], rtol=1e-9
    )


@pytest.mark.parametrize(("c", "a1", "diagonal"), [(0.5, 1.0, 0.0), (2.0, 0.7, 1.0), (3.0, -1.2, 0.5)])
def test_linear_nonlinearity_is_an_integral(c, a1, diagonal):
    """f linear: m = int dMP(x)/(gamma + c x (a_1 x + kappa)^2), by the trapezoidal rule in the angle."""
    z = np.array([0.5 + 0.5j, -1 + 0.3j, 2 + 1j, 5 + 0.7j])
    found = solve_complex(c + 0 * z.real, -z, *model(c, a1, a1 * a1, diagonal, 4)[1:])["trace"]
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    x = 1 + 1 / c - 2 * np.cos(angle) / np.sqrt(c)
    weight = 2 * np.sin(angle) ** 2 / x / 4000
    feature = c * x * (a1 * x + diagonal - a1) ** 2
    right = np.sum(weight / (feature - z[:, None]), axis=1) + max(1 - c, 0) / -z
    np.testing.assert_allclose(found, right, rtol=1e-9)


@pytest.mark.parametrize(("c", "a1", "nu"), [(0.5, 0.6, 0.5), (2.0, 0.6, 0.5), (1.0, 0.6, 0.5), (0.5, 0.0, 1.0)])
def test_density_has_the_right_mass_mean_and_transform(c, a1, nu):
    """Mass 1 with the atom (1 - c)_+ at 0; mean nu + a_1^2/c; its transform is the real solution."""
    s = (np.arange(3000) + 0.5) / 3000
    largest = 100 * nu / c
    x, weight = largest * s**4, 4 * largest * s**3 / 3000  # x = s^4: the hard edge at 0 becomes smooth
    density = spectral_density(x, *model(c, a1, nu, 0.0, 3000))
    assert np.isfinite(density).all()
    assert (density >= 0).all()
    assert density[-1] < 1e-12
    atom = max(1 - c, 0.0)
    assert np.sum(weight * density) + atom == pytest.approx(1, abs=1e-4)
    assert np.sum(weight * density * x) == pytest.approx(nu + a1 * a1 / c, rel=1e-4)
    gamma = np.array([0.1, 1.0, 10.0])
    right = solve_grid(*_reordered(gamma, model(c, a1, nu, 0.0, 3)), np.zeros((3, 6)))["trace"]
    found = np.sum(weight * density / (x + gamma[:, None]), axis=1) + atom / gamma
    np.testing.assert_allclose(found, right, rtol=1e-4)


@pytest.mark.parametrize("overlaps", [(0,) * 6, (2, "0.5", "-0.6", "1.3", "0.7", "-0.4")])
@pytest.mark.parametrize("parameters", [("1/2", "0.6", "0.5", 0), (2, "-0.6", "0.9", "0.3"), (1, 0, 2, 0)])
def test_digits(parameters, overlaps):
    """On gamma > 0 the real solver; elsewhere two precisions, the doubles, and the limit of the real axis."""
    c, *others = parameters
    point = exact(c, "1/3", *others, overlaps)
    right = solve_point(point, 40)
    found = solve_complex_point(point, numbers("-1/3", 0), 40)
    for name in ("trace", "quadratic_form"):
        assert found[name].imag == 0
        assert abs(found[name].real / right[name] - 1) < 1e-39
    arguments = [np.array([float(point[name])]) for name in ("c", "a1", "eta", "kappa", *OVERLAPS)]
    c, a1, eta, kappa, *gram = arguments
    for z in (("1", 0), ("1", "1"), ("2", "1e-40"), ("-2", "3"), ("1e6", 0)):
        short, long = (solve_complex_point(point, numbers(*z), digits) for digits in (20, 60))
        z = np.array([complex(float(Fraction(z[0])), float(Fraction(z[1])))])
        doubles = solve_complex(c, -z, a1, a1 * a1 + eta, eta, kappa, np.stack(gram, axis=-1))
        for name in ("trace", "quadratic_form"):
            assert long.outcome is Outcome.CONVERGED
            a, b = short[name], long[name]
            assert abs(a.real - b.real) <= abs(b.real) * 1e-20
            assert abs(a.imag - b.imag) <= abs(b.imag) * 1e-20
            assert doubles[name][0] == pytest.approx(complex(b), rel=1e-9)


def test_quadratic_form_is_analytic_and_solves_the_real_one():
    """q at a centre is its mean over a circle around it; with gamma > 0 that of the grid solver."""
    rng = np.random.default_rng(54)
    c, _, a1, nu, eta, kappa, overlaps = box(rng, 100)
    gamma = nu * 10 ** rng.uniform(-1, 3, 100)
    circle = [
        solve_complex(c, gamma * (1 + 0.3 * np.exp(2j * np.pi * k / 64)), a1, nu, eta, kappa, overlaps)[
            "quadratic_form"
        ]
        for k in range(64)
    ]
    right = solve_grid(c, gamma, a1, nu, eta, kappa, overlaps)["quadratic_form"]
    np.testing.assert_allclose(np.mean(circle, axis=0), right, rtol=1e-7)


def test_an_edge_is_refused_with_the_reason_and_its_neighbourhood_is_not():
    """a_1 = d = 0, c = 1, nu = 1: the edge is 27/4, a double root of D^3 = beta (1 - D)."""
    point = exact(1, 1, 0, 1)
    at = solve_complex_point(point, numbers("27/4", 0), 20)
    assert at.outcome is Outcome.NOT_CONVERGED
    assert "this is an edge of the spectrum, a double root" in at.notes[0]
    for exponent in (6, 30, 60):
        tiny = Fraction(1, 10**exponent)
        inside, outside = (solve_complex_point(point, numbers(Fraction(27, 4) + s * tiny, 0), 20) for s in (-1, 1))
        assert outside["trace"].imag == 0
        # z = D^3/(D - 1) = 27/4 + 9 (D - 3/2)^2 + ..., m = -D/z
        for found in (inside, outside):
            assert abs(found["trace"] * 27 / 4 + 1.5) < 10 ** (1 - exponent / 2)
        assert float(inside["trace"].imag) == pytest.approx(4 / 81 * 10 ** (-exponent / 2), rel=10 ** (-exponent / 4))


def numbers(real, imaginary):
    """z, exactly."""
    return read_real(Fraction(real), "z"), read_real(Fraction(imaginary), "z")


def _reordered(gamma, values):
    c, *rest = values
    return c, gamma, *rest
