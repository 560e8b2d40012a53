# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Any weights, any covariance of the tokens
#
# Assumption 1 says $W_K^T W_Q = I + w_K w_Q^T$. A trained matrix is not of that kind. Here $W$ is any $p \times p$ matrix, and the tokens
# are $X = \mu y^T + \Sigma^{1/2} Z$ with any covariance $\Sigma$. The scores are scaled to variance 1,
#
# $$S = \frac{X^T W X}{s\sqrt p}, \qquad s^2 = \frac1p \operatorname{tr} W \Sigma W^T \Sigma, \qquad M = \Sigma^{1/2}\,\frac{W}{s}\,\Sigma^{1/2}, \qquad \frac1p\operatorname{tr} M M^T = 1,$$
#
# so that $S = Z^T M Z/\sqrt p$ for pure noise: **a covariance is nothing but other weights in the scores, and $Z^T \Sigma Z$ in the place of
# $Z^T Z$ in the features**. This page derives the limit of $\frac1n\operatorname{tr} Q$ and $\frac1n y^T Q y$: the linearised kernel, whose noise is
# no longer symmetric; one equation for a $3 \times 3$ matrix in which a block trace over $p$ stands for $\Phi$ of derivation 06; the one function of
# two variables by which $W$ enters when $\Sigma = I$; and the response to a signal. The engine, which knows nothing of these formulas, gives the same numbers
# for a matrix that is not normal. It is the model behind `Attention(f, weights=W, covariance=Sigma)`. Runs in about fifteen seconds.

# %%
import numpy as np
import sympy as sp

import hermite_rmt as hr
from hermite_rmt.equivalents.ensembles import Elliptic, Gaussian, Ginibre, Vector, dimensions
from hermite_rmt.hermite.dual_kernel import nonlinear_dual

c, gamma = sp.symbols("c gamma", positive=True)
rng = np.random.default_rng(15)


def rational_matrix(rows, columns):
    return sp.Matrix(rows, columns, [sp.Rational(int(k), 7) for k in rng.integers(-9, 10, rows * columns)])


# %% [markdown]
# ## The noise of the kernel is not symmetric, and every Hermite coefficient matters
#
# Off the diagonal, $K_{ij} = f(s_{ij})/\sqrt p = \bigl(a_1 s_{ij} + \sum_{k\ge2} a_k h_k(s_{ij})\bigr)/\sqrt p$. The linear part is $a_1 Z^T M Z/p$, whose own
# diagonal concentrates at $a_1\operatorname{tr} M/p$; the diagonal of $K$ is $d$. The rest, $H$, has uncorrelated entries (Mehler, derivation 05) except
# for the pairs $(i, j), (j, i)$: given $z_i$, the scores $s_{ij} = b^T z_j$ and $s_{ji} = e^T z_j$ with $b = M^T z_i/\sqrt p$, $e = M z_i/\sqrt p$ are jointly
# Gaussian with
#
# $$|b|^2 \to \frac{\operatorname{tr} M M^T}{p} = 1, \qquad |e|^2 \to 1, \qquad b^T e \to \tau = \frac{\operatorname{tr} M^2}{p},$$
#
# so that $E\,h_k(s_{ij})\,h_k(s_{ji}) \to \tau^k$, and
#
# $$K = \frac{a_1}{p} X^T\frac{W}{s} X + \kappa I + H, \qquad \kappa = d - a_1\frac{\operatorname{tr} M}{p}, \qquad
# E H_{ij}^2 = \frac{\eta}{p},\quad \eta = \nu - a_1^2, \qquad E H_{ij} H_{ji} = \frac{\varepsilon}{p},\quad \varepsilon = \sum_{k \ge 2} a_k^2\,\tau^k .$$
#
# For symmetric $M$, $\tau = 1$ and $\varepsilon = \eta$: only then are $a_1$ and $\nu$ enough.
#
# At finite $p$, with Isserlis' theorem for $z_j$ and $E (z^T A z)(z^T B z) = \operatorname{tr} A \operatorname{tr} B + 2 \operatorname{tr} A_s B_s$ ($A_s$ the symmetric part) for $z_i$,
#
# $$E\, h_2(s_{12})\, h_2(s_{21}) = \tau^2 + \frac{\operatorname{tr}(MM^TM^TM) + 2\operatorname{tr}\bigl((M^2)_s\bigr)^2}{p^2}, \qquad
# E\, h_2(s_{12})^2 = 1 + \frac{3\operatorname{tr}(MM^T)^2}{p^2} = 1 + \frac{3}{\mathrm{PR}},$$
#
# where $\mathrm{PR} = (\operatorname{tr} MM^T)^2/\operatorname{tr}(MM^T)^2$ is the participation ratio of the singular values: **the limit needs a large
# PR, not only a large $p$**. Checked by exact moments, entry by entry, for $p = 2$.


# %%
def mean(polynomial, variables):
    """E of a polynomial in independent N(0, 1)."""
    total = sp.S.Zero
    for powers, value in sp.Poly(sp.expand(polynomial), *variables).terms():
        if not any(power % 2 for power in powers):
            total += value * sp.prod([sp.factorial2(power - 1) for power in powers if power])
    return total


p = 2
entries = sp.symbols("x1:3 y1:3")
first, second = sp.Matrix(entries[:2]), sp.Matrix(entries[2:])
M = rational_matrix(p, p)
s12, s21 = (first.T * M * second)[0], (second.T * M * first)[0]
size = (M * M.T).trace() / p  # the variance of a score: general here, 1 above
tau = (M * M).trace() / p
square = (M * M + (M * M).T) / 2
assert mean(s12**2, entries) / p == size
assert mean(s12 * s21, entries) / p == tau
both = mean((s12**2 / p - size) * (s21**2 / p - size), entries) / 2
assert both == tau**2 + ((M * M.T * M.T * M).trace() + 2 * (square * square).trace()) / p**2
itself = mean((s12**2 / p - size) ** 2, entries) / 2
assert itself == size**2 + 3 * (M * M.T * M * M.T).trace() / sp.Integer(p) ** 2

# %% [markdown]
# The sum over $k$ has a known error: what lies beyond order $k$ is at most $|\tau|^{k+1}$ times what is missing from $\nu$. For the error function,
# $E f(u) f(v) = \frac2\pi\arcsin\frac{2\tau}{3}$.

# %%
for correlation in (-0.7, 0.4, 0.95):
    value, bound = nonlinear_dual(hr.Nonlinearity("erf(x)"), correlation)
    exact = 2 / np.pi * np.arcsin(2 * correlation / 3) - 4 / (3 * np.pi) * correlation
    assert abs(value - exact) <= bound + 1e-15
    print(f"tau = {correlation}: {value:.12f}, error at most {bound:.0e}")

# %% [markdown]
# ## The pencil
#
# $A = \Sigma^{1/2} Z K$, so $A^T A/n = c K^T G K$ with $G = Z^T\Sigma Z/p$, and with $s = K u$, $t = G s$ the pencil in $(u, t, s)$ is that of derivation 06
# with $K^T$ in the corner above the diagonal:
#
# $$\mathcal L = \begin{pmatrix} \gamma & c K^T & 0 \\ c K & 0 & -c \\ 0 & -c & c\, G \end{pmatrix} .$$

# %%
for n, p in ((2, 3), (3, 2)):
    ratio, ridge = sp.Rational(p, n), sp.Rational(2, 3)
    Z, K, root = rational_matrix(p, n), rational_matrix(n, n), rational_matrix(p, p)
    G = Z.T * root.T * root * Z / p
    one, zero = sp.eye(n), sp.zeros(n, n)
    pencil = sp.Matrix(
        sp.BlockMatrix(
            [[ridge * one, ratio * K.T, zero], [ratio * K, zero, -ratio * one], [zero, -ratio * one, ratio * G]]
        )
    )
    A = root * Z * K
    assert pencil.inv()[:n, :n] == (A.T * A / n + ridge * one).inv()

# %% [markdown]
# ## The average over H
#
# Let $g$ be the block trace over $n$ of $R = \mathcal L^{-1}$. With $E H_{ij}^2 = \eta/(cn)$ and $E H_{ij}H_{ji} = \varepsilon/(cn)$,
#
# $$E[H^T N H] = E[H N H^T] = \frac{\eta}{c}\,\frac{\operatorname{tr} N}{n}\, I, \qquad E[H N H] = E[H^T N H^T] = \frac{\varepsilon}{c}\,\frac{\operatorname{tr} N}{n}\, I,$$
#
# up to vanishing norm. The blocks $cH^T$ at $(u, t)$ and $cH$ at $(t, u)$ give
#
# $$E[\mathcal H R \mathcal H] = c \begin{pmatrix} \eta\, g_{tt} & \varepsilon\, g_{ut} & 0 \\ \varepsilon\, g_{ut} & \eta\, g_{uu} & 0 \\ 0 & 0 & 0 \end{pmatrix} =: c\,\mathcal E(g) .$$

# %%
n = 3
eta, eps = sp.symbols("eta epsilon", real=True)
N = sp.Matrix(n, n, sp.symbols("N0:9"))


def average(left, right):
    """E[H N H] with H or its transpose on either side; E H_ij H_kl = (eta [ij = kl] + eps [ij = lk])/(c n)."""
    total = sp.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                for m in range(n):
                    a, b = ((j, i) if left else (i, j)), ((m, k) if right else (k, m))
                    covariance = (eta * int(a == b) + eps * int(a == b[::-1] and a != b)) / (c * n)
                    total[i, m] += covariance * N[j, k]
    return total


trace = N.trace() / n
for left, right, factor in ((True, False, eta), (False, True, eta), (False, False, eps), (True, True, eps)):
    found = average(left, right)
    # off the leading term: one entry of N, or a diagonal of H, each over n
    rest = (found - factor / c * trace * sp.eye(n)).applyfunc(sp.expand)
    assert all(len(sp.Poly(entry * c * n, *N.free_symbols).terms()) <= 1 for entry in rest)

# %% [markdown]
# ## The average over Z
#
# What is left is $L \otimes I_n + \frac{c}{p}\,(I_3\otimes Z)^T\, \mathcal B\, (I_3 \otimes Z)$, where $\mathcal B$ consists of $p\times p$ blocks,
#
# $$\mathcal B = \begin{pmatrix} 0 & C^T & 0 \\ C & 0 & 0 \\ 0 & 0 & \Sigma \end{pmatrix}, \qquad C = a_1 M, \qquad
# L = \begin{pmatrix} \gamma & c\kappa & 0 \\ c\kappa & 0 & -c \\ 0 & -c & 0 \end{pmatrix} - c\,\mathcal E(g).$$
#
# It is the Schur complement of the block $-\frac pc\mathcal B^{-1}$ in a matrix that is linear in $Z$. There $E[Z N Z^T] = \operatorname{tr} N\, I_p$ and $E[Z^T N Z] = \operatorname{tr} N\, I_n$: the
# block over $p$ becomes $r = -\bigl(\frac pc \mathcal B^{-1} + n\, g \otimes I_p\bigr)^{-1} = -\frac1n X(g)$, and that over $n$ gets $-\operatorname{tr}_p r = c\,\langle X(g)\rangle$:
#
# $$\boxed{\; g^{-1} = \begin{pmatrix} \gamma & c\kappa & 0 \\ c\kappa & 0 & -c \\ 0 & -c & 0 \end{pmatrix} + c\,\langle X(g)\rangle - c\,\mathcal E(g), \qquad
# X(g) = \bigl(\mathcal B^{-1} + g \otimes I_p\bigr)^{-1} = \mathcal B\,(1 + (g\otimes I_p)\,\mathcal B)^{-1} \;}$$
#
# with $\langle\cdot\rangle$ the normalised trace of each $p\times p$ block, and $m = g_{uu}$. For $W = \Sigma = I$, $c\,\mathcal B = \Phi$ and this is form (a) of
# Proposition 1.

# %%
g = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"g{min(i, j)}{max(i, j)}"))
a1 = sp.Symbol("a_1", real=True)
Phi = sp.Matrix([[0, c * a1, 0], [c * a1, 0, 0], [0, 0, c]])
B = Phi / c
point = {g[i, j]: sp.Rational(int(rng.integers(1, 9)), 5) for i in range(3) for j in range(i, 3)} | {
    a1: sp.Rational(3, 4)
}
at = (c * B * (sp.eye(3) + g * B).inv() - Phi * (sp.eye(3) + g * Phi / c).inv()).subs(point)
assert at.applyfunc(sp.simplify) == sp.zeros(3, 3)

# %% [markdown]
# ## What the noise-only limit sees of W
#
# A change of $g$ by $\partial g$ changes $\frac1p\log\det(1 + (g\otimes I)\mathcal B)$ by $\sum_{ij} \langle X_{ij}\rangle\,\partial g_{ij}$: **all that is seen of $W$ and
# $\Sigma$ is one function of $g$**. For $\Sigma = I$, $s$ is eliminated by hand: with $h = g_{(u,t)} - w w^T/(1 + g_{ss})$, $w = (g_{us}, g_{ts})$,
#
# $$\det(1 + (g \otimes I)\mathcal B) = (1 + g_{ss})^p\; \det\bigl(1 + \alpha(C + C^T) + \beta\, C^T C\bigr), \qquad \alpha = h_{ut},\quad \beta = -\det h = h_{ut}^2 - h_{uu}h_{tt},$$
#
# **one function of two variables**, $\Phi_W(\alpha, \beta) = \frac1p\log\det(1 + \alpha(C + C^T) + \beta C^TC)$. For $W = I$ it is $\log(1 + 2\alpha a_1 + \beta a_1^2)$; for
# symmetric $W$ an integral over its eigenvalues; for any $W$, the words in $W$, $W^T$ of its expansion.

# %%
p = 2
C = rational_matrix(p, p)  # not normal
zero, one = sp.zeros(p, p), sp.eye(p)
blocks = sp.Matrix(sp.BlockMatrix([[zero, C.T, zero], [C, zero, zero], [zero, zero, one]]))
whole = (sp.eye(3 * p) + sp.kronecker_product(g, one) * blocks).subs(point).det()
w = sp.Matrix([g[0, 2], g[1, 2]])
h = (g[:2, :2] - w * w.T / (1 + g[2, 2])).subs(point)
alpha, beta = h[0, 1], -h.det()
assert C * C.T != C.T * C
assert whole == (1 + g[2, 2].subs(point)) ** p * (one + alpha * (C + C.T) + beta * C.T * C).det()

# %% [markdown]
# The blocks of $X$ follow with one positive definite matrix: $P = 1 + h_{ut}C$, $R = (P^T h_{uu}^{-1} P - C^T h_{tt} C)^{-1}$ (on the physical branch $h_{uu} > 0 > h_{tt}$), and
#
# $$X_{tt} = -C R C^T, \qquad X_{ut} = h_{uu}^{-1} P R C^T, \qquad X_{uu} = h_{uu}^{-1} - h_{uu}^{-1} P R P^T h_{uu}^{-1} .$$
#
# For a covariance the same holds with $h_{ij} = g_{ij} - g_{is}g_{js}T$, $T = \Sigma(1 + g_{ss}\Sigma)^{-1}$, matrices that commute with $\Sigma$ and not with $C$.
# That is what the solver computes: one Cholesky factor of order $p$ a step.

# %%
variances = sp.diag(sp.Rational(1, 2), sp.Rational(5, 3))
signs = point | {g[1, 1]: sp.Rational(-8, 5)}
blocks = sp.Matrix(sp.BlockMatrix([[zero, C.T, zero], [C, zero, zero], [zero, zero, variances]]))
X = (blocks.inv() + sp.kronecker_product(g, one)).subs(signs).inv()
values = g.subs(signs)
T = variances * (one + values[2, 2] * variances).inv()
uu, ut, tt = (values[i, j] * one - values[i, 2] * values[j, 2] * T for i, j in ((0, 0), (0, 1), (1, 1)))
P = one + ut * C
R = (P.T * uu.inv() * P - C.T * tt * C).inv()
assert X[p : 2 * p, p : 2 * p] == -C * R * C.T
assert X[:p, p : 2 * p] == uu.inv() * P * R * C.T
assert X[:p, :p] == uu.inv() - uu.inv() * P * R * P.T * uu.inv()

# %% [markdown]
# ## A signal
#
# $X = \Sigma^{1/2}(v\, y^T + Z)$ with $v = \Sigma^{-1/2}\mu$. As in derivation 07 the pencil gains a finite rank: in the directions of $y/\sqrt n$ the labels see, beside
# $g$, the blocks over $p$ in the direction of $v$,
#
# $$q = \bigl[(g^{-1} + X_v)^{-1}\bigr]_{uu}, \qquad (X_v)_{ij} = v^T X_{ij}(g)\, v, \qquad E = -\gamma^2\,\frac{dq}{d\gamma},$$
#
# and for $W = I$, $X_v = |\mu|^2\,\langle X\rangle$ is $S/c$ of Theorem 1. The direction of $\mu$ matters now; for a uniformly random one, $v^TX_{ij}v \to |\mu|^2\operatorname{tr}(\Sigma^{-1}X_{ij})/p$.
# The slope $dg/d\gamma$ comes from the equations with the exact derivative $\partial X = -X\,(\partial g \otimes I)\,X$.
#
# ## The engine's word
#
# For $M$ a $2\times 2$ matrix times $I_{p/2}$, not normal, and $\Sigma = \operatorname{diag}(\sigma_1, \sigma_2)$ likewise, the tokens fall into two Gaussian blocks, and
# everything is an expression that the engine knows: $Z_1, Z_2$, and $H$ from the elliptic ensemble. It linearises, derives and solves without any formula of this page.

# %%
n, half = dimensions("n q")
kappa, rho = sp.symbols("kappa rho", real=True)
variance = sp.Symbol("eta", nonnegative=True)
y, mus = Vector("y", n, norm="sqrt"), [Vector("mu1", half), Vector("mu2", half)]
weights, sigmas, mu = np.array([[0.5, 1.25], [-0.25, 0.75]]), np.array([0.5, 1.5]), np.array([0.75, -1.0])
tanh = hr.Nonlinearity("tanh(x)")
model = hr.Attention(tanh, weights=weights, covariance=np.diag(sigmas), mu=mu)
assert not np.allclose(weights @ weights.T, weights.T @ weights)
tokens = [Gaussian(f"Z{k}", half, n) + vector * y.T for k, vector in enumerate(mus, start=1)]
M = np.sqrt(sigmas)[:, None] * weights * np.sqrt(sigmas)
M *= np.sqrt(2) / np.linalg.norm(M)
exact = [[sp.Rational(float(entry)) for entry in row] for row in M]
scores = sp.MatAdd(*(exact[i][j] * tokens[i].T * tokens[j] for i in range(2) for j in range(2)))
gram = sp.MatAdd(*(sp.Rational(float(sigmas[i])) * tokens[i].T * tokens[i] for i in range(2)))
K = a1 * scores / (2 * half) + kappa * sp.Identity(n) + sp.sqrt(variance / c) * Elliptic("H", n, correlation=rho)
engine = hr.deterministic_equivalent((K.T * gram * K / n + gamma * sp.Identity(n)).inv(), ratios={half: c * n / 2})
slope, energy = tanh.coefficient(1), tanh.nu()
correlated, _ = nonlinear_dual(tanh, model.symmetry)
gap = energy - slope**2
numbers = {a1: slope, variance: gap, rho: correlated / gap, kappa: -slope * np.trace(M) / 2}
v = mu / np.sqrt(sigmas)
overlaps = {(mus[i], mus[j]): v[i] * v[j] for i in range(2) for j in range(i, 2)}
for ratio, ridge in ((0.5, 0.1), (2, 1)):
    values = numbers | {c: ratio, gamma: ridge}
    solution = model.solve(ratio, ridge)
    trace, form = engine.trace(values), engine.quadratic_form(y, y, values, gram=overlaps)
    print(f"c = {ratio}, gamma = {ridge}: m = {trace:.12f}, q = {form:.12f}")
    assert abs(solution["trace"] / trace - 1) < 1e-11
    assert abs(solution["quadratic_form"] / form - 1) < 1e-11

# %% [markdown]
# A second expression it knows: $W$ itself Gaussian, averaged as well. Then $\tau = 0$ and $H$ is a Ginibre matrix. For tanh, $c = 1/2$, $\gamma = 1/10$ the limit is
# $m = 6.70914$; single matrices scatter around it, less as $p$ grows. (Simulated elsewhere at $p = 300$: $6.706 \pm .007$.)

# %%
p = dimensions("p")
Z, W = Gaussian("Z", p, n), Ginibre("W", p)
K = a1 * Z.T * W * Z / p + kappa * sp.Identity(n) + sp.sqrt(variance / c) * Ginibre("H", n)
gaussian = hr.deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * sp.Identity(n)).inv(), ratios={p: c * n})
limit = gaussian.trace({c: 0.5, gamma: 0.1, a1: slope, variance: gap, kappa: 0})
drawn = [hr.Attention(tanh, weights=rng.standard_normal((size, size))).trace(0.5, 0.1) for size in (50, 100, 200)]
print(f"averaged over W: {limit:.6f}; single W of 50, 100, 200 dimensions: {', '.join(f'{m:.4f}' for m in drawn)}")
assert abs(limit - 6.7091389) < 1e-7
assert abs(drawn[-1] - limit) < 0.01

# %% [markdown]
# ## Against simulation
#
# A covariance, weights, a signal and a skip connection at once, at $n = 600$, $p = 300$.

# %%
p = 300
axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
sigma = (axes * rng.uniform(0.2, 2.5, p)) @ axes.T
mu = rng.standard_normal(p) / np.sqrt(p)
model = hr.Attention(tanh, weights=np.eye(p) + rng.standard_normal((p, p)) / 30, covariance=sigma, mu=mu, skip=0.3)
solution, estimate = model.solve(0.5, 0.1), model.simulate(2 * p, p, 0.1, trials=10, rng=0)
for name in ("trace", "quadratic_form", "error"):
    found = getattr(estimate, name)
    print(f"{name}: {solution[name]:.4f}, simulated {found.mean:.4f} +/- {found.standard_error:.4f}")
    assert abs(found.mean - solution[name]) < 5 * found.standard_error + solution[name] / p
