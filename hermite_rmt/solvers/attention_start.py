"""A first guess for the equations of attention in double precision, and coordinates of the charts from it."""

from __future__ import annotations

import cmath
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hermite_rmt.solvers.attention_equations import Inputs, Shape

# any shape, any kind: mypy cannot follow the arithmetic of NumPy arrays of known shape
FloatArray: TypeAlias = Any

_TINY_A = 1e-150  # below, a_1 acts as 0: keeps quotients of the start finite
_CUBIC_STEPS = 8
CHART_OF_PAIRS = 0.01  # complex pairs with S below -that sqrt(v) have a chart of their own


class Physical(NamedTuple):
    """The unknowns of form (b) in another guise: log g, Q = sigma^2 g m, k = kappa - sigma^2 tau."""

    log_g: FloatArray
    Q: FloatArray
    k: FloatArray


def shapes_of(c: FloatArray) -> Shape:
    """Return the constants of the aspect ratio, 1 - cbar and 1 - theta without cancellation."""
    wide = c > 1
    cbar = np.where(wide, 1 / c, c)
    b = np.abs(1 - c) / np.maximum(c, 1)
    return Shape(
        c=c,
        cbar=cbar,
        b=b,
        theta=np.where(wide, cbar, 1.0),
        beta=np.where(wide, b, 0.0),
        zeta=np.where(wide, 1.0, 1 / c),
    )


class Functions(NamedTuple):
    """The functions that are used below, by the names of NumPy."""

    sqrt: Any
    log: Any
    exp: Any
    log1p: Any
    cbrt: Any
    abs: Any
    maximum: Any
    minimum: Any
    copysign: Any
    isfinite: Any
    where: Any
    clip: Any
    root_of_complex: Any


ARRAYS = Functions(
    np.sqrt,
    np.log,
    np.exp,
    np.log1p,
    np.cbrt,
    np.abs,
    np.maximum,
    np.minimum,
    np.copysign,
    np.isfinite,
    np.where,
    np.clip,
    np.sqrt,
)
# for one point of Python floats: several times faster there, with ArithmeticError or ValueError for nan and inf
FLOATS = Functions(
    math.sqrt,
    math.log,
    math.exp,
    math.log1p,
    math.cbrt,
    abs,
    max,
    min,
    math.copysign,
    math.isfinite,
    lambda condition, chosen, otherwise: chosen if condition else otherwise,
    lambda value, low, high: min(max(value, low), high),
    cmath.sqrt,
)


def first_guess(inputs: Inputs, gamma: FloatArray, functions: Functions = ARRAYS) -> Physical:
    """Return the guess that is exact for a_1 = 0 and d = 0 or for f linear, with nu + c d^2 for nu otherwise."""
    c, a, eta = inputs.shape.c, inputs.a, inputs.eta
    nu = eta + a * a
    diagonal = inputs.kappa + a
    effective = nu + c * diagonal * diagonal
    t = _noise_root(c, c * gamma / effective, functions)  # stands for gamma m
    g = gamma + (gamma / t - gamma) * (eta / effective)
    h = 1 - gamma / g
    k = inputs.kappa - (eta / nu) * diagonal * h / (1 + h)
    return Physical(functions.log(g), (eta / c) * (g / gamma) * t, k)


def _noise_root(c: FloatArray, ratio: FloatArray, functions: Functions) -> FloatArray:
    """Return the root t in (0, 1) of t^2 (t + c - 1) = ratio (1 - t), from an upper bound by Newton's method."""
    maximum, minimum = functions.maximum, functions.minimum
    atom = maximum(1 - c, 0.0)
    excess = maximum(c - 1, 0.0)
    scale = minimum(c, 1.0) * ratio
    gap = functions.cbrt(scale)
    gap = minimum(gap, scale / maximum(atom * atom, 1e-300))
    gap = minimum(gap, functions.sqrt(ratio / maximum(excess, 1e-300)))
    s = minimum(gap, 1 - atom)  # t = atom + s: the small part keeps its digits
    for _ in range(_CUBIC_STEPS):
        t = atom + s
        value = t * t * (s + excess) - ratio * (1 - t)
        s = maximum(s - value / (t * (t + 2 * (s + excess)) + ratio), 0.1 * s)
    return atom + s


def isolated_root(
    a: FloatArray, k: FloatArray, Q: FloatArray, level: FloatArray, functions: Functions = ARRAYS
) -> FloatArray:
    """Return a root w > 0 of w ((k - a w)^2 + Q) = level: -w is a real root of D.

    Newton's method from a side where it is monotone: from the left if the function already reaches `level` where
    it stops being concave and increasing, from the right otherwise.
    """
    where, maximum, minimum, sqrt = functions.where, functions.maximum, functions.minimum, functions.sqrt
    a = maximum(a, _TINY_A)
    square = k * k + Q
    bend = where(k * k > 3 * Q, (2 * k - sqrt(maximum(k * k - 3 * Q, 0.0))) / (3 * a), 2 * k / (3 * a))
    left = (k > 0) & (bend * ((k - a * bend) ** 2 + Q) >= level)
    upper = functions.cbrt(level / (a * a))
    right = where(k > 0, 2 * k / a + upper, minimum(upper, level / square))
    right = where(k < 0, minimum(right, sqrt(level / (2 * a * maximum(-k, _TINY_A)))), right)
    lowest = level / (maximum(k * k, (k - a * right) ** 2) + Q)
    w = where(left, level / square, right)
    for _ in range(_CUBIC_STEPS):
        difference = k - a * w
        slope = difference * (difference - 2 * a * w) + Q
        step = (w * (difference * difference + Q) - level) / slope
        w = where(functions.isfinite(step), maximum(w - step, lowest), w)
    return w


class Coordinates(NamedTuple):
    """A point in both charts of attention_equations, and which chart to use."""

    symmetric: tuple[FloatArray, FloatArray, FloatArray]  # F1, F2, f3
    pair: tuple[FloatArray, FloatArray, FloatArray]  # f0, S, v
    use_pair: FloatArray


def coordinates(inputs: Inputs, gamma: FloatArray, physical: Physical, functions: Functions = ARRAYS) -> Coordinates:
    """Return the chart coordinates of the roots of D for these g, Q, k."""
    c, cbar, b, _, _, zeta = inputs.shape
    a = inputs.a
    where, sqrt = functions.where, functions.sqrt
    g = functions.exp(physical.log_g)
    k, Q = physical.k, physical.Q
    level = g / c
    w0 = isolated_root(a, k, Q, level, functions)
    half = k - a * w0 / 2  # mean of the pair a w_1, a w_2
    product = (k - a * w0) ** 2 + Q
    discriminant = a * w0 * (k - 0.75 * a * w0) - Q  # half^2 - product
    is_complex = discriminant < 0
    root = sqrt(functions.abs(discriminant))
    y0 = _positive_y(b, 1.0, w0 / zeta, functions)
    # a pair of real roots: the larger first, the smaller from the product
    large = half + functions.copysign(root, half)
    small = product / large
    ab = a * b
    Y1, Y2 = _positive_y(ab, a, large / zeta, functions), _positive_y(ab, a, small / zeta, functions)
    # a complex pair: z = u + cbar/u, the outer solution; |u|^2 - cbar from the imaginary part
    omega_re, omega_im = half / zeta, root / zeta
    z = (omega_re + a * (1 + cbar)) + 1j * omega_im
    edge = 2 * a * sqrt(cbar)
    twice_u = z + functions.root_of_complex(z - edge) * functions.root_of_complex(z + edge)
    u_re, u_im = twice_u.real / 2, twice_u.imag / 2
    modulus = u_re * u_re + u_im * u_im
    v_complex = modulus * omega_im / u_im
    S = where(is_complex, 2 * u_re - a * (1 + cbar), Y1 + Y2 + ab)
    v = where(is_complex, v_complex, Y1 * Y2 + a * (Y1 + Y2 + ab))
    pair_product = where(is_complex, v - a * S, Y1 * Y2)
    pair_sum = S - ab
    return Coordinates(
        symmetric=(a * y0 + pair_sum, a * y0 * pair_sum + pair_product, y0 / gamma * pair_product),
        pair=(y0 / gamma, S, v),
        use_pair=is_complex & (S + CHART_OF_PAIRS * sqrt(v) < 0),
    )


def symmetric_from_pair(inputs: Inputs, gamma: Any, pair: Any) -> tuple[Any, Any, Any]:
    """Return the coordinates of the symmetric chart, F1, F2, f3, from those of the chart of pairs, f0, S, v."""
    f0, S, v = pair
    scaled = inputs.a * gamma * f0
    pair_sum, pair_product = S - inputs.a * inputs.shape.b, v - inputs.a * S
    return scaled + pair_sum, scaled * pair_sum + pair_product, f0 * pair_product


def _positive_y(b: FloatArray, scale: FloatArray | float, omega: FloatArray, functions: Functions) -> FloatArray:
    """Return the solution y > 0 of y (b + y) = omega (scale + y), without cancellation."""
    shifted = omega - b
    square = functions.maximum(shifted * shifted + 4 * scale * omega, 0.0)
    total = functions.sqrt(square) + functions.abs(shifted)
    return functions.where(shifted > 0, total / 2, 2 * scale * omega / total)
