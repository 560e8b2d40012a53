"""The language of matrix expressions: symbols keep what they know, and bad input gets an answer that helps."""

import pickle

import pytest
import sympy
from engine_models import IDENTITY, RATIOS, W, X, Z, c, gamma, mu, n, p, w_K, y, z

from hermite_rmt.equivalents.ensembles import (
    GOE,
    GUE,
    Elliptic,
    Gaussian,
    Ginibre,
    Vector,
    dimensions,
    joint_family,
    overlap,
)
from hermite_rmt.equivalents.entrywise import entrywise, off_diagonal
from hermite_rmt.equivalents.errors import ExpressionError
from hermite_rmt.equivalents.spectral import commuting, deterministic
from hermite_rmt.theory.equivalent import deterministic_equivalent

SYMBOLS = [
    Gaussian("Z", p, n, 2),
    GOE("W", n),
    GOE("W", n, sympy.Symbol("t")),
    GUE("U", n),
    Ginibre("Y", n),
    Elliptic("H", n, 2, correlation=sympy.Rational(1, 3)),
    Vector("y", n, "sqrt"),
    *joint_family(GOE, "A B", n, covariance=[[1, sympy.Rational(1, 3)], [sympy.Rational(1, 3), 2]]),
    deterministic("T", p, {1: sympy.Rational(1, 3), 4: sympy.Rational(2, 3)}),
]


@pytest.mark.parametrize("symbol", SYMBOLS, ids=lambda s: f"{type(s).__name__}-{s.name}")
def test_what_a_symbol_knows_sits_in_its_args(symbol):
    assert symbol.func(*symbol.args) == symbol
    assert symbol.func(*symbol.args).shape == symbol.shape
    assert pickle.loads(pickle.dumps(symbol)) == symbol
    assert symbol.subs(sympy.Symbol("nothing"), 1) == symbol


def test_symbols_that_know_different_things_are_different():
    assert Gaussian("Z", p, n, 1) != Gaussian("Z", p, n, 2)
    assert GOE("W", n) != GUE("W", n)
    assert Vector("y", n) != Vector("y", n, "sqrt")


def test_transposes():
    assert GOE("W", n) == GOE("W", n).T
    assert GUE("U", n) != GUE("U", n).T
    assert Z.T.T == Z
    assert sympy.Transpose(deterministic("T", p, {1: 1})).doit() == deterministic("T", p, {1: 1})


def test_overlaps_are_symmetric_symbols():
    assert overlap(mu, Vector("w", p)) == overlap(Vector("w", p), mu)


def equivalent(expression, ratios=RATIOS):
    return lambda: deterministic_equivalent(expression, ratios)


scores = Z.T * Z / sympy.sqrt(p)
A = sympy.MatrixSymbol("A", n, n)
x, b = sympy.symbols("x b")
MISTAKES = {
    "size in a product": (equivalent((Z * Z + gamma * IDENTITY).inv()), r"Z is p x n|the base is p x n, not square"),
    "size in a sum": (equivalent((Z * Z.T / n + gamma * IDENTITY).inv()), r"sizes differ.*is p x p|is n x n"),
    "size in a long product": (equivalent((Z.T * W * Z / n).inv()), r"sizes do not fit.*Z\.T is n x p, W is n x n"),
    "order": (equivalent((Z.T * Z + gamma * IDENTITY).inv()), r"orders differ.*n\^\(1\)"),
    "order of the whole": (equivalent(Z.T * Z), r"order n\^\(1\); allowed: order 1"),
    "order hidden in a scalar": (equivalent(((1 + 1 / n) * Z.T * Z / p).inv()), "a sum of different orders"),
    "undeclared": (equivalent((A + gamma * IDENTITY).inv()), "the matrix A is undeclared"),
    "no ratio": (equivalent((Z.T * Z / n + gamma * IDENTITY).inv(), None), "the ratio of p"),
    "circular ratios": (equivalent(W + IDENTITY, {n: p, p: n}), "missing or circular"),
    "ratio not a multiple": (equivalent((Z.T * Z / n).inv(), {p: n + 1}), "allowed: a scalar times n"),
    "negative ratio": (
        equivalent((Z.T * Z / n).inv(), {p: -n}),
        r"ratios: got p: -n; allowed: a positive number times n",
    ),
    "ratio 0": (equivalent((Z.T * Z / n).inv(), {p: 0 * n}), "ratios: got p: 0; allowed: a positive number"),
    "scalar plus matrix": (lambda: W + gamma, r"write gamma\*Identity\(n\)"),
    "scalar minus matrix": (lambda: gamma - W, r"Identity\(n\)"),
    "lonely vector": (equivalent(W * y), "the vector y: allowed inside an expression only as a rank-one part"),
    "symbolic power": (equivalent(W ** sympy.Symbol("k", integer=True)), "whole powers"),
    "not a matrix": (equivalent(gamma), "a SymPy matrix expression"),
    "entrywise with its diagonal": (equivalent(scores.applyfunc(sympy.tanh) / sympy.sqrt(p)), r"write off_diagonal"),
    "off_diagonal of a sum": (lambda: off_diagonal(W + IDENTITY), "off_diagonal: got"),
    "f not centred": (equivalent(off_diagonal(entrywise("max(x, 0)", scores)) / sympy.sqrt(p)), "is not centred"),
    "f with a parameter not centred": (
        equivalent(off_diagonal(scores.applyfunc(sympy.Lambda(x, x + b))) / sympy.sqrt(p)),
        r"not centred: E f\(xi\) = b",
    ),
    "scores of the wrong size": (
        equivalent(off_diagonal(entrywise("tanh(x)", Z.T * Z / p)) / sympy.sqrt(p)),
        "their entries have variance of order",
    ),
    "scores with a factor": (
        equivalent(off_diagonal(entrywise("tanh(x)", 2 * scores)) / sympy.sqrt(p)),
        "their entries have variance 4",
    ),
    "scores of another kind": (equivalent(off_diagonal(entrywise("tanh(x)", W)) / sympy.sqrt(p)), "the scores"),
    "two commuting families": (
        lambda: deterministic_equivalent(deterministic("S", n, {1: 1}) * deterministic("T", n, {2: 1})).trace({}),
        "one commuting family",
    ),
    "weights": (lambda: deterministic("T", n, {1: sympy.Rational(1, 2), 2: 1}), "positive weights of sum 1"),
    "law rows": (lambda: commuting("S T", n, [(1, 2)]), "2 eigenvalues"),
    "covariance shape": (lambda: joint_family(GOE, "A B", n, covariance=[[1]]), "symmetric 2 x 2"),
    "norm": (lambda: Vector("v", n, "big"), "'bounded' or 'sqrt'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_where_it_is(name):
    run, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        run()


def test_arguments_of_the_wrong_kind_are_named():
    resolvent = equivalent((Z.T * Z / n + gamma * IDENTITY).inv())()
    with pytest.raises(TypeError, match="ratios: got 5; allowed: a mapping"):
        equivalent(W, 5)()
    for form in (5, (y,), "yy and y"):
        with pytest.raises(TypeError, match=r"form: got .*; allowed: a pair"):
            resolvent.certify({c: 1, gamma: 1}, form=form)
    with pytest.raises(ArithmeticError, match="moments: got an expression with an inverse"):
        resolvent.moments(2, {c: 1, gamma: 1})


def test_expression_errors_are_value_errors():
    assert issubclass(ExpressionError, ValueError)


def test_text_is_never_taken_for_a_scalar_or_run():
    code = "__import__('pathlib').Path('never').touch()"
    runs = [
        lambda: Gaussian("Z", p, n, variance=code),
        lambda: Gaussian("Z", code, n),
        lambda: GOE("W", code),
        lambda: Vector("v", code),
        lambda: joint_family(GOE, "A B", n, covariance=[[1, code], [code, 1]]),
        lambda: deterministic("T", n, {code: 1}),
        lambda: deterministic_equivalent(Z.T * Z / p, {p: code}),
        lambda: deterministic_equivalent(Z.T * Z / p, {code: c * n}),
        lambda: deterministic_equivalent(W + IDENTITY).equations.substitute({z: code}),
    ]
    for run in runs:
        with pytest.raises(TypeError, match="text"):
            run()
    with pytest.raises(ValueError, match="gamma: got"):
        deterministic_equivalent((W + gamma * IDENTITY).inv()).trace({gamma: code})


def test_values_are_checked():
    resolvent = deterministic_equivalent((Z.T * Z / p + gamma * IDENTITY).inv(), RATIOS)
    with pytest.raises(ValueError, match="no value for gamma"):
        resolvent.trace({c: 1})
    with pytest.raises(ValueError, match="got beta; allowed: c, gamma"):
        resolvent.trace({c: 1, gamma: 1, "beta": 2})
    with pytest.raises(ValueError, match="do not broadcast"):
        resolvent.trace({c: [1, 2], gamma: [1, 2, 3]})
    with pytest.raises(ValueError, match="gamma: got 'x'"):
        resolvent.trace({c: 1, gamma: "x"})
    with pytest.raises(ValueError, match="derivative: got beta"):
        resolvent.trace({c: 1, gamma: 1}, derivative="beta")
    with pytest.raises(ValueError, match="digits"):
        resolvent.trace({c: 1, gamma: 1}, digits=0)


def test_values_outside_their_domain_are_refused():
    t = sympy.Symbol("t")
    A, B = joint_family(GOE, "A B", n, covariance=[[1, t], [t, 1]])
    (S,) = commuting("S", p, [(t, 1), (1 - t, 3)])
    cases = [
        (Z.T * Z / p + gamma * IDENTITY, {c: -1, gamma: 1}, "the ratio of p: got -1"),
        (Z.T * Z / p + gamma * IDENTITY, {c: 0, gamma: 1}, "the ratio of p: got 0"),
        (Z.T * Z / p + gamma * IDENTITY, {c: 1j, gamma: 1}, "allowed: a positive number"),
        (GOE("W", n, t) - z * IDENTITY, {z: -3, t: -1}, "the variance of W: got -1"),
        (A * B + B * A - z * IDENTITY, {z: -9, t: 2}, "the eigenvalue -1; allowed: positive semidefinite"),
        (Elliptic("H", n, correlation=t) - z * IDENTITY, {z: -9, t: 2}, "the correlation of H: got 2"),
        (Z.T * S * Z / p + IDENTITY, {c: 1, t: 1.5}, "allowed: positive weights"),
    ]
    for expression, values, message in cases:
        with pytest.raises(ValueError, match=message):
            deterministic_equivalent(expression.inv(), RATIOS).trace(values)
    linear = off_diagonal(entrywise("x", scores)) / sympy.sqrt(p)  # no noise at all: variance 0
    assert deterministic_equivalent((linear - z * IDENTITY).inv(), RATIOS).trace({c: 1, z: -3}) > 0


def test_overlaps_are_checked():
    spiked = deterministic_equivalent((X.T * X / p + gamma * IDENTITY).inv(), RATIOS)
    values = {c: 1, gamma: 1}
    with pytest.raises(ValueError, match="no value for <mu,mu>"):
        spiked.quadratic_form(y, y, values)
    with pytest.raises(ValueError, match="eigenvalue"):
        spiked.quadratic_form(y, y, values, {(mu, mu): -1})
    with pytest.raises(ValueError, match="dimensions n and p"):
        spiked.quadratic_form(y, y, values, {(mu, mu): 1, (y, mu): 1})
    with pytest.raises(ValueError, match="given twice"):
        spiked.quadratic_form(y, y, values, {(mu, mu): 1, (mu, w_K): 0.1, (w_K, mu): 0.2})
    with pytest.raises(ValueError, match="a: mu has dimension p"):
        spiked.quadratic_form(mu, y, values, {(mu, mu): 1})
    with pytest.raises(TypeError, match="a pair of vectors"):
        spiked.quadratic_form(y, y, values, {mu: 1})


def test_one_name_has_one_meaning():
    clashes = [
        mu * mu.T + Vector("mu", p, "sqrt") * Vector("mu", p, "sqrt").T / p,
        Gaussian("W", n, n) / sympy.sqrt(n) + W,
        GOE("W", n, 2) + W,
        joint_family(GOE, "A B", n, covariance=[[1, 0], [0, 1]])[0]
        + joint_family(GOE, "A B", n, covariance=[[1, 1], [1, 1]])[1],
    ]
    for expression in clashes:
        with pytest.raises(ExpressionError, match="one meaning for every name"):
            deterministic_equivalent(expression, RATIOS)
    spiked = deterministic_equivalent((Z * Z.T / n + mu * mu.T).inv(), RATIOS)
    with pytest.raises(ValueError, match="several vectors named mu"):
        spiked.quadratic_form(Vector("mu", p, "sqrt"), mu, {c: 1}, {(mu, mu): 1})


def test_assumptions_are_told():
    T = deterministic("T", p, {1: sympy.Rational(1, 2), 3: sympy.Rational(1, 2)})
    told = deterministic_equivalent((T + mu * mu.T + Z * Z.T / n).inv(), RATIOS).assumptions
    assert told == ("vectors are spread evenly over the spectra of deterministic matrices",)
    assert deterministic_equivalent((mu * mu.T + Z * Z.T / n).inv(), RATIOS).assumptions == ()


def test_values_by_name_and_in_arrays():
    resolvent = deterministic_equivalent((Z.T * Z / p + gamma * IDENTITY).inv(), RATIOS)
    grid = resolvent.trace({"c": [[1], [2]], "gamma": ["1/2", 1.0, 2]})
    assert grid.shape == (2, 3)
    assert grid[1, 0] == resolvent.trace({c: 2, gamma: 0.5})


def test_a_plain_symbol_and_dimensions_are_told_apart():
    m = dimensions("m")
    with pytest.raises(ExpressionError, match="the ratio of"):
        deterministic_equivalent((Gaussian("B", m, n) * Z.T / n * z), RATIOS)
