# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # The Marchenko-Pastur law and ridge regression
#
# Linear regression on the tokens $X = \mu y^T + Z$ is the yardstick for attention. Its limit needs one function, the
# Stieltjes transform of the Marchenko-Pastur law, and one rank-one perturbation. This page derives
#
# - the equation of the transform and its two spectral sides,
# - the parametrisation by $\tau$ in which nothing needs a branch,
# - the interpolation error in closed form, without and with a signal.
#
# Source of the model: Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656. Runs in about two seconds.

# %%
from fractions import Fraction

import mpmath
import numpy as np
import sympy as sp

from hermite_rmt.theory.linear_regression import GAMMA, MU_MU, C, LinearRegression, observables
from hermite_rmt.theory.marchenko_pastur import MarchenkoPastur

c, gamma, r = C, GAMMA, MU_MU
m, tau, z, ratio = sp.symbols("m tau z rho")

# %% [markdown]
# ## The resolvent equation
#
# $Q = (Z^T Z/n + \gamma I_n)^{-1}$, $Z$ of size $p \times n$ with standard entries. In the language of random matrix
# expressions (derivation 11) $\gamma Q + (Z^T/n)(Z Q) = I$: the pencil with blocks $Q$ (size n) and $Z Q$ (size p) is
#
# $$\begin{pmatrix} \gamma & Z^T/n \\ -Z & I_p \end{pmatrix},$$
#
# and the Dyson equation $R = (L_0 - \eta(R))^{-1}$ with $E[Z M Z^T] = \operatorname{tr}(M) I_p$,
# $E[Z^T M Z] = \operatorname{tr}(M) I_n$ reads, for the diagonal entries $m$ (of the n block) and $s$ (of the p block),
# $m = 1/(\gamma + c\, s)$ and $s = 1/(1 + m)$.

# %%
s = sp.Symbol("s")
pencil = sp.Matrix([[gamma, 0], [0, 1]])
covariance = sp.Matrix([[-c * s, 0], [0, -m]])  # eta: the n block sees tr(R_ss)/n = c s, the p block tr(R_mm)/n = m
dyson = (pencil - covariance).inv()
equation = sp.together(m - dyson[0, 0].subs(s, dyson[1, 1]))
polynomial = sp.expand(sp.numer(equation))
assert sp.expand(polynomial - (gamma * m**2 + (gamma + c - 1) * m - 1)) == 0
sp.Eq(polynomial, 0)

# %% [markdown]
# ## Two spectral sides
#
# $Z^T Z / n$ and $Z Z^T / n$ share their nonzero eigenvalues, $n - p$ zeros apart, so with the companion
# $\tilde m = \lim \operatorname{tr} (Z Z^T/n + \gamma)^{-1}/p$: $m = c\,\tilde m + (1 - c)/\gamma$. The package's law has the
# scaling $X^T X/p$: $m = \frac1c\, m_{MP}(-\gamma/c)$ with ratio $n/p = 1/c$.

# %%
companion = sp.Symbol("mt")
swapped = sp.expand(sp.numer(sp.together(polynomial.subs(m, c * companion + (1 - c) / gamma))))
# the same equation with the roles of n and p exchanged: samples n, dimension p, Z Z^T / n of ratio p/n = c
law = sp.expand(ratio * z * m**2 + (z + ratio - 1) * m + 1)  # int dMP/(x - z) at dimension/samples = ratio
assert sp.simplify(swapped / (c * gamma) - -law.subs({ratio: c, z: -gamma, m: companion})) == 0
assert sp.simplify(polynomial.subs(m, m / c) * c - -law.subs({ratio: 1 / c, z: -gamma / c}) * c) == 0

# %% [markdown]
# ## The parametrisation by tau
#
# Put $\tau = m/(1 + m)$, so $m = \tau/(1 - \tau)$. The equation becomes $c\tau^2 - (\gamma + c + 1)\tau + 1 = 0$, that is
# $\gamma = (1 - \tau)(1 - c\tau)/\tau$. On $0 < \tau < \min(1, 1/c)$ the right-hand side falls from infinity to 0, so there is
# exactly one $\tau$ for each $\gamma > 0$, and $m > 0$ there: **the branch needs no choice.**

# %%
quadratic = c * tau**2 - (gamma + c + 1) * tau + 1
assert sp.simplify(polynomial.subs(m, tau / (1 - tau)) * (1 - tau) ** 2 + quadratic) == 0
gamma_of_tau = (1 - tau) * (1 - c * tau) / tau
assert sp.simplify(quadratic.subs(gamma, gamma_of_tau)) == 0
slope = sp.factor(sp.diff(gamma_of_tau, tau))
assert sp.simplify(slope - (c * tau**2 - 1) / tau**2) == 0
# c tau^2 < 1 on the interval, since c tau < 1 and tau < 1: gamma decreases in tau
slope

# %% [markdown]
# ## With a signal
#
# $X = \mu y^T + Z$ adds to the pencil a rank-two deterministic part. In the coordinates $e = y/\sqrt n$ (in the n block) and
# $\mu$ (in the p block) it is $\begin{pmatrix} 0 & e\,\mu^T \\ -\mu\, e^T & 0 \end{pmatrix}$ after the scaling of the p block by
# $\sqrt n$, so $q = e^T Q e$ is a corner of a $2 \times 2$ matrix: with $G = \operatorname{diag}(m, |\mu|^2 s)$,
# $q = [(G^{-1} + J)^{-1}]_{11}$, $J = \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix}$.

# %%
G = sp.diag(m, r / (1 + m))
q = sp.simplify((G.inv() + sp.Matrix([[0, 1], [-1, 0]])).inv()[0, 0])
assert sp.simplify(q - m * (1 + m) / (1 + m + r * m)) == 0
q_tau = sp.factor(q.subs(m, tau / (1 - tau)))
assert sp.simplify(q_tau - tau / ((1 - tau) * (1 + r * tau))) == 0
q_tau

# %% [markdown]
# ## The interpolation error
#
# $E = -\gamma^2\, dq/d\gamma$ (derivation 04), by the chain rule $dq/d\gamma = (dq/d\tau)/(d\gamma/d\tau)$. Every factor below is
# positive on the interval: no cancellation is left.

# %%
E_tau = sp.factor(-(gamma_of_tau**2) * sp.diff(q_tau, tau) / sp.diff(gamma_of_tau, tau))
Delta_tau = (1 - c * tau**2) / tau
claimed = (1 - c * tau) ** 2 * (1 + r * tau**2) / ((1 + r * tau) ** 2 * tau * Delta_tau)
assert sp.simplify(E_tau - claimed) == 0
E_tau

# %% [markdown]
# $\Delta = (1 - c\tau^2)/\tau$ is the root of the discriminant, $\Delta^2 = (\gamma + c + 1)^2 - 4c = s^2 + 4 c\gamma$ with
# $s = c - 1 - \gamma$; the second form is a sum of squares. Theorem 1 is often written with a difference (`stated` below); the two are equal.

# %%
assert sp.simplify(Delta_tau**2 - ((gamma_of_tau + c + 1) ** 2 - 4 * c)) == 0
assert sp.expand((gamma + c + 1) ** 2 - 4 * c - ((c - 1 - gamma) ** 2 + 4 * c * gamma)) == 0
stated = (1 - c * tau) / (1 + r * tau) - gamma_of_tau * (c + r) * tau / ((1 + r * tau) ** 2 * Delta_tau)
assert sp.simplify(stated - claimed) == 0

# %% [markdown]
# ## What the package computes
#
# `LinearRegression` evaluates `observables()`, which writes $\tau$ and $\gamma m$ without cancellation on both sides of
# $c = 1 + \gamma$. At random exact points it agrees with the formula in $\tau$, and both limits follow.

# %%
rng = np.random.default_rng(2)
for _ in range(12):
    point = {c: sp.Rational(int(rng.integers(1, 60)), 20), gamma: sp.Rational(1, int(rng.integers(1, 10**6)))}
    point[r] = sp.Rational(int(rng.integers(0, 30)), 10)
    root = min(sp.Poly(quadratic.subs(point), tau).nroots(n=60))
    for name, formula in (("quadratic_form", q_tau), ("error", claimed)):
        expected = formula.subs(point).subs(tau, root)
        assert abs(observables()[name].subs(point).evalf(50) / expected - 1) < sp.Float(10) ** -38, (name, point)

# gamma -> 0: tau -> min(1, 1/c). Below c = 1 the error stays at (1 - c)/(1 + r), above it vanishes as gamma^2
assert sp.simplify(claimed.subs(tau, 1) - (1 - c) / (1 + r)) == 0
assert claimed.subs(tau, 1 / c) == 0
# at c = 1, gamma = (1 - tau)^2 / tau, and E falls as its square root
at_one = sp.limit(claimed.subs(c, 1) / (1 - tau), tau, 1)
assert sp.simplify(at_one - 1 / (2 * (1 + r))) == 0

# %% [markdown]
# ## Both sides against the law itself

# %%
with mpmath.workdps(15):
    for ratio_value, ridge in ((Fraction(1, 2), Fraction(1, 10)), (Fraction(3), Fraction(1, 100))):
        trace = LinearRegression().trace(ratio_value, ridge, digits=30)
        transform = MarchenkoPastur(1 / ratio_value).stieltjes(-ridge / ratio_value, digits=30)
        assert abs(trace * ratio_value.numerator / ratio_value.denominator / transform - 1) < 1e-14
