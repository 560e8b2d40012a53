"""The solutions of Proposition 1 as a rational variety: everything is a rational function of c and three modes.

Let t_1, t_2, t_3 be the values of tau at the roots x_k = (c t - 1)(1 - t)/(c t) of the cubic D (derivation 06, form
(d)), and a_1 = 1, which the scaling (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma) allows for a_1 != 0. Then
D = c prod (x - x_k) gives g_+, k = kappa - sigma^2 tau and eta m g_+ + c k^2; the integrals are

    I_1 = c^2 t_1 t_2 t_3 / prod_{i<j} (1 - c t_i t_j),   I_0 = I_1 (1 - c t_1 t_2 t_3) / prod (1 - t_k),

and the three equations of form (b) are linear in eta, gamma and kappa. Every solution with a_1 != 0 is of this form,
so what vanishes identically in (c, t_1, t_2, t_3) holds on the branch: at once where the roots of D are distinct,
elsewhere by continuity. For a_1 = 0, D is linear and one mode is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sympy import QQ
from sympy.polys.fields import field

from hermite_rmt.theory.check.exact import gradient_quotient
from hermite_rmt.theory.check.modes import OVERLAPS

CUBIC = (
    "an identity in (a_1, c, t_1, t_2, t_3), the modes that parametrise all solutions of Proposition 1 with a_1 != 0 "
    "rationally (derivation 06, form (d)); for a_1 = 0 by continuity"
)
LINEAR = "an identity in (c, t, k, g_+), the rational parameters of all solutions with a_1 = 0 (D is linear)"
FREE = ("skip", "F", "x_u", "x_v", "P", "T", "R", "E", *OVERLAPS)
# powers of a_1 that undo the scaling to a_1 = 1
_WEIGHTS = {
    "eta": 2, "gamma": 2, "kappa": 1, "c": 0, "m": -2, "delta": 0, "tau": -1, "g_plus": 2,
    "I_0": -2, "I_1": -2, "I_2": -2, "g_uu": -2, "g_ut": -1, "g_us": -1, "g_tt": 0, "g_ts": 0, "g_ss": 0,
}  # fmt: skip


@cache
def cubic_chart(free: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return (1, {name: element}) for a_1 != 0; `free` are the names of `FREE` that are needed."""
    names = ("c", "t1", "t2", "t3", "a1", *free)
    _, c, t1, t2, t3, a1, *extra = field(list(names), QQ)
    one, modes = c.field.one, (t1, t2, t3)
    x1, x2, x3 = ((c * t - 1) * (1 - t) / (c * t) for t in modes)
    k, g_plus = -(x1 + x2 + x3) / 2, -c * x1 * x2 * x3
    I1 = c**2 * t1 * t2 * t3 / ((1 - c * t1 * t2) * (1 - c * t1 * t3) * (1 - c * t2 * t3))
    I0 = I1 * (1 - c * t1 * t2 * t3) / ((1 - t1) * (1 - t2) * (1 - t3))
    slopes = [c * (x - y) * (x - z) for x, y, z in ((x1, x2, x3), (x2, x3, x1), (x3, x1, x2))]
    I2 = sum(
        (x**2 / slope * c * t / (1 - t) for x, slope, t in zip((x1, x2, x3), slopes, modes, strict=True)), one * 0
    )
    q2 = x1 * x2 + x1 * x3 + x2 * x3 - k**2  # sigma^2 g_+ m
    eta = q2 / (g_plus * I0 / c + q2 * I1)
    values = _named(one, c, eta, k, g_plus, (I0, I1, I2))
    values = {name: value * a1 ** _WEIGHTS[name] for name, value in values.items()}
    return one, values | {"a1": a1} | dict(zip(free, extra, strict=True))


@cache
def linear_chart(free: tuple[str, ...], symmetric: bool, with_error: bool) -> tuple[Any, dict[str, Any]]:
    """Return (1, {name: element}) for a_1 = 0; `symmetric` means kappa = 0, `with_error` asks for E (slower).

    kappa = k (1 + eta I_1) with eta, I_1 >= 0, so kappa = 0 is k = 0: then tau = 0.
    """
    names = ("c", "t", "k", "gplus", *dict.fromkeys((*free, "mu_mu")))
    _, c, t, k, g_plus, *extra = field(list(names), QQ)
    one = c.field.one
    generators = [t, g_plus] if symmetric else [t, g_plus, k]
    if symmetric:
        k = one * 0
    x0 = (c * t - 1) * (1 - t) / (c * t)

    def integral(power: int, h: Any) -> Any:  # x^power/D against a measure of mass 1 with the transform h at x0
        return -x0 / g_plus * (h if power == 0 else 1 + x0 * h)

    plain = c * t / (1 - t)
    I0, I1 = integral(0, plain), integral(1, plain)
    eta_m = -1 / x0 - c * k**2 / g_plus
    eta = eta_m / (I0 + eta_m * I1)
    values = _named(one, c, eta, k, g_plus, (I0, I1, None))
    others = dict(zip(names[4:], extra, strict=True))
    label = c * t / ((1 - t) * (1 + others["mu_mu"] * t))
    values |= others | {"a1": one * 0, "F": integral(0, label) + eta_m * integral(1, label)}
    if not with_error:
        return one, values
    held = [eta] if symmetric else [eta, values["kappa"]]
    values["E"] = -(values["gamma"] ** 2) * gradient_quotient(values["F"], values["gamma"], held, generators)
    return one, values


def _named(one: Any, c: Any, eta: Any, k: Any, g_plus: Any, integrals: tuple[Any, Any, Any]) -> dict[str, Any]:
    """Return the quantities by name, for a_1 = 1 (three integrals) or a_1 = 0 (I_2 is None)."""
    I0, I1, I2 = integrals
    a, aI2 = (one * 0, one * 0) if I2 is None else (one, I2)
    gamma = g_plus * (1 - eta * I1)
    m = I0 * g_plus / gamma
    bent = aI2 + k * I1  # int x t/D
    values = {
        "c": c,
        "eta": eta,
        "gamma": gamma,
        "kappa": k + eta * bent,
        "g_plus": g_plus,
        "m": m,
        "delta": c * g_plus * I1,
        "tau": c * bent,
        "I_0": I0,
        "I_1": I1,
        "g_uu": I0 + eta * m * I1,
        "g_ut": bent,
        "g_us": a * I1 + k * I0,
        "g_tt": -g_plus * I1 / c,
        "g_ts": -g_plus * I0 / c,
        "g_ss": a * aI2 + 2 * a * k * I1 + (k**2 + eta / c * m * g_plus) * I0,
    }
    return values if I2 is None else values | {"I_2": I2}


def units(one: Any) -> list[Any]:
    """Return polynomials that vanish nowhere on the branch of a chart.

    a_1 (in the chart where it is not 0), c, g_+; the modes t, since x is finite; 1 - t and 1 - c t, since x = 0 is no
    root of D; 1 - c t_i t_j, since |t| < c^(-1/2); and 1 - c t_1 t_2 t_3, since I_0 > 0.
    """
    generators = {str(symbol): element for symbol, element in zip(one.field.symbols, one.field.gens, strict=True)}
    c = generators["c"]
    modes = [generators[name] for name in ("t", "t1", "t2", "t3") if name in generators]
    found = [c, *modes, *(generators[name] for name in ("a1", "gplus") if name in generators)]
    found += [factor for t in modes for factor in (1 - t, 1 - c * t)]
    found += [1 - c * t * u for k, t in enumerate(modes) for u in modes[k + (len(modes) > 1) :]]
    return [*found, 1 - c * modes[0] * modes[1] * modes[2]] if len(modes) == 3 else found


def without(overlaps: Mapping[str, Any]) -> dict[str, Any]:
    """Return what vanishing overlaps imply: other overlaps, and sums of Theorem 1, that are then zero.

    Parameters
    ----------
    overlaps : the overlaps that are given, by name
    """
    zero = {name for name, value in overlaps.items() if value == 0}
    for norm, others in (("mu_mu", {"mu_K", "mu_Q"}), ("K_K", {"mu_K", "K_Q"}), ("Q_Q", {"mu_Q", "K_Q"})):
        if norm in zero:
            zero |= others
    sums = set()
    if "mu_K" in zero:
        sums.add("x_v")
    if "mu_Q" in zero:
        sums.add("x_u")
    if "K_Q" in zero and ("mu_K" in zero or "mu_Q" in zero):
        sums.add("T")
    if "K_K" in zero:
        sums |= {"R", "T"}
    if "Q_Q" in zero:
        sums |= {"P", "T"}
    return dict.fromkeys(zero | sums, 0)
