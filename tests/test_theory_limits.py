"""The limits, symmetries, bounds and counterexamples that the theory must reproduce (derivations 09 and 10).

Exact statements are hypothesis properties; asymptotic ones are checked by their rate: the distance to the limit must
shrink as the stated power, so that a wrong constant cannot pass.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import integrate, optimize

from hermite_rmt.core.contexts import local_context
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.marchenko_pastur import MarchenkoPastur
from hermite_rmt.theory.overlaps import Overlaps

DIGITS = 30
CONTEXT = local_context(200)
TOLERANCE = CONTEXT.mpf(10) ** -27

ratios = st.fractions("1/20", 20, max_denominator=20)
ridges = st.sampled_from(["1e-4", "1e-2", "0.1", "1", "10"])
linear_parts = st.fractions(-2, 2, max_denominator=10)
gaps = st.sampled_from(["0", "1/100", "1/3", "2"])
diagonals = st.sampled_from(["0", "-1", "3/10", "1"])
entries = st.fractions(-2, 2, max_denominator=4)
vectors = st.lists(entries, min_size=3, max_size=3)
vector_triples = st.tuples(vectors, vectors, vectors)


@st.composite
def numbers(draw):
    """Return (a1, nu, c, gamma, diagonal) with nu > 0."""
    a1, gap = draw(linear_parts), draw(gaps)
    nu = a1**2 + Fraction(gap)
    assume(nu > 0)
    return a1, nu, draw(ratios), draw(ridges), draw(diagonals)


def solved(a1, nu, c, gamma, diagonal="0", overlaps=None, skip="0", digits=DIGITS):
    """Return trace, quadratic form and error as numbers of a context in which arithmetic keeps every digit."""
    solution = Attention(a1=a1, nu=nu, overlaps=overlaps, diagonal=diagonal, skip=skip).solve(c, gamma, digits=digits)
    return {name: CONTEXT.convert(solution[name]) for name in ("trace", "quadratic_form", "error")}


def agree(left, right):
    return all(abs(left[name] - right[name]) <= TOLERANCE * abs(right[name]) for name in right)


def exact(number):
    fraction = Fraction(number)
    return CONTEXT.mpf(fraction.numerator) / fraction.denominator


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def scaled(vector, factor):
    return [factor * entry for entry in vector]


# Where signal and weights do not matter


@given(numbers(), vectors, vectors)
def test_without_signal_the_weights_do_not_matter(point, w_K, w_Q):
    with_weights = solved(*point, overlaps=Overlaps.from_vectors([0, 0, 0], w_K, w_Q))
    assert agree(with_weights, solved(*point))
    assert abs(with_weights["quadratic_form"] - with_weights["trace"]) <= TOLERANCE * with_weights["trace"]


@given(numbers(), vectors, vectors, st.booleans())
def test_one_zero_weight_removes_the_other(point, mu, w, keys):
    zero = [0, 0, 0]
    weights = (w, zero) if keys else (zero, w)
    assert agree(
        solved(*point, overlaps=Overlaps.from_vectors(mu, *weights)), solved(*point, overlaps=Overlaps(dot(mu, mu)))
    )


@given(numbers(), st.tuples(entries, entries), st.tuples(entries, entries), entries)
def test_weights_orthogonal_to_the_signal_do_not_matter(point, w_K, w_Q, norm):
    overlaps = Overlaps.from_vectors([norm, 0, 0], [0, *w_K], [0, *w_Q])
    assert agree(solved(*point, overlaps=overlaps), solved(*point, overlaps=Overlaps(norm * norm)))


@given(st.fractions("1/50", 5, max_denominator=50), ratios, ridges, vector_triples)
def test_without_linear_part_the_signal_cannot_help(nu, c, gamma, triple):
    solution = solved(0, nu, c, gamma, overlaps=Overlaps.from_vectors(*triple))
    assert agree(solution, solved(0, nu, c, gamma))
    # and the noise value in closed form: D = gamma m is the root in (0, 1) of D^2 (D + c - 1) = (c gamma/nu)(1 - D)
    k, D = exact(c), exact(gamma) * solution["trace"]
    ratio = exact(c * Fraction(gamma) / nu)
    assert abs(D**2 * (D + k - 1) - ratio * (1 - D)) <= 10 * TOLERANCE * (D**2 * (D + k + 1) + ratio)
    denominator = 3 * D**2 + 2 * (k - 1) * D + ratio
    assert abs(solution["error"] - (D - D**2 * (D + k - 1) / denominator)) <= 100 * TOLERANCE * D


# Linear f: an explicit Marchenko-Pastur integral


@given(
    st.fractions("1/5", 2, max_denominator=10),
    st.sampled_from(["1/10", "1/2", "2", "5"]),
    st.sampled_from(["0.01", "0.1", "1"]),
    diagonals,
)
def test_linear_f_is_a_marchenko_pastur_integral(a1, c, gamma, diagonal):
    law = MarchenkoPastur(1 / Fraction(c))
    lower, upper = law.support()
    kappa, ridge, ratio = float(Fraction(diagonal) - a1), float(gamma), float(Fraction(c))

    def integral(power):
        def integrand(angle):
            x = lower + (upper - lower) * math.sin(angle) ** 2
            weight = law.pdf(x) * (upper - lower) * math.sin(2 * angle)
            return weight / (ridge + ratio * x * (float(a1) * x + kappa) ** 2) ** power

        value = integrate.quad(integrand, 0, math.pi / 2, epsabs=0, epsrel=1e-10, limit=500)[0]
        return value + law.atom() / ridge**power

    solution = solved(a1, a1 * a1, c, gamma, diagonal)
    assert float(solution["trace"]) == pytest.approx(integral(1), rel=1e-8)
    assert float(solution["error"]) == pytest.approx(ridge**2 * integral(2), rel=1e-8)


# Asymptotics: the distance to the limit shrinks at the stated rate


@given(linear_parts, gaps, ratios)
def test_large_ridge_first_order(a1, gap, c):
    nu = a1**2 + Fraction(gap)
    assume(nu > 0)
    slope = 2 * (nu + a1**2 / c)
    distances = [(1 - solved(a1, nu, c, gamma)["error"]) * gamma / exact(slope) for gamma in (10**8, 10**10)]
    assert abs(distances[1] - 1) < abs(distances[0] - 1) / 50
    assert abs(distances[1] - 1) < 1e-4


@pytest.mark.parametrize("triple", [([0, 0, 0],) * 3, ([1, 1, 0], [1, 0, 2], [0, 1, 1])])
def test_large_dimension_forgets_signal_and_weights(triple):
    nu, gamma = 0.5, 0.1
    beta = gamma / nu
    root = math.sqrt(beta**2 + 4 * beta)
    D = (root - beta) / 2
    limit = D - D * D / root
    gaps_to_limit = [
        abs(float(solved("0.6", "0.5", c, "0.1", overlaps=Overlaps.from_vectors(*triple))["error"]) - limit)
        for c in (10**4, 10**6)
    ]
    assert gaps_to_limit[1] < gaps_to_limit[0] / 50
    assert gaps_to_limit[1] < 1e-4


@pytest.mark.parametrize("r", ["0", "3/2"])
def test_small_dimension_is_the_signal_alone(r):
    limit = 1 / (1 + float(Fraction(r)))
    distances = [
        abs(float(solved("0.6", "0.5", c, "0.1", overlaps=Overlaps(r))["error"]) - limit) for c in ("1e-4", "1e-6")
    ]
    assert distances[1] < distances[0] / 50
    assert distances[1] < 1e-4


@pytest.mark.parametrize("c", ["1/2", "3"])
def test_large_nonlinear_energy(c):
    limit = max(1 - Fraction(c), 0)
    distances = [abs(float(solved("0.6", nu, c, "0.1")["error"]) - limit) for nu in (10**4, 10**8)]
    assert distances[1] < distances[0] / 50
    assert distances[1] < 1e-3


def test_large_signal_error_is_of_order_one_over_its_square():
    errors = [
        float(solved("0.6", "0.5", "1/2", "0.1", overlaps=Overlaps(r))["error"]) * r for r in (10**4, 10**6, 10**8)
    ]
    assert errors[2] == pytest.approx(errors[1], rel=1e-3)
    assert 0 < errors[2] < 10


@pytest.mark.parametrize(("a1", "nu", "c"), [("0.6", "0.5", "1/2"), ("0", "1", "1/4"), ("1", "1", "1/2")])
def test_ridgeless_noise_below_one(a1, nu, c):
    # gamma^2 for sigma > 0; sqrt(gamma) for linear f with 0 inside the bulk of K
    distances = [solved(a1, nu, c, gamma)["error"] - (1 - exact(c)) for gamma in ("1e-8", "1e-10")]
    assert all(distance > 0 for distance in distances)
    expected = 10 if a1 == "1" else 10**4
    assert float(distances[0] / distances[1]) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("r", ["0", "2"])
def test_ridgeless_regression(r):
    model = LinearRegression(r)
    assert model.error("1/4", "1e-10") == pytest.approx(0.75 / (1 + float(r)), rel=1e-8)
    assert model.error(1, "1e-12", digits=20) / 1e-6 == pytest.approx(0.5 / (1 + float(r)), rel=1e-4)


def law_integral(c, function):
    law = MarchenkoPastur(1 / Fraction(c))
    lower, upper = law.support()

    def integrand(angle):
        x = lower + (upper - lower) * math.sin(angle) ** 2
        return law.pdf(x) * (upper - lower) * math.sin(2 * angle) * function(x)

    # c > 1: no atom; the density has no singularity
    return integrate.quad(integrand, 0, math.pi / 2, epsabs=0, epsrel=1e-11, limit=500)[0]


@pytest.mark.parametrize(
    ("a1", "nu", "c", "diagonal"), [(0.6, 0.5, "2", 0.0), (0.3, 1.0, "4", 0.4), (0.0, 1.0, "3", 0.0)]
)
def test_ridgeless_noise_above_one_is_a_square_root(a1, nu, c, diagonal):
    ratio = float(Fraction(c))
    sigma2 = (nu - a1**2) / ratio

    def kernel(x, h):
        return a1 * (x - 1) + diagonal - sigma2 * h

    def equations(unknowns):
        omega, h = math.exp(unknowns[0]), unknowns[1]
        psi = lambda x: 1 / (sigma2 * omega + kernel(x, h) ** 2)  # noqa: E731
        return [
            sigma2 * law_integral(c, psi) - 1,
            law_integral(c, lambda x: kernel(x, h) * psi(x)) - h,
        ]

    root = optimize.root(equations, [0.0, 0.0], tol=1e-12)
    assert root.success
    omega, h = math.exp(root.x[0]), root.x[1]
    I0 = law_integral(c, lambda x: 1 / (ratio * x * (sigma2 * omega + kernel(x, h) ** 2)))
    if a1 == 0:
        assert omega * I0 == pytest.approx(ratio / (nu * (ratio - 1)), rel=1e-8)
    values = [
        float(solved(str(a1), str(nu), c, gamma, str(diagonal))["error"])
        / (0.5 * math.sqrt(omega * I0 * float(gamma)))
        for gamma in ("1e-8", "1e-12")
    ]
    assert abs(values[1] - 1) < abs(values[0] - 1) / 50 + 1e-7
    assert values[1] == pytest.approx(1, abs=1e-4)


def test_outside_the_bulk_the_error_above_one_falls_as_the_square():
    errors = [solved("0.3", "0.1", "4", gamma, "2")["error"] for gamma in ("1e-6", "1e-8")]
    assert float(errors[0] / errors[1]) == pytest.approx(1e4, rel=1e-2)


def test_ridgeless_at_the_edge_is_a_cube_root():
    errors = [solved("0.6", "0.5", "1", gamma)["error"] for gamma in ("1e-15", "1e-18", "1e-21")]
    assert float(errors[0] / errors[1]) == pytest.approx(10, rel=0.02)
    assert float(errors[1] / errors[2]) == pytest.approx(10, rel=0.005)


@pytest.mark.parametrize(
    ("c", "constant", "power"),
    [
        ("1/2", math.sqrt((4 * 0.5 - 1) / 0.5) / 4, 0.5),
        ("3", math.sqrt(11 / 3) / 4, 0.5),
        ("1", math.sqrt(3) / 4 + 0.5, 0.5),
        ("1/4", None, 0.75),
        ("1/5", None, 2),
    ],
)
def test_ridgeless_linear_f(c, constant, power):
    limit = max(1 - Fraction(c), 0)
    gammas = ("1e-12", "1e-16")
    distances = [solved("1.5", "2.25", c, gamma, digits=50)["error"] - exact(limit) for gamma in gammas]
    measured = float(CONTEXT.log(distances[0] / distances[1], 10)) / 4
    assert measured == pytest.approx(power, abs=0.01)
    if constant is not None:
        assert float(distances[1]) / (constant * 1e-8 / 1.5) == pytest.approx(1, rel=1e-3)


def test_ridgeless_linear_f_with_signal_and_its_exception():
    generic = Overlaps.from_vectors([1, 0, 0], ["1/2", 1, 0], ["1/3", 0, 1])
    assert float(solved("1", "1", "1/5", "1e-14", overlaps=generic)["error"]) == pytest.approx(0.8 / 2, rel=1e-4)
    strength = Fraction(math.sqrt(0.5929618127))
    product = strength * Fraction(3, 2)
    special = Overlaps("3/2", product, -product, strength * product, strength * product, -strength * product)
    value = float(solved("1", "1", "1/5", "1e-12", overlaps=special)["error"])
    assert value == pytest.approx(0.69082, rel=1e-3)
    assert abs(value - 0.8 / 2.5) > 0.3


# Symmetries


@given(numbers(), vector_triples, st.fractions(-3, 3, max_denominator=5))
def test_exact_symmetries(point, triple, t):
    assume(t != 0)
    mu, w_K, w_Q = triple
    base = solved(*point, overlaps=Overlaps.from_vectors(mu, w_K, w_Q))
    assert agree(solved(*point, overlaps=Overlaps.from_vectors(scaled(mu, -1), w_K, w_Q)), base)
    assert agree(solved(*point, overlaps=Overlaps.from_vectors(mu, scaled(w_K, t), scaled(w_Q, 1 / t))), base)
    a1, nu, c, gamma, diagonal = point
    overlaps = Overlaps.from_vectors(mu, w_K, w_Q)
    assert agree(solved(-a1, nu, c, gamma, -Fraction(diagonal), overlaps), base)
    s = t
    rescaled = solved(s * a1, s**2 * nu, c, s**2 * Fraction(gamma), s * Fraction(diagonal), overlaps)
    assert abs(rescaled["error"] - base["error"]) <= TOLERANCE * base["error"]


@given(numbers(), vector_triples, diagonals)
def test_a_skip_connection_is_a_diagonal(point, triple, skip):
    a1, nu, c, gamma, diagonal = point
    overlaps = Overlaps.from_vectors(*triple)
    moved = str(Fraction(diagonal) + Fraction(skip))
    assert agree(solved(*point, overlaps=overlaps, skip=skip), solved(a1, nu, c, gamma, moved, overlaps))


def test_what_is_no_symmetry():
    point = ("0.6", "0.5", "1/2", "1", "0")
    mu, w_K, w_Q = [1, 0, 0], [1, "1/2", 0], [1, 0, "1/2"]
    base = float(solved(*point, overlaps=Overlaps.from_vectors(mu, w_K, w_Q))["error"])
    flipped = float(solved(*point, overlaps=Overlaps.from_vectors(mu, [-1, "-1/2", 0], w_Q))["error"])
    assert abs(flipped - base) > 0.01
    with_diagonal = [float(solved(sign, "0.5", "1/2", "0.1", "1/2")["error"]) for sign in ("0.6", "-0.6")]
    assert abs(with_diagonal[0] - with_diagonal[1]) > 0.01


@given(numbers(), entries, vectors, vectors)
def test_keys_and_queries_play_different_parts(point, norm, w_K, w_Q):
    mu = [norm, 0, 0]
    unweighted = solved(*point, overlaps=Overlaps(norm * norm))["quadratic_form"]
    slack = TOLERANCE * unweighted
    orthogonal_key = solved(*point, overlaps=Overlaps.from_vectors(mu, [0, *w_K[1:]], w_Q))["quadratic_form"]
    orthogonal_query = solved(*point, overlaps=Overlaps.from_vectors(mu, w_K, [0, *w_Q[1:]]))["quadratic_form"]
    assert orthogonal_key <= unweighted + slack
    assert orthogonal_query >= unweighted - slack


def test_swapping_keys_and_queries_is_no_symmetry_unless_parallel():
    point = ("0.6", "0.5", "1/2", "1", "0")
    mu, w_K, w_Q = [1, 1, 0], [2, 0, 0], [0, 1, 1]
    errors = [
        float(solved(*point, overlaps=Overlaps.from_vectors(mu, *weights))["error"])
        for weights in ((w_K, w_Q), (w_Q, w_K))
    ]
    assert abs(errors[0] - errors[1]) > 0.01
    parallel = [
        solved(*point, overlaps=Overlaps.from_vectors(mu, *weights))
        for weights in ((w_K, scaled(w_K, 3)), (scaled(w_K, 3), w_K))
    ]
    assert agree(*parallel)


# Bounds


@given(numbers(), vector_triples)
def test_bounds_and_monotonicity_in_the_ridge(point, triple):
    a1, nu, c, gamma, diagonal = point
    overlaps = Overlaps.from_vectors(*triple)
    solution = solved(a1, nu, c, gamma, diagonal, overlaps)
    above = solved(a1, nu, c, 2 * Fraction(gamma), diagonal, overlaps)
    gq, E = exact(gamma) * solution["quadratic_form"], solution["error"]
    slack = 1 + TOLERANCE
    assert gq**2 <= E * slack
    assert gq * slack >= E
    assert gq <= slack
    assert solution["error"] < above["error"]
    assert above["error"] / 4 < solution["error"]


@given(linear_parts, gaps, ratios, ridges, st.fractions(0, 9, max_denominator=3))
def test_signal_without_weights_helps_at_zero_diagonal(a1, gap, c, gamma, r):
    # held in every scan, not proved
    nu = a1**2 + Fraction(gap)
    assume(nu > 0)
    errors = [solved(a1, nu, c, gamma, overlaps=Overlaps(norm))["error"] for norm in (r, r + 1)]
    assert errors[1] <= errors[0] * (1 + TOLERANCE)


# Claims that fail, with their counterexamples


def test_not_monotone_in_the_signal_with_a_diagonal():
    errors = [float(solved("-0.6", "0.4", "3", "0.25", "0.7", Overlaps(r))["error"]) for r in (0, 2)]
    assert errors == pytest.approx([0.118, 0.257], abs=5e-4)


def test_not_monotone_in_the_dimension():
    errors = [float(solved("0.4", "0.2", c, "4")["error"]) for c in ("0.3", "100")]
    assert errors == pytest.approx([0.8893, 0.9127], abs=5e-5)


def test_not_monotone_in_the_nonlinear_energy():
    errors = [float(solved("1.2", nu, "2", "0.05")["error"]) for nu in ("1.44", "1.94")]
    assert errors == pytest.approx([0.0945, 0.0999], abs=5e-5)


def test_aligned_weights_do_not_always_help():
    # with a negative diagonal they can hurt by a factor of forty; at d = 0 no scan has found an example
    point = ("0.16", "0.028", "5/2", "0.4", "-1")
    errors = [float(solved(*point, Overlaps.aligned("3.2", strength))["error"]) for strength in (0, "0.9")]
    assert errors[1] > 30 * errors[0]
