# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # The resolvent identity and its consequences
#
# For any feature matrix $A$ ($p \times n$), labels $y$ and ridge $\gamma > 0$, the ridge regressor
# $w^* = \arg\min \frac1n |y - A^T w|^2 + \gamma |w|^2$ has residual $y - A^T w^* = \gamma Q y$ with
# $Q = (A^T A/n + \gamma I_n)^{-1}$. Hence the interpolation error
#
# $$E = \frac1n |y - A^T w^*|^2 = \frac{\gamma^2}{n} y^T Q^2 y = -\gamma^2 \frac{dq}{d\gamma}, \qquad q = \frac1n y^T Q y .$$
#
# Everything here is exact at finite n and p; nothing random enters. Runs in about a second.

# %%
import numpy as np
import sympy as sp

# %% [markdown]
# ## The identity
#
# The normal equations are $(A A^T/n + \gamma) w^* = A y/n$. The push-through identity
# $(A A^T/n + \gamma)^{-1} A = A Q$ gives $A^T w^* = (A^T A/n) Q y = (Q^{-1} - \gamma) Q y = y - \gamma Q y$.
# It is checked on random exact matrices, with $\gamma$ a symbol.

# %%
gamma = sp.Symbol("gamma", positive=True)
rng = np.random.default_rng(3)
for p, n in ((1, 3), (2, 2), (3, 1)):
    A = sp.Matrix(p, n, [sp.Rational(int(entry), 3) for entry in rng.integers(-5, 6, size=p * n)])
    y = sp.Matrix(n, 1, [sp.Integer(int(entry)) for entry in rng.choice([-1, 1], size=n)])
    w = (A * A.T / n + gamma * sp.eye(p)).LUsolve(A * y / n)
    Q = (A.T * A / n + gamma * sp.eye(n)).inv()
    assert (y - A.T * w - gamma * Q * y).applyfunc(sp.cancel) == sp.zeros(n, 1)
    q = (y.T * Q * y)[0] / n
    E = ((y - A.T * w).T * (y - A.T * w))[0] / n
    assert sp.cancel(E + gamma**2 * sp.diff(q, gamma)) == 0
    assert sp.cancel(E - (gamma**2 * y.T * Q**2 * y)[0] / n) == 0

# %% [markdown]
# ## What follows, for every A
#
# In an eigenbasis of $A^T A/n$ with eigenvalues $\lambda_i \ge 0$ and weights $\rho_i = (u_i^T y)^2/n \ge 0$ that sum to
# $|y|^2/n = 1$,
#
# $$q = \sum_i \frac{\rho_i}{\lambda_i + \gamma}, \qquad E = \sum_i \rho_i \Bigl(\frac{\gamma}{\lambda_i + \gamma}\Bigr)^2 .$$
#
# - $E$ increases in $\gamma$: each term's derivative is $2\gamma\lambda/(\lambda + \gamma)^3 \ge 0$;
# - $E/\gamma^2$ decreases: each term's derivative is $-2/(\lambda + \gamma)^3 < 0$;
# - $E \le \gamma q \le 1$: $0 \le t^2 \le t \le 1$ for $t = \gamma/(\lambda + \gamma)$;
# - $(\gamma q)^2 \le E$: the Cauchy-Schwarz inequality for the weights $\rho_i$, that is, a variance is not negative.
#
# The four pass to the limit, since limits keep weak inequalities; the first two are the monotonicity that every curve obeys.

# %%
lam = sp.Symbol("lambda", nonnegative=True)
t = gamma / (lam + gamma)
assert sp.simplify(sp.diff(t**2, gamma) - 2 * gamma * lam / (lam + gamma) ** 3) == 0
assert sp.simplify(sp.diff(t**2 / gamma**2, gamma) + 2 / (lam + gamma) ** 3) == 0
assert sp.simplify(t - t**2 - gamma * lam / (lam + gamma) ** 2) == 0
assert sp.simplify(1 - t - lam / (lam + gamma)) == 0
weights = sp.symbols("rho1:4", nonnegative=True)
values = sp.symbols("t1:4", real=True)
total = sum(weights)
mean = sum(w * v for w, v in zip(weights, values, strict=True))
square = sum(w * v**2 for w, v in zip(weights, values, strict=True))
pairs = sum(
    weights[i] * weights[j] * (values[i] - values[j]) ** 2 for i in range(3) for j in range(i)
)  # Lagrange's identity: total * square - mean^2 is a sum of squares with nonnegative weights
assert sp.expand(total * square - mean**2 - pairs) == 0

# %% [markdown]
# Where equality holds: $E = (\gamma q)^2$ exactly when all weight sits at one eigenvalue, $E = \gamma q$ when it sits at
# $\lambda \in \{0, \infty\}$. Both are seen below on diagonal examples.

# %%
one = {lam: sp.Integer(3)}
assert sp.simplify((t**2 - t * t).subs(one)) == 0
assert t.subs(lam, 0) == 1
assert sp.limit(t, lam, sp.oo) == 0

# %% [markdown]
# ## How fast the error may change with the ridge
#
# Let $L = \gamma\,dE/d\gamma$. Term by term, $\gamma\,dL/d\gamma$ is $L$ times $(2\lambda - \gamma)/(\lambda + \gamma)$, which is between $-1$ and $2$. So
# $\gamma L$ increases and $L/\gamma^2$ decreases, and for $s \ge 1$
#
# $$\frac{L(\gamma)}{s} \le L(s\gamma) \le s^2 L(\gamma), \qquad
#   \Bigl(1 - \frac1s\Bigr) L(\gamma) \le E(s\gamma) - E(\gamma) \le \frac{s^2 - 1}{2}\, L(\gamma).$$
#
# They pass to the limit: $|\gamma/(\lambda + \gamma)| \le 1$ for $\mathrm{Re}\,\gamma > 0$, so $E$ is analytic and bounded there, and its
# derivatives converge with it. From values at finitely many ridges they prove that two error curves meet nowhere in an interval of
# ridges, or that their difference is monotone there: `crossings(..., certified=True)`.

# %%
s = sp.Symbol("s", positive=True)
L = gamma * sp.diff(t**2, gamma)
growth = sp.simplify(gamma * sp.diff(L, gamma) / L)
assert sp.simplify(growth - (2 * lam - gamma) / (lam + gamma)) == 0
assert sp.simplify(growth + 1 - 3 * lam / (lam + gamma)) == 0  # at least -1
assert sp.simplify(2 - growth - 3 * gamma / (lam + gamma)) == 0  # at most 2
start = sp.Symbol("L_0", nonnegative=True)  # E(s gamma) - E(gamma) is the integral of L(u gamma)/u over u from 1 to s
u = sp.Symbol("u", positive=True)
assert sp.simplify(sp.integrate(start / u / u, (u, 1, s)) - (1 - 1 / s) * start) == 0
assert sp.simplify(sp.integrate(start * u**2 / u, (u, 1, s)) - (s**2 - 1) / 2 * start) == 0
assert sp.limit(growth, lam, 0) == -1  # both bounds are reached
assert sp.limit(growth, lam, sp.oo) == 2
