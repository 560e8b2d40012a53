"""From SymPy to numbers: NumPy, mpmath in a local context, and Arb agree, and each keeps what it promises."""

import pickle

import numpy as np
import pytest
import sympy
from scipy import special

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.codegen.roots import enclose_root
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import flint_precision

X = sympy.Symbol("x", real=True)
R = sympy.Rational
FUNCTIONS = [
    sympy.tanh(X) / 3,
    sympy.erf(X) + sympy.erfc(2 * X),
    sympy.Heaviside(X - R(1, 7)),
    sympy.Max(X, 0, 2 * X - 1),
    sympy.Min(X, 1),
    sympy.Abs(X - R(1, 3)) ** R(1, 3),
    sympy.sign(X) + sympy.floor(X) + sympy.ceiling(2 * X),
    sympy.log(1 + sympy.exp(X)),
    sympy.sinc(3 * X),
    sympy.atan(X) * sympy.asinh(X),
    sympy.sech(X) + sympy.coth(X + 10),
    2**X * sympy.sqrt(X**2 + 1),
    sympy.loggamma(X**2 + 1),
]
POINTS = [-1.75, -0.3, 0.5, 2.25]


@pytest.mark.parametrize("expression", FUNCTIONS, ids=str)
def test_three_arithmetics_agree(expression):
    kernel = Kernel([X], [expression])
    doubles = kernel.double(np.array(POINTS))[0]
    precise = kernel.multiprecision(200)
    ball = BallFunction(X, expression)
    for point, double in zip(POINTS, doubles, strict=True):
        value = precise(local_context(200).mpf(point))[0]
        assert double == pytest.approx(float(value), rel=1e-13, abs=1e-15)
        with flint_precision(200) as flint:
            enclosed = ball.real(flint.arb(point))
            sign, mantissa, exponent, _ = value._mpf_
            wide = flint.arb((int(-mantissa if sign else mantissa), int(exponent))) * (1 + flint.arb(0, 1e-55))
            assert enclosed.overlaps(wide)
            assert ball.complex(flint.acb(point)).real.overlaps(enclosed)
            assert enclosed.rad() < 1e-50


@pytest.mark.parametrize("expression", FUNCTIONS, ids=str)
def test_kernels_travel(expression):
    kernel = Kernel([X], [expression])
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again.double(np.array(POINTS))[0], kernel.double(np.array(POINTS))[0])


@pytest.mark.parametrize(
    ("expression", "centre", "radius"),
    [
        (sympy.sqrt(X), 0.1, 0.2),
        (1 / sympy.sqrt(X), 0.1, 0.2),
        (X ** R(1, 3), 0.1, 0.2),
        (sympy.log(X), 0.1, 0.2),
        (sympy.Abs(X - R(1, 3)), 0.3, 0.1),
        (sympy.Max(X - 1, 0), 1.05, 0.1),
        (sympy.Heaviside(X - 1), 0.95, 0.1),
        (sympy.floor(X), 2.0, 0.1),
        (sympy.sign(X), 0.05, 0.1),
        (sympy.atan(X), 1j, 0.2),
        (sympy.asinh(X), -1j, 0.2),
        (sympy.asin(X), 1.0, 0.2),
        (sympy.acosh(X), 0.9, 0.2),
        (sympy.atanh(X), -1.1, 0.2),
        (sympy.loggamma(X), 0.0, 0.2),
        (sympy.tanh(X), 1.57j, 0.1),
    ],
    ids=str,
)
def test_analytic_flag(expression, centre, radius):
    """Not finite on a ball that touches a cut, a kink or a pole; finite beside it."""
    function = BallFunction(X, expression)
    with flint_precision(80) as flint:
        middle = complex(centre)
        ball = flint.acb(flint.arb(middle.real, radius), flint.arb(middle.imag, radius))
        assert not function.complex(ball, True).is_finite()
        beside = flint.acb(flint.arb(5.4, 0.001), flint.arb(0.7, 0.001))
        if expression not in (sympy.asin(X), sympy.atanh(X)):
            assert function.complex(beside, True).is_finite()


def test_balls_contain_all_values_of_a_ball():
    function = BallFunction(X, sympy.Abs(X - R(1, 3)) + sympy.tanh(X) * sympy.Max(X, 0))
    with flint_precision(80) as flint:
        wide = function.real(flint.arb(0.3, 0.2))
        for point in np.linspace(0.11, 0.49, 9):
            assert wide.contains(function.real(flint.arb(float(point))))


def test_constants_are_exact():
    root = sympy.Poly(X**5 - X - 1, X).real_roots()[0]
    function = BallFunction(X, X + R(1, 3) + sympy.pi + root)
    with flint_precision(300) as flint:
        value = function.real(flint.arb(0))
        assert value.rel_accuracy_bits() > 280
        assert value.overlaps(flint.arb(str(sympy.N(R(1, 3) + sympy.pi + root, 60)) + " +/- 1e-58"))


@pytest.mark.parametrize(
    "expression", [sympy.besselj(0, X), sympy.polygamma(2, X), sympy.Piecewise((X, X > 0), (0, True))]
)
def test_functions_without_enclosure_are_named(expression):
    with pytest.raises(ValueError, match=r"no enclosure of"):
        BallFunction(X, expression)


# hard_cases.json, group c


def test_local_context_keeps_thirds():
    value = Kernel([X], [R(1, 3) + 0 * X]).multiprecision(200)(local_context(200).mpf(1))[0]
    assert abs(3 * value - 1) < local_context(200).ldexp(1, -195)


def test_heaviside_at_zero_is_one_half():
    kernel = Kernel([X], [sympy.Heaviside(X)])
    assert kernel.double(0.0)[0] == 0.5
    assert kernel.multiprecision(100)(0)[0] == 0.5


def test_unused_branches_do_not_warn():
    y = sympy.Symbol("y", real=True)
    branches = sympy.Piecewise((1 / X, y < -1), (X, y <= 1), (1 / X, True))
    assert Kernel([X, y], [branches]).double(0.0, 1.0)[0] == 0
    assert Kernel([X, y], [branches]).double(np.zeros(2), np.ones(2))[0].tolist() == [0, 0]


def test_max_is_elementwise():
    assert Kernel([X], [sympy.Max(X, 0)]).double(np.array([-1.0, 2.0]))[0].tolist() == [0, 2]


def test_real_root_of_negative_numbers():
    kernel = Kernel([X], [sympy.real_root(X, 3)])
    assert kernel.double(-8.0)[0] == pytest.approx(-2, rel=1e-15)
    assert abs(kernel.multiprecision(100)(-8)[0] + 2) < 1e-29


def test_large_exact_constants(hard_cases):
    (row,) = [row for row in hard_cases("c") if row["id"] == "c11"]
    value = Kernel([X], [sympy.sqrt(sympy.factorial(200)) * X]).double(1.0)[0]
    assert value == pytest.approx(float(row["right_value"]), rel=1e-15)


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        (sympy.LambertW(sympy.exp(X)), lambda x: special.lambertw(np.exp(x)).real),
        (sympy.expint(1, X**2 + 1), lambda x: special.exp1(x**2 + 1)),
        (sympy.Si(X), lambda x: special.sici(x)[0]),
        (sympy.erfinv(X / 4), lambda x: special.erfinv(x / 4)),
        (sympy.polygamma(1, X**2 + 1), lambda x: special.polygamma(1, x**2 + 1)),
        (sympy.besselj(0, X), special.j0),
    ],
    ids=["LambertW", "expint", "Si", "erfinv", "polygamma", "besselj"],
)
def test_functions_numpy_lacks(expression, function):
    values = Kernel([X], [expression]).double(np.array(POINTS))[0]
    assert values.dtype == float
    assert values == pytest.approx(function(np.array(POINTS)), rel=1e-13)


def test_special_functions_at_any_precision():
    for expression in (sympy.erfinv(X / 4), sympy.LambertW(sympy.exp(X)), sympy.erfi(X), sympy.airyai(X)):
        value = BallFunction(X, expression)
        with flint_precision(150) as flint:
            assert value.real(flint.arb(0.5)).overlaps(
                flint.arb(str(sympy.N(expression.subs(X, R(1, 2)), 40)) + " +/- 1e-38")
            )


@pytest.mark.parametrize("index", [0, 1, 2])
def test_roots_are_enclosed_by_a_change_of_sign(index):
    """x^39 - 3x + 1 has a root 1/3 + 8e-20, where SymPy's own refinement takes thousands of steps."""
    polynomial = X**39 - 3 * X + 1
    lower, upper = (R(end.numerator, end.denominator) for end in enclose_root(sympy.CRootOf(polynomial, index), 400))
    assert polynomial.subs(X, lower) * polynomial.subs(X, upper) < 0
    assert 0 < upper - lower <= min(abs(lower), abs(upper)) / 2**400
