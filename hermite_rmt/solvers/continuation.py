"""Newton and continuation for compiled polynomial systems, in double precision or to any number of digits.

A branch is selected by where it starts: the solution is followed along a path of parameters from a point where
it is known. Every accepted step needs a small first Newton correction and contraction, so that the path is followed
rather than left; the path is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hermite_rmt.core.contexts import local_context
from hermite_rmt.solvers.linear import SingularError, eliminate

Parameters = Sequence[Any]
Extrapolation = Callable[[np.ndarray, np.ndarray, float], np.ndarray]  # x before, x now, how many such steps further
EARLIEST = 1e-12  # of a path: from there on a step may be as short as the path so far times `shortest`
FIRST_CORRECTION = 0.25  # relative size of the first Newton correction that still counts as following the path


class ContinuationError(ArithmeticError):
    """The path could not be followed; the message says where it ended."""


class CompiledKernel(Protocol):
    """What the solver needs of a kernel: compiled functions of scalars."""

    @property
    def function(self) -> Callable[..., Sequence[Any]]:
        """The function of doubles."""
        ...

    def multiprecision(self, precision: int) -> Callable[..., Sequence[Any]]:
        """Return the function of numbers of the local context of `precision` bits."""
        ...


@dataclass(frozen=True)
class CompiledSystem:
    """A square system F(x, parameters) = 0 with its exact Jacobian.

    Attributes
    ----------
    kernel : compiled function of (unknowns, parameters): residuals, then the nonzero entries of the Jacobian
    size : the number of unknowns
    pattern : (row, column) of each Jacobian entry
    layout : for each unknown (group, row, column), its place in a matrix; used to judge the size of corrections
    """

    kernel: CompiledKernel
    size: int
    pattern: tuple[tuple[int, int], ...]
    layout: tuple[tuple[int, int, int], ...]


def linear(before: np.ndarray, now: np.ndarray, factor: float) -> np.ndarray:
    """Extrapolate along the secant."""
    guess: np.ndarray = now + (now - before) * factor
    return guess


def logarithmic(before: np.ndarray, now: np.ndarray, factor: float) -> np.ndarray:
    """Extrapolate along the secant of the logarithms, exact for power laws; linearly where there is none."""
    quotients = [v / u if u else 0 for u, v in zip(before, now, strict=True)]
    guess: np.ndarray = np.array(
        [
            v * q**factor if q.real > abs(q.imag) else v + (v - u) * factor
            for u, v, q in zip(before, now, quotients, strict=True)
        ],
        dtype=now.dtype,
    )
    return guess


def largest_quotient(sizes: np.ndarray, scales: np.ndarray) -> Any:
    """Return the largest sizes / scales; 0 for a size 0, whatever its scale."""
    return np.max([size / scale if size else 0.0 for size, scale in zip(sizes, scales, strict=True)], initial=0.0)


@dataclass
class Arithmetic:
    """One system at one precision: None is double, otherwise bits of a local mpmath context."""

    system: CompiledSystem
    precision: int | None = None
    steps: int = 0
    _function: Callable[..., Sequence[Any]] = field(init=False)

    def __post_init__(self) -> None:
        kernel = self.system.kernel
        self._function = kernel.function if self.precision is None else kernel.multiprecision(self.precision)
        self._rows = np.array([row for row, _ in self.system.pattern], dtype=int)
        self._columns = np.array([column for _, column in self.system.pattern], dtype=int)

    def array(self, values: Sequence[Any]) -> np.ndarray:
        """Return unknowns or parameters as an array of this precision."""
        if self.precision is None:
            numbers = [complex(value) for value in values]
            real = all(number.imag == 0 for number in numbers)
            return np.array([number.real for number in numbers] if real else numbers)
        context = local_context(self.precision)
        result = np.empty(len(values), dtype=object)
        result[:] = [context.convert(value) for value in values]
        return result

    def evaluate(self, x: np.ndarray, parameters: Parameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals and the Jacobian."""
        with np.errstate(all="ignore"):
            values = self._function(*x, *parameters)
        size = self.system.size
        if self.precision is None:
            flat = np.array(values)
        else:
            flat = np.empty(len(values), dtype=object)
            flat[:] = values
        jacobian = np.zeros((size, size), dtype=flat.dtype)
        jacobian[self._rows, self._columns] = flat[size:]
        return flat[:size], jacobian

    def correction(self, x: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Return the Newton correction at x."""
        self.steps += 1
        residual, jacobian = self.evaluate(x, parameters)
        return self.solve(jacobian, -residual)

    def solve(self, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solve a linear system, rows scaled to equal size."""
        if not len(right):
            return right
        if self.precision is not None:
            try:
                return eliminate(matrix, right)
            except SingularError:
                raise ContinuationError("the Jacobian is singular") from None
        size = np.max(np.abs(matrix), axis=1)
        if not np.all(np.isfinite(size)) or not np.all(size > 0):
            raise ContinuationError("the Jacobian is singular or not finite")
        try:
            solution: np.ndarray = np.linalg.solve(matrix / size[:, None], right / size)
            return solution
        except np.linalg.LinAlgError:
            raise ContinuationError("the Jacobian is singular") from None

    def scales(self, x: np.ndarray) -> np.ndarray:
        """Return a natural size for each unknown: (largest of its row)(largest of its column)/(largest of all)."""
        sizes = self.sizes(x)
        largest: dict[tuple[str, int, int], Any] = {}
        keys = [(("all", g, 0), ("row", g, i), ("column", g, j)) for g, i, j in self.system.layout]
        for size, names in zip(sizes, keys, strict=True):
            for name in names:
                largest[name] = max(largest.get(name, 0.0), size)
        natural = [largest[row] * (largest[column] / (largest[whole] or 1.0)) for whole, row, column in keys]
        scales: np.ndarray = np.maximum(sizes, np.array(natural, dtype=sizes.dtype))
        return scales if self.precision is not None else np.maximum(scales, 1e-300)

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """Return absolute values: floats, or multiprecision numbers, whose exponents have no bounds."""
        if self.precision is None:
            absolute: np.ndarray = np.abs(x)
            return absolute
        result = np.empty(len(x), dtype=object)
        result[:] = [abs(value) for value in x]
        return result

    def relative(self, change: np.ndarray, x: np.ndarray) -> Any:
        """Return the largest entry of a change against the natural size of its unknown."""
        with np.errstate(all="ignore"):
            return largest_quotient(self.sizes(change), np.maximum(self.scales(x), self.scales(x + change)))

    def power(self, exponent: int) -> Any:
        """Return 2 to a whole power, of any size."""
        return 2.0**exponent if self.precision is None else local_context(self.precision).ldexp(1, exponent)

    def newton(self, x: np.ndarray, parameters: Parameters, tolerance: Any, guarded: bool = True) -> np.ndarray:
        """Return the solution Newton's method reaches from x.

        ``guarded`` demands a small first correction and contraction from the first step on.

        Raises
        ------
        ContinuationError
            If it does not contract.
        """
        previous: Any = math.inf
        for step in range(60):
            change = self.correction(x, parameters)
            size = self.relative(change, x)
            if not math.isfinite(size):
                raise ContinuationError("a Newton step is not finite")
            if guarded and step == 0 and size > FIRST_CORRECTION:
                raise ContinuationError("the first Newton correction is too large")
            x = x + change
            if size <= tolerance:
                return x
            if step > 1 and size > 0.5 * previous and (guarded or size < FIRST_CORRECTION):
                if self.precision is None and size < 1e-6:
                    return x  # rounding errors: a solve at higher precision takes over
                raise ContinuationError("Newton's method does not contract")
            previous = size
        raise ContinuationError("Newton's method ran out of steps")

    def follow(
        self,
        x: np.ndarray,
        path: Callable[[float], Parameters],
        first: float = 0.2,
        shortest: float = 1e-5,
        extrapolate: Extrapolation = linear,
    ) -> tuple[np.ndarray, list[float]]:
        """Follow the solution from path(0), where it is x, to path(1); steps are guessed by `extrapolate`.

        Returns
        -------
        (solution at path(1), the accepted points of the path)
        """
        tolerance = 1e-9 if self.precision is None else self.power(-self.precision // 2)
        here, step = 0.0, first
        trail = [0.0]
        last: tuple[float, np.ndarray] | None = None
        while here < 1:
            there = min(1.0, here + step)
            guess = x
            if last is not None:
                guess = extrapolate(last[1], x, (there - here) / (here - last[0]))
            try:
                new = self.newton(guess, path(there), tolerance)
            except ContinuationError as reason:
                step = (there - here) / 2
                if step < shortest * max(here, EARLIEST):  # covariances may act at any order of magnitude
                    raise ContinuationError(
                        f"the path could not be followed beyond {here:.6g} of it: {reason}"
                    ) from None
                continue
            last, here, x = (here, x), there, new
            trail.append(here)
            step *= 1.6
        return x, trail
