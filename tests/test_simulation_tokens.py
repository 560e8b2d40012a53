"""Labels, noise, vectors with given overlaps, seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermite_rmt.simulation.directions import draw_vectors, factor_gram
from hermite_rmt.simulation.noise import BLOCK, NOISES, draw_noise
from hermite_rmt.simulation.seeds import child_seed, root_seed, trial_seeds
from hermite_rmt.simulation.tokens import TokenModel, balanced_labels, gram_matrix, token_model

NONE = (None, None, None)


def model(n: int = 6, p: int = 5, **changes: object) -> TokenModel:
    arguments = {"overlaps": [0] * 6, "vectors": NONE, "labels": None, "noise": "gaussian"} | changes
    return token_model(n, p, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 101])
def test_labels_are_balanced(n: int) -> None:
    draws = [balanced_labels(n, np.random.default_rng(seed)) for seed in range(40)]
    assert all(set(y) <= {-1.0, 1.0} for y in draws)
    sums = {float(y.sum()) for y in draws}
    assert sums == ({0.0} if n % 2 == 0 else {-1.0, 1.0})  # 40 draws miss a sign with probability 2^-39


def test_labels_are_in_random_order() -> None:
    n, draws = 10, 4000
    y = np.array([balanced_labels(n, np.random.default_rng(seed)) for seed in range(draws)])
    correlation = y.T @ y / draws
    expected = np.full((n, n), -1 / (n - 1))
    np.fill_diagonal(expected, 1)
    assert np.abs(correlation - expected).max() < 5 / math.sqrt(draws)  # five standard errors, 45 entries


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_standardised(name: str) -> None:
    drawn = draw_noise(name, np.random.SeedSequence(1), (500, 800))
    assert drawn.shape == (500, 800)
    assert drawn.dtype == np.float64
    # standard errors: 1/sqrt(N) for the mean, sqrt(m - 1)/sqrt(N) for the second moment, m = E x^4 at most 9
    assert abs(drawn.mean()) < 5 / math.sqrt(drawn.size)
    assert abs(np.mean(drawn**2) - 1) < 5 * math.sqrt(8 / drawn.size)


def test_blocks_of_noise_are_independent_streams() -> None:
    seed, n = np.random.SeedSequence(0), 1000
    rows = BLOCK // n
    drawn = draw_noise("gaussian", seed, (2 * rows + 5, n))
    for index, block in enumerate((drawn[:rows], drawn[rows : 2 * rows], drawn[2 * rows :])):
        expected = np.random.default_rng(child_seed(seed, index)).standard_normal(block.shape)
        np.testing.assert_array_equal(block, expected)
    assert draw_noise("uniform", seed, (3, 2 * BLOCK)).shape == (3, 2 * BLOCK)  # a row may be more than a block


def test_noise_laws_have_their_fourth_moments() -> None:
    expected = {"gaussian": 3, "rademacher": 1, "laplace": 6, "uniform": 1.8, "exponential": 9}
    for name, moment in expected.items():
        fourth = draw_noise(name, np.random.SeedSequence(2), (1000, 1000)) ** 4
        assert abs(fourth.mean() - moment) <= 5 * fourth.std() / 1000, name


@st.composite
def gram_matrices(draw: st.DrawFn) -> np.ndarray:
    rank = draw(st.integers(0, 3))
    entry = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 3.0])
    factor = np.array(draw(st.lists(entry, min_size=3 * rank, max_size=3 * rank))).reshape(3, rank)
    return factor @ factor.T


@given(gram=gram_matrices(), p=st.integers(3, 20), seed=st.integers(0, 1000))
def test_drawn_vectors_have_the_overlaps(gram: np.ndarray, p: int, seed: int) -> None:
    vectors = np.array(draw_vectors(gram, NONE, p, np.random.default_rng(seed)))
    np.testing.assert_allclose(vectors @ vectors.T, gram, atol=1e-12 * max(1, gram.max()))


@given(gram=gram_matrices(), known=st.sets(st.integers(0, 2)), seed=st.integers(0, 1000))
def test_vectors_beside_given_ones_have_the_overlaps(gram: np.ndarray, known: set[int], seed: int) -> None:
    first = draw_vectors(gram, NONE, 7, np.random.default_rng(seed))
    given_ones = [vector if index in known else None for index, vector in enumerate(first)]
    second = draw_vectors(gram, given_ones, 7, np.random.default_rng(seed + 1))
    for index in known:
        assert second[index] is first[index]
    stacked = np.array(second)
    np.testing.assert_allclose(stacked @ stacked.T, gram, atol=1e-6 * max(1, gram.max()))


@given(gram=gram_matrices())
def test_factor_reproduces_the_gram_matrix_at_its_rank(gram: np.ndarray) -> None:
    factor = factor_gram(gram)
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-12 * max(1, gram.max()))
    assert factor.shape[1] == np.linalg.matrix_rank(gram, tol=1e-6, hermitian=True)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_and_opposite_weights_are_exactly_so(sign: float) -> None:
    gram = gram_matrix([1.3, 0.7, sign * 0.7, 2.1, 2.1, sign * 2.1])
    for seed in range(20):
        _, w_K, w_Q = draw_vectors(gram, NONE, 50, np.random.default_rng(seed))
        np.testing.assert_array_equal(w_K, sign * w_Q)


def test_drawn_vectors_are_uniform() -> None:
    p, draws = 4, 3000
    gram = gram_matrix([1, 0.5, 0, 1, 0, 0])
    mu = np.array([draw_vectors(gram, NONE, p, np.random.default_rng(seed))[0] for seed in range(draws)])
    # on the sphere E mu_i mu_j = delta_ij/p and each entry's variance is below 1
    assert np.abs(mu.mean(axis=0)).max() < 5 / math.sqrt(draws)
    assert np.abs(mu.T @ mu / draws - np.eye(p) / p).max() < 5 / math.sqrt(draws)


def test_tokens_are_signal_plus_noise() -> None:
    seed = np.random.SeedSequence(4)
    plain = model().draw(seed)
    tokens = model(overlaps=[1.5, 0.5, 0, 1, 1, 0]).draw(seed)
    np.testing.assert_allclose(tokens.X, np.outer(tokens.mu, tokens.y) + plain.X, atol=1e-14)
    np.testing.assert_array_equal(tokens.y, plain.y)
    assert tokens.X.shape == (5, 6)
    assert tokens.mu @ tokens.mu == pytest.approx(1.5, rel=1e-14)


def test_given_parts_leave_the_other_draws_as_they_were() -> None:
    seed = np.random.SeedSequence(4)
    plain = model(overlaps=[1, 0.5, 0, 1, 1, 0]).draw(seed)
    labels = np.array([1, 1, 1, 1, 1, -1])
    changed = model(overlaps=[1, 0.5, 0, 1, 1, 0], labels=labels).draw(seed)
    np.testing.assert_array_equal(changed.y, labels)
    np.testing.assert_array_equal(changed.mu, plain.mu)
    np.testing.assert_allclose(
        changed.X - np.outer(changed.mu, changed.y), plain.X - np.outer(plain.mu, plain.y), atol=1e-14
    )


def test_given_vectors_define_the_overlaps_where_none_are_stated() -> None:
    mu = np.arange(5.0)
    tokens = model(overlaps=None, vectors=(mu, None, None)).draw(np.random.SeedSequence(0))
    np.testing.assert_array_equal(tokens.mu, mu)
    assert not tokens.w_K.any()
    assert not tokens.w_Q.any()


def test_callable_noise() -> None:
    tokens = model(noise=lambda rng, shape: np.ones(shape)).draw(np.random.SeedSequence(0))
    np.testing.assert_array_equal(tokens.X, np.ones((5, 6)))


def test_callable_noise_keeps_its_own_array() -> None:
    own = np.ones((5, 6))
    model(noise=lambda rng, shape: own, overlaps=[1, 0, 0, 0, 0, 0]).draw(np.random.SeedSequence(0))
    np.testing.assert_array_equal(own, np.ones((5, 6)))


def test_seeds_are_values_and_generators_have_a_state() -> None:
    def states(rng: object, trials: int = 3) -> list[tuple[int, ...]]:
        return [tuple(seed.generate_state(4)) for seed in trial_seeds(rng, trials)]  # type: ignore[arg-type]

    sequence = np.random.SeedSequence(11)
    assert states(11) == states(sequence) == states(sequence)
    assert states(11, 5)[:3] == states(11)
    assert len(set(states(11))) == 3
    assert states(np.random.default_rng(11)) == states(np.random.default_rng(11))
    generator = np.random.default_rng(11)
    assert states(generator) != states(generator)
    assert states(None) != states(None)
    assert states(np.int64(11)) == states(11)


def test_children_are_those_of_spawn() -> None:
    parent = np.random.SeedSequence([1, 2], spawn_key=(5,))
    spawned = np.random.SeedSequence([1, 2], spawn_key=(5,)).spawn(3)[2]
    assert tuple(child_seed(parent, 2).generate_state(8)) == tuple(spawned.generate_state(8))
    assert parent.n_children_spawned == 0


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n": 0}, ValueError, "n: got 0"),
        ({"n": 2.5}, TypeError, "n: got 2.5"),
        ({"n": True}, TypeError, "n: got True"),
        ({"p": -1}, ValueError, "p: got -1"),
        ({"noise": "cauchy"}, ValueError, "noise: got 'cauchy'; allowed: gaussian"),
        ({"noise": 3}, TypeError, "noise: got 3"),
        ({"labels": np.ones(5)}, ValueError, r"labels: got shape \(5,\); allowed: \(6,\)"),
        ({"labels": np.zeros(6)}, ValueError, "labels: got a vector of squared norm 0"),
        ({"labels": [1, -1, 1, np.nan, 1, 1]}, ValueError, "labels: got nan"),
        ({"labels": ["a"] * 6}, TypeError, "labels: got an array of dtype"),
        ({"labels": [1j] * 6}, TypeError, "labels: got an array of dtype complex"),
        ({"overlaps": [1, 2, 3]}, ValueError, "overlaps: got 3 numbers; allowed: six"),
        ({"overlaps": [1, 2, 0, 1, 0, 0]}, ValueError, "overlaps: got the Gram matrix"),
        ({"overlaps": [1, 0, np.nan, 1, 0, 0]}, ValueError, "mu_Q: got nan"),
        ({"overlaps": [1, 0, "x", 1, 0, 0]}, TypeError, "mu_Q: got 'x'"),
        ({"p": 2, "overlaps": [1, 0, 0, 1, 1, 0]}, ValueError, "p: got 2; allowed: at least 3, the rank"),
        ({"vectors": (np.ones(4), None, None)}, ValueError, r"mu: got shape \(4,\); allowed: \(5,\)"),
        ({"vectors": (np.ones(5), None, None)}, ValueError, r"mu: got mu \. mu = 5; allowed: 0"),
        ({"vectors": (None, None, np.ones(5))}, ValueError, r"w_Q: got w_Q \. w_Q = 5; allowed: 0"),
    ],
)
def test_bad_arguments(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_overlaps", "given_mu"),
    [
        ([0, 0.5, 0, 1, 0, 0], np.zeros(5)),  # mu = 0 has no overlap with w_K
        ([1, 1, 0, 0.9, 0, 0], np.eye(5)[0]),  # |mu.w_K| exceeds the norms
    ],
)
def test_no_vectors_fit(given_overlaps: list[float], given_mu: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"overlaps: got .*allowed"):
        draw_vectors(np.array(gram_like(given_overlaps)), (given_mu, None, None), 5, np.random.default_rng(0))


def gram_like(values: list[float]) -> list[list[float]]:
    mm, mk, mq, kk, qq, kq = values
    return [[mm, mk, mq], [mk, kk, kq], [mq, kq, qq]]


@pytest.mark.parametrize(
    ("rng", "error"),
    [(-1, ValueError), (1.5, TypeError), ("0", TypeError), (True, TypeError), (np.random, TypeError)],
)
def test_bad_seeds(rng: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="rng: got"):
        root_seed(rng)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [np.ones((3, 3)), np.full((5, 6), np.inf)])
def test_bad_callable_noise(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="noise: got"):
        model(noise=lambda rng, shape: bad).draw(np.random.SeedSequence(0))
