"""A kernel's values to a promised number of digits: two precisions must agree before a number is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermite_rmt.codegen.kernel import Kernel
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits, Real

# Cancellation beyond this multiple of the precision asked for is given up on, not waited for
_LARGEST_FACTOR = 64


def evaluate(kernel: Kernel, values: Sequence[Real], digits: int) -> tuple[KnownDigits, ...]:
    """Return the kernel's real values at `values` with `digits` right digits each.

    The working precision doubles until two evaluations agree in relative terms; an exact zero counts as agreement.

    Raises
    ------
    ArithmeticError
        If cancellation eats every digit up to 64 times the precision asked for.

    >>> import sympy
    >>> from hermite_rmt.core.numbers import read_real
    >>> x = sympy.Symbol("x")
    >>> evaluate(Kernel([x], [sympy.sqrt(1 + x) - 1]), [read_real("1e-30", "x")], 20)
    (mpf('5.0000000000000000000e-31'),)
    """
    target = bits(digits)
    precision = target + 30
    previous = _at(kernel, values, precision)
    while precision <= _LARGEST_FACTOR * target + 4000:
        precision += target + 30
        current = _at(kernel, values, precision)
        context = local_context(precision)
        if all(abs(a - b) <= abs(b) * context.ldexp(1, -target - 3) for a, b in zip(previous, current, strict=True)):
            return tuple(KnownDigits.of(value, digits) for value in current)
        previous = current
        precision = 2 * precision - target - 30
    raise ArithmeticError(f"digits: got {digits}; the values cancel beyond {precision} bits of working precision")


def _at(kernel: Kernel, values: Sequence[Real], precision: int) -> tuple[Any, ...]:
    return kernel.multiprecision(precision)(*(value.mpf(precision) for value in values))
