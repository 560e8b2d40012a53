"""Linear regression as a rational surface: every quantity is a rational function of positive numbers s, t, r.

With tau = 1/(1 + s) and c tau = 1/(1 + t) the equation m = 1/(gamma + c/(1 + m)) is solved by m = 1/s, and

    c = (1 + s)/(1 + t),   gamma = s t/(1 + t).

tau runs through (0, min(1, 1/c)) as gamma runs through (0, infinity), so (s, t) covers the branch exactly once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sympy import QQ
from sympy.polys.fields import field

from hermite_rmt.theory.check.exact import gradient_quotient

ARGUMENT = (
    "on the branch m = 1/s, c = (1 + s)/(1 + t), gamma = s t/(1 + t), r = |mu|^2 with s, t > 0 and r >= 0 free "
    "(tau = 1/(1 + s), c tau = 1/(1 + t))"
)


@cache
def chart(noise: bool) -> tuple[Any, dict[str, Any]]:
    """Return (1, {name: element}); `noise` sets |mu|^2 = 0."""
    _, s, t, r = field("s,t,r", QQ)
    one = s.field.one
    if noise:
        r = one * 0
    tau, c, gamma, m = 1 / (1 + s), (1 + s) / (1 + t), s * t / (1 + t), 1 / s
    q = m / (1 + r * tau)
    generators = (s, t)
    slopes = {name: gradient_quotient(f, gamma, [c], generators) for name, f in (("dm", m), ("dq", q))}
    values = {"m": m, "tau": tau, "c": c, "gamma": gamma, "mu_mu": r, "q": q, "E": -(gamma**2) * slopes["dq"]}
    return one, values | slopes
