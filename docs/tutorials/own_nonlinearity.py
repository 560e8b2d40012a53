# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Your own nonlinearity
#
# A bump that is not in the catalogue, from its formula to where it stands among the others. Runs in a few seconds.

# %%
import numpy as np
import sympy

import hermite_rmt as hr
from hermite_rmt.figures import comparison_figure, spectrum_figure

raw = hr.Nonlinearity("x*exp(-x^2/4) + exp(-x^2)/2", name="bump")
raw

# %% [markdown]
# It is not centred, and attention's theory wants $E f(\xi) = 0$. The mean is subtracted exactly.

# %%
f = raw.centred()
print("mean before:", raw.closed_form(0), "=", raw.mean(digits=20))
print("mean after: ", f.mean(digits=20))

# %% [markdown]
# Its coefficients have closed forms, found by rules; quadrature knows nothing of these and agrees.

# %%
for k in range(4):
    exact = f.closed_form(k)
    print(f"a_{k} =", exact)
    assert abs(float(exact) - f.coefficient(k)) < 1e-14
print("nu =", f.closed_form_nu())

# %%
spectrum_figure(f.coefficients(16), f.nu(), f.name)

# %% [markdown]
# Two numbers decide. A completely different function with the same $(a_1, \nu)$ has the same error: take $\alpha h_1 + \beta h_3$.

# %%
x = sympy.Symbol("x")
a1, nu = f.closed_form(1), f.closed_form_nu()
twin = hr.Nonlinearity(a1 * x + sympy.sqrt(nu - a1**2) * (x**3 - 3 * x) / sympy.sqrt(6))
left, right = (hr.Attention(g).error("0.7", "0.1", digits=25) for g in (f, twin))
print(left, right)
assert str(left) == str(right)

# %% [markdown]
# The comparison with tanh and with linear regression on noise, at features of equal trace norm, so that scales do not matter:

# %%
models = [hr.Attention(f), hr.Attention("tanh(x)"), hr.LinearRegression()]
data = hr.compare(models, c=np.geomspace(0.1, 8, 30), gamma=0.1, scale="trace")
comparison_figure(data)
