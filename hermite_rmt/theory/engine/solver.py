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
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.equivalents.dyson import SCALE, SHIFT
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.solvers.continuation import Arithmetic, CompiledSystem, ContinuationError

Exact = Callable[[int], Any]  # precision in bits -> number of the local context of that precision
SHIFTS = (1.0, 1e3)
DECADES = 16  # of the shift, at a time
EXPONENTS = 1500  # bits from which on the size of a Newton step is below the smallest double


@dataclass(frozen=True)
class Point:
    """Parameter values of one point, to any precision."""

    exact: Mapping[Any, Exact]

    def at(self, symbols: Sequence[Any], precision: int, scale: Any = 1, shift: Any = 0) -> list[Any]:
        """Return the values in the order of `symbols`, the path parameters included."""
        special = {SCALE: scale, SHIFT: shift}
        return [special[s] if s in special else self.exact[s](precision) for s in symbols]

    def numbers(
        self, symbols: Sequence[Any], precision: int | None, scale: float = 1.0, shift: float = 0.0
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

    def parameters(scale: float, shift: float) -> list[Any]:
        return point.numbers(equations.system.parameters, precision, scale, shift)

    for largest in (0.0, *SHIFTS):
        try:
            start = arithmetic.array([0] * equations.compiled.size)
            x = arithmetic.newton(start, parameters(0.0, largest), 1e-6, guarded=False)
            x, trail = arithmetic.follow(x, lambda s, t=largest: parameters(s, t))  # type: ignore[misc]
            notes = [f"covariance scale 0 to 1 in {len(trail) - 1} steps at shift {largest:g}"]
            if largest:
                x, trail, smallest = _unshift(arithmetic, x, largest, parameters)
                notes.append(f"shift {largest:g} to {smallest:g} in {len(trail) - 1} steps, then to 0")
            require(x, precision)
            return x, arithmetic.steps, tuple(notes)
        except ContinuationError as reason:
            reasons.append(f"shift {largest:g}: {reason}")
    raise ContinuationError("; ".join(reasons))


def _shrunk(parameters: Callable[[float, float], list[Any]], start: float, u: float) -> list[Any]:
    return parameters(1.0, start * 10.0 ** (-DECADES * u))


def _unshift(
    arithmetic: Arithmetic, x: np.ndarray, largest: float, parameters: Callable[[float, float], list[Any]]
) -> tuple[np.ndarray, list[float], float]:
    """Follow the solution as the shift falls, by 16 decades at a time, until the step to 0 is small."""
    whole = [0.0]
    here = largest
    while True:
        x, trail = arithmetic.follow(
            x,
            partial(_shrunk, parameters, here),
            first=0.5 / DECADES,
        )
        whole += trail[1:]
        here *= 10.0**-DECADES
        try:
            return arithmetic.newton(x, parameters(1.0, 0.0), 1e-9), whole, here
        except ContinuationError:
            if here < 1e-100:
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
    precision = bits(digits + 12)
    previous: tuple[int, list[Any]] | None = None
    x: Any = start
    first = np.array([complex(value) for value in start])
    for _ in range(8):
        arithmetic = Arithmetic(equations.compiled, precision)
        parameters = [arithmetic.array([value])[0] for value in point.at(symbols, precision)]
        tolerance = 2.0 ** max(-precision // 2 - 8, -1000)
        x = arithmetic.newton(arithmetic.array(x), parameters, tolerance, guarded=False)
        for _ in range(max(0, math.ceil(math.log2(precision / EXPONENTS)))):
            x = x + arithmetic.correction(x, parameters)  # beyond what a float can tell of the size of a step
        observables = equations.observe(arithmetic, x, parameters)
        steps += arithmetic.steps
        if previous is None:
            moved = np.where(first == 0, 0, np.abs(np.array([complex(value) for value in x]) - first))
            if float(np.max(moved / arithmetic.scales(x), initial=0.0)) > 1e-3:
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
    floors = [context.mpf(2) ** (-0.7 * precision) for precision, _ in (first, second)]

    def same(a: Any, b: Any) -> bool:
        # a value that is as small as rounding errors at both precisions is zero
        return bool(abs(a - b) <= abs(b) * tolerance) or bool(abs(a) <= floors[0] and abs(b) <= floors[1])

    return all(same(a, b) for a, b in zip(first[1], second[1], strict=True))
