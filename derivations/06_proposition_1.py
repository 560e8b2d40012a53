# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Proposition 1: the resolvent of nonlinear attention on pure noise
#
# Without a signal the features are $A = Z K$ with (derivation 05, up to a vanishing norm and a finite rank)
#
# $$K = a_1 G + \kappa I + \sigma W, \qquad G = Z^T Z/p,\quad \kappa = d - a_1,\quad \sigma^2 = (\nu - a_1^2)/c,$$
#
# $W$ a GOE matrix independent of $Z$. **Proposition 1** says that $Q = (A^T A/n + \gamma I_n)^{-1}$ behaves as $m(\gamma)\, I_n$, where
# $m$ solves one deterministic system of equations. This page derives four forms of it,
#
# - (b), three scalar equations with an integral over the Marchenko-Pastur law: the average over $W$;
# - (a), one equation for a symmetric $3 \times 3$ matrix: the average over $Z$ as well;
# - (c), polynomials: (a) with its denominators cleared;
# - (d), sums over the three roots of a cubic: (b) with its integrals done,
#
# shows that they are one, that (b) has exactly one solution, and that (a) and (c) have others, on wrong sheets of a square root. The same equations come
# out of the engine at the end. Source of the model and of the statement: Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656.
# Runs in about twelve seconds.

# %%
import itertools

import numpy as np
import sympy as sp

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, dimensions
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.equivalent import deterministic_equivalent

c, gamma = sp.symbols("c gamma", positive=True)
a1, kappa, x, m, tau, delta = sp.symbols("a_1 kappa x m tau delta", real=True)
sigma2 = sp.Symbol("sigma^2", nonnegative=True)
rng = np.random.default_rng(5)


def rational(low=-9, high=10, denominator=7):
    return sp.Rational(int(rng.integers(low, high)), denominator)


def rational_matrix(rows, columns):
    return sp.Matrix(rows, columns, [rational() for _ in range(rows * columns)])


# %% [markdown]
# ## A linear pencil
#
# $A^T A/n = K Z^T Z K/n = c\, K G K$. With $s = K u$ and $t = G s$, the equation $Q^{-1} u = b$ reads $\gamma u + c K t = b$. In the
# order $(u, t, s)$, the last two rows multiplied by $c$ to make it symmetric, this is the pencil
#
# $$\mathcal L = \begin{pmatrix} \gamma & c K & 0 \\ c K & 0 & -c \\ 0 & -c & c\, G \end{pmatrix}
# = L \otimes I_n + \Phi \otimes G + c\,\sigma\, P \otimes W,$$
#
# $$L = \begin{pmatrix} \gamma & c\kappa & 0 \\ c\kappa & 0 & -c \\ 0 & -c & 0 \end{pmatrix},\qquad
# \Phi = \begin{pmatrix} 0 & c a_1 & 0 \\ c a_1 & 0 & 0 \\ 0 & 0 & c \end{pmatrix},\qquad
# P = \begin{pmatrix} 0 & 1 & 0 \\ 1 & 0 & 0 \\ 0 & 0 & 0 \end{pmatrix}.$$
#
# Its inverse has $Q$ in its corner. Both facts are checked on exact random matrices.

# %%
L = sp.Matrix([[gamma, c * kappa, 0], [c * kappa, 0, -c], [0, -c, 0]])
Phi = sp.Matrix([[0, c * a1, 0], [c * a1, 0, 0], [0, 0, c]])
P = sp.Matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
for n, p in ((2, 1), (2, 3)):
    Z, W = rational_matrix(p, n), rational_matrix(n, n)
    W = W + W.T
    point = {gamma: sp.Rational(2, 3), c: sp.Rational(p, n), a1: rational(), kappa: rational()}
    width = rational(1)
    G = Z.T * Z / p
    K = point[a1] * G + point[kappa] * sp.eye(n) + width * W
    pencil = (
        sp.kronecker_product(L.subs(point), sp.eye(n))
        + sp.kronecker_product(Phi.subs(point), G)
        + point[c] * width * sp.kronecker_product(P, W)
    )
    inverse = pencil.inv()
    A = Z * K
    Q = (A.T * A / n + point[gamma] * sp.eye(n)).inv()
    assert inverse[:n, :n] == Q
    # the other blocks, for the identities below
    assert inverse[n : 2 * n, :n] == G * K * Q
    assert inverse[2 * n :, :n] == K * Q
    # exact at finite n: c tr(R_ts) = -gamma tr(Q)
    assert point[c] * inverse[n : 2 * n, 2 * n :].trace() == -point[gamma] * Q.trace()

# %% [markdown]
# The last line is a **Ward identity**: $R_{ts} = G K Q K - I/c$, and $c \operatorname{tr} (Q K G K) = \operatorname{tr}(I - \gamma Q)$. Every
# correct limit must obey $c\, g_{ts} = -\gamma\, m$.
#
# ## The average over W
#
# For a symmetric Gaussian matrix with $E W_{ij}^2 = 1/n$ off and $2/n$ on the diagonal,
#
# $$E[W M W] = \frac{\operatorname{tr} M}{n}\, I + \frac{M^T}{n},$$
#
# and the second term has vanishing norm. It is computed from the covariances, for a symbolic $M$. Stein's lemma
# $E[W_{ij}\, \phi(W)] = \sum_{kl} \operatorname{Cov}(W_{ij}, W_{kl})\, E\,\partial_{kl}\phi$ applied to the resolvent
# $R = (\mathcal A + c\sigma P \otimes W)^{-1}$, whose derivative is $-R\,(c\sigma P \otimes \partial W)\,R$, gives
# $E[(c\sigma P \otimes W) R] = -\sigma^2 c^2\, E\bigl[(P g_n P \otimes I_n)\, R\bigr] + O(1/n)$ with $g_n$ the block trace
# of $R$ over $n$. Since $g_n$ concentrates (the Gaussian Poincare inequality bounds its variance by $O(1/n^2)$), at fixed $Z$
#
# $$R \leftrightarrow \bigl(L \otimes I + \Phi \otimes G - \sigma^2 c^2\, P g P \otimes I\bigr)^{-1}, \qquad
# g = \Bigl(\mathrm{id} \otimes \tfrac1n \operatorname{tr}\Bigr) R .$$

# %%
n = 3
M = sp.Matrix(n, n, sp.symbols("M0:9"))
mean = sp.zeros(n, n)
for i, j, k, last in itertools.product(range(n), repeat=4):  # E[W_ij M_jk W_k,last]
    covariance = sp.Rational(int(i == k and j == last) + int(i == last and j == k), n)
    mean[i, last] += covariance * M[j, k]
assert (mean - (M.trace() * sp.eye(n) + M.T) / n).expand() == sp.zeros(n, n)

# %% [markdown]
# ## Form (b)
#
# What is left is a function of $G$ alone: on an eigenvector with eigenvalue $x$ a $3 \times 3$ matrix is inverted. With
# $m = g_{uu}$, $\tau = c\, g_{ut}$, $\delta = -c^2 g_{tt}$ it is

# %%
names = sp.symbols("g_uu g_ut g_us g_tt g_ts g_ss")
guu, gut, gus, gtt, gts, gss = names
g = sp.Matrix([[guu, gut, gus], [gut, gtt, gts], [gus, gts, gss]])
at_x = (L + Phi * x - sigma2 * c**2 * P * g * P).subs({guu: m, gut: tau / c, gtt: -delta / c**2})
t = a1 * x + kappa - sigma2 * tau
g_plus = gamma + sigma2 * delta
assert (at_x - sp.Matrix([[g_plus, c * t, 0], [c * t, -sigma2 * c**2 * m, -c], [0, -c, c * x]])).expand() == sp.zeros(
    3
)
D = g_plus * (1 + c * sigma2 * m * x) + c * x * t**2
assert sp.expand(at_x.det() + c**2 * D) == 0
density = (at_x.adjugate() / at_x.det()).applyfunc(sp.factor)  # of g with respect to the law of x
expected = {
    (0, 0): 1 + c * sigma2 * m * x,
    (0, 1): x * t,
    (0, 2): t,
    (1, 1): -g_plus * x / c,
    (1, 2): -g_plus / c,
    (2, 2): sigma2 * m * g_plus + t**2,
}
for (i, j), numerator in expected.items():
    assert sp.simplify(density[i, j] - numerator / D) == 0
at_x

# %% [markdown]
# The eigenvalues $x$ follow the Marchenko-Pastur law of $Z^T Z/p$ (of size n; mass $1 - c$ at 0 when $c < 1$). With
# $t(x) = a_1 x + \kappa - \sigma^2\tau$, $g_+ = \gamma + \sigma^2\delta$ and
# $D(x) = g_+ (1 + c\sigma^2 m x) + c\,x\,t(x)^2$, the entries $g_{uu}$, $c\,g_{ut}$, $-c^2 g_{tt}$ close among themselves:
#
# $$\boxed{\;m = \int \frac{1 + c\sigma^2 m x}{D(x)}\, d\mathrm{MP}, \qquad
# \delta = \int \frac{c\,x\,g_+}{D(x)}\, d\mathrm{MP}, \qquad
# \tau = \int \frac{c\,x\,t(x)}{D(x)}\, d\mathrm{MP}\;}$$
#
# **Ward identities from the integrands.** They hold for every measure, so they will hold in all four forms:
#
# - $c\, g_{ts} = -\int g_+/D = -\gamma m$, because $g_+ m - \sigma^2 m\,\delta = \gamma m$;
# - $g_+ m + \int c x t^2/D = 1$, because the two integrands add up to $D/D$;
# - $\gamma m + \sigma^2 (m\delta - \tau^2) + \int c x t\,(a_1 x + \kappa)/D = 1$, the trace of $\gamma Q + c K G K Q = I$.

# %%
integrand_m, integrand_delta, integrand_tau = (1 + c * sigma2 * m * x) / D, c * x * g_plus / D, c * x * t / D
assert sp.simplify(c * density[1, 2] + (g_plus * integrand_m - sigma2 * m * integrand_delta)) == 0
assert sp.expand(g_plus * m - sigma2 * delta * m - gamma * m) == 0
assert sp.simplify(g_plus * integrand_m + c * x * t**2 / D - 1) == 0
third = gamma * integrand_m + sigma2 * (delta * integrand_m - tau * integrand_tau) + c * x * t * (a1 * x + kappa) / D
assert sp.simplify(third - 1) == 0

# %% [markdown]
# ## The average over Z: form (a)
#
# $G = \sum_{k \le p} \zeta_k \zeta_k^T/p$ with independent $\zeta_k \in R^n$. Take one row out: with
# $R = (\mathcal A + \Phi \otimes \zeta\zeta^T/p)^{-1}$, $R_- = \mathcal A^{-1}$ and $\hat g = (I_3 \otimes \zeta^T) R_- (I_3 \otimes \zeta)/p \to g/c$
# (a quadratic form of an independent vector; the trace over $n$ divided by $p$),
#
# $$(I_3 \otimes \zeta^T)\, R\, (I_3 \otimes \zeta)/p = \hat g\,(I + \Phi \hat g)^{-1} = (I + \hat g\,\Phi)^{-1}\hat g,$$
#
# by the matrix inversion lemma (checked below on exact matrices). Insert this into the block trace of $I = \mathcal A R + (\Phi \otimes G) R$,
# $\mathcal A = (L - \sigma^2c^2 P g P) \otimes I$, with $p$ equal terms:
#
# $$I_3 = (L - \sigma^2 c^2 P g P)\, g + \Phi \,(I + g\Phi/c)^{-1} g ,$$
#
# $$\boxed{\;g^{-1} = L + \Phi\,(I_3 + g\,\Phi/c)^{-1} - \sigma^2 c^2\, P g P\;}$$

# %%
n, p = 2, 5
B = rational_matrix(3 * n, 3 * n)
B = B + B.T + 9 * sp.eye(3 * n)
some_phi = rational_matrix(3, 3)
some_phi = some_phi + some_phi.T
column = sp.kronecker_product(sp.eye(3), rational_matrix(n, 1))
ghat = column.T * B.inv() * column / p
full = (B + column * some_phi * column.T / p).inv()
assert column.T * full * column / p == (sp.eye(3) + ghat * some_phi).inv() * ghat

# %% [markdown]
# ## (b) solves (a), and what else solves (a)
#
# Let $B = L - \sigma^2c^2 PgP$. Diagonalise the pair $(B, \Phi)$ at once: $\Phi = S^T S$ and $B = S^T \Lambda S$ with a complex
# $S$ ($\Phi$ is symmetric and invertible if $a_1 \ne 0$; $-\Lambda$ holds the roots of $\det(B + x\Phi) = -c^2 D(x)$). Then
# $\int (B + x\Phi)^{-1}\, d\mathrm{MP} = S^{-1} \operatorname{diag}(h_k)\, S^{-T}$ with $h_k = \int d\mathrm{MP}/(x + \lambda_k)$: three scalar
# **modes**. And $g = S^{-1}\operatorname{diag}(h_k)S^{-T}$ solves $g^{-1} = B + \Phi (I + g\Phi/c)^{-1}$ as soon as each mode solves
#
# $$\frac1h = \lambda + \frac{1}{1 + h/c},$$
#
# which is the equation of the Marchenko-Pastur transform (derivation 03, with $\gamma = c\lambda$ and $h = c\,m$). So every solution of (b)
# solves (a). But the equation of a mode is a quadratic: (a) does not say which of its two roots is meant. **The solutions of (a) are those
# of (b) with any of the $2^3$ choices of sheets**; only one choice is the transform of a measure. For $a_1 = 0$ the claim
# follows by continuity.

# %%
modes = sp.symbols("h1:4")
S = rational_matrix(3, 3)
lambdas = [1 / h - 1 / (1 + h / c) for h in modes]
mode_phi, mode_B = S.T * S, S.T * sp.diag(*lambdas) * S
mode_g = S.inv() * sp.diag(*modes) * S.inv().T
right = mode_B + mode_phi * S.inv() * sp.diag(*[1 / (1 + h / c) for h in modes]) * S  # (I + g Phi/c)^-1 = S^-1 (.) S
assert (
    (sp.eye(3) + mode_g * mode_phi / c) * S.inv() - S.inv() * sp.diag(*[1 + h / c for h in modes])
).expand() == sp.zeros(3)
assert (mode_g * right).applyfunc(sp.simplify) == sp.eye(3)
# the equation of a mode is that of the ridge trace of derivation 03
trace, ridge = sp.symbols("trace ridge")
mode_equation = sp.numer(sp.together(1 / modes[0] - ridge / c - 1 / (1 + modes[0] / c))).subs(modes[0], c * trace)
assert sp.rem(mode_equation, ridge * trace**2 + (ridge + c - 1) * trace - 1, trace) == 0

# %% [markdown]
# ## Form (d): the integrals done
#
# Put $h = c\tau/(1 - \tau)$ for $\int d\mathrm{MP}/(x - z)$ (this $\tau$ of $z$ is not the unknown above). The quadratic becomes
# $z = (c\tau - 1)(1 - \tau)/(c\tau)$, that is $c\tau^2 + (cz - c - 1)\tau + 1 = 0$. The two roots have product $1/c$, so off the
# cut exactly one has $|\tau| < c^{-1/2}$; it is the transform, since $\tau \simeq -1/(cz)$ at infinity. On the circle
# $|\tau| = c^{-1/2}$, $z$ runs through the bulk $[(1 - c^{-1/2})^2, (1 + c^{-1/2})^2]$. For $c < 1$ the pole $\tau = 1$ at $z = 0$ lies
# inside, with mass $1 - c$.

# %%
z, T, angle = sp.symbols("z T theta")
h_of_T, z_of_T = c * T / (1 - T), (c * T - 1) * (1 - T) / (c * T)
assert sp.simplify(1 / h_of_T - (-z_of_T + 1 / (1 + h_of_T / c))) == 0
quadratic = c * T**2 + (c * z - c - 1) * T + 1
assert sp.simplify(quadratic.subs(z, z_of_T)) == 0
assert sp.limit(z_of_T * T, T, 0) == -1 / c
on_circle = z_of_T.subs(T, sp.exp(sp.I * angle) / sp.sqrt(c))
assert sp.simplify((on_circle - (1 + 1 / c - 2 * sp.cos(angle) / sp.sqrt(c))).rewrite(sp.exp)) == 0
assert sp.simplify(-sp.limit(z_of_T * h_of_T, T, 1) - (1 - c)) == 0

# %% [markdown]
# $D$ is a cubic in $x$ without roots on $[0, \infty)$ (there $D \ge g_+ > 0$). By partial fractions, for $j \le 2$,
#
# $$\int \frac{x^j}{D(x)}\, d\mathrm{MP} = \sum_{k=1}^{3} \frac{x_k^j}{D'(x_k)}\,\frac{c\,\tau(x_k)}{1 - \tau(x_k)} .$$
#
# The unknowns are functions of these three numbers. Where the degree of $D$ drops ($a_1 = 0$) or roots collide the formula needs
# care: for $\sigma = 0$ two roots meet at $x = -\kappa/(3a_1)$ when $\gamma = 4c\kappa^3/(27a_1)$; the package uses symmetric functions
# of the roots instead (the page on the rational form).

# %%
roots = sp.symbols("x1:4")
lead = sp.Symbol("lead")
cubic = lead * sp.prod([x - root for root in roots])
for j in range(3):
    fractions = sum(root**j / sp.diff(cubic, x).subs(x, root) / (x - root) for root in roots)
    assert sp.simplify(fractions - x**j / cubic) == 0
linear_D = gamma + c * x * (a1 * x + kappa) ** 2
double = {x: -kappa / (3 * a1), gamma: 4 * c * kappa**3 / (27 * a1)}
assert sp.simplify(linear_D.subs(double)) == 0
assert sp.simplify(sp.diff(linear_D, x).subs(double)) == 0


# %% [markdown]
# A solver in a few lines: iterate (b) with the integrals of (d), then let a secant method polish the result. `sheet` says at
# which roots of $D$ the other root of the quadratic is taken; it is $(0, 0, 0)$ in form (b). All numbers carry 60 digits.

# %%
mp = local_context(bits(60))


def number(exact):
    exact = sp.Rational(exact)
    return mp.mpf(exact.p) / exact.q


def transform(z, c, other=False):
    """Return int dMP/(x - z), or the other root of its quadratic."""
    pair = sorted(mp.polyroots([c, c * z - c - 1, 1], maxsteps=200, extraprec=300), key=abs)
    tau = pair[1 if other else 0]
    return c * tau / (1 - tau)


def right_side(values, a1, nu, c, gamma, d, sheet):
    """Return the right-hand sides of (b), and the six entries g_uu, g_ut, g_us, g_tt, g_ts, g_ss."""
    m, delta, tau = values
    s2 = (nu - a1**2) / c
    k, plus = d - a1 - s2 * tau, gamma + s2 * delta
    cubic = [c * a1**2, 2 * c * a1 * k, c * k**2 + plus * c * s2 * m, plus]
    roots = sorted(mp.polyroots(cubic, maxsteps=200, extraprec=300), key=lambda root: (mp.re(root), mp.im(root)))
    I0, I1, I2 = 0, 0, 0
    for other, root in zip(sheet, roots, strict=True):
        weight = transform(root, c, other) / mp.polyval([3 * cubic[0], 2 * cubic[1], cubic[2]], root)
        I0, I1, I2 = I0 + weight, I1 + weight * root, I2 + weight * root**2
    I0, I1, I2 = mp.re(I0), mp.re(I1), mp.re(I2)
    right = (I0 + c * s2 * m * I1, c * plus * I1, c * (a1 * I2 + k * I1))
    g_ss = s2 * m * plus * I0 + a1**2 * I2 + 2 * a1 * k * I1 + k**2 * I0
    return right, (right[0], right[2] / c, a1 * I1 + k * I0, -right[1] / c**2, -plus * I0 / c, g_ss)


def solve(a1, nu, c, gamma, d, sheet=(0, 0, 0)):
    parameters = [number(value) for value in (a1, nu, c, gamma, d)]

    def system(*values):
        return [a - b for a, b in zip(values, right_side(values, *parameters, sheet)[0], strict=True)]

    values = (1 / parameters[3], mp.zero, mp.zero)
    for _ in range(20):
        values, _ = right_side(values, *parameters, sheet)
    values = tuple(mp.findroot(system, values, tol=mp.mpf(10) ** -100))
    return values, right_side(values, *parameters, sheet)[1]


SLOPE = a1  # the symbol: the functions below have an argument of that name


def residual_of_a(entries, a1, nu, c_, gamma_, d):
    """Return the largest entry of the residual of form (a)."""
    uu, ut, us, tt, ts, ss = entries
    g_ = mp.matrix([[uu, ut, us], [ut, tt, ts], [us, ts, ss]])
    point = {symbol: sp.Rational(v) for symbol, v in ((SLOPE, a1), (c, c_), (gamma, gamma_))}
    point[kappa] = sp.Rational(d) - sp.Rational(a1)
    L_, Phi_, P_ = (mp.matrix([[number(e) for e in row] for row in M.subs(point).tolist()]) for M in (L, Phi, P))
    variance = number((sp.Rational(nu) - sp.Rational(a1) ** 2) * sp.Rational(c_))  # sigma^2 c^2
    residual = g_**-1 - L_ - Phi_ * (mp.eye(3) + g_ * Phi_ / number(c_)) ** -1 + variance * P_ * g_ * P_
    return max(abs(entry) for entry in residual)


# %% [markdown]
# The entries found from (b) and (d) solve (a) to all digits carried. The error $E = -\gamma^2\, dm/d\gamma$, by a central difference of
# width $10^{-20}$, and $m$ agree with the package, which solves the rational form of another page.

# %%
SMALL = mp.mpf(10) ** -45
POINTS = [
    ("3/5", "1/2", "1/2", "1/10", "0"),
    ("-3/10", "2", "3", "2", "7/10"),
    ("6/5", "36/25", "3/10", "1/50", "1/3"),
]
for point in POINTS:
    (m_, delta_, tau_), entries = solve(*point)
    assert m_ > 0 < delta_
    assert residual_of_a(entries, *point) < SMALL
    assert abs(number(point[2]) * entries[4] + number(point[3]) * m_) < SMALL
    step = sp.Rational(1, 10**20)
    up, down = (solve(*point[:3], sp.Rational(point[3]) + sign * step, point[4])[0][0] for sign in (1, -1))
    E = -(number(point[3]) ** 2) * (up - down) / number(2 * step)
    model = Attention(a1=point[0], nu=point[1], diagonal=point[4])
    assert abs(model.trace(point[2], point[3], digits=40) / m_ - 1) < mp.mpf(10) ** -39
    assert abs(model.error(point[2], point[3], digits=35) / E - 1) < mp.mpf(10) ** -30
    print(point, mp.nstr(m_, 20), mp.nstr(E, 20))

# %% [markdown]
# At $c = 2$ the law has no atom and no hard edge, and the integral can be done by quadrature: form (d) is the integral, sign and all.

# %%
edges = [(1 - 1 / mp.sqrt(2)) ** 2, (1 + 1 / mp.sqrt(2)) ** 2]
for root in (mp.mpf(-1) / 3, mp.mpc(1, 1) / 2):
    law = mp.quad(lambda u, z=root: mp.sqrt((edges[1] - u) * (u - edges[0])) / (mp.pi * u) / (u - z), edges)
    assert abs(law / transform(root, 2) - 1) < mp.mpf(10) ** -30

# %% [markdown]
# ## Form (c)
#
# Multiply (a), written as $g^{-1} - B = \Phi (I + g\Phi/c)^{-1}$, by $g$ from the left and by $I + g\Phi/c$ from the right:
#
# $$(I - g B)\,(I + g\,\Phi/c) = g\,\Phi, \qquad B = L - \sigma^2c^2 P g P,$$
#
# nine polynomial equations in six unknowns. Where $g$ and $I + g\Phi/c$ are invertible the two forms are the same. Elimination and
# certificates use this form; it inherits the spurious solutions of (a), and can add singular ones.

# %%
B = L - sigma2 * c**2 * P * g * P
form_c = ((sp.eye(3) - g * B) * (sp.eye(3) + g * Phi / c) - g * Phi).expand()
assert all(entry.is_polynomial(*names) for entry in form_c)
exact = {symbol: rational(1) for symbol in (*names, a1, kappa, sigma2, c, gamma)}
residual = (g.inv() - B - Phi * (sp.eye(3) + g * Phi / c).inv()).subs(exact)
assert form_c.subs(exact) == (g * residual * (sp.eye(3) + g * Phi / c)).subs(exact)

# %% [markdown]
# ## The spurious solutions
#
# Every choice of sheets gives a solution of (a) and (c), and the Ward identity holds on each, since it was derived from the integrands
# alone. Two of them have $0 < m \le 1/\gamma$ and $\delta \ge 0$, so **neither these bounds nor the Ward identity select
# anything**. They differ from the solution at the real root of $D$, where $\tau$ is on the wrong side of the circle.
#
# One inequality that (b) implies fails on them: $m\, g_{ss} > g_{us}^2$. On the solution it is the Cauchy-Schwarz inequality, since
# $m\,g_{ss} - g_{us}^2 \ge \int \frac1D \int \frac{t^2}{D} - \bigl(\int \frac tD\bigr)^2 \ge 0$. It is a test, not a proof.

# %%
EXAMPLES = [
    (("1", "1", "3/4", "1/10", "0"), "5.63618405115", "0.66080762580"),
    (("1", "11/10", "1/2", "1/10", "1/2"), "6.32528326478", "1.61818562080"),
]
for point, right, wrong in EXAMPLES:
    c_, gamma_ = number(point[2]), number(point[3])
    found = {}
    for sheet in itertools.product((0, 1), repeat=3):
        if sheet[1] == sheet[2]:  # a complex pair on one sheet: real solutions. The real root of D is the first
            found[sheet] = solve(*point, sheet=sheet)
    for values, entries in found.values():
        m_, delta_, tau_ = values
        uu, ut, us, tt, ts, ss = entries
        assert residual_of_a(entries, *point) < SMALL  # forms (a) and (c)
        assert abs(c_ * ts + gamma_ * m_) < SMALL  # the Ward identity
    assert abs(found[0, 0, 0][0][0] - mp.mpf(right)) < mp.mpf(10) ** -11
    assert abs(found[1, 0, 0][0][0] - mp.mpf(wrong)) < mp.mpf(10) ** -11
    for sheet in ((0, 0, 0), (1, 0, 0)):
        (m_, delta_, tau_), (uu, ut, us, tt, ts, ss) = found[sheet]
        assert 0 < m_ < 1 / gamma_
        assert delta_ > 0
        assert (uu * ss > us**2) == (sheet == (0, 0, 0))
    # and the spurious one does not solve (b)
    values = found[1, 0, 0][0]
    again = right_side(values, *[number(v) for v in point], (0, 0, 0))[0]
    assert max(abs(a - b) for a, b in zip(values, again, strict=True)) > 0.1
    print(point, mp.nstr(found[0, 0, 0][0][0], 15), mp.nstr(found[1, 0, 0][0][0], 15))

# %% [markdown]
# ## Form (b) has exactly one solution
#
# **Theorem.** For $\gamma > 0$, $c > 0$, real $a_1, \kappa$ and $\sigma \ge 0$, form (b) has exactly one solution with $m > 0$ and
# $\delta \ge 0$, and iterating (b) from any $m > 0$, $\delta > 0$ converges to it. (The argument needs a probability measure
# on $[0, x_+]$ that is not the mass at 0, and nothing else of the Marchenko-Pastur law.)
#
# *Step 1: an accretive form.* Multiply the second row and column of the matrix at $x$ by $i$: with $\Theta = \operatorname{diag}(1, i, 1)$,
# $\Theta (L + x\Phi - \sigma^2c^2PgP)\Theta$ has the Hermitian part $\operatorname{diag}(g_+, \sigma^2c^2 m, c x)$, and
# $-\Theta P g P \Theta = +P g' P$ with $g' = \Theta^{-1} g\, \Theta^{-1}$: the self-energy enters with a plus sign. For $x > 0$
# eliminate $s$ (a Schur complement) and keep the $2 \times 2$ block of $(u, t)$:
#
# $$F(h) = \int \bigl(B_x + \sigma^2 c^2\, J h J\bigr)^{-1} d\mathrm{MP}(x), \qquad
# B_x = \begin{pmatrix} \gamma & i c\,(a_1 x + \kappa) \\ i c\,(a_1 x + \kappa) & c/x \end{pmatrix}, \qquad
# J = \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}.$$
#
# At $x = 0$ the inverse is its limit, with zeros in the second row and column. A solution of (b) is a fixed point
# $h = \begin{pmatrix} m & -i\tau/c \\ -i\tau/c & \delta/c^2 \end{pmatrix}$, and $\operatorname{Re} h := (h + h^*)/2 = \operatorname{diag}(m, \delta/c^2) > 0$
# (if $m > 0$ and $\delta \ge 0$ then $\delta > 0$, an integral of the positive function $c x g_+/D$).

# %%
turn = sp.diag(1, sp.I, 1)
turned = (turn * at_x * turn).expand()
hermitian = ((turned + turned.H) / 2).expand()
assert hermitian == sp.diag(g_plus, sigma2 * c**2 * m, c * x).expand()
assert (-turn * P * g * P * turn - P * (turn.inv() * g * turn.inv()) * P).expand() == sp.zeros(3)
h = sp.Matrix([[m, -sp.I * tau / c], [-sp.I * tau / c, delta / c**2]])
J = sp.Matrix([[0, 1], [1, 0]])
B_x = sp.Matrix([[gamma, sp.I * c * (a1 * x + kappa)], [sp.I * c * (a1 * x + kappa), c / x]])
schur = turned[:2, :2] - turned[:2, 2:] * turned[2:, :2] / turned[2, 2]
assert (schur - B_x - sigma2 * c**2 * J * h * J).applyfunc(sp.simplify) == sp.zeros(2)
inverse = (B_x + sigma2 * c**2 * J * h * J).inv()
assert sp.simplify(inverse[0, 0] - integrand_m) == 0
assert sp.simplify(c**2 * inverse[1, 1] - integrand_delta) == 0
assert sp.simplify(sp.I * c * inverse[0, 1] - integrand_tau) == 0
assert inverse.applyfunc(lambda entry: sp.limit(sp.simplify(entry), x, 0)) == sp.diag(1 / g_plus, 0)

# %% [markdown]
# *Step 2: a domain mapped strictly inside itself.* Let $\varepsilon = \min(\gamma, c/x_+)$, so that $\operatorname{Re} B_x = \operatorname{diag}(\gamma, c/x) \ge \varepsilon$
# on the support, and let $\mathcal D_R = \{h \in C^{2\times2}: \operatorname{Re} h > 0, \|h\| < R\}$ with any $R > 1/\varepsilon$. For $h \in \mathcal D_R$ the matrix
# $M_x = B_x + \sigma^2c^2 JhJ$ has $\operatorname{Re} M_x \ge \varepsilon$, so
#
# - $\|M_x^{-1}\| \le 1/\varepsilon$, hence $\|F(h)\| \le 1/\varepsilon < R$;
# - $\operatorname{Re} M_x^{-1} = M_x^{-*} (\operatorname{Re} M_x) M_x^{-1} \ge \varepsilon/\|M_x\|^2$, hence $\operatorname{Re} F(h) \ge \rho := \int_{x \ge x_0} \varepsilon\,(\|B_x\| + \sigma^2c^2R)^{-2}\, d\mathrm{MP} > 0$
#   for a fixed $x_0 > 0$ with mass above it.
#
# So $F$ is holomorphic on the bounded domain $\mathcal D_R$ and $F(\mathcal D_R)$ stays at the distance $\min(\rho, R - 1/\varepsilon)$ from its boundary.
# *Step 3.* The **Earle-Hamilton theorem** says that such a map has exactly one fixed point and that its iterates converge to it from every
# start (it contracts the Caratheodory-Riffen-Finsler metric). $R$ was arbitrary, and a fixed point with $\operatorname{Re} h > 0$ has norm at most
# $1/\varepsilon$ by the first bullet: one fixed point with $\operatorname{Re} h > 0$ altogether. *Step 4.* The set of symmetric $h$ with real positive diagonal and imaginary
# off-diagonal entries is closed under $F$ (the three integrands above are real), so iterates started there stay there, and so does their limit:
# it is a solution of (b). (Earle and Hamilton 1970; Helton, Rashidi Far and Speicher 2007 use it for the operator-valued semicircle.) $\square$
#
# For complex $\gamma$ with $\operatorname{Re}\gamma > 0$ the same proof holds with $\varepsilon = \min(\operatorname{Re}\gamma, c/x_+)$.
#
# The hypotheses are checked on a discrete measure, at random matrices of $\mathcal D_R$ that are not of the form of step 4, and so is the conclusion.

# %%
nodes = np.linalg.eigvalsh(
    (lambda Z: Z.T @ Z / 12)(rng.standard_normal((12, 24)))
)  # 24 tokens of dimension 12: half the mass at 0
nodes = np.where(nodes < 1e-9, 0.0, nodes)
c_, gamma_, a_, kappa_, s2_ = 0.5, 0.2, 0.9, -0.4, 0.7
flip = np.array([[0, 1], [1, 0]])


def matrix_at(node):
    off = 1j * c_ * (a_ * node + kappa_)
    return np.array([[gamma_, off], [off, c_ / node]])


def average(h):
    total = np.zeros((2, 2), complex)
    for node in nodes:
        if node == 0:
            total[0, 0] += 1 / (gamma_ + s2_ * c_**2 * h[1, 1])
        else:
            total += np.linalg.inv(matrix_at(node) + s2_ * c_**2 * flip @ h @ flip)
    return total / len(nodes)


def real_part(h):
    return np.linalg.eigvalsh((h + h.conj().T) / 2)[0]


epsilon = min(gamma_, c_ / nodes.max())
R = 1.5 / epsilon
rho = sum(epsilon / (np.linalg.norm(matrix_at(u), 2) + s2_ * c_**2 * R) ** 2 for u in nodes if u > 0) / len(nodes)
ends = []
for _ in range(40):
    square = rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))
    skew = rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))
    start = square @ square.conj().T + 3 * (skew - skew.conj().T)
    start *= R * rng.random() / np.linalg.norm(start, 2)
    assert real_part(start) > 0
    image = average(start)
    assert np.linalg.norm(image, 2) <= 1 / epsilon
    assert real_part(image) >= rho > 0
    for _ in range(200):
        image = average(image)
    ends.append(image)
assert max(np.abs(end - ends[0]).max() for end in ends) < 1e-12
assert np.abs(np.diag(ends[0]).imag).max() < 1e-12
assert np.abs(ends[0] - ends[0].T).max() + abs(ends[0][0, 1].real) < 1e-12

# %% [markdown]
# ## Against a finite model
#
# $f = \tanh$ at $n = 400$, $c = 1/2$. The gap between finite and infinite size is $O(1/n)$ (about $0.1$ to $0.5$ over $n$ for $E$ with this $f$):
# the assertion allows five standard errors and $1/n$.

# %%
f = Nonlinearity("tanh(x)")
estimate = simulate_attention(np.tanh, None, 400, 200, [0.1], trials=8, rng=5)[0]
limit = solve(sp.Rational(str(f.coefficient(1, digits=30))), sp.Rational(str(f.nu(digits=30))), "1/2", "1/10", "0")[
    0
][0]
assert abs(0.1 * (estimate.trace.mean - float(limit))) < 5 * 0.1 * estimate.trace.standard_error + 1 / 400
print(estimate.trace, mp.nstr(limit, 8))

# %% [markdown]
# ## The same equations from the engine
#
# The engine reads $Q$ as a matrix expression and writes the typed Dyson equation of its own pencil, in which $Z$ itself appears instead of $G$: three blocks of size
# $n$ with traces $g_{ij}$ and three of size $p$ with traces $h_{ij}$.

# %%
n, p = dimensions("n p")
sigma = sp.Symbol("sigma", real=True)
Z, W, identity = Gaussian("Z", p, n), GOE("W", n), sp.Identity(n)
kernel = a1 * Z.T * Z / p + kappa * identity + sigma * W
equivalent = deterministic_equivalent((kernel * Z.T * Z * kernel / n + gamma * identity).inv(), ratios={p: c * n})
system = equivalent.dyson.system()
symbols = {str(symbol): symbol for symbol in system.unknowns}
print(system)

# %% [markdown]
# Its blocks of size $n$ are $(u, s, c\,t)$. The last nine equations say that the matrix of the $h_{ij}$ is the inverse of a matrix that is affine in the $g_{ij}$;
# inserted into the first nine, they leave one equation for $g$. **It is form (a)**: with $\mathcal T$ the change of basis from $(u, t, s)$ to $(u, s, c t)$,
# the engine's residual is $\mathcal T^{-T}\,[\,(L + \Phi(I + g\Phi/c)^{-1} - \sigma^2c^2PgP)\,g - I\,]\,\mathcal T^T$, as rational functions of the six unknowns and five
# parameters. It is compared at random exact points of all eleven, on and off the solution alike.

# %%
basis = sp.Matrix([[1, 0, 0], [0, 0, 1], [0, c, 0]])
engine_g = basis * g * basis.T
of_g = {symbols[f"g{i + 1}{j + 1}"]: engine_g[i, j] for i in range(3) for j in range(i, 3)}
residuals = [residual.subs(of_g) for residual in system.residuals]
h_names = [symbols[f"h{i}{j}"] for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))]
form_a = (L + Phi * (sp.eye(3) + g * Phi / c).inv() - sigma2 * c**2 * P * g * P) * g - sp.eye(3)
for _ in range(4):
    exact = {symbol: rational(1, 30) * int(rng.choice([-1, 1])) for symbol in (*names, a1, kappa, sigma)}
    exact |= {c: rational(1), gamma: rational(1)}
    here = [residual.subs(exact) for residual in residuals]
    (solution,) = sp.linsolve(here[9:], h_names)
    engine = sp.Matrix(3, 3, [residual.subs(dict(zip(h_names, solution, strict=True))) for residual in here[:9]])
    claimed = (basis.inv().T * form_a * basis.T).subs(sigma2, sigma**2).subs(exact)
    assert engine == claimed

# %% [markdown]
# The engine then reduces its system. The Ward identities come out of $\mathcal L R = R\mathcal L = 1$ written as traces, and remove unknowns ($c\,g_{ts} = -\gamma m$ among them). In
# numbers: the engine follows its own branch, from vanishing covariance, and arrives at the solution of (b); and that solution satisfies every reduced equation.


# %%
def sympy_float(value):
    return sp.Float(mp.nstr(value, 60), 60)


reduced = equivalent.equations
assert len(reduced.unknowns) < len(system.unknowns)
assert symbols["g23"] not in reduced.unknowns  # c g_ts, removed as -gamma m
print(reduced.latex())
for point in POINTS:
    exact = dict(zip((a1, c, gamma), (sp.Rational(point[i]) for i in (0, 2, 3)), strict=True))
    exact[kappa] = sp.Rational(point[4]) - exact[a1]
    exact[sigma] = sp.sqrt((sp.Rational(point[1]) - exact[a1] ** 2) / exact[c])
    (m_, _, _), entries = solve(*point)
    assert abs(equivalent.trace(exact, digits=30) / m_ - 1) < mp.mpf(10) ** -29
    values = exact | dict(zip(names, map(sympy_float, entries), strict=True))
    left, right = sp.linear_eq_to_matrix([residual.subs(values) for residual in residuals[9:]], h_names)
    values |= dict(
        zip(h_names, (left.T * left).LUsolve(left.T * right), strict=True)
    )  # nine consistent equations for six
    for residual in reduced.residuals:
        assert abs(residual.subs(of_g).subs(values).evalf(50)) < sp.Float(10) ** -40
