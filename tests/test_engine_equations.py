"""Equations: known laws come out as theorems, reductions are exact, and the pipeline prints itself."""

import dataclasses

import pytest
import sympy
from engine_models import IDENTITY, RATIOS, V, W, Z, a1, attention, c, d, gamma, kernel, n, p, sigma, z
from hypothesis import given
from hypothesis import strategies as st

from hermite_rmt.equivalents.elimination import EliminationError, M
from hermite_rmt.equivalents.ensembles import GUE, Gaussian, Ginibre, Vector
from hermite_rmt.equivalents.guess import rational
from hermite_rmt.equivalents.merging import equal_unknowns
from hermite_rmt.equivalents.modular import PRIME, NoResidueError, RandomPoint
from hermite_rmt.equivalents.reduction import reduce_dyson
from hermite_rmt.equivalents.spectral import deterministic
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.equivalents.verification import Substitution
from hermite_rmt.theory.equivalent import deterministic_equivalent

S = Z.T * Z / p
U1, U2 = GUE("U1", n), GUE("U2", n)
T = deterministic("T", p, {1: sympy.Rational(1, 2), 3: sympy.Rational(1, 2)})
B = Gaussian("B", n, p)
r = 1 / c  # n/p
# textbook equations of m(z) = lim tr (M - z)^-1 / n, all parameters symbolic
LAWS = {
    "semicircle": (W, M**2 + z * M + 1),
    "semicircle of variance sigma^2": (sigma * W, sigma**2 * M**2 + z * M + 1),
    "Marchenko-Pastur": (S, r * z * M**2 + (z + r - 1) * M + 1),
    "Cheng-Singer": (
        a1 * (S - IDENTITY) + sigma * W,
        a1 * r * sigma**2 * M**3 + (a1**2 * r + sigma**2 + a1 * r * z) * M**2 + (z + a1 * r) * M + 1,
    ),
    "Ginibre Wishart": (Ginibre("Y", n) * Ginibre("Y", n).T, z * M**2 + z * M + 1),
    "anticommutator of Wigners": (W * V + V * W, z * M**3 - M**2 - z * M - 1),
    "commutator of Wigners": (sympy.I * (W * V - V * W), z * M**3 - M**2 - z * M - 1),
    "anticommutator of Hermitian Wigners": (U1 * U2 + U2 * U1, z * M**3 - M**2 - z * M - 1),
    "free sum of semicircles": (W + V, 2 * M**2 + z * M + 1),
    "two rectangular Gaussians": (Z.T * B.T * B * Z / (n * p), z**2 * M**3 + (1 - c) * z * M**2 - c * z * M - c),
}


@pytest.mark.parametrize("name", LAWS)
def test_known_laws_come_out_with_symbolic_parameters(name):
    matrix, law = LAWS[name]
    found = deterministic_equivalent((matrix - z * IDENTITY).inv(), RATIOS).polynomial()
    assert found.proved
    ratio = sympy.cancel(found.polynomial / law)
    assert not ratio.has(M)
    assert not ratio.has(z)


def test_marchenko_pastur_with_two_atoms():
    found = deterministic_equivalent((Z.T * T * Z / p - z * IDENTITY).inv(), RATIOS).polynomial()
    # Silverstein's equation of Z^T T Z / p: z = -1/m + sum of weight_k t_k / (1 + r t_k m), r = n/p
    law = sympy.numer(sympy.together(z + 1 / M - sum(t / (1 + r * t * M) for t in (1, 3)) / 2))
    assert found.proved
    assert not sympy.cancel(found.polynomial / law).has(M, z)


def test_attention_has_eight_unknowns_and_the_known_ward_identity():
    reduction = reduce_dyson(attention().dyson)
    assert [step.unknowns for step in reduction.steps] == [18, 12, 8, 8]
    relations = dict(reduction.steps[2].relations)
    trace = attention().dyson.observable()
    assert -gamma * trace in relations.values()  # c g_ts = -gamma m in the letters of the theory


def test_reduced_equations_vanish_on_the_solution():
    # the unknowns of the self-adjoint system, from a direct solve of its own Dyson equation at 40 digits
    values = {c: 2, sigma: sympy.Rational(1, 2), a1: sympy.Rational(3, 4), z: -3}
    equivalent = deterministic_equivalent((a1 * (S - IDENTITY) + sigma * W - z * IDENTITY).inv(), RATIOS)
    (residual,) = equivalent.equations.substitute(values).residuals
    (unknown,) = equivalent.equations.unknowns
    trace = sympy.Float(str(equivalent.trace(values, digits=40)), 40)
    assert abs(residual.subs(unknown, trace)) < 1e-37


def test_the_attention_polynomial_and_its_root():
    values = {c: "3/2", a1: "3/5", sigma: "2/5", d: "1/5"}
    found = attention().polynomial(values)
    assert found.degree == 17
    assert len(sympy.Poly(found.polynomial, M, gamma).terms()) == 67
    assert not found.proved
    assert "checked on 192 terms" in found.evidence
    assert len(sympy.factor_list(found.polynomial)[1]) == 1
    # the direct solution is a root, and a neighbour is not
    polynomial = found.polynomial.subs(gamma, sympy.Rational(1, 10))
    root = sympy.Float(str(attention().trace({**values, gamma: "1/10"}, digits=30)), 30)
    slope = sympy.diff(polynomial, M).subs(M, root)
    assert abs(polynomial.subs(M, root) / slope) < 1e-27
    assert abs(polynomial.subs(M, root * (1 + sympy.Rational(1, 10**6))) / slope) > 1e-8


def test_a_polynomial_needs_a_spectral_parameter_and_rational_numbers():
    with pytest.raises(EliminationError, match="too many to eliminate"):
        attention().polynomial()
    with pytest.raises(ValueError, match="d, gamma left; allowed: one"):
        attention().polynomial({c: 1, a1: 1, sigma: 1})
    with pytest.raises(ValueError, match="a rational number"):
        attention().polynomial({c: sympy.sqrt(2), a1: 1, sigma: 1, d: 0})
    with pytest.raises(EliminationError, match="not a spectral parameter"):
        deterministic_equivalent((S + gamma * IDENTITY).inv(), RATIOS).polynomial({gamma: 1})


def test_names_of_parameters_never_clash_with_names_of_unknowns():
    b, w1, m = sympy.symbols("g11 w1 m")
    y1 = Vector("y1", n)
    matrix = b * W + w1 * y1 * y1.T - z * IDENTITY
    named = deterministic_equivalent(matrix.inv())
    plain = deterministic_equivalent((sigma * W + a1 * y1 * y1.T - z * IDENTITY).inv())
    gram = {(y1, y1): 1}
    left = named.quadratic_form(y1, y1, {b: 0.5, w1: 2, z: -2}, gram)
    assert left == plain.quadratic_form(y1, y1, {sigma: 0.5, a1: 2, z: -2}, gram)
    assert named.trace({b: 0.5, z: -2}) == plain.trace({sigma: 0.5, z: -2})
    with pytest.raises(EliminationError, match="rename it"):
        deterministic_equivalent((m * W - z * IDENTITY).inv()).polynomial()


@pytest.mark.parametrize("seed", range(3))
def test_ward_identities_are_exact_at_every_size(seed):
    # n = 2, p = 3 and arbitrary matrices in place of the Gaussian ones: no limit, no law
    K = kernel(Z)
    equivalent = deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), {p: 3 * n / 2})
    dyson = equivalent.dyson
    ward = next(step for step in reduce_dyson(dyson).steps if step.name == "Ward identities")
    assert len(ward.relations) == 4
    substitution = Substitution(seed)
    assert (substitution.size(n), substitution.size(p)) == (2, 3)

    def trace(symbol):
        _, i, j = dyson.place(symbol)
        corner = dataclasses.replace(
            dyson.pencil, output={i: sympy.S.One}, input={j: sympy.S.One}, offset=sympy.S.Zero
        )
        block = substitution.pencil(corner)
        return sum(block[k][k] for k in range(len(block))) * pow(len(block), -1, PRIME) % PRIME

    for unknown, image in ward.relations:
        total = 0
        for term in sympy.Add.make_args(sympy.expand(image)):
            factors = [f for f in term.free_symbols if f in dyson.unknowns]
            coefficient = substitution.point(term / factors[0] if factors else term)
            total += coefficient * (trace(factors[0]) if factors else 1)
        assert trace(unknown) == total % PRIME


def test_merging_keeps_only_what_the_map_keeps():
    dyson = deterministic_equivalent((W * V + V * W - z * IDENTITY).inv()).dyson
    merged = equal_unknowns(dyson)
    assert merged == {sympy.Symbol("g33"): sympy.Symbol("g22")}
    assert equal_unknowns(dyson, seed=7) == merged
    uneven = deterministic_equivalent((W * V + V * W + V - z * IDENTITY).inv()).dyson
    assert equal_unknowns(uneven) == {}


def test_the_pipeline_prints_itself():
    reduction = deterministic_equivalent((W * V + V * W - z * IDENTITY).inv()).reduction
    text = str(reduction)
    for name in ("matrix Dyson equation", "zero pattern", "self-adjointness", "equal unknowns", "Ward identities"):
        assert name in text
    assert "operations" in text
    assert all(step.reason for step in reduction.steps)
    assert "= 0" in reduction.latex()
    assert reduction._repr_latex_().startswith("$")


def test_systems_print_and_substitute():
    system = deterministic_equivalent((S + gamma * IDENTITY).inv(), RATIOS).equations
    assert system._repr_latex_().startswith("$")
    assert "covariance" in system.branch
    assert system.citations
    assert set(system.parameters) == {c, gamma}
    fixed = system.substitute({c: sympy.Rational(1, 2)})
    assert fixed.parameters == (gamma,)
    assert system.operations() > 0
    assert all(unknown in system.meanings for unknown in system.unknowns)
    with pytest.raises(ValueError, match="got the symbols"):
        EquationSystem((M,), (), (M + z,), "none")


def test_one_sign_in_the_expression_changes_the_curve():
    values = {c: 2, a1: 0.5, sigma: 0.3, d: 0, gamma: [0.01, 1]}
    wrong = kernel(Z) + 2 * a1 * IDENTITY  # a1 (S + 1) instead of a1 (S - 1)
    changed = deterministic_equivalent((wrong.T * Z.T * Z * wrong / n + gamma * IDENTITY).inv(), RATIOS)
    assert (abs(changed.trace(values) / attention().trace(values) - 1) > 0.1).all()


def test_moments_of_dependent_products():
    K = a1 * (S - IDENTITY) + sigma * W
    moments = deterministic_equivalent(K * S * K, RATIOS).moments(2, {a1: "1/2", sigma: "3/10", c: 2})
    assert moments[1] == sympy.Rational(111, 400)  # 0.2775
    # the mean by hand: a1^2 E x (x - 1)^2 + sigma^2 for the Marchenko-Pastur law of ratio 1/2
    x = deterministic_equivalent(S, RATIOS).moments(3, {c: 2})
    assert moments[1] == (x[3] - 2 * x[2] + x[1]) / 4 + sympy.Rational(9, 100) * x[1]


def test_moments_of_marchenko_pastur_are_narayana_sums():
    moments = deterministic_equivalent(S, RATIOS).moments(6, {c: 1})
    assert moments == [sympy.catalan(k) for k in range(7)]


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
def test_fractions_are_recovered_from_residues(numerator, denominator):
    fraction = sympy.Rational(numerator, denominator)
    prime = 2**127 - 1
    residue = int(fraction.p) * pow(int(fraction.q), -1, prime) % prime
    assert rational(residue, prime) == (fraction.p, fraction.q)


@given(st.integers(1, 200))
def test_residues_respect_roots(number):
    point = RandomPoint(1)
    x = sympy.Symbol("x", positive=True)
    assert point(sympy.sqrt(x) * x**2) ** 2 % PRIME == point(x**5)
    try:
        root = point(sympy.sqrt(number))
    except NoResidueError:
        return
    assert root**2 % PRIME == number
