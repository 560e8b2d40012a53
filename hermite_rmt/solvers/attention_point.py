"""One point of attention with exact parameters, read in any arithmetic, scaled and folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real
from hermite_rmt.solvers.arithmetic import Arithmetic, MpmathArithmetic
from hermite_rmt.solvers.attention_equations import Inputs, shape_of
from hermite_rmt.solvers.attention_newton import Problem
from hermite_rmt.solvers.attention_response import Overlaps, split_overlaps
from hermite_rmt.solvers.attention_start import shapes_of

OVERLAPS = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")
NAMES = ("c", "gamma", "a1", "eta", "kappa", *OVERLAPS)
_PROBE = 128  # bits that decide signs and the power of 2 of the scale
_CLOSE = 1e-6  # 1 - c from which on its digits are not those of the double c
_DOUBLE_RANGE = 1100  # bits after which 1 - c is no double any more


class Scaled(NamedTuple):
    """A point with nu about 1 and a >= 0."""

    inputs: Inputs
    gamma: Any
    overlaps: Overlaps | None = None  # the equations of Proposition 1 do without


class ExactPoint:
    """The parameters of one point: `c`, `gamma`, `a1`, `eta`, `kappa` and the six overlaps, each a `Real`.

    Scaled by (a_1, nu, d, gamma) -> (s a_1, s^2 nu, s d, s^2 gamma), s a power of 2, and folded to a_1 >= 0.

    Raises
    ------
    KeyError
        If a parameter is missing.
    """

    def __init__(self, parameters: Mapping[str, Real]) -> None:
        self.reals = {name: parameters[name] for name in NAMES}
        a1, eta = self.reals["a1"].mpf(_PROBE), self.reals["eta"].mpf(_PROBE)
        self.negative = bool(a1 < 0)
        self.wide = bool(self.reals["c"].mpf(_PROBE) > 1)
        # a_1 = kappa = 0: k and tau, odd in (a_1, kappa) and unique, vanish exactly
        self.even = self.reals["a1"].rational == 0 and self.reals["kappa"].rational == 0
        self.signal = bool(self.reals["mu_mu"].mpf(_PROBE) > 0)
        _, _, exponent, length = (a1 * a1 + eta)._mpf_
        self.shift = -((exponent + length) // 2)
        # Q of the residuals is of order 1/c beside k^2 (see attention_equations): so many bits cancel
        self.cancelling = max(0, int(MpmathArithmetic(_PROBE).magnitude(self.reals["c"].mpf(_PROBE))))

    def prepare(self, precision: int) -> None:
        """Have the parameters at hand to `precision` bits, those that others are computed from after these.

        A number given by a procedure is then computed once, not again for each of the growing precisions below.
        """
        for name in ("eta", "kappa", "a1"):
            self.reals[name].mpf(precision)

    def scaled(self, numbers: Arithmetic) -> Scaled:
        """Return the point in an arithmetic (inside its `active` block)."""
        values = {name: numbers.read(real) for name, real in self.reals.items()}
        one = numbers.number(1.0)
        scale, folded = self.scales(numbers)
        gram = tuple(values[name] for name in OVERLAPS)
        return Scaled(
            Inputs(
                shape_of(values["c"], self.wide, one),
                values["a1"] * folded,
                values["eta"] * (scale * scale),
                values["kappa"] * folded,
            ),
            values["gamma"] * (scale * scale),
            split_overlaps(gram, gram[0] if self.signal else one),
        )

    def double(self) -> Problem:
        """Return the scaled point as a block of one point in double precision."""
        context = local_context(_PROBE)
        factor = {"a1": self.shift, "kappa": self.shift, "gamma": 2 * self.shift, "eta": 2 * self.shift}
        value = {
            name: np.array([float(context.ldexp(self.reals[name].mpf(_PROBE), factor.get(name, 0)))])
            for name in ("c", "gamma", "a1", "eta", "kappa")
        }
        sign = -1.0 if self.negative else 1.0
        shape = shapes_of(value["c"])
        if abs(shape.b[0]) < _CLOSE:  # the double nearest to c does not know how far from 1 it is
            c = self.reals["c"].mpf(_DOUBLE_RANGE)
            b = np.array([float(abs(1 - c) / max(c, 1))])
            shape = shape._replace(b=b, beta=b if self.wide else np.zeros(1))
        inputs = Inputs(shape, np.abs(value["a1"]), value["eta"], sign * value["kappa"])
        return Problem(inputs, value["gamma"])

    def unscaled(self, values: dict[str, Any], numbers: Arithmetic) -> dict[str, Any]:
        """Undo scaling and folding of the values that feel it."""
        scale, folded = self.scales(numbers)
        factors = {"trace": scale * scale, "quadratic_form": scale * scale, "tau": folded}
        return {name: value * factors[name] if name in factors else value for name, value in values.items()}

    def scales(self, numbers: Arithmetic) -> tuple[Any, Any]:
        """Return s, and s with the sign of a_1."""
        scale = numbers.number(local_context(_PROBE).ldexp(1, self.shift))
        return scale, -scale if self.negative else scale
