# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # The kernel matrix: why only two numbers of f remain
#
# $K = f\bigl(X^T (I_p + w_K w_Q^T) X/\sqrt p\bigr)/\sqrt p$ with its diagonal replaced by $d$, tokens $X = \mu y^T + Z$. With
# $\tilde B = X^T/\sqrt p$ this page derives, in operator norm as $n, p \to \infty$ with $p/n \to c$ and up to one term of rank two,
#
# $$K = a_1\, \tilde B (I_p + w_K w_Q^T) \tilde B^T + \kappa\, I_n + \sigma W + o(1), \qquad \kappa = d - a_1, \quad \sigma^2 = \frac{\nu - a_1^2}{c},$$
#
# with $W$ like a GOE matrix independent of $Z$: of the function $f$ only $a_1 = E\,\xi f(\xi)$ and $\nu = E f(\xi)^2$ are left. Then the law of
# the noise kernel (Cheng and Singer's cubic) and the rank-two term of $a_2$.
#
# The moments below are computed exactly at finite $n$ and $p$ for polynomial $f$ of degree two; the theorem for general $f$ is due to
# Cheng and Singer (2013), in operator norm to Fan and Montanari (2019). Runs in about fifteen seconds.

# %%
import numpy as np
import sympy as sp
from scipy.sparse.linalg import svds

from hermite_rmt.hermite import Nonlinearity

n, p, c = sp.symbols("n p c", positive=True)
a, b, d, nu, m, z, x = sp.symbols("a b d nu m z x", real=True)
sigma2 = sp.Symbol("sigma^2", positive=True)
rng = np.random.default_rng(4)

# %% [markdown]
# ## A score is Gaussian
#
# For noise, $s_{ij} = z_i^T z_j/\sqrt p$ with $i \ne j$ is, given $z_i$, normal with variance $|z_i|^2/p = 1 + O(p^{-1/2})$. Its characteristic
# function is $(1 + t^2/p)^{-p/2} \to e^{-t^2/2}$, its variance is exactly 1 and its fourth moment $3 + 6/p$.

# %%
t = sp.Symbol("t", real=True)
characteristic = (1 + t**2 / p) ** (-p / 2)
assert sp.limit(characteristic, p, sp.oo) == sp.exp(-(t**2) / 2)
assert sp.simplify(-sp.diff(characteristic, t, 2).subs(t, 0)) == 1
assert sp.simplify(sp.diff(characteristic, t, 4).subs(t, 0) - (3 + 6 / p)) == 0

# X = |z_1|^2; given z_1, a second token has a component xi along it and Y = the rest of its squared norm
X, Y, xi = sp.symbols("X Y xi", positive=True)


def mean(polynomial):
    """E of a polynomial in X ~ chi^2_p, Y ~ chi^2_{p-1}, xi ~ N(0, 1), independent."""
    total = sp.S.Zero
    for (i, j, k), value in sp.Poly(sp.expand(polynomial), X, Y, xi).terms():
        if k % 2 == 0:
            chi_x = sp.prod([p + 2 * q for q in range(i)])
            chi_y = sp.prod([p - 1 + 2 * q for q in range(j)])
            total += value * chi_x * chi_y * sp.factorial2(k - 1)
    return sp.factor(total)


assert sp.simplify(mean((X * xi**2 / p) ** 2) - (3 + 6 / p)) == 0  # once more, from the conditional law

# %% [markdown]
# ## Scores are nearly independent, except through the linear part
#
# Two scores $s_{12}, s_{23}$ that share a token are, given $z_1$ and $z_3$, Gaussian with covariance $r = z_1^Tz_3/p$, of order $p^{-1/2}$. By
# Mehler's formula (derivation 01) the part $a_k h_k$ of $f$ sees it as $r^k$. For $f = a\,h_1 + b\,h_2$, with $u = |z_1|^2/p - 1$ and $v = |z_3|^2/p - 1$,
#
# $$g(z_1, z_3) := E[f(s_{12})\,f(s_{23}) \mid z_1, z_3] = a^2 r + b^2\Bigl(r^2 + \frac{uv}{2}\Bigr).$$

# %%
A11, A13, A33, first, second = sp.symbols("A11 A13 A33 first second", real=True)
# generating function E exp(first s_12 + second s_23) of the centred pair with covariance [[A11, A13], [A13, A33]]
generating = sp.exp((A11 * first**2 + 2 * A13 * first * second + A33 * second**2) / 2)


def pair_moment(i, j):
    return sp.diff(generating, first, i, second, j).subs({first: 0, second: 0})


cross = b**2 / 2 * (pair_moment(2, 2) - pair_moment(2, 0) - pair_moment(0, 2) + 1) + a**2 * pair_moment(1, 1)
r, u, v = sp.symbols("r u v", real=True)
g = a**2 * r + b**2 * (r**2 + u * v / 2)
assert sp.expand(cross.subs({A11: 1 + u, A33: 1 + v, A13: r}) - g) == 0

# %% [markdown]
# ## Moments of the noise kernel, exactly
#
# Take $d = 0$ and count closed walks $i \to j \to k \to \dots \to i$ without loops:
#
# - $\frac1n E\operatorname{tr} K^2$: one edge there and back;
# - $\frac1n E\operatorname{tr} K^3$: triangles, $E[g(z_1, z_3)\, f(s_{13})]$;
# - $\frac1n E\operatorname{tr} K^4$: one edge four times, two edges twice each (centre or end first), and four-cycles, $E[g(z_1, z_3)^2]$.
#
# All are polynomials in $1/p$. As $n \to \infty$ they converge to $\nu/c$, $a_1^3/c^2$ and $2\nu^2/c^2 + a_1^4/c^3$: from the second moment $\nu$ is seen, from
# the cycles only $a_1$. **The cycles of $h_2$ are of relative size $O(1/n)$**: $h_2$ has become noise.

# %%
r2, r_of = X * xi**2 / p**2, {u: X / p - 1, v: (xi**2 + Y) / p - 1}
s2 = X * xi**2 / p  # s_13^2 = p r^2
second_moment = (n - 1) / p * mean(a**2 * s2 + b**2 * (s2 - 1) ** 2 / 2)
# odd powers of r have mean zero: of g f(s_13), a^2 r * a sqrt(p) r and b^2 (...) * b (p r^2 - 1)/sqrt(2) are left
even_part = (r2 + u * v / 2).subs(r_of)
triangle = a**3 * mean(r2) * sp.sqrt(p) + b**3 / sp.sqrt(2) * mean(even_part * (s2 - 1))
third_moment = (n - 1) * (n - 2) / p ** sp.Rational(3, 2) * triangle
h2 = (s2 - 1) / sp.sqrt(2)
fourth_power = mean(a**4 * s2**2 + 6 * a**2 * b**2 * s2 * h2**2 + b**4 * h2**4)  # f^4 without the odd terms
given = X / p  # the variance of the scores of token 1
square_given = a**2 * given + b**2 * (3 * given**2 - 2 * given + 1) / 2  # E[f^2 | z_1]
four_cycle = mean(a**4 * r2 + b**4 * even_part**2)  # the odd term 2 a^2 b^2 r (...) drops
fourth_moment = (
    (n - 1) / p**2 * fourth_power
    + 2 * (n - 1) * (n - 2) / p**2 * mean(square_given**2)
    + (n - 1) * (n - 2) * (n - 3) / p**2 * four_cycle
)


def limit(expression):
    return sp.limit(sp.simplify(expression.subs(p, c * n)), n, sp.oo)


energy = a**2 + b**2
assert sp.simplify(limit(second_moment) - energy / c) == 0
assert sp.simplify(limit(third_moment) - a**3 / c**2) == 0
assert sp.simplify(limit(fourth_moment) - (2 * energy**2 / c**2 + a**4 / c**3)) == 0
# the size of what vanishes: the cycles of h_2
assert sp.limit(sp.expand(four_cycle).coeff(b, 4) * p**2, p, sp.oo) == 4  # against 1/p for the cycles of h_1
assert sp.limit(sp.expand(four_cycle).coeff(a, 4) * p, p, sp.oo) == 1
sp.Eq(sp.Symbol("m_4"), limit(fourth_moment))

# %% [markdown]
# The finite formulas are checked exactly for a few tokens in one dimension and for two tokens in four, by expanding the traces in the entries of $Z$, and by simulation at $n = 40$, $p = 20$,
# where the limit would be far off.


# %%
def gaussian_mean(polynomial, variables):
    """E of a polynomial in independent N(0, 1)."""
    total = sp.S.Zero
    for powers, value in sp.Poly(sp.expand(polynomial), *variables).terms():
        if not any(power % 2 for power in powers):
            total += value * sp.prod([sp.factorial2(power - 1) for power in powers if power])
    return total


for tokens, width in ((2, 1), (3, 1), (4, 1), (2, 4)):
    variables = sp.symbols(f"z1:{tokens * width + 1}")
    small_Z, root_width = sp.Matrix(width, tokens, variables), sp.sqrt(width)

    def small_kernel(i, j, Z=small_Z, root=root_width):
        score = Z[:, i].dot(Z[:, j]) / root
        return 0 if i == j else (a * score + b * (score**2 - 1) / sp.sqrt(2)) / root

    small_K = sp.Matrix(tokens, tokens, small_kernel)
    small_square = (small_K * small_K).expand()
    for trace, exact in (
        (small_square.trace(), second_moment),
        ((small_square * small_K).trace(), third_moment),
        ((small_square * small_square).trace(), fourth_moment),
    ):
        assert sp.simplify(gaussian_mean(trace, variables) / tokens - exact.subs({n: tokens, p: width})) == 0

weights = {a: 0.6, b: 0.8}
size, dimension, draws = 40, 20, 4000
samples = np.empty((draws, 3))
for k in range(draws):
    Z = rng.standard_normal((dimension, size))
    S = Z.T @ Z / np.sqrt(dimension)
    K = (weights[a] * S + weights[b] * (S**2 - 1) / np.sqrt(2)) / np.sqrt(dimension)
    np.fill_diagonal(K, 0)
    square = K @ K
    samples[k] = np.trace(square), np.sum(square * K), np.sum(square**2)
for column, exact, in_limit in zip(
    samples.T / size,
    (second_moment, third_moment, fourth_moment),
    (1 / c, a**3 / c**2, 2 / c**2 + a**4 / c**3),
    strict=True,
):
    predicted = float(exact.subs({**weights, n: size, p: dimension}))
    error = column.std() / np.sqrt(draws)
    assert abs(column.mean() - predicted) < 5 * error
    print(
        f"{column.mean():.4f} +/- {error:.4f}, exact {predicted:.4f}, limit {float(in_limit.subs({**weights, c: 0.5})):.4f}"
    )

# %% [markdown]
# ## The variance of the noise, and the diagonal
#
# Off the diagonal $K = a_1 s/\sqrt p + H$, where $H$ holds the parts $k \ge 2$: uncorrelated with the linear part and, in the limit, with each other
# and with $Z$ (Mehler's $r^k$), of variance $\frac1p \sum_{k \ge 2} a_k^2 = (\nu - a_1^2)/p$. A GOE matrix has off-diagonal variance $1/n$, so
# $H = \sigma W$ with $\sigma^2/n = (\nu - a_1^2)/p$. On the diagonal $K_{ii} = d$, while the linear part has
# $a_1 |z_i|^2/p = a_1 + O(p^{-1/2})$ there, uniformly up to a logarithm: hence $\kappa = d - a_1$.
#
# In numbers for $\operatorname{sign}$ and $\tanh$ at $n = 600$, $c = 1/2$: $\frac1n\operatorname{tr} H^2 \to \sigma^2$, $\frac1n\operatorname{tr} H^4 \to 2\sigma^4$ (semicircle),
# and with $G = Z^TZ/p$, $\frac1n\operatorname{tr} HGHG \to \sigma^2 (\frac1n\operatorname{tr} G)^2$ (free from $G$; commuting matrices would give
# $\sigma^2\, \frac1n \operatorname{tr} G^2 = \sigma^2(1 + 1/c)$).

# %%
assert sp.solve(sp.Eq(sigma2 / n, (nu - a**2) / (c * n)), sigma2) == [(nu - a**2) / c]


def noise_part(function, slope, size, dimension):
    """Return H, G: the kernel without its linear part, zero on the diagonal, and Z^T Z/p."""
    Z = rng.standard_normal((dimension, size))
    S = Z.T @ Z / np.sqrt(dimension)
    H = (function(S) - slope * S) / np.sqrt(dimension)
    np.fill_diagonal(H, 0)
    return H, S / np.sqrt(dimension)


tanh = Nonlinearity("tanh(x)")
size, dimension = 600, 300
for function, slope, total in (
    (np.sign, np.sqrt(2 / np.pi), 1.0),
    (np.tanh, float(tanh.coefficient(1)), float(tanh.nu())),
):
    variance = (total - slope**2) * size / dimension
    found = []
    for _ in range(6):
        H, G = noise_part(function, slope, size, dimension)
        HG, HH = H @ G, H @ H
        found.append([np.trace(HH) / variance, np.sum(HH**2) / variance**2, np.sum(HG * HG.T) / variance])
    found = np.array(found) / size
    for column, expected in zip(found.T, (1, 2, 1), strict=True):
        # the bias is O(1/n); its constant is of the order of the moments of f and of s that meet on one edge
        assert abs(column.mean() - expected) < 5 * column.std() / np.sqrt(5) + 60 / size
    print(found.mean(axis=0))

# %% [markdown]
# ## The law of the noise kernel
#
# $K_N = a_1 (G - 1) + d + \sigma W$. Averaging over $W$ at fixed $G$ (derivation 06, one block) replaces $z$ by $z + \sigma^2 m$: with
# $m(z) = \lim\frac1n\operatorname{tr}(K_N - z)^{-1}$,
#
# $$m = \int \frac{d\mathrm{MP}(x)}{a_1(x - 1) + d - z - \sigma^2 m} .$$
#
# The transform of the Marchenko-Pastur law solves $1/h = \lambda + 1/(1 + h/c)$ for $h = \int d\mathrm{MP}/(x + \lambda)$. With $h = a_1 m$ and
# $a_1\lambda = d - a_1 - z - \sigma^2 m$ it becomes **Cheng and Singer's equation**, for $d = 0$ and $\sigma^2 = (\nu - a_1^2)/c$
#
# $$-\frac1m = z + a_1\Bigl(1 - \frac{1}{1 + a_1 m/c}\Bigr) + \frac{\nu - a_1^2}{c}\, m,$$
#
# a cubic in $m$.

# %%
a1 = sp.Symbol("a_1", real=True)
lam = (d - a1 - z - sigma2 * m) / a1
marchenko_pastur = 1 / (a1 * m) - lam - 1 / (1 + a1 * m / c)
cheng_singer = 1 / m + z + a1 * (1 - 1 / (1 + a1 * m / c)) + (nu - a1**2) / c * m
assert sp.simplify(a1 * marchenko_pastur.subs({d: 0, sigma2: (nu - a1**2) / c}) - cheng_singer) == 0
cubic = sp.Poly(sp.numer(sp.together(cheng_singer)), m)
assert cubic.degree() == 3
sp.Eq(sp.collect(sp.expand(cubic.as_expr()), m), 0)

# %% [markdown]
# The same from free probability: $R$-transforms add. $R_{\mathrm{MP}}(s) = 1/(1 - s/c)$, $R_{a_1(\mathrm{MP} - 1)}(s) = a_1 R_{\mathrm{MP}}(a_1 s) - a_1$ and $R_{\sigma W} = \sigma^2 s$;
# the equation is $z = R(-m) - 1/m$. Its free cumulants give the moments $0$, $\nu/c$, $a_1^3/c^2$, $a_1^4/c^3 + 2\nu^2/c^2$: **the limits of the exact
# moments above**. The same follow from the cubic as a series in $1/z$.

# %%
s = sp.Symbol("s")
R = a1 / (1 - a1 * s / c) - a1 + (nu - a1**2) / c * s
assert sp.simplify(z - (R.subs(s, -m) - 1 / m) - cheng_singer) == 0
cumulants = [sp.series(R, s, 0, 4).removeO().coeff(s, k) for k in range(4)]
assert cumulants[0] == 0
moments = [cumulants[1], cumulants[2], cumulants[3] + 2 * cumulants[1] ** 2]
for moment, exact in zip(moments, (second_moment, third_moment, fourth_moment), strict=True):
    assert sp.simplify(moment.subs({a1: a, nu: a**2 + b**2}) - limit(exact)) == 0
m1, m2, m3, m4, w = sp.symbols("m1 m2 m3 m4 w")  # w = 1/z
ansatz = -w * (1 + m1 * w + m2 * w**2 + m3 * w**3 + m4 * w**4)
inserted = sp.series(sp.expand(cubic.as_expr().subs({m: ansatz, z: 1 / w})), w, 0, 6).removeO()
solution = {}
for power in range(1, 6):
    equation = sp.expand(inserted.subs(solution)).coeff(w, power)
    for unknown in (m1, m2, m3, m4):
        if equation.has(unknown) and unknown not in solution:
            solution[unknown] = sp.simplify(sp.solve(equation, unknown)[0])
            break
assert solution[m1] == 0
assert [sp.simplify(solution[k] - e) for k, e in zip((m2, m3, m4), moments, strict=True)] == [0, 0, 0]

# %% [markdown]
# ## Signal and weights: the informative low-rank part
#
# The scores change by $\delta_{ij} = O(p^{-1/2})$,
#
# $$\sqrt p\,\delta_{ij} = |\mu|^2 y_i y_j + y_i\,\mu^Tz_j + z_i^T\mu\, y_j + (z_i^Tw_K + y_i\,\mu^Tw_K)(z_j^Tw_Q + y_j\,\mu^Tw_Q),$$
#
# and $f(s + \delta) = f(s) + f'(s)\,\delta + O(\delta^2)$. By Stein's lemma $E f'(s) = a_1$. Three terms:
#
# - $a_1\delta_{ij}/\sqrt p$, a matrix of rank at most four and norm $O(1)$;
# - $(f'(s_{ij}) - a_1)\,\delta_{ij}/\sqrt p$: $\sqrt p\,\delta$ is a sum of rank-one matrices $\alpha\beta^T$, and the entrywise product of $N = (f'(s) - a_1)/\sqrt p$ with
#   $\alpha\beta^T$ is $\operatorname{diag}(\alpha)\,N\operatorname{diag}(\beta)$, so its norm is at most $\max|\alpha_i|\max|\beta_j|\,\|N\|/\sqrt p = O(\log p/\sqrt p)$;
# - the rest has entries $O(p^{-3/2})$ (times logarithms), and Frobenius norm $O(p^{-1/2})$.
#
# Hence, with $K_N$ the noise kernel,
#
# $$K = K_N + \frac{a_1}{p}\Bigl[\,|\mu|^2 y y^T + y\,(\mu^TZ) + (Z^T\mu)\,y^T + \bigl(Z^Tw_K + (\mu\cdot w_K)\,y\bigr)\bigl(Z^Tw_Q + (\mu\cdot w_Q)\,y\bigr)^T\Bigr] + o(1),$$
#
# and the bracket plus $Z^TZ$ is $X^T(I + w_Kw_Q^T)X$: the formula at the top. (It needs $f'$ square integrable; a jump of $f$ is treated by smoothing.)

# %%
rows, columns = 3, 4
entries = iter(sp.Rational(int(value), 5) for value in rng.integers(-9, 10, size=100))
mu, w_K, w_Q = (sp.Matrix(rows, 1, [next(entries) for _ in range(rows)]) for _ in range(3))
Z = sp.Matrix(rows, columns, [next(entries) for _ in range(rows * columns)])
y = sp.Matrix([1, -1, -1, 1])
tokens = mu * y.T + Z


def informative(mu, w_K, w_Q, y, Z):
    return (
        (mu.T @ mu)[0, 0] * (y @ y.T)
        + y @ (mu.T @ Z)
        + (Z.T @ mu) @ y.T
        + (Z.T @ w_K + (mu.T @ w_K)[0, 0] * y) @ (Z.T @ w_Q + (mu.T @ w_Q)[0, 0] * y).T
    )


assert Z.T * Z + informative(mu, w_K, w_Q, y, Z) == tokens.T * (sp.eye(rows) + w_K * w_Q.T) * tokens

# %% [markdown]
# The norm of the rest, $\|K - K_N - \frac{a_1}p[\dots]\|$, for $\tanh$: it falls like $n^{-1/2}$ up to logarithms, while the informative part keeps its size.


# %%
def rest(size, dimension):
    mu, w_K, w_Q = (direction * np.eye(dimension, 1) for direction in (1.2, 0.7, -0.9))
    w_K[1], w_Q[1], w_Q[2] = 0.5, 0.4, 0.6
    y = rng.permutation(np.repeat([1.0, -1.0], size // 2))[:, None]
    Z = rng.standard_normal((dimension, size))
    tokens = mu @ y.T + Z
    scores = tokens.T @ tokens + (tokens.T @ w_K) @ (tokens.T @ w_Q).T
    kernels = [np.tanh(S / np.sqrt(dimension)) / np.sqrt(dimension) for S in (scores, Z.T @ Z)]
    low = float(tanh.coefficient(1)) / dimension * informative(mu, w_K, w_Q, y, Z)
    difference = kernels[0] - kernels[1] - low
    np.fill_diagonal(difference, 0)
    return [svds(M, k=1, return_singular_vectors=False, random_state=0)[0] for M in (difference, low)]


small = np.mean([rest(200, 100) for _ in range(4)], axis=0)
large = np.mean([rest(1000, 500) for _ in range(2)], axis=0)
assert large[0] < 0.65 * small[0]  # n^{-1/2} alone would give 0.45
assert abs(large[1] / small[1] - 1) < 0.15
print(small, large)

# %% [markdown]
# ## What $a_2$ adds
#
# Given $z_i$ the score's variance is $|z_i|^2/p$, and $E[h_2(s_{ij}) \mid z_i] = (|z_i|^2/p - 1)/\sqrt2$ (derivation 01): the entries of $h_2$ have means
# that depend on their row and on their column. With $\hat 1 = 1/\sqrt n$ and $\hat g_i = (|z_i|^2 - p)/\sqrt{2pn}$,
#
# $$K \ni \frac{a_2}{\sqrt p}\cdot\frac1{\sqrt2}\Bigl(\frac{|z_i|^2}p - 1 + \frac{|z_j|^2}p - 1\Bigr) = \frac{a_2}{c}\bigl(\hat g\,\hat 1^T + \hat 1\,\hat g^T\bigr)_{ij} .$$
#
# $|\hat g|^2 \to \operatorname{Var}|z|^2/(2p) = (\kappa_4 + 2)/2$ ($\kappa_4$ the excess kurtosis of the entries: 1 for Gaussian ones) and $\hat g\cdot\hat 1 \to 0$. Norm $\theta = |a_2|\,|\hat g|/c$,
# eigenvalues $\pm\theta$: of the size of the bulk, but of rank two. It makes outliers of $K$, at the solutions of $m(z)^2\theta^2 = 1$ outside
# the bulk; by the equation above $z$ is an explicit function of $m = \mp1/\theta$, and the solution is outside the bulk iff $dz/dm > 0$ there. For
# $a_1 = 0$: $z = \pm(\theta + \sigma^2/\theta)$, if $\theta > \sigma$. For $h_2$ that is $1/c > 1/\sqrt c$: **outliers for $c < 1$ only.** Balanced labels are orthogonal to $\hat 1$
# and independent of $\hat g$, so they never see them (derivation 12 for unbalanced ones).

# %%
index_i, index_j = sp.symbols("N_i N_j", positive=True)  # squared norms of the two tokens
entry = a1 / sp.sqrt(p) / sp.sqrt(2) * (index_i / p - 1 + index_j / p - 1)  # a_1 stands for a_2 here


def ghat(norm):
    return (norm - p) / sp.sqrt(2 * p * n)


assert sp.simplify((a1 / c * (ghat(index_i) + ghat(index_j)) / sp.sqrt(n)).subs(c, p / n) - entry) == 0
kappa4 = sp.Symbol("kappa_4")
variance_of_square = (kappa4 + 3) - 1  # of one squared entry: E z^4 - 1
assert sp.simplify(n * p * variance_of_square / (2 * p * n) - (kappa4 + 2) / 2) == 0

theta = sp.Symbol("theta", positive=True)
z_of_m = -1 / m - a1 * (1 - 1 / (1 + a1 * m / c)) - (nu - a1**2) / c * m
assert sp.simplify(cheng_singer.subs(z, z_of_m)) == 0
plain = z_of_m.subs(a1, 0)
assert sp.simplify(plain.subs(m, -1 / theta) - (theta + nu / c / theta)) == 0
slope = sp.diff(plain, m).subs(m, -1 / theta)
assert sp.simplify(slope - (theta**2 - nu / c)) == 0
assert sp.simplify(slope.subs({theta: 1 / c, nu: 1}) - (1 - c) / c**2) == 0

# %% [markdown]
# Simulated at $n = 700$: $h_2$ at $c = 1/4$ (outliers at $\pm5$, bulk edge 4) and at $c = 2$ (none; edge $\sqrt2$); and $f = 0.3\,h_1 + 0.9\,h_2$ at $c = 1/4$.
# The next term of $E[h_2(s_{ij}) \mid |z_i|, |z_j|]$ is $u_iu_j/\sqrt2$, of rank one and norm $\epsilon = \sqrt2\,|a_2|\,n\,p^{-3/2}$; it moves both outliers up by about $\epsilon/2$, so
# half their distance is compared.

# %%
u_i, u_j = sp.symbols("u_i u_j")
score = sp.sqrt((1 + u_i) * (1 + u_j))  # standard deviation of a score given both norms, directions averaged
assert sp.expand((score**2 - 1) / sp.sqrt(2) - (u_i + u_j + u_i * u_j) / sp.sqrt(2)) == 0


def extremes(slope, curvature, size, dimension):
    """Return the two smallest and the two largest eigenvalues of a noise kernel."""
    Z = rng.standard_normal((dimension, size))
    S = Z.T @ Z / np.sqrt(dimension)
    K = (slope * S + curvature * (S**2 - 1) / np.sqrt(2)) / np.sqrt(dimension)
    np.fill_diagonal(K, 0)
    return np.linalg.eigvalsh(K)[[0, 1, -2, -1]]


for slope, curvature, ratio in ((0, 1, "1/4"), ("3/10", "9/10", "1/4"), (0, 1, 2)):
    slope, curvature, ratio = (sp.Rational(value) for value in (slope, curvature, ratio))
    values = {a1: slope, nu: slope**2 + curvature**2, c: ratio}
    place, outside = z_of_m.subs(values), sp.diff(z_of_m, m).subs(values)
    pole = curvature / ratio  # theta
    low, second_low, second_high, high = np.mean(
        [extremes(float(slope), float(curvature), 700, int(700 * ratio)) for _ in range(4)], axis=0
    )
    if ratio == 2:
        assert outside.subs(m, -1 / pole) < 0  # no outlier: the ends belong to the bulk
        assert high - second_high < 0.1 > second_low - low
        assert abs((high - low) / 2 / np.sqrt(2) - 1) < 0.02
    else:
        assert outside.subs(m, -1 / pole) > 0 < outside.subs(m, 1 / pole)
        expected = (place.subs(m, -1 / pole) - place.subs(m, 1 / pole)) / 2
        assert high - second_high > 0.3 < second_low - low
        assert abs((high - low) / 2 / float(expected) - 1) < 0.04
        print(low, high, float(expected))
assert plain.subs({nu: 1, c: sp.Rational(1, 4), m: -sp.Rational(1, 4)}) == 5

# %% [markdown]
# ## When the labels show
#
# Without weights $K = a_1 X^TX/p + \kappa + \sigma W$ (up to $o(1)$), $X = Z + \mu y^T$, $r = |\mu|^2$. Averaged over $W$, the resolvent of $K$
# at $z$ is that of $a_1 X^TX/p$ at $a_1\zeta = z - \kappa + \sigma^2 m$. With $\tau(\zeta)$ the small root of
# $c\tau^2 + (c\zeta - c - 1)\tau + 1 = 0$ the form of the labels in the resolvent of $X^TX/p$ is $c\tau/((1 - \tau)(1 + r\tau))$
# (derivation 07), with the pole $\tau = -1/r$. Outside the bulk of $K$, $z = a_1\zeta + \kappa - \sigma^2 s(\zeta)/a_1$ with the transform
# $s = c\tau/(1 - \tau)$ of the Marchenko-Pastur law is monotone in $\zeta$; where it turns round is the edge. So the labels have an
# outlier as long as $s'(\zeta) < a_1^2/\sigma^2$ at $\tau = -1/r$.

# %%
tau = sp.Symbol("tau", real=True)
signal = sp.Symbol("r", positive=True)
eta = sp.Symbol("eta", nonnegative=True)
zeta_of_tau = 1 + 1 / c - tau - 1 / (c * tau)
assert sp.simplify(c * tau**2 + (c * zeta_of_tau - c - 1) * tau + 1) == 0
transform = c * tau / (1 - tau)
slope_of_s = sp.simplify(sp.diff(transform, tau) / sp.diff(zeta_of_tau, tau))
assert sp.simplify(slope_of_s - c**2 * tau**2 / ((1 - tau) ** 2 * (1 - c * tau**2))) == 0
quartic = a1**2 * (1 + signal) ** 2 * (signal**2 - c) - c * eta * signal**2
at_pole = slope_of_s.subs(tau, -1 / signal)
assert sp.simplify(at_pole * (1 + signal) ** 2 * (signal**2 - c) - c**2 * signal**2) == 0
assert sp.simplify((a1**2 * c / eta - at_pole) * eta / c - quartic / ((1 + signal) ** 2 * (signal**2 - c))) == 0
# for r^2 > c: the quartic over r^2 increases, so there is one root; from there on it is convex, so Newton's method
# from above comes down to it
assert sp.simplify(sp.diff(quartic / signal**2, signal) - 2 * a1**2 * (1 + signal) * (1 + c / signal**3)) == 0
bent = sp.expand(sp.diff(quartic, signal, 2) - 2 * quartic / signal**2)
assert sp.simplify(bent - a1**2 * (10 * signal**2 + 8 * signal + c * (4 / signal + 2 / signal**2))) == 0
assert sp.solve(quartic.subs(eta, 0), signal) == [sp.sqrt(c)]  # f linear: Baik, Ben Arous, Peche

# %% [markdown]
# Simulated: $f = 0.6\,h_1 + \sqrt{0.14}\,h_3$, $c = 1/2$, so that the threshold is $r = 0.731$.

# %%
strengths = {a1: sp.Rational(3, 5), eta: sp.Rational(7, 50), c: sp.Rational(1, 2)}
threshold = max(sp.Poly(quartic.subs(strengths), signal).nroots(n=20, maxsteps=200), key=sp.re)
print(threshold)
z_at_pole = (a1 * zeta_of_tau - a1 - eta / c * transform / a1).subs(strengths)
tokens, width = 1000, 500
for strength, shows in ((0.3, False), (3, True)):
    labels = rng.choice([-1.0, 1.0], tokens)
    mean = np.zeros(width)
    mean[0] = np.sqrt(strength)
    X_drawn = np.outer(mean, labels) + rng.standard_normal((width, tokens))
    drawn = X_drawn.T @ X_drawn / np.sqrt(width)
    K_drawn = (0.6 * drawn + np.sqrt(0.14 / 6) * (drawn**3 - 3 * drawn)) / np.sqrt(width)
    np.fill_diagonal(K_drawn, 0)
    eigenvalues, vectors = np.linalg.eigh(K_drawn)
    overlap = (vectors[:, -1] @ labels) ** 2 / tokens
    expected = float(z_at_pole.subs(tau, -1 / sp.Rational(str(strength))))
    print(strength, eigenvalues[-2:], expected, overlap)
    assert (strength > threshold) == shows
    if shows:
        assert eigenvalues[-1] - eigenvalues[-2] > 0.5
        assert abs(eigenvalues[-1] / expected - 1) < 0.05
        assert overlap > 0.5
    else:
        assert eigenvalues[-1] - eigenvalues[-2] < 0.1
        assert overlap < 0.1
