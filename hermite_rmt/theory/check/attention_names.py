"""Symbols of claims about attention, and what is known of their signs on the branch."""

from __future__ import annotations

import sympy

from hermite_rmt.theory.check.bounds import Fact
from hermite_rmt.theory.check.modes import OVERLAPS

C, GAMMA, NU = sympy.symbols("c gamma nu", positive=True)
A1, DIAGONAL, SKIP = sympy.symbols("a1 diagonal skip", real=True)
GRAM = tuple(sympy.Symbol(name, real=True) for name in OVERLAPS)
SOLVED = {name: sympy.Symbol(name, real=True) for name in ("m", "q", "E", "delta", "tau")}
SUMS = (
    "I_0",
    "I_1",
    "I_2",
    "g_plus",
    "g_uu",
    "g_ut",
    "g_us",
    "g_tt",
    "g_ts",
    "g_ss",
    "F",
    "x_u",
    "x_v",
    "P",
    "T",
    "R",
)
THEOREM_1 = ("F", "x_u", "x_v", "P", "T", "R")
SUM_SYMBOLS = {name: sympy.Symbol(name, real=True) for name in SUMS}
DM, DQ = sympy.symbols("dm dq", real=True)
ETA, KAPPA = NU - A1**2, DIAGONAL + SKIP - A1

m, q, E, delta = (SOLVED[name] for name in ("m", "q", "E", "delta"))
P, T, R, g_uu, g_us, g_ss, g_plus = (SUM_SYMBOLS[n] for n in ("P", "T", "R", "g_uu", "g_us", "g_ss", "g_plus"))
# (expression, whether it is strictly positive, why): exact bounds, derivations 04, 06 and 07
FACTS = (
    Fact(q, True, "q is a mean of 1/(lambda + gamma)"),
    Fact(m, True, "m is a mean of 1/(lambda + gamma)"),
    Fact(GAMMA * q, True, "gamma q is a mean of gamma/(lambda + gamma)"),
    Fact(GAMMA * m, True, "gamma m is a mean of gamma/(lambda + gamma)"),
    Fact(E, True, "E is a mean of gamma^2/(lambda + gamma)^2"),
    Fact(1 - GAMMA * q, False, "gamma/(lambda + gamma) <= 1"),
    Fact(1 - GAMMA * m, False, "gamma/(lambda + gamma) <= 1"),
    Fact(GAMMA * q - E, False, "s^2 <= s for s = gamma/(lambda + gamma) in (0, 1]"),
    Fact(E - (GAMMA * q) ** 2, False, "Jensen: the mean of s^2 is at least the square of the mean of s"),
    Fact(delta, True, "delta is the integral of c x g_+/D, positive"),
    Fact(g_plus - GAMMA, False, "g_+ = gamma + sigma^2 delta"),
    Fact(P, False, "P is an integral of M_11 > 0 against a positive measure"),
    Fact(-R, False, "R is an integral of M_22 <= 0 against a positive measure"),
    Fact((1 + A1 * T) ** 2 - A1**2 * P * R, True, "a sum of squares, as P >= 0 >= R; where P R = 0, T = 0"),
    *(Fact(u * g_ss - g_us**2, False, "Cauchy-Schwarz for the integrals of form (b)") for u in (m, g_uu)),
    Fact(ETA, False, "nu >= a_1^2"),
)
POSITIVE = (GAMMA, C, NU)
