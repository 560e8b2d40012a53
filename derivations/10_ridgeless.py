# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Without ridge: the limits $\gamma \to 0$
#
# How the error behaves as the ridge vanishes says whether the features interpolate, and at what rate. The equations are those of
# derivations 06 and 07; on each line one balance of powers of $\gamma$ is found and inserted. The results:
#
# | where | result |
# | --- | --- |
# | $c < 1$, $\sigma > 0$, $\mu = 0$ | $E = 1 - c + O(\gamma^2)$ |
# | $c < 1$, $\sigma > 0$, with signal | its own constant, from ridgeless equations |
# | $c > 1$, $\sigma > 0$, 0 inside the bulk of $K$ (always for $d = 0$), $\mu = 0$ | $E \simeq \frac12\sqrt{\omega I_0\gamma}$ |
# | $c > 1$, 0 outside the bulk of $K$ | $E = O(\gamma^2)$ |
# | $c = 1$, $\sigma > 0$, $\mu = 0$ | $E \simeq \frac23\bigl(\omega\gamma/(\sigma^2\omega + k(0)^2)\bigr)^{1/3}$ |
# | $f$ linear, $d = 0$, $\mu = 0$, $c > 1/4$, $c \ne 1$ | $E - (1 - c)_+ \simeq \sqrt{(4c - 1)\gamma/c}/(4\lvert a_1\rvert)$ |
# | the same at $c = 1$, $c = 1/4$, $c < 1/4$ | $\sqrt\gamma\,(\frac{\sqrt3}4 + \frac12)/\lvert a_1\rvert$, $\frac{\sqrt2}{8}\lvert a_1\rvert^{-3/2}\gamma^{3/4}$, $O(\gamma^2)$ |
# | $f$ linear, $c < 1$, with signal | $(1 - c)/(1 + r)$, except where $1 + a_1T \to 0$ |
#
# Linear regression (derivation 03): $(1 - c)/(1 + r)$ for $c < 1$, $\sqrt\gamma/(2(1 + r))$ at $c = 1$, $O(\gamma^2)$ above. As in derivation 09 on limits, orders are
# tested at $s$ and $s/16$. Runs in about four seconds.

# %%
import math

import numpy as np
import sympy as sp
from scipy.optimize import root

from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

c, gamma = sp.symbols("c gamma", positive=True)
a1, x, tau, kappa = sp.symbols("a_1 x tau kappa", real=True)
sigma2, m, delta, eps = sp.symbols("sigma^2 m delta epsilon", positive=True)
g_plus, t = gamma + sigma2 * delta, a1 * x + kappa - sigma2 * tau
D = g_plus * (1 + c * sigma2 * m * x) + c * x * t**2
M11, M12, M22 = (1 + c * sigma2 * m * x) / D, c * x * t / D, -c * x * g_plus / D


def error(a1, nu, c, gamma, d="0", overlaps=None):
    value = Attention(a1=a1, nu=nu, diagonal=d, overlaps=overlaps).error(c, gamma, digits=30)
    return sp.Float(str(value), 35)


def approaches(function, limit, start, order, tolerance=0.06):
    """Check that function(s) -> limit with |function(s) - limit| ~ s^order, from s = start and start/16."""
    first, second = (abs(function(sp.Rational(start) / scale) - limit) for scale in (1, 16))
    measured = math.log(first / second) / math.log(16)
    assert abs(measured - order) < tolerance, measured


# %% [markdown]
# ## $c < 1$
#
# $A$ has rank $p < n$, so $m \simeq M/\gamma$; put $g_+ = \gamma\,g$. For $x > 0$, $D \to c\,x\,\gamma^0(\sigma^2 g M + t^2)$, and at $x = 0$ (mass $1 - c$) $D = \gamma g$. With
# integrals over $x > 0$ only,
#
# $$J = \int_{x > 0}\frac{d\mathrm{MP}}{\sigma^2 gM + t^2}, \qquad \delta \to \gamma g\,J,\qquad \gamma m \to \frac{1 - c}{g} + \sigma^2M J,\qquad \tau \to \int_{x>0}\frac{t}{\sigma^2gM + t^2}.$$
#
# The first says $g(1 - \sigma^2J) = 1$, the second $M(1 - \sigma^2J) = (1 - c)/g$; together $M = 1 - c$: **the ridgeless equations** are the two for $g$ and $\tau$ at $M = 1 - c$. For
# $\sigma > 0$ they are regular, $m = (1 - c)/\gamma + m_0 + O(\gamma)$, and $E = -\gamma^2m' = 1 - c + O(\gamma^2)$.

# %%
M_, g_, J = sp.symbols("M g J", positive=True)
thin = {m: M_ / eps, gamma: eps, delta: (g_ - 1) * eps / sigma2}
assert sp.simplify(g_plus.subs(thin) - g_ * eps) == 0
level = sigma2 * g_ * M_ + t**2
positive_x = sp.Symbol("x_0", positive=True)
at_positive = {**thin, x: positive_x}
for integrand, power, limit in ((M11, 1, sigma2 * M_ / level), (M12, 0, t / level), (M22, -1, -g_ / level)):
    found = sp.limit(integrand.subs(at_positive) * eps**power, eps, 0)
    assert sp.simplify(found - limit.subs(x, positive_x)) == 0
assert sp.simplify((M11 * gamma).subs(x, 0).subs(thin) - 1 / g_) == 0
solution = sp.solve([g_ - (1 + sigma2 * g_ * J), M_ - ((1 - c) / g_ + sigma2 * M_ * J)], [g_, M_], dict=True)
assert [sp.simplify(s[M_] - (1 - c)) for s in solution] == [0]
for point in (("3/5", "1/2", "1/2"), ("-1/2", "2", "1/5")):
    approaches(lambda u, p=point: error(*p, u), 1 - sp.Rational(point[2]), "1/10000", 2)
# the constant of gamma^2 is huge near c = 1 and where f is nearly linear
assert 100 < (error("3/5", "1/2", "1/2", "1/10000000") - 0.5) * 10**14 < 120
assert 0.9e5 < (error("3/5", "37/100", "9/10", "1/100000000") - 0.1) * 10**16 < 1.1e5

# %% [markdown]
# *With a signal.* $\gamma M_{11}$, $M_{12}$ and $M_{22}/\gamma$ have limits, so the six sums of Theorem 1 scale as $F, P, x_u \sim 1/\gamma$, $T, x_v \sim 1$, $R \sim \gamma$, and every term
# of $\gamma q$ has one: $E_0 = \lim\gamma q$ is the formula of Theorem 1 with these limits in place of $M$, where $e$ alone has a mass at 0, $(1 - c)/(1 + r)$. For $w = 0$
#
# $$E_0 = \frac{1 - c}{1 + r}\cdot\frac1g + \sigma^2(1 - c)\int_{x>0}\frac{d\mu_e(x)}{\sigma^2g(1 - c) + t^2} .$$
#
# The six integrals are done below by quadrature against the densities of the measures (and their outliers), independently of the package. **$E_0 \le 1 - c$ does not hold in general**: with $d \ne 0$ it can be
# larger, $(a_1, \nu, c, d, r) = (-0.2, 1, 0.4, 2.5, 4)$: $0.70995$.

# %%
F, P, T, R, x_u, x_v = sp.symbols("F P T R x_u x_v")
q = F + (a1**2 * (R * x_u**2 + P * x_v**2) - 2 * a1 * (1 + a1 * T) * x_u * x_v) / ((1 + a1 * T) ** 2 - a1**2 * P * R)
scaled = q.subs({F: F / eps, P: P / eps, x_u: x_u / eps, R: R * eps}, simultaneous=True)
assert sp.simplify(eps * scaled - q) == 0


# the spiked overlaps of derivation 07; each has its outlier at T = -1/r (r > sqrt c, so that |T| < c^{-1/2})
r, T_ = sp.symbols("r T", positive=True)
av, bv, ab = sp.symbols("a_mu b_mu ab", real=True)
z_T = (c * T_ - 1) * (1 - T_) / (c * T_)
EE = c * T_ / ((1 - T_) * (1 + r * T_))
EV = sp.sqrt(c) * av * T_ / (1 + r * T_)
AB = T_ * (ab + av * bv * (1 - T_) / (1 + r * T_))
assert sp.simplify(z_T.subs(T_, -1 / r) - (1 + r) * (1 / r + 1 / c)) == 0


def outlier_mass(overlap):
    """Return minus the residue in z at the outlier."""
    return sp.factor(-(sp.cancel(overlap * (1 + r * T_)) * sp.diff(z_T, T_)).subs(T_, -1 / r) / r)


assert sp.simplify(outlier_mass(EE) - (r**2 - c) / (r * (1 + r))) == 0
assert sp.simplify(outlier_mass(EV) - av * (r**2 - c) / (sp.sqrt(c) * r**2)) == 0
assert sp.simplify(outlier_mass(AB) - av * bv * (r**2 - c) * (1 + r) / (c * r**3)) == 0
MEASURES = {
    name: (sp.lambdify((T_, c, r, av, bv, ab), overlap), sp.lambdify((c, r, av, bv, ab), outlier_mass(overlap)))
    for name, overlap in (("ee", EE), ("ev", EV), ("ab", AB))
}


def bulk_nodes(c_, count=4000):
    """Nodes x, density of Z^T Z/p at them times their weights, and the boundary value of T (Chebyshev nodes of the second kind)."""
    angle = np.arange(1, count + 1) * np.pi / (count + 1)
    nodes = 1 + 1 / c_ - 2 * np.cos(angle) / np.sqrt(c_)  # = z(T) on the circle T = e^{i angle}/sqrt c
    density = np.sin(angle) * np.sqrt(c_) / (np.pi * nodes)
    return nodes, density * 2 * np.sin(angle) / np.sqrt(c_) * np.pi / (count + 1), np.exp(1j * angle) / np.sqrt(c_)


SLOPE = a1  # the symbol: the function has an argument of that name


def ridgeless(a1, nu, c_, d, overlaps):
    """Return E_0 for c < 1; `overlaps` are mu.mu, mu.w_K, mu.w_Q, w_K.w_K, w_Q.w_Q, w_K.w_Q."""
    s2 = (nu - a1**2) / c_
    nodes, weights, circle = bulk_nodes(c_)
    assert abs(weights.sum() - c_) < 1e-12  # the mass of x > 0

    def system(unknowns):
        line = a1 * nodes + d - a1 - s2 * unknowns[1]
        level = s2 * np.exp(unknowns[0]) * (1 - c_) + line**2
        return np.exp(-unknowns[0]) - 1 + s2 * (weights / level).sum(), unknowns[1] - (weights * line / level).sum()

    found = root(system, [0.5, 0.0], tol=1e-13)
    assert found.success
    g, tau = np.exp(found.x[0]), found.x[1]
    rr, mK, mQ, KK, QQ, KQ = overlaps

    def limits(x):
        """gamma M_11, M_12, M_22/gamma at x > 0."""
        line = a1 * x + d - a1 - s2 * tau
        level = s2 * g * (1 - c_) + line**2
        return s2 * (1 - c_) / level, line / level, -g / level

    def total(entry, name, *products):
        """Integral over x > 0 of an entry of M against the measure of an overlap: its density is |Im|/pi, its outlier a mass."""
        transform, mass = MEASURES[name]
        values = (*products, 0.0, 0.0)[:3]
        bulk = weights * transform(circle, c_, rr, *values).imag / (c_ * circle / (1 - circle)).imag
        result = (bulk * limits(nodes)[entry]).sum()
        if rr > np.sqrt(c_):
            result += mass(c_, rr, *values) * limits((1 + rr) * (1 / rr + 1 / c_))[entry]
        return result

    sums = {
        F: (1 - c_) / (1 + rr) / g + total(0, "ee", 0.0),
        x_u: total(0, "ev", mQ),
        x_v: total(1, "ev", mK),
        P: total(0, "ab", mQ, mQ, QQ),
        T: total(1, "ab", mQ, mK, KQ),
        R: total(2, "ab", mK, mK, KK),
    }
    return float(q.subs({**sums, SLOPE: a1}))


for point, overlaps in (
    ((0.6, 0.5, 0.5, 0.0), (0.5, 0, 0, 0, 0, 0)),
    ((0.6, 0.5, 0.5, 0.0), (2.0, 0, 0, 0, 0, 0)),
    ((-0.2, 1.0, 0.4, 2.5), (4.0, 0, 0, 0, 0, 0)),
    ((0.6, 0.5, 0.5, 0.3), (1.5, 0.5, -0.6, 1.3, 0.7, -0.4)),
    ((0.6, 0.5, 0.8, 0.0), (0.5, 0.4, 0.4, 1.0, 1.0, 0.5)),
):
    a_, nu_, c_, d_ = (str(sp.nsimplify(v)) for v in point)
    exact = Overlaps(*(str(sp.nsimplify(v)) for v in overlaps))
    assert abs(ridgeless(*point, overlaps) - error(a_, nu_, c_, "1/10000000000", d_, exact)) < 1e-8
assert abs(ridgeless(-0.2, 1.0, 0.4, 2.5, (4.0, 0, 0, 0, 0, 0)) - 0.70995) < 1e-5

# %% [markdown]
# ## $c > 1$: zero inside the bulk of $K$
#
# Now $m$ and $g_+$ balance: $m = m_0\gamma^{-1/2}$, $g_+ = g_0\gamma^{1/2}$, and $\omega = g_+m$ stays finite. $D \to c\,x\,(\sigma^2\omega + k(x)^2)$ with $k = t$, and with
#
# $$\psi(x) = \frac1{\sigma^2\omega + k(x)^2}, \qquad k(x) = a_1(x - 1) + d - \sigma^2h, \qquad h = \tau = \int k\,\psi\,d\mathrm{MP},$$
#
# the equation of $\delta$ is $g_+(1 - \sigma^2\int\psi) = \gamma$, to leading order $\sigma^2\int\psi = 1$: two equations for $\omega$ and $h$. The equation of $m$ is
# $m\,(1 - \sigma^2\int\psi) = I_0$ with $I_0 = \int \psi/(cx)$; dividing, $m/g_+ = I_0/\gamma$. So $m^2 = \omega I_0/\gamma$ and
#
# $$E = -\gamma^2\frac{dm}{d\gamma} \simeq \frac12\sqrt{\omega I_0\gamma} .$$
#
# (The next term of $m$ is a constant, which drops out of $E$: the relative correction is $O(\gamma)$.)
#
# **What it means**: $\int d\mathrm{MP}/(k_0(x) - \sigma^2 m_K) = m_K$ is the equation of the law of $K$ at $z = 0$ (derivation 05) with $\sigma m_K = \sigma h + i\sqrt\omega$: $\sqrt\omega/(\pi\sigma)$ **is
# the density of $K$'s eigenvalues at 0**. The law of $K$ is the free convolution of a Marchenko-Pastur law (one interval, for $c > 1$) with a semicircle, supported on one
# interval (Biane: such a convolution does not create gaps), of mean $d$: for $d = 0$ zero is inside.

# %%
omega = sp.Symbol("omega", positive=True)
m0, g0, I0 = sp.symbols("m_0 g_0 I_0", positive=True)
balance = {m: omega / (g0 * sp.sqrt(eps)), delta: (g0 * sp.sqrt(eps) - eps) / sigma2, gamma: eps}
assert sp.simplify((g_plus * m).subs(balance) - omega) == 0
psi = 1 / (sigma2 * omega + t**2)
half = sp.Rational(1, 2)
bal_x = {**balance, x: positive_x}
assert sp.simplify(sp.limit(M12.subs(bal_x), eps, 0) - (t * psi).subs(x, positive_x)) == 0
assert sp.simplify(sp.limit((-M22 / g_plus).subs(bal_x), eps, 0) - psi.subs(x, positive_x)) == 0
# the equation of m holds exactly before the limit: m - sigma^2 m int cx/D g_+ ... = int 1/D
assert sp.simplify(M11 - 1 / D - sigma2 * m * (-M22) / g_plus) == 0
assert sp.simplify(sp.limit((1 / D).subs(bal_x), eps, 0) - (psi / (c * x)).subs(x, positive_x)) == 0
trace = sp.sqrt(omega * I0 / gamma)
assert sp.simplify(trace**2 - omega * I0 / gamma) == 0
assert sp.simplify(-(gamma**2) * sp.diff(trace, gamma) - sp.sqrt(omega * I0 * gamma) / 2) == 0
# real and imaginary part of the equation of K's law at z = 0
k, h = sp.symbols("k h", real=True)
sigma = sp.sqrt(sigma2)
law = 1 / (
    k - sp.I * sigma * sp.sqrt(omega)
)  # k_0 - sigma^2 m_K with m_K = h + i sqrt(omega)/sigma and k = k_0 - sigma^2 h
assert sp.simplify(sp.re(law) - k / (sigma2 * omega + k**2)) == 0
assert sp.simplify(sp.im(law) - sigma * sp.sqrt(omega) / (sigma2 * omega + k**2)) == 0
# its imaginary part equals sqrt(omega)/sigma iff sigma^2 int psi = 1
assert sp.simplify(sigma * sp.sqrt(omega) - sp.sqrt(omega) / sigma / (1 / sigma2)) == 0


def omega_and_h(a1, nu, c_, d):
    """Solve sigma^2 int psi = 1, h = int k psi; return omega, h, int psi/(c x)."""
    s2 = (nu - a1**2) / c_
    nodes, weights, _ = bulk_nodes(c_)
    weights = weights / weights.sum()

    def system(unknowns):
        line = a1 * (nodes - 1) + d - s2 * unknowns[1]
        level = weights / (s2 * np.exp(unknowns[0]) + line**2)
        return s2 * level.sum() - 1, unknowns[1] - (line * level).sum()

    found = root(system, [0.0, 0.0], tol=1e-13)
    if not found.success:
        return None
    w, h_ = np.exp(found.x[0]), found.x[1]
    line = a1 * (nodes - 1) + d - s2 * h_
    return w, h_, (weights / (c_ * nodes * (s2 * w + line**2))).sum(), s2


for point in ((0.6, 0.5, 2.0, 0.0), (-0.3, 2.0, 3.0, 0.5), (1.0, 1.3, 4.0, 0.2)):
    w, h_, i0, _ = omega_and_h(*point)
    strings = [str(sp.nsimplify(v)) for v in point]
    approaches(lambda u, p=strings: error(*p[:3], u, p[3]) / sp.sqrt(u), math.sqrt(w * i0) / 2, "1/10000", 1, 0.1)

# %% [markdown]
# *$a_1 = 0$, $d = 0$*: $k = h = 0$, $\psi = 1/(\sigma^2\omega)$, so $\omega = 1$, and $I_0 = \frac1{c\sigma^2}\int\frac{d\mathrm{MP}}x = \frac1\nu\cdot\frac{c}{c - 1}$: $E \simeq \frac12\sqrt{c\gamma/(\nu(c - 1))}$,
# as the closed form of the previous page says.

# %%
h_of = sp.Symbol("h_of", positive=True)
lam = sp.Symbol("lambda", positive=True)
# int dMP/x solves 1/h = 1/(1 + h/c): the Marchenko-Pastur equation at lambda = 0
assert sp.solve(1 / h_of - 1 / (1 + h_of / c), h_of) == [c / (c - 1)]
assert sp.solve(sigma2 * (1 / (sigma2 * omega)) - 1, omega) == [1]
nu = sp.Symbol("nu", positive=True)
plain = sp.sqrt(I0 * gamma).subs(I0, 1 / nu * c / (c - 1)) / 2
assert sp.simplify(plain - sp.sqrt(c * gamma / (nu * (c - 1))) / 2) == 0
approaches(lambda u: error("0", "2", "3", u) / sp.sqrt(u), plain.subs({nu: 2, c: 3, gamma: 1}), "1/10000", 1)

# %% [markdown]
# *Zero outside the bulk* ($d$ large): no $\omega > 0$ solves the equations, $K$ is invertible, $m$ and its derivative stay finite, and $E = -\gamma^2m' = O(\gamma^2)$.

# %%
assert omega_and_h(0.6, 0.5, 2.0, 3.0) is None
approaches(lambda u: error("3/5", "1/2", "2", u, "3"), 0, "1/10000", 2)

# %% [markdown]
# ## $c = 1$
#
# The law reaches 0 with density $\simeq 1/(\pi\sqrt x)$, $I_0$ diverges, and $\int 1/D$ is dominated by small $x$, where $D \simeq g_+ + b\,x$ with $b = \sigma^2\omega + k(0)^2$:
#
# $$\int\frac1D \simeq \int_0^\infty\frac{dx}{\pi\sqrt x\,(g_+ + b\,x)} = \frac1{\sqrt{g_+b}} .$$
#
# $m\gamma/g_+ = \int 1/D$ as before, and $g_+ = \omega/m$: $(\gamma m)^3 = \omega\gamma/b$, hence $E = -\gamma^2m' = \frac23\gamma m$,
#
# $$E \simeq \frac23\Bigl(\frac{\omega\,\gamma}{\sigma^2\omega + k(0)^2}\Bigr)^{1/3} .$$

# %%
b_, G = sp.symbols("b g_+", positive=True)
edge = sp.Symbol("y", positive=True)  # x = y^2
assert sp.simplify(sp.integrate(2 / (sp.pi * (G + b_ * edge**2)), (edge, 0, sp.oo)) - 1 / sp.sqrt(G * b_)) == 0
density_one = sp.sqrt(x * (4 - x)) / (2 * sp.pi * x)  # of the law at c = 1
assert sp.limit(density_one * sp.sqrt(x), x, 0) == 1 / sp.pi
near_zero = sp.cancel((D - g_plus) / x).subs(x, 0)  # D = g_+ + near_zero x + ..., and g_+ m = omega
assert sp.expand(near_zero - c * (sigma2 * g_plus * m + t.subs(x, 0) ** 2)) == 0
balance_one = sp.Eq(m * gamma / G, 1 / sp.sqrt(G * b_))
m_one = (omega * gamma / b_) ** sp.Rational(1, 3) / gamma
assert sp.simplify((balance_one.lhs / balance_one.rhs).subs(G, omega / m).subs(m, m_one)) == 1
assert sp.simplify(-(gamma**2) * sp.diff(m_one, gamma) - sp.Rational(2, 3) * gamma * m_one) == 0
for point in ((0.6, 0.5, 1.0, 0.0), (-0.3, 2.0, 1.0, 0.4)):
    w, h_, _, s2 = omega_and_h(*point)
    at_zero = -point[0] + point[3] - s2 * h_
    rate = 2 / 3 * (w / (s2 * w + at_zero**2)) ** (1 / 3)
    strings = [str(sp.nsimplify(v)) for v in point]
    approaches(
        lambda u, p=strings: error(*p[:3], u, p[3]) / u ** sp.Rational(1, 3),
        rate,
        "1/10000000000",
        sp.Rational(1, 3),
        0.1,
    )
for r_ in ("0", "3/2"):
    regression = LinearRegression(mu_mu=r_)
    expected = 1 / (2 * (1 + sp.Rational(r_)))
    approaches(
        lambda u, R=regression: sp.Float(str(R.error(1, u, digits=30)), 35) / sp.sqrt(u), expected, "1/100000", 1
    )

# %% [markdown]
# ## $f$ linear, $d = 0$, $\mu = 0$
#
# $m = \int d\mathrm{MP}/(\gamma + c\,a_1^2\,x(x - 1)^2)$. Zeros of $x(x - 1)^2$ in the support are what counts.
#
# - *$x = 1$ inside the bulk*: $1 > (1 - c^{-1/2})^2$, that is $c > 1/4$. The density there is $p(1) = \sqrt{4c - 1}/(2\pi)$ and
#   $\int du/(\gamma + ca_1^2u^2) = \pi/(|a_1|\sqrt{c\gamma})$.
# - *$x = 0$*: the mass $1 - c$ gives $(1 - c)/\gamma$ for $c < 1$; at $c = 1$ the edge gives $1/\sqrt{g_+b} = 1/(|a_1|\sqrt\gamma)$ with $b = a_1^2$.
# - *$c = 1/4$*: $x = 1$ is the lower edge, $p \simeq \frac{\sqrt{8u}}{8\pi}$ with $u = x - 1$, and $\int_0^\infty\sqrt u\,du/(\gamma + Bu^2) = \frac{\pi}{\sqrt2}B^{-3/4}\gamma^{-1/4}$, $B = a_1^2/4$.
#
# A term $\alpha\gamma^{-s}$ of $m$ is a term $s\,\alpha\gamma^{1-s}$ of $E$.

# %%
size = sp.Symbol("a", positive=True)  # |a_1|
u = sp.Symbol("u", positive=True)
edges = [(1 + sign / sp.sqrt(c)) ** 2 for sign in (-1, 1)]
density = c * sp.sqrt((edges[1] - x) * (x - edges[0])) / (2 * sp.pi * x)
assert sp.simplify(((edges[1] - 1) * (1 - edges[0])) - (4 * c - 1) / c**2) == 0
assert sp.simplify((density.subs(c, 1) / density_one) ** 2 - 1) == 0  # the section above
inside = sp.sqrt(4 * c - 1) / (2 * sp.pi)
assert sp.simplify((density.subs(x, 1) / inside) ** 2 - 1) == 0
B = sp.Symbol("B", positive=True)
assert sp.simplify(sp.integrate(1 / (gamma + B * u**2), (u, -sp.oo, sp.oo)) - sp.pi / sp.sqrt(B * gamma)) == 0


def error_of(term):
    return sp.simplify(-(gamma**2) * sp.diff(term, gamma))


bulk = error_of(inside * sp.pi / sp.sqrt(c * size**2 * gamma))
assert sp.simplify(bulk - sp.sqrt((4 * c - 1) * gamma / c) / (4 * size)) == 0
hard = error_of(1 / sp.sqrt(gamma * size**2))
at_one = bulk.subs(c, 1) + hard
assert sp.simplify(at_one - sp.sqrt(gamma) * (sp.sqrt(3) / 4 + sp.Rational(1, 2)) / size) == 0
quarter = density.subs(c, sp.Rational(1, 4)).subs(x, 1 + u)
assert sp.simplify(sp.limit(quarter / sp.sqrt(u), u, 0) - sp.sqrt(8) / (8 * sp.pi)) == 0
v = sp.Symbol("v", positive=True)  # u = v^2
root_integral = sp.integrate(2 * v**2 / (1 + v**4), (v, 0, sp.oo))
assert (
    sp.simplify(root_integral - sp.pi / sp.sqrt(2)) == 0
)  # B = gamma = 1; the rest is scaling, u -> u sqrt(gamma/B)
scaled_integral = (sp.sqrt(gamma / B) ** sp.Rational(3, 2)) / gamma
assert sp.simplify(scaled_integral - B ** sp.Rational(-3, 4) * gamma ** sp.Rational(-1, 4)) == 0
edge_term = sp.sqrt(8) / (8 * sp.pi) * sp.pi / sp.sqrt(2) * scaled_integral.subs(B, size**2 / 4)
at_quarter = sp.sqrt(2) / 8 * size ** sp.Rational(-3, 2) * gamma ** sp.Rational(3, 4)
assert sp.simplify(error_of(edge_term) / at_quarter) == 1
for result in (bulk, at_one, at_quarter):
    print(sp.latex(result))
values = {size: sp.Rational(3, 5), gamma: 1}
for ratio, constant, expected, power, order in (  # the order is that of the next term
    ("2", 0, bulk.subs(c, 2), half, 1),
    ("1/2", half, bulk.subs(c, half), half, 1),
    ("1", 0, at_one, half, 1),
    ("1/4", sp.Rational(3, 4), at_quarter, sp.Rational(3, 4), half),
):
    target = sp.N(expected.subs(values), 30)
    approaches(
        lambda s, k=ratio, e=power, low=constant: (error("3/5", "9/25", k, s) - low) / s**e,
        target,
        "1/100000000",
        order,
    )
approaches(lambda s: error("3/5", "9/25", "1/5", s), sp.Rational(4, 5), "1/1000000", 2)

# %% [markdown]
# ## $f$ linear, $c < 1$, with a signal
#
# $\sigma = 0$: $D = \gamma + c\,x\,t^2$. At $x = 0$, $\gamma M_{11} = 1$ and $e$ has the mass $(1 - c)/(1 + r)$; the rest of $\gamma F$ vanishes like $\sqrt\gamma$ if $t$ has a zero in the bulk (at $d = 0$: $x = 1$, $c > 1/4$), like
# $\gamma$ if not. In the coupling, a zero of $t$ gives $x_u, P \sim \gamma^{-1/2}$, $x_v, T \sim 1$, $R \sim \gamma^{1/2}$, so $\gamma\cdot$coupling $= O(\sqrt\gamma)$ over a denominator that stays away from 0, since $-a_1^2PR$ has a positive limit. Hence
#
# $$E \to \frac{1 - c}{1 + r} .$$
#
# *The exception* needs $t \ne 0$ in the bulk (here $c < 1/4$): then $x_u, x_v, P, T \sim 1$, $R \sim \gamma$ and the denominator tends to $(1 + a_1T)^2$. Where that vanishes, $-a_1^2PR \sim \gamma$ takes over and $\gamma q$ keeps
# $-\gamma x_v^2/R$. On the support off 0, $M_{12} \to 1/t$ and $M_{22} \to -\gamma/t^2$, and at $d = 0$ $t = a_1(x - 1)$: $a_1T = \phi_Q^T(\tilde G - 1)^{-1}\phi_K$, a spiked overlap at $z = 1$, where $cT^2 - T + 1 = 0$. So the exception is explicit, at
#
# $$1 + T\Bigl[w_K\cdot w_Q + (\mu\cdot w_K)(\mu\cdot w_Q)\frac{1 - T}{1 + rT}\Bigr] = 0, \qquad T = \frac{1 - \sqrt{1 - 4c}}{2c} ;$$
#
# for $c = 1/5$, $r = 3/2$ and $w_K = -w_Q = s\mu$ it is $s^2 = 0.5929618127$, and $E \to 0.69082$ instead of $0.32$.

# %%
assert sp.simplify((z_T - 1) * c * T_ + c * T_**2 - T_ + 1) == 0
at_z_one = (1 - sp.sqrt(1 - 4 * c)) / (2 * c)
assert sp.simplify((c * T_**2 - T_ + 1).subs(T_, at_z_one)) == 0
assert (c * at_z_one**2).subs(c, sp.Rational(1, 5)) < 1  # inside the circle
linear = {sigma2: 0}
for integrand, power, limit in ((M11, 0, 1 / (c * x * t**2)), (M12, 0, 1 / t), (M22, -1, -1 / t**2)):
    found = sp.limit((integrand * gamma**power).subs(linear).subs(x, positive_x), gamma, 0)
    assert sp.simplify(found - limit.subs(linear).subs(x, positive_x)) == 0
r_, c_, s2_ = sp.Rational(3, 2), sp.Rational(1, 5), sp.Symbol("s2")
T_value = at_z_one.subs(c, c_)
condition = 1 + T_value * (-s2_ * r_ - s2_ * r_**2 * (1 - T_value) / (1 + r_ * T_value))
(special,) = sp.solve(condition, s2_)
assert abs(sp.N(special, 20) - sp.Float("0.5929618127", 15)) < 1e-10


def opposite(square):
    """Overlaps of w_K = -w_Q = s mu with s^2 = square: by the symmetry of keys and queries, w_K = s^2 mu and w_Q = -mu."""
    exact = sp.Rational(str(sp.N(square, 45)))
    return Overlaps(r_, exact * r_, -r_, exact**2 * r_, r_, -exact * r_)


def linear_error(square, ridge):
    value = Attention(a1=1, nu=1, overlaps=opposite(square)).error("1/5", ridge, digits=25)
    return sp.Float(str(value), 30)


approaches(lambda s: linear_error(sp.Rational(1, 2), s), sp.Rational(8, 25), "1/1000000", 2)
assert abs(linear_error(special, sp.Rational(1, 10**9)) - 0.69082) < 1e-5
# -gamma x_v^2/R in closed form: x_v = e^T (G~ - 1)^{-1} phi_K / a_1, R = -gamma d/dz phi_K^T (G~ - z)^{-1} phi_K / a_1^2 at z = 1
overlap_v = sp.sqrt(c) * r_ * T_ / (1 + r_ * T_)  # times s
overlap_kk = T_ * (r_ + r_**2 * (1 - T_) / (1 + r_ * T_))  # times s^2
derivative = sp.diff(overlap_kk, T_) / sp.diff(z_T, T_)
extra = (overlap_v**2 / derivative).subs(c, c_).subs(T_, T_value)
assert abs(sp.N((1 - c_) / (1 + r_) + extra, 20) - linear_error(special, sp.Rational(1, 10**9))) < 1e-7
print(sp.N((1 - c_) / (1 + r_) + extra, 12))
# with a zero of t in the bulk there is no exception: c = 1/2 at the same weights
model = Attention(a1=1, nu=1, overlaps=opposite(special))
approaches(lambda s: sp.Float(str(model.error("1/2", s, digits=25)), 30), sp.Rational(1, 5), "1/1000000000", half)
