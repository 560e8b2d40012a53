"""The difference of the errors of two models as a function of any parameters, in double and to any digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from hermite_rmt.core.numbers import Real, read_real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.study.scale import Scale, scaled_error, scaled_ridge, scaled_theory
from hermite_rmt.theory.model import one_number

SCAN_POINTS = 400
ROUNDING = 1e-12  # relative difference of two errors that double precision does not resolve
PLACES = ("c", "gamma")


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
            name: Parameter(value, name).require_positive()
            for name, value in (("c", c), ("gamma", gamma))
            if value is not None
        }
        for parameter in fixed.values():
            one_number(parameter)
        return cls(left, right, free, fixed, scale)

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
        one, other = (model(**arguments) if callable(model) else model for model in (self.left, self.right))
        return one, other


def one_real(parameter: Parameter) -> Real:
    """Return the exact number of a scalar parameter."""
    one_number(parameter)
    return cast(Real, parameter.reals[()])


def read_points(parameter: str, values: Sequence[Any], count: int = SCAN_POINTS) -> np.ndarray:
    """Return increasing numbers; two are the ends of `count` points, geometric along c and gamma.

    Raises
    ------
    ValueError
        If they are not increasing, or c or gamma is not positive.
    """
    points = Parameter(values, "values").floats
    if points.ndim != 1 or points.size < 2 or not (np.diff(points) > 0).all():
        raise ValueError(f"values: got {values!r}; allowed: at least two increasing numbers")
    if parameter in PLACES:
        Parameter(points, "values").require_positive()
    if points.size > 2:
        return points
    spaced = np.geomspace if parameter in PLACES else np.linspace
    between: np.ndarray = spaced(points[0], points[1], count)
    between[[0, -1]] = points  # geomspace rounds
    return between
