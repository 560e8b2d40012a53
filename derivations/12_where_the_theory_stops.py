# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Where the limit theory stops
#
# Theorem 1 assumes a centred $f$, balanced labels, Gaussian noise, a diagonal replaced by a constant, and infinite size. This page takes the assumptions away one by
# one, derives what happens, and looks at a simulation:
#
# 1. $f$ not centred; 2. $a_2 \ne 0$ and unbalanced labels; 3. skewed noise; 4. the diagonal of $f$ itself; 5. finite size.
#
# Each perturbation has finite rank (or acts like a little more noise), so the tool is always the same: the resolvent of derivations 06 and 07 between the vectors
# involved, and Woodbury's identity. Simulations are of moderate size; every comparison states its allowance. Runs in about twenty seconds.

# %%
import numpy as np
import sympy as sp

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.overlaps import Overlaps

m, tau, delta, rho, s, theta = sp.symbols("m tau delta rho s theta")
mp = local_context(bits(45))


def solution(a1, nu, c, gamma):
    """Return m, delta, tau of Proposition 1 as mpf."""
    found = Attention(a1=a1, nu=nu).solve(c, gamma, digits=40)
    return tuple(mp.mpf(found[name]) for name in ("trace", "delta", "tau"))


def error_of(form, gamma):
    """E = -gamma^2 dq/dgamma for q = form(gamma), by a central difference of width 1e-15."""
    gamma, step = sp.Rational(gamma), sp.Rational(1, 10**15)
    slope = (form(gamma + step) - form(gamma - step)) / mp.mpf(2e-15)
    return float(-((mp.mpf(gamma.p) / gamma.q) ** 2) * slope)


def unbalanced(n, mean):
    """Labels with 1^T y/n = mean."""
    return np.where(np.arange(n) < round(n * (1 + mean) / 2), 1.0, -1.0)


# %% [markdown]
# ## 1. $f$ not centred
#
# $a_0 \ne 0$ adds $\frac{a_0}{\sqrt p}(\mathbf 1\mathbf 1^T - I)$ to $K$: the direction $\hat 1 = \mathbf 1/\sqrt n$ with the strength $s = a_0\,n/\sqrt p = a_0\sqrt{n/c} \to \infty$. In the
# coordinates $(u, c\,t)$ of derivation 07, $K$ stands in the blocks $(u, t)$ and $(t, u)$ with the factor 1, and the noise resolvent is $h \otimes I$ with
#
# $$h = \begin{pmatrix} m & \tau \\ \tau & -\delta\end{pmatrix}.$$
#
# With $\mu = 0$ and $\rho = \mathbf 1^Ty/n$ the bilinear forms of $(e, 0)$, $(\hat1, 0)$, $(0, \hat1)$ are those below, and Woodbury's identity gives as $s \to \infty$
#
# $$q = (1 - \rho^2)\,m .$$
#
# Balanced labels do not see it; otherwise the constant label direction is fitted perfectly.
#
# That a change $\Delta$ of $K$ (symmetric) enters the resolvent in these coordinates as $J \otimes \Delta$ is exact, and checked first.

# %%
J = sp.Matrix([[0, 1], [1, 0]])


def uct_block(K, G, c, gamma):
    """Return the block of (u, c t) of the pencil's inverse."""
    n = K.rows
    zero, unit = sp.zeros(n), sp.eye(n)
    pencil = sp.BlockMatrix(
        [[gamma * unit, c * K, zero], [c * K, zero, -c * unit], [zero, -c * unit, c * G]]
    ).as_explicit()
    scale = sp.diag(unit, c * unit)
    return scale * pencil.inv()[: 2 * n, : 2 * n] * scale


K_, G_, Delta = sp.Matrix([[1, 2], [2, -1]]), sp.Matrix([[2, 1], [1, 3]]), sp.Matrix([[1, -1], [-1, 2]])
third, half = sp.Rational(1, 3), sp.Rational(1, 2)
before, after = (uct_block(matrix, G_, half, third) for matrix in (K_, K_ + Delta))
assert after == (before.inv() + sp.kronecker_product(J, Delta)).inv()

h = sp.Matrix([[m, tau], [tau, -delta]])
forms = sp.Matrix([[m, rho * m, rho * tau], [rho * m, m, tau], [rho * tau, tau, -delta]])
perturbed = forms[0, 0] - (forms[:1, 1:] * ((s * J).inv() + forms[1:, 1:]).inv() * forms[1:, :1])[0]
assert sp.simplify(sp.limit(perturbed, s, sp.oo) - (1 - rho**2) * m) == 0
assert sp.simplify(perturbed.subs(rho, 0) - m) == 0

size = 400
f = Nonlinearity("tanh(x)")
limit = Attention(f).error(0.5, 0.5)
for mean in (0.0, 0.6):
    estimate = simulate_attention(
        lambda scores: np.tanh(scores) + 0.4,
        None,
        size,
        size // 2,
        [0.5],
        trials=6,
        rng=91,
        labels=unbalanced(size, mean),
    )[0].error
    expected = (1 - mean**2) * limit
    print(estimate, expected)
    assert abs(estimate.mean - expected) < 5 * estimate.standard_error + 2 / size

# %% [markdown]
# ## 2. $a_2 \ne 0$ and unbalanced labels
#
# $K$ contains $\theta\,(\hat g_1\hat1^T + \hat1\hat g_1^T)$ with $\theta = a_2|\hat g|/c$ and a unit vector $\hat g_1$ orthogonal to $\hat1$ (derivation 05). On
# $(u, ct) \otimes (\hat1, \hat g_1)$ the inverse of the resolvent is $h^{-1}\otimes I_2$ plus $\theta J$ between $\hat 1$ and $\hat g_1$. Eliminating $\hat g_1$,
#
# $$q = (1 - \rho^2)\,m + \rho^2\bigl[(h^{-1} - \theta^2JhJ)^{-1}\bigr]_{11} .$$

# %%
full = sp.BlockMatrix([[h.inv(), theta * J], [theta * J, h.inv()]]).as_explicit()
eliminated = (h.inv() - theta**2 * J * h * J).inv()
assert (full.inv()[:2, :2] - eliminated).applyfunc(sp.simplify) == sp.zeros(2)
corner = sp.factor(eliminated[0, 0])
assert sp.simplify(corner.subs(theta, 0) - m) == 0
assert sp.simplify(sp.limit(corner, theta, sp.oo)) == 0  # as in section 1
print(sp.latex(corner))
numeric_corner = sp.lambdify((m, delta, tau, theta), corner, "math")

# %% [markdown]
# The check: $f = h_2$, $\rho = 1/2$, $c = 1/2$, $\gamma = 10^{-3}$ ($a_1 = 0$, $\nu = 1$, $|\hat g| = 1$, $\theta = 2$). The balanced formula says $E = 0.500$, this one $0.4375$, the simulation decides.


# %%
def with_a2(gamma):
    values = solution(0, 1, "1/2", gamma)
    return mp.mpf(3) / 4 * values[0] + numeric_corner(*values, mp.mpf(2)) / 4


expected, balanced = error_of(with_a2, "1/1000"), Attention(a1=0, nu=1).error("1/2", "1/1000")
assert abs(expected - 0.4375) < 5e-5
assert abs(balanced - 0.500) < 5e-4
estimate = simulate_attention(
    lambda scores: (scores**2 - 1) / np.sqrt(2),
    None,
    500,
    250,
    [1e-3],
    trials=10,
    rng=92,
    labels=unbalanced(500, 0.5),
)[0].error
print(estimate, expected, balanced)
assert abs(estimate.mean - expected) < 5 * estimate.standard_error + 2.5 / 500
assert abs(estimate.mean - balanced) > 5 * estimate.standard_error

# %% [markdown]
# ## 3. Skewed noise
#
# Let the entries of $Z$ have skewness $\kappa_3$ and excess kurtosis $\kappa_4$. $\hat g_i = (|z_i|^2 - p)/\sqrt{2pn}$ is then correlated with linear functions of $z_i$:
# $E[z(z^2 - 1)] = \kappa_3$. With $\mathbf u = \mathbf 1_p/\sqrt p$ and $N = Z/\sqrt p$, the regression of $\hat g$ on $Z$ is
#
# $$\hat g = \kappa_3\sqrt{c/2}\;N^T\mathbf u + \text{rest},\qquad |\text{rest}|^2 = \frac{\kappa_4 + 2 - \kappa_3^2}{2},\qquad N^T\mathbf u = \phi_{\mathbf u} - \frac{\mu\cdot\mathbf u}{\sqrt c}\,e .$$
#
# If $\mu\cdot\mathbf u \ne 0$, $\hat g$ is coupled to the labels through $\phi_{\mathbf u}$ and $e$, the term of $a_2$ couples $\hat g$ with $\hat1$, **and even balanced labels see it**. ($a_3\kappa_3^2$ adds a
# multiple of $\hat1\hat1^T$: the mean of $h_3(s_{ij})$ is $\kappa_3^2/\sqrt{6p}$. The example has $a_3 = 0$.) Symmetric noise, $\kappa_3 = 0$, or $\mu\cdot\mathbf u = 0$, leaves Theorem 1 as it is.

# %%
kappa3, kappa4, n, p, c = sp.symbols("kappa_3 kappa_4 n p c", positive=True)
# one token: regression of sum (z^2 - 1)/sqrt(2 p n) on sum z/sqrt(p), with E z^2 = 1, E z^3 = kappa_3, E z^4 = kappa_4 + 3
covariance, variance = p * kappa3 / sp.sqrt(2 * p * n) / sp.sqrt(p), sp.Integer(1)
slope = covariance / variance  # times (Z^T u)_i = sqrt(p) (N^T u)_i
assert sp.simplify((slope * sp.sqrt(p)).subs(n, p / c) - kappa3 * sp.sqrt(c / 2)) == 0
remainder = n * (p * (kappa4 + 3 - 1) / (2 * p * n) - slope**2)
assert sp.simplify(remainder - (kappa4 + 2 - kappa3**2) / 2) == 0
# the mean of a product of p such entries: E s^3 = p kappa_3^2/p^{3/2}, so E h_3 = kappa_3^2/sqrt(6 p)
assert sp.simplify(p * kappa3**2 / p ** sp.Rational(3, 2) / sp.sqrt(6) - kappa3**2 / sp.sqrt(6 * p)) == 0


def with_ghat(ee, eu, uu, noise, root_c, mu_u, beta, rest):
    """Return the forms (e, g^) and (g^, g^), from g^ = beta (phi_u - e mu_u/sqrt c) + an independent rest."""
    return beta * (eu - mu_u / root_c * ee), beta**2 * (
        uu - 2 * mu_u / root_c * eu + mu_u**2 / root_c**2 * ee
    ) + rest * noise


# their masses, -z times the form as z -> infinity: g^ is orthogonal to e, and |g^|^2 = (kappa_4 + 2)/2
T, root_c, mu_u, r = sp.symbols("T R_c m_u r", positive=True)
z_T = (root_c**2 * T - 1) * (1 - T) / (root_c**2 * T)
noise = root_c**2 * T / (1 - T)
spiked = noise / (1 + r * T), root_c * mu_u * T / (1 + r * T), T * (1 + mu_u**2 * (1 - T) / (1 + r * T))
forms = with_ghat(*spiked, noise, root_c, mu_u, kappa3 * root_c / sp.sqrt(2), (kappa4 + 2 - kappa3**2) / 2)
masses = [sp.simplify(sp.limit(-z_T * form, T, 0)) for form in forms]
assert masses[0] == 0
assert sp.simplify(masses[1] - (kappa4 + 2) / 2) == 0


def skewed_form(a1, a2, c, gamma, r, mu_u, k3, k4):
    """Return q for balanced labels, w = 0: e, 1^ and g^ as the directions, spiked overlaps at the roots of D."""
    a1, a2, c = (sp.Rational(v) for v in (a1, a2, c))
    nu = a1**2 + a2**2
    m, delta, tau = solution(a1, nu, c, gamma)
    a1, a2, c, nu, gamma, r, mu_u, k3, k4 = (
        mp.mpf(sp.Rational(v).p) / sp.Rational(v).q for v in (a1, a2, c, nu, gamma, r, mu_u, k3, k4)
    )
    s2 = (nu - a1**2) / c
    k, plus = -a1 - s2 * tau, gamma + s2 * delta
    cubic = [c * a1**2, 2 * c * a1 * k, c * k**2 + plus * c * s2 * m, plus]
    beta = k3 * mp.sqrt(c / 2)
    forms = mp.zeros(6)  # (e, 1^, g^) x (u, ct)
    for x in mp.polyroots(cubic, maxsteps=200, extraprec=300):
        T = min(mp.polyroots([c, c * x - c - 1, 1], maxsteps=200, extraprec=300), key=abs)
        weight = 1 / mp.polyval([3 * cubic[0], 2 * cubic[1], cubic[2]], x)
        line = a1 * x + k
        M = ((1 + c * s2 * m * x, c * x * line), (c * x * line, -c * x * plus))
        noise = c * T / (1 - T)
        ee = noise / (1 + r * T)
        eu = mp.sqrt(c) * mu_u * T / (1 + r * T)
        uu = T * (1 + mu_u**2 * (1 - T) / (1 + r * T))
        e_g, g_g = with_ghat(ee, eu, uu, noise, mp.sqrt(c), mu_u, beta, (k4 + 2 - k3**2) / 2)
        overlaps = ((ee, 0, e_g), (0, noise, 0), (e_g, 0, g_g))
        for i in range(6):
            for j in range(6):
                forms[i, j] += mp.re(weight * M[i % 2][j % 2] * overlaps[i // 2][j // 2])
    assert mp.norm(forms - forms.T) < 1e-30
    assert mp.norm(forms[2:4, 2:4] - mp.matrix([[m, tau], [tau, -delta]])) < 1e-30  # 1^ sees the noise resolvent h
    coupling = mp.zeros(6)
    for i, j in ((2, 5), (3, 4), (4, 3), (5, 2)):  # a_2/c (g^ 1^T + 1^ g^T) in the blocks (u, t) and (t, u)
        coupling[i, j] = a2 / c
    return ((mp.eye(6) + forms * coupling) ** -1 * forms)[0, 0]


# %% [markdown]
# Noise with two values and $\kappa_3 = 2$ ($\kappa_4 = \kappa_3^2 - 2 = 2$, the least possible: $z^2 - 1 = \kappa_3z$, no rest), $f = 0.6\,h_1 + 0.8\,h_2$, $c = 1/2$, $\gamma = 1/10$, $r = 3/2$,
# with $\mu$ along $\mathbf 1_p$ and with signs alternating, orthogonal to it. Both use the same noise, so their difference has a small error. Each alone converges slowly:
# at finite $p$, $E[h_1(s)h_2(s)] = \kappa_3^2/\sqrt{2p}$ mixes the linear part with the noise, a gap of order $n^{-1/2}$.

# %%
rare = (1 - 1 / np.sqrt(2)) / 2


def two_valued(rng, shape):
    return np.where(rng.random(shape) < rare, np.sqrt((1 - rare) / rare), -np.sqrt(rare / (1 - rare)))


value = sp.Symbol("value")
exact_rare = (1 - 1 / sp.sqrt(2)) / 2
high, low = sp.sqrt((1 - exact_rare) / exact_rare), -sp.sqrt(exact_rare / (1 - exact_rare))
moments = [sp.simplify(exact_rare * high**k + (1 - exact_rare) * low**k) for k in (1, 2, 3, 4)]
assert [sp.simplify(found - expected) for found, expected in zip(moments, (0, 1, 2, 5), strict=True)] == [0] * 4


score_cube = p * kappa3**2 / p ** sp.Rational(3, 2)  # E s^3 for a product of independent tokens
assert sp.simplify(score_cube / sp.sqrt(2) - kappa3**2 / sp.sqrt(2 * p)) == 0  # E h_1 h_2 = (E s^3 - E s)/sqrt 2


def mixture(scores):
    return 0.6 * scores + 0.8 * (scores**2 - 1) / np.sqrt(2)


gaussian = Attention(a1="3/5", nu="1", overlaps=Overlaps("3/2")).error("1/2", "1/10")
root_r = sp.Rational(str(sp.N(sp.sqrt(sp.Rational(3, 2)), 40)))
skewed = error_of(lambda g: skewed_form("3/5", "4/5", "1/2", g, "3/2", root_r, 2, 2), "1/10")
orthogonal = error_of(lambda g: skewed_form("3/5", "4/5", "1/2", g, "3/2", 0, 2, 2), "1/10")
unskewed = error_of(lambda g: skewed_form("3/5", "4/5", "1/2", g, "3/2", root_r, 0, 2), "1/10")
assert abs(orthogonal - gaussian) + abs(unskewed - gaussian) < 1e-12
size = 800
samples = []
for signs in (1, np.resize([1, -1], size // 2)):
    mu = np.sqrt(1.5 / (size // 2)) * np.ones(size // 2) * signs
    estimate = simulate_attention(
        mixture, [1.5, 0, 0, 0, 0, 0], size, size // 2, [0.1], trials=50, rng=93, noise=two_valued, mu=mu
    )[0].error
    samples.append(estimate.samples)
    print(estimate, skewed if len(samples) == 1 else gaussian)
difference = samples[0] - samples[1]
standard_error = difference.std() / np.sqrt(len(difference))
assert abs(difference.mean() - (skewed - gaussian)) < 5 * standard_error
assert difference.mean() + 5 * standard_error < 0  # universality would make it zero
for found, expected in zip(samples, (skewed, gaussian), strict=True):
    assert abs(found.mean() - expected) < 5 * found.std() / np.sqrt(len(found)) + 0.5 / np.sqrt(size)

# %% [markdown]
# Symmetric noise, however far from Gaussian, agrees with the Gaussian limit for the same $\mu$ along $\mathbf 1_p$ (the $O(1/n)$ gap of this $f$ is about $4/n$):

# %%
aligned = np.sqrt(1.5 / 400) * np.ones(400)
for noise in ("rademacher", "laplace"):
    estimate = simulate_attention(
        mixture, [1.5, 0, 0, 0, 0, 0], 800, 400, [0.1], trials=40, rng=98, noise=noise, mu=aligned
    )[0].error
    print(noise, estimate, gaussian)
    assert abs(estimate.mean - gaussian) < 5 * estimate.standard_error + 4 / 800
    assert abs(estimate.mean - skewed) > 5 * estimate.standard_error + 4 / 800

# %% [markdown]
# ## 4. The diagonal
#
# $f$'s own diagonal is $f(|x_i|^2/\sqrt p)/\sqrt p$ with $|x_i|^2 = p + O(\sqrt p)$: about $f(\sqrt p)/\sqrt p$.
#
# | $f$ | own diagonal in the limit |
# | --- | --- |
# | bounded | $0$, with an error $f(\sqrt p)/\sqrt p$ of order $p^{-1/2}$ that $d = f(\sqrt p)/\sqrt p$ removes |
# | $x$ | $1 = a_1$ |
# | relu | $1$ |
# | $x^2 - 1$ and faster | diverges: the model removes the diagonal |

# %%
root_p = sp.Symbol("R_p", positive=True)
for function, expected in (
    (sp.tanh(root_p), 0),
    (root_p, 1),
    (sp.Max(root_p, 0) - 1 / sp.sqrt(2 * sp.pi), 1),
    (root_p**2 - 1, sp.oo),
):
    assert sp.limit(function / root_p, root_p, sp.oo) == expected

relu = Nonlinearity("relu(x)").centred()
kept = simulate_attention(relu, None, 400, 200, [0.1], trials=10, rng=94, diagonal=None)[0].trace
right, wrong = (Attention(relu, diagonal=value).trace(0.5, 0.1) for value in (1, 0))
print(kept, right, wrong)
assert abs(kept.mean - right) < 5 * kept.standard_error + 20 / 400
assert abs(kept.mean - wrong) > 5 * kept.standard_error + 20 / 400
# tanh kept: the limit d = 0 is off by p^{-1/2}, the diagonal at finite p is not
kept = simulate_attention(np.tanh, None, 400, 200, [0.1], trials=20, rng=95, diagonal=None)[0].trace
tanh = Nonlinearity("tanh(x)")
corrected = Attention(tanh, diagonal=1 / np.sqrt(200)).trace(0.5, 0.1)
print(kept, corrected, Attention(tanh).trace(0.5, 0.1))
assert abs(kept.mean - corrected) < 5 * kept.standard_error + 5 / 400
assert abs(kept.mean - Attention(tanh).trace(0.5, 0.1)) > 5 * kept.standard_error + 5 / 400

# %% [markdown]
# ## 5. Finite size
#
# **The gap of the noise error is $O(1/n)$**: $n$ times it is a constant, here at $c = 1/2$, $\gamma = 1/10$, from $E = -\gamma^2\frac{d}{d\gamma}\frac1n\operatorname{tr} Q$ on the same draws.

# %%
constants = {}
for name, function, model in (
    ("tanh", np.tanh, Attention(tanh)),
    ("sign", np.sign, Attention(Nonlinearity("sign(x)"))),
    ("h_2", lambda scores: (scores**2 - 1) / np.sqrt(2), Attention(a1=0, nu=1)),
    ("h_3", lambda scores: (scores**3 - 3 * scores) / np.sqrt(6), Attention(a1=0, nu=1)),
):
    limit, step = model.error(0.5, 0.1), 1e-3
    for size, trials in ((50, 400), (200, 80)):
        below, above = simulate_attention(
            function, None, size, size // 2, [0.1 - step, 0.1 + step], trials=trials, rng=3
        )
        samples = -(0.1**2) * (above.trace.samples - below.trace.samples) / (2 * step)
        constants[name, size] = size * (samples.mean() - limit), size * samples.std() / np.sqrt(trials)
    (small, small_error), (large, large_error) = constants[name, 50], constants[name, 200]
    print(
        f"{name:5} n * gap: {small:.3f} +/- {small_error:.3f} at n = 50, {large:.3f} +/- {large_error:.3f} at n = 200"
    )
    # a gap that does not vanish would make the second four times the first, one of order n^{-1/2} twice
    assert abs(large - small) < 5 * np.hypot(small_error, large_error) + 0.2 * abs(small)
assert constants["h_2", 50][0] > 10 * constants["h_2", 50][1]

# %% [markdown]
# **Large weights and $a_1 = 0$.** The scores change by $\delta_{ij} = \alpha_i\beta_j/\sqrt p$ (derivation 05); without $a_1$ the first mean effect is $\frac12E f''\,\delta_{ij}^2/\sqrt p$ with $E f'' = \sqrt2\,a_2$
# (Stein), a rank-one matrix of norm
#
# $$\frac{|a_2|}{\sqrt2\,p^{3/2}}\,|\alpha^2|\,|\beta^2| \simeq \frac{3|a_2|}{\sqrt2\,c}\,\frac{|w_K|^2|w_Q|^2}{\sqrt p}$$
#
# for Gaussian $\alpha_i$ and $\beta_i$: it vanishes only like $p^{-1/2}$, with the fourth power of the weights in front. For $h_2$ and $w_K = w_Q = 2\mu$ the difference to $w = 0$, same draws, times $\sqrt n$:

# %%
argument, shift = sp.symbols("s_0 delta_0")
taylor = sp.series(((argument + shift) ** 2 - 1) / sp.sqrt(2), shift, 0, 3).removeO()  # h_2
assert sp.expand(taylor.coeff(shift, 2) - sp.sqrt(2) / 2) == 0  # E f''/2 = a_2 sqrt(2)/2 at a_2 = 1
key, query = sp.symbols(
    "K_n Q_n", positive=True
)  # norms of w_K and w_Q: alpha_i ~ N(0, K_n^2), |alpha^2| = K_n^2 sqrt(3 n)
norm = 1 / (sp.sqrt(2) * p ** sp.Rational(3, 2)) * (key**2 * sp.sqrt(3 * n)) * (query**2 * sp.sqrt(3 * n))
assert sp.simplify(norm.subs(n, p / c) - 3 / (sp.sqrt(2) * c) * key**2 * query**2 / sp.sqrt(p)) == 0
scaled = []
for size, trials in ((200, 150), (800, 50)):
    pair = [
        simulate_attention(
            lambda scores: (scores**2 - 1) / np.sqrt(2),
            [1, k, k, k**2, k**2, k**2],
            size,
            size // 2,
            [0.1],
            trials=trials,
            rng=3,
        )[0].error.samples
        for k in (2, 0)
    ]
    difference = np.sqrt(size) * (pair[0] - pair[1])
    scaled.append((difference.mean(), difference.std() / np.sqrt(trials)))
print(scaled)
assert scaled[0][0] + 2 * scaled[0][1] < 0 > scaled[1][0] + 2 * scaled[1][1]
assert abs(scaled[0][0] - scaled[1][0]) < 4 * np.hypot(scaled[0][1], scaled[1][1])

# %% [markdown]
# **$f$ linear, $d = 0$, $c < 1$, small $\gamma$.** The removed diagonal is $a_1|z_i|^2/p$, which fluctuates: $K = a_1(G - 1) - a_1\operatorname{diag}(\epsilon_i)$ with $\epsilon_i = |z_i|^2/p - 1$ of
# variance $2/p$. For a diagonal matrix of independent centred entries, $E[\mathcal D M\mathcal D] = \operatorname{Var}\cdot\operatorname{diag}(M) \approx \operatorname{Var}\cdot\frac{\operatorname{tr}M}n I$: it acts like
# $\sigma W$ with
#
# $$\sigma_{\mathrm{eff}}^2 = \frac{2a_1^2}p .$$
#
# The limit is reached only when this is small against the distance of the equations from their singular point, $\gamma p \gg 1$.

# %%
entries = sp.symbols("e1:4")
M = sp.Matrix(3, 3, sp.symbols("M1:10"))
diagonal = sp.diag(*entries)
variance = sp.Symbol("v")
product = (diagonal * M * diagonal).expand()
averaged = product.applyfunc(
    lambda entry: sum(
        term.subs({e**2: variance for e in entries}) if any(term.has(e**2) for e in entries) else 0
        for term in sp.Add.make_args(entry)
    )
)
assert averaged == variance * sp.diag(*[M[i, i] for i in range(3)])
degrees = sp.Symbol("p", positive=True)
assert sp.simplify((degrees * (degrees + 2) - degrees**2) / degrees**2 - 2 / degrees) == 0  # variance of |z|^2/p
size, dimension, ridge = 200, 100, sp.Rational(1, 1000)
ratio = sp.Rational(dimension, size)
models = (Attention(a1=1, nu=1), Attention(a1=1, nu=1 + ratio * sp.Rational(2, dimension)))  # nu = a_1^2 + c sigma^2
limit, effective = (float(ridge) * model.trace(ratio, ridge) for model in models)
samples = (
    1e-3
    * simulate_attention(lambda scores: scores, None, size, dimension, [1e-3], trials=200, rng=97)[0].trace.samples
)
print(samples.mean(), limit, effective)
assert abs(samples.mean() - effective) < 5 * samples.std() / np.sqrt(200) + 1 / size
assert abs(samples.mean() - limit) > 3 * abs(samples.mean() - effective)
