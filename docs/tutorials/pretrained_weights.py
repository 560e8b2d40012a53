# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Pretrained weights
#
# The paper's Assumption 1 is $W_K^T W_Q = I + w_K w_Q^T$. How near is a trained matrix to that, and what does attention do with it?
# Any GPT-2 or BERT in a local safetensors file can be read (extra `pretrained`; no torch, no network). To run without a download
# this page writes a small file in GPT-2's layout first: replace `path` by your own. Runs in a few seconds.

# %%
import json
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import hermite_rmt as hr
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.simulation.pretrained import load_weights
from hermite_rmt.simulation.weights import analyse_weights

P, HEADS = 96, 2
rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name)


def made_up_layer(strength):
    """Return c_attn of a layer whose W_K^T W_Q is the identity plus a rank-one part plus a little noise."""
    query = np.linalg.qr(rng.standard_normal((P, P)))[0]
    direction = rng.standard_normal(P) / P**0.5
    key = query @ (np.eye(P) + strength * np.outer(direction, direction) + 0.02 * rng.standard_normal((P, P)))
    return np.hstack([query.T, key.T, np.zeros((P, P))]).astype(np.float32)


tensors = {f"h.{layer}.attn.c_attn.weight": made_up_layer(strength) for layer, strength in enumerate((0.0, 1.5))}
save_file({**tensors, "wte.weight": rng.standard_normal((500, P)).astype(np.float32)}, path / "model.safetensors")
(path / "config.json").write_text(json.dumps({"n_head": HEADS}))
weights = load_weights(path)
print(weights.layout, weights.layers, "layers", weights.heads, "heads", weights.p, "dimensions")

# %% [markdown]
# ## What a layer is made of
#
# The part of the energy that the identity has, and how much identity plus rank $r$ leaves out:

# %%
analyses = [analyse_weights(weights.product(layer), ranks=(0, 1, 4)) for layer in range(weights.layers)]
for layer, analysis in enumerate(analyses):
    rest = ", ".join(f"rank {fit.rank}: {fit.unexplained:.3f}" for fit in analysis.fits)
    print(f"layer {layer}: identity {analysis.identity_energy:.3f}; left out, {rest}")
assert analyses[1].fits[1].unexplained < analyses[1].fits[0].unexplained

# %% [markdown]
# ## What attention does with it
#
# The scores are $X^T W X/(s \sqrt p)$, $s^2 = \operatorname{tr} W W^T/p$. Beside the limit for $W = I$ on noise:

# %%
limit = hr.Attention("tanh(x)").trace(0.5, 0.1)
for layer in range(weights.layers):
    (estimate,) = simulate_attention(
        np.tanh, None, n=2 * P, p=P, gammas=[0.1], trials=10, rng=0, weights=weights.product(layer)
    )
    print(f"layer {layer}: trace {estimate.trace}; limit for the identity {limit:.4f}")
assert 0 < estimate.trace.mean < 10

# %%
folder.cleanup()
