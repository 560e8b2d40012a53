"""Centred nonlinearities and the numbers of theirs that models take."""

from __future__ import annotations

from typing import Any

from hermite_rmt.hermite import Nonlinearity


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
    product = f * g
    return product.real_coefficient(0) if product.integrand.speaks_multiprecision else product.mean()


def require_digits(f: Nonlinearity, digits: int) -> None:
    """Raise a ValueError with the reason if f only speaks double, and so has no number of that many digits."""
    if not f.integrand.speaks_multiprecision:
        f.coefficient(1, digits=digits)
