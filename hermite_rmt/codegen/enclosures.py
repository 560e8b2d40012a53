"""Which python-flint function encloses which SymPy function, on the real line and in the complex plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

Step = Callable[..., Any]

CONSTANTS: dict[sympy.Expr, Callable[[Any], Any]] = {
    sympy.pi: lambda flint: flint.arb.pi(),
    sympy.E: lambda flint: flint.arb(1).exp(),
    sympy.EulerGamma: lambda flint: flint.arb.const_euler(),
    sympy.Catalan: lambda flint: flint.arb.const_catalan(),
    sympy.GoldenRatio: lambda flint: (1 + flint.arb(5).sqrt()) / 2,
}

# meromorphic or entire: poles give balls that are not finite, so the flag needs no attention
_MEROMORPHIC = (
    "exp",
    "sin",
    "cos",
    "tan",
    "cot",
    "sec",
    "csc",
    "sinh",
    "cosh",
    "tanh",
    "coth",
    "sech",
    "csch",
    "erf",
    "erfc",
    "erfi",
    "sinc",
    "gamma",
    "digamma",
    "airy_ai",
    "airy_bi",
)


def _meromorphic(name: str) -> Step:
    return lambda z, analytic: getattr(z, name)()


def _flagged(name: str) -> Step:
    """Arb's own functions that look at the flag."""
    return lambda z, analytic: getattr(z, name)(analytic=analytic)


def _folded(name: str) -> Step:
    def fold(*arguments: Any) -> Any:
        *values, analytic = arguments
        total = values[0]
        for value in values[1:]:
            total = getattr(total, name)(value, analytic=analytic)
        return total

    return fold


def _with_cut(name: str, touches: Callable[[Any], bool]) -> Step:
    """Functions for which Arb has no flag: not finite where the ball may touch the cut."""

    def function(z: Any, analytic: bool) -> Any:
        if analytic and touches(z):
            return z * float("nan")
        return getattr(z, name)()

    return function


def _outer_real(z: Any) -> bool:
    return bool(z.imag.contains(0)) and not bool(z.real.abs_upper() < 1)


def _outer_imaginary(z: Any) -> bool:
    return bool(z.real.contains(0)) and not bool(z.imag.abs_upper() < 1)


def _real_below(bound: float) -> Callable[[Any], bool]:
    return lambda z: bool(z.imag.contains(0)) and not bool(z.real > bound)


def _complex_power(base: Any, exponent: Any, analytic: bool) -> Any:
    power = base.pow(exponent, analytic=analytic)
    if not analytic and not power.is_finite() and base.contains(0) and exponent.real > 0 and exponent.imag.is_zero():
        # a positive power is bounded near 0, though its logarithm is not
        bound = base.abs_upper() ** exponent.real
        return type(base)(_centred(bound), _centred(bound))
    return power


def _centred(bound: Any) -> Any:
    """Return a real ball that contains [-bound, bound]."""
    return (-bound).union(bound)


def _real_power(base: Any, exponent: Any) -> Any:
    return base**exponent


def _real_extreme(name: str) -> Step:
    def extreme(*values: Any) -> Any:
        total = values[0]
        for value in values[1:]:
            total = getattr(total, name)(value)
        return total

    return extreme


# with cuts, or jumps
_OTHERS = (
    "log",
    "sqrt",
    "rsqrt",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "lgamma",
    "lambertw",
    "floor",
    "ceil",
    "erfinv",
)


def _real(name: str) -> Step:
    return lambda x: getattr(x, name)()


REAL: dict[str, Step] = {name: _real(name) for name in (*_MEROMORPHIC, *_OTHERS)}
REAL |= {
    "abs": abs,
    "sign": lambda x: x.sgn(),
    "heaviside": lambda x: (x.sgn() + 1) / 2,
    "max": _real_extreme("max"),
    "min": _real_extreme("min"),
    "pow": _real_power,
}

COMPLEX: dict[str, Step] = {name: _meromorphic(name) for name in _MEROMORPHIC} | {
    "log": _flagged("log"),
    "sqrt": _flagged("sqrt"),
    "rsqrt": _flagged("rsqrt"),
    "pow": _complex_power,
    "abs": _flagged("real_abs"),
    "sign": _flagged("real_sgn"),
    "heaviside": _flagged("real_heaviside"),
    "floor": _flagged("real_floor"),
    "ceil": _flagged("real_ceil"),
    "max": _folded("real_max"),
    "min": _folded("real_min"),
    "asin": _with_cut("asin", _outer_real),
    "acos": _with_cut("acos", _outer_real),
    "atanh": _with_cut("atanh", _outer_real),
    "atan": _with_cut("atan", _outer_imaginary),
    "asinh": _with_cut("asinh", _outer_imaginary),
    "acosh": _with_cut("acosh", _real_below(1)),
    "lgamma": _with_cut("lgamma", _real_below(0)),
    "lambertw": _with_cut("lambertw", _real_below(-0.25)),
}

# SymPy's classes: most are called as here
NAMES: dict[Any, str] = {
    getattr(sympy, name): name for name in REAL if isinstance(getattr(sympy, name, None), sympy.FunctionClass)
} | {
    sympy.polygamma: "digamma",
    sympy.airyai: "airy_ai",
    sympy.airybi: "airy_bi",
    sympy.loggamma: "lgamma",
    sympy.LambertW: "lambertw",
    sympy.ceiling: "ceil",
    sympy.Abs: "abs",
    sympy.Heaviside: "heaviside",
    sympy.Max: "max",
    sympy.Min: "min",
}
