"""Attention to any number of digits: reference values, an independent form, two arithmetics, extremes."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import hermite_rmt as hr
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import ComputedReal, read_real
from hermite_rmt.core.solution import SolveError
from hermite_rmt.solvers import attention_digits
from hermite_rmt.solvers.attention_digits import NAMES, solve_point
from tests.solver_cases import OVERLAPS, box, exact, exact_point, exact_row, reference_rows

ARITHMETICS = pytest.mark.parametrize("use_flint", [False, True], ids=["mpmath", "flint"])


def close(value, right, digits):
    """Whether value and right (mpf or text) agree to so many significant digits."""
    context = local_context(40 + 4 * digits)
    value, right = context.mpf(value), context.mpf(right)
    return abs(value - right) <= abs(right) * context.mpf(10) ** -digits


@ARITHMETICS
def test_reference_values(use_flint):
    for row in reference_rows():
        solution = solve_point(exact_row(row), 39, use_flint)
        assert close(solution["error"], row["E"], 39)
        assert close(solution["quadratic_form"], row["q"], 39)
        assert solution.residual < 1e-35


@pytest.mark.parametrize(
    ("point", "error"),
    [
        (("1/2", "1/10", "0.6", "0.5"), "0.583793881608473046282808538033"),
        (("2", "1/100", "0.6", "0.5"), "0.0886608121530743448261125144576"),
        (("1/2", "1/10", "0.6", "0.5", 0, ("1.5", 0, 0, 0, 0, 0)), "0.260415370946842109145682413147"),
        (("2", 1, "0.6", "0.5", 0, (2, "0.5", "-0.6", "1.3", "0.7", "-0.4")), "0.365808674100798164721901686196"),
        (("1", "1/10", "0.6", "0.5", 0, ("1.5",) * 6), "0.163341021575596518982474796968"),
        (
            ("1/2", 10, "0.6", "0.5", 0, ("1.5", "1.5", "-1.5", "1.5", "1.5", "-1.5")),
            "0.627626309326655595815423981871",
        ),
        ((1, 1, 0, 2), "0.456854030623017323704199442931"),
    ],
)
def test_independent_points(point, error):
    assert close(solve_point(exact(*point), 30)["error"], error, 29)


def test_sign_nonlinearity():
    """a_1 = sqrt(2/pi), nu = 1: numbers that are not rational."""

    def power_of_two_over_pi(exponent):
        def evaluate(digits):
            context = local_context(4 * digits + 20)
            return (2 / context.pi) ** exponent

        return evaluate

    a1 = ComputedReal(power_of_two_over_pi(0.5), "sqrt(2/pi)")
    eta = ComputedReal(lambda digits: 1 - power_of_two_over_pi(1)(digits), "1 - 2/pi")
    kappa = ComputedReal(lambda digits: -power_of_two_over_pi(0.5)(digits), "-sqrt(2/pi)")
    point = exact(1, 1, 0, 1, 0, (Fraction(3, 2),) * 6) | {"a1": a1, "eta": eta, "kappa": kappa}
    assert close(solve_point(point, 30)["error"], "0.252379816869287091392071036129", 29)


def form_d(context, point, m, delta, tau):
    """Scaled residuals of form (d) and q of Theorem 1, as sums over roots of the cubic (derivations 06, 07)."""
    c, gamma, a1, eta, kappa, mm, mk, mq, kk, qq, kq = (
        point[name].mpf(context.prec) for name in ("c", "gamma", "a1", "eta", "kappa", *OVERLAPS)
    )
    sigma2 = eta / c
    g, k = gamma + sigma2 * delta, kappa - sigma2 * tau
    cubic = [c * a1 * a1, 2 * c * a1 * k, c * k * k + g * eta * m, g]
    roots = context.polyroots(cubic, maxsteps=500, extraprec=3 * context.prec)

    def stieltjes_tau(z):
        b = c * z - c - 1
        root = context.sqrt(b * b - 4 * c)
        return min((-b + root) / (2 * c), (-b - root) / (2 * c), key=abs)

    def integral(power, phi):
        total = 0
        for x in roots:
            derivative = (3 * cubic[0] * x + 2 * cubic[1]) * x + cubic[2]
            total += x**power * phi(stieltjes_tau(x)) / derivative
        return context.re(total)

    def transform(t):
        return c * t / (1 - t)

    I0, I1, I2 = (integral(power, transform) for power in range(3))
    residuals = (
        (I0 + eta * m * I1) / m - 1,
        c * g * I1 / delta - 1,
        (c * (a1 * I2 + k * I1) - tau) / (abs(tau) + abs(kappa) / (sigma2 + 1)),
    )

    def first(phi):
        return integral(0, phi) + eta * m * integral(1, phi)

    def mixed(phi):
        return c * (a1 * integral(2, phi) + k * integral(1, phi))

    def overlap(product, projections):
        return lambda t: t * (product + projections * (1 - t) / (1 + mm * t))

    F = first(lambda t: c * t / ((1 - t) * (1 + mm * t)))
    x_u = mq * first(lambda t: context.sqrt(c) * t / (1 + mm * t))
    x_v = mk * mixed(lambda t: context.sqrt(c) * t / (1 + mm * t))
    P, T = first(overlap(qq, mq * mq)), mixed(overlap(kq, mk * mq))
    R = -c * g * integral(1, overlap(kk, mk * mk))
    open_loop = 1 + a1 * T
    q = F + (a1**2 * (R * x_u**2 + P * x_v**2) - 2 * a1 * open_loop * x_u * x_v) / (open_loop**2 - a1**2 * P * R)
    return residuals, q


def test_against_the_sums_over_roots():
    """The solution satisfies form (d), and Theorem 1 gives its q: another formula, other unknowns, 80 digits."""
    context = local_context(400)
    arguments = box(np.random.default_rng(21), 25)
    for index in range(25):
        point = exact_point(arguments, index)
        solution = solve_point(point, 70)
        m, q, delta, tau = (context.mpf(solution[name]) for name in ("trace", "quadratic_form", "delta", "tau"))
        residuals, right = form_d(context, point, m, delta, tau)
        assert max(abs(residual) for residual in residuals) < 1e-55
        assert abs(q / right - 1) < 1e-45


def test_error_is_the_derivative():
    """E = -gamma^2 dq/dgamma against a central difference of 100 digits."""
    context = local_context(600)
    for row in reference_rows()[::5]:
        point = exact_row(row)
        gamma, h = point["gamma"].rational, Fraction(1, 10**30)
        ends = [
            context.mpf(
                solve_point(point | {"gamma": read_real(gamma * (1 + s * h), "gamma")}, 100)["quadratic_form"]
            )
            for s in (-1, 1)
        ]
        slope = (ends[1] - ends[0]) * 10**30 / 2
        error = solve_point(point, 60)["error"]
        assert abs(-gamma * slope / context.mpf(error) - 1) < 1e-40


@pytest.mark.parametrize("digits", [1, 15, 60, 300, 2000])
def test_both_arithmetics_give_the_same_digits(digits):
    point = exact_row(reference_rows()[4])
    plain, fast = solve_point(point, digits, False), solve_point(point, digits, True)
    longer = solve_point(point, digits + 30)
    for name in NAMES:
        assert str(plain[name]) == str(fast[name])
        assert close(plain[name], longer[name], digits)


@pytest.mark.parametrize(
    "point",
    [
        (1, "1e-40", "0.6", "0.5"),
        ("0.5", "1e-40", 1, 1, 2, (1, "0.5", "0.5", 1, 1, "0.5")),
        (2, "1e-300", "0.6", "0.5", 0, (1, "0.5", "0.5", 1, 1, "0.5")),
        (2, "1e-1000", "0.6", "0.5", 2),
        (1, "1e-1000", 0, 1),
        ("1e-30", "1e-3", "0.6", "0.5"),
        ("1e25", "1e-3", "0.6", "0.5"),
        (2, "1e40", "0.6", "0.5"),
        (1 + Fraction(1, 10**40), "1e-30", "0.6", "0.5"),
        (3, "1/10", "1e-200", 1, 1),
        ("1/4", "1e-12", 1, 1),
    ],
)
@ARITHMETICS
def test_extremes(point, use_flint):
    solution = solve_point(exact(*point), 25, use_flint)
    assert solution.success
    gamma, m = Fraction(point[1]), solution["trace"]
    assert 0 < m * gamma.numerator <= gamma.denominator
    assert close(solution["error"], solve_point(exact(*point), 40)["error"], 25)


@ARITHMETICS
def test_c_beyond_doubles_is_the_limit_of_large_c(use_flint):
    """c -> inf, d = 0: beta = gamma/nu, D = (sqrt(beta^2 + 4 beta) - beta)/2, E = D - D^2/sqrt(beta^2 + 4 beta)."""
    context = local_context(400)
    root = context.sqrt(12)
    D = (root - 2) / 2
    for exponent in (100, 308, 400):
        error = solve_point(exact(Fraction(10) ** exponent, 1, "0.6", "0.5"), 30, use_flint)["error"]
        assert close(error, D - D * D / root, 29)
        # the next order is 1/c
        assert close(solve_point(exact(Fraction(10) ** exponent, 1, "0.6", "0.5"), exponent + 20)["error"], error, 29)


@pytest.mark.parametrize("diagonal", ["1e-150", "1e-400", "1e150", "1e400", "-1e400"])
@pytest.mark.parametrize("gamma", [1, 10**15])
def test_diagonal_of_any_size(diagonal, gamma):
    """a_1 = 0, c < 1: a small diagonal changes nothing; under a large one m -> (1 - c)/gamma, E -> 1 - c."""
    solution = solve_point(exact("1/2", gamma, 0, 1, diagonal), 25)
    assert solution.success
    size = abs(Fraction(diagonal))
    if size < 1:
        right = solve_point(exact("1/2", gamma, 0, 1), 40)
        assert close(solution["trace"], right["trace"], 24)
        assert close(solution["error"], right["error"], 24)
    else:
        assert close(gamma * local_context(300).mpf(solution["trace"]), "0.5", 24)
        assert close(solution["error"], "0.5", 24)


def test_ridgeless_power_law():
    """c > 1, gamma -> 0 inside the bulk, a_1 = 0: E ~ (1/2) sqrt(c gamma/(nu (c - 1)))."""
    context = local_context(200)
    for exponent in (40, 400):
        error = solve_point(exact(3, Fraction(1, 10**exponent), 0, 2), 30)["error"]
        leading = context.sqrt(context.mpf(3) / (4 * 10**exponent)) / 2
        next_order = 10 * context.mpf(10) ** (-exponent // 2)
        assert abs(context.mpf(error) / leading - 1) < max(next_order, context.mpf(10) ** -29)


def test_colliding_roots():
    """f linear, a_1 = 1, d = 2, c = 1, gamma = 4/27: two roots of the cubic are one. E increases through it."""
    gamma, h = Fraction(4, 27), Fraction(1, 10**18)
    context = local_context(200)
    errors = (solve_point(exact(1, gamma + s * h, 1, 1, 2), 40)["error"] for s in (-1, 0, 1))
    below, at, above = map(context.mpf, errors)
    assert below < at < above
    assert close((below + above) / 2, at, 33)


def test_tau_vanishes_exactly_without_linear_part_and_diagonal():
    solution = solve_point(exact(2, "1/10", 0, 3), 30)
    assert solution["tau"] == 0
    assert solution["delta"] > 0


def test_scaling_and_folding():
    plain = solve_point(exact("0.7", "0.2", "0.6", "0.5", "0.3", (1, "0.5", "0.25", 1, 1, 0)), 40)
    scaled = solve_point(exact("0.7", "1.8", "-1.8", "4.5", "-0.9", (1, "0.5", "0.25", 1, 1, 0)), 40)
    context = local_context(200)
    assert close(scaled["error"], plain["error"], 39)
    assert close(9 * context.mpf(scaled["trace"]), plain["trace"], 39)
    assert close(-3 * context.mpf(scaled["tau"]), plain["tau"], 39)


def test_missing_parameter():
    point = exact(1, 1, 0, 1)
    del point["eta"]
    with pytest.raises(KeyError, match="eta"):
        solve_point(point, 20)


@ARITHMETICS
def test_threads_do_not_share_a_precision(use_flint):
    rows = [exact_row(row) for row in reference_rows()[:6]]
    work = [(row, digits) for row in rows for digits in (20, 90, 250)]
    serial = [str(solve_point(row, digits, use_flint)["error"]) for row, digits in work]
    with ThreadPoolExecutor(4) as pool:
        parallel = pool.map(lambda item: str(solve_point(*item, use_flint)["error"]), work)
        assert list(parallel) == serial


def test_impossible_questions_are_answered_with_the_reason():
    model = hr.Attention(a1="0.6", nu="0.5")
    for digits in (None, 20):
        with pytest.raises(ValueError, match=r"gamma: got 0; allowed: a positive number .*tr Q diverges there"):
            model.error(1, 0, digits=digits)
    with pytest.raises(ValueError, match=r"digits: got 1000000000000; allowed: .* from 1 to 1000000"):
        model.error(1, 1, digits=10**12)
    with pytest.raises(SolveError, match="leave what double precision can hold; ask for digits="):
        model.error("1e400", 1)
    assert close(model.trace(1, "1e-1000", digits=20), model.trace(1, "1e-1000", digits=40), 20)


@pytest.mark.parametrize("c", ["1e-20", "1e-29", "1e-50", "1e-100"])
def test_few_features_at_a_large_ridge(c):
    """As c -> 0 the c n eigenvalues of A^T A / n that are not 0 are (a_1/c)^2: E = 1 - c + c (gamma c^2/a_1^2)^2.

    The path from larger c leaves the chart of pairs.
    """
    error = hr.Attention(a1="0.6", nu="0.5").error(c, "1e6", digits=700)
    with mpmath.workdps(720):
        ratio = mpmath.mpf(c)
        leading = ratio * (mpmath.mpf(10) ** 6 * ratio**2 / mpmath.mpf("0.36")) ** 2
        assert abs((error - 1 + ratio) / leading - 1) < 100 * ratio


@pytest.mark.parametrize("c", ["1e-500", "1e-5000"])
def test_thousands_of_decades(c):
    """Delta tends to c^3/a_1^2."""
    solution = hr.Attention(a1="0.6", nu="0.5").solve(c, 1, digits=20)
    with mpmath.workdps(40):
        assert abs(solution["delta"] / (mpmath.mpf(c) ** 3 / mpmath.mpf("0.36")) - 1) < mpmath.mpf(10) ** -20


def test_a_point_that_is_not_reached_says_what_was_tried(monkeypatch):
    monkeypatch.setattr(attention_digits, "starts", lambda point: iter(()))
    with pytest.raises(SolveError, match=r"not converged.*neither doubles nor a path in log c") as failure:
        hr.Attention(a1="0.6", nu="0.5").error(1, 1, digits=20)
    assert failure.value.solution.notes == (attention_digits.NO_START,)
    monkeypatch.undo()
    monkeypatch.setattr(attention_digits, "refine", lambda *_: False)
    with pytest.raises(SolveError, match="from a solution to few digits"):
        hr.Attention(a1="0.6", nu="0.5").error(1, 1, digits=20)
