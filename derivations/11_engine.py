# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # From a matrix expression to its self-consistent equations
#
# Everything before this page was derived by hand for one model. Here the same equations come out of an expression, by the
# same steps each time:
#
# 1. an entrywise $f$ of scores becomes $a_1$ (scores) + noise (derivation 05);
# 2. the expression becomes one corner of the inverse of a *linear pencil* $L = L_0 - \sum_x A_x \otimes x$, $x$ the random
#    letters: Gaussian matrices, Wigner matrices, their transposes;
# 3. $R = \lim \mathbb{E}\, L^{-1}$ has scalar blocks and solves the matrix Dyson equation $(L_0 - \eta(R))\, R = 1$;
# 4. exact identities make that system small;
# 5. deterministic vectors are added at the end: they do not change $R$;
# 6. the right solution is followed from vanishing covariance (derivation 17 proves which one it is).
#
# Sources: Helton, Rashidi Far, Speicher (arXiv math/0703510) for the equation and its unique solution, Helton, Mai,
# Speicher (arXiv 1511.05330) for rational expressions. Runs in about fifteen seconds.

# %%
import sympy as sp

from hermite_rmt.core.contexts import local_context
from hermite_rmt.equivalents.dyson import SCALE
from hermite_rmt.equivalents.elimination import M
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions
from hermite_rmt.equivalents.entrywise import off_diagonal
from hermite_rmt.equivalents.verification import minimal_size, pencil_holds
from hermite_rmt.theory.equivalent import deterministic_equivalent

n, p = dimensions("n p")
c = sp.Symbol("c", positive=True)
a1, sigma, gamma, z = sp.symbols("a1 sigma gamma z")
Z, W = Gaussian("Z", p, n), GOE("W", n)
I = sp.Identity(n)  # noqa: E741

# %% [markdown]
# ## The rule, on the smallest example
#
# For $Q = (\gamma + Z^T Z/p)^{-1}$ put $x = Z u/\sqrt n$. The two equations $\gamma u - Z^T x \sqrt n / p = b$ and
# $x - Z u/\sqrt n = 0$ are linear in $Z$; $Q$ is the corner $(u, u)$ of $L^{-1}$. Blocks between the two dimensions vanish in
# the limit, the others are multiples $g$, $h$ of the identity, and for independent entries of variance 1
#
# $$\mathbb{E}[Z M Z^T] = \mathrm{tr}(M)\, I_p, \qquad \mathbb{E}[Z^T M Z] = \mathrm{tr}(M)\, I_n, \qquad \mathbb{E}[Z M Z] \approx 0,$$
#
# so $\eta$ puts the trace of the $p$-block into the $n$-block and the other way round.

# %%
marchenko_pastur = deterministic_equivalent((Z.T * Z / p + gamma * I).inv(), ratios={p: c * n})
print(marchenko_pastur.plain_pencil)
eta = marchenko_pastur._plain_bulk.eta
g, h = sp.symbols("g11 h11")
assert eta == {(0, 0): -h, (1, 1): -g / c}
marchenko_pastur

# %% [markdown]
# One polynomial is left, the Marchenko-Pastur equation with all its parameters:

# %%
law = marchenko_pastur.polynomial()
print(law)
assert law.proved
assert sp.cancel(law.polynomial / (gamma * M**2 / c + (gamma + 1 - 1 / c) * M - 1)) == c

# %% [markdown]
# ## Marchenko-Pastur plus a semicircle
#
# The kernel matrix of derivation 05, $K = a_1 (Z^T Z/p - I) + \sigma W$, has the cubic of Cheng and Singer. The pipeline tells
# what each pass did and why it stands where it does.

# %%
r = 1 / c
K = a1 * (Z.T * Z / p - I) + sigma * W
kernel = deterministic_equivalent((K - z * I).inv(), ratios={p: c * n})
print(kernel.reduction)
cubic = a1 * r * sigma**2 * M**3 + (a1**2 * r + sigma**2 + a1 * r * z) * M**2 + (z + a1 * r) * M + 1
assert sp.cancel(kernel.polynomial().polynomial / cubic) == c

# %% [markdown]
# The moments are in the same series that selects the branch. The mean of $K G K$, with $G = (Z^T Z/p)$ *not* free of $K$, is
# $a_1^2\, \mathbb{E} x(x-1)^2 + \sigma^2$; multiplying as if they were free would give another number.

# %%
G = Z.T * Z / p
values = {a1: "1/2", sigma: "3/10", c: 2}
mean = deterministic_equivalent(K * G * K, ratios={p: c * n}).moments(1, values)[1]
free = deterministic_equivalent(K * K, ratios={p: c * n}).moments(1, values)[1]
print(mean, "against", free, "for free factors")
assert mean == sp.Rational(111, 400)
assert free == sp.Rational(43, 200)

# %% [markdown]
# ## Attention
#
# $Q = (K^T Z^T Z K/n + \gamma)^{-1}$. The circuit gives three blocks of size $n$ and three of size $p$; a random exact
# substitution confirms the pencil, and the rank of its Hankel matrix that no smaller one exists.

# %%
attention = deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * I).inv(), ratios={p: c * n})
print(attention.pencil)
assert attention.pencil.self_adjoint
assert pencil_holds(attention._node, attention.pencil)
assert minimal_size(attention.plain_pencil) == attention.pencil.size == 6

# %% [markdown]
# Ward identities are $L L^{-1} = 1$ and $L^{-1} L = 1$ as traces: linear, exact at every size. They hold the identity
# $c\, g_{ts} = -\gamma m$ of the theory, found by eye before.

# %%
ward = next(step for step in attention.reduction.steps if step.name == "Ward identities")
print(ward)
m = attention.dyson.observable()
assert -gamma * m in dict(ward.relations).values()
assert len(attention.equations.unknowns) == 8
attention.equations

# %% [markdown]
# With rational numbers for the parameters, one polynomial in $m$ and $\gamma$ of degree 17 in $m$ remains. It has many more
# roots than the one that is meant; the series of the branch at $\gamma = \infty$, where nothing is chosen, defines it.

# %%
numbers = {c: "3/4", a1: 1, sigma: "1/10"}
polynomial = attention.polynomial(numbers)
print(f"degree {polynomial.degree}; {polynomial.evidence}")
assert polynomial.degree == 17
ridge = sp.Rational(1, 10)
at_ridge = sp.Poly(polynomial.polynomial.subs(gamma, ridge), M)
admissible = [sp.N(root, 40) for root in at_ridge.real_roots() if 0 < root < 1 / ridge]
value = attention.trace({**numbers, gamma: ridge}, digits=30)
print("roots with 0 < m < 1/gamma:", [sp.N(root, 8) for root in admissible], "the branch:", value)
assert len(admissible) > 1
assert sum(bool(abs(root - sp.Float(str(value), 40)) < 1e-28) for root in admissible) == 1

# %% [markdown]
# The branch is followed from vanishing covariance, and every step is recorded:

# %%
solution = attention.solve({**numbers, gamma: "1/1000"}, digits=25)
print("\n".join(solution.notes))
assert solution.success
assert SCALE in attention._plain_bulk.system(SCALE).parameters

# %% [markdown]
# ## A nonlinearity instead of its coefficients
#
# The last step by hand goes: the user writes $f$ of the scores, without its diagonal, and gets what was used.

# %%
scores = Z.T * Z / sp.sqrt(p)
tanh_kernel = off_diagonal(scores.applyfunc(sp.tanh)) / sp.sqrt(p)
tanh = deterministic_equivalent((tanh_kernel.T * Z.T * Z * tanh_kernel / n + gamma * I).inv(), ratios={p: c * n})
for sentence in tanh.linearised.assumptions:
    print("-", sentence)
context = local_context(140)
first, excess = (real.mpf(140) for real in tanh.linearised.constants.values())
same = {c: 2, a1: first, sigma: context.sqrt(excess / 2), gamma: "1/10"}
left, right = tanh.trace({c: 2, gamma: "1/10"}, digits=28), attention.trace(same, digits=28)
print(left)
assert abs(context.mpf(left) - context.mpf(right)) < context.mpf(10) ** -26

# %% [markdown]
# ## Signal and weights: Theorem 1
#
# With $X = Z + \mu y^T$ and $I + w_K w_Q^T$ the pencil gets deterministic rank-one letters. On the span of the vectors
# $v^T (L^{-1}_{\text{bulk}})_{ij} w \to R_{ij} \langle v, w \rangle$, so that $y^T Q y$ is a corner of a small matrix with the overlaps as
# entries. Without weights and for linear features it is the theorem of ridge regression on a spiked model:
#
# $$q = \frac{m (1 + m)}{1 + m + |\mu|^2 m}.$$

# %%
y, mu, w_K, w_Q = Vector("y", n, "sqrt"), Vector("mu", p), Vector("w_K", p), Vector("w_Q", p)
X = Z + mu * y.T
regression = deterministic_equivalent((X.T * X / n + gamma * I).inv(), ratios={p: c * n})
at = {c: sp.Rational(3, 4), gamma: sp.Rational(1, 5)}
strength = sp.Rational(3, 2)
q = regression.quadratic_form(y, y, at, gram={(mu, mu): strength}, digits=30)
m = sp.Float(str(regression.trace(at, digits=40)), 40)
assert abs(sp.Float(str(q), 30) - m * (1 + m) / (1 + m + strength * m)) < 1e-28

# %% [markdown]
# The same with symbols: the response of the vectors solves linear equations whose coefficients are entries of $R$ and overlaps.

# %%
system = regression.quadratic_equations(y, y)
(norm,) = (symbol for symbol in system.parameters if str(symbol) == "<mu,mu>")
labels = next(symbol for symbol in system.parameters if str(symbol) == "<y,y>")
solved = sp.solve(
    [r for r in system.residuals if not r.has(gamma)], [u for u in system.unknowns if str(u) != "g11"], dict=True
)
form = sp.factor(system.observables["quadratic_form"].subs(solved[0]).subs(labels, 1))
print(form)
g = sp.Symbol("g11")
assert sp.simplify(form - g * (1 + g) / (1 + g + norm * g)) == 0

# %%
spiked = a1 * (X.T * (sp.Identity(p) + w_K * w_Q.T) * X / p - I) + sigma * W
theorem = deterministic_equivalent((spiked.T * X.T * X * spiked / n + gamma * I).inv(), ratios={p: c * n})
print(theorem.pencil)
assert (len(theorem.pencil.blocks(n)), len(theorem.pencil.blocks(p))) == (3, 5)
gram = {(mu, mu): 1, (mu, w_K): "1/2", (mu, w_Q): "1/3", (w_K, w_K): 2, (w_Q, w_Q): 1, (w_K, w_Q): "1/5"}
point = {**numbers, gamma: "1/10"}
slope = theorem.quadratic_form(y, y, point, gram, digits=25, derivative=gamma)
error = float(-slope) / 100
print("interpolation error:", error)
assert 0 < error < 1

# %% [markdown]
# The symmetries of the statement are symmetries of the numbers: scaling $w_K$ up and $w_Q$ down changes nothing, exchanging
# them does, and without a signal the weights are not seen.

# %%
scaled = {**gram, (mu, w_K): 1, (w_K, w_K): 8, (mu, w_Q): "1/6", (w_Q, w_Q): "1/4"}
swapped = {**gram, (mu, w_K): "1/3", (mu, w_Q): "1/2", (w_K, w_K): 1, (w_Q, w_Q): 2}
blind = {**gram, (mu, mu): 0, (mu, w_K): 0, (mu, w_Q): 0}
forms = [theorem.quadratic_form(y, y, point, overlaps) for overlaps in (gram, scaled, swapped, blind)]
print(forms)
assert abs(forms[1] - forms[0]) < 1e-14
assert abs(forms[2] - forms[0]) > 1e-3
assert abs(forms[3] - attention.trace(point)) < 1e-14
