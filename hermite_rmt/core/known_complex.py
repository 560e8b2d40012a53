"""KnownComplex: a complex number whose parts know their errors and print the digits that are right."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy
from sympy.core.sympify import converter

from hermite_rmt.core.known_digits import KnownDigits


class KnownComplex(mpmath.mpc):  # type: ignore[misc]  # mpmath has no stubs
    """An `mpmath.mpc` of two `KnownDigits`, its real and its imaginary part; prints their right digits.

    -x, +x and `conjugate` keep them; other arithmetic takes the value as it is and works at the precision of
    `mpmath.mp`: use it inside `mpmath.workdps(x.digits)`, or calculate with the parts, which keep their digits.

    Attributes
    ----------
    digits : int
        How many decimal digits are right, of the larger part at least.

    >>> value = KnownComplex.of(mpmath.mpc("0.5", "0.0001220703125"), 10)
    >>> value, str(-value), value.real * 3, value.imag.digits
    (mpc(real='0.5000000000', imag='0.000122070'), '(-0.5000000000 - 0.000122070j)', mpf('1.500000000'), 6)
    """

    digits: int
    _parts: tuple[KnownDigits, KnownDigits]

    @classmethod
    def of(cls, value: Any, digits: int) -> KnownComplex:
        """Return `value` (an mpc of any context), whose error is below 10^-digits / 8 of its absolute value.

        A part that is smaller than the other has fewer digits.
        """
        real, imag = value._mpc_
        parts = (mpmath.mp.make_mpf(part) for part in (real, imag))
        size = KnownDigits.of(abs(value), digits)
        return cls.of_parts(*(KnownDigits.within(part, size) for part in parts))

    @classmethod
    def of_parts(cls, real: KnownDigits, imag: KnownDigits) -> KnownComplex:
        """Return the number of a real and an imaginary part."""
        number: KnownComplex = object.__new__(cls)
        number._mpc_ = real._mpf_, imag._mpf_
        number._parts, number.digits = (real, imag), max(real.digits, imag.digits)
        return number

    @property
    def real(self) -> KnownDigits:
        """The real part, with its digits."""
        return self._parts[0]

    @property
    def imag(self) -> KnownDigits:
        """The imaginary part, with its digits."""
        return self._parts[1]

    def __neg__(self) -> KnownComplex:
        return self.of_parts(-self.real, -self.imag)

    def __pos__(self) -> KnownComplex:
        return self

    def conjugate(self) -> KnownComplex:
        """Return the complex conjugate."""
        return self.of_parts(self.real, -self.imag)

    def __str__(self) -> str:
        return f"({self.real} {'-' if self.imag < 0 else '+'} {abs(self.imag)}j)"

    def __repr__(self) -> str:
        return f"mpc(real='{self.real}', imag='{self.imag}')"

    def _sympy_(self) -> sympy.Expr:
        """Return the SymPy number of the same value, which keeps all digits."""
        return self.real._sympy_() + sympy.I * self.imag._sympy_()

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownComplex.of_parts, self._parts


converter[KnownComplex] = KnownComplex._sympy_  # before SymPy's own, which rounds to the precision of `mpmath.mp`
