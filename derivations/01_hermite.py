# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Hermite polynomials and expansions
#
# A nonlinearity $f$ enters the theory through its expansion in the polynomials that are orthogonal under the standard
# Gaussian law. Everything about them follows from one function of two variables,
#
# $$G(x, t) = e^{xt - t^2/2} = \sum_{k \ge 0} \mathrm{He}_k(x)\,\frac{t^k}{k!},$$
#
# and from one integral, $E\,e^{a\xi} = e^{a^2/2}$ for $\xi \sim N(0, 1)$. This page derives the recurrence, Rodrigues'
# formula, orthogonality, Stein's lemma, Parseval's and Mehler's formulas, and fixes the conventions. Runs in about five
# seconds.

# %%
import sympy as sp

from hermite_rmt.hermite import Nonlinearity

x, y = sp.symbols("x y", real=True)
s, t, r, a = sp.symbols("s t r a", real=True)
DEGREE = 8


def generating(x, t):
    return sp.exp(x * t - t**2 / 2)


def coefficient(expression, symbol, k):
    """Return the Taylor coefficient of symbol^k at 0, times k!."""
    return sp.diff(expression, symbol, k).subs(symbol, 0)


He = [sp.expand(coefficient(generating(x, t), t, k)) for k in range(DEGREE + 1)]
assert He[:4] == [1, x, x**2 - 1, x**3 - 3 * x]
for k in range(4):
    print(sp.latex(sp.Eq(sp.Symbol(f"He_{k}"), He[k])))

# %% [markdown]
# ## Recurrence, derivative, differential equation
#
# $\partial_t G = (x - t)\,G$ and $\partial_x G = t\,G$. Comparing the coefficients of $t^k/k!$,
#
# $$\mathrm{He}_{k+1} = x\,\mathrm{He}_k - k\,\mathrm{He}_{k-1}, \qquad \mathrm{He}_k' = k\,\mathrm{He}_{k-1},
# \qquad \mathrm{He}_k'' - x\,\mathrm{He}_k' + k\,\mathrm{He}_k = 0;$$
#
# the third is the first two put together, $\mathrm{He}_{k+1} = x\,\mathrm{He}_k - \mathrm{He}_k'$ differentiated once.

# %%
assert sp.simplify(sp.diff(generating(x, t), t) - (x - t) * generating(x, t)) == 0
assert sp.simplify(sp.diff(generating(x, t), x) - t * generating(x, t)) == 0
for k in range(1, DEGREE):
    assert sp.expand(He[k + 1] - (x * He[k] - k * He[k - 1])) == 0
    assert sp.expand(sp.diff(He[k], x) - k * He[k - 1]) == 0
    assert sp.expand(sp.diff(He[k], x, 2) - x * sp.diff(He[k], x) + k * He[k]) == 0

# %% [markdown]
# ## Rodrigues' formula
#
# Completing the square, $G(x, t) = e^{x^2/2} e^{-(x - t)^2/2}$; a derivative in $t$ at $0$ is minus one in $x$:
#
# $$\mathrm{He}_k(x) = (-1)^k e^{x^2/2} \frac{d^k}{dx^k} e^{-x^2/2}
# = \sum_{j \le k/2} \frac{(-1)^j\, k!}{2^j\, j!\,(k - 2j)!}\, x^{k - 2j}.$$
#
# The sum is the product of the series of $e^{xt}$ and of $e^{-t^2/2}$.

# %%
assert sp.expand((x**2 / 2 - (x - t) ** 2 / 2) - (x * t - t**2 / 2)) == 0
for k in range(DEGREE + 1):
    rodrigues = (-1) ** k * sp.exp(x**2 / 2) * sp.diff(sp.exp(-(x**2) / 2), x, k)
    explicit = sum(
        sp.Rational((-1) ** j * sp.factorial(k), 2**j * sp.factorial(j) * sp.factorial(k - 2 * j)) * x ** (k - 2 * j)
        for j in range(k // 2 + 1)
    )
    assert sp.expand(sp.simplify(rodrigues) - He[k]) == 0
    assert sp.expand(explicit - He[k]) == 0

# %% [markdown]
# ## Orthogonality
#
# The one integral, then $E\,G(\xi, s)\,G(\xi, t) = e^{-(s^2 + t^2)/2}\,E\,e^{(s + t)\xi} = e^{st}$. Only equal powers of $s$
# and $t$ occur in $e^{st}$: $E\,\mathrm{He}_j(\xi)\,\mathrm{He}_k(\xi) = k!\,\delta_{jk}$. So $h_k = \mathrm{He}_k/\sqrt{k!}$ is
# orthonormal. It is checked a second time, through the moments $E\,\xi^{2m} = (2m - 1)!!$.

# %%
density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
assert sp.simplify(sp.integrate(sp.exp(a * x) * density, (x, -sp.oo, sp.oo)) - sp.exp(a**2 / 2)) == 0


def mean_of_exponential(exponent, *variables):
    """E exp(exponent) for an exponent at most quadratic, linear in each independent N(0, 1) variable; the rest is constant."""
    for variable in variables:
        slope = sp.diff(exponent, variable)
        assert sp.diff(slope, variable) == 0
        exponent = exponent.subs(variable, 0) + slope**2 / 2
    return sp.exp(sp.expand(exponent))


product = mean_of_exponential((s + t) * x - s**2 / 2 - t**2 / 2, x)
assert product == sp.exp(s * t)


def gaussian_mean(polynomial, variable=x):
    """E of a polynomial in N(0, 1), by its moments."""
    total = sp.S.Zero
    for (power,), value in sp.Poly(polynomial, variable).terms():
        total += value * (0 if power % 2 else sp.factorial2(power - 1))
    return total


for j in range(DEGREE + 1):
    for k in range(DEGREE + 1):
        expected = sp.factorial(k) if j == k else 0
        assert coefficient(coefficient(product, s, j), t, k) == expected
        assert gaussian_mean(sp.expand(He[j] * He[k])) == expected
h = [polynomial / sp.sqrt(sp.factorial(k)) for k, polynomial in enumerate(He)]

# %% [markdown]
# ## Products
#
# $G(x, s)\,G(x, t) = e^{st}\,G(x, s + t)$, hence
#
# $$\mathrm{He}_j\,\mathrm{He}_k = \sum_l l! \binom{j}{l}\binom{k}{l}\,\mathrm{He}_{j + k - 2l}.$$
#
# For instance $E\,h_2^4 = 15$: the fourth moment that a finite-size correction of the kernel matrix holds.

# %%
assert sp.expand((s * t + x * (s + t) - (s + t) ** 2 / 2) - (x * s - s**2 / 2 + x * t - t**2 / 2)) == 0
for j in range(5):
    for k in range(5):
        terms = (
            sp.factorial(i) * sp.binomial(j, i) * sp.binomial(k, i) * He[j + k - 2 * i] for i in range(min(j, k) + 1)
        )
        assert sp.expand(sum(terms) - He[j] * He[k]) == 0
assert gaussian_mean(sp.expand(h[2] ** 4)) == 15

# %% [markdown]
# ## Stein's lemma, and what a coefficient is
#
# Integration by parts against the Gaussian density gives $E[\xi f(\xi)] = E[f'(\xi)]$; with Rodrigues' formula, $k$ times,
#
# $$a_k = E[f(\xi)\,h_k(\xi)] = \frac{1}{\sqrt{k!}}\,E[f^{(k)}(\xi)].$$
#
# In particular $a_1 = E[\xi f(\xi)] = E f'(\xi)$: **the slope of the best linear approximation is the mean slope.** Where $f$
# jumps, the derivative is meant in the sense of distributions: for $\operatorname{sign}$ it is $2\,\delta_0$, and
# $a_1 = 2 \cdot (2\pi)^{-1/2}$. For $f = e^{ax}$ both sides are $a^k e^{a^2/2}/\sqrt{k!}$, for every $k$ at once.

# %%
assert sp.simplify(sp.diff(density, x) + x * density) == 0  # the integration by parts, one step
for k in range(DEGREE):  # and the next steps: (He_k density)' = -He_{k+1} density
    assert sp.simplify(sp.diff(He[k] * density, x) + He[k + 1] * density) == 0

tilted = mean_of_exponential(a * x + x * t - t**2 / 2, x)  # generating function of E[e^{a xi} He_k(xi)]
assert sp.simplify(tilted - sp.exp(a**2 / 2 + a * t)) == 0
for k in range(DEGREE + 1):
    derivative_mean = sp.exp(a**2 / 2) * coefficient(sp.exp(a * x), x, k)  # E of a^k e^{a xi}
    assert sp.simplify(coefficient(tilted, t, k) - derivative_mean) == 0

sign_a1 = 2 * sp.integrate(x * density, (x, 0, sp.oo))
assert sp.simplify(sign_a1 - 2 * density.subs(x, 0)) == 0
sp.Eq(sp.Symbol("a_1"), sign_a1)

# %% [markdown]
# ## Completeness and Parseval's formula
#
# If $E[f(\xi)\,\mathrm{He}_k(\xi)] = 0$ for all $k$ then $E[f(\xi)\,e^{t\xi}] = 0$ for all complex $t$ (the series of $G$ converges in
# mean square), so the Fourier transform of $f$ times the density vanishes, and $f = 0$. Hence for square integrable $f$
#
# $$f = \sum_k a_k h_k, \qquad \nu := E f(\xi)^2 = \sum_k a_k^2 .$$
#
# For $f = e^{ax}$ the sum is $\sum_k a^{2k} e^{a^2}/k! = e^{2a^2}$ and the integral is $E\,e^{2a\xi}$. **Centring removes $a_0$ and
# nothing else**: $\nu$ becomes $\nu - a_0^2$, $a_1$ stays.

# %%
index = sp.Symbol("k", integer=True, nonnegative=True)
parseval = sp.summation(a ** (2 * index) * sp.exp(a**2) / sp.factorial(index), (index, 0, sp.oo))
assert sp.simplify(parseval - mean_of_exponential(2 * a * x, x)) == 0
partial = sum(
    (a**k * sp.exp(a**2 / 2) / sp.sqrt(sp.factorial(k)) * h[k]).subs({a: sp.Rational(1, 2)})
    for k in range(DEGREE + 1)
)
at = sp.Rational(7, 5)
# the rest of the expansion at x, by |h_k(x)| <= e^{x^2/4} (Cramer): here a geometric-like tail
tail = sum(sp.Rational(1, 2) ** k / sp.sqrt(sp.factorial(k)) for k in range(DEGREE + 1, 30)) * sp.exp(
    sp.Rational(1, 8) + at**2 / 4
)
error = abs(sp.N(partial.subs(x, at) - sp.exp(at / 2), 30))
assert sp.Float("1e-9") < error < sp.N(tail, 30) < sp.Float("1e-5")

# %% [markdown]
# ## Mehler's formula
#
# Let $(\xi, \xi')$ be Gaussian with unit variances and covariance $r$: $\xi' = r\xi + \sqrt{1 - r^2}\,\zeta$. Then
# $E\,G(\xi, s)\,G(\xi', t) = e^{rst}$, so
#
# $$E[h_j(\xi)\,h_k(\xi')] = r^k \delta_{jk}, \qquad E[f(\xi)\,g(\xi')] = \sum_k a_k b_k\, r^k .$$
#
# The joint density divided by the product of the marginal ones is therefore the kernel
#
# $$\sum_k h_k(x)\,h_k(y)\,r^k = \frac{1}{\sqrt{1 - r^2}} \exp\Bigl(-\frac{r^2 x^2 - 2 r x y + r^2 y^2}{2 (1 - r^2)}\Bigr).$$
#
# Two scores that share a token, or two tokens, have correlation of order $p^{-1/2}$. By Mehler's formula the part $k$ of $f$
# sees it as $r^k$: in a large matrix only $k = 1$ keeps a structure, the rest is noise (derivation 05).

# %%
zeta = sp.Symbol("zeta", real=True)
mehler = mean_of_exponential(x * s - s**2 / 2 + (r * x + sp.sqrt(1 - r**2) * zeta) * t - t**2 / 2, zeta, x)
assert sp.simplify(mehler - sp.exp(r * s * t)) == 0
for j in range(5):
    for k in range(5):
        mean = coefficient(coefficient(mehler, s, j), t, k) / sp.sqrt(sp.factorial(j) * sp.factorial(k))
        assert sp.simplify(mean - (r**k if j == k else 0)) == 0

kernel = sp.exp(-(r**2 * x**2 - 2 * r * x * y + r**2 * y**2) / (2 * (1 - r**2))) / sp.sqrt(1 - r**2)
joint = sp.exp(-(x**2 - 2 * r * x * y + y**2) / (2 * (1 - r**2))) / (2 * sp.pi * sp.sqrt(1 - r**2))
assert sp.simplify(sp.log(joint / (density * density.subs(x, y)) / kernel).rewrite(sp.log).simplify()) == 0
series = sp.series(kernel, r, 0, 5).removeO()
for k in range(5):
    assert sp.expand(series.coeff(r, k) - h[k] * h[k].subs(x, y)) == 0

# %% [markdown]
# ## A score whose variance is not quite one
#
# Given token $i$, the score of $i$ and $j$ has variance $\sigma^2 = |z_i|^2/p = 1 + O(p^{-1/2})$. From
# $E\,G(\sigma\xi, t) = e^{(\sigma^2 - 1) t^2/2}$,
#
# $$E\,h_{2k}(\sigma\xi) = \frac{\sqrt{(2k)!}}{2^k\,k!}\,(\sigma^2 - 1)^k, \qquad E\,h_{2k+1}(\sigma\xi) = 0 .$$
#
# Only $h_2$ feels the variance at first order, $E\,h_2 = (\sigma^2 - 1)/\sqrt2$: the origin of the rank-two term of $a_2$.

# %%
sigma = sp.Symbol("sigma", positive=True)
scaled = mean_of_exponential(sigma * x * t - t**2 / 2, x)
assert sp.simplify(scaled - sp.exp((sigma**2 - 1) * t**2 / 2)) == 0
for k in range(4):
    mean = sp.sqrt(sp.factorial(2 * k)) / (2**k * sp.factorial(k)) * (sigma**2 - 1) ** k
    assert sp.expand(gaussian_mean(h[2 * k].subs(x, sigma * x)) - mean) == 0
    assert gaussian_mean(h[2 * k + 1].subs(x, sigma * x)) == 0

# %% [markdown]
# ## Conventions
#
# | here | elsewhere |
# | --- | --- |
# | $\mathrm{He}_k$ (probabilists', leading coefficient 1) | `sympy.hermite_prob`, `numpy.polynomial.hermite_e` |
# | $h_k = \mathrm{He}_k/\sqrt{k!}$ (orthonormal under $N(0,1)$) | `scipy.special.eval_hermitenorm` is $\mathrm{He}_k$, not $h_k$ |
# | not used: $H_k(x) = 2^{k/2}\,\mathrm{He}_k(\sqrt2\,x)$ (physicists', weight $e^{-x^2}$) | `sympy.hermite`, `numpy.polynomial.hermite` |
# | $a_k = E[f\,h_k]$, so $\nu = \sum a_k^2$ | some papers: $c_k = E[f\,\mathrm{He}_k] = \sqrt{k!}\,a_k$, $\nu = \sum c_k^2/k!$ |
#
# A coefficient quoted elsewhere is to be divided by $\sqrt{k!}$ before it is compared with one here; $a_0$ and $a_1$ agree in
# both conventions, $a_2$ does not. The package's numbers follow the table's first column.

# %%
for k in range(DEGREE + 1):
    assert sp.expand(He[k] - sp.hermite_prob(k, x)) == 0
    assert sp.expand(sp.hermite(k, x) - sp.sqrt(2) ** k * He[k].subs(x, sp.sqrt(2) * x)) == 0
half = sp.Rational(1, 2)
exponential = Nonlinearity(sp.exp(x / 2))
for k in range(5):
    exact = half**k * sp.exp(half**2 / 2) / sp.sqrt(sp.factorial(k))
    assert abs(exponential.coefficient(k, digits=30) / sp.N(exact, 40) - 1) < sp.Float(10) ** -29
centred = exponential.centred()
assert abs(centred.nu(digits=30) - sp.N(sp.exp(half) - sp.exp(half**2), 40)) < sp.Float(10) ** -29
assert abs(centred.coefficient(1, digits=30) - exponential.coefficient(1, digits=30)) < 10**-29
