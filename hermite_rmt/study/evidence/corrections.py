"""Limits with an effect in them that the model's statement leaves out: unbalanced labels, skewed noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermite_rmt.core.contexts import local_context
from hermite_rmt.theory.attention import Attention

DIGITS = 60  # of the limits, half of which a difference quotient in gamma costs
CONTEXT = local_context(260)  # bits


def unbalanced_error(
    a1: float, a2: float, nu: float, c: float, gamma: float, rho: float, kurtosis: float = 0.0
) -> float:
    """Return the error on pure noise for labels of mean rho and f with a second coefficient a_2.

    q = (1 - rho^2) m + rho^2 [(h^-1 - theta^2 J h J)^-1]_11 with h = [[m, tau], [tau, -delta]],
    theta = a_2 sqrt((kurtosis + 2)/2)/c (derivation of where the theory stops).

    Parameters
    ----------
    kurtosis : excess kurtosis of the noise entries, at least -2: of fair signs, for which a_2 does nothing

    >>> round(unbalanced_error(0, 1, 1, 0.5, 1e-3, rho=0.5), 4)
    0.4375
    """
    theta = a2 * ((kurtosis + 2) / 2) ** 0.5 / c

    def q(at: Any) -> Any:
        m, tau, delta = _solution(a1, nu, c, at)
        # h^-1 - theta^2 J h J, 2 x 2, and the corner of its inverse
        determinant = -m * delta - tau**2
        a, b, d = -delta / determinant + theta**2 * delta, -tau / determinant - theta**2 * tau, m / determinant
        d -= theta**2 * m
        return (1 - rho**2) * m + rho**2 * d / (a * d - b * b)

    return _error(q, gamma)


def skewed_error(
    a1: float,
    a2: float,
    nu: float,
    c: float,
    gamma: float,
    mu_mu: float,
    along: float,
    skewness: float,
    kurtosis: float,
) -> float:
    """Return the error for balanced labels, a signal without weights, noise with a third moment, and a_3 = 0.

    K holds (a_2/c)(g 1^T + 1 g^T), |1| = 1, with g_i = (|z_i|^2 - p)/sqrt(2 p n), correlated with the tokens:
    g = skewness sqrt(c/2) Z^T u/sqrt p + an independent rest, u = 1_p/sqrt p. So q is the corner of
    (F^-1 + (a_2/c) coupling of 1 and g)^-1, F the resolvent's forms between y, 1 and g (derivation of where the
    theory stops).

    Parameters
    ----------
    a1 : not 0
    along : mu . u
    skewness, kurtosis : of the noise entries, excess kurtosis

    >>> [round(skewed_error(0.6, 0.8, 1, 0.5, 0.1, 1.5, along, skewness=2, kurtosis=2), 4) for along in (0, 1.5**0.5)]
    [0.2701, 0.2351]
    """
    mp = CONTEXT
    root_c, beta = mp.sqrt(c), skewness * mp.sqrt(mp.mpf(c) / 2)
    rest = (kurtosis + 2 - skewness**2) / 2

    def q(at: Any) -> Any:
        forms = mp.zeros(6)  # (y, 1, g) x (u, c t)
        for weight, matrix, root in _poles(a1, nu, c, at):
            noise = c * root / (1 - root)
            ee = noise / (1 + mu_mu * root)
            eu = root_c * along * root / (1 + mu_mu * root)
            uu = root * (1 + along**2 * (1 - root) / (1 + mu_mu * root))
            e_g = beta * (eu - along / root_c * ee)
            g_g = beta**2 * (uu - 2 * along / root_c * eu + along**2 / root_c**2 * ee) + rest * noise
            overlaps = ((ee, 0, e_g), (0, noise, 0), (e_g, 0, g_g))
            for i in range(6):
                for j in range(6):
                    forms[i, j] += mp.re(weight * matrix[i % 2][j % 2] * overlaps[i // 2][j // 2])
        coupling = mp.zeros(6)
        for i, j in ((2, 5), (3, 4), (4, 3), (5, 2)):  # between 1 and g, in the blocks (u, t) and (t, u)
            coupling[i, j] = mp.mpf(a2) / c
        return ((mp.eye(6) + forms * coupling) ** -1 * forms)[0, 0]

    return _error(q, gamma)


def _poles(a1: float, nu: float, c: float, gamma: Any) -> list[tuple[Any, Any, Any]]:
    """Return 1/D'(x), the matrix D(x) M(x) and the transform's root tau(x) at each root x of the cubic D."""
    mp = CONTEXT
    m, tau, delta = _solution(a1, nu, c, gamma)
    variance = (mp.mpf(nu) - mp.mpf(a1) ** 2) / c
    shift, ridge = -a1 - variance * tau, gamma + variance * delta
    cubic = [c * mp.mpf(a1) ** 2, 2 * c * a1 * shift, c * shift**2 + ridge * c * variance * m, ridge]
    found = []
    for x in mp.polyroots(cubic, maxsteps=200, extraprec=300):
        root = min(mp.polyroots([c, c * x - c - 1, 1], maxsteps=200, extraprec=300), key=abs)
        line = a1 * x + shift
        matrix = ((1 + c * variance * m * x, c * x * line), (c * x * line, -c * x * ridge))
        found.append((1 / mp.polyval([3 * cubic[0], 2 * cubic[1], cubic[2]], x), matrix, root))
    return found


def _solution(a1: float, nu: float, c: float, gamma: Any) -> tuple[Any, Any, Any]:
    solution = Attention(a1=a1, nu=nu).solve(c, gamma, digits=DIGITS)
    return tuple(CONTEXT.convert(solution[name]) for name in ("trace", "tau", "delta"))


def _error(q: Callable[[Any], Any], gamma: float) -> float:
    """Return -gamma^2 dq/dgamma from a central difference."""
    at = CONTEXT.mpf(gamma)
    step = at / 10**8
    return float(-(at**2) * (q(at + step) - q(at - step)) / (2 * step))
