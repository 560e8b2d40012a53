"""HermiteExpansion against the function it expands, and the algebra of expansions against that of polynomials."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hermite_rmt as hr
from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.expansion import HermiteExpansion

MP = local_context(300)
POINTS = np.linspace(-2.5, 2.5, 11)
small = st.lists(st.integers(-3, 3), min_size=1, max_size=6).map(
    lambda values: HermiteExpansion.of_coefficients([float(value) for value in values])
)


@pytest.fixture(scope="module")
def tanh():
    return hr.Nonlinearity("tanh(x)").expansion(60)


def test_partial_sums_converge_to_the_function(tanh):
    errors = np.abs(tanh.partial_sums(POINTS) - np.tanh(POINTS)).max(axis=1)
    assert errors[60] < errors[20] < errors[5]
    assert np.allclose(tanh.partial_sums(POINTS)[7], tanh(POINTS, order=7), rtol=1e-13, atol=1e-15)


def test_energies(tanh):
    assert tanh.parity == "odd"
    assert 0 <= tanh.nonlinear_energy - tanh.partial_nonlinear_energy <= tanh.tail_energy * (1 + 1e-6) + 1e-16
    assert tanh.tail_energy < 1e-9
    assert tanh.dual(1.0) == pytest.approx(tanh.nu - tanh.tail_energy, rel=1e-14)


def test_digits_are_kept():
    expansion = hr.Nonlinearity("tanh(x)").expansion(9, digits=40)
    exact = sum(MP.convert(a) ** 2 for a in expansion.coefficients)
    for value in (expansion.dual(1), MP.convert(expansion.nu) - MP.convert(expansion.tail_energy)):
        assert abs(MP.convert(value) - exact) < MP.mpf(10) ** -39
    # arithmetic of the expansion does not fall back to the global context
    assert abs(MP.convert((3 * expansion).coefficients[1]) - 3 * MP.convert(expansion.coefficients[1])) < 1e-39
    point = MP.mpf("0.3")
    assert abs(MP.convert(expansion.scaled(2)(point)) - expansion(2 * point)) < 1e-37


def test_energy_is_unknown_where_it_is_infinite():
    expansion = hr.Nonlinearity("exp(3*x^2/10)").expansion(4)
    assert expansion.nu is expansion.nonlinear_energy is expansion.tail_energy is None
    assert expansion.coefficients[0] == pytest.approx(math.sqrt(2.5), rel=1e-14)


@given(small, small)
def test_product_and_sum_are_those_of_the_polynomials(f, g):
    assert np.allclose((f * g)(POINTS), f(POINTS) * g(POINTS), rtol=1e-10, atol=1e-10)
    assert np.allclose((f + g)(POINTS), f(POINTS) + g(POINTS), rtol=1e-12, atol=1e-12)
    assert (f * g).order == f.order + g.order


@given(small, st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0]))
def test_scaling_is_composition(f, factor):
    assert np.allclose(f.scaled(factor)(POINTS), f(factor * POINTS), rtol=1e-9, atol=1e-9)


@given(small)
def test_derivative_and_stein(f):
    step = 1e-6
    numeric = (f(POINTS + step) - f(POINTS - step)) / (2 * step)
    assert np.allclose(f.derivative()(POINTS), numeric, rtol=1e-6, atol=1e-6)
    if f.order:
        assert f.derivative().coefficients[0] == f.coefficients[1]


@given(small)
def test_mean_of_the_square_is_nu(f):
    assert (f * f).coefficients[0] == pytest.approx(f.nu, rel=1e-12, abs=1e-12)


def test_dual_kernel_is_a_correlation():
    """E f(u) f(v) for relu: the arc-cosine kernel (Cho and Saul 2009)."""
    relu = hr.Nonlinearity("max(x, 0)").expansion(400)
    for rho in (-0.9, 0.0, 0.4, 0.8):
        angle = math.acos(rho)
        exact = (math.sin(angle) + (math.pi - angle) * rho) / (2 * math.pi)
        assert abs(relu.dual(rho) - exact) <= relu.tail_energy * abs(rho) ** 401 + 1e-15


@pytest.mark.parametrize("x", [0.0, 1.3, 20.0, 40.0])
def test_order_2000_does_not_overflow(x):
    coefficients = [0.0] * 2001
    coefficients[2000] = 1.0
    value = HermiteExpansion.of_coefficients(coefficients)(x)
    previous, current = MP.zero, MP.one
    for k in range(2000):
        previous, current = current, (MP.mpf(x) * current - MP.sqrt(k) * previous) / MP.sqrt(k + 1)
    assert abs(value / current - 1) < 1e-11


@pytest.mark.parametrize(("identifier", "k", "x"), [("c08", 100, 8.0), ("c09", 400, 1.0)])
def test_hard_cases_of_high_degree(hard_cases, identifier, k, x):
    """He_100(8) from its monomials, and He_400(1)/sqrt(400!) by way of the factorial, are what doubles get wrong."""
    (row,) = [row for row in hard_cases("c") if row["id"] == identifier]
    right = MP.mpf(row["right_value"])
    if identifier == "c08":  # given without its norm
        right /= MP.sqrt(MP.factorial(k))
    value = HermiteExpansion.of_coefficients([0.0] * k + [1.0])(x)
    assert abs(value / right - 1) < 1e-12


def test_beyond_double_range_is_infinite_not_wrong():
    square = HermiteExpansion.of_coefficients([0.0] * 300 + [1.0])
    assert square(1e10) == math.inf
    assert mpmath.isfinite(square(MP.mpf(10) ** 10))


def test_printing():
    text = HermiteExpansion.of_coefficients([0.5, 0, 1e-7, -2.0], 4.25)
    assert repr(text) == "HermiteExpansion((0.5, 0, 1e-07, -2.0), nu=4.25)"
    assert text._repr_latex_() == r"$f(x) \approx 0.5 +1\cdot 10^{-7}\, h_{2}(x) -2\, h_{3}(x)$"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda f: f(0.0, order=9), "order"),
        (lambda f: f.dual(1.5), "rho"),
        (lambda f: HermiteExpansion.of_coefficients([]), "coefficients"),
        (lambda f: HermiteExpansion.of_coefficients([math.nan]), "coefficients"),
    ],
)
def test_bad_input(call, name):
    with pytest.raises(ValueError, match=name):
        call(HermiteExpansion.of_coefficients([1.0, 2.0]))
