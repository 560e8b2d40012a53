"""The engine's equivalents of the two classical laws, for claims and derivations by name."""

from __future__ import annotations

from functools import cache

import sympy

from hermite_rmt.equivalents.ensembles import GOE, Gaussian, dimensions
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent


@cache
def marchenko_pastur() -> DeterministicEquivalent:
    """Return the equivalent of (X^T X/p - z I_n)^-1, p = c n: the Stieltjes transform of the law of ratio 1/c."""
    n, p = dimensions("n p")
    c, z = sympy.Symbol("c", positive=True), sympy.Symbol("z", real=True)
    X = Gaussian("X", p, n)
    return deterministic_equivalent((X.T * X / p - z * sympy.Identity(n)).inv(), ratios={p: c * n})


@cache
def semicircle() -> DeterministicEquivalent:
    """Return the equivalent of (W - z I)^-1, W a GOE matrix: the Stieltjes transform of the semicircle law."""
    n, z = dimensions("n"), sympy.Symbol("z", real=True)
    return deterministic_equivalent((GOE("W", n) - z * sympy.Identity(n)).inv())
