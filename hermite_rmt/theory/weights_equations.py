"""The equations of attention with given weights, for tokens of covariance I, to be read."""

from __future__ import annotations

from functools import cache

import sympy

from hermite_rmt.equivalents.system import EquationSystem

CITATIONS = ("derivations/15_any_weights.py, from the model of Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656",)
BRANCH = "the solution with gamma g_uu -> 1 for gamma -> infinity, followed from there"
MEANINGS = {
    "g_uu": "m = lim tr Q/n",
    "g_ut": "the block (u, t) of the pencil's inverse, s = K u, t = (X^T X/p) s; so are the others",
    "alpha": "h_ut, h being what is left of the (u, t) part of g without s",
    "beta": "-det h",
}


@cache
def equations() -> EquationSystem:
    """Return the 3 x 3 equations in the two functions by which the weights enter.

    With C = a_1 W/s and S = (I + alpha (C + C^T) + beta C^T C)^-1, phi_1 = tr(C S)/p and phi_2 = tr(C^T C S)/p: half
    the alpha- and the beta-derivative of (1/p) log det S^-1.

    >>> len(equations().unknowns)
    8
    """
    c, gamma = sympy.symbols("c gamma", positive=True)
    kappa, eps = sympy.symbols("kappa epsilon", real=True)
    eta = sympy.Symbol("eta", nonnegative=True)
    names = ("g_uu", "g_ut", "g_us", "g_tt", "g_ts", "g_ss")
    g_uu, g_ut, g_us, g_tt, g_ts, g_ss = unknowns = sympy.symbols(names, real=True)
    alpha, beta = sympy.symbols("alpha beta", real=True)
    phi_1, phi_2 = (sympy.Function(name)(alpha, beta) for name in ("phi_1", "phi_2"))
    g = sympy.Matrix([[g_uu, g_ut, g_us], [g_ut, g_tt, g_ts], [g_us, g_ts, g_ss]])
    w = sympy.Matrix([g_us, g_ts]) / (1 + g_ss)
    h = g[:2, :2] - w * w.T * (1 + g_ss)
    inner = sympy.Matrix([[-h[1, 1] * phi_2, phi_1 + alpha * phi_2], [phi_1 + alpha * phi_2, -h[0, 0] * phi_2]])
    beside = -inner * w
    corner = sympy.Matrix([[1 / (1 + g_ss)]]) + w.T * inner * w
    X = sympy.Matrix(sympy.BlockMatrix([[inner, beside], [beside.T, corner]]))
    constant = sympy.Matrix([[gamma, c * kappa, 0], [c * kappa, 0, -c], [0, -c, 0]])
    noise = sympy.Matrix([[eta * g_tt, eps * g_ut, 0], [eps * g_ut, eta * g_uu, 0], [0, 0, 0]])
    product = (constant + c * X - c * noise) * g - sympy.eye(3)
    return EquationSystem(
        (*unknowns, alpha, beta),
        (c, gamma, kappa, eta, eps),
        (*product, alpha - h[0, 1], beta + h.det()),
        BRANCH,
        {"trace": g_uu},
        {symbol: MEANINGS[symbol.name] for symbol in (g_uu, g_ut, alpha, beta)},
        CITATIONS,
    )
