"""The engine's equivalents of statements by name: the classical laws, and attention on noise (Proposition 1)."""

from __future__ import annotations

from functools import cache

import sympy

from hermite_rmt.equivalents.ensembles import GOE, Gaussian, dimensions
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent


@cache
def marchenko_pastur() -> DeterministicEquivalent:
    """Return the equivalent of (X^T X/p - z I_n)^-1, p = c n: the Stieltjes transform of the law of ratio 1/c.

    >>> print(marchenko_pastur().equations.residuals[0])
    c*g11*z - c*g11 + c + g11**2*z + g11
    """
    n, p = dimensions("n p")
    c, z = sympy.Symbol("c", positive=True), sympy.Symbol("z", real=True)
    X = Gaussian("X", p, n)
    return deterministic_equivalent((X.T * X / p - z * sympy.Identity(n)).inv(), ratios={p: c * n})


@cache
def semicircle() -> DeterministicEquivalent:
    """Return the equivalent of (W - z I)^-1, W a GOE matrix: the Stieltjes transform of the semicircle law.

    >>> print(semicircle().equations.residuals[0])
    g11**2 + g11*z + 1
    """
    n, z = dimensions("n"), sympy.Symbol("z", real=True)
    return deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv())


@cache
def attention_noise() -> DeterministicEquivalent:
    """Return attention's resolvent without signal and weights: Q = (K Z^T Z K/n + gamma I)^-1 of Proposition 1."""
    n, p = dimensions("n p")
    c, gamma = sympy.symbols("c gamma", positive=True)
    a1, kappa = sympy.symbols("a1 kappa", real=True)
    eta = sympy.Symbol("eta", nonnegative=True)
    Z = Gaussian("Z", p, n)
    K = a1 * Z.T * Z / p + kappa * sympy.Identity(n) + sympy.sqrt(eta / c) * GOE("W", n)
    return deterministic_equivalent((K * Z.T * Z * K / n + gamma * sympy.Identity(n)).inv(), ratios={p: c * n})
