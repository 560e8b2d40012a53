"""Pencils: they hold, they are small, and they do not depend on how an expression is written."""

import random

import pytest
import sympy
from engine_models import IDENTITY, RATIOS, V, W, Z, attention, c, gamma, kernel, n, p, spiked_attention, z

from hermite_rmt.equivalents.ensembles import GUE, Gaussian, Ginibre
from hermite_rmt.equivalents.modular import PRIME, RandomPoint, inverse, product
from hermite_rmt.equivalents.pattern import inverse_support
from hermite_rmt.equivalents.selfadjoint import coefficients, symmetrise
from hermite_rmt.equivalents.series import SpectralSeries
from hermite_rmt.equivalents.verification import minimal_size, pencil_holds
from hermite_rmt.theory.equivalent import deterministic_equivalent

M, N, G = Z.T * Z / p, V * V, (W - z * IDENTITY).inv()
K = kernel(Z)
# expression -> (n-blocks, p-blocks), all minimal
SIZES = {
    "attention": ((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), (3, 3)),
    "semicircle": (G, (1, 0)),
    "Marchenko-Pastur": ((M - z * IDENTITY).inv(), (1, 1)),
    "anticommutator": ((W * V + V * W - z * IDENTITY).inv(), (3, 0)),
    "commutator of Wisharts": ((sympy.I * (M * N - N * M) - z * IDENTITY).inv(), (5, 2)),
    "G (G + H)^-1 G": (G * (G + V + W).inv() * G, (3, 0)),
    "K G K": (K * G * K, (3, 2)),
    "third inverse power": ((W - z * IDENTITY) ** -3, (3, 0)),
    "polynomial": ((W + V) * (M + V) * W + W * V, (5, 1)),
    "heads": ((W * M * W + V * M * V + gamma * IDENTITY).inv(), (5, 2)),
}


@pytest.mark.parametrize("name", SIZES)
def test_pencils_hold_and_are_minimal(name):
    expression, sizes = SIZES[name]
    equivalent = deterministic_equivalent(expression, RATIOS)
    pencil = equivalent.pencil
    told = equivalent.check_pencil(seed=1)
    assert told.holds
    assert (len(pencil.blocks(n)), len(pencil.blocks(p))) == sizes
    assert told.minimal == told.size == sum(sizes)
    assert "of the smallest size" in str(told)


def test_spiked_attention_has_three_and_five_blocks():
    pencil = spiked_attention().pencil
    assert (len(pencil.blocks(n)), len(pencil.blocks(p))) == (3, 5)
    assert pencil.self_adjoint
    assert pencil_holds(spiked_attention()._node, pencil)
    assert minimal_size(spiked_attention().plain_pencil) == 8


def test_a_wrong_pencil_is_noticed():
    equivalent = attention()
    pencil = equivalent.plain_pencil
    key = next(iter(pencil.constant))
    broken = {**pencil.constant, key: -pencil.constant[key]}
    object.__setattr__(pencil, "constant", broken)
    assert not pencil_holds(equivalent._node, pencil)


@pytest.mark.parametrize("name", ["attention", "Marchenko-Pastur", "anticommutator", "G (G + H)^-1 G"])
def test_self_adjoint_forms_are_symmetric(name):
    pencil = deterministic_equivalent(SIZES[name][0], RATIOS).pencil
    assert pencil.self_adjoint
    assert pencil.input == pencil.output
    table = {key: (reverse, entries) for key, reverse, entries in coefficients(pencil)}
    for _key, (reverse, entries) in table.items():
        other = table[reverse][1]
        assert {(j, i) for i, j in entries} == set(other)
        assert all(sympy.simplify(value - other[j, i]) == 0 for (i, j), value in entries.items())


def test_what_is_not_self_adjoint_gets_the_plain_pencil():
    for expression in (W * M * (V - z * IDENTITY).inv(), (Ginibre("Y", n) - z * IDENTITY).inv()):
        equivalent = deterministic_equivalent(expression, RATIOS)
        assert symmetrise(equivalent.plain_pencil) is None
        assert not equivalent.pencil.self_adjoint
        assert str(equivalent.pencil).startswith("plain")


def test_the_symmetriser_says_where_it_fails():
    determinant = attention().pencil.determinant
    assert {symbol.name for symbol in determinant.free_symbols} == {"a1", "c"}
    assert determinant.subs("a1", 0) == 0


def rewritings():
    A, B = W, M
    yield "regrouped", (A * (B * A) + gamma * IDENTITY).inv(), ((A * B) * A + gamma * IDENTITY).inv()
    yield "reordered", (A + B + gamma * IDENTITY).inv(), (gamma * IDENTITY + B + A).inv()
    yield "expanded", (A * (B + A) + gamma * IDENTITY).inv(), (A * B + A * A + gamma * IDENTITY).inv()
    yield "renamed", (A * B * A + gamma * IDENTITY).inv(), (V * B * V + gamma * IDENTITY).inv()
    yield "transposed", (A * B + gamma * IDENTITY).inv(), ((A * B + gamma * IDENTITY).inv()).T
    yield "doubly inverted", (A + gamma * IDENTITY).inv().inv().inv(), (A + gamma * IDENTITY).inv()
    yield "scalar out", (2 * A + 2 * gamma * IDENTITY).inv(), (A + gamma * IDENTITY).inv() / 2


REWRITINGS = {name: pair for name, *pair in rewritings()}


@pytest.mark.parametrize("name", REWRITINGS)
def test_rewriting_an_expression_changes_no_moment(name):
    # exact: the power series of both traces at infinite gamma
    series = [
        SpectralSeries(
            deterministic_equivalent(e, RATIOS)._plain_bulk, gamma, {c: sympy.Rational(4, 3)}, PRIME
        ).trace(12)
        for e in REWRITINGS[name]
    ]
    assert series[0] == series[1]


def test_transposing_leaves_a_complex_hermitian_matrix_free_of_itself():
    U = GUE("U", n)
    assert deterministic_equivalent(U + U.T).moments(4, {}) == [1, 0, 2, 0, 8]  # twice a free semicircle
    assert deterministic_equivalent(U + U).moments(4, {}) == [1, 0, 4, 0, 32]


def test_zero_patterns_hold_for_every_matrix_with_the_support():
    draw = random.Random(3)
    point = RandomPoint(5)
    for _ in range(40):
        size = draw.randint(2, 5)
        support = {(i, j) for i in range(size) for j in range(size) if draw.random() < 0.5}
        dense = [[point.draw() if (i, j) in support else 0 for j in range(size)] for i in range(size)]
        inverted = inverse(dense)
        allowed = inverse_support(support, range(size))
        if inverted is not None:
            assert {(i, j) for i in range(size) for j in range(size) if inverted[i][j]} <= allowed
            assert product(dense, inverted) == [[int(i == j) for j in range(size)] for i in range(size)]


def test_a_rectangular_expression_has_a_pencil_but_no_trace():
    features = deterministic_equivalent(Z * (Z.T * Z / p + IDENTITY).inv() / sympy.sqrt(n), RATIOS)
    with pytest.raises(ValueError, match="p x n, not square"):
        features.trace({c: 1})
    assert pencil_holds(features._node, features.pencil)


def test_independent_matrices_have_no_mean_product():
    assert deterministic_equivalent(Gaussian("B", p, n).T * Z / n, RATIOS).trace({c: 1}) == 0.0
