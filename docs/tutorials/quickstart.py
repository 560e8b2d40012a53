# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Quickstart
#
# From a nonlinearity to its error curve, with simulated points beside it. Runs in a few seconds.

# %%
import numpy as np

import hermite_rmt as hr
from hermite_rmt.figures import curve_figure

f = hr.Nonlinearity("tanh(x)")
f

# %% [markdown]
# What the theory sees of $f$ are its Hermite coefficients, of which $a_1$ and $\nu$ decide the curve.

# %%
print("a_0 ... a_5:", np.round(f.coefficients(5), 4))
print("nu:", f.nu(digits=30))
f.expansion(5)

# %% [markdown]
# The energies $a_k^2$ fall with $k$; what the coefficients up to $k$ leave of $\nu$ is what a linear or cubic theory would miss.

# %%
hr.plot(f)

# %% [markdown]
# Attention on pure noise, and on a signal $X = \mu y^T + Z$ with weights aligned with it. The overlaps of $\mu, w_K, w_Q$ are all
# that matters of the vectors.

# %%
overlaps = hr.Overlaps.aligned(mu_mu=1)
overlaps

# %%
noise, signal = hr.Attention(f), hr.Attention(f, overlaps=overlaps)
solution = signal.solve(c=0.5, gamma=0.1)
solution

# %% [markdown]
# A curve with simulated points. At every point the simulation is compared with the theory at the $p/n$ that was simulated.

# %%
c = np.linspace(0.25, 3, 12)
panels = {
    "noise": [
        hr.sweep(model, c, 0.1, simulate=dict(n=120, trials=4, rng=0)) for model in (noise, hr.LinearRegression())
    ],
    "signal": [
        hr.sweep(model, c, 0.1, simulate=dict(n=120, trials=4, rng=0))
        for model in (signal, hr.LinearRegression(mu_mu=1))
    ],
}
curve_figure(panels)

# %%
for title, sweeps in panels.items():
    for data in sweeps:
        gap = (data.error_simulated - data.error_at_realised) / data.error_standard_error
        print(f"{title}, {data.attrs['name']}: median |z| = {float(abs(gap).median()):.2f}")
        assert float(abs(gap).median()) < 3

# %% [markdown]
# The theory can be had to any number of digits, and certified:

# %%
print(signal.error("0.5", "0.1", digits=50))
print(signal.error("0.5", "0.1", digits=20, certified=True))
