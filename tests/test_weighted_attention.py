"""Attention with given weights and token covariance: identities, limits, laws and simulation."""

from __future__ import annotations

import math
import pickle

import mpmath
import numpy as np
import pytest
import sympy

import hermite_rmt as hr
from hermite_rmt.hermite.dual_kernel import nonlinear_dual
from hermite_rmt.solvers.linear import SingularError
from hermite_rmt.solvers.weights_blocks import WeightBlocks

TANH = hr.Nonlinearity("tanh(x)")
RELU = hr.Nonlinearity("max(x, 0)").centred()
P = 40
OBSERVABLES = ("trace", "quadratic_form", "error")


def gaussian(p: int = P, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((p, p))


def covariance(p: int = P, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return (axes * rng.uniform(0.2, 2.5, p)) @ axes.T


def relative(a, b) -> float:
    return float(np.max(np.abs(np.asarray(a) / np.asarray(b) - 1)))


# The identity


@pytest.mark.parametrize(
    "f", [TANH, RELU, hr.Nonlinearity("sign(x)"), hr.Nonlinearity("cos(3*x)").centred()], ids=str
)
@pytest.mark.parametrize("mu_mu", [0, 1.5])
def test_identity_is_the_paper_s_model(f, mu_mu) -> None:
    """W = I: every value of `Attention`, to double precision."""
    overlaps = hr.Overlaps(mu_mu=mu_mu)
    options = {"diagonal": 0.3, "skip": -0.1, "overlaps": overlaps}
    ours, theirs = hr.Attention(f, weights=np.eye(3), **options), hr.Attention(f, **options)
    c, gamma = np.array([[0.1], [0.5], [1.0], [2.0]]), np.array([1e-4, 0.1, 1.0, 100.0])
    found, expected = ours.solve(c, gamma), theirs.solve(c, gamma)
    for name in (*OBSERVABLES, "delta"):
        assert relative(found[name], expected[name]) < 2e-11, name
    np.testing.assert_allclose(found["tau"], expected["tau"], rtol=1e-9, atol=1e-11)
    assert relative(ours.degrees_of_freedom(c, gamma), theirs.degrees_of_freedom(c, gamma)) < 2e-11


def test_identity_plus_rank_one_in_many_dimensions() -> None:
    """W = I + w_K w_Q^T at p dimensions tends to Theorem 1 with the Gram matrix, at the rate 1/p."""
    f, c, gamma = TANH, 0.5, 0.1
    gaps = []
    for p in (50, 100, 200):
        rng = np.random.default_rng(0)
        mu, w_K, w_Q = np.linalg.qr(rng.standard_normal((p, 3)))[0].T * np.array([[1.2], [1.0], [0.9]])
        w_K, w_Q = w_K + 0.6 * mu, w_Q + 0.5 * mu
        limit = hr.Attention(f, overlaps=hr.Overlaps.from_vectors(mu, w_K, w_Q))
        with_vectors = hr.Attention(f, weights=np.eye(p) + np.outer(w_K, w_Q), mu=mu)
        gaps.append([with_vectors.solve(c, gamma)[name] / limit.solve(c, gamma)[name] - 1 for name in OBSERVABLES])
    gaps = np.abs(np.array(gaps))
    assert (gaps[-1] < 0.02).all()
    # halves as p doubles: the size s and the traces feel one direction in p
    np.testing.assert_allclose(gaps[:-1] / gaps[1:], 2, rtol=0.1)


# Laws


def test_scale_rotation_and_transposition() -> None:
    W, mu = gaussian(), np.linspace(-0.5, 0.5, P)
    axes = np.linalg.qr(gaussian(seed=2))[0]
    model = hr.Attention(RELU, weights=W, mu=mu).solve(0.7, 0.2)
    for other, vector in ((-3 * -W, mu), (axes @ W @ axes.T, axes @ mu)):
        turned = hr.Attention(RELU, weights=other, mu=vector).solve(0.7, 0.2)
        for name in OBSERVABLES:
            assert relative(turned[name], model[name]) < 1e-10
    # noise: the weights enter through traces of words in W and W^T that W^T shares
    transposed = hr.Attention(RELU, weights=W.T).trace(0.7, 0.2)
    assert relative(transposed, model["trace"]) < 1e-10
    # with a signal they do not: keys and queries differ
    assert relative(hr.Attention(RELU, weights=W.T, mu=mu).error(0.7, 0.2), model["error"]) > 1e-3


def test_scale_of_f() -> None:
    """(a_k, d, gamma) -> (s a_k, s d, s^2 gamma): E stays, q and m scale."""
    W, s = gaussian(), 3.0
    one = hr.Attention(TANH, weights=W, diagonal=0.2).solve(0.5, 0.1)
    other = hr.Attention(s * TANH, weights=W, diagonal=0.2 * s).solve(0.5, 0.1 * s**2)
    assert relative(other["error"], one["error"]) < 1e-10
    assert relative(other["trace"] * s**2, one["trace"]) < 1e-10


def test_copies_of_the_weights_change_nothing() -> None:
    """W (x) I_k has the spectral law of W."""
    W = gaussian(12)
    one, three = (hr.Attention(TANH, weights=np.kron(W, np.eye(k))) for k in (1, 3))
    for name in OBSERVABLES:
        assert relative(three.solve(0.5, 0.1)[name], one.solve(0.5, 0.1)[name]) < 1e-10


def test_a_function_without_linear_part_sees_only_the_correlation() -> None:
    """a_1 = 0: K is noise, and W enters through tau alone; a signal cannot help."""
    f = hr.Nonlinearity("cos(x)").centred()
    W = gaussian()
    model = hr.Attention(f, weights=W, overlaps=hr.Overlaps(mu_mu=3))
    assert relative(model.quadratic_form(0.5, 0.1), model.trace(0.5, 0.1)) < 1e-12
    rng = np.random.default_rng(5)
    other = rng.standard_normal((P, P))
    antisymmetric, symmetric = (other - other.T), (other + other.T)
    sizes = [np.sum(part**2) for part in (symmetric, antisymmetric)]
    tau = model.symmetry
    weight = math.sqrt((1 - tau) / (1 + tau) * sizes[0] / sizes[1])
    same_tau = hr.Attention(f, weights=symmetric + weight * antisymmetric)
    assert same_tau.symmetry == pytest.approx(tau, abs=1e-12)
    assert relative(same_tau.trace(0.5, 0.1), model.trace(0.5, 0.1)) < 1e-10


def test_low_rank_weights_in_fewer_dimensions() -> None:
    """Weights of rank r are handled in 2 r dimensions; the direct way agrees."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((P, 3)) @ rng.standard_normal((3, P))
    mu = rng.standard_normal(P) / 6
    small, basis = WeightBlocks.of(W)
    assert basis is not None
    assert basis.shape == (P, 6)
    full = WeightBlocks(W, np.ones(P), P)
    g = np.array([[2.0, 0.1, -0.2], [0.1, -1.5, -0.4], [-0.2, -0.4, 0.3]])
    vector = basis.T @ mu
    for a, b in (
        (small.at(g).trace(), full.at(g).trace()),
        (small.at(g).form(vector, mu @ mu - vector @ vector), full.at(g).form(mu)),
    ):
        np.testing.assert_allclose(a.products, b.products, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a.value, b.value, rtol=1e-9, atol=1e-12)


def test_another_signal_on_the_same_noise() -> None:
    for options in ({}, {"covariance": covariance()}):
        model = hr.Attention(TANH, weights=gaussian(), **options)
        mu = np.linspace(-0.3, 0.4, P)
        for other in (mu, 2 * mu, 0 * mu):
            direct = hr.Attention(TANH, weights=gaussian(), mu=other, **options)
            assert model.with_signal(other).error([0.5, 2.0], 0.1).tolist() == direct.error([0.5, 2.0], 0.1).tolist()
    with pytest.raises(ValueError, match=r"mu: got shape \(3,\); allowed: \(40,\)"):
        model.with_signal([0, 0, 1])


def test_blocks_against_the_plain_inverse() -> None:
    """X(g) = (B^-1 + g (x) I)^-1 and its derivative, by inverting 3 p x 3 p matrices."""
    rng = np.random.default_rng(3)
    p = 5
    C, sigma = rng.standard_normal((p, p)), rng.uniform(0.5, 2, p)
    zero = np.zeros((p, p))
    B = np.block([[zero, C.T, zero], [C, zero, zero], [zero, zero, np.diag(sigma)]])
    g = np.array([[2.0, 0.1, -0.2], [0.1, -1.5, -0.4], [-0.2, -0.4, 0.3]])
    inverse = WeightBlocks(C, sigma, p).at(g)
    vector = rng.standard_normal(p)

    def expected(g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = np.linalg.inv(np.linalg.inv(B) + np.kron(g, np.eye(p))).reshape(3, p, 3, p).swapaxes(1, 2)
        return np.einsum("ijkk->ij", X) / p, np.einsum("ijkk,k->ij", X, 1 / sigma) / p, X @ vector @ vector

    dg = rng.standard_normal((3, 3))
    dg += dg.T
    step = 1e-5
    forms = (inverse.trace(), inverse.trace(inverse_covariance=True), inverse.form(vector))
    for form, value, above, below in zip(
        forms, expected(g), expected(g + step * dg), expected(g - step * dg), strict=True
    ):
        np.testing.assert_allclose(form.value, value, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(form.change(dg), (above - below) / (2 * step), rtol=1e-6, atol=1e-7)
    for bad in (-g, np.diag([1.0, 1.0, 0.0]), np.diag([1.0, -1.0, -9.0])):
        with pytest.raises(SingularError):
            WeightBlocks(C, sigma, p).at(bad)


# The series in tau


@pytest.mark.parametrize("tau", [-0.999, -0.6, -0.1, 0.0, 0.3, 0.9, 1.0, -1.0])
def test_dual_against_closed_forms(tau) -> None:
    """E f(u) f(v): (2/pi) asin tau for sign, (2/pi) asin(2 tau/3) for erf, the arc-cosine kernel for relu."""
    angle = math.acos(tau)
    pi = math.pi
    cases = {
        "sign(x)": (2 / pi * math.asin(tau), math.sqrt(2 / pi), 0.0),
        "erf(x)": (2 / pi * math.asin(2 * tau / 3), 2 / math.sqrt(3 * pi), 0.0),
        "max(x, 0)": ((math.sin(angle) + (pi - angle) * tau) / (2 * pi), 0.5, 1 / math.sqrt(2 * pi)),
        "exp(x)": (math.exp(1 + tau), math.exp(0.5), math.exp(0.5)),
    }
    for text, (whole, a1, mean) in cases.items():
        f = hr.Nonlinearity(text)
        value, bound = nonlinear_dual(f, tau)
        assert abs(value - (whole - a1**2 * tau - mean**2)) <= bound + 5e-15 * f.nu()
        assert bound < (1e-4 if abs(tau) == 0.999 else 1e-13)


def test_symmetric_weights_stay_symmetric_under_a_covariance() -> None:
    """Rounding may not make tau = 1 - 1e-16, at which no series is short."""
    W = gaussian()
    for sign in (1, -1):
        model = hr.Attention("sign(x)", weights=W + sign * W.T, covariance=covariance())
        assert model.symmetry == sign
    assert hr.Attention("sign(x)", covariance=covariance()).symmetry == 1


def test_dual_to_digits() -> None:
    value, bound = nonlinear_dual(hr.Nonlinearity("erf(x)"), 0.25, digits=30)
    with mpmath.workdps(50):
        exact = 2 / mpmath.pi * mpmath.asin(mpmath.mpf(1) / 6) - mpmath.mpf(4) / 3 / mpmath.pi / 4
        assert abs(value - exact) < mpmath.mpf(10) ** -31
    assert bound < 1e-30


def test_dual_refuses() -> None:
    with pytest.raises(ValueError, match=r"tau: got 1\.5; allowed: a correlation"):
        nonlinear_dual(TANH, 1.5)


def test_equations_vanish_on_the_solution() -> None:
    """The printed system, with phi_1 and phi_2 computed from W, at the solver's g."""
    W = gaussian(12)
    model = hr.Attention(RELU, weights=W, skip=0.3)
    system = model.equations
    assert "phi_{1}" in system.latex()
    (point,) = model._points(
        {"c": np.array([0.7]), "kappa": model.derived()["kappa"].floats[None], "gamma": np.array([0.2])}
    )
    g, limits = point.g, point.limits
    T = 1 / (1 + g[2, 2])
    h = g[:2, :2] - np.outer(g[:2, 2], g[:2, 2]) * T
    alpha, beta = h[0, 1], -np.linalg.det(h)
    C = RELU.coefficient(1) * W * (12**0.5 / np.linalg.norm(W))
    S = np.linalg.inv(np.eye(12) + alpha * (C + C.T) + beta * C.T @ C)
    functions = {"phi_1": np.trace(C @ S) / 12, "phi_2": np.trace(C.T @ C @ S) / 12}
    values = dict(zip(system.unknowns, [*g[np.triu_indices(3)], alpha, beta], strict=True))
    values |= dict(zip(system.parameters, [0.7, 0.2, limits.kappa, limits.eta, limits.eps], strict=True))
    applied = {
        f: functions[f.func.__name__] for r in system.residuals for f in r.atoms(sympy.core.function.AppliedUndef)
    }
    assert len(applied) == 2
    assert max(abs(float(r.subs(applied).subs(values))) for r in system.residuals) < 1e-12
    with pytest.raises(ValueError, match="equations: got a covariance"):
        _ = hr.Attention(RELU, covariance=covariance()).equations


# Digits


def test_identity_to_thirty_digits() -> None:
    options = {"overlaps": hr.Overlaps(mu_mu="3/2"), "diagonal": "0.2", "skip": "-1/7"}
    for c, gamma in (("1/2", "0.1"), (2, "0.001")):
        found = hr.Attention(TANH, weights=np.eye(2), **options).solve(c, gamma, digits=30)
        expected = hr.Attention(TANH, **options).solve(c, gamma, digits=30)
        for name in (*OBSERVABLES, "delta", "tau"):
            assert str(found[name]) == str(expected[name])


@pytest.mark.parametrize("c", [0.5, 2.0])
@pytest.mark.parametrize(
    "options", [{}, {"mu": np.linspace(-0.3, 0.4, 20)}, {"overlaps": hr.Overlaps(mu_mu=2)}], ids=str
)
def test_double_against_digits(c, options) -> None:
    """Another program for the same equations: other linear algebra, dual numbers, forty digits."""
    model = hr.Attention(RELU, weights=gaussian(20), skip=0.25, **options)
    double, digits = model.solve(c, 0.01), model.solve(c, 0.01, digits=40)
    assert digits.digits == 40
    for name in (*OBSERVABLES, "delta", "tau"):
        assert abs(double[name] / float(digits[name]) - 1) < 1e-12
        assert str(model.solve(c, 0.01, digits=20)[name]) == mpmath.nstr(digits[name], 20, strip_zeros=False)


def test_digits_refused() -> None:
    with pytest.raises(ValueError, match="digits: got 20 with a covariance; allowed with one: None"):
        hr.Attention(TANH, covariance=np.diag([1.0, 2.0])).error(0.5, 0.1, digits=20)

    def odd(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < 5, x, 0) + 0 * np.frexp(x)[0]

    with pytest.raises(ValueError, match="digits"):
        hr.Attention(odd, weights=gaussian(4)).error(0.5, 0.1, digits=20)


# Numbers and simulation


@pytest.mark.parametrize(
    ("f", "make", "m", "slack"),
    [
        (TANH, lambda G: G, 6.7086, 0.007),
        (RELU, lambda G: G + G.T, 6.569, 0.012),
        (TANH, lambda G: G @ G.T, 7.160, 0.004),
    ],
    ids=["gaussian", "symmetric", "wishart"],
)
def test_published_numbers(f, make, m, slack) -> None:
    """mu = 0, c = .5, gamma = .1, p = 300: draws differ by less than the published simulation errs."""
    found = [hr.Attention(f, weights=make(gaussian(300, seed))).trace(0.5, 0.1) for seed in range(2)]
    assert np.abs(np.array(found) - m).max() < slack


CASES = {
    "gaussian": {"weights": gaussian(200)},
    "gaussian, signal": {"weights": gaussian(200), "mu": np.full(200, 200**-0.5)},
    "covariance": {"covariance": covariance(200)},
    "all": {
        "weights": np.eye(200) + gaussian(200) / 30,
        "covariance": covariance(200),
        "mu": np.full(200, 200**-0.5),
        "skip": 0.3,
        "diagonal": -0.2,
    },
    "random direction": {
        "weights": np.diag(np.r_[np.ones(100), -0.5 * np.ones(100)]),
        "covariance": covariance(200),
        "overlaps": hr.Overlaps(mu_mu=2),
    },
}


@pytest.mark.parametrize("case", CASES)
def test_simulation(case) -> None:
    """z-scores of three observables at two ridges, after the O(1/p) gap of p = 200."""
    model = hr.Attention(TANH, **CASES[case])
    gammas = [0.3, 1.0]
    limit = model.solve(0.5, gammas)
    for k, estimate in enumerate(model.simulate(400, 200, gammas, trials=12, rng=3)):
        for name in OBSERVABLES:
            low, high = getattr(estimate, name).interval(1 - 1e-3 / 6)
            gap = 1.0 / 200 * limit[name][k]
            assert low - gap < limit[name][k] < high + gap, name


# The door


def test_what_is_refused() -> None:
    W, mu = gaussian(), np.ones(P)
    for options, error, message in (
        ({"a1": 0.5, "nu": 0.5}, TypeError, "f: got none"),
        ({"f": "tanh(x)", "a1": 0.5}, TypeError, "a nonlinearity f alone"),
        ({"f": "x^2"}, ValueError, "f: got .* allowed: a centred nonlinearity"),
        ({"f": "tanh(x)", "weights": W[0]}, ValueError, r"weights: got shape \(40,\); allowed: \(40, 40\)"),
        ({"f": "tanh(x)", "weights": W * 0}, ValueError, "weights: got the zero matrix"),
        ({"f": "tanh(x)", "weights": W * np.nan}, ValueError, "weights: got nan"),
        ({"f": "tanh(x)", "weights": 3.0}, ValueError, "weights: got 3.0; allowed: a p x p matrix"),
        ({"f": "tanh(x)", "covariance": W}, ValueError, "covariance: got a matrix that is not symmetric"),
        ({"f": "tanh(x)", "covariance": -np.eye(P)}, ValueError, "covariance: got eigenvalues from -1 to -1"),
        ({"f": "tanh(x)", "covariance": np.eye(3)}, ValueError, r"covariance: got shape \(3, 3\)"),
        ({"f": "tanh(x)", "mu": mu[1:]}, ValueError, r"mu: got shape \(39,\); allowed: \(40,\)"),
        ({"f": "tanh(x)", "mu": mu, "overlaps": hr.Overlaps()}, ValueError, "mu, overlaps: got both"),
        ({"f": "tanh(x)", "overlaps": hr.Overlaps(K_K=1)}, ValueError, "overlaps: got w_K or w_Q beside weights"),
    ):
        with pytest.raises(error, match=message):
            hr.Attention(**({"weights": W} | options))
    skew = np.triu(np.ones((P, P)), 1) * 2e-3
    with pytest.raises(ValueError, match=r"weights: got tr W\^2/tr W W\^T = 0\.99.* is known to .* only"):
        hr.Attention("sign(x)", weights=np.eye(P) + skew - skew.T)
    model = hr.Attention("tanh(x)", weights=W, mu=mu)
    with pytest.raises(ValueError, match="p: got 30; allowed: 40"):
        model.simulate(60, 30, 0.1)
    with pytest.raises(ValueError, match="mu: got another vector"):
        model.simulate(60, P, 0.1, mu=-mu)
    with pytest.raises(ValueError, match=r"mu: got mu \. mu = 40"):
        hr.Attention("tanh(x)", weights=W, overlaps=hr.Overlaps(mu_mu=1)).simulate(60, P, 0.1, mu=mu)
    with pytest.raises(NotImplementedError, match="weighted_attention has no certified=True"):
        model.error(0.5, 0.1, certified=True)


def test_description_and_pickle() -> None:
    W = gaussian()
    model = hr.Attention("tanh(x)", weights=W, skip=0.5)
    assert repr(model) == "Attention(Nonlinearity('tanh(x)'), weights=<array of shape (40, 40)>, skip=0.5)"
    described = model.describe()
    assert described["model"] == "weighted_attention"
    assert described["weights"].startswith("(40, 40) sha256 ")
    assert described != hr.Attention("tanh(x)", weights=W + 1e-9, skip=0.5).describe()
    assert pickle.loads(pickle.dumps(model)).error(0.5, 0.1) == model.error(0.5, 0.1)
    assert pickle.loads(pickle.dumps(hr.Attention("tanh(x)"))).error(0.5, 0.1) == hr.Attention("tanh(x)").error(
        0.5, 0.1
    )


@pytest.mark.parametrize("f", [TANH, hr.Nonlinearity("x")], ids=str)
def test_outcomes_are_honest_at_extreme_ridges(f) -> None:
    """Where double precision holds fewer digits it says so: a point that counts as converged has eight."""
    options = {"skip": -2, "overlaps": hr.Overlaps(mu_mu=2)}
    c, gamma = np.array([[0.02], [0.5], [2.0], [50.0]]), np.array([1e3, 1e-2, 1e-5, 1e-9])
    found = hr.Attention(f, weights=np.eye(1), **options).solve(c, gamma, raises=False)
    expected = hr.Attention(f, **options).solve(c, gamma, raises=False)
    assert found.success[:, :2].all()
    for index in np.ndindex(found.outcome.shape):
        if found.success[index] and expected.success[index]:
            off = max(abs(found[name][index] / expected[name][index] - 1) for name in OBSERVABLES)
            assert off < (1e-8 if found.outcome[index] is hr.Outcome.CONVERGED else 1e-2)
        elif not found.success[index]:
            assert math.isnan(found["error"][index])


def test_grids_and_failures() -> None:
    model = hr.Attention("tanh(x)", weights=gaussian(), diagonal=np.array([[0.0], [0.5]]))
    grid = model.error([0.5, 1.0, 2.0], 0.1)
    assert grid.shape == (2, 3)
    single = hr.Attention("tanh(x)", weights=gaussian(), diagonal=0.5)
    assert relative(grid[1, 2], single.error(2.0, 0.1)) < 1e-11
    solution = single.solve([0.5, 1.0], [0.1, 1e-100], raises=False)
    assert solution.success.tolist() == [True, False]
    assert math.isnan(solution["error"][1])
    with pytest.raises(hr.SolveError, match="not converged"):
        single.error(1.0, 1e-100)
