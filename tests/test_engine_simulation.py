"""Derived equations against finite random matrices: random expressions, and laws without a closed form."""

import random

import numpy as np
import pytest
import sympy
from engine_models import IDENTITY, RATIOS, Finite, V, W, Z, c, gamma, n, p, simulate, z

from hermite_rmt.equivalents.ensembles import GOE, GUE, Gaussian, Ginibre, Vector, joint_family
from hermite_rmt.equivalents.spectral import commuting
from hermite_rmt.theory.equivalent import deterministic_equivalent
from hermite_rmt.theory.outliers import outlier

half = sympy.Rational(1, 2)
Y = Ginibre("Y", n)
H = GOE("H", p)
IDENTITIES = {n: IDENTITY, p: sympy.Identity(p)}
ALLOWANCE = 3e-3  # for the O(1/n) bias at n about 500
SIZE, TRIALS = 500, 4


def letters(rows, cols):
    scaled = Z / sympy.sqrt(n)
    return {
        (n, n): [W, V, Y, Y.T, IDENTITY],
        (p, p): [H, IDENTITIES[p]],
        (p, n): [scaled],
        (n, p): [scaled.T],
    }[rows, cols]


def random_expression(draw, rows, cols, depth):
    """A random expression of a shape: letters, sums, products, inverses of 1 + A A^T, transposes, factors."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(letters(rows, cols))
    kind = draw.choice(["sum", "product", "product", "inverse", "transpose", "factor"])
    if kind == "sum":
        return random_expression(draw, rows, cols, depth - 1) + random_expression(draw, rows, cols, depth - 1)
    if kind == "product":
        middle = draw.choice([n, p])
        return random_expression(draw, rows, middle, depth - 1) * random_expression(draw, middle, cols, depth - 1)
    if kind == "inverse" and rows == cols:
        A = random_expression(draw, rows, draw.choice([n, p]), depth - 1)
        return (A * A.T + IDENTITIES[rows]).inv()
    if kind == "transpose":
        return random_expression(draw, cols, rows, depth - 1).T
    return sympy.Rational(draw.randint(1, 4), 2) * random_expression(draw, rows, cols, depth - 1)


def agrees(expression, values, size=SIZE, trials=TRIALS, seed=0, allowance=ALLOWANCE):
    theory = deterministic_equivalent(expression, RATIOS).trace(values)
    mean, error = simulate(expression, values, size, trials, seed)
    assert abs(theory - mean) <= 5 * error + allowance * max(1, abs(theory)), (expression, theory, mean, error)


def check_random_expression(seed):
    draw = random.Random(seed)
    M = random_expression(draw, n, draw.choice([n, p]), draw.randint(1, 4))
    agrees((M * M.T + IDENTITY).inv(), {c: draw.choice([half, sympy.Rational(3, 2), 2])}, seed=seed)


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions(seed):
    check_random_expression(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 60))
def test_more_random_expressions(seed):
    check_random_expression(seed)


S, N = Z.T * Z / p, V * V
A, B = joint_family(GOE, "A B", n, covariance=[[1, half], [half, 1]])
U1, U2 = GUE("U1", n), GUE("U2", n)
D, E = commuting("D E", n, [(half, 1, 0), (sympy.Rational(1, 4), 2, 1), (sympy.Rational(1, 4), -1, 3)])
Q = (W - 3 * IDENTITY).inv()
WITHOUT_CLOSED_FORM = {
    "anticommutator of Wisharts": ((S * N + N * S - z * IDENTITY).inv(), {c: 2, z: -4}),
    "commutator of Wisharts": ((sympy.I * (S * N - N * S) - z * IDENTITY).inv(), {c: 2, z: 1j}),
    "dependent product": ((S - IDENTITY + W) * Q * (S - IDENTITY + W), {c: 2}),
    "joint family": ((A * B + B * A - z * IDENTITY).inv(), {z: 1 + 1j}),
    "transpose of a Hermitian matrix": ((U1 * U1.T + U1.T * U1 - z * IDENTITY).inv(), {z: 1j}),
    "Hermitian and Wishart": ((U1 * S * U1 - z * IDENTITY).inv(), {c: half, z: -1}),
    "commuting deterministic": ((W * D * W + E + W - z * IDENTITY).inv(), {z: 1j}),
    "quotient": (Y.T * (Gaussian("B", p, n).T * Gaussian("B", p, n) / n).inv() * Y, {c: 3}),
    "not self-adjoint": ((Y * V + 4 * IDENTITY).inv(), {}),
    "complex shift of a rectangular product": ((Z.T * H * Z / n - z * IDENTITY).inv(), {c: 2, z: 0.5 + 0.5j}),
    "Ginibre, both orders": ((Y * Y.T + Y.T * Y + Y + Y.T + gamma * IDENTITY).inv(), {gamma: 3}),
}


@pytest.mark.parametrize("name", WITHOUT_CLOSED_FORM)
def test_laws_without_a_closed_form(name):
    agrees(*WITHOUT_CLOSED_FORM[name])


def random_features_theory(values):
    """Training and test error of ridge regression on linearised random features (Mei and Montanari's model).

    Features A = a F X/sqrt p + b Theta (q x n), labels y = X^T beta/sqrt p + noise, beta ~ N(0, 1): averages over
    beta and the noise make every term a trace.
    """
    q, psi = sympy.Symbol("q", integer=True, positive=True), sympy.Symbol("psi", positive=True)
    a, b, s = sympy.Rational(4, 5), sympy.Rational(3, 5), half
    F, Theta, Iq = Gaussian("F", q, p), Gaussian("Theta", q, n), sympy.Identity(q)
    A = a * F * Z / sympy.sqrt(p) + b * Theta
    R = (A.T * A / q + gamma * IDENTITY).inv()
    labels = Z.T * Z / p + s**2 * IDENTITY

    def trace(expression):
        return deterministic_equivalent(expression, {p: c * n, q: psi * n}).trace({**values, psi: 1.25})

    training = values[gamma] ** 2 * trace(R * labels * R)
    overlap = trace(a * Z * R * A.T * F / (sympy.sqrt(p) * q))
    size = trace(A.T * (a**2 * F * F.T / p + b**2 * Iq) * A * R * labels * R / q) / 1.25
    return training, 1 - 2 * overlap + size


def random_features_trial(size, a, b, s, ridge, rng):
    n_, p_, q_ = size, size * 3 // 4, size * 5 // 4
    Zs, Fs, beta = rng.standard_normal((p_, n_)), rng.standard_normal((q_, p_)), rng.standard_normal(p_)
    As = a * Fs @ Zs / np.sqrt(p_) + b * rng.standard_normal((q_, n_))
    labels = Zs.T @ beta / np.sqrt(p_) + s * rng.standard_normal(n_)
    w = As @ np.linalg.solve(As.T @ As / q_ + ridge * np.eye(n_), labels) / q_
    training = np.mean((labels - As.T @ w) ** 2)
    # fresh data, averaged exactly: features a F x/sqrt p + b theta, target x^T beta/sqrt p
    rest = (beta - a * Fs.T @ w) / np.sqrt(p_)
    return training, rest @ rest + b**2 * w @ w


def test_random_features():
    values = {c: 0.75, gamma: 0.2}
    rng = np.random.default_rng(11)
    trials = np.array([random_features_trial(480, 0.8, 0.6, 0.5, 0.2, rng) for _ in range(8)])
    error = trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
    theory = np.array(random_features_theory(values))
    assert (abs(theory - trials.mean(axis=0)) <= 5 * error + ALLOWANCE).all(), (theory, trials.mean(axis=0), error)


def test_hidden_dependence_is_not_freeness():
    # K G K with K a function of G: the product rule of free matrices would give 0.215
    K = half * (S - IDENTITY) + sympy.Rational(3, 10) * W
    agrees(K * S * K, {c: 2})
    theory = deterministic_equivalent(K * S * K, RATIOS).trace({c: 2})
    free = deterministic_equivalent(K * K, RATIOS).trace({c: 2}) * deterministic_equivalent(S, RATIOS).trace({c: 2})
    assert abs(theory - free) > 0.05


def test_quadratic_forms_and_outliers():
    rng = np.random.default_rng(3)
    size, strength = 800, 3
    v, x = Vector("v", n), Vector("x", n)
    M = W + strength * (v * v.T) + (S - IDENTITY) / 2
    spiked = deterministic_equivalent((M - z * IDENTITY).inv(), RATIOS)
    gram = {(v, v): 1, (x, x): 1, (v, x): 0.6}
    finite = Finite({n: size, p: 2 * size}, {}, rng)
    first, second = np.eye(size)[:2]
    finite.matrices = {v: first[:, None], x: (0.6 * first + 0.8 * second)[:, None]}
    eigenvalues, vectors = np.linalg.eigh(finite(sympy.sympify(M)))
    top = vectors[:, -1]
    found = outlier(spiked, v, z, (eigenvalues[-2] + 0.2, 6), {c: 2}, gram)
    assert abs(found.location - eigenvalues[-1]) < 6 / np.sqrt(size)
    assert abs(found.alignment - top[0] ** 2) < 6 / np.sqrt(size)
    for point in (-4.0, 5.0):
        resolvent = np.linalg.inv(finite(sympy.sympify(M)) - point * np.eye(size))
        theory = spiked.quadratic_form(v, x, {c: 2, z: point}, gram)
        assert abs(theory - finite.matrices[v][:, 0] @ resolvent @ finite.matrices[x][:, 0]) < 6 / np.sqrt(size)
