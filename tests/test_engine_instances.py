"""Models beyond the paper, as expressions: any weights, softmax attention; against values found by simulation."""

import pytest
import sympy
from engine_models import IDENTITY, RATIOS, W, Z, a1, c, gamma, n, p

from hermite_rmt.equivalents.ensembles import GOE, Elliptic, Ginibre
from hermite_rmt.equivalents.entrywise import entrywise, off_diagonal
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.theory.equivalent import deterministic_equivalent

eta, tau = sympy.symbols("eta tau")
tanh, relu = Nonlinearity("tanh(x)"), Nonlinearity("max(x, 0)").centred()


def resolvent(K):
    return deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), RATIOS)


def numbers(f):
    first = f.coefficient(1)
    return {a1: first, eta: f.nu() - first**2, c: 0.5, gamma: 0.1}


def test_gaussian_weights_make_the_noise_lose_its_symmetry():
    # scores X^T G X / sqrt p, G of independent entries: the noise is a Ginibre matrix
    K = a1 * Z.T * Ginibre("G", p) * Z / p + Ginibre("H", n, eta / c)
    assert abs(resolvent(K).trace(numbers(tanh)) - 6.7086) < 0.007  # simulated 6.706 +- .007 at p = 300


def test_symmetric_weights_keep_it():
    K = a1 * Z.T * GOE("G", p) * Z / p + GOE("H", n, eta / c)
    assert abs(resolvent(K).trace(numbers(relu)) - 6.569) < 0.005


def test_wishart_weights():
    G = Ginibre("G", p)
    K = a1 * (Z.T * G * G.T * Z / p - IDENTITY) / sympy.sqrt(2) + GOE("H", n, eta / c)
    assert abs(resolvent(K).trace(numbers(tanh)) - 7.160) < 0.008


def test_elliptic_noise_interpolates():
    K = a1 * Z.T * Ginibre("G", p) * Z / p + Elliptic("H", n, eta / c, correlation=tau)
    free = a1 * Z.T * Ginibre("G", p) * Z / p + Ginibre("H", n, eta / c)
    bound = a1 * Z.T * Ginibre("G", p) * Z / p + GOE("H", n, eta / c)
    values = numbers(tanh)
    assert abs(resolvent(K).trace({**values, tau: 0}) / resolvent(free).trace(values) - 1) < 1e-13
    assert abs(resolvent(K).trace({**values, tau: 1}) / resolvent(bound).trace(values) - 1) < 1e-13


def test_the_elliptic_law():
    found = deterministic_equivalent((Elliptic("H", n, correlation=tau) + gamma * IDENTITY).inv()).polynomial()
    m = next(s for s in found.polynomial.free_symbols if s.name == "m")
    assert sympy.cancel(found.polynomial / (tau * m**2 - gamma * m + 1)).is_number
    assert deterministic_equivalent(W, RATIOS).moments(2, {}) == [1, 0, 1]


@pytest.mark.parametrize(
    ("formula", "ratio", "expected"),
    [
        ("exp(x/2 - 1/8) - 1", 0.5, 7.17702),
        ("exp(x/2 - 1/8) - 1", 2, 5.29958),
        ("exp(x - 1/2) - 1", 0.5, 5.65499),
        ("exp(x - 1/2) - 1", 2, 2.68444),
    ],
)
def test_softmax_attention_is_the_kernel_of_a_centred_exponential(formula, ratio, expected):
    K = off_diagonal(entrywise(formula, Z.T * Z / sympy.sqrt(p))) / sympy.sqrt(p)
    assert abs(resolvent(K).trace({c: ratio, gamma: 0.1}) - expected) < 6e-6
