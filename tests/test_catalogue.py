"""The named nonlinearities: formulas, laws they are built to satisfy, the table."""

import math

import numpy as np
import pytest
import sympy as sp
from scipy import special

import hermite_rmt as hr
from hermite_rmt.hermite import formulas
from hermite_rmt.hermite.catalogue import Catalogue, Family, Row, slope_at_infinity
from hermite_rmt.hermite.integrand import X

CATALOGUE = hr.nonlinearities
GRID = np.array([-4.2, -2.0, -1.3, -1.0, -0.4, 0.0, 0.2, 0.9, 1.7, 3.6])


def softplus(x):
    return np.logaddexp(0, x)


NUMPY = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "softplus": softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "erf": special.erf,
    "normal_cdf": special.ndtr,
    "atan": np.arctan,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "step": lambda x: np.heaviside(x, 0.5),
    "abs": np.abs,
    "exp": np.exp,
    "square": np.square,
    "clip": lambda x: np.clip(x, -1, 1),
    "dead_zone": lambda x: np.where(np.abs(x) > 1, x, 0),
    "soft_threshold": lambda x: np.sign(x) * np.maximum(np.abs(x) - 1, 0),
    "quantiser": lambda x: np.where(np.isin(x, [-1, 0, 1]), x, np.clip(np.floor(x), -2, 1) + 0.5),
    "hermite": lambda x: x**2 - 1,
}


def test_the_list_is_complete():
    assert set(CATALOGUE.names) == set(NUMPY) == set(formulas.FORMULAS)
    assert len(CATALOGUE) == len(NUMPY)
    assert [f.name for f in CATALOGUE] == list(CATALOGUE.names)


@pytest.mark.parametrize("f", list(CATALOGUE), ids=lambda f: f.name)
def test_values(f):
    np.testing.assert_allclose(f(GRID), NUMPY[f.name](GRID), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", list(CATALOGUE), ids=lambda f: f.name)
def test_first_coefficient_is_the_mean_slope(f):
    # Stein: a_1 = E f' + (the jumps of f) phi; differences of f see both
    step = 0.05
    difference = (f.shifted(step) - f.shifted(-step)).mean() / (2 * step)
    third = abs(f.coefficient(3)) + abs(f.coefficient(5)) + 0.1
    assert difference == pytest.approx(f.coefficient(1), abs=2 * third * step**2 * 10)


@pytest.mark.parametrize("f", list(CATALOGUE), ids=lambda f: f.name)
def test_rows(f):
    row = Row.of(f, 5, None)
    assert len(row.coefficients) == 6
    assert math.fsum(a**2 for a in row.coefficients) <= row.nu * (1 + 1e-12)
    assert 0 <= row.linear_fraction <= 1 + 1e-12
    if row.parity == "even":
        assert row.coefficients[1::2] == (0.0, 0.0, 0.0)
    if row.parity == "odd":
        assert row.coefficients[0::2] == (0.0, 0.0, 0.0)
    if row.closed:
        for k, value in enumerate(row.coefficients):
            assert value == pytest.approx(float(sp.N(f.closed_form(k), 20)), rel=1e-14, abs=1e-100)
    if row.closed_nu:
        assert row.nu == pytest.approx(float(sp.N(f.closed_form_nu(), 20)), rel=1e-14)
    far = 1e8
    if row.slope.is_finite:
        assert f(far) / far == pytest.approx(float(row.slope), abs=1e-7)
    else:
        assert f(200.0) / 200.0 >= 199


def test_table():
    small = Catalogue()
    for name in ("relu", "tanh", "identity"):
        small.register(name, CATALOGUE[name])
    rows = small.table(order=2, digits=20)
    assert [row.name for row in rows] == ["identity", "tanh", "relu"]
    assert str(rows[2].coefficients[0]) == "0.39894228040143267794"
    assert [row.slope for row in rows] == [1, 0, 1]


def test_selu_normalises():
    # its two constants are those that make E f = 0 and E f^2 = 1
    assert CATALOGUE.selu.nu(digits=30) == pytest.approx(1, abs=1e-29)
    assert abs(CATALOGUE.selu.coefficients(1, digits=30)[0]) < 1e-29


@pytest.mark.parametrize("order", [0, 1, 2, 7, 30])
def test_hermite(order):
    f = CATALOGUE.hermite(order)
    assert f.closed_form(order) == sp.sqrt(sp.factorial(order))
    assert f.closed_form_nu() == sp.factorial(order)
    assert f.closed_form(order + 1) == 0


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_quantisers(bits):
    f = CATALOGUE.quantiser(bits, limit=2)
    assert len(np.unique(f(np.linspace(-5, 5, 4001)))) >= 2**bits
    assert f.parity == "odd"
    # finer cells: closer to clipping, the linear part grows
    finer = CATALOGUE.quantiser(bits + 1, limit=2)
    assert Row.of(finer, 1, None).linear_fraction > Row.of(f, 1, None).linear_fraction
    if bits == 1:
        assert f == hr.Nonlinearity(sp.sign(X))


def test_families():
    assert isinstance(CATALOGUE.leaky_relu, Family)
    assert CATALOGUE.leaky_relu() == CATALOGUE.leaky_relu("0.01") == hr.Nonlinearity(CATALOGUE.leaky_relu)
    assert CATALOGUE.leaky_relu("0.2").name == "leaky_relu(slope=1/5)"
    assert CATALOGUE.clip(lower=-1) == CATALOGUE.hard_tanh
    a = sp.Symbol("a")
    assert sp.expand(CATALOGUE.leaky_relu(a).closed_form(1) - (1 + a) / 2) == 0
    assert CATALOGUE.soft_threshold("1.5").coefficient(1) == pytest.approx(math.erfc(1.5 / math.sqrt(2)), rel=1e-15)
    for call in (
        lambda: CATALOGUE.leaky_relu(1, 2),
        lambda: CATALOGUE.leaky_relu(sloop=1),
        lambda: CATALOGUE.elu(1, alpha=1),
    ):
        with pytest.raises(TypeError, match="takes the parameters"):
            call()
    for bad in (0, 13, 2.5):
        with pytest.raises(ValueError, match="bits"):
            CATALOGUE.quantiser(bad)


def test_a_user_adds_one():
    mine = Catalogue()
    mine.register("bump", "exp(-x^2)")
    mine.register("cube", lambda x: x**3)
    mine.register_family("power", lambda x, p=2: sp.Max(x, 0) ** p)
    assert mine.names == ("bump", "cube", "power")
    assert mine.bump.closed_form_nu() == 1 / sp.sqrt(5)
    assert mine.cube.name == "cube"
    assert mine.power(3).closed_form_nu() == sp.Rational(15, 2)
    assert "bump" in mine
    for name in ("bump", "not a name", "register"):
        with pytest.raises(ValueError, match="identifier"):
            mine.register(name, "x")
    with pytest.raises(AttributeError, match="no nonlinearity 'relu'"):
        _ = mine.relu
    with pytest.raises(KeyError, match="relu"):
        _ = mine["relu"]


@pytest.mark.parametrize(
    ("text", "slope"), [("2x + tanh(x)", 2), ("sin(x)", 0), ("abs(x - 3)", 1), ("x^2", sp.oo), ("-exp(x)", -sp.oo)]
)
def test_slope_at_infinity(text, slope):
    assert slope_at_infinity(hr.Nonlinearity(text)) == slope


def test_slope_of_a_callable_is_not_known():
    with pytest.raises(ValueError, match="callable"):
        slope_at_infinity(hr.Nonlinearity(lambda x: x))
