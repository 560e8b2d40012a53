"""Numbers of derived systems: to any digits, on the right branch, refused where there is no answer."""

import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor

import mpmath
import numpy as np
import pytest
import sympy
from engine_models import (
    IDENTITY,
    RATIOS,
    V,
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
    spiked_attention,
    w_K,
    w_Q,
    y,
    z,
)

from hermite_rmt.core.solution import Outcome, SolveError
from hermite_rmt.equivalents.ensembles import GOE, GUE, Gaussian, Ginibre, Vector, joint_family
from hermite_rmt.equivalents.entrywise import entrywise, off_diagonal
from hermite_rmt.equivalents.spectral import commuting, deterministic
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.bulk_edges import spectrum_edges
from hermite_rmt.theory.equivalent import deterministic_equivalent
from hermite_rmt.theory.outliers import outlier, threshold
from hermite_rmt.theory.overlaps import Overlaps

S = Z.T * Z / p
half = sympy.Rational(1, 2)
GRAM = ((mu, mu), (mu, w_K), (mu, w_Q), (w_K, w_K), (w_Q, w_Q), (w_K, w_Q))


def close(value, text, digits):
    """Whether an mpf agrees with a decimal text to that many digits."""
    with mpmath.workdps(digits + 20):
        return abs(mpmath.mpf(value) / mpmath.mpf(text) - 1) < mpmath.mpf(10) ** -digits


# Attention


def test_attention_agrees_with_the_reference_table_to_30_digits(theory_values):
    for row in theory_values:
        values, gram = point(row)
        q = spiked_attention().quadratic_form(y, y, values, gram, digits=32)
        slope = spiked_attention().quadratic_form(y, y, values, gram, digits=32, derivative=gamma)
        assert close(q, row["q"], 30), row
        with mpmath.workdps(60):
            error = -(mpmath.mpf(row["gamma"]) ** 2) * mpmath.mpf(slope)
        assert close(error, row["E"], 30), row
        if row["overlaps"]["mm"] == "0":  # no signal: the form is the trace
            assert close(attention().trace(values, digits=32), row["q"], 30), row


def test_attention_agrees_with_its_rational_form_at_random_points():
    # another derivation, another solver: the rational form of hr.Attention
    draw = random.Random(20)
    for _ in range(12):
        a, excess, ratio, ridge = (
            sympy.Rational(draw.randint(low, high), 10) * sympy.Rational(10) ** draw.choice(scales)
            for low, high, scales in (
                (-20, 20, [0]),
                (0, 30, [0, -2]),
                (1, 40, [0, -1, 1]),
                (1, 99, [0, -1, -3, -6, 2]),
            )
        )
        vectors = [[sympy.Rational(draw.randint(-3, 3), 2) for _ in range(3)] for _ in range(3)]
        overlaps = {
            pair: sum(left * right for left, right in zip(vectors[i], vectors[j], strict=True))
            for pair, (i, j) in zip(GRAM, ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2), (1, 2)), strict=True)
        }
        diagonal = sympy.Rational(draw.randint(-5, 5), 10)
        values = {a1: a, c: ratio, sigma: sympy.sqrt(excess / ratio), gamma: ridge, d: diagonal}
        ours = spiked_attention().quadratic_form(y, y, values, overlaps, digits=25)
        model = Attention(a1=a, nu=a**2 + excess, diagonal=diagonal, overlaps=Overlaps(*overlaps.values()))
        assert close(ours, model.quadratic_form(ratio, ridge, digits=25), 23), (values, overlaps)


def test_the_derivative_is_the_derivative():
    values = {c: 2, a1: "0.6", sigma: "0.3", d: 0}
    step = sympy.Rational(1, 10**12)
    at = [attention().trace({**values, gamma: half + k * step}, digits=60) for k in (-1, 1)]
    with mpmath.workdps(60):
        difference = (at[1] - at[0]) / mpmath.mpf("2e-12")
    exact = attention().trace({**values, gamma: half}, digits=40, derivative=gamma)
    assert close(difference, exact, 20)


def test_digits_agree_with_each_other():
    values = {c: "1/2", a1: 1, sigma: "1/3", d: 0, gamma: "1e-3"}
    assert close(attention().trace(values, digits=30), attention().trace(values, digits=120), 29)
    assert attention().trace(values) == float(attention().trace(values, digits=30))
    assert str(attention().trace(values, digits=12)) == mpmath.nstr(attention().trace(values, digits=30), 12)


def test_where_a1_vanishes_the_self_adjoint_pencil_is_singular_and_the_answer_right():
    values = {c: 1, a1: 0, sigma: sympy.sqrt(2), d: 0, gamma: 1}
    slope = attention().trace(values, digits=32, derivative=gamma)
    assert close(slope, "-0.456854030623017323704199442931", 29)


def test_solutions_tell_how_they_were_reached():
    solution = attention().solve({c: 1, a1: 1, sigma: 1, d: 0, gamma: 1}, digits=25)
    assert solution.outcome is Outcome.CONVERGED
    assert solution.success
    assert solution.steps > 0
    assert "covariance scale 0 to 1" in solution.notes[0]
    assert solution.residual < 1e-25
    assert {"trace", "g11", "h11"} <= set(solution.values)


def solve_elsewhere(equivalent, values):
    return equivalent.trace(values, digits=20)


def test_equivalents_travel_to_other_processes():
    K = linearised(Nonlinearity("tanh(x)"))
    equivalent = deterministic_equivalent((K - z * IDENTITY).inv(), RATIOS)
    values = {"c": 2, "z": -3}
    here = equivalent.trace(values, digits=20)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(solve_elsewhere, equivalent, values).result() == here


def test_a_thousand_digits():
    semicircle = deterministic_equivalent((W - z * IDENTITY).inv())
    with mpmath.workdps(1010):
        assert close(semicircle.trace({z: -3}, digits=1000), (3 - mpmath.sqrt(5)) / 2, 999)


# The entrywise pass


def linearised(f, tokens=Z, **options):
    return off_diagonal(entrywise(f, tokens.T * tokens / sympy.sqrt(p)), **options) / sympy.sqrt(p)


def test_tanh_gives_the_equations_of_its_coefficients():
    f = Nonlinearity("tanh(x)")
    K = linearised(f)
    equivalent = deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), RATIOS)
    assert equivalent.parameters == (c, gamma)
    excess = f.nu(digits=45) - f.coefficient(1, digits=45) ** 2
    with mpmath.workdps(45):
        noise = mpmath.sqrt((f.nu(digits=45) - f.coefficient(1, digits=45) ** 2) / 2)
    assert excess > 0
    values = {c: 2, a1: f.coefficient(1, digits=45), sigma: noise, d: 0, gamma: "1/10"}
    assert close(equivalent.trace({c: 2, gamma: "1/10"}, digits=30), attention().trace(values, digits=30), 28)
    assert any("Cheng, Singer" in sentence for sentence in equivalent.linearised.assumptions)


def test_applyfunc_and_entrywise_are_the_same():
    scores = Z.T * Z / sympy.sqrt(p)
    left = deterministic_equivalent(off_diagonal(scores.applyfunc(sympy.tanh)) / sympy.sqrt(p), RATIOS)
    right = deterministic_equivalent(off_diagonal(entrywise("tanh(x)", scores)) / sympy.sqrt(p), RATIOS)
    assert left._node == right._node


def test_symbolic_nonlinearities_keep_their_parameters():
    x, b = sympy.symbols("x b", real=True)
    K = linearised(Nonlinearity(x + b * (x**2 - 1), variable=x))
    cubic = deterministic_equivalent((K - z * IDENTITY).inv(), RATIOS).polynomial().polynomial
    ours = (
        deterministic_equivalent((a1 * (S - IDENTITY) + sigma * W - z * IDENTITY).inv(), RATIOS)
        .polynomial()
        .polynomial
    )
    expected = ours.subs({a1: 1, sigma: sympy.sqrt(2 * b**2 / c)})
    assert not sympy.cancel(cubic / expected).free_symbols - {b, c}


def test_a_linear_function_has_no_noise():
    K = linearised(Nonlinearity("x"))
    exact = deterministic_equivalent((K - z * IDENTITY).inv(), RATIOS).trace({c: 2, z: -3}, digits=30)
    plain = deterministic_equivalent((S - IDENTITY - z * IDENTITY).inv(), RATIOS).trace({c: 2, z: -3}, digits=30)
    assert close(exact, plain, 28)


def test_heads_on_the_same_scores_are_jointly_gaussian():
    heads = [linearised(f) for f in (Nonlinearity("tanh(x)"), Nonlinearity("max(x, 0)").centred())]
    total = sum((K.T * Z.T * Z * K / n for K in heads[1:]), heads[0].T * Z.T * Z * heads[0] / n)
    equivalent = deterministic_equivalent((total + gamma * IDENTITY).inv(), RATIOS)
    found = equivalent.trace({c: [[0.5], [2]], gamma: [0.1, 1]})
    assert np.allclose(found, [[5.168236, 0.765340], [3.061239, 0.705896]], atol=6e-7, rtol=0)


def test_two_equal_heads_are_one_of_twice_the_size():
    f = Nonlinearity("tanh(x)")
    one, two = linearised(f), linearised(f * 2)
    resolvents = [
        deterministic_equivalent((sum((K.T * Z.T * Z * K / n for K in rest), gamma * IDENTITY)).inv(), RATIOS)
        for rest in ([one, two], [linearised(f)])
    ]
    values = [resolvents[0].trace({c: 1, gamma: 1}), resolvents[1].trace({c: 1, gamma: 0.2}) / 5]
    assert abs(values[0] / values[1] - 1) < 1e-12


def test_a_skip_connection_shifts_the_diagonal():
    K, alpha = linearised(Nonlinearity("tanh(x)")), sympy.Symbol("alpha")
    A = Z * (K + alpha * IDENTITY)
    skip = deterministic_equivalent((A.T * A / n + gamma * IDENTITY).inv(), RATIOS)
    B = Z * (K + d * IDENTITY)
    shifted = deterministic_equivalent((B.T * B / n + gamma * IDENTITY).inv(), RATIOS)
    assert skip.trace({c: 1, gamma: 1, alpha: 0.7}) == shifted.trace({c: 1, gamma: 1, d: 0.7})


def test_unbalanced_labels_see_the_second_coefficient():
    x = sympy.Symbol("x")
    ones = Vector("1", n, "sqrt")
    K = linearised(Nonlinearity((x**2 - 1) / sympy.sqrt(2)), ones=ones)
    equivalent = deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), RATIOS)
    values = {c: "1/2", gamma: "1e-3"}
    with pytest.raises(ValueError, match="no value for <1,y>"):
        equivalent.quadratic_form(y, y, values)
    errors = [
        -1e-6 * equivalent.quadratic_form(y, y, values, {(y, ones): rho}, derivative=gamma) for rho in ("1/2", 0)
    ]
    assert abs(errors[0] - 0.4375) < 5e-5
    assert abs(errors[1] - 0.500) < 5e-4


# Known laws


def test_ridge_regression_bias_and_variance():
    # features X^T = Z^T (n x p), target Z^T beta + noise: risk from tr and derivatives of (Z Z^T/n + gamma)^-1
    Ip = sympy.Identity(p)
    resolvent = deterministic_equivalent((Z * Z.T / n + gamma * Ip).inv(), RATIOS)
    values = {c: 0.5, gamma: 0.3}
    m, slope = resolvent.trace(values), resolvent.trace(values, derivative=gamma)
    # companion: c gamma m^2 + (1 - c + gamma) m - 1 = 0
    assert abs(0.5 * 0.3 * m**2 + (1 - 0.5 + 0.3) * m - 1) < 1e-14
    bias = deterministic_equivalent(gamma**2 * (Z * Z.T / n + gamma * Ip) ** -2, RATIOS).trace(values)
    variance = deterministic_equivalent((Z * Z.T / n + gamma * Ip) ** -2 * (Z * Z.T / n), RATIOS).trace(values)
    assert abs(bias + 0.3**2 * slope) < 1e-13
    assert abs(variance - (m + 0.3 * slope)) < 1e-13


def test_square_gaussian_is_the_circular_law():
    resolvent = deterministic_equivalent((Ginibre("Y", n) + z * IDENTITY).inv())
    assert abs(resolvent.trace({z: 2}) - 0.5) < 1e-14  # outside the disc: 1/z
    assert abs(resolvent.trace({z: 1.2 + 1j}) - 1 / (1.2 + 1j)) < 1e-14


def test_inverse_of_a_wishart_with_a_singular_deterministic_part():
    inverse = deterministic_equivalent((Z.T * Z / n).inv(), RATIOS)
    assert close(inverse.trace({c: 3}, digits=25), "0.5", 24)  # 1/(c - 1)
    product = deterministic_equivalent(W * (Z.T * Z / n).inv() * W, RATIOS)
    assert abs(product.trace({c: 3}) - 0.5) < 1e-14
    fisher = deterministic_equivalent(Gaussian("B", p, n).T * Gaussian("B", p, n) / n * (Z.T * Z / n).inv(), RATIOS)
    assert abs(fisher.trace({c: 3}) - 3 / 2) < 1e-13


def test_commuting_matrices_act_through_their_joint_law():
    A, B = commuting("A B", p, [(half, 1, 2), (half, 3, 1)])
    resolvent = deterministic_equivalent((Z.T * A * B * Z / p + Z.T * B * Z / p + gamma * IDENTITY).inv(), RATIOS)
    single = deterministic("C", p, {4: 1})  # A B + B has the eigenvalues 4 and 4: one atom
    direct = deterministic_equivalent((Z.T * single * Z / p + gamma * IDENTITY).inv(), RATIOS)
    assert abs(resolvent.trace({c: 2, gamma: 1}) - direct.trace({c: 2, gamma: 1})) < 1e-14
    assert deterministic_equivalent(A * B + B, RATIOS).trace({}) == 4.0


def test_joint_gaussians_by_their_independent_parts():
    rho = sympy.Rational(3, 5)
    A, B = joint_family(GOE, "A B", n, covariance=[[1, rho], [rho, 1]])
    independent = (W, rho * W + sympy.sqrt(1 - rho**2) * V)

    def trace(left, right):
        return deterministic_equivalent((left * S * right + right * S * left - z * IDENTITY).inv(), RATIOS).trace(
            {c: 2, z: 5j}, digits=20
        )

    ours, direct = trace(A, B), trace(*independent)
    assert abs(ours - direct) < 1e-19


def test_hermitian_and_symmetric_wigner_matrices_agree_where_no_transpose_occurs():
    U = GUE("U", n)
    traces = [
        deterministic_equivalent((matrix * S + S * matrix - z * IDENTITY).inv(), RATIOS).trace({c: 2, z: 3j})
        for matrix in (U, W)
    ]
    assert abs(traces[0] - traces[1]) < 1e-14


# Branches


def test_complex_arguments_give_the_density():
    law = deterministic_equivalent((S - z * IDENTITY).inv(), RATIOS)
    ratio = 0.5  # n/p
    edges = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    for x in (0.3, 1.0, 2.5):
        density = law.trace({c: 2, z: complex(x, 1e-12)}).imag / np.pi
        exact = np.sqrt((edges[1] - x) * (x - edges[0])) / (2 * np.pi * ratio * x)
        assert abs(density / exact - 1) < 1e-9


def test_conjugate_arguments_give_conjugate_traces():
    resolvent = deterministic_equivalent((W * V + V * W - z * IDENTITY).inv())
    upper, lower = resolvent.trace({z: 0.3 + 0.2j}), resolvent.trace({z: 0.3 - 0.2j})
    assert abs(upper - lower.conjugate()) < 1e-14
    assert upper.imag > 0


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ((W - z * IDENTITY).inv(), {z: 1.5}),
        ((Ginibre("Y", n) + z * IDENTITY).inv(), {z: 0.5}),
        ((S - z * IDENTITY).inv(), {z: 1, c: 2}),
        ((Z.T * Z / n).inv(), {c: 0.5}),
        (V * W.inv() * V, {}),
        ((W * V + gamma * IDENTITY).inv(), {gamma: 0.3}),
    ],
    ids=["in the semicircle", "in the disc", "in the bulk", "singular", "0 in the bulk", "non-normal product"],
)
def test_inside_the_spectrum_is_refused(expression, values):
    equivalent = deterministic_equivalent(expression, RATIOS)
    with pytest.raises(SolveError, match="0 lies in the limiting spectrum") as caught:
        equivalent.trace(values)
    assert caught.value.solution.outcome is Outcome.IN_SPECTRUM


def test_inside_the_disc_the_hermitised_trace_is_the_conjugate():
    inside = deterministic_equivalent((Ginibre("Y", n) + z * IDENTITY).inv())
    values = inside.hermitised_trace({z: [0.5, 0.3 + 0.4j]})
    assert abs(values[0] - 0.5) < 1e-11
    assert abs(values[1] - (0.3 - 0.4j)) < 1e-11


def test_the_hermitised_trace_agrees_with_the_direct_one_outside():
    outside = deterministic_equivalent((Ginibre("Y", n) * V + z * IDENTITY).inv())
    assert abs(outside.hermitised_trace({z: 3}) - outside.trace({z: 3})) < 1e-11
    resolvent = deterministic_equivalent((S - z * IDENTITY).inv(), RATIOS)
    assert abs(resolvent.hermitised_trace({z: -1 + 1j, c: 2}) - resolvent.trace({z: -1 + 1j, c: 2})) < 1e-11


def test_tiny_ridges():
    resolvent = deterministic_equivalent((S + gamma * IDENTITY).inv(), RATIOS)
    exact = {("2", "1e-20"): "2", ("1", "1e-30"): "999999999999999.5"}
    for (ratio, ridge), text in exact.items():
        assert close(resolvent.trace({c: ratio, gamma: ridge}, digits=25), text, 19)


@pytest.mark.parametrize("ridge", ["1e-50", "1e-100", "1e-400", "1e-2000"])
def test_ridges_beyond_doubles_are_followed_and_never_said_to_be_in_the_spectrum(ridge):
    """For c = 1 the Marchenko-Pastur law reaches 0: m = 2 / (gamma + sqrt(gamma^2 + 4 gamma))."""
    resolvent = deterministic_equivalent((S + gamma * IDENTITY).inv(), RATIOS)
    with mpmath.workdps(60):
        ridge_, values = mpmath.mpf(ridge), {c: 1, gamma: ridge}
        root = mpmath.sqrt(ridge_**2 + 4 * ridge_)
        exact = 2 / (ridge_ + root)
        slope = -2 * (1 + (ridge_ + 2) / root) / (ridge_ + root) ** 2
        assert abs(resolvent.trace(values, digits=40) / exact - 1) < mpmath.mpf(10) ** -40
        assert abs(resolvent.trace(values, digits=40, derivative=gamma) / slope - 1) < mpmath.mpf(10) ** -40
        double = 1e-308 < exact < 1e308 and float(exact)
    if double:
        assert resolvent.trace(values) == pytest.approx(double, rel=1e-15)
    else:
        with pytest.raises(SolveError, match=r"what double precision can hold.*e\+1000"):
            resolvent.trace(values)


def test_a_negative_number_too_small_for_doubles_keeps_its_sign():
    with pytest.raises(ValueError, match="ratio of p: got -"):
        deterministic_equivalent((S + gamma * IDENTITY).inv(), RATIOS).trace({c: "-1e-400", gamma: 1})


# Spikes


def test_weights_do_not_matter_without_a_signal():
    values = {c: 2, a1: "0.6", sigma: "0.3", d: 0, gamma: "0.1"}
    gram = {(mu, mu): 0, (mu, w_K): 0, (mu, w_Q): 0, (w_K, w_K): 2, (w_Q, w_Q): 3, (w_K, w_Q): 1}
    form = spiked_attention().quadratic_form(y, y, values, gram, digits=25)
    assert close(form, attention().trace(values, digits=25), 24)
    assert close(spiked_attention().trace(values, digits=25), attention().trace(values, digits=25), 24)


def test_two_keys_and_queries_play_different_parts():
    values = {c: "0.5", a1: "0.6", sigma: "0.3", d: 0, gamma: 1}
    gram = {(mu, mu): 1, (mu, w_K): 1, (mu, w_Q): 0, (w_K, w_K): 2, (w_Q, w_Q): 2, (w_K, w_Q): 0}
    swapped = {**gram, (mu, w_K): 0, (mu, w_Q): 1}
    bare = {pair: (1 if pair == (mu, mu) else 0) for pair in gram}
    q, other, without = (spiked_attention().quadratic_form(y, y, values, g) for g in (gram, swapped, bare))
    assert q > without > other


def test_linear_regression_of_the_spiked_model():
    resolvent = deterministic_equivalent((X.T * X / n + gamma * IDENTITY).inv(), RATIOS)
    q = resolvent.quadratic_form(y, y, {c: 1, gamma: 1}, {(mu, mu): "3/2"}, digits=32, derivative=gamma)
    assert close(q, "-0.220310357887596932434593108765", 29)


def test_outliers_of_a_spiked_wishart():
    theta, v = sympy.Symbol("theta"), Vector("v", p)
    tokens = Z + sympy.sqrt(n) * theta * v * Vector("u", n).T
    u = next(s for s in tokens.atoms(Vector) if s.name == "u")
    spiked = deterministic_equivalent((tokens.T * tokens / n - z * IDENTITY).inv(), RATIOS)
    gram = {(u, u): 1, (v, v): 1}
    found = outlier(spiked, u, z, (3.2, 20), {c: 0.5, theta: 2}, gram)
    # Benaych-Georges, Nadakuditi, for Z^T Z / n + spike of strength theta: tau = theta^2
    tau, ratio = 4.0, 0.5
    assert abs(found.location - (1 + tau) * (ratio + tau) / tau) < 1e-10
    assert abs(found.alignment - (1 - (ratio + tau) / (tau * (1 + tau)))) < 1e-9


def test_thresholds_and_edges():
    theta, v = sympy.Symbol("theta"), Vector("v", n)
    spiked = deterministic_equivalent((sigma * W + theta * v * v.T - z * IDENTITY).inv())
    edges = spectrum_edges(spiked, z, {sigma: half})
    assert edges == [-1.0, 1.0]
    critical = threshold(spiked, v, z, edges[1], theta, 0.8, {sigma: half}, {(v, v): 1})
    assert abs(critical - 0.5) < 1e-7
    with pytest.raises(ValueError, match="no outlier along v"):
        outlier(spiked, v, z, (1.5, 3), {sigma: half, theta: 0.4}, {(v, v): 1})


def test_the_solution_satisfies_the_equations_under_the_same_names() -> None:
    equivalent = attention()
    point = {c: "1/2", a1: "3/5", sigma: "1/3", d: "1/4", gamma: "1/10"}
    solution = equivalent.solve(point, digits=30)
    exact = {symbol: sympy.Rational(value) for symbol, value in point.items()}
    for system in (equivalent.equations, equivalent.dyson.system()):
        numbers = {u: sympy.Float(str(solution[str(u)]), 40) for u in system.unknowns}
        for residual in system.residuals:
            terms = [abs(term.subs(exact).subs(numbers)) for term in sympy.Add.make_args(sympy.expand(residual))]
            assert abs(residual.subs(exact).subs(numbers)) < sympy.Float(10) ** -27 * max(terms)
