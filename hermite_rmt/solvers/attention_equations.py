"""Proposition 1 as rational functions, in two charts: derived in derivations/08_rational_form.py.

Plain arithmetic only: the same lines run on NumPy arrays, mpf, arb, dual numbers of these, and SymPy symbols.
That is how the derivation proves them, and how every precision solves the same equations.

The integrals of form (b) over the Marchenko-Pastur law are sums over the three roots x_k of
D(x) = g (1 + eta m x) + c x (a x + k)^2, with g = gamma + sigma^2 delta and k = kappa - sigma^2 tau.
In the variable u of

    x = -zeta (u - 1)(u - cbar)/u,   |u|^2 > cbar,    cbar = min(c, 1/c), zeta = max(1, 1/c), theta = min(1, 1/c)

they are symmetric functions of u_k = 1 + y_k without square roots, regular where roots collide and where a = 0.
A chart names the three roots by three real numbers; `Roots` holds the symmetric functions the equations need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Shape(NamedTuple):
    """What the aspect ratio c fixes."""

    c: Any
    cbar: Any  # min(c, 1/c)
    b: Any  # 1 - cbar, without cancellation
    theta: Any  # min(1, 1/c)
    beta: Any  # 1 - theta, without cancellation
    zeta: Any  # max(1, 1/c)


def shape_of(c: Any, wide: bool, one: Any) -> Shape:
    """Return the constants of an aspect ratio, `wide` saying whether c > 1; NumPy arrays take attention_start's."""
    if wide:
        return Shape(c, one / c, (c - one) / c, one / c, (c - one) / c, one)
    return Shape(c, c, one - c, one, one - one, one / c)


class Inputs(NamedTuple):
    """One problem, folded so that a >= 0 (a_1, kappa -> -a_1, -kappa changes nothing but the sign of tau)."""

    shape: Shape
    a: Any  # |a_1|
    eta: Any  # nu - a_1^2 = c sigma^2
    kappa: Any  # (diagonal + skip - a_1) times the sign of a_1


@dataclass(slots=True)
class Roots:
    """Symmetric functions of the roots y_k = u_k - 1, with the powers of a that make them regular at a = 0."""

    e3: Any  # a^2 y_1 y_2 y_3
    product: Any  # a^2 u_1 u_2 u_3
    at_theta: Any  # a^2 prod (u_k - theta)
    minus_theta: Any  # a^2 (u_1 u_2 u_3 - cbar theta)
    pairs: Any  # a^4 prod_{i<j} (u_i u_j - cbar)
    K: Any  # a^2 (b^2 + b e_1 + e_2 + e_3)
    gain: Any  # g / gamma, from the product of the x_k
    k: Any  # from the sum of the x_k
    Q: Any  # sigma^2 g m, from the sum of the products x_i x_j
    shifted: Callable[[Any], Any]  # rho -> a^2 prod (u_k + rho), rho >= 0
    mixed: Callable[[], tuple[Any, Any]]  # N and L of int x (a x + k)/D: see attention_response
    outside: Callable[[Any], tuple[Any, ...]]  # sqrt(cbar) -> numbers all positive iff |u_k|^2 > cbar for every k


def symmetric_roots(inputs: Inputs, gamma: Any, F1: Any, F2: Any, f3: Any) -> Roots:
    """Chart of the symmetric functions F1 = a e_1, F2 = a^2 e_2, f3 = a^2 e_3 / gamma; regular at colliding roots."""
    _, cbar, b, theta, beta, zeta = inputs.shape
    a = inputs.a
    a2 = a * a
    F3 = gamma * f3
    aF1 = a * F1
    upper = aF1 + F2 + F3
    product = upper + a2

    def shifted_y(t: Any) -> Any:  # a^2 prod (y_k + t)
        return ((a2 * t + aF1) * t + F2) * t + F3

    K = a2 * (b * b) + b * aF1 + F2 + F3
    bent = (F1 * (upper + a2 * b) - (a * cbar) * (2 * F2 + 3 * F3)) / 2
    k = zeta * bent / product
    pairs = K * K + cbar * ((aF1 + a2 * b) * K) - (a2 * cbar * cbar) * F3
    squares = (zeta * zeta) * (F2 * K - (cbar * a) * (F3 * (2 * F1 + 3 * (a * b)))) / product

    def mixed() -> tuple[Any, Any]:
        X = K * (F2 + 2 * F3) + (a2 * b * cbar) * F3
        L = (2 * a) * pairs + (a * cbar) * X + bent * K
        return L - a * pairs + cbar * (F3 * (a * (K + cbar * F3) + bent)), L

    def outside(radius: Any) -> tuple[Any, ...]:  # Jury's criterion
        return pairs, shifted_y(b / (1 + radius)), shifted_y(1 + radius), product - a2 * cbar * radius

    return Roots(
        e3=F3,
        product=product,
        at_theta=shifted_y(beta),
        minus_theta=upper + a2 * (b + cbar * beta),
        pairs=pairs,
        K=K,
        gain=(zeta * zeta / theta) * (f3 * shifted_y(b)) / product,
        k=k,
        Q=squares - k * k,
        shifted=lambda rho: shifted_y(1 + rho),
        mixed=mixed,
        outside=outside,
    )


def pair_roots(inputs: Inputs, gamma: Any, f0: Any, S: Any, v: Any) -> Roots:
    """Chart of one root and a pair: f0 = y_0 / gamma, S = a (y_1 + y_2 + b), v = a^2 (u_1 u_2 - cbar).

    For a complex pair near the cut |u|^2 = cbar (x near the bulk), where v -> 0: with S < 0 nothing here cancels.
    """
    _, cbar, b, theta, beta, zeta = inputs.shape
    a = inputs.a
    a2 = a * a
    h = 1 + cbar
    y0 = gamma * f0
    u0 = 1 + y0
    far0 = b + y0
    x0 = y0 * far0  # -u_0 times the root of D, over zeta
    aS = a * S
    U = v + a2 * cbar  # a^2 u_1 u_2
    W = v - aS  # a^2 y_1 y_2
    far = v - cbar * aS  # a^2 (b + y_1)(b + y_2)
    u0v = u0 * v
    K = u0v - cbar * aS
    ratio = v / U
    single = (a * zeta) * x0 / u0  # -a times the single root of D
    pair = zeta * (2 * S - ratio * (S + a * h))  # -a times the sum of the pair
    imaginary = zeta * ratio
    half = (S + a * h) / 2

    def mixed() -> tuple[Any, Any]:
        Su0, uu, aaa = S * u0, u0 * u0, a2 * a * cbar
        first = u0v * ((Su0 + a * (uu + cbar)) * K)
        second = aaa * (v * (h * y0 + (1 + 2 * cbar)) - cbar * aS * u0) - v * v * (Su0 + a * (uu - cbar))
        L = v * ((Su0 + a * (uu + h * (1 + y0 + y0) + 1)) * K) + aaa * (x0 * (v * (u0 + 2 * h) - cbar * aS))
        return (first + x0 * second) / 2, L / 2

    def outside(radius: Any) -> tuple[Any, ...]:
        # the pair, complex or real, by the real criterion |u_1 u_2| > cbar, |u_1 + u_2| radius < u_1 u_2 + cbar
        margin = v + (2 * a2) * cbar
        return y0 + b / (1 + radius), v, margin - (2 * a * radius) * half, margin + (2 * a * radius) * half

    return Roots(
        e3=y0 * W,
        product=u0 * U,
        at_theta=(beta + y0) * (v - theta * aS),
        minus_theta=(cbar * a2) * (y0 + beta) + u0v,
        pairs=v * (u0 * K + (cbar * a2) * x0),
        K=K,
        gain=(zeta * zeta / theta) * (f0 * far0) / u0 * (W * far / U),
        k=(single + pair) / 2,
        Q=imaginary * imaginary * (U - half * half) + single * (2 * pair - single) / 4,
        shifted=lambda rho: (u0 + rho) * (U + rho * (aS + a2 * (h + rho))),
        mixed=mixed,
        outside=outside,
    )


def chart(use_pair: bool) -> Callable[..., Roots]:
    """Return the chart of pairs, or the symmetric one."""
    return pair_roots if use_pair else symmetric_roots


class Sums(NamedTuple):
    """Integrals over the Marchenko-Pastur law, divided by D."""

    I0: Any  # int 1/D
    I1: Any  # int x/D
    eta_I1: Any
    slope: Any  # a (int x^2/D) / (int x/D)


def sums(inputs: Inputs, roots: Roots) -> Sums:
    """Return the integrals of Proposition 1."""
    _, cbar, _, theta, _, zeta = inputs.shape
    common = roots.product / roots.pairs
    I1 = (cbar / zeta) * common
    return Sums(
        I0=(theta / (zeta * zeta)) * (common * roots.minus_theta) / roots.at_theta,
        I1=I1,
        eta_I1=inputs.eta * I1,
        slope=(inputs.a * zeta) * (roots.K + cbar * roots.e3) / roots.product,
    )


def residuals(inputs: Inputs, gamma: Any, roots: Roots, integrals: Sums) -> tuple[Any, Any, Any]:
    """Return the three equations of Proposition 1, zero on the solution.

    1/G + eta I_1 = 1;   sigma^2 g m = Q  with m = G I_0, g = gamma G;   k + eta (a I_2 + k I_1) = kappa.
    """
    gain = roots.gain
    return (
        integrals.eta_I1 + 1 / gain - 1,
        roots.Q - (inputs.eta / inputs.shape.c) * (gamma * (gain * gain) * integrals.I0),
        roots.k + integrals.eta_I1 * (integrals.slope + roots.k) - inputs.kappa,
    )


def trace(roots: Roots, integrals: Sums) -> Any:
    """Return m = lim tr Q/n."""
    return roots.gain * integrals.I0
