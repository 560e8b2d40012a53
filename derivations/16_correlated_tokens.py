# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Correlated tokens
#
# Tokens of a sequence resemble their neighbours. Here $Z = Z_0 T^{1/2}$ with $T$ Toeplitz, $T_{ij} = t_{|i-j|}$, $t_0 = 1$,
# of positive symbol $t(\omega) = \sum_j t_j e^{ij\omega}$, and $f$ of at most linear growth. Three things change in
# Proposition 1: the kernel's linear part loses $a_1 T$ in place of $a_1 I$, its noise is correlated through the entrywise
# powers of $T$, so that every $a_k$ matters, and the blocks of the pencil become functions of the frequency. Runs in half
# a minute.

# %%
import math

import numpy as np
import sympy as sp

from hermite_rmt import Attention, Nonlinearity, Overlaps
from hermite_rmt.simulation.correlation import TokenCorrelation
from hermite_rmt.theory.correlated_attention import CorrelatedAttention

# %% [markdown]
# ## The kernel's covariance
#
# Given two pairs of tokens, the scores $s_{ij} = z_i \cdot z_j/\sqrt p$ and $s_{kl}$ away from the diagonal are asymptotically
# jointly Gaussian of variance 1. Their covariance follows from Wick's rule for one coordinate of the tokens, whose
# entries have covariances $T$: $E\,z_i z_j z_k z_l - T_{ij} T_{kl} = T_{ik} T_{jl} + T_{il} T_{jk}$.

# %%
T = sp.Matrix(4, 4, lambda i, j: 1 if i == j else sp.Symbol(f"t_{min(i, j)}{max(i, j)}", real=True))
arguments = sp.symbols("theta_0:4", real=True)
theta = sp.Matrix(arguments)
fourth = sp.expand((theta.T * T * theta)[0] ** 2 / 8)  # the part of order four of E exp(theta . z)
wick = sp.diff(fourth, *arguments)
assert sp.expand(wick - T[0, 1] * T[2, 3] - T[0, 2] * T[1, 3] - T[0, 3] * T[1, 2]) == 0

# %% [markdown]
# For jointly Gaussian $\xi, \xi'$ of covariance $\rho$, $E\,h_k(\xi) h_l(\xi') = \delta_{kl}\,\rho^k$ (Mehler). Hence
#
# $$E\,K_{ij} K_{kl} - \dots = \frac1p \sum_k a_k^2 \bigl(T_{ik} T_{jl} + T_{il} T_{jk}\bigr)^k .$$

# %%
rho, u, v = sp.symbols("rho u v", real=True)


def gaussian(polynomial, symbol):
    """Return its mean over a standard Gaussian symbol."""
    moments = (
        coefficient * (sp.factorial2(power - 1) if power % 2 == 0 else 0)
        for (power,), coefficient in sp.Poly(polynomial, symbol).terms()
    )
    return sum(moments)


def h(k, point):
    return sp.hermite_prob(k, point) / sp.sqrt(sp.factorial(k))


root = sp.Symbol("root", positive=True)  # sqrt(1 - rho^2)
for k in range(5):
    for l in range(5):  # noqa: E741
        product = sp.expand(h(k, u) * h(l, rho * u + root * v))
        mean = sp.expand(gaussian(gaussian(product, v), u)).subs(root**2, 1 - rho**2).subs(root**4, (1 - rho**2) ** 2)
        assert sp.expand(mean - (rho**k if k == l else 0)) == 0

# %% [markdown]
# The part of $k = 1$ belongs to $a_1(Z^T Z/p - T)$, which has exactly this covariance; $H$ is the rest. In
# $E[H M H]_{il} = \sum_{jm} E[H_{ij} H_{ml}]\, M_{jm}$ the product $T_{im} T_{jl}$ picks
# $(T^{\circ k} M^T T^{\circ k})_{il}/p$, which vanishes in norm, and $T_{il} T_{jm}$ a whole trace; mixed terms of the power are
# large for few entries only. What remains is
#
# $$E[H M H] = \frac1p \sum_{k\ge2} a_k^2\; T^{\circ k}\; \mathrm{tr}\bigl(T^{\circ k} M\bigr) .$$
#
# The entries of $K$ near the diagonal have scores of size $\sqrt p\,t_j$: $f(\sqrt p\,t_j)/\sqrt p \to t_j \lim f(x)/x$, which is 0
# for bounded $f$. So $K = a_1 Z^T Z/p + D + H$ with the Toeplitz matrix $D$ of $d - a_1$ on the diagonal and of
# $t_j \lim f(x)/x - a_1 t_j$ beside it; for bounded $f$, $D = d - a_1 T$.
#
# ## The equations
#
# The pencil of derivation 06 in $(u, t, s)$, with $G = T^{1/2} G_0 T^{1/2}$, $G_0 = Z_0^T Z_0/p$. Averaging over $Z_0$ and $H$ as
# there, $R = E \mathcal L^{-1}$ has $n \times n$ blocks that solve
#
# $$R^{-1} = L(D) + A \otimes T - c^2 \textstyle\sum_{k\ge2} a_k^2\,\frac1p\; P\,[\mathrm{tr}(T^{\circ k} R)]\,P \otimes T^{\circ k},
# \qquad A = \Phi\,\bigl(1 + \mathsf G \Phi/c\bigr)^{-1},\quad \mathsf G = \tfrac1n \mathrm{tr}(T R) .$$
#
# All its matrices are functions of $T$ and its entrywise powers, asymptotically (Szegő) functions of the frequency: with
# $\langle\cdot\rangle$ the mean over $\omega$ and $t_k(\omega)$ the symbol of $T^{\circ k}$,
#
# $$g(\omega)^{-1} = L(\omega) + t\,A - c\,P \Bigl[\textstyle\sum_{k\ge2} a_k^2\, t_k(\omega) \langle t_k\, g\rangle\Bigr] P,
# \qquad \mathsf G = \langle t\,g\rangle .$$
#
# A second way, then: the equation with explicit matrices of size $n$, iterated as it stands. Toeplitz matrices have ends,
# where frequencies are not exact: the difference has an expansion in $1/n$, and three sizes extrapolate it away.


# %%
def by_matrices(f, rho, c, gamma, n, order=12):
    """Solve the equation for R with n x n blocks: the mean of R_uu's diagonal."""
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    a = f.coefficients(order)
    terms = [(a[k] ** 2, rho ** (k * lags)) for k in range(2, order + 1) if abs(a[k]) > 1e-9]
    terms.append((f.nu() - sum(value**2 for value in a), np.eye(n)))
    T = rho**lags
    Phi = np.array([[0, c * a[1], 0], [c * a[1], 0, 0], [0, 0, c]])
    L = np.kron([[gamma, 0, 0], [0, 0, -c], [0, -c, 0]], np.eye(n))
    L += np.kron([[0, c, 0], [c, 0, 0], [0, 0, 0]], -a[1] * T)
    P = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    R = np.linalg.inv(L + np.kron(Phi, T))
    for _ in range(400):
        blocks = R.reshape(3, n, 3, n)
        G = np.einsum("iajb,ab->ij", blocks, T) / n
        new = L + np.kron(Phi @ np.linalg.inv(np.eye(3) + G @ Phi / c), T)
        for energy, power in terms:
            new -= c * energy * np.kron(P @ np.einsum("iajb,ab->ij", blocks, power) @ P / n, power)
        change = np.linalg.inv(new) - R
        R = R + 0.7 * change
        if np.abs(change).max() < 1e-9:
            return np.trace(R[:n, :n]) / n
    raise AssertionError("the iteration did not converge")


tanh = Nonlinearity("tanh(x)")
for rho_value in (0.3, -0.5):
    limit = CorrelatedAttention(tanh, rho_value).trace(0.5, 0.1)
    small, middle, large = (by_matrices(tanh, rho_value, 0.5, 0.1, n) for n in (20, 40, 80))
    extrapolated = (8 * large - 6 * middle + small) / 3  # without the terms in 1/n and 1/n^2
    print(f"rho = {rho_value}: {limit:.8f} at frequencies, {extrapolated:.8f} from matrices")
    assert abs(extrapolated - limit) < 1e-6 < abs(large - limit) / 500

# %% [markdown]
# With uncorrelated tokens it is Proposition 1, and Theorem 1 with a signal and weights: the labels see $\langle g\rangle$, or
# $g$ at their own frequency, and $\mathsf G$ takes the place of $g$ in $S$.

# %%
overlaps = Overlaps(1, "1/2", "3/10", "1/2", "1/2", "1/5")
for c_value, gamma_value in ((0.4, 0.1), (1, 1e-3), (3, 2)):
    plain = Attention(tanh, overlaps=overlaps, diagonal="0.3").solve(c_value, gamma_value)
    same = CorrelatedAttention(tanh, 0, overlaps=overlaps, diagonal="0.3").solve(c_value, gamma_value)
    for name in ("trace", "quadratic_form", "error"):
        assert abs(same[name] / plain[name] - 1) < 1e-10

# %% [markdown]
# ## Against simulation
#
# At $n = 600$, $p = 300$ the limit is off by more than one percent, many standard errors. Keeping the mean of the
# entries near the diagonal, $E f(\sqrt p\,t_j + \sqrt{1 + t_j^2}\,\xi)/\sqrt p$ in place of their limit, removes nearly all of it. Labels of frequency
# $\pi$, alternating along the sequence, are harder to fit than labels that ignore the positions.

# %%
gaps = {}
for at in (None, 300):
    model = CorrelatedAttention(tanh, 0.3, band_at=at)
    estimate = CorrelatedAttention(tanh, 0.3).simulate(n=600, p=300, gamma=0.1, trials=6, rng=1)
    gaps[at] = estimate.trace.mean - model.trace(0.5, 0.1)
    print(f"band {at}: m = {model.trace(0.5, 0.1):.4f}, simulated {estimate.trace}")
error = estimate.trace.standard_error
assert gaps[None] > 20 * error
assert abs(gaps[300]) < 4 * error + 4 / 600  # the O(1/n) that uncorrelated tokens leave too

alternating = CorrelatedAttention(tanh, 0.6, label_frequency=math.pi, band_at=300)
estimate = alternating.simulate(n=600, p=300, gamma=0.1, trials=6, rng=2)
assert abs(estimate.error.mean - alternating.error(0.5, 0.1)) < 4 * estimate.error.standard_error + 4 / 600
assert alternating.error(0.5, 0.1) > CorrelatedAttention(tanh, 0.6, band_at=300).error(0.5, 0.1) + 0.1

with_signal = CorrelatedAttention(tanh, [0.4, 0.2], overlaps=overlaps, band_at=300)
estimate = with_signal.simulate(n=600, p=300, gamma=0.1, trials=6, rng=3)
assert abs(estimate.error.mean - with_signal.error(0.5, 0.1)) < 4 * estimate.error.standard_error + 4 / 600

# %% [markdown]
# The symbols used above, against sums over lags:

# %%
frequencies = np.linspace(0, 6, 7)
for correlation in (TokenCorrelation.read(-0.5), TokenCorrelation.read([0.3, -0.1])):
    lags = correlation.first(60)
    for power in (1, 3):
        series = 1 + 2 * sum(lags[j] ** power * np.cos(j * frequencies) for j in range(1, 60))
        assert np.allclose(correlation.symbol(frequencies, power), series, atol=1e-12)
