# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Which solution is the limit
#
# The Dyson equation $(L_0 - \eta(R))\, R = 1$ of derivation 11 has many solutions; one is $\lim \mathbb{E}\, L^{-1}$. Here is
# a test that only that one passes, for every expression with real parameters, and that takes a few inequalities between
# numbers. With it a certificate says that a solution *is* the limit, and not only that it is a solution.
#
# Write $L = L_0 - L_G$, $L_G$ the random part, real. Two maps of block-scalar matrices go with it:
#
# $$\eta(R) = \mathbb{E}[L_G R L_G], \qquad \Psi(X) = \mathbb{E}[L_G^* X L_G],$$
#
# the first in the equation, the second positive: $X \ge 0$ gives $\Psi(X) \ge 0$. (With several dimensions, or several atoms of
# a spectral law, $R$ and $X$ are one matrix for each, and $\mathbb{E}$ takes normalised traces, with weights that are
# nonnegative.)
#
# **Theorem.** Let $R$ be a real solution and $C_R(X) = R^* \Psi(X)\, R$. If $C_R$ has a spectral radius below 1, then 0 lies
# outside the limiting spectrum of $L L^*$ and $R = \lim_{\varepsilon \to 0} \lim_{n} \mathbb{E}\, L^* (L L^* + \varepsilon^2)^{-1}$:
# it is the limit. So at most one solution has this property.
#
# ## Proof
#
# *1. A problem with one solution.* Hermitise: $\mathcal{H} = \begin{pmatrix} 0 & L \\ L^* & 0 \end{pmatrix}$, with
# deterministic part $\mathcal{H}_0$, random part $-\mathcal{H}_G$, and $\Phi(M) = \mathbb{E}[\mathcal{H}_G M \mathcal{H}_G]$, a positive
# map. For $\varepsilon > 0$ the limit $M_\varepsilon$ of $\mathbb{E}\,(i \mathcal{H} + \varepsilon)^{-1}$ has a positive definite real
# part and solves
#
# $$M^{-1} = \varepsilon + i \mathcal{H}_0 + \Phi(M).$$
#
# The map $F(M) = (\varepsilon + i\mathcal{H}_0 + \Phi(M))^{-1}$ sends matrices with positive real part into those of norm at most
# $1/\varepsilon$ with a real part bounded below on bounded sets: strictly inside. By the theorem of Earle and Hamilton it has
# exactly one fixed point there (Helton, Rashidi Far, Speicher 2007). So $M_\varepsilon$ is *the* solution with positive real part.
#
# *2. A solution of the Dyson equation solves it at* $\varepsilon = 0$. With $G_0 = \begin{pmatrix} 0 & R^* \\ R & 0 \end{pmatrix}$,
# $M_0 = -i G_0$ solves the equation, since $\Phi$ sends its corners to $\eta(R)$ and $\eta(R)^*$. Its real part is 0: it sits
# on the boundary.
#
# *3. The derivative points inside.* Differentiating the equation at $\varepsilon = 0$ gives $M' = G_0 (1 + \Phi(M'))\, G_0$. It falls
# apart into corners: the diagonal ones are
#
# $$X_1 = R^* (1 + \mathbb{E}[L_G^* X_1 L_G])\, R, \qquad X_2 = R\, (1 + \mathbb{E}[L_G X_2 L_G^*])\, R^*,$$
#
# the others $Y = R\, \eta(Y)\, R$ and its adjoint. If $C_R$ has a spectral radius below 1, the first equation has one solution, the
# sum $X_1 = \sum_k C_R^k(R^* R) \ge R^* R > 0$. The map of the second, $X \mapsto R\, \mathbb{E}[L_G X L_G^*]\, R^*$, has the same
# spectral radius, as the dual of $X \mapsto \Psi(R^* X R)$ under the trace; so $X_2 \ge R R^* > 0$. The third,
# $T(Y) = R\,\eta(Y)\, R$, has a spectral radius of at most that of $C_R$ by the Cauchy-Schwarz inequality: $T^k(Y) = \mathbb{E}[A Y B]$
# with $A = R L_1 \cdots R L_k$, $B = L_k R \cdots L_1 R$ and independent copies $L_j$ of $L_G$, so
# $\|T^k\|^2 \le \|\mathbb{E} A A^*\|\, \|\mathbb{E} B^* B\|$; these are iterates of the two positive maps. So $Y = 0$.
#
# *4. End.* The linear problem being nonsingular, the implicit function theorem gives solutions
# $M_0 + \varepsilon M' + O(\varepsilon^2)$ near $\varepsilon = 0$, with real part $\varepsilon\, \mathrm{diag}(X_1, X_2) + O(\varepsilon^2) > 0$. By step 1 they are $M_\varepsilon$. So
# $M_\varepsilon \to M_0$, analytically in $\varepsilon$: the limiting spectral measure of $\mathcal{H}$, whose densities these are, has no
# mass near 0, and the corner of $M_\varepsilon$ tends to that of $M_0$, which is $R$. $\square$
#
# That finite matrices have no eigenvalue near 0 either is the theorem of strong convergence (Haagerup, Thorbjørnsen 2005).
#
# A spectral radius below 1 need not be computed. It is enough to show any $Z > 0$ with
#
# $$Z - \Psi(R^* Z R) > 0$$
#
# (the map is positive and has the spectral radius of $C_R$), and such a $Z$ is found by solving linear equations in doubles or
# digits, and checked in balls for all $R$ in the box of a Krawczyk test. This is what `certify` does.

# %%
from importlib.util import find_spec

import numpy as np
import sympy as sp

from hermite_rmt.codegen import Kernel
from hermite_rmt.equivalents.covariance import covariance_map, positive_map
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Ginibre, dimensions
from hermite_rmt.theory.equivalent import deterministic_equivalent

CERTIFIES = find_spec("flint") is not None  # balls need the extra `certified`

n, p = dimensions("n p")
c = sp.Symbol("c", positive=True)
a1, d, sigma, gamma, z = sp.symbols("a1 d sigma gamma z")
Z, W, J = Gaussian("Z", p, n), GOE("W", n), Ginibre("J", n)
I = sp.Identity(n)  # noqa: E741

# %% [markdown]
# ## By hand
#
# For a GOE matrix, $L = W - z$ and $R = m$ with $m^2 + z m + 1 = 0$; $\Psi(X) = X$, so $C_R = m^2$. The product of the two
# solutions is 1: one passes the test, the other fails, and on the spectrum, $|z| < 2$, where they are complex, none is real.
# For a matrix of independent entries, $L = J - z$: $\eta = 0$ and $R = -1/z$ is the only solution, everywhere. But
# $\Psi(X) = X$ too, and $C_R = 1/z^2$ is below 1 outside the unit circle only: inside, $-1/z$ is *not* the limit.

# %%
semicircle = deterministic_equivalent((W - z * I).inv())
circular = deterministic_equivalent((J - z * I).inv())
for equivalent in (semicircle, circular):
    assert positive_map(equivalent.plain_pencil, equivalent.ratios) == ((0, 0, 0, 0, 1),)
assert semicircle._plain_bulk.eta == {(0, 0): sp.Symbol("g11")}
assert circular._plain_bulk.eta == {}
m = sp.Symbol("m")
roots = sp.solve(m**2 + z * m + 1, m)
assert sp.simplify(sp.Mul(*roots)) == 1
if CERTIFIES:
    assert any("branch: proved" in note for note in semicircle.certify({z: "2.001"}, 20).notes)

# %% [markdown]
# ## Attention
#
# The pencil of Proposition 1 has several real solutions with $0 < m \le 1/\gamma$. All real solutions that Newton's method
# finds from random starts at two points where that is so, each with the spectral radius of its $C_R$:

# %%
K = a1 * (Z.T * Z / p - I) + d * I + sigma * W
attention = deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * I).inv(), ratios={p: c * n})
dyson, pencil = attention._plain_bulk, attention.plain_pencil
system = dyson.system()
residuals = Kernel((*system.unknowns, *system.parameters), system.residuals)
jacobian = Kernel((*system.unknowns, *system.parameters), list(system.jacobian.values()))
places = [dyson.place(unknown)[1:] for unknown in system.unknowns]
size, types = pencil.size, pencil.types
transposed = {
    letter.reverse(): {(j, i): v for (i, j), v in entries.items()} for letter, entries in pencil.letters.items()
}


def expectation(left, right, point):
    """M -> E[left M right], for block matrices in doubles."""
    terms = [
        (i, j, k, h, float(value.subs(point)))
        for i, j, k, h, value in covariance_map(left, right, types, attention.ratios)
        if types[k] == types[h]
    ]

    def mapped(M):
        image = np.zeros((size, size), dtype=M.dtype)
        for i, j, k, h, value in terms:
            image[i, j] += value * M[k, h]
        return image

    return mapped


def radius(R, point):
    """The spectral radius of C_R."""
    psi, columns = expectation(transposed, pencil.letters, point), []
    for k in range(size * size):
        unit = np.zeros(size * size)
        unit[k] = 1
        columns.append((R.T @ psi(unit.reshape(size, size)) @ R).ravel())
    return float(max(abs(np.linalg.eigvals(np.array(columns)))))


def solutions(point, tries=400):
    """Real solutions by their m, from random starts."""
    values = [float(point[s]) for s in system.parameters]
    rng, found = np.random.default_rng(1), {}
    for _ in range(tries):
        x = rng.normal(size=len(places)) * rng.choice([0.3, 1, 3, 10])
        for _ in range(40):
            dense = np.zeros((len(x), len(x)))
            for place, value in zip(system.jacobian, jacobian.function(*x, *values), strict=True):
                dense[place] = value
            step = np.linalg.lstsq(dense, -np.array(residuals.function(*x, *values)), rcond=None)[0]
            x = x + step
            if not np.all(np.isfinite(x)) or np.max(np.abs(x)) > 1e6:
                break
            if np.max(np.abs(step)) < 1e-12 * np.max(np.abs(x)):
                R = np.zeros((size, size))
                for place, value in zip(places, x, strict=True):
                    R[place] = value
                found[round(float(x[0]), 8)] = R
                break
    return found


points = [
    ({a1: 1, sigma: 0, c: sp.Rational(3, 4), gamma: sp.Rational(1, 10), d: 0}, 0.6608076258, 5.63618404),
    ({a1: 1, sigma: sp.sqrt(sp.Rational(1, 5)), c: sp.Rational(1, 2), gamma: sp.Rational(1, 10), d: sp.Rational(1, 2)},
     1.6181856208, 6.3252832648),
]  # fmt: skip
for point, spurious, right in points:
    table = {m: radius(R, point) for m, R in sorted(solutions(point).items())}
    print({m: round(value, 4) for m, value in table.items()})
    assert any(abs(m - spurious) < 1e-7 and value > 1 for m, value in table.items())
    assert [m for m, value in table.items() if value < 1] == [m for m in table if abs(m - right) < 1e-6]
    if CERTIFIES:
        assert any("branch: proved" in note for note in attention.certify(point, 20).notes)

# %% [markdown]
# ## The theorem, seen
#
# The problem of step 1 solved at small $\varepsilon$, by iterating the map $F$ from 1 (damped): its solution has a positive real
# part and approaches the solution that passes the test, with an error that shrinks like $\varepsilon^2$ in the corner and a
# real part that shrinks like $\varepsilon$.

# %%
point, spurious, right = points[1]
maps = {
    (first, second): expectation(*(({0: pencil.letters, 1: transposed})[s] for s in (first, second)), point)
    for first in (0, 1)
    for second in (0, 1)
}
L0 = np.zeros((size, size))
for place, value in pencil.constant.items():
    L0[place] = float(sp.sympify(value).subs(point))
H0 = np.block([[np.zeros_like(L0), L0], [L0.T, np.zeros_like(L0)]])


def regularised(epsilon, rounds=4000):
    """M_epsilon: the only fixed point with positive real part."""
    M = np.eye(2 * size, dtype=complex)
    for _ in range(rounds):
        upper, lower = slice(None, size), slice(size, None)
        phi = np.block(
            [
                [maps[0, 1](M[lower, lower]), maps[0, 0](M[lower, upper])],
                [maps[1, 1](M[upper, lower]), maps[1, 0](M[upper, upper])],
            ]
        )
        M = (M + np.linalg.inv(epsilon * np.eye(2 * size) + 1j * H0 + phi)) / 2
    return M


gaps, parts = [], []
for epsilon in (0.02, 0.01):
    M = regularised(epsilon)
    assert np.min(np.linalg.eigvalsh((M + M.conj().T) / 2)) > 0
    m = (1j * M)[size, 0]
    gaps.append(float(abs(m - right)))
    parts.append(float(M[0, 0].real))
print("distance from the solution that passes:", gaps, " real part:", parts)
assert abs(np.log2(gaps[0] / gaps[1]) - 2) < 0.2
assert abs(np.log2(parts[0] / parts[1]) - 1) < 0.2
