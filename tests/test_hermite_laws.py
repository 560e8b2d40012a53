"""Laws of Hermite coefficients, for random members of all families, with and without closed form."""

import math

import pytest
import sympy as sp
from families import everything, members, nonzero, points, saturating, smooth
from hypothesis import given, settings
from hypothesis import strategies as st

from hermite_rmt import Nonlinearity
from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite import certified, quadrature
from hermite_rmt.hermite.integrand import Integrand, X

DIGITS = 25
MP = local_context(200)
orders = st.integers(0, 4)


def of(expression):
    return Nonlinearity(expression, variable=X)


def exact(value):
    return MP.mpf(str(sp.N(value, 50)))


def close(a, b, scale=1):
    """Equal to a few units of the digits asked for, relative to the larger of both and `scale`."""
    size = max(abs(MP.convert(a)), abs(MP.convert(b)), MP.convert(scale))
    return abs(MP.convert(a) - MP.convert(b)) <= 20 * MP.mpf(10) ** -DIGITS * size


def coefficient(expression, k=0):
    return MP.convert(of(expression).coefficient(k, digits=DIGITS))


@settings(max_examples=12)
@given(members, orders)
def test_closed_form_and_quadrature_agree(f, k):
    integrand = Integrand.of_expression(f)
    by_quadrature = quadrature.coefficient(integrand, k, DIGITS)
    assert close(by_quadrature, coefficient(f, k), MP.mpf(10) ** -200)
    exact_form = of(f).closed_form(k)
    assert exact_form is not None
    if exact_form != 0:
        assert close(by_quadrature, exact(exact_form), MP.mpf(10) ** -200)


@settings(max_examples=8)
@given(st.one_of(smooth, saturating), orders)
def test_ball_of_quadrature_contains_the_value(f, k):
    pytest.importorskip("flint")
    ball = certified.certified_coefficient(Integrand.of_expression(f), k, 15)
    value = of(f).coefficient(k, digits=DIGITS + 15)
    assert ball.lower <= value <= ball.upper


@settings(max_examples=10)
@given(everything, orders)
def test_two_precisions_agree(f, k):
    low, high = (of(f).coefficient(k, digits=digits) for digits in (DIGITS, 2 * DIGITS + 1))
    assert close(low, high, 0)


@settings(max_examples=8)
@given(everything, everything, nonzero(-2, 2), orders)
def test_linear(f, g, a, k):
    parts = coefficient(f, k), exact(a) * coefficient(g, k)
    assert close(sum(parts), coefficient(f + a * g, k), max(map(abs, parts)))


@settings(max_examples=8)
@given(everything, orders)
def test_reflection(f, k):
    assert close(coefficient(f, k) * (-1) ** k, of(f).scaled(-1).coefficient(k, digits=DIGITS), 0)


@settings(max_examples=8)
@given(st.one_of(smooth, saturating), points)
def test_shift_is_a_change_of_measure(f, s):
    """E f(xi + s) = exp(-s^2/2) E f(xi) exp(s xi)."""
    tilted = coefficient(f * sp.exp(s * X)) * exact(sp.exp(-(s**2) / 2))
    assert close(of(f).shifted(s).mean(digits=DIGITS), tilted, 1 + coefficient(f**2))


@settings(max_examples=8)
@given(st.one_of(members, saturating), st.sampled_from([sp.Rational(1, 3), sp.Rational(1, 2), sp.Rational(3, 4)]))
def test_scaling_is_a_change_of_variance(f, b):
    """E f(b xi) = E f(xi) exp((1 - 1/b^2) xi^2 / 2) / b."""
    narrowed = coefficient(f * sp.exp((1 - 1 / b**2) * X**2 / 2)) / exact(b)
    assert close(of(f).scaled(b).mean(digits=DIGITS), narrowed)


@settings(max_examples=8)
@given(st.one_of(smooth, saturating.filter(lambda f: not f.has(sp.Abs))), orders)
def test_stein(f, k):
    """sqrt(k + 1) a_(k+1)(f) = a_k(f')."""
    assert close(MP.sqrt(k + 1) * coefficient(f, k + 1), coefficient(sp.diff(f, X), k))


@settings(max_examples=8)
@given(st.one_of(smooth, saturating.filter(lambda f: not f.has(sp.Abs))), st.integers(3, 12))
def test_parseval_with_its_remainder(f, order):
    """0 <= nu - sum_(k <= K) a_k^2 <= E f'^2 / (K + 1): Parseval, with Poincare's inequality for the rest."""
    values = [MP.convert(value) for value in of(f).coefficients(order, digits=DIGITS)]
    nu = MP.convert(of(f).nu(digits=DIGITS))
    slope = MP.convert(of(sp.diff(f, X)).nu(digits=DIGITS)) if sp.diff(f, X) != 0 else MP.zero
    rest = nu - sum(value**2 for value in values)
    rounding = 20 * MP.mpf(10) ** -DIGITS * nu
    assert -rounding <= rest <= slope / (order + 1) + rounding


@settings(max_examples=8)
@given(everything, everything)
def test_energy_of_a_sum(f, g):
    """nu(f + g) = nu(f) + nu(g) + 2 E f g."""
    one, other = of(f).nu(digits=DIGITS), of(g).nu(digits=DIGITS)
    both = MP.convert(one) + MP.convert(other)
    assert close(of(f + g).nu(digits=DIGITS), both + 2 * MP.convert((of(f) * of(g)).mean(digits=DIGITS)), both)


@settings(max_examples=8)
@given(everything, st.integers(0, 6))
def test_conventions(f, k):
    """sqrt(k!) a_k = E f He_k = 2^(-k/2) E f(xi) H_k(xi / sqrt 2), He probabilists', H physicists'."""
    unnormalised = coefficient(f, k) * MP.sqrt(math.factorial(k))
    scale = MP.sqrt(math.factorial(k) * MP.convert(of(f).nu(digits=DIGITS)))
    assert close(unnormalised, coefficient(f * sp.hermite_prob(k, X)), scale)
    physicists = coefficient(f * sp.expand(sp.hermite(k, X / sp.sqrt(2))))
    assert close(unnormalised * MP.mpf(2) ** (MP.mpf(k) / 2), physicists, scale * 2**k)
