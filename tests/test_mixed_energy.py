"""E[f g] of two nonlinearities: by the product, or by sums where the product cannot be written down."""

import pickle

import numpy as np
import pytest
import sympy

from hermite_rmt.hermite.mixed import real_mixed_energy
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.theory.centred import mixed_energy

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
DOUBLES = {
    "silu(x)": lambda x: x / (1 + np.exp(-x)),
    "softplus(x)": lambda x: np.log1p(np.exp(x)),
    "sin(x)": np.sin,
    "x": lambda x: x,
}


def centred_mean(first, second):
    """By Gauss's rule, which is exact to rounding for functions this smooth."""
    values = [DOUBLES[name](POINTS) for name in (first, second)]
    left, right = (value - WEIGHTS @ value for value in values)
    return WEIGHTS @ (left * right)


@pytest.mark.parametrize("first", DOUBLES)
@pytest.mark.parametrize("second", ["silu(x)", "sin(x)"])
def test_mixed_energies_of_centred_functions(first, second):
    f, g = Nonlinearity(first).centred(), Nonlinearity(second).centred()
    assert float(real_mixed_energy(f, g)) == pytest.approx(centred_mean(first, second), rel=1e-11, abs=1e-13)


def test_exact_where_a_closed_form_exists():
    energy = real_mixed_energy(Nonlinearity("x"), Nonlinearity("x**3 - 3*x"))
    assert energy.rational == 0
    assert real_mixed_energy(Nonlinearity("sin(x)"), Nonlinearity("x")).expression == sympy.exp(-sympy.S.Half)


def test_enclosures_hold_the_number():
    pytest.importorskip("flint")
    energy = real_mixed_energy(Nonlinearity("softplus(x)").centred(), Nonlinearity("x**2 - 1"))
    ball = energy.enclosure(15)
    assert energy.mpf(120) in ball
    assert ball.rad < abs(ball.mid) * 1e-15
    assert pickle.loads(pickle.dumps(energy)).enclosure(15) == ball


def test_callables_in_double():
    f = Nonlinearity(lambda x: np.tanh(x) * 1.0)
    right = WEIGHTS @ (np.tanh(POINTS) * POINTS)
    assert mixed_energy(f, Nonlinearity("x")) == pytest.approx(right, rel=1e-9)
    g = Nonlinearity("silu(x)").centred()
    values = POINTS / (1 + np.exp(-POINTS))
    right = WEIGHTS @ (np.tanh(POINTS) * (values - WEIGHTS @ values))
    assert mixed_energy(f, g) == pytest.approx(right, rel=1e-9)
