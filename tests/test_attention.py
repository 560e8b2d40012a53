"""Attention as users call it: reference values, number types, broadcasting, refusals, and the simulated model."""

import math
import pickle

import mpmath
import numpy as np
import pytest
import sympy
from scipy import stats

import hermite_rmt as hr

# Independent points (another derivation, 30 digits): a_1 = 0.6, nu = 0.5 unless said
INDEPENDENT = [
    ({}, "0.5", "0.1", {}, "0.583793881608473046282808538033"),
    ({}, "2", "0.01", {}, "0.0886608121530743448261125144576"),
    ({}, "0.5", "0.1", {"mu_mu": "1.5"}, "0.260415370946842109145682413147"),
    (
        {},
        "2",
        "1",
        {"mu_mu": 2, "K_K": "1.3", "Q_Q": "0.7", "K_Q": "-0.4", "mu_K": "0.5", "mu_Q": "-0.6"},
        "0.365808674100798164721901686196",
    ),
    (
        {},
        "1",
        "0.1",
        dict.fromkeys(("mu_mu", "K_K", "Q_Q", "K_Q", "mu_K", "mu_Q"), "1.5"),
        "0.163341021575596518982474796968",
    ),
    (
        {},
        "0.5",
        "10",
        dict.fromkeys(("mu_mu", "K_K", "Q_Q", "mu_K"), "1.5") | dict.fromkeys(("K_Q", "mu_Q"), "-1.5"),
        "0.627626309326655595815423981871",
    ),
    (
        {"a1": sympy.sqrt(2 / sympy.pi), "nu": 1},
        "1",
        "1",
        dict.fromkeys(("mu_mu", "K_K", "Q_Q", "K_Q", "mu_K", "mu_Q"), "1.5"),
        "0.252379816869287091392071036129",
    ),
    ({"a1": 0, "nu": 2}, "1", "1", {}, "0.456854030623017323704199442931"),
]


@pytest.mark.parametrize(("numbers", "c", "gamma", "overlaps", "expected"), INDEPENDENT)
def test_independent_reference_points(numbers, c, gamma, overlaps, expected):
    numbers = {"a1": "0.6", "nu": "0.5"} | numbers
    model = hr.Attention(**numbers, overlaps=hr.Overlaps(**overlaps))
    assert model.error(c, gamma) == pytest.approx(float(expected), rel=1e-12)
    digits = model.error(c, gamma, digits=29)
    with mpmath.workdps(40):
        assert abs(digits / mpmath.mpf(expected) - 1) < mpmath.mpf(10) ** -28


def test_regression_reference_point():
    assert str(hr.LinearRegression("1.5").error(1, 1, digits=30)) == "0.220310357887596932434593108765"


def test_reference_values_in_double_and_to_33_digits(theory_values):
    names = {"mm": "mu_mu", "mk": "mu_K", "mq": "mu_Q", "kk": "K_K", "qq": "Q_Q", "kq": "K_Q"}
    for index, row in enumerate(theory_values):
        overlaps = hr.Overlaps(**{names[key]: value for key, value in row["overlaps"].items()})
        exact = hr.Attention(a1=row["a1"], nu=row["nu"], diagonal=row["diagonal"], overlaps=overlaps)
        in_double = exact.solve(float(row["c"]), float(row["gamma"]))
        to_digits = exact.solve(row["c"], row["gamma"], digits=35)
        tolerance = 1e-9 if index < len(theory_values) - 6 else 1e-7
        for name, key in (("quadratic_form", "q"), ("error", "E")):
            assert in_double[name] == pytest.approx(float(row[key]), rel=tolerance), (index, name)
            with mpmath.workdps(50):
                assert abs(to_digits[name] / mpmath.mpf(row[key]) - 1) < mpmath.mpf(10) ** -33, (index, name)


# From two numbers, from a nonlinearity


def test_a_nonlinearity_enters_by_its_two_numbers():
    f = hr.Nonlinearity("tanh(x)")
    by_f = hr.Attention(f).error("0.5", "0.1", digits=30)
    by_numbers = hr.Attention(a1=f.coefficient(1, digits=50), nu=f.nu(digits=50)).error("0.5", "0.1", digits=30)
    assert str(by_f) == str(by_numbers)
    assert str(hr.Attention("tanh(x)").error("0.5", "0.1", digits=30)) == str(by_f)


def test_any_two_nonlinearities_with_equal_numbers_agree():
    left = hr.Attention(hr.Nonlinearity("x + (x**2 - 1)/sqrt(2)")).solve("0.5", "0.1", digits=25)
    right = hr.Attention(hr.Nonlinearity("x - (x**3 - 3*x)/sqrt(6)")).solve("0.5", "0.1", digits=25)
    assert str(left["error"]) == str(right["error"])


def test_not_centred_is_refused_with_its_mean_and_the_remedy():
    with pytest.raises(ValueError, match=r"f: got .*mean.*0\.3989.*centred\(\)"):
        hr.Attention("max(x, 0)")
    hr.Attention(hr.Nonlinearity("max(x, 0)").centred())


def test_not_square_integrable_is_refused():
    f = hr.Nonlinearity("exp(3*x**2/10)")
    assert f.mean() == pytest.approx(1 / math.sqrt(0.4))
    with pytest.raises(ValueError, match=r"exp\(3\*x\*\*2/10\) is not square integrable"):
        hr.Attention(f.centred())


@pytest.mark.parametrize("text", ["sqrt(x)", "1/x", "x + 1/x"])
def test_complex_or_not_integrable_is_refused(text):
    with pytest.raises(ValueError, match=r"complex|integrable"):
        hr.Attention(text)


@pytest.mark.parametrize("arguments", [{}, {"a1": 1}, {"nu": 1}, {"f": "tanh(x)", "a1": 1, "nu": 2}])
def test_f_or_its_two_numbers(arguments):
    with pytest.raises(TypeError, match="f, a1, nu"):
        hr.Attention(**arguments)


# Bad input


@pytest.mark.parametrize(
    ("name", "value"), [("c", 0), ("c", -1), ("gamma", 0), ("gamma", "-0.1"), ("c", math.nan), ("gamma", math.inf)]
)
@pytest.mark.parametrize("model", [hr.Attention(a1=1, nu=2), hr.LinearRegression()], ids=["attention", "regression"])
def test_bad_points_name_the_argument(model, name, value):
    with pytest.raises(ValueError, match=f"^{name}: got .*; allowed: "):
        model.error(**({"c": 1, "gamma": 1} | {name: value}))


@pytest.mark.parametrize("nu", ["0.249999999999999999999", 0.2, 0])
def test_nu_below_the_square_of_a1(nu):
    with pytest.raises(ValueError, match=r"^nu: got"):
        hr.Attention(a1="0.5", nu=nu)


def test_nu_equal_to_the_square_up_to_rounding_is_linear():
    assert hr.Attention(a1=0.1, nu=0.1**2).error(0.5, 0.1) == hr.Attention(a1=0.1, nu=0.01).error(0.5, 0.1)


@pytest.mark.parametrize(
    "overlaps",
    [
        {"mu_mu": 1, "mu_K": 2, "K_K": 1},
        {"mu_mu": -1},
        {"mu_mu": "1", "mu_K": "1.00000000000000000001", "K_K": "1"},
        {"mu_mu": 1, "K_K": 1, "Q_Q": 1, "mu_K": 1, "mu_Q": 1, "K_Q": -1},
    ],
)
def test_gram_matrix_must_be_positive_semidefinite(overlaps):
    with pytest.raises(ValueError, match=r"overlaps|mu_mu"):
        hr.Overlaps(**overlaps)


def test_rounding_of_a_float_gram_matrix_is_allowed():
    vector = np.random.default_rng(0).normal(size=3)
    norm = float(vector @ vector)
    hr.Overlaps(mu_mu=norm, mu_K=norm * (1 + 1e-15), K_K=norm)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="overlaps"):
        hr.Attention(a1=1, nu=1, overlaps=(1, 2))
    with pytest.raises(TypeError, match="c: got"):
        hr.LinearRegression().error(None, 1)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match="broadcast"):
        hr.Attention(a1=1, nu=2).error(np.ones(3), np.ones(4))


# Number types and broadcasting


def test_every_number_type_enters():
    from decimal import Decimal
    from fractions import Fraction

    expected = hr.Attention(a1="0.5", nu="0.5").error("0.25", "0.125", digits=30)
    for a1, nu, c, gamma in [
        (0.5, 0.5, 0.25, 0.125),
        (Fraction(1, 2), Decimal("0.5"), np.float64(0.25), sympy.Rational(1, 8)),
        (mpmath.mpf("0.5"), "1/2", "1/4", np.float32(0.125)),
    ]:
        assert str(hr.Attention(a1=a1, nu=nu).error(c, gamma, digits=30)) == str(expected)
    root = hr.Attention(a1=sympy.sqrt(7) / 3, nu=sympy.Rational(7, 9)).error(1, 1, digits=40)
    with mpmath.workdps(60):
        squared = hr.Attention(a1=mpmath.sqrt(7) / 3, nu=(mpmath.sqrt(7) / 3) ** 2).error(1, 1, digits=40)
    assert str(root) == str(squared)


def test_everything_broadcasts():
    c = np.array([0.5, 1.0, 2.0])[:, None]
    overlaps = hr.Overlaps(mu_mu=np.array([0.0, 1.0]))
    errors = hr.Attention(a1=0.6, nu=0.5, overlaps=overlaps).error(c, 0.1)
    assert errors.shape == (3, 2)
    assert errors[1, 1] == hr.Attention(a1=0.6, nu=0.5, overlaps=hr.Overlaps(1)).error(1, 0.1)
    digits = hr.Attention(a1=["0.6", "0.5"], nu="0.5").error("0.5", "0.1", digits=20)
    assert digits.shape == (2,)
    assert str(digits[0]) == str(hr.Attention(a1="0.6", nu="0.5").error("0.5", "0.1", digits=20))
    empty = hr.Attention(a1=0.6, nu=0.5).error(np.array([]), 0.1)
    assert empty.shape == (0,)


def test_scalars_are_plain_floats_and_solutions_say_how_they_ended():
    solution = hr.Attention(a1=0.6, nu=0.5).solve(0.5, 0.1)
    assert type(solution["error"]) is float
    assert solution.outcome is hr.Outcome.CONVERGED
    assert solution.success is True
    assert solution.residual < 1e-12
    grid = hr.Attention(a1=0.6, nu=0.5).solve([0.5, 1], 0.1)
    assert grid.success.all()
    assert {outcome.value for outcome in grid.outcome} == {hr.Outcome.CONVERGED.value}


def test_models_pickle_and_describe_themselves():
    model = hr.Attention(hr.Nonlinearity("tanh(x)"), overlaps=hr.Overlaps.aligned("1.5"), skip="0.1")
    again = pickle.loads(pickle.dumps(model))
    assert again.describe() == model.describe()
    assert again.error(0.5, 0.1) == model.error(0.5, 0.1)
    assert model.describe()["model"] == "attention"
    assert model.describe()["skip"] == "1/10"


@pytest.mark.parametrize("gamma", ["1e-10", "1e-5", "1", "1e6"])
def test_wide_range_in_double_agrees_with_digits(gamma):
    c = np.array([1e-3, 0.03, 0.5, 1.0, 1.0000001, 4.0, 1e3])
    for a1, nu in ((0.6, 0.5), (0.0, 0.5), (0.6, 0.36), (-1.0, 1.0 + 1e-9)):
        model = hr.Attention(a1=a1, nu=nu, overlaps=hr.Overlaps(1.5, 0.5, -0.25, 1.0, 1.0, 0.5))
        solution = model.solve(c, float(gamma))
        exact = model.error(c, float(gamma), digits=20).astype(float)
        np.testing.assert_allclose(solution["error"], exact, rtol=1e-7, err_msg=f"{a1}, {nu}")


def test_outside_double_the_call_says_so_and_digits_do_it():
    model = hr.Attention(a1="0.6", nu="0.5")
    solution = model.solve("0.5", "1e-400", raises=False)
    assert not solution.success
    with pytest.raises(hr.SolveError, match="digits="):
        model.error("0.5", "1e-400")
    assert str(model.error("0.5", "1e-400", digits=20)).startswith("0.50000")


# Simulation against theory


SIGNAL = {
    "noise": hr.Overlaps(),
    "signal": hr.Overlaps("1.5"),
    "aligned": hr.Overlaps.aligned("1.5"),
    "anti-aligned": hr.Overlaps(1.5, 1.5, -1.5, 1.5, 1.5, -1.5),
    "general": hr.Overlaps(2, 0.5, -0.6, 1.3, 0.7, -0.4),
}
FUNCTIONS = {
    "tanh": "tanh(x)",
    "relu": hr.Nonlinearity("max(x, 0)").centred(),
    "sign": "sign(x)",
    "cos": hr.Nonlinearity("cos(x)").centred(),
    "h_2": "(x**2 - 1)/sqrt(2)",
    "identity": "x",
}
CELLS = [(f, overlaps) for f in FUNCTIONS for overlaps in SIGNAL]
TRIALS, FALSE_ALARM, SIZE = 24, 1e-3, 320
# The gap between finite n and the limit is O(1/n). Measured at n = 240 with 48 trials and another seed, n |gap| of E
# is at most 8.8 +- 1.5 (h_2 with aligned weights; below 3 in most cells): 12/n is allowed in every cell
ALLOWANCE = 12 / SIZE


@pytest.mark.parametrize(("f", "overlaps"), CELLS)
def test_simulation_agrees_with_the_theory(f, overlaps):
    """Each cell tests at level 1e-3 / 30 (Bonferroni): the family raises a false alarm once in a thousand runs."""
    model = hr.Attention(FUNCTIONS[f], overlaps=SIGNAL[overlaps])
    estimate = model.simulate(n=SIZE, p=SIZE // 2, gamma=0.5, trials=TRIALS, rng=20)
    quantile = stats.t.ppf(1 - FALSE_ALARM / len(CELLS) / 2, TRIALS - 1)
    expected = model.error("0.5", "0.5")
    allowed = quantile * estimate.error.standard_error + ALLOWANCE
    assert abs(estimate.error.mean - expected) < allowed
    assert allowed < 0.1  # the criterion is not vacuous: cells differ by up to 0.5


def test_simulating_two_numbers_is_refused():
    with pytest.raises(ValueError, match="f: got none"):
        hr.Attention(a1=1, nu=2).simulate(n=10, p=5, gamma=0.1)


def test_several_ridges_from_one_kernel():
    model = hr.Attention("tanh(x)")
    several = model.simulate(n=40, p=20, gamma=[0.1, 1.0], trials=2, rng=3)
    single = model.simulate(n=40, p=20, gamma=1.0, trials=2, rng=3)
    np.testing.assert_allclose(several[1].error.samples, single.error.samples, rtol=1e-10)


# The engine derives the same limit from the matrix expression


@pytest.mark.parametrize(("numbers", "c", "gamma", "overlaps", "expected"), INDEPENDENT[3:6])
def test_the_engine_derives_the_same_numbers(numbers, c, gamma, overlaps, expected):
    from hermite_rmt.theory.attention import equivalent

    limit = equivalent()
    n, p = hr.dimensions("n p")
    y, mu, w_K, w_Q = hr.Vector("y", n, norm="sqrt"), hr.Vector("mu", p), hr.Vector("w_K", p), hr.Vector("w_Q", p)
    values = {"a1": "0.6", "eta": "0.14", "kappa": "-0.6", "c": c, "gamma": gamma}
    pairs = {"mu_mu": (mu, mu), "K_K": (w_K, w_K), "Q_Q": (w_Q, w_Q), "K_Q": (w_K, w_Q), "mu_K": (mu, w_K)}
    gram = {pair: overlaps[name] for name, pair in (pairs | {"mu_Q": (mu, w_Q)}).items()}
    slope = limit.quadratic_form(y, y, values, gram=gram, digits=30, derivative="gamma")
    with mpmath.workdps(40):
        assert abs(-slope * mpmath.mpf(gamma) ** 2 / mpmath.mpf(expected) - 1) < mpmath.mpf(10) ** -28


def test_equations_print_themselves():
    for model in (hr.Attention(a1=1, nu=2), hr.LinearRegression()):
        assert r"\begin{aligned}" in model.equations._repr_latex_()
        assert "continued" in model.equations.branch


# Certified


def test_certified_balls_contain_the_reference_values(theory_values):
    pytest.importorskip("flint")
    names = {"mm": "mu_mu", "mk": "mu_K", "mq": "mu_Q", "kk": "K_K", "qq": "Q_Q", "kq": "K_Q"}
    for index, row in enumerate(theory_values):
        overlaps = hr.Overlaps(**{names[key]: value for key, value in row["overlaps"].items()})
        model = hr.Attention(a1=row["a1"], nu=row["nu"], diagonal=row["diagonal"], overlaps=overlaps)
        ball = model.error(row["c"], row["gamma"], digits=70, certified=True)
        with mpmath.workdps(90):
            assert ball.rad < abs(ball.mid) * mpmath.mpf(10) ** -70
            assert abs(ball.mid / mpmath.mpf(row["E"]) - 1) < mpmath.mpf(10) ** -38, index


@pytest.mark.parametrize("f", ["tanh(x)", "erf(x)", "sign(x)", "x"])
def test_the_chain_from_f_to_the_error_is_certified(f):
    pytest.importorskip("flint")
    model = hr.Attention(f, overlaps=hr.Overlaps.aligned("3/2"))
    ball = model.error("1/2", "1/10", digits=25, certified=True)
    with mpmath.workdps(60):
        assert ball.rad < abs(ball.mid) * mpmath.mpf(10) ** -25
        assert model.error("1/2", "1/10", digits=45) in ball


def test_exact_irrational_numbers_are_certified():
    pytest.importorskip("flint")
    model = hr.Attention(a1=sympy.sqrt(2 / sympy.pi), nu=1)
    assert model.error(1, 1, digits=40) in model.error(1, 1, digits=30, certified=True)
    regression = hr.LinearRegression(sympy.sqrt(2))
    assert regression.error(sympy.pi, 1, digits=40) in regression.error(sympy.pi, 1, digits=30, certified=True)


def test_a_callable_is_not_certified():
    pytest.importorskip("flint")
    model = hr.Attention(hr.Nonlinearity(lambda x: math.tanh(x) if x < 3 else math.tanh(3), name="g").centred())
    with pytest.raises(ValueError, match="certified"):
        model.error(1, 1, certified=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hr.Attention(a1=[0.1, 0.2], nu=[1, 2, 3]), ValueError, "a1, nu: got shapes"),
        (lambda: hr.Overlaps(mu_mu=[1, 2], mu_K=[0, 0, 0]), ValueError, "mu_mu, mu_K: got shapes"),
        (lambda: hr.Attention("x").error(np.ma.masked, 1), ValueError, "c: got masked entries"),
        (lambda: hr.Attention("x").error(1, 1, certified="no"), TypeError, "certified: got 'no'"),
        (lambda: hr.Ball(1, 2, digits=0), ValueError, "digits: got 0"),
    ],
)
def test_the_argument_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
