"""The proof that a solution of a derived system is the limit: true solutions pass, no other one does."""

import random

import numpy as np
import pytest
import sympy
from engine_models import (
    IDENTITY,
    RATIOS,
    V,
    W,
    Z,
    a1,
    attention,
    c,
    d,
    gamma,
    mu,
    n,
    p,
    sigma,
    solutions,
    spiked_attention,
    w_K,
    w_Q,
    y,
    z,
)

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.solution import SolveError
from hermite_rmt.equivalents.covariance import covariances, positive_map
from hermite_rmt.equivalents.ensembles import GOE, GUE, Elliptic, Gaussian, Ginibre, joint_family
from hermite_rmt.equivalents.spectral import deterministic
from hermite_rmt.solvers.arithmetic import BallArithmetic
from hermite_rmt.solvers.stability import Part, contracts, indefinite, positive_definite, radius
from hermite_rmt.theory.engine.branch_proof import BranchProof
from hermite_rmt.theory.engine.certifier import BRANCH_PROVED
from hermite_rmt.theory.equivalent import deterministic_equivalent

flint = pytest.importorskip("flint")
numbers = BallArithmetic(200)
half = sympy.Rational(1, 2)


def proofs(equivalent, values, solved):
    """The box of a solution, and whether its branch is proved."""
    certifier = equivalent._certifier
    known = {s: number.real for s, number in equivalent._one_point(values).items()} | equivalent.linearised.constants
    with numbers.active():
        parameters = {symbol: numbers.read(real) for symbol, real in known.items()}
        box = certifier.system().prove(list(solved.unknowns), parameters, numbers)
        assert box is not None
        return box, certifier._branch(True, known).holds(box.unknowns, list(parameters.values()))


@pytest.mark.parametrize(
    "values",
    [
        {a1: "-6.5", sigma: 32, c: "1e-4", d: "-0.4", gamma: "1.2e-8"},
        {a1: "8.4", sigma: 80, c: "1.8e-4", d: 1, gamma: 800},
        {a1: "-3.2", sigma: "0.0011", c: "9e-5", d: "-1.8", gamma: "9.4e-12"},
    ],
)
def test_covariances_that_act_at_their_first_millionth(values):
    # few embedding dimensions: the path from vanishing covariance turns within 1e-5 of its length
    gram = {(mu, mu): 1, (w_K, w_K): 1, (w_Q, w_Q): 1, (mu, w_K): 0, (mu, w_Q): 0, (w_K, w_Q): 0}
    solution = spiked_attention().certify(values, 15, form=(y, y), gram=gram)
    assert BRANCH_PROVED in solution.notes


# Spurious solutions: each one is a solution, proved in its box, and none of them is called the limit


@pytest.mark.parametrize(
    ("first", "noise", "ratio", "diagonal", "spurious"),
    [(1, 0, "3/4", 0, "0.6608076258"), (1, sympy.sqrt(sympy.Rational(1, 5)), "1/2", half, "1.6181856208")],
)
def test_spurious_solutions_of_attention_are_solutions_and_not_the_limit(first, noise, ratio, diagonal, spurious):
    values = {a1: first, sigma: noise, c: ratio, d: diagonal, gamma: "0.1"}
    right = attention().certify(values, 30)["trace"]
    found = solutions(attention(), values, 60)
    traces = {}
    for solved in found.values():
        box, proved = proofs(attention(), values, solved)
        traces[float(box.observables["trace"].mid())] = proved
    assert len(traces) >= 3
    assert any(abs(m - float(spurious)) < 1e-9 for m in traces)
    assert [m for m, proved in traces.items() if proved] == pytest.approx([float(right.mid)], rel=1e-12)


def test_random_expressions_have_one_branch():
    draw = random.Random(4)
    for _ in range(4):
        values = {
            a1: sympy.Rational(draw.randint(-15, 15), 10),
            sigma: sympy.Rational(draw.randint(0, 15), 10),
            d: sympy.Rational(draw.randint(-10, 10), 10),
            c: sympy.Rational(draw.randint(1, 30), 10),
            gamma: sympy.Rational(draw.randint(1, 30), 20),
        }
        proved = [proofs(attention(), values, solved)[1] for solved in solutions(attention(), values, 25).values()]
        assert sum(proved) <= 1
        assert BRANCH_PROVED in attention().certify(values, 15).notes


def test_both_solutions_of_the_semicircle():
    equivalent = deterministic_equivalent((W - z * IDENTITY).inv())
    for value in (-3, "2.0001", "-2.0000001"):
        assert BRANCH_PROVED in equivalent.certify({z: value}, 30).notes
    traces = [proofs(equivalent, {z: -3}, solved) for solved in solutions(equivalent, {z: -3}, 40).values()]
    assert sorted((round(float(box.observables["trace"].mid()), 3), proved) for box, proved in traces) == [
        (0.382, True),
        (2.618, False),
    ]


@pytest.mark.parametrize("digits", [14, 20])
def test_close_to_an_edge(digits):
    # closer than the hermitised equation tells: the map decides, and then proves
    equivalent = deterministic_equivalent((W - z * IDENTITY).inv())
    gap = sympy.Rational(1, 10**digits)
    exact = sympy.N((2 + gap - sympy.sqrt((2 + gap) ** 2 - 4)) / 2, 60)
    solution = equivalent.certify({z: -2 - gap}, 25)
    assert local_context(200).mpf(exact._mpf_) in solution["trace"]
    assert BRANCH_PROVED in solution.notes
    for inside in (-2 + gap, 2 - gap, 2):
        with pytest.raises(SolveError, match="in the limiting spectrum"):
            equivalent.trace({z: inside})


def test_the_only_solution_need_not_be_the_limit():
    # independent entries: -1/z solves the equation everywhere and is the limit outside the circle
    equivalent = deterministic_equivalent((Ginibre("J", n) - z * IDENTITY).inv())
    assert BRANCH_PROVED in equivalent.certify({z: "1.0001"}, 20).notes
    with pytest.raises(SolveError):
        equivalent.certify({z: half}, 20)
    proof = BranchProof(equivalent._plain_bulk, (z,))
    (unknown,) = equivalent._plain_bulk.unknowns
    with numbers.active():
        for value, right in ((-1.5, True), (1.01, True), (0.99, False), (0.5, False), (-1.0, False)):
            at = numbers.number(value)
            assert proof.holds({unknown: -1 / at}, [at]) == right


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ((Z.T * Z / p + V + 2 * W - z * IDENTITY).inv(), {z: -5, c: 2}),
        ((W * V * W + gamma * IDENTITY).inv(), {gamma: 9}),
        ((W * W + IDENTITY).inv() * (V * V + IDENTITY).inv(), {}),
        ((GUE("H", n) * GUE("H", n).T + 7 * IDENTITY).inv(), {}),
        ((Elliptic("E", n, correlation=half) - z * IDENTITY).inv(), {z: 2}),
        ((W + deterministic("T", n, {1: half, -1: half}) - z * IDENTITY).inv(), {z: 3}),
        ((Ginibre("J", n).T * Ginibre("J", n) + gamma * IDENTITY).inv(), {gamma: "1e-8"}),
        (Ginibre("J", n) * (Ginibre("J", n) + 3 * IDENTITY).inv(), {}),
    ],
)
def test_the_branch_of_many_expressions(expression, values):
    solution = deterministic_equivalent(expression, RATIOS if expression.has(p) else None).certify(values, 20)
    assert BRANCH_PROVED in solution.notes


# The test itself


def test_a_spectral_radius_of_one_is_not_below_one():
    with numbers.active():
        one = numbers.number(1)
        for radius, wide, right in (
            (0.999, 0, True),
            (1.0, 0, False),
            (1.001, 0, False),
            (0.9, 0.05, True),
            (0.9, 0.2, False),
        ):
            inverse = numbers.ball(numbers.number(radius), numbers.number(wide))
            assert contracts([Part(0, (0,), one, [[inverse]])], [(0, 0, 0, 0, one)]) == right
            assert contracts([Part(0, (0,), one, [[-one]])], [(0, 0, 0, 0, inverse)]) == right


def test_a_positive_map_against_its_matrix():
    # random positive maps X -> R^T (sum of B^T X B) R, with spectral radii on both sides of 1
    rng = np.random.default_rng(3)
    with numbers.active():
        for _ in range(30):
            size = int(rng.integers(1, 4))
            R, *B = (rng.normal(size=(size, size)) * 0.6 for _ in range(3))
            matrix = sum(np.kron(b @ R, b @ R).T for b in B)
            terms = {}
            for b in B:
                for i, j, k, h in np.ndindex(size, size, size, size):
                    terms[i, j, k, h] = terms.get((i, j, k, h), 0) + numbers.number(b[k, i]) * numbers.number(b[h, j])
            part = Part(0, tuple(range(size)), numbers.number(1), [[numbers.number(x) for x in row] for row in R])
            right = max(abs(np.linalg.eigvals(matrix)))
            assert abs(right - 1) > 1e-3
            assert contracts([part], [(*place, value) for place, value in terms.items()]) == (right < 1)
            doubles = [(*place, float(value)) for place, value in terms.items()]
            assert radius([Part(0, part.blocks, 1.0, R.tolist())], doubles) == pytest.approx(right, rel=1e-6)


def test_positive_definite_and_indefinite_matrices():
    with numbers.active():
        two, one, zero = (numbers.number(value) for value in (2, 1, 0))
        wide = numbers.ball(zero, one)
        for matrix, positive, neither in (
            ([[two, one], [one, two]], True, False),
            ([[one, two], [two, one]], False, True),
            ([[one, one], [one, one]], False, False),
            ([[zero, zero], [zero, one]], False, False),
            ([[zero, zero], [zero, -one]], False, True),
            ([[-one]], False, True),
            ([[wide]], False, False),
            ([[two, wide], [wide, two]], True, False),
            ([[one, wide], [wide, wide]], False, False),
        ):
            assert positive_definite(matrix) == positive
            assert indefinite(matrix) == neither


def test_laws_that_do_not_exist_prove_nothing():
    covariance = [[1, z], [z, 1]]
    X, Y = joint_family(GOE, "X Y", n, covariance=covariance)
    equivalent = deterministic_equivalent((X * X + Y * X + X * Y + 9 * IDENTITY).inv())
    assert list(covariances(equivalent.plain_pencil)) == [covariance]
    assert BRANCH_PROVED in equivalent.certify({z: half}, 15).notes
    assert BRANCH_PROVED in equivalent.certify({z: 1}, 15).notes  # exactly singular: the two are one
    proof = BranchProof(equivalent._plain_bulk, (z,))
    unknowns = dict.fromkeys(equivalent._plain_bulk.unknowns, flint.arb(0))
    with numbers.active():
        assert proof.holds(unknowns, [numbers.number(half)])  # R = 0 contracts
        assert not proof.holds(unknowns, [numbers.number(1.5)])
        assert not proof.holds(unknowns, [numbers.number(1 + 1e-15)])
        assert proof.holds(unknowns, [numbers.ball(numbers.number(1), numbers.number(1e-15))])  # up to 1
    weights = deterministic_equivalent((W + deterministic("T", n, {1: z, -1: 1 - z}) - 3 * IDENTITY).inv())
    proof = BranchProof(weights._plain_bulk, (z,))
    unknowns = dict.fromkeys(weights._plain_bulk.unknowns, flint.arb(0))
    with numbers.active():
        assert proof.holds(unknowns, [numbers.number(half)])
        assert not proof.holds(unknowns, [numbers.number(-half)])


@pytest.mark.parametrize("factor", [sympy.I, sympy.sqrt(a1), (-1) ** sympy.Rational(1, 4)])
def test_letters_times_complex_valuesprove_nothing(factor):
    # (i W - z)^-1: the equation g^2 - z g - 1 = 0 is real, and E[L_G^* X L_G] is not the map of its coefficients
    equivalent = deterministic_equivalent((factor * W - z * IDENTITY).inv())
    (unknown,) = equivalent._plain_bulk.unknowns
    proof = BranchProof(equivalent._plain_bulk, (a1, z))
    with numbers.active():
        three, root = numbers.number(3), numbers.number(13).sqrt()
        for solution in ((three + root) / 2, (three - root) / 2):
            assert not proof.holds({unknown: solution}, [numbers.number(-1), three])


def test_the_map_is_the_expectation():
    # E[L_G^* X L_G] of a finite pencil against its terms, for letters of all kinds
    letters = GOE("W", n), Ginibre("J", n), Elliptic("E", n, correlation=half), GUE("H", n)
    for letter in letters:
        equivalent = deterministic_equivalent((letter - 5 * IDENTITY).inv())
        assert positive_map(equivalent.plain_pencil, equivalent.ratios) == ((0, 0, 0, 0, 1),)
    rows = deterministic_equivalent(
        (Gaussian("G", p, n).T * Gaussian("G", p, n) / n + gamma * IDENTITY).inv(), RATIOS
    )
    assert sorted(map(str, positive_map(rows.plain_pencil, rows.ratios))) == ["(0, 0, 1, 1, c)", "(1, 1, 0, 0, 1)"]
