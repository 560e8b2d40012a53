"""Symbols, expressions and finite matrices that the tests of the engine share."""

from functools import cache

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixSymbol

from hermite_rmt.equivalents.ensembles import GOE, GUE, Gaussian, Ginibre, Vector, dimensions
from hermite_rmt.equivalents.spectral import Deterministic
from hermite_rmt.solvers.continuation import Arithmetic, ContinuationError
from hermite_rmt.theory.engine.hermitised import exact_point
from hermite_rmt.theory.engine.solver import refine
from hermite_rmt.theory.equivalent import deterministic_equivalent

n, p = dimensions("n p")
c = sympy.Symbol("c", positive=True)
a1, d, gamma, sigma, z = sympy.symbols("a1 d gamma sigma z")
Z = Gaussian("Z", p, n)
W, V = GOE("W", n), GOE("V", n)
y, mu, w_K, w_Q = Vector("y", n, "sqrt"), Vector("mu", p), Vector("w_K", p), Vector("w_Q", p)
IDENTITY = sympy.Identity(n)
RATIOS = {p: c * n}
X = Z + mu * y.T
WEIGHTS = sympy.Identity(p) + w_K * w_Q.T


def kernel(tokens, weights=None):
    """The linearised attention matrix."""
    middle = tokens if weights is None else weights * tokens
    return a1 * (tokens.T * middle / p - IDENTITY) + d * IDENTITY + sigma * W


@cache
def attention():
    """The resolvent of attention without signal."""
    K = kernel(Z)
    return deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * IDENTITY).inv(), RATIOS)


@cache
def spiked_attention():
    """The resolvent of attention with signal and weights."""
    K = kernel(X, WEIGHTS)
    return deterministic_equivalent((K.T * X.T * X * K / n + gamma * IDENTITY).inv(), RATIOS)


def point(row):
    """The values and the Gram matrix of one row of the reference table, exact."""
    first, nu, ratio = (sympy.Rational(row[name]) for name in ("a1", "nu", "c"))
    noise = sympy.sqrt((nu - first**2) / ratio)
    values = {a1: first, c: ratio, sigma: noise, d: row["diagonal"], gamma: row["gamma"]}
    names = {"mm": (mu, mu), "mk": (mu, w_K), "mq": (mu, w_Q), "kk": (w_K, w_K), "qq": (w_Q, w_Q), "kq": (w_K, w_Q)}
    return values, {pair: row["overlaps"][name] for name, pair in names.items()}


class Finite:
    """Finite matrices for the symbols of an expression, and its value at them."""

    def __init__(self, sizes, values, rng):
        self.sizes, self.values, self.rng = sizes, values, rng
        self.matrices, self.families = {}, {}

    def matrix(self, symbol):
        if symbol not in self.matrices:
            self.matrices[symbol] = self._draw(symbol)
        return self.matrices[symbol]

    def _draw(self, symbol):
        rows, cols = (int(self.scalar(s)) for s in symbol.shape)
        if isinstance(symbol, Deterministic):
            weights, eigenvalues = zip(
                *((float(a[0]), float(a[1 + symbol.index])) for a in symbol.family[1]), strict=True
            )
            counts = np.round(np.cumsum(weights) * rows).astype(int)
            return np.diag(np.repeat(eigenvalues, np.diff([0, *counts])))
        entries = self._entries(symbol, rows, cols)
        if isinstance(symbol, GOE):
            return (entries + entries.T) / np.sqrt(2 * rows)
        if isinstance(symbol, GUE):
            entries = entries + 1j * self.rng.standard_normal((rows, cols))
            return (entries + entries.conj().T) / np.sqrt(4 * rows)
        return entries / np.sqrt(rows) if isinstance(symbol, Ginibre) else entries

    def _entries(self, symbol, rows, cols):
        if not symbol.family:
            return self.rng.standard_normal((rows, cols)) * float(self.scalar(symbol.variance)) ** 0.5
        names, index, covariance = symbol.family
        if names not in self.families:
            root = np.linalg.cholesky(np.array(covariance, dtype=float))
            self.families[names] = np.tensordot(root, self.rng.standard_normal((len(root), rows, cols)), 1)
        return self.families[names][int(index)]

    def scalar(self, expression):
        value = complex(sympy.sympify(expression).subs({**self.sizes, **self.values}))
        return value if value.imag else value.real

    def __call__(self, expression):
        if isinstance(expression, MatrixSymbol):
            return self.matrix(expression)
        if isinstance(expression, sympy.Identity):
            return np.eye(int(self.scalar(expression.shape[0])))
        if isinstance(expression, sympy.Transpose):
            return self(expression.arg).T
        if isinstance(expression, sympy.MatAdd):
            return sum(map(self, expression.args))
        if isinstance(expression, sympy.MatPow):
            return np.linalg.matrix_power(self(expression.base), int(expression.exp))
        result = 1.0
        for argument in expression.args:
            if argument.is_Matrix:
                result = result @ self(argument) if np.ndim(result) else result * self(argument)
            else:
                result = result * self.scalar(argument)
        return result


def simulate(expression, values, size, trials, seed):
    """Mean and standard error of the normalised trace at finite size (p = c n rounded)."""
    ratio = float(values.get(c, 1))
    sizes = {n: size, p: round(ratio * size)}
    samples = []
    for trial in range(trials):
        matrix = Finite(sizes, values, np.random.default_rng([seed, trial]))(expression)
        samples.append(np.trace(matrix) / len(matrix))
    return np.mean(samples), np.std(samples, ddof=1) / np.sqrt(trials)


def solutions(equivalent, values, tries, seed=0):
    """All real solutions of the plain pencil's equations that random starts find, to 30 digits, by their trace."""
    at = equivalent._one_point(values)
    solver = equivalent._solver
    compiled = solver._compile(None, None)
    exact = exact_point(solver._bulk, at)
    arithmetic = Arithmetic(compiled.compiled)
    parameters = exact.numbers(compiled.system.parameters, None)
    near = np.array([float(v) for v in solver.solve(at, {}, 20).unknowns])
    rng, found = np.random.default_rng(seed), {}
    for number in range(tries):
        start = near * rng.normal(size=len(near)) * 3 + rng.normal(size=len(near)) * rng.choice([0.1, 1, 10])
        start = start if number else near
        try:
            x = arithmetic.newton(start, parameters, 1e-9, guarded=False)
            solved = refine(compiled, exact, list(x), 30)
        except (ContinuationError, ArithmeticError):
            continue
        if all(abs(getattr(v, "imag", 0)) == 0 for v in solved.unknowns):
            found[str(solved.observables[0])[:12]] = solved
    return found
