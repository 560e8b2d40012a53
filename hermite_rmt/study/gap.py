"""The difference of the errors of two models as a function of any parameters, in double and to any digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from mpmath import nstr

from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.study.grid import require_model, require_scalar
from hermite_rmt.study.scale import Scale, scaled_error, scaled_ridge, scaled_theory
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.model import one_number

SCAN_POINTS = 400
ROUNDING = 1e-12  # relative difference of two errors that double precision does not resolve
PLACES = ("c", "gamma")
SMALLEST, LARGEST = 1e-150, 1e150  # positive numbers that are scanned: doubles with squares that are normal doubles


@dataclass(frozen=True)
class Gap:
    """E_left - E_right where c, gamma or the arguments of functions that return the models are free.

    Attributes
    ----------
    left, right : models, or functions of the free parameters (by name) that return one
    free : names of the parameters; c and gamma are geometric, the arguments of functions linear
    fixed : c and gamma, those that are not free
    scale : of the features, as for `compare`
    """

    left: Any
    right: Any
    free: tuple[str, ...]
    fixed: Mapping[str, Parameter]
    scale: Scale

    @classmethod
    def read(cls, left: Any, right: Any, free: tuple[str, ...], c: Any, gamma: Any, scale: Scale) -> Gap:
        """Check what a user gave.

        Raises
        ------
        ValueError, TypeError
            As `crossings`.
        """
        if scale not in ("equal", "trace"):
            raise ValueError(f"scale: got {scale!r}; allowed: 'equal' or 'trace'")
        for name, value in (("c", c), ("gamma", gamma)):
            if (value is not None) == (name in free):
                allowed = "nothing, it is the parameter" if name in free else "a positive number"
                raise ValueError(f"{name}: got {value}; allowed: {allowed}")
        arguments = [name for name in free if name not in PLACES]
        if arguments and not (callable(left) or callable(right)):
            raise TypeError(
                f"left, right: got two models; allowed: a function of {', '.join(arguments)} for at least one of them"
            )
        fixed = {
            name: within_doubles(Parameter(value, name).require_positive())
            for name, value in (("c", c), ("gamma", gamma))
            if value is not None
        }
        for parameter in fixed.values():
            one_number(parameter)
        for name, model in (("left", left), ("right", right)):
            if not callable(model):
                require_scalar(model, name)
        return cls(left, right, free, fixed, scale)

    @property
    def same(self) -> bool:
        """Whether both are one model, or models of one kind with the same exact parameters and no more to them."""
        left, right = self.left, self.right
        if left is right:
            return True
        if type(left) is not type(right) or not isinstance(left, Attention | LinearRegression):
            return False
        exact = [[one_real(x).rational for x in model.parameters().values()] for model in (left, right)]
        return None not in exact[0] and exact[0] == exact[1]

    def errors(self, **values: Any) -> tuple[Any, Any]:
        """Return both errors in double precision; the free parameters broadcast together."""
        place = {name: values[name] if name in values else float(self.fixed[name].floats) for name in PLACES}
        one, other = (
            scaled_theory(model, place["c"], place["gamma"], self.scale)["error"] for model in self._models(values)
        )
        return one, other

    def difference(self, **values: Any) -> Any:
        """Return E_left - E_right in double precision."""
        one, other = self.errors(**values)
        return one - other

    def resolved(self, **values: Any) -> Any:
        """Return the difference, 0 where double precision does not tell the two errors apart."""
        one, other = self.errors(**values)
        return np.where(np.abs(one - other) <= ROUNDING * np.maximum(one, other), 0.0, one - other)

    def exact_errors(self, digits: int, **values: Fraction) -> tuple[Any, Any]:
        """Return both errors at one point to `digits` digits."""
        c, gamma = (
            read_real(values[name], name) if name in values else one_real(self.fixed[name]) for name in PLACES
        )
        one, other = (scaled_error(model, c, gamma, self.scale, digits) for model in self._models(values))
        return one, other

    def ridge(self, model: Any, c: Real, gamma: Fraction) -> Real:
        """Return the ridge of a model itself at a ridge of the comparison."""
        return scaled_ridge(model, c, read_real(gamma, "gamma"), self.scale)

    def _models(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        arguments = {name: values[name] for name in self.free if name not in PLACES}
        one, other = (
            require_model(model(**arguments), f"{name}({', '.join(arguments)})") if callable(model) else model
            for name, model in (("left", self.left), ("right", self.right))
        )
        return one, other


def one_real(parameter: Parameter) -> Real:
    """Return the exact number of a scalar parameter."""
    one_number(parameter)
    return cast(Real, parameter.reals[()])


def within_doubles(parameter: Parameter) -> Parameter:
    """Return a positive parameter that doubles hold, squares included.

    Raises
    ------
    ValueError
        If a value is beyond: what is scanned is scanned in double precision, whatever the digits.
    """
    beyond = (parameter.floats < SMALLEST) | (parameter.floats > LARGEST)
    if beyond.any():
        first = nstr(parameter.reals[beyond][0].mpf(53), 6)
        allowed = f"{SMALLEST:g} to {LARGEST:g}, the search begins in double precision with digits, too"
        raise ValueError(f"{parameter.name}: got {first}; allowed: {allowed}")
    return parameter


def within_range(parameter: Parameter) -> Parameter:
    """Return a parameter of any sign that doubles hold, or raise a ValueError."""
    parameter.require(np.abs(parameter.floats) <= LARGEST, f"numbers up to {LARGEST:g}, which double precision holds")
    return parameter


def read_points(parameter: str, values: Sequence[Any], count: int = SCAN_POINTS) -> np.ndarray:
    """Return increasing numbers; two are the ends of `count` points, geometric along c and gamma.

    Raises
    ------
    ValueError
        If they are not increasing, c or gamma is not positive, or a number is beyond the range of doubles.
    """
    given = Parameter(values, "values")
    if parameter in PLACES:
        within_doubles(given.require_positive())
    points = within_range(given).floats
    if points.ndim != 1 or points.size < 2 or not (np.diff(points) > 0).all():
        raise ValueError(f"values: got {values!r}; allowed: at least two increasing numbers")
    if points.size > 2:
        return points
    spaced = np.geomspace if parameter in PLACES else np.linspace
    between: np.ndarray = spaced(points[0], points[1], count)
    between[[0, -1]] = points  # geomspace rounds
    return between
