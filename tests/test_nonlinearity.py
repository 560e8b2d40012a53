"""Nonlinearity: what it is made of, exact centring, arithmetic, evaluation, identity."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from families import members, nonzero, points, slopes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import hermite_rmt as hr
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import ComputedReal, KnownDigits, RationalReal, SymbolicReal
from hermite_rmt.hermite.integrand import X

N = hr.Nonlinearity
CONTEXT = local_context(400)


def exactly(value):
    """The value in a context where arithmetic keeps its digits."""
    return CONTEXT.convert(value)


def close(left, right, digits):
    left, right = CONTEXT.convert(left), CONTEXT.convert(right)
    return abs(left - right) <= CONTEXT.mpf(10) ** -digits * max(abs(left), abs(right), CONTEXT.mpf(10) ** -10)


# Sources


@pytest.mark.parametrize(
    "source",
    [
        "tanh(x)",
        "np.tanh(t)",
        sp.tanh(sp.Symbol("x")),
        sp.tanh(sp.Symbol("y", positive=True)),
        sp.tanh,
        np.tanh,
        math.tanh,
        N("tanh(x)"),
        hr.nonlinearities.tanh,
    ],
    ids=repr,
)
def test_one_function_from_many_sources(source):
    f = N(source)
    assert f == N("tanh(x)")
    assert hash(f) == hash(N("tanh(x)"))
    assert f.parity == "odd"
    assert f.expression == sp.tanh(X)


def test_assumptions_of_the_symbol_do_not_matter():
    for assumptions in ({}, {"real": True}, {"positive": True}, {"negative": True}, {"integer": True}):
        x = sp.Symbol("x", **assumptions)
        assert N(x**3 + sp.exp(x), variable=x).closed_form(1) == N("x^3 + e^x").closed_form(1)


def test_two_symbols_of_one_name_are_one_variable():
    plain, real = sp.Symbol("x"), sp.Symbol("x", real=True)
    assert N(plain * real) == N("x^2")


@pytest.mark.parametrize("scipy_function", [special.erf, special.expit, special.ndtr])
def test_scipy_functions_are_recognised(scipy_function):
    f = N(scipy_function)
    assert f.expression is not None
    grid = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(f(grid), scipy_function(grid), rtol=1e-14)


def test_floats_in_expressions_are_the_numbers_they_are():
    x = sp.Symbol("x")
    assert N(0.5 * x).coefficient(1) == 0.5
    assert N(0.1 * x).closed_form(1) == sp.Rational(0.1)
    assert N("0.1x").closed_form(1) == sp.Rational(1, 10)


def test_constants_and_conditions():
    assert N(2).mean() == 2.0
    assert N(sp.Symbol("x") > 0) == N("x > 0")


@pytest.mark.parametrize("source", [None, True, [1, 2], {"x": 1}, object()])
def test_other_types_are_refused(source):
    with pytest.raises(TypeError, match="f: got"):
        N(source)


def test_more_than_one_symbol_is_refused():
    x, y = sp.symbols("x y")
    with pytest.raises(ValueError, match="x, y"):
        N(x * y)
    with pytest.raises(ValueError, match="a, x"):
        N("a*x")


# Parameters


def test_parameters():
    f = N("max(x, a*x)", variable="x")
    assert [str(symbol) for symbol in f.parameters] == ["a"]
    assert f.substitute({"a": "0.2"}) == N("max(x, 0.2x)")
    assert f.closed_form(1).subs(f.parameters[0], sp.Rational(1, 5)) == sp.Rational(3, 5)
    for ask in (f.mean, f.nu, lambda: f(1.0)):
        with pytest.raises(ValueError, match="parameters a have no values"):
            ask()
    with pytest.raises(ValueError, match="got b; allowed: a"):
        f.substitute({"b": 1})


# Numbers


def test_kinds_of_numbers():
    f = N("relu(x)")
    assert isinstance(f.mean(), float)
    assert isinstance(f.mean(digits=30), KnownDigits)
    assert str(f.mean(digits=30)) == "0.398942280401432677939946059934"
    assert f.coefficients(3)[1] == f.coefficient(1) == 0.5
    assert f.coefficient(0) == f.mean()
    assert pickle.loads(pickle.dumps(f.mean(digits=30))) == f.mean(digits=30)


@settings(max_examples=15)
@given(members, st.integers(0, 5))
def test_floats_are_the_rounded_digits(f, k):
    assert N(f).coefficient(k) == pytest.approx(float(N(f).coefficient(k, digits=25)), rel=1e-15, abs=1e-300)


@pytest.mark.parametrize("digits", [0, -1, 1.5, "10", True])
def test_digits_are_checked(digits):
    with pytest.raises(ValueError, match="digits"):
        N("x").mean(digits=digits)


@pytest.mark.parametrize("k", [-1, 1.5, "1", None, True])
def test_orders_are_checked(k):
    for ask in (N("x").coefficient, N("x").closed_form, N("x").coefficients):
        with pytest.raises(ValueError, match="got"):
            ask(k)
    with pytest.raises(ValueError, match="nonnegative"):
        N("x").closed_form(sp.Symbol("k"))


def test_reals_are_exact_where_a_closed_form_exists():
    assert N("relu(x)").real_nu() == RationalReal(Fraction(1, 2))
    assert N("relu(x)").real_coefficient(0) == SymbolicReal(1 / sp.sqrt(2 * sp.pi))
    assert N("relu(x)").centred().real_coefficient(0) == RationalReal(Fraction(0))
    computed = N("tanh(x)").real_nu()
    assert isinstance(computed, ComputedReal)
    assert close(computed.mpf(130), CONTEXT.mpf("0.394294490397841174416459772444119560573790749"), 38)


def test_a_coefficient_may_exist_where_the_energy_does_not():
    f = N("exp(0.3x^2)")
    assert f.mean() == pytest.approx(math.sqrt(2.5), rel=1e-15)
    for ask in (f.nu, f.centred().nu, lambda: f.nu(digits=20), f.real_nu().__float__, lambda: f.nu(certified=True)):
        with pytest.raises(ValueError, match="not square integrable"):
            ask()


# Centring


@pytest.mark.parametrize("text", ["relu(x)", "gelu(x)", "softplus(x)", "exp(x) + 1", "x^2"])
@pytest.mark.parametrize("digits", [None, 20, 60])
def test_centring_is_exact_to_any_digits(text, digits):
    f = N(text)
    g = f.centred()
    assert g.mean(digits=digits) == 0
    assert g.is_centred()
    assert not f.is_centred()
    assert g.centred() is g
    tolerance = 14 if digits is None else digits - 1
    assert close(g.nu(digits=digits), exactly(f.nu(digits=90)) - exactly(f.mean(digits=90)) ** 2, tolerance)
    assert g.coefficients(3, digits=digits)[1:] == f.coefficients(3, digits=digits)[1:]
    assert g.parity == f.parity


def test_centring_keeps_all_digits_when_almost_everything_cancels():
    small = sp.Rational(1, 10**30)
    g = N(1 + small * sp.tanh(X)).centred()
    expected = CONTEXT.mpf(10) ** -60 * N("tanh(x)").nu(digits=40)
    assert close(g.nu(digits=30), expected, 29)
    assert g.nu() == pytest.approx(float(expected), rel=1e-14)


def test_closed_forms_of_centred_functions():
    k = sp.Symbol("k", integer=True, nonnegative=True)
    f, g = N("relu(x)"), N("relu(x)").centred()
    assert g.closed_form(0) == 0
    assert g.closed_form(2) == f.closed_form(2)
    assert sp.simplify(g.closed_form_nu() - (sp.S.Half - 1 / (2 * sp.pi))) == 0
    assert g.closed_form(k).subs(k, 0) == 0
    assert g.closed_form(k).subs(k, 4) == f.closed_form(k).subs(k, 4)
    assert g.expression == sp.Max(X, 0) - 1 / sp.sqrt(2 * sp.pi)


def test_is_centred():
    assert N("tanh(x)").is_centred()
    assert N("sigmoid(x) - 1/2").is_centred()
    assert N("x^2 - 1").is_centred()
    assert not N("cos(x)").is_centred()
    assert N(lambda t: math.sinh(t) / math.cosh(t)).is_centred()


def test_the_mean_of_one_function_off_another():
    # f(2x) - E f(x) is not centred
    f = N("softplus(x)")
    g = f.centred().scaled(2)
    assert not g.is_centred()
    expected = exactly(f.scaled(2).mean(digits=30)) - f.mean(digits=30)
    assert close(g.mean(digits=25), expected, 24)
    energy = exactly(f.scaled(2).nu(digits=30)) - exactly(f.scaled(2).mean(digits=30)) ** 2
    assert close(g.nu(digits=25), energy + expected**2, 24)
    assert g(1.0) == pytest.approx(f(2.0) - f.mean(), rel=1e-14)


# Arithmetic


@settings(max_examples=15)
@given(members, members, nonzero(-2, 2), points)
def test_arithmetic_is_that_of_functions(f, g, a, b):
    grid = np.array([-2.3, -0.4, 0.31, 1.7])
    left, right = N(f), N(g)
    scale, shift = float(a), float(b)
    for made, expected in [
        (left + right, left(grid) + right(grid)),
        (left - right, left(grid) - right(grid)),
        (left * right, left(grid) * right(grid)),
        (a * left, scale * left(grid)),
        (left / a, left(grid) / scale),
        (-left, -left(grid)),
        (left + a, left(grid) + scale),
        (a - left, scale - left(grid)),
        (left.scaled(a), left(scale * grid)),
        (left.shifted(b), left(grid + shift)),
    ]:
        np.testing.assert_allclose(made(grid), expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=15)
@given(members, slopes)
def test_centring_is_linear(f, a):
    g = N("softplus(x)")
    assert (a * N(f).centred()) == (a * N(f)).centred()
    assert (N(f).centred() + g.centred()) == (N(f) + g).centred()
    assert (N(f).centred() - g.centred()).mean(digits=20) == 0


@pytest.mark.parametrize(
    "number", [2, 2.0, np.float64(2), np.int64(2), Fraction(2), Decimal(2), mpmath.mpf(2), sp.Integer(2)]
)
def test_numbers_of_any_type(number):
    assert number * N("x") == N("x") * number == N("2x")
    assert number + N("x") == N("x+2")


def test_bad_operands():
    with pytest.raises(TypeError):
        N("x") + "tanh(x)"
    with pytest.raises(ValueError, match="scale"):
        N("x").scaled(0)
    with pytest.raises(ZeroDivisionError):
        N("x") / 0
    with pytest.raises(ValueError, match="multiply before centring"):
        N("softplus(x)").centred() * N("x")
    assert (N("relu(x)").centred() * N("x")).closed_form(0) == sp.S.Half


# Callables


def scalar_relu(t):
    return t if t > 0 else 0


def test_callables():
    f = N(scalar_relu, name="mine")
    assert f.name == "mine"
    assert f.expression is None
    assert f.closed_form(1) is None
    assert f.closed_form_nu() is None
    assert f(np.array([-1.0, 0.5, 1.5])).tolist() == [0.0, 0.5, 1.5]
    assert f(2) == 2.0
    assert pickle.loads(pickle.dumps(f)) == f
    made = 2 * f + N("x")
    assert made(np.array([-1.0, 0.5])).tolist() == [-1.0, 1.5]
    assert pickle.loads(pickle.dumps(made))(0.5) == 1.5
    assert f.scaled(2)(1.0) == 2.0


def test_numbers_of_callables():
    f = N(scalar_relu, breakpoints=[0])
    assert f.nu() == pytest.approx(0.5, rel=1e-10)
    assert f.centred().nu() == pytest.approx(0.5 - 1 / (2 * math.pi), rel=1e-9)


# Evaluation


def test_evaluation():
    f = N("relu(x)").centred()
    assert isinstance(f(1.0), float)
    assert f(np.zeros((2, 3))).shape == (2, 3)
    assert f(1.0) == pytest.approx(1 - 1 / math.sqrt(2 * math.pi), rel=1e-15)
    assert N("3")(np.zeros(4)).tolist() == [3.0] * 4
    with pytest.raises(ValueError, match=r"sqrt\(x\), which is complex"):
        N("sqrt(x)")(np.array([4.0, -1.0]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/x if abs(x) > 1 else x", [-1 / 800, -0.5, 0, 1 / 800]),
        ("exp(1000x)", [0, math.exp(-500), 1, math.inf]),
        ("tanh(1000x)", [-1, -1, 0, 1]),
        ("softplus(x)", [0, math.log1p(math.exp(-0.5)), math.log(2), 800]),
        ("mish(x)", [0, -0.5 * math.tanh(math.log1p(math.exp(-0.5))), 0, 800]),
        ("exp(x)/(1 + exp(x))", [0, 1 / (1 + math.exp(0.5)), 0.5, 1]),
        ("exp(exp(x))", [1, math.exp(math.exp(-0.5)), math.e, math.inf]),
    ],
)
def test_evaluation_overflows_only_where_the_value_does(text, expected):
    values = N(text)(np.array([-800.0, -0.5, 0.0, 800.0]))
    np.testing.assert_allclose(values, expected, rtol=1e-14, atol=1e-300)


def test_undefined_points_pass_through():
    assert np.isnan(N("tanh(x)")(np.array([np.nan, 1.0]))).tolist() == [True, False]
    assert N("tanh(x)")(np.array([np.inf, -np.inf])).tolist() == [1, -1]


# Identity


@settings(max_examples=20)
@given(members)
def test_repr_evaluates_and_objects_pickle(f):
    for made in (N(f), N(f).centred(), N(f, name="mine")):
        assert eval(repr(made), {"Nonlinearity": hr.Nonlinearity}) == made
        assert pickle.loads(pickle.dumps(made)) == made
        assert len({made, pickle.loads(pickle.dumps(made))}) == 1


def test_a_text_is_remembered():
    assert repr(N(" gelu( t )")) == "Nonlinearity('gelu( t )')"
    assert N("gelu(x)").name == "gelu(x)"
    assert N(N("gelu(x)").expression).name == "x*(erf(sqrt(2)*x/2)/2 + 1/2)"
    assert eval(repr(N("2x + |x|").centred()), {"Nonlinearity": hr.Nonlinearity}) == N("2x + |x|").centred()


def test_repr_keeps_breakpoints():
    f = N("abs(x - 1)", breakpoints=[1, "1/3"])
    assert repr(f) == "Nonlinearity('abs(x - 1)', breakpoints=['1', '1/3'])"
    assert eval(repr(f), {"Nonlinearity": hr.Nonlinearity}) == f


def test_different_functions_differ():
    assert N("tanh(x)") != N("tanh(2x)")
    assert N("tanh(x)") != N("tanh(x)").centred()
    assert N("tanh(x)") != "tanh(x)"


def test_latex():
    assert N("relu(x)")._repr_latex_() == r"$\max\left(0, x\right)$"
    assert N("relu(x)").centred()._repr_latex_().endswith(r"- \,E\left[\max\left(0, \xi\right)\right]$")


# Certified


@pytest.mark.parametrize("text", ["relu(x)", "gelu(x)", "tanh(x)", "cos(50x)", "sign(x-1)"])
@pytest.mark.parametrize("centre", [False, True])
def test_balls_contain_the_numbers(text, centre):
    f = N(text).centred() if centre else N(text)
    for ball, value in zip(f.coefficients(4, digits=20, certified=True), f.coefficients(4, digits=40), strict=True):
        assert value in ball or abs(value - ball.mid) <= 10.0**-39 * abs(value)
        assert ball.upper - ball.lower <= 2 * 10.0**-20 * abs(value)
    energy = f.nu(digits=20, certified=True)
    assert energy.lower <= f.nu(digits=40) <= energy.upper


def test_balls_of_high_orders():
    ball = N("relu(x)").coefficient(400, digits=30, certified=True)
    assert CONTEXT.mpf("-0.000199644102742876255600423937341403539705747169") in ball


def test_a_callable_has_no_ball():
    with pytest.raises(ValueError, match=r"certified|callable"):
        N(lambda x: x).mean(certified=True)


def test_used_objects_pickle():
    f = N("softplus(x)").centred() + N("relu(x)").centred()
    before = f.nu(), f(1.0), f.closed_form(1), f.coefficients(3, digits=20)
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert (again.nu(), again(1.0), again.closed_form(1), again.coefficients(3, digits=20)) == before
    relu = N("relu(x)")
    assert pickle.loads(pickle.dumps((relu, relu.closed_form(3), relu.nu(digits=30))))[0] == relu


def test_a_parameter_may_be_called_x():
    f = N("x*tanh(y)", variable="y")
    assert f.substitute({"x": 2}) == N("2*tanh(x)")


@pytest.mark.parametrize(
    "f",
    [sp.Function("g")(X), sp.DiracDelta(X), X + sp.oo, sp.Float("nan") * X],
    ids=["undefined", "delta", "oo", "nan"],
)
def test_expressions_without_values_are_refused(f):
    with pytest.raises(ValueError, match="f: got"):
        N(f)


def test_small_means_are_seen():
    assert not N(sp.tanh(X) + sp.Rational(1, 10**14)).is_centred()
    assert not N("sigmoid(x) - 0.50000000000001").is_centred()


def test_values_beyond_double_precision():
    with pytest.raises(ValueError, match="ask for digits"):
        N("(x+1)**300").nu()
    assert N("(x+1)**300").nu(digits=10) > 0


def test_hard_cases_of_evaluation():
    x = sp.Symbol("x")
    assert N(sp.Heaviside(x))(0.0) == 0.5  # c04
    one = N(sp.Piecewise((1 / x, x < -1), (x, x <= 1), (1 / x, True)))
    assert one(np.array([0.0, -2.0, 4.0])).tolist() == [0.0, -0.5, 0.25]  # c05
    assert N(sp.Max(x, 0))(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]  # c07
    for root in (N("real_root(x, 3)"), N("cbrt(x)"), N(sp.real_root(x, 3)), N(np.cbrt)):  # c12
        assert root(-8.0) == pytest.approx(-2, rel=1e-15)
        assert root.coefficient(1) == pytest.approx(0.830860925029559082648720768, rel=1e-14)
    with pytest.raises(ValueError, match="complex"):
        N("x**(1/3)").mean()


COMPLEX = ["sqrt(x)", "sqrt(x-3)", "sqrt(1-x)", "x**(3/2)", "sqrt(100-x**2)", "(-8)**(1/3)*x", sp.I * sp.Symbol("x")]


@pytest.mark.parametrize("f", COMPLEX)
@pytest.mark.parametrize(
    "ask",
    [lambda f: f.nu(), lambda f: f.nu(digits=20, certified=True), lambda f: f.coefficient(1)],
    ids=["nu", "certified", "coefficient"],
)
def test_complex_functions_are_refused_whatever_is_asked(f, ask):
    with pytest.raises(ValueError, match="complex"):
        ask(N(f))


@pytest.mark.parametrize("other", ["tanh(x)", "x^3 - 2*x", "0*x"])
def test_sums_of_centred_functions_are_centred(other):
    f = N("relu(x)").centred() + N(other)
    assert f.is_centred()
    assert f.mean(digits=20) == 0
    # E f^2 = E relu^2 - (E relu)^2 + 2 E relu g + E g^2, without the mean of the sum
    product = (N("relu(x)") * N(other)).mean(digits=30)
    expected = N("relu(x)").centred().nu(digits=30) + 2 * product + N(other).nu(digits=30)
    assert abs(f.nu(digits=25) - expected) < mpmath.mpf(10) ** -24
    assert not (f + 1).is_centred()
