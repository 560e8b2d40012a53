"""Roots, branches, edges and elimination on which other tools fail: hard_cases.json groups d and e, and their kinds.

Those of the Marchenko-Pastur law (d01b, d03 to d06b, d14, d17, d18b) are in test_marchenko_pastur.py; here are the
scalar roots (d07 to d15) and the systems (group e), each through the function of ours that meets such an input. What
asks for a single root near a start (d11, d13) has its counterpart in finding all of them: no function of ours takes a
start, so none can return a point that is no root, or leave the domain.
"""

import re
from itertools import permutations

import numpy as np
import pytest
import sympy

from hermite_rmt.codegen.bracket import bracketed_root
from hermite_rmt.codegen.roots import real_roots
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions
from hermite_rmt.equivalents.quotient import InfiniteError
from hermite_rmt.equivalents.real_solutions import real_solutions
from hermite_rmt.equivalents.spectral import deterministic
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.zeros import real_zeros
from hermite_rmt.theory.attention import equivalent as attention
from hermite_rmt.theory.bulk_edges import spectrum_edges
from hermite_rmt.theory.equivalent import deterministic_equivalent
from hermite_rmt.theory.outliers import outlier, threshold

HALF = sympy.Rational(1, 2)
n, p = dimensions("n p")
z = sympy.Symbol("z")


@pytest.fixture
def case(hard_cases):
    def find(identifier):
        (row,) = [row for row in hard_cases(identifier[0]) if row["id"] == identifier]
        # a decimal is what it says, not the Float nearest to it
        return row, sympy.sympify(re.sub(r'Float\(("[^"]*"),\d+\)', r"Rational(\1)", row["f"]))

    return find


def in_x(expression):
    (symbol,) = expression.free_symbols
    return expression.xreplace({symbol: X})


def close(value, row):
    """Whether a `Real` agrees with the right value of a row to its digits."""
    digits = row["tolerance_digits"]
    context = local_context(bits(digits + 20))
    right = context.convert(sympy.sympify(row["right_value"], rational=True).evalf(digits + 15))
    return abs(value.mpf(context.prec) / right - 1) < context.mpf(10) ** -digits


# scalar roots


def test_fixed_point_of_a_map_that_leaves_its_domain(case):
    row, step = case("d07")
    (found,) = real_zeros(in_x(step) - X, -10, 10)
    assert close(found, row)


def test_no_real_root_is_no_root(case):
    _, polynomial = case("d09")
    assert real_zeros(in_x(polynomial), -10, 10) == []
    assert real_solutions([polynomial], tuple(polynomial.free_symbols)) == ()


@pytest.mark.parametrize(("lower", "upper"), [(1e-8, 1e-5), (1e-7, 1), (-1, 1), (-30, 30)])
def test_function_of_tiny_scale_with_a_flat_far_field(case, lower, upper):
    row, function = case("d11")
    (found,) = real_zeros(in_x(function), lower, upper)
    assert close(found, row)


def test_bisection_takes_as_many_steps_as_the_digits_need(case):
    row, function = case("d12")
    (found,) = real_zeros(in_x(function), 0, 1)
    assert close(found, row)
    context = local_context(bits(1010))
    x = context.mpf(found.mpf(bits(1005)))
    assert abs(context.cos(x) - x) < context.mpf(10) ** -1000


def test_zeros_at_and_around_zero():
    """Where an end of the bracket tends to 0, a width relative to the ends alone never ends the bisection."""
    tiny = X**2 - sympy.Rational(1, 10**20)
    (left, right) = real_zeros(sympy.tanh(tiny) + tiny, -10, 10)
    assert abs(right.mpf(300) * 10**10 - 1) < 1e-85
    assert abs(left.mpf(300) * 10**10 + 1) < 1e-85
    context = local_context(300)
    zero = bracketed_root(sympy.sin(X) + sympy.sinh(X) * X**2 + X**3, X, -0.1, 0.23)
    assert abs(zero.mpf(300)) < context.mpf(10) ** -100
    with pytest.raises(ArithmeticError, match="no change of sign"):
        bracketed_root(X**2 + 1, X, -1.0, 1.0).mpf(100)


def test_tiny_root(case):
    row, function = case("d13")
    for value in (1, 10**40):  # the scale of the function says nothing about its root
        (_, found) = real_zeros(value * in_x(function), -40, 40)
        assert close(found, row)
    ((_, one), (root, two)) = real_roots(sympy.Poly(in_x(function), X))
    assert close(root, row)
    assert one == two == 1


def test_roots_with_their_multiplicities(case):
    row, polynomial = case("d15")
    found = [root.rational for root, multiplicity in real_roots(sympy.Poly(polynomial)) for _ in range(multiplicity)]
    assert found == sympy.sympify(row["right_value"])


@pytest.mark.parametrize("power", [1, 3])
def test_multiplicities_of_irrational_and_close_roots(power):
    x = sympy.Symbol("x")
    near = sympy.Rational(1, 3) + sympy.Rational(1, 10**60)
    found = real_roots(sympy.Poly((x**3 - 2) ** power * (x - near) * (3 * x - 1) ** 2 * (x**2 + 1) ** 2, x))
    assert [multiplicity for _, multiplicity in found] == [2, 1, power]
    assert found[2][0].mpf(300) ** 3 == pytest.approx(2, rel=1e-80)


def test_roots_of_floats_are_refused():
    x = sympy.Symbol("x")
    with pytest.raises(ValueError, match="allowed: rational coefficients"):
        real_roots(sympy.Poly(x**2 - 0.1, x))


# systems


def test_decimal_coefficients(case):
    row, equations = case("e02")
    symbols = sorted({s for e in equations for s in e.free_symbols}, key=str)
    for residuals in permutations(equations):
        solutions = real_solutions(residuals, symbols)
        assert len(solutions) == 2
        assert close(solutions[1][symbols[0]], row)


def test_elimination_does_not_depend_on_the_order_of_polynomials(case):
    """Resultants are used up to their sign: SymPy's has the wrong one for the row's order."""
    row, _ = case("e03")
    x, y = sympy.symbols("x y")
    right = int(row["right_value"])
    for first, second in permutations((x + 2, x**3)):
        assert abs(sympy.resultant(first, second, x)) == abs(right)
        # the resultant of x + 2 and x^3 - y vanishes where y is its right value
        ((found),) = real_solutions(
            [first - (y if first == x**3 else 0), second - (y if second == x**3 else 0)], (x, y)
        )
        assert found[y].rational == right


def test_system_whose_solution_is_no_radical(case):
    row, equations = case("e04")
    (found,) = real_solutions(equations, sympy.symbols("x y"))
    assert close(found[sympy.Symbol("x")], row)
    x, y = (value.mpf(400) for value in found.values())
    assert abs(3 * x**3 * y + 5 * x * y**6 + 2) < 1e-110
    assert abs(x**5 + y**5 - 1) < 1e-110


def test_symbolic_coefficients_are_refused_at_once_and_numbers_solve(case):
    _, equations = case("e05")
    x, y = sympy.symbols("x y")
    parameters = tuple(sorted({s for e in equations for s in e.free_symbols} - {x, y}, key=str))
    system = EquationSystem((x, y), parameters, tuple(equations), branch="all of them")
    with pytest.raises(ValueError, match="parameters: got no number for a, b, c"):
        system.real_solutions()
    numbers = {symbol: sympy.Rational(k * k - 40, 7) for k, symbol in enumerate(parameters)}
    solutions = system.substitute(numbers).real_solutions(digits=60)
    assert len(solutions) % 2 == 1  # nine complex ones
    context = local_context(400)
    for found in solutions:
        at = {symbol: sympy.Float(context.mpf(value), 60) for symbol, value in found.items()}
        assert all(abs(equation.subs(numbers).subs(at)) < 1e-50 for equation in equations)


def test_radical_equation_without_the_spurious_branch(case):
    row, equation = case("e06")
    a, b = sympy.symbols("a b")
    for value in (HALF, sympy.Rational(1, 3), sympy.Rational(-3, 5)):  # -3/5 is where the search starts a cell
        at = equation.subs(a, value)
        (found,) = real_solutions([at], (b,))
        assert found[b].rational == value
        (zero,) = real_zeros(in_x(at), -1, 1)
        assert abs(zero.mpf(300) / value - 1) < 1e-85
    assert row["right_value"] == "b = a only"


def test_edges_without_the_complex_pair_of_the_discriminant(case):
    row, discriminant = case("e08")
    T, Z = deterministic("T", p, {1: HALF, 3: HALF}), Gaussian("Z", p, n)
    resolvent = deterministic_equivalent((Z.T * T * Z / n - z * sympy.Identity(n)).inv(), ratios={p: n / 2})
    lower, upper = spectrum_edges(resolvent, z, {}, digits=row["tolerance_digits"])
    context = local_context(200)
    right = context.mpf(row["right_value"])
    assert abs(context.mpf(upper) / right - 1) < context.mpf(10) ** (1 - row["tolerance_digits"])
    assert 0 < lower < upper
    assert len(real_roots(sympy.Poly(discriminant))) == 2


# their kinds, elsewhere


def test_merging_edges():
    """K = T + s W with T = +-1 closes its gap at s = 1 like (1 - s)^(3/2): to all digits before, no edge after."""
    s = sympy.Symbol("s", positive=True)
    T = deterministic("T", n, {1: HALF, -1: HALF})
    resolvent = deterministic_equivalent((T + s * GOE("W", n) - z * sympy.Identity(n)).inv())
    context = local_context(400)
    for distance in (HALF, sympy.Rational(1, 10**10), sympy.Rational(1, 10**30)):
        edges = spectrum_edges(resolvent, z, {s: 1 - distance}, digits=40)
        assert len(edges) == 4
        # where T + s W has its edges: z = u + s^2 mean 1/(u - T), dz/du = 0, so s^2 (u^2 + 1) = (u^2 - 1)^2
        s2 = (1 - context.mpf(int(distance.p)) / int(distance.q)) ** 2
        squares = [1 + s2 / 2 + sign * context.sqrt(s2 * s2 / 4 + 2 * s2) for sign in (1, -1)]
        right = sorted(sign * (u + s2 * u / (u * u - 1)) for u in map(context.sqrt, squares) for sign in (1, -1))
        for edge, value in zip(edges, right, strict=True):
            assert abs(context.mpf(edge) / value - 1) < context.mpf(10) ** -39
    for at in (1, 1 + sympy.Rational(1, 10**30), 2):
        assert len(spectrum_edges(resolvent, z, {s: at})) == 2


@pytest.mark.parametrize("between", [(2.2, 2.8), (2.0001, 2.9999), (2.49, 2.51), (2.4999999, 2.5000001), (2.3, 40)])
def test_search_for_a_pole_that_starts_at_it(between):
    """W + 2 v v^T has the outlier 5/2, the middle of most of these brackets: there the form has no value."""
    v = Vector("v", n)
    spiked = deterministic_equivalent((GOE("W", n) + 2 * v * v.T - z * sympy.Identity(n)).inv())
    found = outlier(spiked, v, z, between, {}, {(v, v): 1})
    assert found.location == pytest.approx(2.5, rel=1e-14)
    assert found.alignment == pytest.approx(0.75, rel=1e-8)


def test_brackets_that_end_in_the_spectrum_are_refused():
    v, theta = Vector("v", n), sympy.Symbol("theta")
    spiked = deterministic_equivalent((GOE("W", n) + theta * v * v.T - z * sympy.Identity(n)).inv())
    for between in ((2.5, 3), (1.9, 3)):
        with pytest.raises(ValueError, match="has no value at one end"):
            outlier(spiked, v, z, between, {theta: 2}, {(v, v): 1})
    for start in (1.0, 0.3, 7, -1):  # from the threshold itself, from both sides of it, and from afar
        assert threshold(spiked, v, z, 2, theta, start, {}, {(v, v): 1}) == pytest.approx(1, rel=1e-7)


def test_spurious_solutions_of_the_matrix_form_are_listed():
    """Attention, f linear, c = 3/4, gamma = 1/10: the branch and a spurious point with m < 1/gamma and delta > 0."""
    system = attention().equations
    values = {"a1": 1, "eta": 0, "c": sympy.Rational(3, 4), "gamma": sympy.Rational(1, 10), "kappa": -1}
    at = system.substitute({symbol: values[str(symbol)] for symbol in system.parameters})
    solutions = at.real_solutions(digits=20)
    numbers = [{symbol: sympy.Float(str(value), 20) for symbol, value in found.items()} for found in solutions]
    traces = [float(at.observables["trace"].xreplace(found)) for found in numbers]
    assert len(traces) == 4
    right = attention().trace({str(s): v for s, v in values.items()})
    assert min(abs(m - right) for m in traces) < 1e-9
    assert min(abs(m - 0.6608076258) for m in traces) < 1e-9
    assert abs(right - 0.6608076258) > 1


def test_real_solutions_against_the_engines_polynomial():
    """The semicircle's neighbours: a Wishart matrix plus W at one point, by systems here and by elimination there."""
    Z, W = Gaussian("Z", p, n), GOE("W", n)
    resolvent = deterministic_equivalent((Z.T * Z / n + W + z * sympy.Identity(n)).inv(), ratios={p: 2 * n})
    system = resolvent.equations
    (symbol,) = system.parameters
    for value in (sympy.Rational(1, 2), 4, -9):
        at = system.substitute({symbol: value})
        found = [
            at.observables["trace"].xreplace({s: sympy.Float(str(v), 30) for s, v in one.items()})
            for one in at.real_solutions(digits=30)
        ]
        polynomial = resolvent.polynomial().polynomial.subs(symbol, value)
        right = [root.mpf(110) for root, _ in real_roots(sympy.Poly(polynomial))]
        assert len(found) == len(right)
        assert all(abs(a / b - 1) < 1e-28 for a, b in zip(sorted(found), right, strict=True))


def test_multiple_solutions_are_counted_once_and_infinitely_many_are_refused():
    x, y = sympy.symbols("x y")
    assert [
        [v.rational for v in found.values()]
        for found in real_solutions([(x - 1) ** 2 * (x - 2), (y - x) ** 2], (x, y))
    ] == [[1, 1], [2, 2]]
    with pytest.raises(InfiniteError, match="y stays free"):
        real_solutions([x * y, x], (x, y))
    assert real_solutions([x * (x - 1) / x], (x,))[0][x].rational == 1
    assert len(real_solutions([x * (x - 1) / x], (x,))) == 1  # x = 0 is no solution of the equation as given


def test_solutions_against_numpy_on_random_polynomials():
    rng = np.random.default_rng(7)
    x = sympy.Symbol("x")
    for _ in range(20):
        coefficients = [int(v) for v in rng.integers(-9, 10, 8)] or [1]
        polynomial = sympy.Poly(coefficients, x)
        if polynomial.degree() < 1:
            continue
        found = [float(root) for root, k in real_roots(polynomial) for _ in range(k)]
        assert len(found) == sympy.count_roots(polynomial)
        for root in found:
            assert np.min(abs(np.roots(coefficients) - root)) < 1e-4 * (1 + abs(root))
