"""Attention at complex gamma: analytic, the right branch, and a density of the right mass and moments."""

import numpy as np
import pytest

from hermite_rmt.core.solution import Outcome
from hermite_rmt.solvers.attention_complex import solve_complex, spectral_density
from hermite_rmt.solvers.attention_grid import solve_grid
from tests.solver_cases import box


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


def _reordered(gamma, values):
    c, *rest = values
    return c, gamma, *rest
