"""Formulas of the named nonlinearities: one SymPy expression each, for the parser and the catalogue alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import sympy
from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, S, atan, erf, exp, log, pi, sign, sqrt, tanh

Expr = Any  # SymPy has no stubs

# Klambauer et al., Self-normalizing neural networks (2017): E f = 0 fixes alpha, E f^2 = 1 the scale
_TAIL = sqrt(sympy.E) * sympy.erfc(1 / sqrt(2))
SELU_ALPHA = sqrt(2 / pi) / (1 - _TAIL)
SELU_SCALE = sqrt(2) / sqrt(1 + (2 - 4 * _TAIL + 2 * exp(2) * sympy.erfc(sqrt(2))) / (pi * (1 - _TAIL) ** 2))

# defaults of parameters
_LEAK = Rational(1, 100)
_ONE = S.One
_MINUS_ONE = S.NegativeOne
_TWO = sympy.Integer(2)


def relu(x: Expr) -> Expr:
    """Return max(x, 0)."""
    return Max(x, 0)


def leaky_relu(x: Expr, slope: Expr = _LEAK) -> Expr:
    """Return x for x > 0, slope x otherwise; Maas, Hannun, Ng (2013)."""
    return Piecewise((x, x > 0), (slope * x, True))


def elu(x: Expr, alpha: Expr = _ONE) -> Expr:
    """Return x for x > 0, alpha (e^x - 1) otherwise; Clevert, Unterthiner, Hochreiter (2015)."""
    return Piecewise((x, x > 0), (alpha * (exp(x) - 1), True))


def selu(x: Expr) -> Expr:
    """Return the scaled elu of mean 0 and energy 1; Klambauer et al. (2017)."""
    return SELU_SCALE * elu(x, SELU_ALPHA)


def celu(x: Expr, alpha: Expr = _ONE) -> Expr:
    """Return x for x > 0, alpha (e^(x/alpha) - 1) otherwise; Barron (2017)."""
    return Piecewise((x, x > 0), (alpha * (exp(x / alpha) - 1), True))


def normal_cdf(x: Expr) -> Expr:
    """Return Phi(x), the distribution function of N(0, 1)."""
    return (1 + erf(x / sqrt(2))) / 2


def gelu(x: Expr) -> Expr:
    """Return x Phi(x); Hendrycks and Gimpel (2016)."""
    return x * normal_cdf(x)


def gelu_tanh(x: Expr) -> Expr:
    """Return the tanh approximation of gelu; Hendrycks and Gimpel (2016)."""
    return x * (1 + tanh(sqrt(2 / pi) * (x + Rational(44715, 1000000) * x**3))) / 2


def sigmoid(x: Expr) -> Expr:
    """Return 1 / (1 + e^-x)."""
    return 1 / (1 + exp(-x))


def silu(x: Expr) -> Expr:
    """Return x sigmoid(x), also called swish."""
    return x / (1 + exp(-x))


def softplus(x: Expr) -> Expr:
    """Return log(1 + e^x)."""
    return log(1 + exp(x))


def mish(x: Expr) -> Expr:
    """Return x tanh(softplus(x)); Misra (2019)."""
    return x * tanh(softplus(x))


def softsign(x: Expr) -> Expr:
    """Return x / (1 + |x|)."""
    return x / (1 + Abs(x))


def clip(x: Expr, lower: Expr = _MINUS_ONE, upper: Expr = _ONE) -> Expr:
    """Return x kept inside [lower, upper]."""
    return Max(lower, Min(x, upper))


def hard_tanh(x: Expr) -> Expr:
    """Return x kept inside [-1, 1]."""
    return clip(x, S.NegativeOne, S.One)


def hard_sigmoid(x: Expr) -> Expr:
    """Return x/6 + 1/2 kept inside [0, 1]."""
    return clip(x / 6 + S.Half, S.Zero, S.One)


def step(x: Expr) -> Expr:
    """Return the indicator of x > 0, with the value 1/2 at 0."""
    return Heaviside(x)


def hermite(x: Expr, order: Expr = _TWO) -> Expr:
    """Return He_k(x), the probabilists' Hermite polynomial of energy k!."""
    if not (order == int(order) and 0 <= order <= 400):
        raise ValueError(f"order: got {order}; allowed: a whole number from 0 to 400")
    return sympy.hermite_prob(order, x)


def dead_zone(x: Expr, width: Expr = _ONE) -> Expr:
    """Return 0 where |x| <= width, x outside (the hard threshold)."""
    return Piecewise((x, Abs(x) > width), (0, True))


def soft_threshold(x: Expr, width: Expr = _ONE) -> Expr:
    """Return sign(x) max(|x| - width, 0)."""
    return Max(x - width, 0) - Max(-x - width, 0)


def quantiser(x: Expr, bits: Expr = _TWO, limit: Expr = _TWO) -> Expr:
    """Return the midpoint of the cell of x: 2^bits equal cells on [-limit, limit], the outer ones unbounded."""
    if not (bits == int(bits) and 1 <= bits <= 12):
        raise ValueError(f"bits: got {bits}; allowed: a whole number from 1 to 12")
    cells = 2 ** int(bits)
    width = 2 * limit / S(cells)
    edges = [-limit + width * index for index in range(1, cells)]
    return width / 2 * sympy.Add(*(sign(x - edge) for edge in edges))


def parameters(formula: Callable[..., Expr]) -> dict[str, Expr]:
    """Return the parameters of a formula with their default values: what follows the variable in its signature."""
    if isinstance(formula, sympy.FunctionClass):
        return {}
    _, *others = inspect.signature(formula).parameters.values()
    return {parameter.name: parameter.default for parameter in others}


def identity(x: Expr) -> Expr:
    """Return x."""
    return x


def square(x: Expr) -> Expr:
    """Return x^2."""
    return x**2


FORMULAS: dict[str, Callable[..., Expr]] = {
    "identity": identity,
    "relu": relu,
    "leaky_relu": leaky_relu,
    "elu": elu,
    "selu": selu,
    "celu": celu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "mish": mish,
    "softplus": softplus,
    "softsign": softsign,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "hard_tanh": hard_tanh,
    "hard_sigmoid": hard_sigmoid,
    "erf": erf,
    "normal_cdf": normal_cdf,
    "atan": atan,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "sign": sign,
    "step": step,
    "abs": Abs,
    "exp": exp,
    "square": square,
    "clip": clip,
    "dead_zone": dead_zone,
    "soft_threshold": soft_threshold,
    "quantiser": quantiser,
    "hermite": hermite,
}
"""Formula by name; what follows the variable in a signature are parameters with their default values."""
