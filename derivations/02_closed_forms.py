# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # Hermite coefficients in closed form
#
# For polynomials, exponentials, waves, Gaussians, error functions, steps, and the sums and products of these, the
# coefficients $a_k = E\,f(\xi)\,h_k(\xi)$ follow for all $k$ from one identity (Stein's) and five starting values. No
# integral is left to a computer algebra system. This page proves each rule of `hermite_rmt.hermite.closed_form` and
# compares the rules with quadrature. Runs in about ten seconds.

# %%
import random

import sympy as sp

from hermite_rmt.hermite import Nonlinearity, formulas, quadrature
from hermite_rmt.hermite.closed_form import ClosedForm
from hermite_rmt.hermite.closed_form.symbolic import hermite_value
from hermite_rmt.hermite.integrand import Integrand, X

x, b, c, beta, edge = sp.symbols("x b c beta ell", real=True)
alpha, t = sp.symbols("alpha t")
s = 1 - 2 * alpha
phi = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)


def he(n):
    return sp.hermite_prob(n, x) if n else sp.S.One


# %% [markdown]
# ## One identity
#
# $\mathrm{He}_n \varphi = -(\mathrm{He}_{n-1} \varphi)'$. Take an atom
#
# $$G(x) = e^{\alpha x^2 + \beta x} \prod_i \operatorname{erf}(b_i x + c_i)\;[x > \ell], \qquad I_n = E\,G\,\mathrm{He}_n.$$
#
# Integration by parts from $\ell$, with $G' = (2\alpha x + \beta) G + \sum_i \frac{2 b_i}{\sqrt\pi} e^{-(b_i x + c_i)^2}
# G/\operatorname{erf}(b_i x + c_i)$ and $x\,\mathrm{He}_{n-1} = \mathrm{He}_n + (n - 1)\,\mathrm{He}_{n-2}$, gives with $s = 1 - 2\alpha$
#
# $$s\,I_n = G(\ell)\,\varphi(\ell)\,\mathrm{He}_{n-1}(\ell) + \beta\,I_{n-1} + (1 - s)(n - 1)\,I_{n-2}
# + \sum_i \tfrac{2 b_i}{\sqrt\pi} e^{-c_i^2}\,J^{(i)}_{n-1},$$
#
# where $J^{(i)}$ belongs to $G$ with $e^{-b_i^2 x^2 - 2 b_i c_i x}$ in the place of $\operatorname{erf}(b_i x + c_i)$. As a
# statement about integrands it is an identity between functions: the two sides differ by a derivative.

# %%
b2, c2 = sp.symbols("b_2 c_2", real=True)
quadratic = sp.exp(alpha * x**2 + beta * x)
erf1, erf2 = sp.erf(b * x + c), sp.erf(b2 * x + c2)
for atom, factors in (
    (quadratic, ()),
    (quadratic * erf1, ((b, c, erf1),)),
    (quadratic * erf1 * erf2, ((b, c, erf1), (b2, c2, erf2))),
):
    for n in range(1, 6):
        lower = (n - 1) * he(n - 2) if n > 1 else 0
        left = s * atom * he(n) - beta * atom * he(n - 1) - (1 - s) * atom * lower
        for scale, shift, function in factors:
            weight = 2 * scale / sp.sqrt(sp.pi) * sp.exp(-(shift**2))
            left -= weight * sp.exp(-(scale**2) * x**2 - 2 * scale * shift * x) * (atom / function) * he(n - 1)
        boundary = -sp.diff(atom * he(n - 1) * phi, x) / phi
        # in x and the two error functions, after the common exponential, both are polynomials
        assert sp.expand(sp.powsimp(sp.expand((left - boundary) / quadratic), force=True)) == 0

# %% [markdown]
# It holds for complex $\alpha$ and $\beta$ too: waves $\cos(\eta x^2 + \omega x)$ are the real part of an exponential, and
# the coefficients of $I_n$ are polynomials in $\beta$, $1/s$ and $\ell$, so exact numbers stay exact.
#
# ## Starting values
#
# **No error function.** Completing the square, with mean $\beta/s$ and variance $1/s$:
# $E\,e^{\alpha \xi^2 + \beta \xi} = s^{-1/2} e^{\beta^2/2s}$ for $\alpha < 1/2$, and on $x > \ell$ half of
# $\operatorname{erfc}\big(\sqrt{s/2}\,(\ell - \beta/s)\big)$ of it: its derivative in $\ell$ is minus the integrand there, and it
# vanishes at $\infty$.

# %%
assert (
    sp.expand(alpha * x**2 + beta * x - x**2 / 2 - (-s / 2 * (x - beta / s) ** 2 + beta**2 / (2 * s))).simplify() == 0
)
v = sp.Symbol("v", positive=True)  # 1/s
tail = sp.sqrt(v) * sp.exp(beta**2 * v / 2) * sp.erfc((edge - beta * v) / sp.sqrt(2 * v)) / 2
integrand = (sp.exp((1 - 1 / v) / 2 * x**2 + beta * x) * phi).subs(x, edge)
assert sp.simplify(sp.expand_log(sp.log(-sp.diff(tail, edge) / integrand), force=True)) == 0
assert tail.subs(edge, sp.oo) == 0

# %% [markdown]
# **One error function.** For $Y \sim N(0, v)$, $E \operatorname{erf}(b Y + c) = \operatorname{erf}\big(c/\sqrt{1 + 2 b^2 v}\big)$: both
# vanish at $c = 0$, and the derivatives in $c$ agree by the first rule.

# %%
y = sp.Symbol("y", real=True)


def mean_of_exponential(quadratic, linear, constant):
    """E exp(quadratic Y^2 + linear Y + constant) for Y of variance v."""
    ratio = 1 - 2 * quadratic * v
    return sp.exp(constant + linear**2 * v / (2 * ratio)) / sp.sqrt(ratio)


derivative = 2 / sp.sqrt(sp.pi) * mean_of_exponential(-(b**2), -2 * b * c, -(c**2))
claim = sp.erf(c / sp.sqrt(1 + 2 * b**2 * v))
assert sp.simplify(sp.log(derivative / sp.diff(claim, c)).expand(force=True)) == 0
assert claim.subs(c, 0) == 0

# %% [markdown]
# **One error function, from its zero on.** $E \operatorname{erf}(b Y)\,[Y > 0] = \frac1\pi \arctan\big(b \sqrt{2 v}\big)$: derivative in
# $b$, with $E\,Y e^{-b^2 Y^2} [Y > 0] = \sqrt{v/2\pi}\,/(1 + 2 b^2 v)$.
#
# **Two error functions.** $E \operatorname{erf}(b_1 Y) \operatorname{erf}(b_2 Y) = \frac2\pi \arcsin \frac{2 b_1 b_2 v}{\sqrt{(1 + 2 b_1^2 v)(1 +
# 2 b_2^2 v)}}$: derivative in $b_1$, which is $\frac{2}{\sqrt\pi} E\,Y e^{-b_1^2 Y^2} \operatorname{erf}(b_2 Y)$, and Stein's identity
# under the variance $v/(1 + 2 b_1^2 v)$.

# %%
half = sp.sqrt(v / (2 * sp.pi)) / (1 + 2 * b**2 * v)
density = sp.exp(-(y**2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
antiderivative = -half * sp.exp(-(y**2) * (1 + 2 * b**2 * v) / (2 * v))
assert sp.simplify(sp.diff(antiderivative, y) / (y * sp.exp(-(b**2) * y**2) * density) - 1) == 0
assert sp.simplify(antiderivative.subs(y, 0) + half) == 0
assert sp.simplify(sp.diff(sp.atan(b * sp.sqrt(2 * v)) / sp.pi, b) - 2 / sp.sqrt(sp.pi) * half) == 0

b1, b2 = sp.symbols("b_1 b_2", positive=True)
ratio = 1 + 2 * b1**2 * v
inner = v / ratio  # the variance under exp(-b_1^2 Y^2)
stein = ratio ** sp.Rational(-1, 2) * inner * 2 * b2 / sp.sqrt(sp.pi) / sp.sqrt(1 + 2 * b2**2 * inner)
arcsine = 2 / sp.pi * sp.asin(2 * b1 * b2 * v / sp.sqrt((1 + 2 * b1**2 * v) * (1 + 2 * b2**2 * v)))
difference = 2 / sp.sqrt(sp.pi) * stein / sp.diff(arcsine, b1)
assert sp.simplify(difference**2 - 1) == 0
assert arcsine.subs(b1, 0) == 0
assert difference.subs({b1: 1, b2: 1, v: 1}).evalf() > 0

# %% [markdown]
# Error functions that do not vanish at the same point as their Gaussian lead to Owen's function, which is not counted as a
# closed form: the energy of $\operatorname{erf}(x + 1)$ is left to quadrature.
#
# ## Powers of x
#
# $x\,\mathrm{He}_k = \mathrm{He}_{k+1} + k\,\mathrm{He}_{k-1}$ turns $E\,p(\xi) G \mathrm{He}_k$ into a combination of the $I_n$, by Horner's rule.
#
# ## All orders at once
#
# The generating function of the $\mathrm{He}_k$ makes $\sqrt{k!}\,a_k$ the $k$-th derivative at $0$ of $t \mapsto E f(\xi + t)$. For an
# exponential that is $e^{u t + w t^2}$ up to a factor, $u = \beta/s$, $w = \alpha/s$: powers of $u$ for $w = 0$, Hermite polynomials
# otherwise. Waves are real parts of these.

# %%
k = sp.Symbol("k", integer=True, nonnegative=True)
u, w = sp.Symbol("u", positive=True), sp.Symbol("w", negative=True)
for n in range(7):
    flow = sp.diff(sp.exp(u * t + w * t**2), t, n).subs(t, 0)
    assert sp.expand(flow - sp.sqrt(-w) ** n * sp.hermite(n, u / (2 * sp.sqrt(-w)))) == 0
    terms = (
        sp.factorial(n) / (sp.factorial(j) * sp.factorial(n - 2 * j)) * w**j * u ** (n - 2 * j)
        for j in range(n // 2 + 1)
    )
    assert sp.expand(flow - sum(terms)) == 0

# %% [markdown]
# **Piecewise polynomials.** For a polynomial $p$ of degree below $k$,
# $\frac{d}{dx} \sum_j p^{(j)} \mathrm{He}_{k-1-j}\,\varphi = -p\,\mathrm{He}_k\,\varphi$: the sum telescopes. Adding up the pieces, only jumps are left,
#
# $$E f\,\mathrm{He}_k = \sum_\ell \varphi(\ell) \sum_j \big[f^{(j)}(\ell+) - f^{(j)}(\ell-)\big]\,\mathrm{He}_{k-1-j}(\ell), \qquad k > \deg f.$$

# %%
coefficients = sp.symbols("p_0:4")
p = sum(value * x**m for m, value in enumerate(coefficients))
for order in range(4, 8):
    primitive = sum(sp.diff(p, x, j) * he(order - 1 - j) for j in range(4)) * phi
    assert sp.expand(sp.simplify((sp.diff(primitive, x) + p * he(order) * phi) / phi)) == 0
# He_n(0) for a symbolic n: SymPy 1.14's own formula lacks the factor 2^(n/2)
for n in range(9):
    assert hermite_value(k, sp.S.Zero).subs(k, n) == sp.hermite_prob(n, 0)

# %% [markdown]
# ## Real powers
#
# For $f = |x|^q$ or $\operatorname{sgn}(x) |x|^q$, $x f' = q f$. Write $R_k = E f\,\mathrm{He}_k$. Stein's identity on $x f$ gives
# $E (x f)\,\mathrm{He}_{k+1} = E (f + x f')\,\mathrm{He}_k = (1 + q) R_k$, and by $x\,\mathrm{He}_{k+1} = \mathrm{He}_{k+2} + (k + 1) \mathrm{He}_k$ the left
# side is $R_{k+2} + (k + 1) R_k$:
#
# $$R_{k+2} = (q - k)\,R_k.$$
#
# So $R_{2j} = M(q)\,q (q - 2) \cdots (q - 2j + 2)$ for $|x|^q$ and $R_{2j+1} = M(q + 1)\,(q - 1)(q - 3) \cdots$ for $\operatorname{sgn}(x) |x|^q$,
# with $M(q) = E |\xi|^q = 2^{q/2}\,\Gamma(\tfrac{q+1}{2})/\sqrt\pi$, all for $q > -1$.

# %%
q, r = sp.symbols("q r", positive=True)
moment = 2 ** (q / 2) * sp.gamma((q + 1) / 2) / sp.sqrt(sp.pi)
# the substitution u = r^2/2 in 2 r^q phi(r) dr
substituted = (2 * r**q * phi.subs(x, r) / r).subs(r, sp.sqrt(2 * t))
assert sp.simplify(substituted / (2 ** (q / 2) / sp.sqrt(sp.pi) * t ** ((q - 1) / 2) * sp.exp(-t)) - 1) == 0
for n in range(6):
    # x f He_{n+1} = f He_{n+2} + (n + 1) f He_n, whatever f
    assert sp.expand(x * he(n + 1) - he(n + 2) - (n + 1) * he(n)) == 0
    # polynomial powers: the rule on x^(2m) against E x^(2m) He_k = (2m)!/(2^j j!), j = m - k/2
    for m in range(n // 2, 6):
        direct = sp.factorial(2 * m) / (2 ** (m - n // 2) * sp.factorial(m - n // 2))
        falling = sp.prod([2 * m - 2 * i for i in range(n // 2)])
        assert sp.simplify(moment.subs(q, 2 * m) * falling - direct) == 0

# %% [markdown]
# ## What comes out
#
# The familiar nonlinearities, for all $k$.

# %%
for name in ("relu", "erf", "gelu", "hard_tanh", "elu", "sign", "exp", "sin"):
    f = Nonlinearity(formulas.FORMULAS[name](X))
    print(name, sp.latex(f.closed_form(k)), sp.latex(f.closed_form_nu()), sep="\n    ")
    for n in (0, 1, 2, 5, 8):
        difference = f.closed_form(k).subs(k, n).doit() - f.closed_form(n)
        assert abs(sp.N(difference, 40)) < sp.Float("1e-38")

slope, width = sp.Symbol("a", real=True), sp.Symbol("d", positive=True)
leaky = Nonlinearity(formulas.leaky_relu(X, slope), variable=X)
assert sp.expand(leaky.closed_form(1) - (1 + slope) / 2) == 0
assert sp.expand(leaky.closed_form_nu() - (1 + slope**2) / 2) == 0
threshold = Nonlinearity(formulas.soft_threshold(X, width), variable=X)
assert threshold.closed_form(1) == sp.erfc(width / sp.sqrt(2))
assert sp.simplify(Nonlinearity("erf(x)").closed_form_nu() - 2 / sp.pi * sp.asin(sp.Rational(2, 3))) == 0
assert sp.simplify(Nonlinearity("gelu(x)").closed_form_nu() - sp.Rational(1, 3) - sp.sqrt(3) / (6 * sp.pi)) == 0

# %% [markdown]
# ## Against quadrature
#
# Random members of the families, with rational parameters: closed form and quadrature agree to 25 digits.

# %%
draw = random.Random(1)


def rational(low, high):
    return sp.Rational(draw.randint(4 * low, 4 * high), 4)


samples = [
    rational(-2, 2) * X**3 + rational(-2, 2) * X + 1,
    X**2 * sp.exp(X * rational(-1, 1)),
    X * sp.sin(rational(1, 2) * X + rational(-1, 1)),
    sp.cos(X**2 + X),
    (X + 1) * sp.exp(-(X**2) * rational(1, 2) + X),
    sp.erf(rational(1, 2) * X + rational(-1, 1)) * sp.exp(X / 2),
    sp.Max(X - rational(-1, 1), rational(-1, 1)) ** 2,
    sp.Abs(X**2 - rational(1, 2)),
    formulas.elu(X, rational(1, 2)),
    formulas.gelu(X) * sp.sign(X),
    sp.Abs(X) ** sp.Rational(1, 3) * (1 + sp.sign(X)),
]
for f in samples:
    by_quadrature = quadrature.coefficients(Integrand.of_expression(f), 4, 25)
    for n, value in enumerate(by_quadrature):
        exact = sp.N(ClosedForm.of(f).coefficient(n), 40)
        assert abs(exact - sp.Float(str(value), 40)) <= sp.Float("1e-24") * max(abs(exact), sp.Float("1e-20")), (f, n)
