"""Numbers for derived systems: the branch by continuation, then Newton to the digits asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import BITS_PER_DIGIT, bits, local_context
from hermite_rmt.equivalents.dyson import SCALE, SHIFT
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.continuation import (
    Arithmetic,
    CompiledSystem,
    ContinuationError,
    largest_quotient,
    logarithmic,
)

_PROBE = 64  # bits that tell a size
Exact = Callable[[int], Any]  # precision in bits -> number of the local context of that precision
SHIFTS = (1.0, 1e3)
DECADES = 16  # of the shift before a first attempt to leave it out; then twice as many, and so on
LEAST_SHIFT = 100  # decades below 1, and twice those of the values: a smaller shift means nothing


@dataclass(frozen=True)
class Point:
    """Parameter values of one point, to any precision."""

    exact: Mapping[Any, Exact]

    @property
    def spread(self) -> int:
        """How many bits apart the values may be from 1 and each other: so many may cancel."""
        values = [exact(_PROBE) for exact in self.exact.values()]
        parts = [part for value in values for part in (value.real, value.imag) if part]
        return sum(max(0, abs(local_context(_PROBE).mag(part)) - 1) for part in parts)

    def at(self, symbols: Sequence[Any], precision: int, scale: Any = 1, shift: Any = 0) -> list[Any]:
        """Return the values in the order of `symbols`, the path parameters included."""
        special = {SCALE: scale, SHIFT: shift}
        return [special[s] if s in special else self.exact[s](precision) for s in symbols]

    def numbers(
        self, symbols: Sequence[Any], precision: int | None, scale: float = 1.0, shift: Any = 0.0
    ) -> list[Any]:
        """Return the values at a precision in bits, or as floats or complex numbers (None)."""
        if precision is not None:
            return self.at(symbols, precision, scale, shift)
        values = self.at(symbols, 80, scale, shift)
        return [float(v) if not getattr(v, "imag", 0) else complex(v) for v in values]


@dataclass
class CompiledEquations:
    """An `EquationSystem` with path parameters, compiled: residuals, Jacobian, observables and their derivatives."""

    system: EquationSystem
    layout: tuple[tuple[int, int, int], ...]
    derivative: Any = None
    compiled: CompiledSystem = field(init=False)

    def __post_init__(self) -> None:
        jacobian = self.system.jacobian
        arguments = (*self.system.unknowns, *self.system.parameters)
        kernel = Kernel(arguments, [*self.system.residuals, *jacobian.values()])
        self.compiled = CompiledSystem(kernel, len(self.system.unknowns), tuple(jacobian), self.layout)
        self.names = tuple(self.system.observables)
        values = list(self.system.observables.values())
        expressions = list(values)
        if self.derivative is not None:
            expressions += [sympy.diff(r, self.derivative) for r in self.system.residuals]
            for value in values:
                expressions += [sympy.diff(value, self.derivative)]
                expressions += [sympy.diff(value, unknown) for unknown in self.system.unknowns]
        self._observables = Kernel(arguments, expressions)

    def observe(self, arithmetic: Arithmetic, x: np.ndarray, parameters: Sequence[Any]) -> list[Any]:
        """Return the observables, then their total derivatives (by implicit differentiation)."""
        assert arithmetic.precision is not None
        values = self._observables.multiprecision(arithmetic.precision)(*x, *parameters)
        count, size = len(self.names), len(x)
        result = list(values[:count])
        if self.derivative is None:
            return result
        explicit = np.empty(size, dtype=object)
        explicit[:] = values[count : count + size]
        _, jacobian = arithmetic.evaluate(x, parameters)
        change = -arithmetic.solve(jacobian, explicit)
        context = local_context(arithmetic.precision)
        for number in range(count):
            start = count + size + number * (size + 1)
            gradient = values[start + 1 : start + 1 + size]
            result.append(values[start] + context.fsum(g * d for g, d in zip(gradient, change, strict=True)))
        return result


@dataclass(frozen=True)
class Solved:
    """One solved point: unknowns and observables of the context of `precision` bits, and how it was reached."""

    unknowns: np.ndarray
    observables: list[Any]
    precision: int
    residual: float
    steps: int
    notes: tuple[str, ...]


def branch_by_scale(
    equations: CompiledEquations,
    point: Point,
    precision: int | None,
    require: Callable[[np.ndarray, int | None], None] = lambda x, precision: None,
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Return the physical branch approximately: covariance scale 0 to 1, with a shift where that is too steep.

    `require` raises a ContinuationError where the end of a path cannot be the physical branch.

    Raises
    ------
    ContinuationError
        If no path could be followed.
    """
    arithmetic = Arithmetic(equations.compiled, precision)
    reasons = []

    def parameters(scale: float, shift: Any) -> list[Any]:
        return point.numbers(equations.system.parameters, precision, scale, shift)

    for largest in (0.0, *SHIFTS):
        try:
            start = arithmetic.array([0] * equations.compiled.size)
            x = arithmetic.newton(start, parameters(0.0, largest), 1e-6, guarded=False)
            x, trail = arithmetic.follow(x, lambda s, t=largest: parameters(s, t))  # type: ignore[misc]
            notes = [f"covariance scale 0 to 1 in {len(trail) - 1} steps at shift {largest:g}"]
            if largest:
                decades = LEAST_SHIFT + math.ceil(2 * point.spread / BITS_PER_DIGIT)
                x, steps, fallen = _unshift(arithmetic, x, largest, parameters, decades)
                notes.append(f"shift {largest:g} to {largest:g}e-{fallen} in {steps} steps, then to 0")
            require(x, precision)
            return x, arithmetic.steps, tuple(notes)
        except ContinuationError as reason:
            reasons.append(f"shift {largest:g}: {reason}")
    raise ContinuationError("; ".join(reasons))


def _unshift(
    arithmetic: Arithmetic,
    x: np.ndarray,
    largest: float,
    parameters: Callable[[float, Any], list[Any]],
    decades: int,
) -> tuple[np.ndarray, int, int]:
    """Follow the solution as the shift falls until the step to 0 is small: x, the steps, the decades fallen."""
    ten: Any = 10.0 if arithmetic.precision is None else local_context(arithmetic.precision).mpf(10)

    def shrunk(fallen: int, length: int, u: float) -> list[Any]:
        return parameters(1.0, largest * ten ** -(fallen + length * u))

    steps, fallen, length = 0, 0, DECADES
    while True:
        path = partial(shrunk, fallen, length)
        x, trail = arithmetic.follow(x, path, first=0.5 / length, extrapolate=logarithmic)
        steps, fallen, length = steps + len(trail) - 1, fallen + length, 2 * length
        try:
            return arithmetic.newton(x, parameters(1.0, 0.0), 1e-9), steps, fallen
        except ContinuationError:
            if fallen > decades:
                raise


def refine(
    equations: CompiledEquations,
    point: Point,
    start: Sequence[Any],
    digits: int,
    steps: int = 0,
    notes: tuple[str, ...] = (),
) -> Solved:
    """Return the solution near `start` to `digits` digits: two precisions must agree on every observable.

    Unknowns that `start` leaves at 0 (the response of low-rank parts, solved by linear equations) are free; the
    others must stay where they are.

    Raises
    ------
    ContinuationError
        If Newton's method leaves the start, or the precisions do not agree.
    """
    symbols = equations.system.parameters
    # values may be small as powers of the parameters are, and are told from zero all the same
    precision = bits(digits + 12) + 3 * point.spread
    previous: tuple[int, list[Any]] | None = None
    x: Any = start
    for _ in range(8):
        arithmetic = Arithmetic(equations.compiled, precision)
        parameters = [arithmetic.array([value])[0] for value in point.at(symbols, precision)]
        first = arithmetic.array(x)
        x = arithmetic.newton(first, parameters, arithmetic.power(-precision // 2 - 8), guarded=False)
        observables = equations.observe(arithmetic, x, parameters)
        steps += arithmetic.steps
        if previous is None:
            moved = np.where(first == 0, first, arithmetic.sizes(x - first))
            if largest_quotient(moved, arithmetic.scales(x)) > 1e-3:
                raise ContinuationError("Newton's method left the branch that was followed")
        elif _agree(previous, (precision, observables), digits + 2):
            residual = max((float(abs(r)) for r in arithmetic.evaluate(x, parameters)[0]), default=0.0)
            return Solved(x, observables, precision, residual, steps, notes)
        previous = (precision, observables)
        precision = math.ceil(1.25 * precision) + 32
    raise ContinuationError(f"{digits} digits were not reached: two precisions never agreed")


def _agree(first: tuple[int, Sequence[Any]], second: tuple[int, Sequence[Any]], digits: int) -> bool:
    context = local_context(64)
    tolerance = context.mpf(10) ** -digits
    floors = [context.ldexp(1, -7 * precision // 10) for precision, _ in (first, second)]

    def same(a: Any, b: Any) -> bool:
        # a value that is as small as rounding errors at both precisions is zero
        return bool(abs(a - b) <= abs(b) * tolerance) or bool(abs(a) <= floors[0] and abs(b) <= floors[1])

    return all(same(a, b) for a, b in zip(first[1], second[1], strict=True))
