"""The dual kernel of f on its nonlinear part: sum over k >= 2 of a_k^2 tau^k, with a bound on its error."""

from __future__ import annotations

from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.known_digits import KnownDigits
from hermite_rmt.hermite.nonlinearity import Nonlinearity

ORDERS = (32, 128, 512, 2048, 8192)  # of the partial sums tried
ROUNDING = 1e-15  # of nu and of the sum of squares, relative to nu, in double


def nonlinear_dual(f: Nonlinearity, tau: Any, digits: int | None = None) -> tuple[Any, float]:
    """Return sum_{k>=2} a_k^2 tau^k = E f(u) f(v) - a_0^2 - a_1^2 tau, u and v Gaussian of correlation tau.

    The tail beyond order K is between 0 (or its negative, for tau < 0) and |tau|^(K+1) (nu - sum_{k<=K} a_k^2): K
    grows until that is negligible. At tau = 0, 1 and -1 no series is needed.

    Parameters
    ----------
    f : square integrable
    tau : float or mpf, -1 to 1
    digits : None for a float, else an mpf of as many digits

    Returns
    -------
    (value, bound) : the bound on the error is absolute; what the numbers a_k and nu lack themselves is not in it

    Raises
    ------
    ValueError
        If tau is not a correlation.

    >>> import math
    >>> value, bound = nonlinear_dual(Nonlinearity("sign(x)"), 0.5)  # E sign(u) sign(v) = (2/pi) asin(tau)
    >>> abs(value - (2 / math.pi) * (math.asin(0.5) - 0.5)) <= bound + 1e-15
    True
    """
    if not abs(tau) <= 1:
        raise ValueError(f"tau: got {tau!r}; allowed: a correlation, -1 to 1")
    working = None if digits is None else digits + 10
    context = None if digits is None else local_context(bits(digits + 10))
    lift = float if context is None else context.convert
    tau = lift(tau)
    nu = lift(f.nu(digits=working))
    if abs(tau) in (0, 1):
        at_one = f if tau > 0 else f.scaled(-1)
        total = nu if tau > 0 else lift((f * at_one).mean(digits=working))
        mean, slope = (lift(f.coefficient(k, digits=working)) for k in (0, 1))
        value = total - mean * mean - tau * slope * slope if tau else tau
        return (value if digits is None else KnownDigits.of(value, digits)), 0.0
    tolerance = 4 * ROUNDING if digits is None else 10.0 ** -(digits + 2)
    for order in ORDERS:
        squares = [lift(a) ** 2 for a in f.coefficients(order, digits=working)]
        tail = max(float(nu - sum(squares)), 0.0) + ROUNDING * float(nu) * (digits is None)
        bound = tail * float(abs(tau)) ** (order + 1)
        if bound <= tolerance * float(nu):
            break
    value = sum((square * tau**k for k, square in enumerate(squares) if k >= 2), lift(0))
    if tau > 0:  # the tail is positive: its middle halves the bound
        value, bound = value + lift(bound) / 2, bound / 2
    return (value if digits is None else KnownDigits.of(value, digits)), bound
