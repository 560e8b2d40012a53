"""E[f g] of two nonlinearities, as a number on demand."""

from __future__ import annotations

from typing import Any

from hermite_rmt.core.derived import combine
from hermite_rmt.core.numbers import Real
from hermite_rmt.hermite.nonlinearity import Nonlinearity


def real_mixed_energy(f: Nonlinearity, g: Nonlinearity) -> Real:
    """Return E[f g] as a `Real`: exact where a closed form exists, else to any digits, with enclosures.

    >>> softplus = Nonlinearity("log(1 + exp(x))").centred()  # the mean has no closed form
    >>> round(float(real_mixed_energy(softplus, Nonlinearity("x"))), 12)
    0.5
    """
    if f == g:
        return f.real_nu()
    try:
        product = f * g
    except ValueError:  # a mean without a closed form was taken off: sums keep it apart, products do not
        return combine(_polarised, (f + g).real_nu(), (f - g).real_nu(), text="E[fg]")
    return product.real_coefficient(0)


def _polarised(plus: Any, minus: Any) -> Any:
    return (plus - minus) / 4
