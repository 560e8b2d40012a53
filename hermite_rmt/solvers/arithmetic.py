"""The two arithmetics of any precision: mpmath in a local context, and python-flint where it is installed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from mpmath import libmp

from hermite_rmt.core.contexts import BITS_PER_DIGIT, local_context
from hermite_rmt.core.flint_context import flint_module, flint_precision, require_flint
from hermite_rmt.core.numbers import Real


class Arithmetic(Protocol):
    """Numbers of one precision: `read` and `number` make them, `mpf` turns them back."""

    precision: int
    bounds_errors: bool

    def active(self) -> Any:
        """Return the context manager inside which its numbers may be used."""
        ...

    def read(self, real: Real) -> Any:
        """Return a parameter, rounded to the precision."""
        ...

    def number(self, value: Any) -> Any:
        """Return a float, an mpf, or a number of the same library at another precision, without its error bound."""
        ...

    def mpf(self, value: Any) -> Any:
        """Return a number as an mpf of the local context."""
        ...

    def magnitude(self, value: Any) -> float:
        """Return the binary exponent e of a number, |value| <= 2^e; -inf for 0."""
        ...

    def sqrt(self, value: Any) -> Any:
        """Return the square root."""
        ...

    def exact(self, value: Any) -> Any:
        """Return a number for use in this arithmetic, without rounding it where the library allows that."""
        ...

    def accuracy(self, value: Any) -> float:
        """Return how many leading bits of a result its error bound leaves, where `bounds_errors`."""
        ...


class MpmathArithmetic:
    """Plain mpmath."""

    bounds_errors = False

    def __init__(self, precision: int) -> None:
        self.precision = precision
        self._context = local_context(precision)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Nothing to do: a context is local."""
        yield

    def read(self, real: Real) -> Any:
        """Return a parameter, rounded to the precision."""
        return real.mpf(self.precision)

    def number(self, value: Any) -> Any:
        """Return a float or an mpf in this context, rounded."""
        raw = value._mpf_ if hasattr(value, "_mpf_") else libmp.from_float(float(value))
        return self._context.make_mpf(libmp.mpf_pos(raw, self.precision, "n"))

    def mpf(self, value: Any) -> Any:
        """Return the number itself."""
        return value

    def clip(self, value: Any, low: float, high: float) -> Any:
        """Return the nearest number between two bounds."""
        return min(max(value, self.number(low)), self.number(high))

    def magnitude(self, value: Any) -> float:
        """Return the binary exponent."""
        _, mantissa, exponent, length = value._mpf_
        return float(exponent + length) if mantissa else -math.inf

    def sqrt(self, value: Any) -> Any:
        """Return the square root."""
        return self._context.sqrt(value)

    def exact(self, value: Any) -> Any:
        """Return the number, rounded."""
        return self.number(value)

    def accuracy(self, value: Any) -> float:
        """Return 0: mpmath does not bound rounding errors."""
        return 0.0


class FlintArithmetic:
    """Arb balls of python-flint."""

    bounds_errors = True

    def __init__(self, precision: int) -> None:
        self.precision = precision
        flint = require_flint()
        self._arb, self._fmpz = flint.arb, flint.fmpz

    def active(self) -> Any:
        """Set python-flint's precision, and keep other threads from changing it."""
        return flint_precision(self.precision)

    def read(self, real: Real) -> Any:
        """Return a parameter: enclosed if it is rational, rounded otherwise."""
        if real.rational is not None:
            return self._arb(real.rational.numerator) / real.rational.denominator
        return self.number(real.mpf(self.precision + 10))

    def number(self, value: Any) -> Any:
        """Return a float, an mpf, or the midpoint of a ball, rounded."""
        if isinstance(value, self._arb):
            return (+value).mid()
        if hasattr(value, "_mpf_"):
            return (+self._exact(value)).mid()
        return self._arb(float(value))

    def mpf(self, value: Any) -> Any:
        """Return the midpoint as an mpf."""
        mantissa, exponent = value.mid().man_exp()
        raw = libmp.from_man_exp(int(mantissa), int(exponent))
        return local_context(self.precision).make_mpf(libmp.mpf_pos(raw, self.precision, "n"))

    def magnitude(self, value: Any) -> float:
        """Return the binary exponent of the midpoint."""
        if not value.is_finite():
            return math.inf
        mantissa, exponent = value.mid().man_exp()
        return float(int(exponent) + int(mantissa).bit_length()) if mantissa else -math.inf

    def sqrt(self, value: Any) -> Any:
        """Return the enclosure of the square root."""
        return value.sqrt()

    def exact(self, value: Any) -> Any:
        """Return an arb as it is, more bits than the working precision included."""
        return value if isinstance(value, self._arb) else self.number(value)

    def accuracy(self, value: Any) -> float:
        """Return the accuracy of a ball; inf for an exact zero."""
        return math.inf if value.is_zero() else float(value.rel_accuracy_bits())

    def _exact(self, value: Any) -> Any:
        sign, mantissa, exponent, _ = value._mpf_
        return self._arb((self._fmpz(-int(mantissa) if sign else int(mantissa)), exponent))


class BallArithmetic(FlintArithmetic):
    """Arb balls that contain what they stand for: the arithmetic of proofs."""

    def read(self, real: Real) -> Any:
        """Return the enclosure of a parameter.

        Raises
        ------
        ValueError
            If it is neither rational nor knows its enclosures.
        """
        if real.rational is not None:
            return super().read(real)
        if not hasattr(real, "enclosure"):
            raise ValueError(f"certified: got {real.text}, a number without an enclosure; allowed: exact numbers")
        ball = real.enclosure(math.ceil(self.precision / BITS_PER_DIGIT))
        return self._exact(ball.lower).union(self._exact(ball.upper))

    def ball(self, centre: Any, radius: Any) -> Any:
        """Return the ball around the midpoint of `centre` with at least this radius."""
        return self._arb(centre.mid(), radius.abs_upper())


def arithmetic(precision: int, use_flint: bool | None = None) -> Arithmetic:
    """Return the faster arithmetic there is (`use_flint` None), or the one asked for."""
    if use_flint is None:
        use_flint = flint_module() is not None
    return FlintArithmetic(precision) if use_flint else MpmathArithmetic(precision)
