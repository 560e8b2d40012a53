"""Theorem 1 as a rational function of the roots of Proposition 1: derived in derivations/08_rational_form.py.

Plain arithmetic only, as in attention_equations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hermite_rmt.solvers.attention_equations import Inputs, Roots, Sums, trace


class Overlaps(NamedTuple):
    """The Gram matrix of (mu, w_K, w_Q): r = |mu|^2, the parts along mu, and the Gram matrix of the parts across."""

    r: Any
    mu_K: Any
    mu_Q: Any
    along_KK: Any  # (mu.w_K)^2 / r
    along_QQ: Any
    along_KQ: Any
    across_KK: Any  # |w_K|^2 - (mu.w_K)^2 / r
    across_QQ: Any
    across_KQ: Any


def split_overlaps(gram: tuple[Any, ...], divisor: Any) -> Overlaps:
    """Split |mu|^2, mu.w_K, mu.w_Q, |w_K|^2, |w_Q|^2, w_K.w_Q along and across mu.

    divisor : |mu|^2; 1 where mu = 0, and with it mu.w_K and mu.w_Q
    """
    r, mu_K, mu_Q, KK, QQ, KQ = gram
    along_KK, along_QQ, along_KQ = mu_K * (mu_K / divisor), mu_Q * (mu_Q / divisor), mu_K * (mu_Q / divisor)
    return Overlaps(r, mu_K, mu_Q, along_KK, along_QQ, along_KQ, KK - along_KK, QQ - along_QQ, KQ - along_KQ)


class Response(NamedTuple):
    """What weights and signal make of the labels: the sums of Theorem 1, those of the weights without their a_1^2."""

    F: Any  # e^T M_11 e of the labels
    shield: Any  # what the labels leave of the parts of P and T along the signal
    T_across: Any  # a_1 T, the part of the weights across the signal
    T_along: Any
    P_across: Any  # a_1^2 P
    P_along: Any
    R: Any  # minus the R of the theorem
    x_v: Any  # x_v^2, over what makes it comparable with R F

    def closed_loop(self) -> Any:
        """Return 1 + a_1 T: where it vanishes and gamma -> 0, q has a pole."""
        return 1 + (self.T_across + self.T_along)

    def quadratic_form(self) -> Any:
        """Return q."""
        open_loop = 1 + (self.T_across + self.shield * self.T_along)
        closed_loop = self.closed_loop()
        seen = (self.P_across + self.shield * self.P_along) * (self.R * self.F + self.x_v)
        numerator = self.F * (open_loop * open_loop) + seen
        return numerator / (closed_loop * closed_loop + (self.P_across + self.P_along) * self.R)


def response(inputs: Inputs, gamma: Any, overlaps: Overlaps, roots: Roots, integrals: Sums) -> Response:
    """Return the sums of Theorem 1.

    A0, A1 are the integrals of 1/D, x/D against the measure of Stieltjes transform 1/u (directions across the
    signal), B0, B1 against that of 1/(u + rho), rho = r theta (along it); A11, A12 = c int x (a x + k)/D and B11, B12
    are the entries of M. `shield` turns P and T into their Schur complements with respect to the labels.
    """
    c, cbar, _, theta, _, zeta = inputs.shape
    a = inputs.a
    r = overlaps.r
    rho = r * theta
    eta_m = inputs.eta * trace(roots, integrals)
    product, K = roots.product, roots.K
    A0 = cbar * product / roots.pairs  # cbar = 1/(c zeta^2)
    A1 = (zeta * A0) * (K + cbar * roots.e3) / product
    N, L = roots.mixed()
    A12 = A0 / cbar * N / (product * product)
    B = A0 / roots.shifted(rho)
    B0 = B * (product + (a * a * cbar) * rho)
    B1 = (zeta * B) * ((1 + rho) * K + cbar * roots.e3)
    B12 = B / cbar * (rho * ((a * rho) * roots.pairs + L) + N) / product
    A11, B11 = A0 + eta_m * A1, B0 + eta_m * B1
    noise = integrals.I0 + eta_m * integrals.I1
    labels = noise + (c * rho) * B11
    shield = noise / labels
    F = labels / (1 + r)
    along_KK, along_QQ, along_KQ = (
        theta * (1 + r) * x for x in (overlaps.along_KK, overlaps.along_QQ, overlaps.along_KQ)
    )
    across_KK, across_QQ, across_KQ = (
        theta * x for x in (overlaps.across_KK, overlaps.across_QQ, overlaps.across_KQ)
    )
    x_v = overlaps.mu_K * B12
    return Response(
        F=F,
        shield=shield,
        T_across=a * (across_KQ * A12),
        T_along=a * (along_KQ * B12),
        P_across=(a * a) * (across_QQ * A11),
        P_along=(a * a) * (along_QQ * B11),
        R=(c * gamma) * roots.gain * (across_KK * A1 + along_KK * B1),
        x_v=cbar * (x_v * x_v),
    )


def quadratic_form(inputs: Inputs, gamma: Any, overlaps: Overlaps, roots: Roots, integrals: Sums) -> Any:
    """Return q = lim y^T Q y/n of Theorem 1, as a sum of positive terms over a positive one."""
    return response(inputs, gamma, overlaps, roots, integrals).quadratic_form()
