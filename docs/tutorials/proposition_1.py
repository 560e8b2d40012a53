# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Proposition 1, by hand and by engine
#
# The shortest way to the equations of attention on pure noise, and the same from the matrix expression. Derivation 06 has all
# steps and their proofs. Runs in a few seconds.

# %%
import sympy as sp

import hermite_rmt as hr
from hermite_rmt.core.contexts import local_context

c, gamma = sp.symbols("c gamma", positive=True)
a1, sigma = sp.symbols("a1 sigma", real=True)

# %% [markdown]
# ## By hand
#
# $A = Z K$ with $K = a_1 G + \kappa I + \sigma W$, $G = Z^T Z/p$, $\kappa = -a_1$. With $s = K u$ and $t = G s$ the equation $Q^{-1} u = b$
# becomes linear in $K$ and $G$; its matrix in the order $(u, t, s)$ is
#
# $$\begin{pmatrix} \gamma & c K & 0 \\ c K & 0 & -c \\ 0 & -c & c\, G \end{pmatrix} = L \otimes I + \Phi \otimes G + c\, \sigma\, P \otimes W.$$
#
# Averaging over $W$ replaces its term by $-\sigma^2 c^2 P g P$, averaging over $Z$ that of $G$ by $\Phi (1 + g \Phi/c)^{-1}$:
#
# $$g^{-1} = L + \Phi (I_3 + g \Phi/c)^{-1} - \sigma^2 c^2 P g P, \qquad m = g_{uu}.$$

# %%
L = sp.Matrix([[gamma, -c * a1, 0], [-c * a1, 0, -c], [0, -c, 0]])
Phi = sp.Matrix([[0, c * a1, 0], [c * a1, 0, 0], [0, 0, c]])
P = sp.Matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
sp.Tuple(L, Phi, P)

# %% [markdown]
# Solved by iteration from $\gamma = \infty$, where $g \to L^{-1}$ is known, at $c = 1/2$, $a_1 = 0.6$, $\nu = 0.5$, $\gamma = 1$. The
# context carries 40 digits; nothing global is changed.

# %%
context = local_context(133)
ratio, slope, energy = (context.mpf(text) for text in ("0.5", "0.6", "0.5"))
at = {c: ratio, a1: slope, gamma: context.mpf(1)}
here = [context.matrix(m.subs(at).tolist()) for m in (L, Phi, P)]
variance = (energy - slope**2) / ratio
g = context.inverse(here[0])
for _ in range(400):
    bulk = here[1] * context.inverse(context.eye(3) + g * here[1] / ratio)
    step = context.inverse(here[0] + bulk - variance * ratio**2 * (here[2] * g * here[2]))
    g = (g + step) / 2
by_hand = g[0, 0]
print(context.nstr(by_hand, 30))

# %% [markdown]
# ## By engine
#
# The expression is enough: pencil, Dyson equation, reduction, branch.

# %%
n, p = hr.dimensions("n p")
Z, W, I = hr.Gaussian("Z", p, n), hr.GOE("W", n), sp.Identity(n)
K = a1 * (Z.T * Z / p - I) + sigma * W
attention = hr.deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * I).inv(), ratios={p: c * n})
attention.pencil

# %% [markdown]
# What each pass did:

# %%
for step in attention.reduction.steps:
    print(f"{step.name}: {step.unknowns} unknowns ({step.reason})")

# %%
attention.equations

# %% [markdown]
# Among the identities is $c\, g_{ts} = -\gamma m$, exact at every size. `check` proves it on the solution:

# %%
verdict = hr.check(r"c g_{ts} = -\gamma m", "attention")
verdict

# %% [markdown]
# Both ways, and the solver that works with the rational form of derivation 08, agree:

# %%
values = {a1: "0.6", sigma: sp.sqrt(sp.Rational(7, 25)), c: "0.5", gamma: 1}
by_engine = attention.trace(values, digits=25)
by_solver = hr.Attention(a1="0.6", nu="0.5").trace("0.5", 1, digits=25)
print(by_engine, by_solver)
assert str(by_engine) == str(by_solver)
assert abs(context.mpf(by_engine) - by_hand) < context.mpf(10) ** -24
