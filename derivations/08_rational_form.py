# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # The rational form: Proposition 1 and Theorem 1 without integrals and without roots
#
# Form (d) of derivation 06 writes the integrals of form (b) as sums over the three roots $x_k$ of the cubic
#
# $$D(x) = g\,(1 + \eta m x) + c\, x\,(a x + k)^2, \qquad g = \gamma + \sigma^2\delta,\quad k = \kappa - \sigma^2\tau,\quad \eta = c\,\sigma^2,$$
#
# with the sign folded so that $a = |a_1|$. Roots are poor unknowns: they collide, run to infinity where $a \to 0$, and each sum
# divides by $D'(x_k)$. In the variable $u$ that uniformises the Marchenko-Pastur transform the sums become **divided differences**
# and those become symmetric rational functions, regular at collisions and at $a = 0$. This page
#
# - derives them, and with them the equations that `hermite_rmt.solvers.attention_equations` solves;
# - runs that very code on SymPy symbols, so that what is proved is what is computed;
# - shows that a zero with the right signs is *the* solution of form (b): the certificate;
# - proves the form of Theorem 1 that has no cancellation, against the one of derivation 07.
#
# Source of the model and of the statements: Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656.

# %%
import itertools
import random
from fractions import Fraction
from math import prod

import sympy as sp

from hermite_rmt.solvers.attention_equations import (
    Inputs,
    pair_roots,
    residuals,
    shape_of,
    sums,
    symmetric_roots,
    trace,
)
from hermite_rmt.solvers.attention_freedom import freedom
from hermite_rmt.solvers.attention_response import quadratic_form, split_overlaps

c, a, gamma, eta, kappa = sp.symbols("c a gamma eta kappa", positive=True)
u, rho, r = sp.symbols("u rho r", positive=True)
us = sp.symbols("u_1:4")


def vanishes(expression):
    """Whether a rational expression is identically zero."""
    return sp.expand(sp.numer(sp.together(expression))) == 0


# %% [markdown]
# ## The variable $u$
#
# Let $\bar c = \min(c, 1/c)$, $\theta = \min(1, 1/c)$, $\zeta = \max(1, 1/c)$ and $\tau(x) = \theta/u$ for the $\tau(z)$ of derivation 06. Then
#
# $$x = -\zeta\,\frac{(u - 1)(u - \bar c)}{u}, \qquad \int \frac{d\mathrm{MP}(t)}{t - x} = \frac{c\,\theta}{u - \theta}, \qquad
# |\tau| < c^{-1/2} \iff |u|^2 > \bar c .$$
#
# The physical sheet is the outside of one circle, on which $x$ runs through the bulk. Both cases $c \le 1$, $c > 1$ are covered by
# $\theta \in \{1, \bar c\}$.

# %%
SHAPES = {"c <= 1": shape_of(c, False, sp.Integer(1)), "c > 1": shape_of(c, True, sp.Integer(1))}
for shape in SHAPES.values():
    tau = shape.theta / u
    x = -shape.zeta * (u - 1) * (u - shape.cbar) / u
    assert vanishes(c * tau**2 + (c * x - c - 1) * tau + 1)  # the quadratic that defines tau
    assert vanishes(c * tau / (1 - tau) - c * shape.theta / (u - shape.theta))
    assert vanishes(c * shape.theta**2 - shape.cbar)  # |tau|^2 < 1/c is |u|^2 > c theta^2 = cbar
    assert vanishes(shape.b - (1 - shape.cbar))
    assert vanishes(shape.beta - (1 - shape.theta))

# %% [markdown]
# ## Sums over the roots are divided differences
#
# $x_k - x_l = -\zeta\,(u_k - u_l)\,(1 - \bar c/(u_k u_l))$. With $P = u_1u_2u_3$ and $V = \prod_{i<j}(u_iu_j - \bar c)$ therefore
#
# $$\sum_k \frac{\varphi(u_k)}{D'(x_k)} = \frac{P}{c\,a^2\zeta^2\, V}\; [u_1, u_2, u_3]\,\bigl\{\varphi(u)\,(P - \bar c\, u)\bigr\} .$$

# %%
P = prod(us)
for shape in SHAPES.values():
    cbar, zeta = shape.cbar, shape.zeta
    V = prod(p * q - cbar for p, q in itertools.combinations(us, 2))

    def root(w, cbar=cbar, zeta=zeta):
        return -zeta * (w - 1) * (w - cbar) / w

    for w, others in ((us[i], [v for v in us if v != us[i]]) for i in range(3)):
        derivative = c * a**2 * prod(root(w) - root(v) for v in others)  # D'(x_k)
        weight = P / (c * a**2 * zeta**2 * V) * (P - cbar * w) / prod(w - v for v in others)
        assert vanishes(1 / derivative - weight)


# %% [markdown]
# The functions met are partial fractions in $u$, and the divided differences of those are known:
# $[u_1,u_2,u_3]\{1\} = [\ ]\{u\} = 0$, $[\ ]\{u^2\} = 1$, $[\ ]\{1/(u + q)\} = \prod_k (u_k + q)^{-1}$, $[\ ]\{1/u^2\} = E_2/P^2$. For
# the transform itself, $\varphi = c\theta/(u - \theta)$:
#
# $$I_0 = \frac{\theta}{\zeta^2}\,\frac{P}{a^2V}\,\frac{P - \bar c\,\theta}{\prod_k (u_k - \theta)}, \qquad
# I_1 = \frac{\bar c}{\zeta}\,\frac{P}{a^2 V}, \qquad \frac{I_2}{I_1} = \zeta\Bigl[1 + \bar c - \bar c\,\frac{E_2 - \bar c}{P}\Bigr], \qquad
# I_j = \int \frac{x^j}{D}\, d\mathrm{MP}.$$
#
# Below, the code is run on symbols: the chart gets its coordinates as functions of $y_k = u_k - 1$, and what it returns is
# compared with the definitions and with the sums over the roots.

# %%
ys = sp.symbols("y_1:4")
f0, S, v = sp.symbols("f_0 S v")
to_u = {w: 1 + y for w, y in zip(us, ys, strict=True)}
e1, e2, e3 = sum(ys), sum(p * q for p, q in itertools.combinations(ys, 2)), prod(ys)
for shape in SHAPES.values():
    inputs = Inputs(shape, a, eta, kappa)
    cbar, theta, zeta = shape.cbar, shape.theta, shape.zeta
    w = [1 + y for y in ys]
    x = [-zeta * y * (shape.b + y) / (1 + y) for y in ys]
    charts = {
        "symmetric": symmetric_roots(inputs, gamma, a * e1, a**2 * e2, a**2 * e3 / gamma),
        "pair": pair_roots(inputs, gamma, ys[0] / gamma, a * (ys[1] + ys[2] + shape.b), a**2 * (w[1] * w[2] - cbar)),
    }
    for name, roots in charts.items():
        k = -a * sum(x) / 2
        expected = {
            "e3": a**2 * e3,
            "product": a**2 * prod(w),
            "at_theta": a**2 * prod(t - theta for t in w),
            "minus_theta": a**2 * (prod(w) - cbar * theta),
            "pairs": a**4 * prod(p * q - cbar for p, q in itertools.combinations(w, 2)),
            "K": a**2 * (shape.b**2 + shape.b * e1 + e2 + e3),
            # D = c a^2 prod (x - x_k), coefficient by coefficient
            "gain": -c * a**2 * prod(x) / gamma,
            "k": k,
            "Q": a**2 * sum(p * q for p, q in itertools.combinations(x, 2)) - k**2,
        }
        for field, value in expected.items():
            assert vanishes(getattr(roots, field) - value), (name, field)
        assert vanishes(roots.shifted(rho) - a**2 * prod(t + rho for t in w)), name

# %% [markdown]
# ## The effective degrees of freedom
#
# $1 - \gamma m$ would cancel where $\gamma$ is large. In both charts the leading terms of the quotient $\gamma m = \gamma\,G\,I_0$ drop out
# of the difference, and what is left is the quotient that the code evaluates:

# %%
for shape in SHAPES.values():
    inputs = Inputs(shape, a, eta, kappa)
    pair = ys[0] / gamma, a * (ys[1] + ys[2] + shape.b), a**2 * ((1 + ys[1]) * (1 + ys[2]) - shape.cbar)
    for chart, use_pair, at in (
        (symmetric_roots, False, (a * e1, a**2 * e2, a**2 * e3 / gamma)),
        (pair_roots, True, pair),
    ):
        roots = chart(inputs, gamma, *at)
        gamma_m = gamma * trace(roots, sums(inputs, roots))
        assert vanishes(1 - gamma_m - freedom(inputs, gamma, use_pair, at, roots.pairs)), use_pair

# %% [markdown]
# ## The coefficients of the cubic
#
# The fields $Q$ and $k$ come from comparing coefficients of $D = c\,a^2\prod_k(x - x_k)$: $g = -c a^2 x_1x_2x_3$, $k = -\tfrac a2\sum_k x_k$ and
# $\sigma^2 g m = a^2\sum_{i<j} x_ix_j - k^2 =: Q$. The integrals, against sums over the roots at random exact points (an identity of
# rational functions of low degree that holds at that many is one):


# %%
class Exact:
    """A random exact point: rational roots on the physical sheet, and the eta, gamma, kappa of which they are the solution."""

    def __init__(self, seed):
        draw = random.Random(seed)

        def rational(low, high):
            return Fraction(draw.randint(int(low * 60), int(high * 60)), 60)

        while True:
            self.c = rational(0.2, 0.95) if seed % 2 else rational(1.1, 4)
            self.a = rational(0.2, 2)
            self.shape = shape_of(self.c, self.c > 1, Fraction(1))
            self.y = [rational(0.1, 4) for _ in range(3)]
            if len(set(self.y)) < 3:
                continue
            self.x = [-self.shape.zeta * t * (self.shape.b + t) / (1 + t) for t in self.y]
            self.k = -self.a * sum(self.x) / 2
            self.g = -self.c * self.a**2 * prod(self.x)
            self.Q = self.a**2 * sum(p * q for p, q in itertools.combinations(self.x, 2)) - self.k**2
            I0, I1, I2 = (self.sum(j, lambda w: self.c * self.shape.theta / (w - self.shape.theta)) for j in range(3))
            # 1 - eta I_1 = gamma/g and sigma^2 g^2 I_0/gamma = Q, linear in eta; then kappa
            self.eta = self.Q / (self.g * I0 / self.c + self.Q * I1)
            self.gamma = self.g * (1 - self.eta * I1)
            self.kappa = self.k + self.eta * (self.a * I2 + self.k * I1)
            self.I = I0, I1, I2
            if self.eta > 0 and self.gamma > 0:
                break
        r = rational(0.1, 2)
        self.overlaps = (
            r,
            *(rational(-1, 1) for _ in range(2)),
            5 + rational(0, 1),
            6 + rational(0, 1),
            rational(-1, 1),
        )

    def sum(self, j, phi):
        """The sum over the roots of x^j phi(u)/D'(x): an integral against the measure of transform phi, over D."""
        total = Fraction(0)
        for k in range(3):
            others = [self.x[k] - self.x[other] for other in range(3) if other != k]
            total += self.x[k] ** j * phi(1 + self.y[k]) / (self.c * self.a**2 * prod(others))
        return total

    def charts(self):
        inputs = Inputs(self.shape, self.a, self.eta, self.kappa)
        e1, e2, e3 = sum(self.y), sum(p * q for p, q in itertools.combinations(self.y, 2)), prod(self.y)
        yield inputs, symmetric_roots(inputs, self.gamma, self.a * e1, self.a**2 * e2, self.a**2 * e3 / self.gamma)
        for first in range(3):
            second, third = (t for index, t in enumerate(self.y) if index != first)
            total = self.a * (second + third + self.shape.b)
            outer = self.a**2 * ((1 + second) * (1 + third) - self.shape.cbar)
            yield inputs, pair_roots(inputs, self.gamma, self.y[first] / self.gamma, total, outer)


points = [Exact(seed) for seed in range(24)]
for point in points:
    for inputs, roots in point.charts():
        integrals = sums(inputs, roots)
        I0, I1, I2 = point.I
        assert (integrals.I0, integrals.I1, integrals.eta_I1) == (I0, I1, point.eta * I1)
        assert integrals.slope * I1 == point.a * I2
        assert residuals(inputs, point.gamma, roots, integrals) == (0, 0, 0)

# %% [markdown]
# ## The equations
#
# Form (b) reads $\delta = c\,g I_1$, $m = I_0 + \eta m I_1$, $\tau = c\,(a I_2 + k I_1)$. With $G = g/\gamma$ the first is $1/G + \eta I_1 = 1$; then the second is $m = G I_0$;
# and with $D$'s coefficients
#
# $$\frac1G + \eta I_1 = 1, \qquad Q = \sigma^2\gamma\, G^2 I_0, \qquad k + \eta\,(a I_2 + k I_1) = \kappa :$$
#
# three rational equations in three unknowns. At the exact points above (each a solution by construction) form (b) holds:

# %%
for point in points:
    I0, I1, I2 = point.I
    sigma2 = point.eta / point.c
    m, delta, tau = point.g / point.gamma * I0, point.c * point.g * I1, point.c * (point.a * I2 + point.k * I1)
    assert point.g == point.gamma + sigma2 * delta
    assert point.k == point.kappa - sigma2 * tau
    assert m == I0 + point.eta * m * I1
    for x in point.x:  # the roots are those of the D of form (b)
        assert point.g * (1 + point.eta * m * x) + point.c * x * (point.a * x + point.k) ** 2 == 0

# %% [markdown]
# ## Two charts
#
# *Symmetric*: $F_1 = a e_1(y)$, $F_2 = a^2 e_2(y)$, $f_3 = a^2 e_3(y)/\gamma$. Regular where roots collide; at $a = 0$ two roots are at infinity and
# $F_1 = 2k/\zeta$, $F_2 = (k^2 + Q)/\zeta^2$ stay finite. *Pair*: one root $y_0 = \gamma f_0$, and $S = a\,(y_1 + y_2 + b)$, $v = a^2(u_1u_2 - \bar c)$ for the others.
# For a complex pair close to the bulk $|u_1|^2 \to \bar c$: there $v \to 0$, and with $S < 0$ every expression of the code is a sum of terms of
# one sign or a product. Both divide by $\gamma$ the coordinate that vanishes with $\gamma$, so that $E$, which may be $\gamma^2$ small, is
# not a difference of larger numbers. At $a = 0$, $d = 0$ the equations give the closed form of the noise,
# $t^2 (t + c - 1) = (c\gamma/\nu)(1 - t)$ with $t = \gamma m$: eliminating $F_2$ and $y_0$ leaves it as a factor.

# %%
D, F2, f3 = sp.symbols("D F_2 f_3", positive=True)
for shape in SHAPES.values():
    inputs = Inputs(shape, sp.Integer(0), eta, sp.Integer(0))
    roots = symmetric_roots(inputs, gamma, sp.Integer(0), F2, f3)
    first, second, third = residuals(inputs, gamma, roots, sums(inputs, roots))
    assert third == 0  # k = 0: tau vanishes
    trace = roots.gain * sums(inputs, roots).I0
    # on the solution F2 follows from the first equation at given y_0 = gamma f_3/F_2
    y0 = sp.Symbol("y_0", positive=True)
    substituted = [sp.simplify(expression.subs(f3, y0 * F2 / gamma)) for expression in (first, second, gamma * trace)]
    solved = sp.solve(sp.numer(sp.together(substituted[0])), F2)
    assert len(solved) == 1
    noise, mass = (sp.together(expression.subs(F2, solved[0])) for expression in (substituted[1], substituted[2]))
    closed = mass**2 * (mass + c - 1) - (c * gamma / eta) * (1 - mass)  # nu = eta
    factors = sp.factor_list(sp.numer(noise))[1]
    assert any(sp.rem(sp.numer(sp.together(closed)), factor, y0) == 0 for factor, _ in factors if factor.has(gamma))

# %% [markdown]
# ## The certificate
#
# **Proposition.** Let $c, \gamma > 0$, $\eta \ge 0$, and let coordinates of a chart solve the three equations, with
#
# - $|u_k|^2 > \bar c$ for the three roots, and
# - $G > 0$ and $I_0 > 0$, $I_1 > 0$.
#
# Then $m = G I_0$, $\delta = c\,\gamma\,G I_1$, $\tau = c\,(a I_2 + k I_1)$ is the solution of form (b) with $m > 0$, $\delta > 0$, of which there is exactly one.
#
# *Proof.* By the first equation $g = \gamma G = \gamma + \sigma^2\delta$, by the third $k = \kappa - \sigma^2\tau$, by the second $Q = \sigma^2 g m$: the cubic with the
# roots $x_k$ is the $D$ of form (b) for these $m, \delta, \tau$. On $x \ge 0$ it is at least $g > 0$, so no root lies on the support. As $|u_k|^2 > \bar c$, the
# functions $c\theta/(u_k - \theta)$ are the values at $x_k$ of the Stieltjes transform itself (not of its other sheet), and the sums over the roots are
# the integrals: form (b) holds, with $m > 0$ and $\delta > 0$. Where roots collide, and where $a = 0$, the same follows by continuity of
# both sides (the divided differences). Uniqueness is the theorem of derivation 06: after multiplying the second row and column of the pencil by $i$,
# form (b) is $h = \int (B_x + \sigma^2c^2 J h J)^{-1} d\mathrm{MP}$ with $\operatorname{Re} B_x \ge 0$, a holomorphic map of $\{\operatorname{Re} h > 0\}$ that sends every
# bounded part of it strictly inside itself, and by Earle and Hamilton such a map has one fixed point. $\square$
#
# So Krawczyk's test in a chart (one zero in a box) and these signs on the box are a proof, without any path. That the signs are
# needed is seen on the two spurious points of the polynomial form: they are zeros of the same equations with a root on the
# other sheet, $u \to \bar c/u$, which leaves $x$ as it is.
#
# $|u_k|^2 > \bar c = R^2$ is tested as Jury would: all roots are outside, an even number of them negative, if and only if
#
# $$\prod_{i<j}(u_iu_j - R^2) > 0, \qquad \prod_k (u_k - R) > 0, \qquad \prod_k (u_k + R) > 0, \qquad u_1u_2u_3 > R^3 .$$
#
# *Proof of "if".* One real root and a complex pair: the first product is $(|u_1|^2 - R^2)\,|u_0u_1 - R^2|^2$, so the pair is outside, and
# the second gives $u_0 > R$. Three real roots: by the second an even number is below $R$, by the third an even number is below $-R$. None below
# $R$, or two below $-R$: done. Else $u_1, u_2 \in (-R, R)$ and $u_0 > R$, so $u_1u_2 < R^2$; by the fourth $u_1u_2 > 0$. If both are negative, so
# are $u_0u_1$ and $u_0u_2$; if both are positive, $u_0u_1 > R^3/u_2 > R^2$ and likewise $u_0u_2$: either way the first product is negative. $\square$
# For a pair known by sum and product the test is $u_1u_2 > R^2$ and $R\,|u_1 + u_2| < u_1u_2 + R^2$. The code's version, on random roots:

# %%
draw = random.Random(7)
R = Fraction(4, 5)
square = Inputs(shape_of(R**2, False, Fraction(1)), Fraction(1), Fraction(0), Fraction(0))
seen = {True: 0, False: 0}
for _ in range(2000):
    single, first, second = (Fraction(2 * draw.randint(-300, 300) + 1, 200) for _ in range(3))
    if draw.random() < 0.5:  # a real pair, else first +- i second
        total, product, reals = first + second, first * second, (single, first, second)
        outside = all(abs(w) > R for w in reals)
    else:
        total, product, reals = 2 * first, first**2 + second**2, (single,)
        outside = abs(single) > R and product > R**2
    even = sum(w < 0 for w in reals) % 2 == 0
    E1, E2, E3 = single + total, single * total + product, single * product
    roots = symmetric_roots(square, Fraction(1), E1 - 3, E2 - 2 * E1 + 3, E3 - E2 + E1 - 1)  # y = u - 1
    verdict = all(sign > 0 for sign in roots.outside(R))
    assert verdict == (outside and even)
    if single > 0:
        pair = pair_roots(square, Fraction(1), single - 1, total - 1 - R**2, product - R**2)
        assert all(sign > 0 for sign in pair.outside(R)) == (outside and even)
    seen[verdict] += 1
assert min(seen.values()) > 100

# %% [markdown]
# The spurious points, found on the other sheet. For $\eta = 0$ the equations say $g = \gamma$, $k = \kappa$, $Q = 0$ and fix the $x_k$, not the $u_k$:

# %%
from hermite_rmt.core.contexts import local_context

context = local_context(120)
ratio, ridge = context.mpf(3) / 4, context.mpf(1) / 10
shape = shape_of(ratio, False, context.mpf(1))
inputs = Inputs(shape, context.mpf(1), context.mpf(0), context.mpf(-1))  # a_1 = nu = 1, d = 0
cubic = [ratio, -2 * ratio, ratio, ridge]  # gamma + c x (x - 1)^2
sheets = []
for x in context.polyroots(cubic, maxsteps=200, extraprec=200):
    z = 1 + ratio - x / shape.zeta  # u + cbar/u
    root = context.sqrt(z * z - 4 * ratio)
    sheets.append(sorted(((z + root) / 2, (z - root) / 2), key=abs, reverse=True))  # outer, inner
traces = {}
for choice in itertools.product((0, 1), repeat=3):
    w = [pair[index] for pair, index in zip(sheets, choice, strict=True)]
    E1, E2, E3 = sum(w), w[0] * w[1] + w[0] * w[2] + w[1] * w[2], w[0] * w[1] * w[2]
    if max(abs(context.im(e)) for e in (E1, E2, E3)) > 1e-20:
        continue  # the pair on different sheets
    F = [context.re(e) for e in (E1 - 3, E2 - 2 * E1 + 3, (E3 - E2 + E1 - 1) / ridge)]
    roots = symmetric_roots(inputs, ridge, *F)
    integrals = sums(inputs, roots)
    assert all(abs(value) < 1e-20 for value in residuals(inputs, ridge, roots, integrals))
    signs = (*roots.outside(context.sqrt(ratio)), roots.gain, integrals.I0, integrals.I1)
    assert all(sign > 0 for sign in signs) == (choice == (0, 0, 0))
    traces[choice] = roots.gain * integrals.I0
assert abs(traces[0, 0, 0] - context.mpf("5.63618405114643395")) < 1e-15  # derivation 06, by form (b)
assert abs(traces[1, 0, 0] - 0.6608076258) < 1e-9  # the real root on the other sheet
assert traces[0, 1, 1] > 0  # the pair on the other sheet: m > 0 and m < 1/gamma select nothing

# %% [markdown]
# ## Theorem 1 without cancellation
#
# Derivation 07: with $r = |\mu|^2$ the overlaps of the spiked $(\tilde G - x)^{-1}$ are functions of $\tau = \theta/u$. Split the weights along and across the
# signal, $a\cdot b = (a\cdot\mu)(b\cdot\mu)/r + (a\cdot b)_\perp$; then, with $\rho = r\theta$,
#
# $$\hat\varphi_a^T\hat\varphi_b = \theta\Bigl[\frac{(a\cdot b)_\perp}{u} + \frac{(a\cdot\mu)(b\cdot\mu)}{r}\,\frac{1 + r}{u + \rho}\Bigr], \qquad
# \hat e^T\hat\varphi_a = \sqrt c\,(a\cdot\mu)\,\frac{\theta}{u + \rho}, \qquad
# \hat e^T\hat e = \frac{c\,\theta}{1 + r}\Bigl[\frac{1}{u - \theta} + \frac{r}{u + \rho}\Bigr].$$

# %%
ab, am, bm = sp.symbols("ab a_mu b_mu")
for shape in SHAPES.values():
    theta, tau = shape.theta, shape.theta / u
    shift = r * theta
    assert vanishes(
        tau * (ab + am * bm * (1 - tau) / (1 + r * tau))
        - theta * ((ab - am * bm / r) / u + am * bm / r * (1 + r) / (u + shift))
    )
    assert vanishes(c * tau / ((1 - tau) * (1 + r * tau)) - c * theta / (1 + r) * (1 / (u - theta) + r / (u + shift)))

# %% [markdown]
# So all sums of the theorem are made of two measures, of transforms $1/u$ and $1/(u + \rho)$. Their moments up to the second are divided
# differences again. The combination $\int x\,(a x + k)/D$ of $M_{12}$ cancels badly where $f$ is almost linear and $\gamma$ small ($k \simeq -a x_1$);
# the code has it expanded, in the pair chart as terms with a factor $v$ or $y_0$.
#
# The other cancellation is in $q = F + [a^2(R x_u^2 + P x_v^2) - 2a(1 + aT)x_ux_v]/[(1 + aT)^2 - a^2PR]$ itself. With $R = -R'$ and the Schur complements
# $P' = P - x_u^2/F$, $T' = T - x_ux_v/F$,
#
# $$q = \frac{F\,(1 + aT')^2 + a^2 P'\,(R'F + x_v^2)}{(1 + aT)^2 + a^2 P R'} ,$$
#
# a sum of positive terms over one; and $P'$, $T'$ are $P$, $T$ with the part along the signal multiplied by the shield
# $s = (I_0 + \eta m I_1)/(I_0 + \eta m I_1 + c\rho B_{11}) \in (0, 1]$.

# %%
F, Pq, T, Rk, xu, xv = sp.symbols("F P T R x_u x_v")
plain = F + (a**2 * (-Rk * xu**2 + Pq * xv**2) - 2 * a * (1 + a * T) * xu * xv) / ((1 + a * T) ** 2 + a**2 * Pq * Rk)
schur_P, schur_T = Pq - xu**2 / F, T - xu * xv / F
positive = (F * (1 + a * schur_T) ** 2 + a**2 * schur_P * (Rk * F + xv**2)) / ((1 + a * T) ** 2 + a**2 * Pq * Rk)
assert vanishes(plain - positive)

# %% [markdown]
# The whole of `quadratic_form`, in both charts, against the sums over the roots of derivation 07, at the exact points (equality of
# rational numbers; $\sqrt c$ appears squared only):


# %%
def theorem_1(point):
    """q by the sums of derivation 07."""
    mm, mk, mq, kk, qq, kq = point.overlaps
    m = point.g / point.gamma * point.I[0]

    def tau(w):
        return point.shape.theta / w

    def first(phi):  # M_11 = (1 + eta m x)/D
        return point.sum(0, phi) + point.eta * m * point.sum(1, phi)

    def mixed(phi):  # M_12 = c x (a x + k)/D
        return point.c * (point.a * point.sum(2, phi) + point.k * point.sum(1, phi))

    def overlap(product, projections):
        return lambda w: tau(w) * (product + projections * (1 - tau(w)) / (1 + mm * tau(w)))

    labels = first(lambda w: point.c * tau(w) / ((1 - tau(w)) * (1 + mm * tau(w))))
    x_u = mq * first(lambda w: tau(w) / (1 + mm * tau(w)))  # without sqrt(c)
    x_v = mk * mixed(lambda w: tau(w) / (1 + mm * tau(w)))
    P_, T_ = first(overlap(qq, mq * mq)), mixed(overlap(kq, mk * mq))
    R_ = -point.c * point.g * point.sum(1, overlap(kk, mk * mk))
    one = 1 + point.a * T_
    coupling = point.a**2 * (R_ * x_u**2 + P_ * x_v**2) - 2 * point.a * one * x_u * x_v
    return labels + point.c * coupling / (one**2 - point.a**2 * P_ * R_)


for point in points:
    m = point.g / point.gamma * point.I[0]
    split = split_overlaps(point.overlaps, point.overlaps[0])
    no_signal = split_overlaps((Fraction(0),) * 3 + point.overlaps[3:], Fraction(1))
    for inputs, roots in point.charts():
        integrals = sums(inputs, roots)
        assert quadratic_form(inputs, point.gamma, split, roots, integrals) == theorem_1(point)
        assert quadratic_form(inputs, point.gamma, no_signal, roots, integrals) == m

# %% [markdown]
# ## The error
#
# $E = -\gamma^2\, dq/d\gamma = -\gamma\, dq/d\log\gamma$, by implicit differentiation: along $\log\gamma$ the coordinates move with $-J^{-1}\,\partial R/\partial\log\gamma$, $J$ the
# Jacobian of the three equations $R$. The solvers get $J$, and the derivative of $q$, by running the same code on dual numbers. Against
# the closed form of theory: pure noise, $a_1 = 0$, $\nu = 2$, $c = \gamma = 1$:

# %%
from hermite_rmt.core.numbers import read_real
from hermite_rmt.solvers.attention_digits import solve_point

numbers = {name: read_real(0, name) for name in ("a1", "kappa", "mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")}
numbers |= {"c": read_real(1, "c"), "gamma": read_real(1, "gamma"), "eta": read_real(2, "eta")}
mass = sp.Symbol("D", positive=True)
root = sp.Poly(mass**3 - sp.Rational(1, 2) * (1 - mass), mass).nroots(n=40)[0]
closed_form = root - root**3 / (3 * root**2 + sp.Rational(1, 2))
assert abs(sp.Float(str(solve_point(numbers, 30)["error"]), 40) - closed_form) < 1e-29
