"""Centred nonlinearities and the numbers of theirs that models take."""

from __future__ import annotations

from typing import Any

from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.hermite.mixed import real_mixed_energy


def read_centred(f: Any, name: str = "f") -> Nonlinearity:
    """Return a nonlinearity, or raise a ValueError that says how to centre it or why its energy does not exist."""
    nonlinearity = f if isinstance(f, Nonlinearity) else Nonlinearity(f)
    nonlinearity.nu()  # refuses an f that is not square integrable, with the reason
    if not nonlinearity.is_centred():
        raise ValueError(
            f"{name}: got {nonlinearity} with mean E f(xi) = {nonlinearity.mean():.12g}; allowed: a centred "
            "nonlinearity, such as f.centred() (on the command line: --centre)"
        )
    return nonlinearity


def linear_part(f: Nonlinearity) -> Any:
    """Return a_1 to any digits, or as the double it is for a callable that only speaks double."""
    return f.real_coefficient(1) if f.integrand.speaks_multiprecision else f.coefficient(1)


def energy(f: Nonlinearity) -> Any:
    """Return nu = E f^2 likewise."""
    return f.real_nu() if f.integrand.speaks_multiprecision else f.nu()


def mixed_energy(f: Nonlinearity, g: Nonlinearity) -> Any:
    """Return E[f g] likewise."""
    if f.integrand.speaks_multiprecision and g.integrand.speaks_multiprecision:
        return real_mixed_energy(f, g)
    try:
        product = f * g
    except ValueError:  # as in `real_mixed_energy`
        return ((f + g).nu() - (f - g).nu()) / 4
    return product.mean()


def require_digits(f: Nonlinearity, digits: int) -> None:
    """Raise a ValueError with the reason if f only speaks double, and so has no number of that many digits."""
    if not f.integrand.speaks_multiprecision:
        f.coefficient(1, digits=digits)
