"""Numbers and axes of numbers as text on the command line, read exactly."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from hermite_rmt.core.numbers import exact_text, read_real

LONGEST_AXIS = 10**6


def read_axis(text: str, name: str) -> list[Fraction]:
    """Read `0.5`, `0.5,1,2` or `a:b:n` (n equally spaced values, ends included) as exact positive numbers.

    Raises
    ------
    ValueError
        If the text has another form, or a value is not positive.

    >>> read_axis("0.1:4:40", "c")[:3]
    [Fraction(1, 10), Fraction(1, 5), Fraction(3, 10)]
    >>> read_axis("1/3, 2", "c")
    [Fraction(1, 3), Fraction(2, 1)]
    """
    values = _read_range(text, name) if ":" in text else [_read(part, name) for part in text.split(",")]
    for value in values:
        if value <= 0:
            raise ValueError(f"{name}: got {exact_text(value)}; allowed: positive numbers")
    return values


def decimal_text(value: Fraction, digits: int | None = None) -> str:
    """Write a fraction as a decimal: exactly where that is short, else rounded, with five digits more than `digits`.

    >>> decimal_text(Fraction(51, 512)), decimal_text(Fraction(1, 3)), decimal_text(Fraction(1, 3), digits=20)
    ('0.099609375', '0.3333333333333333', '0.3333333333333333333333333')
    """
    exact = exact_text(value)
    length = 17 if digits is None else digits + 5
    if "/" not in exact and len(exact.strip("-0.")) <= length + 1:
        return exact
    if digits is None:
        return repr(float(value))
    with localcontext(prec=length):
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def _read_range(text: str, name: str) -> list[Fraction]:
    allowed = f"allowed: a number, numbers with commas, or a:b:n with 2 <= n <= {LONGEST_AXIS}"
    parts = text.split(":")
    if len(parts) != 3 or not parts[2].strip().isdecimal() or not 2 <= int(parts[2]) <= LONGEST_AXIS:
        raise ValueError(f"{name}: got {text!r}; {allowed}")
    first, last, count = _read(parts[0], name), _read(parts[1], name), int(parts[2])
    return [first + (last - first) * k / (count - 1) for k in range(count)]


def _read(text: str, name: str) -> Fraction:
    value = read_real(text, name).rational
    assert value is not None  # text is a decimal or a quotient
    return value
