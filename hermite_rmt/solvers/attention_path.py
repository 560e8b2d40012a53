"""Starts for one point of attention: double precision, and continuation from within its range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_equations import Inputs, Shape, shape_of
from hermite_rmt.solvers.attention_newton import Problem, iterate, iterate_one
from hermite_rmt.solvers.attention_point import ExactPoint, Scaled
from hermite_rmt.solvers.attention_refine import Iterate, at_solution, newton
from hermite_rmt.solvers.attention_start import CHART_OF_PAIRS, shapes_of, symmetric_from_pair

DOUBLE_TOLERANCE = 1e-7  # a Newton step below squares to the precision of doubles
DOUBLE_BITS = 44  # then that many are right, and a step with that Jacobian gains as many
REDUCED_BITS = 20  # where rounding errors keep the steps larger
PRECISION = 300  # bits, on a path; more by what the exponents of c, gamma and kappa may cancel
PATH_TOLERANCE = 0.5**100
WITHIN_C = (1e-3, 1e3)  # a path starts with c, gamma and |kappa| (in units of nu) in these ranges
WITHIN_GAMMA = (1e-8, 1e8)
WITHIN_KAPPA = (1e-8, 1e3)
FIRST_STEP, SMALLEST_STEP = 0.01, 1e-5
USUAL_LENGTH = 300.0  # powers of 2 of a path that these steps suit


def starts(point: ExactPoint) -> Iterator[Iterate]:
    """Yield starts for one point, the cheapest first: doubles, doubles polished at higher precision, a path."""
    with np.errstate(all="ignore"):  # c or gamma beyond doubles become 0 or inf: such a block gives no start
        block = point.double()
    beyond = not all(0 < float(value[0]) < np.inf for value in (block.inputs.shape.c, block.gamma))
    found = None if beyond else double_start(block, point.even)
    if found is not None:
        doubles = found.x
        yield found
        numbers = _arithmetic(point)
        x = [numbers.number(value) for value in doubles]
        found = newton(point.scaled(numbers), found.use_pair, x, numbers.number(1.0), PATH_TOLERANCE)
        if found is not None:
            yield found
    found = far_start(point)
    if found is not None:
        yield found


def double_start(problem: Problem, even: bool) -> Iterate | None:
    """Return the solution of a block of one point in double precision; None if there is none.

    even : a_1 = kappa = 0, where the coordinate F1, proportional to k, vanishes exactly
    """
    floats = _in_floats(problem)
    one_point = iterate_one(Problem(floats.inputs, floats.gamma))
    if one_point is None:
        with np.errstate(all="ignore"):
            state = iterate(problem)
        if not state.converged[0]:
            return None
        one_point = bool(state.use_pair[0]), [float(entry[0]) for entry in state.chart]
    use_pair, x = one_point
    if even and not use_pair:
        x[0] = 0.0
    found = newton(floats, use_pair, x, 1.0, DOUBLE_TOLERANCE)
    if found is None:
        return at_solution(floats, use_pair, x, 1.0, REDUCED_BITS)
    found.right = found.inverse_bits = DOUBLE_BITS
    return found


def _in_floats(problem: Problem) -> Scaled:
    """Return a block of one point as Python floats: for one point faster than arrays."""
    shape, *rest = problem.inputs
    inputs = Inputs(Shape(*(float(entry[0]) for entry in shape)), *(float(entry[0]) for entry in rest))
    return Scaled(inputs, float(problem.gamma[0]))


def _arithmetic(point: ExactPoint) -> MpmathArithmetic:
    """Return the arithmetic of a path: c^2 and gamma and kappa^2 may stand beside 1."""
    probe = MpmathArithmetic(PRECISION)
    scaled = point.scaled(probe)
    spread = sum(
        weight * abs(probe.magnitude(value))
        for weight, value in ((2, scaled.inputs.shape.c), (1, scaled.gamma), (2, scaled.inputs.kappa))
        if value
    )
    return MpmathArithmetic(PRECISION + int(spread))


def far_start(point: ExactPoint) -> Iterate | None:
    """Follow the solution along lines of log c, log gamma, log |kappa| from within double range; None: it is lost."""
    numbers = _arithmetic(point)
    target = point.scaled(numbers)
    inputs = target.inputs
    near = _Place(
        numbers.clip(inputs.shape.c, *WITHIN_C),
        numbers.clip(target.gamma, *WITHIN_GAMMA),
        _clipped(inputs.kappa, numbers),
    )
    floats = (np.array([float(x)]) for x in (near.c, near.gamma, inputs.a, inputs.eta, near.kappa))
    c_, gamma_, a_, eta_, kappa_ = floats
    begin = double_start(Problem(Inputs(shapes_of(c_), a_, eta_, kappa_), gamma_), point.even)
    return None if begin is None else _Path(target, near, numbers).follow(begin)


def _clipped(kappa: Any, numbers: MpmathArithmetic) -> Any:
    """Return kappa with its absolute value in range; 0 stays 0."""
    if not kappa:
        return kappa
    size = numbers.clip(abs(kappa), *WITHIN_KAPPA)
    return -size if kappa < 0 else size


class _Place(NamedTuple):
    """Where on a path."""

    c: Any
    gamma: Any
    kappa: Any


class _Path:
    """The line from (c, gamma, kappa) within range, at 0, to the target, at 1, in logarithms."""

    def __init__(self, target: Scaled, near: _Place, numbers: MpmathArithmetic) -> None:
        self.target, self.near, self.numbers = target, near, numbers
        self.far = _Place(target.inputs.shape.c, target.gamma, target.inputs.kappa)

    def scaled(self, position: float) -> Scaled:
        """Return the problem at a position."""
        if position == 1:
            return self.target
        inputs = self.target.inputs
        ends = zip(self.near, self.far, strict=True)
        # the quotient is positive: kappa keeps its sign
        c, gamma, kappa = (a if a == b else a * (b / a) ** position for a, b in ends)
        shape = inputs.shape if c == inputs.shape.c else shape_of(c, bool(c > 1), self.numbers.number(1.0))
        return self.target._replace(inputs=inputs._replace(shape=shape, kappa=kappa), gamma=gamma)

    def _length(self) -> float:
        """Return how many powers of 2 the path is long."""
        ends = zip(self.near, self.far, strict=True)
        return max(abs(self.numbers.magnitude(b) - self.numbers.magnitude(a)) for a, b in ends if a)

    def _leaves_pairs(self, x: list[Any]) -> bool:
        """Whether `coordinates` would not take the chart of pairs."""
        return bool(x[1] + self.numbers.number(CHART_OF_PAIRS) * self.numbers.sqrt(x[2]) >= 0)

    def follow(self, begin: Iterate) -> Iterate | None:
        """Go from 0 to 1, the secant in logarithms as the guess: exact for power laws."""
        one = self.numbers.number(1.0)

        def correct(position: float, guess: list[Any]) -> Iterate | None:
            return newton(self.scaled(position), use_pair, guess, one, PATH_TOLERANCE)

        use_pair = begin.use_pair
        current = correct(0.0, [self.numbers.number(value) for value in begin.x])
        position, steps = 0.0, 0
        step, smallest = (size / max(1.0, self._length() / USUAL_LENGTH) for size in (FIRST_STEP, SMALLEST_STEP))
        before: tuple[float, list[Any]] | None = None
        while current is not None and position < 1 and step >= smallest:
            following = min(position + step, 1.0)
            found = correct(following, _secant(before, (position, current.x), following))
            if found is None:
                step /= 4
                continue
            before, position, current = (position, current.x), following, found
            step *= 2
            steps += current.steps
            if use_pair and self._leaves_pairs(current.x):
                # there the product of the pair, v - a S, may be far smaller than v
                scaled, use_pair, before = self.scaled(position), False, None
                current = correct(position, list(symmetric_from_pair(scaled.inputs, scaled.gamma, current.x)))
        if current is None or position < 1:
            return None
        current.steps = steps
        return current


def _secant(before: tuple[float, list[Any]] | None, now: tuple[float, list[Any]], position: float) -> list[Any]:
    if before is None:
        return now[1]
    factor = (position - now[0]) / (now[0] - before[0])
    return [v * (v / u) ** factor if u and v / u > 0 else v for u, v in zip(before[1], now[1], strict=True)]
