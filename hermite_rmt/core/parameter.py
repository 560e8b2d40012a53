"""Parameters: numbers of any shape at the door, exact inside, read as doubles or as reals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hermite_rmt.core.known_digits import KnownDigits
from hermite_rmt.core.numbers import exact_text, read_real

_SHOWN = 12  # numbers that are printed


_LONGEST = 60  # characters of an exact number in a message


class Parameter:
    """A numeric parameter of any shape, exact inside: `floats` for the double kernels, `reals` for the others.

    `binary` says whether a value came in as a binary float, and so carries the rounding of whoever made it; `known`
    how many digits are right where one came in as a computed number that knows its error, else None.
    """

    known: int | None = None

    def __init__(self, value: Any, name: str) -> None:
        self.name = name
        self._floats: np.ndarray | None = None
        self._reals: np.ndarray | None = None
        if np.ma.is_masked(value):
            raise ValueError(f"{name}: got masked entries; allowed: finite real numbers")
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 8:
            self.binary = True
            self._floats = value.astype(float)
            if not np.isfinite(self._floats).all():
                worst = self._floats[~np.isfinite(self._floats)].ravel()[0]
                raise ValueError(f"{name}: got {worst}; allowed: finite real numbers")
            self.shape: tuple[int, ...] = value.shape
            return
        is_array = isinstance(value, (list, tuple)) or (hasattr(value, "__array__") and np.ndim(value))
        entries = np.asarray(value, dtype=object) if is_array else _object_scalar(value)
        self._reals = np.empty(entries.shape, dtype=object)
        for index, entry in np.ndenumerate(entries):
            self._reals[index] = read_real(entry, name)
        self.binary = any(isinstance(entry, (float, np.floating)) for entry in entries.flat)
        rounded = [entry.digits for entry in entries.flat if isinstance(entry, KnownDigits) and not entry.is_exact]
        self.known = min(rounded, default=None)
        self.shape = self._reals.shape

    @property
    def has_reals(self) -> bool:
        """Whether the exact values are at hand, or would have to be made from an array of doubles."""
        return self._reals is not None

    @property
    def floats(self) -> np.ndarray:
        """The values as doubles (the nearest ones)."""
        if self._floats is None:
            assert self._reals is not None
            self._floats = np.asarray(np.frompyfunc(float, 1, 1)(self._reals), dtype=float)
        return self._floats

    @property
    def reals(self) -> np.ndarray:
        """The values as an object array of `Real`."""
        if self._reals is None:
            assert self._floats is not None
            self._reals = np.empty(self.shape, dtype=object)
            for index, entry in np.ndenumerate(self._floats):
                self._reals[index] = read_real(float(entry), self.name)
        return self._reals

    def __repr__(self) -> str:
        """Return the value as it may be typed (symbolic ones as SymPy writes them), or the shape of a large array."""
        if np.prod(self.shape, dtype=int) > _SHOWN:
            return f"<array of shape {self.shape}>"
        typed = np.frompyfunc(_Typed, 1, 1)(self.floats if self.binary else self.reals)
        return repr(typed.tolist() if self.shape else typed)

    def require(self, condition: np.ndarray, allowed: str) -> None:
        """Raise a ValueError naming this parameter and its first value where `condition` is False."""
        if not np.all(condition):
            raise ValueError(f"{self.name}: got {self.shown(~np.asarray(condition))}; allowed: {allowed}")

    def require_digits(self, digits: int) -> None:
        """Raise a ValueError if the values themselves are not known to that many digits."""
        if self.known is not None and self.known < digits:
            raise ValueError(
                f"{self.name}: got a number known to {self.known} digits for digits={digits}; allowed: an exact "
                "number, or one computed to at least as many digits"
            )

    def shown(self, where: np.ndarray) -> str:
        """Return the first value where `where` holds, as it was given: exact numbers are not rounded."""
        first = tuple(np.argwhere(where)[0])
        if self.binary:
            return f"{np.broadcast_to(self.floats, where.shape)[first]:.17g}"
        real = np.broadcast_to(self.reals, where.shape)[first]
        text = str(real.text) if real.rational is None else exact_text(real.rational)
        return text if len(text) <= _LONGEST else f"{real.mpf(60)} (rounded)"

    def require_positive(self, why: str = "") -> Parameter:
        """Return this parameter, or raise a ValueError, with the reason `why`, if a value is not positive."""
        # exact reals below the smallest double are positive numbers too
        if self._reals is not None and self._floats is None:
            positive = np.asarray(np.frompyfunc(lambda real: real.mpf(53) > 0, 1, 1)(self._reals), dtype=bool)
        else:
            positive = self.floats > 0
        self.require(positive, f"a positive number{why and f' ({why})'}")
        return self


class _Typed:
    """A number that prints as it may be typed."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        if isinstance(self.value, float):
            return repr(float(self.value))
        exact = self.value.rational
        if exact is None:
            return str(getattr(self.value, "expression", self.value.text))
        return str(exact) if exact.denominator == 1 else repr(str(exact))


def broadcast_shape(parameters: Iterable[Parameter]) -> tuple[int, ...]:
    """Return the common shape, or raise a ValueError that names the arrays that do not fit together."""
    shapes = {parameter.name: parameter.shape for parameter in parameters}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        arrays = {name: shape for name, shape in shapes.items() if shape}
        raise ValueError(
            f"{', '.join(arrays)}: got shapes {arrays}; allowed: shapes that broadcast together"
        ) from None


def _object_scalar(value: Any) -> np.ndarray:
    scalar = np.empty((), dtype=object)
    scalar[()] = value.item() if isinstance(value, np.ndarray) else value
    return scalar
