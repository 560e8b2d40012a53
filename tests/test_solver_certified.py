"""Certified attention: balls that contain the truth, and proofs that fail where something is wrong."""

from fractions import Fraction

import numpy as np
import pytest

from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import ComputedReal
from hermite_rmt.core.solution import Outcome
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.attention_certified import certify_point, prove
from hermite_rmt.solvers.attention_digits import NAMES, solve_point
from hermite_rmt.solvers.attention_path import starts
from hermite_rmt.solvers.attention_point import ExactPoint
from hermite_rmt.solvers.attention_refine import differentiate, inverse_jacobian, refine
from tests.solver_cases import box, edges, exact, exact_point, exact_row, reference_rows

flint = pytest.importorskip("flint")


def test_reference_values_are_inside():
    context = local_context(400)
    for row in reference_rows():
        solution = certify_point(exact_row(row), 70)
        assert solution.outcome == Outcome.CONVERGED
        for name, key in (("error", "E"), ("quadratic_form", "q")):
            ball = solution[name]
            lower, upper, right = (context.mpf(value) for value in (ball.lower, ball.upper, row[key]))
            assert upper - lower < 2 * context.mpf(10) ** -70 * upper
            unit = abs(right) * context.mpf(10) ** -39  # at least one of the last of the 40 digits
            assert lower - unit / 2 <= right <= upper + unit / 2


@pytest.mark.parametrize(("points", "seed"), [(box, 31), (edges, 32)])
def test_random_points(points, seed):
    arguments = points(np.random.default_rng(seed), 60)
    for index in range(60):
        point = exact_point(arguments, index)
        solution, right = certify_point(point, 20), solve_point(point, 45)
        assert solution.success
        for name in NAMES:
            assert right[name] in solution[name]


def proof_at(point, precision=260, change=lambda x: x, use_pair=None):
    """Whether `prove` closes at coordinates changed from the solution."""
    exact_numbers = ExactPoint(point)
    current = next(starts(exact_numbers))
    assert refine(exact_numbers, current, precision, True)
    numbers = BallArithmetic(precision + 30)
    with numbers.active():
        x = change([numbers.number(value) for value in current.x])
        chart = current.use_pair if use_pair is None else use_pair
        box_found = prove(exact_numbers.scaled(numbers), chart, x, current.inverse, numbers)
    return box_found is not None


@pytest.mark.parametrize("row", reference_rows()[::4])
def test_a_wrong_box_is_not_proved(row):
    point = exact_row(row)
    assert proof_at(point)
    # far from the solution Newton's step leads away from the box, or the box is too large for the test
    for index, factor in ((0, 2), (1, 0.5), (2, 3)):
        assert not proof_at(
            point, change=lambda x, i=index, f=factor: [v * f if j == i else v for j, v in enumerate(x)]
        )
    assert not proof_at(point, use_pair=not next(starts(ExactPoint(point))).use_pair)


@pytest.mark.parametrize("shift", ["0.1", "-0.05"])
def test_a_wrong_preconditioner_is_not_proved(shift):
    point = ExactPoint(exact_row(reference_rows()[3]))
    current = next(starts(point))
    refine(point, current, 200, True)
    current.inverse[0][0] *= 1 + 40 * float(shift)
    current.inverse[1] = [0 * entry for entry in current.inverse[1]]
    numbers = BallArithmetic(230)
    with numbers.active():
        assert prove(point.scaled(numbers), current.use_pair, current.x, current.inverse, numbers) is None


def wrong_sheet_zeros(c, gamma, d):
    """Zeros of the equations for f(x) = x, the real root or the pair on the other sheet: coordinates F1, F2, f3."""
    context = local_context(600)
    c, gamma, k = context.mpf(c), context.mpf(gamma), context.mpf(d) - 1
    zeta, cbar = (1 / c, c) if c <= 1 else (context.mpf(1), 1 / c)
    sheets = []
    for x in context.polyroots([c, 2 * c * k, c * k * k, gamma], maxsteps=500, extraprec=600):
        z = 1 + cbar - x / zeta
        root = context.sqrt(z * z - 4 * cbar)
        sheets.append(sorted(((z + root) / 2, (z - root) / 2), key=abs, reverse=True))
    real = min(range(3), key=lambda i: abs(context.im(sheets[i][0])))
    for choice in ("right", "real", "pair"):
        u = [pair[int((i == real) == (choice == "real") and choice != "right")] for i, pair in enumerate(sheets)]
        e1, e2, e3 = sum(u), u[0] * u[1] + u[0] * u[2] + u[1] * u[2], u[0] * u[1] * u[2]
        yield choice, [context.re(value) for value in (e1 - 3, e2 - 2 * e1 + 3, (e3 - e2 + e1 - 1) / gamma)]


@pytest.mark.parametrize(("c", "gamma", "d"), [("0.75", "0.1", "0"), ("2", "0.01", "-0.5"), ("1", "0.3", "0.5")])
def test_the_other_sheet_is_not_proved(c, gamma, d):
    """The spurious branch: the equations hold there, and Krawczyk's test would close; the signs say no."""
    point = ExactPoint(exact(c, gamma, 1, 1, d))
    numbers = BallArithmetic(400)
    verdicts = {}
    with numbers.active():
        scaled = point.scaled(numbers)
        for choice, x in wrong_sheet_zeros(c, gamma, d):
            x = [numbers.number(value) for value in x]
            here = differentiate(scaled, False, x, numbers.number(1.0))
            assert max(float(abs(equation.value).upper()) for equation in here.equations) < 1e-60
            inverse = inverse_jacobian(here, numbers.number(1.0))
            verdicts[choice] = prove(scaled, False, x, inverse, numbers) is not None
    assert verdicts == {"right": True, "real": False, "pair": False}


def enclosed(lower, upper, name):
    """A number known to lie in an interval, at best."""
    context = local_context(300)

    class Enclosed(ComputedReal):
        def enclosure(self, digits):
            return Ball.between(context.mpf(lower), context.mpf(upper), digits)

    return Enclosed(lambda digits: (context.mpf(lower) + context.mpf(upper)) / 2, name)


def test_input_balls():
    """Balls in, balls out: the result contains the solutions at both ends of the parameter, and wide balls fail."""
    point = exact(2, "1/10", "0.6", "0.5", 0, (1, "0.5", "0.5", 1, 1, "0.5"))
    narrow = certify_point(point | {"gamma": enclosed("0.1", "0.1000000000000000000000001", "gamma")}, 20)
    assert narrow.outcome == Outcome.CONVERGED
    for end in ("0.1", "0.1000000000000000000000001"):
        right = solve_point(exact(2, end, "0.6", "0.5", 0, (1, "0.5", "0.5", 1, 1, "0.5")), 40)
        assert right["error"] in narrow["error"]
    too_wide_for_the_digits = certify_point(point | {"gamma": enclosed("0.1", "0.1000001", "gamma")}, 20)
    too_wide_at_all = certify_point(point | {"gamma": enclosed("0.1", "0.9", "gamma")}, 1)
    for solution in (too_wide_for_the_digits, too_wide_at_all):
        assert solution.outcome == Outcome.NOT_PROVED
        assert not solution.success
        assert np.isnan(solution["error"])


def test_a_wrong_input_ball_gives_another_answer_or_none():
    """A ball that misses the parameter: the result must not contain the solution for the right one."""
    right = solve_point(exact(2, "1/10", "0.6", "0.5"), 40)
    solution = certify_point(exact(2, "1/10", "0.6", "0.5") | {"gamma": enclosed("0.11", "0.11", "gamma")}, 20)
    assert solution.success
    assert right["error"] not in solution["error"]


def test_a_number_without_enclosure_is_refused():
    point = exact(2, "1/10", "0.6", "0.5")
    point["gamma"] = ComputedReal(lambda digits: local_context(bits(digits)).mpf(1) / 7, "one seventh")
    with pytest.raises(ValueError, match=r"certified.*one seventh.*allowed"):
        certify_point(point, 20)


def test_without_signal_the_quadratic_form_is_the_trace():
    solution = certify_point(exact("3/2", "1/100", "0.6", "0.5", "1/3", (0, 0, 0, 2, 3, 1)), 40)
    assert solution["quadratic_form"].lower <= solution["trace"].upper
    assert solution["trace"].lower <= solution["quadratic_form"].upper


def test_far_points():
    for point in ((2, "1e-60", "0.6", "0.5"), (1, "1e-60", 0, 1), ("1e-20", Fraction(1, 1000), "0.6", "0.5")):
        solution, right = certify_point(exact(*point), 30), solve_point(exact(*point), 50)
        assert solution.success
        for name in NAMES:
            assert right[name] in solution[name]


def test_without_python_flint(monkeypatch):
    """Digits come from mpmath then, and a proof says what it needs."""
    from hermite_rmt.core import flint_context
    from hermite_rmt.solvers import arithmetic

    point = exact(2, "1/10", "0.6", "0.5")
    right = str(solve_point(point, 30)["error"])
    for module in (flint_context, arithmetic):
        monkeypatch.setattr(module, "flint_module", lambda: None)
    assert str(solve_point(point, 30)["error"]) == right
    with pytest.raises(ImportError, match=r"hermite-rmt\[certified\]"):
        certify_point(point, 20)
