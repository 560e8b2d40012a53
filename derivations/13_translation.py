# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Reading the paper beside these pages
#
# Liao, Liu, Hou, Zou and Ling, *On the Interpolation Error of Nonlinear Attention versus Linear Regression* (arXiv 2506.18656, version 2, 2026), states Proposition 1 and
# Theorem 1 in its own unknowns. These pages derive the same limits independently, from the paper's model, in other unknowns. The model, the statements' names and the assumptions are the
# paper's; every equation here is this project's, and **no symbol of the paper's deterministic equations is assumed**: the text was not at hand when these pages were written. What must agree
# is what does not depend on unknowns: $m(\gamma)$, $q(\gamma)$ and $E$. Whoever has the paper open can compare numbers, or a formula, with the last section. Runs in about three seconds.
#
# ## Words
#
# | the paper | here | where |
# | --- | --- | --- |
# | interpolation error (version 1: **in-context memorization error**) | $E = \frac1n\lVert y - A^Tw^*\rVert^2$ | derivation 04 |
# | nonlinear attention, $X\,K_X$ | features $A = XK$ ($p \times n$), $W_V$ absorbed by the probe $w$ | 04 |
# | attention kernel, entrywise $f$ | $K = f(X^T(I + w_Kw_Q^T)X/\sqrt p)/\sqrt p$, diagonal replaced by $d$ ($d = 0$ unless said) | 04 |
# | Assumption 1: low-rank $W_K^TW_Q$ | $I_p + w_Kw_Q^T$, vectors of norm $O(1)$ | 06 |
# | signal-plus-noise tokens | $X = \mu y^T + Z$, $y \in \{\pm1\}^n$ balanced, $\lvert\mu\rvert = O(1)$ | 04 |
# | Hermite coefficients $a_1$, $\nu$ | $a_1 = E\,\xi f(\xi)$, $\nu = E f(\xi)^2$, for the orthonormal $h_k$ | 01 |
# | regularization $\gamma$ | ridge in $\frac1n\lVert y - A^Tw\rVert^2 + \gamma\lVert w\rVert^2$ (not divided by 2, not multiplied by $n$) | 03 |
# | deterministic equivalent $Q(\gamma) \leftrightarrow m(\gamma)I_n$ (Proposition 1) | $m = g_{uu}$ | 05 |
# | limit of the interpolation error (Theorem 1) | $E = -\gamma^2\,dq/d\gamma$, $q = \lim\frac1ny^TQy$ | 06 |
# | linear regression, the yardstick | features $X$ at the same $\gamma$ | 02 |
#
# The ratio is $c = p/n$ throughout; other texts use $n/p$ or $\gamma$ for it. The identity $y - A^Tw^* = \gamma Qy$ makes $\frac1n\|y - A^Tw^*\|^2 = \frac{\gamma^2}ny^TQ^2y$: the error is a *training* error on the
# labels of the tokens in the context, which is why the first version spoke of memorization.

# %%
import itertools

import numpy as np
import sympy as sp

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

# %% [markdown]
# ## The normalisation of the ridge
#
# A factor between two conventions of the ridge problem is a change of $\gamma$. With $\frac1{2n}\|y - A^Tw\|^2 + \frac{\lambda}2\|w\|^2$ it is $\lambda = \gamma$; with $\|y - A^Tw\|^2 + \lambda\|w\|^2$ it is
# $\lambda = n\gamma$. Scores divided by $p$ in place of $\sqrt p$, or features without $1/\sqrt p$, are changes of $f$. They are checked on an exact example.

# %%
rng = np.random.default_rng(10)
p, n = 2, 3
A = sp.Matrix(p, n, [int(v) for v in rng.integers(-4, 5, size=p * n)])
y = sp.Matrix([1, -1, 1])
w = sp.Matrix(sp.symbols("w1:3"))
gamma = sp.Rational(2, 5)


def minimiser(loss):
    return sp.Matrix([sp.solve([sp.diff(loss, v) for v in w], list(w), dict=True)[0][v] for v in w])


square, norm = ((y - A.T * w).T * (y - A.T * w))[0], (w.T * w)[0]
best = minimiser(square / n + gamma * norm)
assert best == minimiser(square / (2 * n) + gamma / 2 * norm)
assert best == minimiser(square + n * gamma * norm)
assert best != minimiser(square / (2 * n) + gamma * norm)
assert y - A.T * best == gamma * (A.T * A / n + gamma * sp.eye(n)).inv() * y

# %% [markdown]
# ## Assumptions, and where these pages go further
#
# | assumption of the paper | what the derivation uses | further |
# | --- | --- | --- |
# | $f$ centred, $E f(\xi) = 0$ | balanced labels do not see the mean | with unbalanced labels $q = (1 - \rho^2)m$: derivation 12 |
# | $f$ and its derivative bounded up to exponential growth | $\nu < \infty$ (04) | jumps (sign), any square integrable $f$, through $(a_1, \nu)$; the finite-size gap may grow |
# | $a_1 \ne 0$ | nothing: form (b) of 05 is regular at $a_1 = 0$ | the closed form at $a_1 = 0$ (07): there the signal is invisible |
# | finite $\nu = E f(\xi)^2$ | the same | $\nu \to \infty$ as a limit (07) |
# | $\gamma > 0$ | the same | $\gamma \to 0$ with rates (07) |
# | diagonal removed | any constant $d$ | $d = a_1$, $1$, skip connections ($\kappa \to \kappa + \alpha$) |
# | existence and uniqueness of the solution | Earle-Hamilton for form (b) (05) | spurious solutions of form (a) exhibited, one on each wrong choice of sheets |
# | Gaussian noise | third and fourth moments matter only through $a_2$ | 09: skewed noise |
#
# Two remarks on the statement itself. *At $a_1 = 0$ the limit is continuous*: the formulas with $1/a_1$ in them have a finite limit. *Only five numbers of the weights enter*, since $(w_K, w_Q)$ and
# $(sw_K, w_Q/s)$ are the same model.

# %%
overlaps = Overlaps("3/2", "1/2", "-3/5", "13/10", "7/10", "-2/5")
at_zero = Attention(a1=0, nu="1/2", overlaps=overlaps).error("1/2", "1/10", digits=30)
near = [
    Attention(a1=sp.Rational(1, 10**k), nu="1/2", overlaps=overlaps).error("1/2", "1/10", digits=30)
    for k in (3, 4, 5)
]
distances = [abs(value - at_zero) for value in near]
# continuous at a_1 = 0, and quadratic there (a_1 -> -a_1 with d = 0 is a symmetry): a factor 100 for each digit
assert all(95 < a / b < 105 for a, b in itertools.pairwise(distances))
# a jump: sign has no derivative, and the limit holds
estimate = simulate_attention(np.sign, None, 400, 200, [0.1], trials=10, rng=10)[0]
sign = Attention(Nonlinearity("sign(x)")).trace(0.5, 0.1)
print(estimate.trace, sign)
assert abs(estimate.trace.mean - sign) < 5 * estimate.trace.standard_error + 10 / 400

# %% [markdown]
# ## The unknowns, as traces
#
# Each unknown of Proposition 1 is the limit of a trace that can be measured at finite size, whatever letters a text uses for it ($G = Z^TZ/p$, $\operatorname{tr}_n = \frac1n\operatorname{tr}$, $K$ symmetric):
#
# | here | trace |
# | --- | --- |
# | $m = g_{uu}$ | $\operatorname{tr}_n Q$ |
# | $\tau = c\,g_{ut}$ | $c\operatorname{tr}_n(GKQ)$ |
# | $\delta = -c^2g_{tt}$ | $c\operatorname{tr}_n G - c^2\operatorname{tr}_n(GKQKG)$, between 0 and $c$ |
# | $g_{us}$ | $\operatorname{tr}_n(KQ)$ |
# | $g_{ss}$ | $\operatorname{tr}_n(KQK)$ |
# | $c\,g_{ts} = -\gamma m$ | $c\operatorname{tr}_n(GKQK) - 1$ |
#
# They are the blocks of the pencil's inverse (derivation 06), checked here on an exact example, and in the limit against a simulation.

# %%
c, kappa = sp.Rational(p, n), sp.Rational(-1, 3)
Z = sp.Matrix(p, n, [sp.Rational(int(v), 2) for v in rng.integers(-4, 5, size=p * n)])
W = sp.Matrix(n, n, [int(v) for v in rng.integers(-2, 3, size=n * n)])
G = Z.T * Z / p
K = sp.Rational(1, 2) * G + kappa * sp.eye(n) + (W + W.T)
Q = (K * Z.T * Z * K / n + gamma * sp.eye(n)).inv()
zero, unit = sp.zeros(n), sp.eye(n)
pencil = sp.BlockMatrix(
    [[gamma * unit, c * K, zero], [c * K, zero, -c * unit], [zero, -c * unit, c * G]]
).as_explicit()
inverse = pencil.inv()
u, t, s = (slice(k * n, (k + 1) * n) for k in range(3))
for rows, columns, block in (
    (u, u, Q),
    (t, u, G * K * Q),
    (t, t, G * K * Q * K * G - G / c),
    (s, u, K * Q),
    (s, s, K * Q * K),
    (t, s, G * K * Q * K - unit / c),
):
    assert inverse[rows, columns] == block

size, dimension, ridge = 600, 300, 0.1
noise = rng.standard_normal((dimension, size))
gram = noise.T @ noise / dimension
kernel = np.tanh(gram * np.sqrt(dimension)) / np.sqrt(dimension)
np.fill_diagonal(kernel, 0)
resolvent = np.linalg.inv(0.5 * kernel @ gram @ kernel + ridge * np.eye(size))
measured = {
    "trace": np.trace(resolvent) / size,
    "tau": 0.5 * np.sum((gram @ kernel) * resolvent) / size,
    "delta": 0.5 * np.trace(gram) / size - 0.25 * np.sum((gram @ kernel @ resolvent) * (gram @ kernel)) / size,
}
limits = Attention("tanh(x)").solve(0.5, ridge)
for name, value in measured.items():
    print(name, value, limits[name])
    assert abs(value / limits[name] - 1) < 10 / size

# %% [markdown]
# ## What a reader of the paper can compare
#
# Values of $m$ and $E$ that do not depend on anybody's unknowns. $\tanh$ and its $(a_1, \nu)$; noise only; with a signal; with aligned weights $w_K = w_Q = \mu$; linear regression at the same $\gamma$.

# %%
f = Nonlinearity("tanh(x)")
a1, nu = f.coefficient(1, digits=15), f.nu(digits=15)
print(f"tanh: a_1 = {a1}, nu = {nu}")
rows = {
    "noise": Attention(f),
    "|mu|^2 = 1": Attention(f, overlaps=Overlaps(1)),
    "aligned": Attention(f, overlaps=Overlaps.aligned(1)),
    "regression": LinearRegression(mu_mu=1),
}
print(f"{'':12} {'c':>4} {'gamma':>6} {'q':>18} {'E':>18}")
for name, model in rows.items():
    for ratio in ("1/2", "2"):
        q, E = (getattr(model, which)(ratio, "1/10", digits=12) for which in ("quadratic_form", "error"))
        print(f"{name:12} {ratio:>4} {'1/10':>6} {q!s:>18} {E!s:>18}")
        # E = -gamma^2 dq/dgamma, by a central difference of the printed q
        step = sp.Rational(1, 10**8)
        up, down = (model.quadratic_form(ratio, sp.Rational(1, 10) + sign * step, digits=40) for sign in (1, -1))
        slope = (sp.Float(str(up), 40) - sp.Float(str(down), 40)) / (2 * step)
        assert abs(-slope / 100 / sp.Float(str(E), 15) - 1) < 1e-10
# a check of the coefficients that needs no integral: tanh' = 1 - tanh^2, so a_1 = E f' = 1 - nu
assert abs(a1 + nu - 1) < 1e-14

# %% [markdown]
# At equal $\gamma$ and for this $f$ regression is ahead, and aligned weights narrow the gap. How far, is a matter of the scale of $f$: $10f$ at $\gamma$ is $f$ at $\gamma/100$, while regression has no
# $f$ to scale. A comparison of the two should say at which scale it is made.

# %%
errors = {name: float(model.error("1/2", "1/10")) for name, model in rows.items()}
assert errors["regression"] < errors["aligned"] < errors["|mu|^2 = 1"] < errors["noise"]
scaled = Attention(10 * f, overlaps=Overlaps.aligned(1)).error("1/2", "1/10", digits=12)
same = Attention(f, overlaps=Overlaps.aligned(1)).error("1/2", "1/1000", digits=12)
assert abs(scaled - same) < 1e-11
assert scaled < errors["regression"]
print(scaled)
