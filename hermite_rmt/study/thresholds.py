"""Thresholds: from where on one model beats another, and from which signal on the kernel matrix shows the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, Real, read_digits
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import html_table
from hermite_rmt.study.crossings import crossings
from hermite_rmt.study.gap import Gap, one_real, read_points
from hermite_rmt.study.scale import Scale
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.model import one_number

GUARD_BITS = 30
NEWTON_STEPS = 200


@dataclass(frozen=True)
class Threshold:
    """From where on the first of two models has the smaller error.

    Attributes
    ----------
    value : the parameter there; None where the first model is better from the start, or never
    error : the common error there; None likewise
    until : where the first model stops being better again; None where it stays so to the end of the range
    verdict : which of these it is, in a sentence
    """

    value: Any
    error: Any
    until: Any
    verdict: str

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


def threshold(
    left: Any,
    right: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    c: Any = None,
    gamma: Any = None,
    scale: Scale = "equal",
    digits: int | None = None,
) -> Threshold:
    """Return the smallest value of a parameter from which on `left` has a smaller error than `right`.

    Arguments, errors raised and what is known as for `crossings`, of which this is the first that falls.

    >>> from functools import partial
    >>> from hermite_rmt import Attention, LinearRegression
    >>> found = threshold(partial(Attention, a1=0), LinearRegression(), "nu", (0.1, 10), c=1, gamma=1)
    >>> found.verdict, round(found.value, 6)
    ('the first model has the smaller error from here to the end of the range', 2.159435)
    """
    gap = Gap.read(left, right, (parameter,), c, gamma, scale)
    first = float(read_points(parameter, values)[0])
    found = crossings(left, right, parameter, values, c=c, gamma=gamma, scale=scale, digits=digits)
    ahead = bool(gap.resolved(**{parameter: first}) < 0) or (bool(found) and found[0].rising)
    falling = [crossing for crossing in found if not crossing.rising]
    rising = [crossing for crossing in found if crossing.rising]
    if ahead:
        until = rising[0].value if rising else None
        return Threshold(None, None, until, "the first model has the smaller error from the start of the range")
    if not falling:
        return Threshold(None, None, None, "the first model has the smaller error nowhere in the range")
    until = rising[0].value if rising else None
    after = "from here to `until`" if rising else "from here to the end of the range"
    return Threshold(falling[0].value, falling[0].error, until, f"the first model has the smaller error {after}")


def signal_threshold(model: Attention, c: Any, digits: int | None = None) -> Any:
    r"""Return the |mu|^2 from which on the kernel matrix K has an eigenvalue outside its bulk that shows the labels.

    For a model without weights. In the direction of the labels and with W averaged, the resolvent at z of
    K = a_1 X^T X/p + kappa + sigma W is that of X^T X/p at zeta = (z - kappa + sigma^2 m)/a_1. In the tau of
    derivations/05_kernel_matrix.py, c tau^2 + (c zeta - c - 1) tau + 1 = 0, its pole is 1 + r tau = 0, r = |mu|^2. It
    is outside the bulk while z increases with zeta, z = a_1 zeta + kappa - sigma^2 s(zeta)/a_1 with the
    Marchenko-Pastur transform s = c tau/(1 - tau), that is while s'(zeta) < a_1^2/sigma^2. With
    s' = c^2 tau^2/((1 - tau)^2 (1 - c tau^2)) the threshold is the root r > sqrt(c), the only one, of

        a_1^2 (1 + r)^2 (r^2 - c) = c (nu - a_1^2) r^2;

    sqrt(c) for f linear (Baik, Ben Arous, Peche). The diagonal and the skip connection do not enter. Other spikes:
    `hermite_rmt.theory.outliers`.

    Parameters
    ----------
    model : attention with scalar parameters, no weights, a_1 not 0
    c : aspect ratio p/n
    digits : None for double precision, else how many digits are right

    Raises
    ------
    ValueError
        If a_1 = 0 (no signal is large enough), if there are weights, or c or digits is outside its domain.
    TypeError
        If the model is not `Attention`.

    >>> from hermite_rmt import Attention
    >>> signal_threshold(Attention(a1=1, nu=1), c=4), signal_threshold(Attention(a1="0.6", nu="0.5"), 2, digits=20)
    (2.0, mpf('1.5104837662491113123'))
    """
    if not isinstance(model, Attention):
        raise TypeError(f"model: got {model!r}; allowed: Attention")
    ratio = Parameter(c, "c").require_positive()
    wanted = read_digits(digits)
    given = {**model.parameters(), **model.derived()}
    for parameter in (ratio, *given.values()):
        one_number(parameter)
    weights = [name for name in ("K_K", "Q_Q") if float(given[name].floats) != 0]
    if weights:
        raise ValueError(f"model: got weights, {', '.join(weights)} not 0; allowed: a model without weights")
    if one_real(given["a1"]).rational == 0:
        raise ValueError("model: got a1 = 0; allowed: another a1, without a linear part no signal shows in K")
    root = _largest_root(one_real(ratio), one_real(given["a1"]), one_real(given["eta"]), wanted or 17)
    return float(root) if wanted is None else KnownDigits.of(root, wanted)


def _largest_root(c: Real, a1: Real, eta: Real, digits: int) -> Any:
    """Return the largest root of a1^2 (1 + r)^2 (r^2 - c) - c eta r^2: from above, where it is convex, by Newton."""
    precision = bits(digits) + GUARD_BITS
    context = local_context(precision)
    c_, square, noise = c.mpf(precision), a1.mpf(precision) ** 2, eta.mpf(precision)
    r = context.sqrt(2 * c_ * max(1, noise / square))
    for _ in range(NEWTON_STEPS):
        value = square * (1 + r) ** 2 * (r * r - c_) - c_ * noise * r * r
        slope = 2 * square * (1 + r) * (r * r - c_ + (1 + r) * r) - 2 * c_ * noise * r
        step = value / slope
        r -= step
        if abs(step) <= context.ldexp(r, GUARD_BITS // 2 - precision):
            break
    return r
