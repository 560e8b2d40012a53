"""The sums of Proposition 1 and Theorem 1 in numbers, from the three roots of D: independent of how they were solved.

With D(x) = g_+ (1 + eta m x) + c x (a_1 x + k)^2 and the roots x_k of D, an integral of N(x)/D(x) against the law of
X^T X/p seen from two vectors is sum_k N(x_k)/D'(x_k) h(x_k), h the matching overlap of the resolvent (derivations 06
and 06).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

OVERLAPS = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")


def mode_sums(values: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return I_0, I_1, I_2, the entries of g, and F, x_u, x_v, P, T, R at a solved point.

    Parameters
    ----------
    values : a1, eta, kappa, c, gamma, m, delta, tau and the six overlaps, as numbers of `context`
    context : a local mpmath context

    Raises
    ------
    ZeroDivisionError
        Where roots of D collide.
    """
    a, c, m = values["a1"], values["c"], values["m"]
    sigma2 = values["eta"] / c
    k = values["kappa"] - sigma2 * values["tau"]
    g_plus = values["gamma"] + sigma2 * values["delta"]
    cubic = [c * a**2, 2 * c * a * k, c * k**2 + c * sigma2 * m * g_plus, g_plus]
    while cubic[0] == 0:
        cubic = cubic[1:]
    slope = [coefficient * (len(cubic) - 1 - j) for j, coefficient in enumerate(cubic[:-1])]
    roots = context.polyroots(cubic, maxsteps=400, extraprec=2 * context.prec) if len(cubic) > 1 else []
    modes = [(x, context.polyval(slope, x), _tau(x, c, context)) for x in roots]

    def total(numerator: Sequence[Any], overlap: Callable[[Any], Any], mass: Any) -> Any:
        """Integrate numerator/D; where the degrees are equal, their quotient counts with the whole mass."""
        degree = len(cubic) - 1
        while numerator and numerator[0] == 0:
            numerator = numerator[1:]
        if len(numerator) - 1 > degree:
            return context.nan  # I_2 for a_1 = 0, a number nothing asks for
        whole = numerator[0] / cubic[0] if numerator and len(numerator) - 1 == degree else 0
        parts = (context.polyval(numerator, x) / d * overlap(t) for x, d, t in modes)
        return context.re(context.fsum(parts)) + whole * mass

    r, mu_K, mu_Q, KK, QQ, KQ = (values[name] for name in OVERLAPS)
    root_c = context.sqrt(c)

    def label(t: Any) -> Any:
        return c * t / ((1 - t) * (1 + r * t))

    def coupled(along: Any) -> tuple[Callable[[Any], Any], Any]:
        return (lambda t: root_c * along * t / (1 + r * t)), along / root_c

    def weights(dot: Any, first: Any, second: Any) -> tuple[Callable[[Any], Any], Any]:
        return (lambda t: t * (dot + first * second * (1 - t) / (1 + r * t))), (dot + first * second) / c

    def plain(t: Any) -> Any:
        return c * t / (1 - t)

    I0, I1, I2 = (total([1] + [0] * j, plain, 1) for j in range(3))
    linear = [a, k]  # t(x)
    M11, M12, M22 = [c * sigma2 * m, 1], [c * a, c * k, 0], [-c * g_plus, 0]
    g_us = total(linear, plain, 1)
    return {
        "I_0": I0,
        "I_1": I1,
        "I_2": I2,
        "g_plus": g_plus,
        "g_uu": total(M11, plain, 1),
        "g_ut": total([a, k, 0], plain, 1),
        "g_us": g_us,
        "g_tt": total([-g_plus / c, 0], plain, 1),
        "g_ts": -g_plus * I0 / c,
        "g_ss": total([a**2, 2 * a * k, k**2 + sigma2 * m * g_plus], plain, 1),
        "F": total(M11, label, 1),
        "x_u": total(M11, *coupled(mu_Q)),
        "x_v": total(M12, *coupled(mu_K)),
        "P": total(M11, *weights(QQ, mu_Q, mu_Q)),
        "T": total(M12, *weights(KQ, mu_K, mu_Q)),
        "R": total(M22, *weights(KK, mu_K, mu_K)),
    }


def _tau(x: Any, c: Any, context: Any) -> Any:
    """Return the root of c t^2 + (c x - c - 1) t + 1 = 0 inside the circle |t| = c^(-1/2)."""
    half = (c + 1 - c * x) / 2
    root = context.sqrt(half**2 - c)
    larger = max((half + root, half - root), key=abs)
    return 1 / larger
