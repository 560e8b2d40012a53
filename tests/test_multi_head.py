"""MultiHeadAttention: laws that tie it to single heads, the reference values, and simulation."""

import pickle

import numpy as np
import pytest
import sympy

import hermite_rmt as hr
from hermite_rmt.theory.multi_head import equivalent

RELU = hr.Nonlinearity("relu(x)").centred()
OVERLAPS = hr.Overlaps(1, "1/2", "3/10", "1/2", "1/2", "1/5")


@pytest.mark.parametrize(("c", "gamma", "m"), [(0.5, 0.1, 5.168236), (0.5, 1, 0.765340), (2, 0.1, 3.061239)])
def test_two_heads_on_noise(c, gamma, m):
    assert abs(hr.MultiHeadAttention(["tanh(x)", RELU]).trace(c, gamma) - m) < 6e-7


def test_one_head_is_attention():
    settings = {"overlaps": OVERLAPS, "diagonal": "3/10", "skip": "-1/5"}
    heads, single = hr.MultiHeadAttention(["tanh(x)"], **settings), hr.Attention("tanh(x)", **settings)
    for name in ("trace", "quadratic_form", "error"):
        ours, theirs = (getattr(model, name)("1/2", "1/10", digits=30) for model in (heads, single))
        assert str(ours) == str(theirs)
    found = heads.error([0.5, 2], [[0.1], [1]])
    np.testing.assert_allclose(found, single.error([0.5, 2], [[0.1], [1]]), rtol=1e-12)
    freedom = [model.degrees_of_freedom("1/2", "1e10", digits=20) for model in (heads, single)]
    assert str(freedom[0]) == str(freedom[1])
    assert heads.degrees_of_freedom(0.5, 1e10) == pytest.approx(float(freedom[0]), rel=1e-14)


def test_equal_heads_are_one_at_a_smaller_ridge():
    # A^T A doubles: the covariance of the heads is singular, and gamma/2 takes the place of gamma
    two, one = hr.MultiHeadAttention(["sign(x)", "sign(x)"], OVERLAPS), hr.Attention("sign(x)", overlaps=OVERLAPS)
    assert str(two.error(2, "1/5", digits=25)) == str(one.error(2, "1/10", digits=25))
    assert two.trace(2, 0.2) == pytest.approx(one.trace(2, 0.1) / 2, rel=1e-13)


def test_a_head_of_f_and_one_of_minus_f_are_two_of_f():
    # without skip and diagonal the sign of a head does not show
    opposite = hr.MultiHeadAttention(["tanh(x)", "-tanh(x)"], OVERLAPS)
    assert opposite.error(1, 1) == pytest.approx(
        hr.MultiHeadAttention(["tanh(x)"] * 2, OVERLAPS).error(1, 1), rel=1e-12
    )


def test_no_parameter_that_may_vanish_is_divided_by():
    # x^2 - 1 has a_1 = 0: the pencil of both orders holds
    for letter_entries in equivalent(2).plain_pencil.letters.values():
        for scalar in letter_entries.values():
            assert not {symbol.name for symbol in sympy.denom(sympy.together(scalar)).free_symbols} - {"c"}


def test_the_order_of_heads_does_not_matter():
    functions = ["tanh(x)", "x^2 - 1"]
    errors = [hr.MultiHeadAttention(heads, OVERLAPS).error(1, 0.5) for heads in (functions, functions[::-1])]
    assert errors[0] == pytest.approx(errors[1], rel=1e-12)


@pytest.mark.parametrize("overlaps", [None, OVERLAPS])
def test_simulation_agrees(overlaps):
    model = hr.MultiHeadAttention(["tanh(x)", RELU], overlaps)
    estimate = model.simulate(n=240, p=120, gamma=0.1, trials=16, rng=3)
    solution = model.solve(0.5, 0.1)
    for name in ("error", "trace"):
        found = getattr(estimate, name)
        # five standard errors, and a finite-size gap of a few over n relative to the value
        assert abs(found.mean - solution[name]) < 5 * found.standard_error + 4 / 240 * solution[name]


def test_it_sweeps_and_pickles():
    model = hr.MultiHeadAttention(["tanh(x)", "x"])
    data = hr.sweep(model, c=[0.5, 1], gamma=1, simulate={"n": 40, "trials": 2, "rng": 0})
    assert data.error_simulated.shape == (2, 1)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.describe() == model.describe()
    assert copy.error(1, 1) == model.error(1, 1)
    assert eval(
        repr(model), {"MultiHeadAttention": hr.MultiHeadAttention, "Nonlinearity": hr.Nonlinearity}
    ).describe()


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        ([], ValueError, "functions: got none"),
        ("tanh(x)", TypeError, "functions: got 'tanh"),
        (["relu(x)"], ValueError, "functions: got .* mean E f"),
    ],
)
def test_bad_heads_are_refused(functions, error, message):
    with pytest.raises(error, match=message):
        hr.MultiHeadAttention(functions)


def test_digits_of_a_double_callable_are_refused():
    model = hr.MultiHeadAttention(["x", lambda t: float(np.tanh(t))])
    assert 0 < model.error(1, 1) < 1
    with pytest.raises(ValueError, match="double"):
        model.error(1, 1, digits=30)


def test_ridges_beyond_doubles_are_followed():
    """One head is `Attention`, whose solver is another one."""
    f, ridge = "x**3 - 2*x", "1e-400"
    exact = hr.Attention(f).error(1, ridge, digits=20)
    assert abs(hr.MultiHeadAttention([f]).error(1, ridge, digits=10) / exact - 1) < 1e-10
