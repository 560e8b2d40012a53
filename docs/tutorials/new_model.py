# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # A new model: two heads side by side
#
# Two attention heads with different nonlinearities $f_1$, $f_2$ on the same scores, their outputs stacked: $A = (X K_1; X K_2)$,
#
# $$Q = \Big(\tfrac1n \sum_h K_h^T X^T X K_h + \gamma\Big)^{-1}.$$
#
# The two kernels see the same scores, so their noise parts are correlated. Runs in half a minute.

# %%
import sympy as sp

import hermite_rmt as hr
from hermite_rmt.equivalents.ensembles import joint_family

n, p = hr.dimensions("n p")
c, gamma = sp.symbols("c gamma", positive=True)
Z, I = hr.Gaussian("Z", p, n), sp.Identity(n)
heads = [hr.Nonlinearity("tanh(x)"), hr.Nonlinearity("relu(x)").centred()]

# %% [markdown]
# What is needed of the pair: $a_{1h}$, and the covariance of the nonlinear parts, $E f_h f_k - a_{1h} a_{1k}$.

# %%
a = sp.symbols("a_1 a_2", real=True)
C = sp.Matrix(2, 2, lambda h, k: sp.Symbol(f"C_{min(h, k) + 1}{max(h, k) + 1}", real=True))
first = [f.coefficient(1, digits=30) for f in heads]
product = heads[0] * heads[1]
energies = {(0, 0): heads[0].nu(digits=30), (1, 1): heads[1].nu(digits=30), (0, 1): product.mean(digits=30)}
for (h, k), energy in energies.items():
    print(f"E f_{h + 1} f_{k + 1} = {energy}")

# %% [markdown]
# Jointly Gaussian $W_1$, $W_2$ with that covariance (divided by $c$), and the expression:

# %%
W = joint_family(hr.GOE, "W_1 W_2", n, covariance=C / c)
K = [a[h] * (Z.T * Z / p - I) + W[h] for h in range(2)]
Q = (sum((k.T * Z.T * Z * k for k in K[1:]), K[0].T * Z.T * Z * K[0]) / n + gamma * I).inv()
model = hr.deterministic_equivalent(Q, ratios={p: c * n})
print(model.pencil.self_adjoint, len(model.dyson.unknowns), "unknowns")

# %%
covariance = {C[h, k]: energies[h, k] - first[h] * first[k] for h, k in energies}
at = {a[0]: first[0], a[1]: first[1], **covariance, c: [0.5, 2.0], gamma: 0.1}
limit = model.trace(at)
print(limit)

# %% [markdown]
# Against simulation: the features are any function of the drawn tokens.

# %%
import numpy as np

from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.trial import Specification, simulate

layers = [AttentionFeatures(f) for f in heads]
for ratio, m in zip(at[c], limit, strict=True):
    tokens = attention_specification(heads[0], None, 300, int(300 * ratio), [0.1]).tokens
    both = Specification(tokens, lambda drawn: np.vstack([layer(drawn) for layer in layers]), (0.1,))
    (estimate,) = simulate(both, trials=8, rng=0)
    print(f"c = {ratio}: limit {m:.5f}, simulated {estimate.trace}")
    assert abs(estimate.trace.mean / m - 1) < 5 / 300 + 4 * estimate.trace.standard_error / m
