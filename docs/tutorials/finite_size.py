# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Finite size
#
# How far is a matrix of $n$ tokens from the limit? The gap of the noise-only error is of order $1/n$, with a constant that depends on
# $f$. Runs in half a minute.

# %%
import numpy as np

import hermite_rmt as hr

GAMMA, SIZES = 0.1, (50, 100, 200)


def gaps(f, c=0.5, trials=200):
    """Return the gap of q = tr Q/n on noise, and its standard error, at each size."""
    model = hr.Attention(f)
    found = []
    for n in SIZES:
        estimate = model.simulate(n=n, p=round(c * n), gamma=GAMMA, trials=trials * 50 // n, rng=0)
        limit = model.trace(estimate.c, GAMMA)
        found.append(((estimate.trace.mean - limit) / limit, estimate.trace.standard_error / limit))
    return found


# %% [markdown]
# The trace fluctuates little, so that the gap can be seen above the noise. Times $n$ it should not depend on $n$:

# %%
measured = {text: gaps(text) for text in ("tanh(x)", "x^2 - 1")}
for text, values in measured.items():
    for n, (gap, error) in zip(SIZES, values, strict=True):
        print(f"{text:8s} n = {n:3d}: n x relative gap = {n * gap:7.3f} +/- {n * error:.3f}")

# %% [markdown]
# A quadratic $f$ has a larger gap than tanh: the higher the degree, the slower the scores become Gaussian.

# %%
last = {text: abs(SIZES[-1] * values[-1][0]) for text, values in measured.items()}
assert last["x^2 - 1"] > last["tanh(x)"]

# %% [markdown]
# An error with signs as labels fluctuates more than the trace, by $y$ itself: compare standard errors before comparing means.

# %%
estimate = hr.Attention("tanh(x)").simulate(n=200, p=100, gamma=GAMMA, trials=50, rng=1)
estimate

# %%
low, high = estimate.error.interval(0.99)
limit = hr.Attention("tanh(x)").error(estimate.c, GAMMA)
print(f"99 % interval of E: {low:.4f} to {high:.4f}; limit {limit:.4f}")
assert low - 2 / estimate.n < limit < high + 2 / estimate.n
assert np.isfinite(estimate.error.standard_error)
