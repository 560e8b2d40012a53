"""The words of the formula language: variables, constants, functions with their number of arguments."""

from __future__ import annotations

import keyword
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.hermite import formulas

LARGEST_EXPONENT = 10_000
LARGEST_DEGREE = 400

VARIABLES = frozenset((set(string.ascii_letters) - set("eEIij")) | {"xi", "x1", "x_1"})
CONSTANTS = {"e": sympy.E, "E": sympy.E, "pi": sympy.pi}
KEYWORDS = frozenset(keyword.kwlist)
MODULES = frozenset(
    {"np", "numpy", "math", "mp", "mpmath", "sp", "sympy", "special", "scipy.special", "torch", "F", "jnp", "jax.nn"}
)


@dataclass(frozen=True)
class Function:
    """A function of the language: how it is built, with how many arguments."""

    build: Callable[..., Any]
    arity: range
    condition_first: bool = False


def _between(least: int, most: int | None = None) -> range:
    return range(least, (least if most is None else most) + 1)


def _exponential(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return exp, sinh or cosh, refusing constants too large to be written down."""

    def build(argument: Any) -> Any:
        if argument.is_number and abs(sympy.N(argument, 5)) > LARGEST_EXPONENT:
            raise ValueError(f"an exponent above {LARGEST_EXPONENT}")
        return function(argument)

    return build


def _real_root(argument: Any, degree: Any) -> Any:
    if not (degree.is_Integer and 1 <= degree <= LARGEST_DEGREE):
        raise ValueError(f"the degree of a root is a whole number from 1 to {LARGEST_DEGREE}, got {degree}")
    if degree % 2:
        return sympy.sign(argument) * sympy.Abs(argument) ** (1 / degree)
    return argument ** (1 / degree)


def _power(base: Any, exponent: Any) -> Any:
    if not base.free_symbols or (exponent.is_number and abs(sympy.N(exponent, 5)) > LARGEST_EXPONENT):
        raise ValueError("write powers of numbers with **")
    return base**exponent


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return sympy.Piecewise((yes, condition), (no, True))


_ELEMENTARY = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "sinh": _exponential(sympy.sinh),
    "cosh": _exponential(sympy.cosh),
    "tanh": sympy.tanh,
    "sech": lambda x: 1 / sympy.cosh(x),
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "asinh": sympy.asinh,
    "exp": _exponential(sympy.exp),
    "expm1": lambda x: _exponential(sympy.exp)(x) - 1,
    "log": sympy.log,
    "log1p": lambda x: sympy.log(1 + x),
    "sqrt": sympy.sqrt,
    "cbrt": lambda x: _real_root(x, sympy.Integer(3)),
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "erfi": sympy.erfi,
    "relu6": lambda x: formulas.clip(x, sympy.S.Zero, sympy.Integer(6)),
}
_ALIASES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "ln": "log",
    "fabs": "abs",
    "absolute": "abs",
    "Abs": "abs",
    "sgn": "sign",
    "ceiling": "ceil",
    "heaviside": "step",
    "Heaviside": "step",
    "leakyrelu": "leaky_relu",
    "LeakyReLU": "leaky_relu",
    "ReLU": "relu",
    "GELU": "gelu",
    "swish": "silu",
    "expit": "sigmoid",
    "logistic": "sigmoid",
    "hardtanh": "hard_tanh",
    "hardsigmoid": "hard_sigmoid",
    "Phi": "normal_cdf",
    "ndtr": "normal_cdf",
    "norm_cdf": "normal_cdf",
    "softthreshold": "soft_threshold",
    "deadzone": "dead_zone",
    "maximum": "max",
    "fmax": "max",
    "Max": "max",
    "minimum": "min",
    "fmin": "min",
    "Min": "min",
    "clamp": "clip",
    "power": "pow",
}


def _vocabulary() -> dict[str, Function]:
    functions = {name: Function(build, _between(1)) for name, build in _ELEMENTARY.items()}
    for name, build in formulas.FORMULAS.items():
        functions.setdefault(name, Function(build, _between(1, 1 + len(formulas.parameters(build)))))
    functions["max"] = Function(sympy.Max, _between(1, 100))
    functions["min"] = Function(sympy.Min, _between(1, 100))
    functions["pow"] = Function(_power, _between(2))
    functions["where"] = Function(_where, _between(3), condition_first=True)
    functions["real_root"] = Function(_real_root, _between(2))
    functions["He"] = functions["hermite_prob"] = Function(lambda order, x: formulas.hermite(x, order), _between(2))
    return functions | {alias: functions[name] for alias, name in _ALIASES.items()}


FUNCTIONS = _vocabulary()
