"""Certified balls: they contain closed forms and quadrature, careless integrands would give tight false ones."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import flint_precision
from hermite_rmt.core.numbers import read_real
from hermite_rmt.hermite.bounds import TailBounds
from hermite_rmt.hermite.breakpoints import breakpoints
from hermite_rmt.hermite.certified import certified_coefficients, certified_energy
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.intervals import Interval
from hermite_rmt.hermite.intervals import exact as exact_end
from hermite_rmt.hermite.isolation import unproved_points
from hermite_rmt.hermite.quadrature import coefficients, energy

pytest.importorskip("flint")
R = sympy.Rational
MP = local_context(400)
DIGITS = 25


def of(expression):
    return Integrand.of_expression(expression)


def exact(value):
    return MP.mpf(str(sympy.N(value, 80)))


PHI = sympy.exp(-R(1, 2)) / sympy.sqrt(2 * sympy.pi)
UPPER = sympy.erfc(1 / sympy.sqrt(2)) / 2


@pytest.mark.parametrize(
    ("f", "k", "right"),
    [
        (sympy.Max(X - 1, 0), 0, PHI - UPPER),
        (sympy.Heaviside(X - 1), 1, PHI),
        (sympy.sign(X - 1), 0, 2 * UPPER - 1),
        (sympy.Min(1, sympy.Max(X, -1)), 1, 1 - 2 * UPPER),
        (X**20, 0, sympy.factorial2(19)),
        (sympy.exp(3 * X), 2, 9 / sympy.sqrt(2) * sympy.exp(R(9, 2))),
        (sympy.cos(10 * X), 4, 10**4 / sympy.sqrt(24) * sympy.exp(-50)),
        (sympy.exp(X**2 / 5), 0, sympy.sqrt(R(5, 3))),
        (sympy.exp(R(49, 100) * X**2), 0, sympy.sqrt(50)),
        (sympy.erf(X), 1, 2 / sympy.sqrt(3 * sympy.pi)),
        (sympy.Abs(X) ** R(1, 3), 0, 2 ** R(1, 6) * sympy.gamma(R(2, 3)) / sympy.sqrt(sympy.pi)),
        (sympy.exp(-10000 * (X - 3) ** 2), 0, sympy.exp(-R(90000, 20001)) / sympy.sqrt(20001)),
        (sympy.Piecewise((X**2, X > 1), (0, True)), 0, PHI + UPPER),
    ],
)
def test_contains_the_closed_form(f, k, right):
    ball = certified_coefficients(of(f), k, DIGITS)[k]
    assert exact(right) in ball
    assert MP.convert(ball.rad) <= abs(MP.convert(ball.mid)) * MP.mpf(10) ** -DIGITS


SMOOTH_AND_NOT = [
    sympy.tanh(X),
    sympy.tanh(1000 * X - 1),
    sympy.atan(2 * X),
    sympy.log(1 + sympy.exp(X)),
    1 / (1 + sympy.exp(-X)),
    X * (1 + sympy.erf(X / sympy.sqrt(2))) / 2,
    X * sympy.tanh(sympy.log(1 + sympy.exp(X))),
    1 / (1 + 100 * X**2),
    sympy.sqrt(X**2 + R(1, 100)),
    sympy.sqrt(sympy.Abs(X - R(1, 3))),
    sympy.Abs(X - R(1, 3)),
    sympy.Abs(sympy.exp(X) - 2 - X),
    sympy.Abs(X**3 - X - 1),
    sympy.Max(X - 1, 0) * sympy.tanh(X),
    sympy.floor(X),
    sympy.sign(sympy.sin(5 * X)),
    sympy.Abs(sympy.cos(X)),
]


@pytest.mark.parametrize("f", SMOOTH_AND_NOT, ids=str)
def test_contains_the_quadrature(f):
    """Kinks where a careless integrand gives 1.1547 for 1.1111, poles of tanh, cuts of sqrt, log and atan."""
    assert coefficients(of(f), 1, DIGITS + 20)[1] in certified_coefficients(of(f), 1, DIGITS)[1]
    ball = certified_energy(of(f), DIGITS)
    assert energy(of(f), DIGITS + 20) in ball
    assert MP.convert(ball.rad) <= MP.convert(ball.mid) * MP.mpf(10) ** -DIGITS


TOUCHING = [
    (sympy.Max(X, sympy.exp(X) - 1), sympy.exp(X) - 1),
    (sympy.Max(sympy.exp(X - 1) - 1, X - 1), sympy.exp(X - 1) - 1),
    (sympy.Max(sympy.sin(X), X - X**3 / 6), sympy.Piecewise((sympy.sin(X), X > 0), (X - X**3 / 6, True))),
    (sympy.Min(1, sympy.cosh(X)), sympy.Integer(1) + 0 * X),
    (sympy.sign(X - sympy.tanh(X)) * X, sympy.Abs(X)),
    (sympy.log(1 + sympy.sign(X) ** 2) * X, sympy.log(2) * X),
    (
        sympy.sqrt(sympy.Abs(sympy.Piecewise((X, X > 2), (X + R(2, 5), True)))),
        sympy.Piecewise(
            (sympy.sqrt(X), X > 2), (sympy.sqrt(X + R(2, 5)), -R(2, 5) < X), (sympy.sqrt(-X - R(2, 5)), True)
        ),
    ),
    (sympy.Abs(sympy.exp(X) - 1 - X) ** 2 * sympy.sign(X), (sympy.exp(X) - 1 - X) ** 2 * sympy.sign(X)),
    (
        sympy.atan(sympy.Min(sympy.Piecewise((X, R(7, 10) < X), (X + R(31, 100), True)), R(1, 20))),
        sympy.Piecewise((sympy.atan(X + R(31, 100)), -R(26, 100) > X), (sympy.atan(R(1, 20)), True)),
    ),
]


@pytest.mark.parametrize(("f", "same"), TOUCHING, ids=[str(f) for f, _ in TOUCHING])
def test_arguments_that_touch_are_told_apart(f, same):
    for ball, other in zip(
        certified_coefficients(of(f), 2, 20), certified_coefficients(of(same), 2, 25), strict=True
    ):
        assert other in ball or (other.lower <= 0 <= other.upper and 0 in ball)
        assert ball.rad <= max(abs(ball.mid), 1) * MP.mpf(10) ** -20


@pytest.mark.parametrize("digits", [10, 15, 30])
def test_two_zeros_closer_than_anybody_looks_are_no_touching(digits):
    """exp(u) - 1 - u - 1e-20 has zeros 2.8e-10 apart; in double precision it seems to touch 0."""
    u = X - R(1, 3)
    f = sympy.sign(sympy.exp(u) - 1 - u - R(1, 10**20))
    right = 1 - 2 * sympy.sqrt(2) * sympy.sqrt(R(1, 10**20)) * 2 * sympy.exp(-R(1, 18)) / sympy.sqrt(2 * sympy.pi)
    try:
        ball = certified_coefficients(of(f), 0, digits)[0]
    except ValueError as error:
        assert "certified" in str(error)  # noqa: PT017
    else:
        assert (
            MP.convert(ball.lower) - MP.mpf(10) ** -19 <= exact(right) <= MP.convert(ball.upper) + MP.mpf(10) ** -19
        )
    points = breakpoints(f, -9, 9)
    assert len(points) == 2 or unproved_points(f, points, 9, 60) is None
    assert unproved_points(f, [read_real("1/3", "x")], 9, 60) is None


@pytest.mark.parametrize(
    ("f", "points", "proved"),
    [
        (sympy.Max(X, sympy.exp(X) - 2), [], False),
        (sympy.Abs(sympy.exp(X) - 2), [R(2)], False),
        (sympy.Abs(sympy.exp(X) - 2), [sympy.log(2)], True),
        (sympy.Abs(sympy.exp(X) - 2), [sympy.log(2), R(1)], True),
        (sympy.Max(X, sympy.Abs(sympy.sin(X))), [R(0)], True),  # pi is beyond 3
        (sympy.Max(X, sympy.Abs(sympy.sin(2 * X))), [R(0)], False),
        (sympy.sign(sympy.tanh(X) ** 3), [R(0)], True),
        (sympy.log(X**2), [R(0)], True),
        (sympy.log(X**2), [R(1)], False),
        (sympy.sign(sympy.exp(X) + 1), [], True),
        (sympy.floor(X), [R(n) for n in range(-3, 4)], False),
    ],
)
def test_only_complete_breakpoints_are_proved(f, points, proved):
    reals = [read_real(point, "x") for point in points]
    assert unproved_points(f, reals, 3, 80) == ([] if proved else None)


def test_points_that_are_not_exact_stay_open():
    f = sympy.Max(X, sympy.exp(X) - 2)
    points = breakpoints(f, -3, 3)
    assert len(points) == 2
    assert unproved_points(f, points, 3, 80) == points
    assert unproved_points(f, points[:1], 3, 80) is None


@settings(max_examples=8)
@given(st.fractions(-2, 2, max_denominator=9), st.fractions(-2, 2, max_denominator=9))
def test_random_piecewise_polynomials(a, b):
    low, high = sorted((R(a.numerator, a.denominator), R(b.numerator, b.denominator)))
    f = sympy.Piecewise((X**2 - low, low > X), (high * X, high > X), (1 - X, True))
    for value, ball in zip(coefficients(of(f), 2, 40), certified_coefficients(of(f), 2, 20), strict=True):
        assert value in ball or (value == 0 and abs(ball.lower) < 1e-15)


def test_zero_is_exact_where_parity_proves_it():
    ball = certified_coefficients(of(sympy.tanh(X)), 2, 30)[2]
    assert ball.lower == ball.upper == 0


def test_zero_without_proof_is_inside():
    ball = certified_coefficients(of(sympy.Heaviside(X - 1)), 3, 15)[3]
    assert 0 in ball
    assert ball.rad < 1e-15


@pytest.mark.parametrize(
    ("integrand", "reason"),
    [
        (Integrand.of_callable(lambda t: t), "callable"),
        (of(sympy.log(sympy.Abs(X - 1))), "unbounded"),
        (of(sympy.Abs(X) ** R(-1, 4)), "unbounded"),
        (of(sympy.besselj(0, X)), "no bound of besselj"),
        (of(1 / X), "not integrable"),
        (of(sympy.exp(X**2)), "infinite"),
    ],
)
def test_refusals_name_the_reason(integrand, reason):
    with pytest.raises(ValueError, match=reason):
        certified_coefficients(integrand, 0, 20)


ENDS = st.one_of(st.none(), st.integers(-6, 6))


def _inside(interval, value):
    return (interval.low is None or interval.low <= value) and (interval.high is None or value <= interval.high)


def _members(low, high):
    low, high = (-50 if low is None else low), (50 if high is None else high)
    return sorted({low, high, (low + high) // 2, *([0] if low <= 0 <= high else [])})


@given(ENDS, ENDS, ENDS, ENDS)
def test_intervals_contain_the_results(a, b, c, d):
    first, second = (ends if None in ends else tuple(sorted(ends)) for ends in ((a, b), (c, d)))  # None: infinite
    with flint_precision(60):
        x, y = (Interval(*(None if end is None else exact_end(end) for end in ends)) for ends in (first, second))
        for u in _members(*first):
            assert _inside(x.absolute(), abs(u))
            for v in _members(*second):
                assert _inside(x + y, u + v)
                assert _inside(x * y, u * v)
        if None not in (*first, *second):
            products = [u * v for u in first for v in second]
            assert (x * y).low == min(products)
            assert (x * y).high == max(products)


@pytest.mark.parametrize(
    ("f", "size"),
    [
        (1 / (1 + 50 * (R(1, 20) - 2 * X) ** 2), 1),
        (1 / (1 + (2 - X) ** 4), 1),
        (sympy.exp(-(X**2)) * sympy.tanh(X), 1),
        (sympy.sqrt(1 + sympy.tanh(X) ** 2), 2),
        (1 / (1 + sympy.log(1 + (1 - X) ** 2) ** 2), 1),
    ],
)
def test_bounded_functions_have_a_bound(f, size):
    with flint_precision(60) as flint:
        for g in (f, f.subs(X, -X)):
            bound = TailBounds(flint.arb(8)).growth(g)
            assert bound.n == bound.a == bound.b == 0
            assert size + 1e-9 >= bound.C


def test_tail_bounds_hold():
    """The bound C x^n exp(b x + a x^2) is above |f| at points of the tail."""
    functions = [
        X**3 - 5 * X,
        sympy.log(1 + sympy.exp(2 * X)) * X,
        sympy.exp(X / 2) * sympy.sin(X) + X**2,
        X / (1 + sympy.exp(-X)),
        sympy.sqrt(X**2 + 1) * sympy.cosh(X),
        sympy.floor(X) + sympy.Max(X, 3 * X - 1),
    ]
    with flint_precision(100) as flint:
        start = flint.arb(8)
        for f in functions:
            bound = TailBounds(start).growth(f)
            for x in (8, 11, 40):
                point = flint.arb(x)
                largest = bound.C * point**bound.n * (bound.b * point + bound.a * point**2).exp()
                assert largest >= flint.arb(str(abs(sympy.N(f.subs(X, x), 20))))
