"""Krawczyk's test for any square system, and the balls of derived systems."""

from dataclasses import replace

import pytest
import sympy
from engine_models import (
    IDENTITY,
    RATIOS,
    W,
    X,
    Z,
    a1,
    attention,
    c,
    d,
    gamma,
    mu,
    n,
    p,
    point,
    sigma,
    solutions,
    spiked_attention,
    y,
    z,
)

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.solution import Outcome, SolveError
from hermite_rmt.equivalents.ensembles import GUE
from hermite_rmt.equivalents.entrywise import entrywise, off_diagonal
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.certified_system import enclose, prove
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.engine.branch_proof import BranchProof
from hermite_rmt.theory.engine.certifier import BRANCH_FOLLOWED, BRANCH_PROVED, NO_CONGRUENCE
from hermite_rmt.theory.equivalent import deterministic_equivalent
from hermite_rmt.theory.multi_head import MultiHeadAttention
from hermite_rmt.theory.overlaps import Overlaps

flint = pytest.importorskip("flint")
context = local_context(500)
REFERENCE = {"a1": "0.6", "nu": "0.5", "c": "0.7", "gamma": "0.3", "diagonal": "0.2"}
REFERENCE |= {"overlaps": dict.fromkeys(("mm", "mk", "mq", "kk", "qq", "kq"), "0")}
semicircle = deterministic_equivalent((W - z * IDENTITY).inv())


def check(solution, exact, digits):
    """The trace's ball contains the exact number and all balls are as small as promised."""
    assert solution.outcome == Outcome.CONVERGED
    assert context.mpf(sympy.N(exact, 140)._mpf_) in solution["trace"]
    for ball in solution.values.values():
        lower, upper = context.mpf(ball.lower), context.mpf(ball.upper)
        assert 0 < upper - lower <= 2 * context.mpf(10) ** -digits * min(abs(lower), abs(upper))
    assert any("exactly one solution" in note for note in solution.notes)
    assert BRANCH_PROVED in solution.notes


@pytest.mark.parametrize("digits", [5, 30, 80])
@pytest.mark.parametrize("x", [-3, sympy.Rational(201, 100), -2 - sympy.Rational(1, 10**6), 2 * sympy.sqrt(2)])
def test_semicircle(x, digits):
    exact = (-x + sympy.sign(x) * sympy.sqrt(x**2 - 4)) / 2
    check(semicircle.certify({z: x}, digits), exact, digits)


@pytest.mark.parametrize("ratio", [sympy.Rational(1, 2), sympy.sqrt(2), 3])
@pytest.mark.parametrize("ridge", [sympy.Rational(1, 1000), 1 / sympy.sqrt(3)])
def test_marchenko_pastur(ratio, ridge):
    equivalent = deterministic_equivalent((Z * Z.T / n + gamma * sympy.Identity(p)).inv(), RATIOS)
    shifted = 1 - ratio + ridge
    exact = (-shifted + sympy.sqrt(shifted**2 + 4 * ratio * ridge)) / (2 * ratio * ridge)
    check(equivalent.certify({c: ratio, gamma: ridge}, 40), exact, 40)


def test_attention_agrees_with_its_rational_form(theory_values):
    for row in theory_values[::6]:  # irrational sigma, and 0, among them
        values, _ = point(row)
        solution = attention().certify(values, digits=30)
        model = Attention(a1=row["a1"], nu=row["nu"], diagonal=row["diagonal"])
        assert solution.success
        ball, other = solution["trace"], model.trace(row["c"], row["gamma"], digits=70, certified=True)
        assert ball.rad < 1e-30 * abs(ball.mid)
        assert ball.lower <= other.upper  # two proofs of one number: the balls meet
        assert other.lower <= ball.upper
        right = context.mpf(model.trace(row["c"], row["gamma"], digits=50))
        unit = abs(right) * context.mpf(10) ** -49  # at least one of the last of the 50 digits
        assert context.mpf(ball.lower) - unit <= right <= context.mpf(ball.upper) + unit


def meets(first, second):
    return first.lower <= second.upper and second.lower <= first.upper


def contains_rounded(ball, text):
    """Whether a ball contains a number that is known by 40 digits."""
    right = context.mpf(text)
    unit = abs(right) * context.mpf(10) ** -39
    return context.mpf(ball.lower) - unit <= right <= context.mpf(ball.upper) + unit


def forms_agree(row):
    """Quadratic form and error of the engine, of the rational form, and of the reference table."""
    values, gram = point(row)
    solution = spiked_attention().certify(values, 30, form=(y, y), gram=gram, derivative=gamma)
    assert solution.success
    assert BRANCH_PROVED in solution.notes
    names = {"mm": "mu_mu", "mk": "mu_K", "mq": "mu_Q", "kk": "K_K", "qq": "Q_Q", "kq": "K_Q"}
    overlaps = Overlaps(**{name: row["overlaps"][short] for short, name in names.items()})
    model = Attention(a1=row["a1"], nu=row["nu"], diagonal=row["diagonal"], overlaps=overlaps)
    other = model.solve(row["c"], row["gamma"], digits=30, certified=True)
    q, slope = solution["quadratic_form"], solution["derivative"]
    square = context.mpf(sympy.N(sympy.Rational(row["gamma"]) ** 2, 60)._mpf_)
    error = Ball(-square * context.mpf(slope.upper), -square * context.mpf(slope.lower), digits=30)
    assert all(ball.rad < abs(ball.mid) * context.mpf(10) ** -30 for ball in (q, slope))
    assert meets(q, other["quadratic_form"])
    assert contains_rounded(q, row["q"])
    assert meets(error, other["error"])
    assert contains_rounded(error, row["E"])


def test_quadratic_forms_and_errors(theory_values):
    for row in theory_values[1::7]:
        forms_agree(row)


@pytest.mark.slow
def test_all_quadratic_forms_and_errors(theory_values):
    for row in theory_values:
        forms_agree(row)


def test_a_gram_matrix_of_balls():
    # ridge regression on a spiked model: q = m (1 + m)/(1 + m + r m), decreasing in r
    regression = deterministic_equivalent((X.T * X / n + gamma * IDENTITY).inv(), RATIOS)
    values, width = {c: sympy.Rational(3, 4), gamma: "0.2"}, sympy.Rational(1, 10**12)
    strength = Ball(1 - width, 1 + width, digits=12)
    ball = regression.certify(values, 10, form=(y, y), gram={(mu, mu): strength}, derivative=gamma)["quadratic_form"]
    inner = regression.certify(values, 30, form=(y, y), gram={(mu, mu): 1})["quadratic_form"]
    m = context.mpf(regression.trace(values, digits=60))
    for r in (1 - width, 1 + width):
        r = context.mpf(r.p) / r.q
        assert m * (1 + m) / (1 + m + r * m) in ball
    assert inner in ball
    assert ball.rad > 1e-14  # as wide as the Gram matrix makes it
    assert not regression.certify(values, 30, form=(y, y), gram={(mu, mu): strength}).success
    with pytest.raises(ValueError, match="certify takes balls"):
        regression.quadratic_form(y, y, values, {(mu, mu): strength})


def test_parameters_of_expressions_that_are_balls():
    narrow, wide = (Ball(-3 - width, -3 + width, digits=10) for width in (1e-15, 1.5))
    ball = semicircle.certify({z: narrow}, 12)["trace"]
    for end in (-3 - 1e-15, -3 + 1e-15):
        exact = (context.mpf(-end) - context.sqrt(context.mpf(end) ** 2 - 4)) / 2
        assert exact in ball
    assert semicircle.certify({z: wide}, 1).outcome == Outcome.NOT_PROVED
    with pytest.raises(ValueError, match="certify takes balls"):
        semicircle.trace({z: narrow})


def test_derivatives():
    # the semicircle: m' = -m / (2 m + z)
    solution = semicircle.certify({z: -3}, 40, derivative="z")
    m = (3 - context.sqrt(5)) / 2
    assert -m / (2 * m - 3) in solution["derivative"]
    assert solution["derivative"].rad < 1e-40
    with pytest.raises(ValueError, match="derivative"):
        semicircle.certify({z: -3}, derivative="gamma")


def test_unknowns_have_the_names_and_values_that_solve_gives():
    values, _ = point(REFERENCE)
    balls, numbers = attention().certify(values, 20), attention().solve(values, digits=30)
    assert set(balls.values) == set(numbers.values)
    for name, number in numbers.values.items():
        unit = abs(number) * context.mpf(10) ** -28
        assert context.mpf(balls[name].lower) - unit <= number <= context.mpf(balls[name].upper) + unit
    # and they solve the reduced equations, which speak of them
    exact = {symbol: sympy.Rational(value) if isinstance(value, str) else value for symbol, value in values.items()}
    system = attention().equations.substitute(exact)
    at = {unknown: balls[str(unknown)].arb() for unknown in system.unknowns}
    arithmetic = BallArithmetic(200)
    with arithmetic.active():
        for residual in system.residuals:
            value = BallFunction(tuple(at), residual).real(*at.values())
            assert value.contains(0)
            assert value.abs_upper() < 1e-12


def test_where_the_self_adjoint_form_does_not_exist():
    values, _ = point({**REFERENCE, "a1": "0"})
    solution = attention().certify(values, 20)
    assert list(solution.values) == ["trace"]
    assert NO_CONGRUENCE in solution.notes
    assert BRANCH_PROVED in solution.notes


def test_heads():
    functions = ["sin(x)", "sin(2*x)"]
    solution = MultiHeadAttention(functions).solve("0.5", "0.1", digits=12, certified=True)
    other = MultiHeadAttention(functions).solve("0.5", "0.1", digits=25)
    assert BRANCH_PROVED in solution.notes
    for name in ("trace", "quadratic_form", "error"):
        assert other[name] in solution[name]
    one = MultiHeadAttention(["erf(x)"], Overlaps.aligned(1)).error("0.5", "0.1", digits=15, certified=True)
    assert meets(
        one, Attention("erf(x)", overlaps=Overlaps.aligned(1)).error("0.5", "0.1", digits=15, certified=True)
    )


def test_the_wrong_branch_is_never_called_the_limit(monkeypatch):
    # certify is led to the spurious solution of attention: a true box of a solution, and the note says no more
    values = {a1: 1, sigma: 0, c: "3/4", d: 0, gamma: "0.1"}
    wrong = solutions(attention(), values, 60)["0.6608076258"]
    monkeypatch.setattr(attention()._solver, "solve", lambda *_: wrong)
    solution = attention().certify(values, 10)
    assert abs(solution["trace"].mid - context.mpf("0.6608076258")) < 1e-9
    assert BRANCH_FOLLOWED in solution.notes
    assert BRANCH_PROVED not in solution.notes


def test_models_want_the_branch_proved(monkeypatch):
    model = MultiHeadAttention(["erf(x)", "erf(x)"])  # the covariance of the two is singular
    assert BRANCH_PROVED in model.solve("0.5", "0.1", digits=10, certified=True).notes
    monkeypatch.setattr(BranchProof, "holds", lambda *_: False)
    solution = model.solve("0.5", "0.1", digits=10, certified=True, raises=False)
    assert solution.outcome == Outcome.NOT_PROVED
    assert BRANCH_FOLLOWED in solution.notes
    with pytest.raises(SolveError):
        model.error("0.5", "0.1", digits=10, certified=True)


@pytest.mark.slow
def test_heads_without_closed_forms():
    functions = ["tanh(x)", Nonlinearity("relu(x)").centred()]
    trace = MultiHeadAttention(functions).trace("0.5", "0.1", digits=12, certified=True)
    assert MultiHeadAttention(functions).trace("0.5", "0.1", digits=25) in trace
    K, L = (off_diagonal(entrywise(f, Z.T * Z / sympy.sqrt(p))) / sympy.sqrt(p) for f in functions)
    expression = K.T * Z.T * Z * K / n + L.T * Z.T * Z * L / n + gamma * IDENTITY
    chain = deterministic_equivalent(expression.inv(), RATIOS).certify({c: "0.5", gamma: "0.1"}, 12)
    assert BRANCH_PROVED in chain.notes
    assert meets(trace, chain["trace"])


def resolvent_of(f):
    scores = off_diagonal(entrywise(f, Z.T * Z / sympy.sqrt(p))) / sympy.sqrt(p)
    return deterministic_equivalent((scores.T * scores + gamma * IDENTITY).inv(), RATIOS)


def test_constants_of_an_entrywise_function_enter_as_enclosures():
    values, equivalent = {c: 2, gamma: "0.1"}, resolvent_of("erf(x)")
    ball = equivalent.certify(values, 25)["trace"]
    right = context.mpf(equivalent.trace(values, digits=40))
    unit = abs(right) * context.mpf(10) ** -39
    assert context.mpf(ball.lower) - unit <= right <= context.mpf(ball.upper) + unit
    with pytest.raises(ValueError, match="certified: <lambda>"):  # a callable has no enclosures
        resolvent_of(lambda x: x * x * x - 3 * x).certify(values, 25)


def test_values_that_are_zero():
    # tr (W^2 + 1)^-1 W is 0 by symmetry: a ball around it, far smaller than 10^-digits
    ball = deterministic_equivalent((W * W + IDENTITY).inv() * W).certify({}, 20)["trace"]
    assert 0 in ball
    assert ball.rad < 1e-39


# The test itself: x^2 + y^2 = 4 and x y = 1


def residuals(v):
    return [v[0] * v[0] + v[1] * v[1] - 4, v[0] * v[1] - 1]


def jacobian(v):
    return [[2 * v[0], 2 * v[1]], [v[1], v[0]]]


def four_solutions(numbers):
    """The four solutions."""
    plus, minus = (numbers.number(6).sqrt() + s * numbers.number(2).sqrt() for s in (1, -1))
    for sign in (1, -1):
        yield [sign * plus / 2, sign * minus / 2]
        yield [sign * minus / 2, sign * plus / 2]


def test_every_solution_has_its_own_box():
    numbers = BallArithmetic(200)
    with numbers.active():
        boxes = [enclose(residuals, jacobian, x, numbers) for x in four_solutions(numbers)]
        for x, box in zip(four_solutions(numbers), boxes, strict=True):
            assert all(side.overlaps(entry) for side, entry in zip(box, x, strict=True))
            assert all(side.rel_accuracy_bits() > 150 for side in box)
        assert not any(boxes[i][0].overlaps(boxes[j][0]) for i in range(4) for j in range(i))


def test_a_wrong_box_is_not_proved():
    numbers = BallArithmetic(200)
    with numbers.active():
        for x in four_solutions(numbers):
            assert prove(residuals, jacobian, x, [1e-6, 1e-6], numbers)
            assert not prove(residuals, jacobian, [x[0] + 1e-3, x[1]], [1e-6, 1e-6], numbers)
            assert not prove(residuals, jacobian, x, [3, 3], numbers)  # several solutions
        assert enclose(residuals, jacobian, [1, 1], numbers) is None  # the Jacobian is singular
        assert enclose(residuals, jacobian, [numbers.number(float("nan")), 1], numbers) is None


def test_parameters_that_are_balls():
    numbers = BallArithmetic(100)
    with numbers.active():
        for radius, closes in ((1e-8, True), (3, False)):
            square = numbers.ball(numbers.number(2), numbers.number(radius))
            box = enclose(lambda v, s=square: [v[0] ** 2 - s], lambda v: [[2 * v[0]]], [2**0.5], numbers)
            assert (box is not None) == closes
            if closes:
                assert all(box[0].contains(end.sqrt()) for end in (square.lower(), square.upper()))


# Derived systems: at the door, and where nothing can be proved


@pytest.mark.parametrize("argument", [2, -2, 1])
def test_edges_and_the_spectrum_are_refused(argument):
    with pytest.raises(SolveError) as caught:
        semicircle.certify({z: argument})
    assert caught.value.solution.outcome == Outcome.IN_SPECTRUM


@pytest.mark.parametrize("shift", ["1e-3", "1e-20"])
def test_a_branch_that_is_no_solution_is_not_proved(monkeypatch, shift):
    equivalent = deterministic_equivalent((W - z * IDENTITY).inv())
    solve = equivalent._solver.solve

    def wrong(*arguments):
        solved = solve(*arguments)
        return replace(solved, unknowns=[value + value.context.mpf(shift) for value in solved.unknowns])

    monkeypatch.setattr(equivalent._solver, "solve", wrong)
    solution = equivalent.certify({z: -3}, 30)
    assert solution.outcome == Outcome.NOT_PROVED
    assert not solution.values
    with pytest.raises(SolveError):
        solution.require_success()


def test_a_singular_jacobian_and_other_approximations_are_not_proved():
    system, numbers = semicircle._certifier.system(), BallArithmetic(200)
    right = context.mpf(semicircle.trace({z: -3}, digits=60))
    with numbers.active():
        three, edge = ({z: numbers.number(value)} for value in (-3, -2))
        assert system.prove([right], three, numbers) is not None
        near = system.prove([right + context.mpf("0.001")], three, numbers)  # a wide box, and true
        assert near is None or near.observables["trace"].contains(numbers.number(right))
        assert system.prove([1], edge, numbers) is None  # a double root


def test_bad_input():
    with pytest.raises(ValueError, match="real numbers"):
        semicircle.certify({z: 1j})
    with pytest.raises(ValueError, match="shape"):
        semicircle.certify({z: [3, 4]})
    with pytest.raises(ValueError, match="digits"):
        semicircle.certify({z: 3}, digits=None)
    with pytest.raises(ValueError, match="no value for"):
        semicircle.certify({})


def test_complex_ensemble_with_real_parameters():
    equivalent = deterministic_equivalent((GUE("H", n) - z * IDENTITY).inv())
    check(equivalent.certify({z: 3}, 25), (-3 + sympy.sqrt(5)) / 2, 25)
