"""Numbers at the door: what is taken exactly, what is refused, and that digits printed are digits right."""

import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import hermite_rmt as hr
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.derived import EnergyGap, combine, exact_square
from hermite_rmt.core.known_complex import KnownComplex
from hermite_rmt.core.numbers import ComputedReal, KnownDigits, read_digits, read_real
from hermite_rmt.core.parameter import Parameter


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-400", Fraction(1, 10**400)),
        (" -2.5E+1 ", Fraction(-25)),
        (".5", Fraction(1, 2)),
        (0.1, Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int64(7), Fraction(7)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (sympy.Rational(1, 3), Fraction(1, 3)),
        (mpmath.mpf("0.5"), Fraction(1, 2)),
        (np.array(3), Fraction(3)),
    ],
)
def test_exact_at_the_door(value, expected):
    assert read_real(value, "c").rational == expected


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, mpmath.mpf("nan"), Decimal("nan"), sympy.oo, sympy.I]
)
def test_not_finite_or_not_real_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^gamma: got .*; allowed: "):
        read_real(value, "gamma")


@pytest.mark.parametrize("text", ["", "abc", "1/0", "0x10", "1e99999999", "1+1", "1_000", "__import__('os')", "nan"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="gamma: got"):
        read_real(text, "gamma")


@pytest.mark.parametrize("value", [None, True, [1], {}, object(), 1j])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match="gamma: got"):
        read_real(value, "gamma")


def test_a_symbol_is_no_number():
    with pytest.raises(ValueError, match="free symbols"):
        read_real(sympy.Symbol("x") + 1, "c")


def test_symbolic_real_to_any_precision():
    value = read_real(sympy.sqrt(7) / 3, "a1")
    context = local_context(2000)
    assert value.rational is None
    assert abs(value.mpf(2000) - context.sqrt(7) / 3) < context.ldexp(1, -1998)


def test_numpy_integers_never_wrap_around():
    assert read_real(np.int8(100), "c").rational * 3 == 300
    assert type(read_real(np.int64(7), "c").rational.numerator) is int
    assert float(EnergyGap(Parameter(np.uint8(16), "a1"), Parameter(1, "nu")).floats) == -255
    assert str(read_real(np.int64(3), "c").mpf(100)) == "3.0"


def test_computed_numbers_are_computed_once_and_rounded_from_more_digits():
    asked = []

    def third(digits):
        asked.append(digits)
        return local_context(4 * digits).mpf(1) / 3

    real = ComputedReal(third, "third")
    values = [real.mpf(precision) for precision in (400, 100, 53, 400)]
    assert len(asked) == 1
    assert values[2] == local_context(53).mpf(1) / 3


def test_parameter_keeps_text_exact_inside_arrays():
    parameter = Parameter(["0.1", "1/3"], "c")
    assert [real.rational for real in parameter.reals] == [Fraction(1, 10), Fraction(1, 3)]
    assert parameter.floats.tolist() == [0.1, 1 / 3]
    assert not parameter.binary
    assert Parameter(np.array([0.1]), "c").binary
    assert Parameter([0.1, "1/3"], "c").binary


@pytest.mark.parametrize("value", [0, -1, "0", [1, -2], np.array([1.0, 0.0])])
def test_positive_is_checked(value):
    with pytest.raises(ValueError, match=r"^c: got .*; allowed: a positive number"):
        Parameter(value, "c").require_positive()


def test_positive_below_double_range():
    Parameter("1e-400", "gamma").require_positive()


def test_refused_numbers_are_shown_as_they_were_given():
    with pytest.raises(ValueError, match=r"c: got -0\.00999999999999999999; "):
        Parameter("-0.00999999999999999999", "c").require_positive()


@pytest.mark.parametrize("value", [0, -3, 1.5, True, "30", 10**7])
def test_digits_are_checked(value):
    with pytest.raises(ValueError, match="digits: got"):
        read_digits(value)


def test_known_digits_prints_its_digits_pickles_and_is_an_mpf():
    third = KnownDigits.of(read_real("1/3", "x").mpf(200), 40)
    assert isinstance(third, mpmath.mpf)
    assert str(third) == "0." + "3" * 40
    again = pickle.loads(pickle.dumps(third))
    assert again == third
    assert str(again) == str(third)
    assert str(KnownDigits.of(read_real("1/2", "x").mpf(200), 10)) == "0.5000000000"


def test_exact_operations_keep_the_digits():
    third = KnownDigits.of(read_real("-1/3", "x").mpf(200), 40)
    assert str(-third) == str(abs(third)) == "0." + "3" * 40
    assert str(+third) == "-0." + "3" * 40
    assert abs(sympy.sympify(third) + sympy.Rational(1, 3)) < sympy.Float(10) ** -39
    assert abs(third / sympy.N(sympy.Rational(1, 3), 60) + 1) < sympy.Float(10) ** -39


def test_a_format_rounds_what_is_known():
    third = KnownDigits.of(read_real("1/3", "x").mpf(200), 20)
    assert (f"{third:.5f}", f"{third:>25}", f"{third}") == ("0.33333", f"{'0.' + '3' * 20:>25}", "0." + "3" * 20)
    assert f"{third - third:.3f}" == "0.000"


def test_nothing_known_says_so():
    zero = KnownDigits.of(read_real("1/3", "x").mpf(200), 20) - KnownDigits.of(read_real("1/3", "x").mpf(200), 20)
    assert sympy.sympify(zero).is_zero
    assert str(zero**0) == "1.00000000000000"
    for divisor in (zero, 0):
        with pytest.raises(ZeroDivisionError, match="the divisor is 0"):
            (zero + 1) / divisor


def test_sympy_prints_the_digits_that_are_known():
    number = KnownDigits.of(read_real("2/3", "x").mpf(300), 30)
    assert str(sympy.sympify(number)) == str(number)


def test_a_number_known_to_few_digits_is_no_input_for_more():
    few = KnownDigits.of(read_real("3/5", "x").mpf(200), 10)
    assert str(hr.LinearRegression().trace(few, 1, digits=10)) == str(
        hr.LinearRegression().trace("0.6", 1, digits=10)
    )
    with pytest.raises(ValueError, match="c: got a number known to 10 digits for digits=11"):
        hr.LinearRegression().trace([1, few], 1, digits=11)
    exact = KnownDigits.exact(read_real("0.5", "x").mpf(200), 5)
    assert hr.LinearRegression().trace(exact, 1, digits=20) == hr.LinearRegression().trace("1/2", 1, digits=20)


FRACTIONS = st.fractions(-50, 50, max_denominator=400).filter(bool)
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


def _known(value, digits, push):
    """Return `value` as it may come out of a computation: off by the largest error that `of` allows, times push."""
    off = value * (1 + Fraction(push) / (8 * 10**digits))
    return KnownDigits.of(read_real(off, "x").mpf(10 * digits + 200), digits)


def _assert_honest(number, exact):
    if not number.digits:
        below = Fraction(str(number).replace("0e", "1e"))
        assert str(number).startswith("0e")
        assert abs(exact - read_real(number, "x").rational) <= below
        return
    printed = Fraction(str(number))
    size = abs(printed)
    unit = Fraction(10) ** (math.floor(math.log10(size)) - number.digits + 1)
    assert abs(printed - exact) <= unit
    assert abs(read_real(number, "x").rational - exact) * 2 <= abs(exact) * Fraction(10) ** -number.digits * (
        1 + Fraction(1, 1000)
    )


@given(
    a=FRACTIONS,
    b=FRACTIONS,
    digits=st.tuples(st.integers(2, 40), st.integers(2, 40)),
    pushes=st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1])),
    operation=st.sampled_from(OPERATIONS),
)
def test_arithmetic_prints_right_digits_only(a, b, digits, pushes, operation):
    """However close a and b are: what cancels is not printed."""
    first, second = (_known(v, n, p) for v, n, p in zip((a, b), digits, pushes, strict=True))
    _assert_honest(operation(first, second), operation(a, b))
    _assert_honest(operation(first, b), operation(a, b))
    _assert_honest(operation(a, second), operation(a, b))


@given(a=FRACTIONS, digits=st.integers(2, 40), push=st.sampled_from([-1, 1]), power=st.integers(-9, 9))
def test_powers_print_right_digits_only(a, digits, push, power):
    _assert_honest(_known(a, digits, push) ** power, a**power)
    root = _known(a * a, digits, push) ** Fraction(1, 2)
    _assert_honest(root, abs(a))
    _assert_honest(2 ** (_known(Fraction(power), digits, push)), Fraction(2) ** power)


def test_close_numbers_lose_the_digits_that_cancel_and_no_others():
    step = Fraction(2, 3 * 10**12)
    first, second = _known(Fraction(2, 3), 30, 1), _known(Fraction(2, 3) - step, 30, -1)
    gap = first - second
    assert (str(gap), gap.digits) == ("6.66666666666666667e-13", 18)
    assert str(gap / 2 * 9) == "3.00000000000000000e-12"
    nothing = first - first
    assert (str(nothing), nothing.digits) == ("0e-30", 0)
    assert str(nothing**2) == "0e-61"
    assert str(first + 10**20) == "100000000000000000000." + "6" * 28 + "7"
    with pytest.raises(ZeroDivisionError, match="to within its error"):
        first / (first - second - step)


def test_a_few_operations_cost_no_digit():
    values = [_known(Fraction(k, 7), 30, 0) for k in (1, 2, 3)]
    for result in (sum(values), 2 * values[0], values[0] * values[1], values[2] / values[0], np.mean(values)):
        assert result.digits == 30


def test_arithmetic_follows_the_types_around_it():
    third = _known(Fraction(1, 3), 30, 0)
    shown = "0." + "6" * 29 + "7"
    for doubled in (2 * third, third * np.int64(2), np.float64(2) * third, mpmath.mpf(2) * third, third * Decimal(2)):
        assert isinstance(doubled, KnownDigits)
        assert str(doubled) == str(third + third) == shown
    assert (np.array([third, -third]) * 2 + 1).tolist() == [2 * third + 1, 1 - 2 * third]
    assert str(third * mpmath.pi) == "1.04719755119659774615421446109"
    assert (third * sympy.pi).has(sympy.pi)
    assert abs(third * sympy.pi / sympy.pi - sympy.Rational(1, 3)) < sympy.Float(10) ** -30
    assert isinstance(third + 1j, mpmath.mpc)
    assert third + math.inf == math.inf
    assert math.isnan(third * math.nan)
    assert hash(third) == hash(mpmath.mp.make_mpf(third._mpf_))
    again = pickle.loads(pickle.dumps(third - Fraction(1, 4)))
    assert (str(again), again.digits) == ("0.083333333333333333333333333333", 29)
    assert str(again - Fraction(1, 12)) == str(third - Fraction(1, 3)) == "0e-31"
    with pytest.raises(TypeError, match="unsupported"):
        third + "1"


def test_arithmetic_leaves_the_precision_of_mpmath_alone():
    third = _known(Fraction(1, 3), 30, 0)
    with mpmath.workdps(8):
        assert str(third + third) == "0." + "6" * 29 + "7"
        assert mpmath.mp.dps == 8


def test_combine_is_exact_for_rationals_and_roots():
    assert (
        combine(lambda nu, a: nu - a * a, read_real("0.01", "nu"), read_real("0.1", "a1"), text="eta").rational == 0
    )
    root = read_real(sympy.sqrt(2), "a1")
    assert combine(lambda nu, a: nu - a * a, read_real(2, "nu"), root, text="eta").rational == 0


def test_known_digits_with_what_has_no_digits():
    half = KnownDigits.of(read_real("1/2", "x").mpf(100), 20)
    for other in (math.nan, np.float64("nan")):
        for operation in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
            assert math.isnan(operation(other, half))
            assert math.isnan(operation(half, other))
    assert math.inf - half == math.inf
    assert half / math.inf == 0
    with pytest.raises(ZeroDivisionError):
        1 / (half - half)
    assert isinstance((-2) ** half, mpmath.mpc)


def test_combine_finds_the_digits_that_cancellation_hides():
    tiny = 10**60

    def computed(digits):
        context = local_context(int(digits * 3.4) + 40)
        return context.sqrt(2) + context.mpf(1) / tiny

    gap = combine(
        lambda a, b: a - b, ComputedReal(computed, "sqrt2+1e-60"), read_real(sympy.sqrt(2), "b"), text="gap"
    )
    assert abs(gap.mpf(100) * tiny - 1) < local_context(100).ldexp(1, -98)


def test_energy_gap_rounding_of_doubles_means_zero_and_exact_numbers_do_not():
    assert EnergyGap(Parameter(0.1, "a1"), Parameter(0.1**2, "nu")).floats == 0
    assert EnergyGap(Parameter(np.array([0.3]), "a1"), Parameter(np.array([0.3**2]), "nu")).floats == 0
    exact = EnergyGap(Parameter("0.1", "a1"), Parameter("0.0100000000000000001", "nu"))
    assert exact.floats == pytest.approx(1e-19, rel=1e-15)


def test_energy_gap_of_doubles_does_not_cancel():
    rng = np.random.default_rng(0)
    a1 = rng.normal(size=200)
    nu = a1**2 * (1 + 10.0 ** rng.uniform(-14, 0, size=200))
    gap = EnergyGap(Parameter(a1, "a1"), Parameter(nu, "nu"))
    exact = np.array([float(Fraction(n) - Fraction(a) ** 2) for a, n in zip(a1, nu, strict=True)])
    np.testing.assert_allclose(gap.floats, exact, rtol=4e-16)


def test_exact_square_is_exact():
    x = np.random.default_rng(1).normal(size=100)
    high, low = exact_square(x)
    assert all(Fraction(h) + Fraction(t) == Fraction(v) ** 2 for h, t, v in zip(high, low, x, strict=True))


def test_ball_of_arb_contains_it_with_outward_bounds():
    flint = pytest.importorskip("flint")
    ball = Ball.of_arb(flint.arb(1) / 3, 15)
    third = Fraction(1, 3)

    def fraction(x):
        return read_real(mpmath.mpf(x), "x").rational

    assert fraction(ball.lower) < third < fraction(ball.upper)
    assert ball.mid in ball
    assert ball in ball
    assert ball.rad < 1e-15
    assert (ball.upper - ball.lower) / 2 == ball.rad
    assert (ball.upper - ball.lower).digits > 0


def test_complex_numbers_print_the_digits_of_their_parts_and_keep_them():
    value = mpmath.mp.make_mpc((read_real("1/3", "x").mpf(200)._mpf_, read_real("-1/7000", "x").mpf(200)._mpf_))
    number = KnownComplex.of(value, 20)
    assert str(number) == "(0.33333333333333333333 - 0.00014285714285714286j)"
    assert repr(number.conjugate()) == "mpc(real='0.33333333333333333333', imag='0.00014285714285714286')"
    assert str(3 * number.real) == "1.0000000000000000000"
    again = pickle.loads(pickle.dumps(number))
    assert (repr(again), again.digits, again == number) == (repr(number), 20, True)
    assert sympy.re(sympy.sympify(number)) == sympy.sympify(number.real)
    assert type(number + 1) is mpmath.mpc
    assert complex(-number) == -complex(number)
    imaginary = KnownComplex.of(mpmath.mpc(0, 1), 20)
    assert str(imaginary) == "(0e-20 + 1.0000000000000000000j)"


def test_transforms_print_the_digits_asked_for():
    z = sympy.Symbol("z")
    n = hr.dimensions("n")
    semicircle = hr.deterministic_equivalent((hr.GOE("W", n) - z * sympy.Identity(n)).inv())
    spectrum = hr.Attention(a1="0.6", nu="0.5").spectrum("0.5")
    for ask in (
        lambda digits: hr.MarchenkoPastur(1).stieltjes(1 + 1j, digits=digits),
        lambda digits: spectrum.stieltjes(1 + 1j, digits=digits),
        lambda digits: semicircle.trace({z: 1 + 1j}, digits=digits),
    ):
        few, many = ask(20), ask(40)
        for part, finer in ((few.real, many.real), (few.imag, many.imag)):
            assert part.digits >= 19
            assert len(str(part).lstrip("-0.")) == part.digits
            assert abs(part - finer) <= abs(finer) * mpmath.mpf(10) ** -part.digits
