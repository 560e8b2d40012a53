"""The grid of a study: values of c and gamma, exact inside, and labelled variables on it."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hermite_rmt.core.parameter import Parameter

OBSERVABLES = ("error", "quadratic_form", "trace")
LONG_NAMES = {
    "c": "dimension over samples, p/n",
    "gamma": "ridge",
    "error": "interpolation error E",
    "quadratic_form": "quadratic form q = y^T Q y / n",
    "trace": "normalised trace m = tr Q / n",
    "n": "number of tokens",
    "p": "embedding dimension, round(c n)",
    "trials": "simulated draws",
    "c_realised": "p/n of the simulated cells",
}


@dataclass(frozen=True)
class Grid:
    """The values of c and gamma of a study, exact inside."""

    c: Parameter
    gamma: Parameter

    @classmethod
    def read(cls, c: Any, gamma: Any) -> Grid:
        """Read both axes: numbers or one-dimensional sequences of positive numbers."""
        return cls(_axis(c, "c"), _axis(gamma, "gamma"))

    @property
    def coordinates(self) -> dict[str, Any]:
        """The labelled axes."""
        return {name: labelled(name, (name,), getattr(self, name).floats) for name in ("c", "gamma")}

    def theory(self, model: Any, digits: int | None = None) -> dict[str, Any]:
        """Return the limits on the grid, as labelled variables of dims (c, gamma)."""
        require_scalar(model)
        c: Any = self.c.floats if digits is None else self.c.reals
        gamma: Any = self.gamma.floats if digits is None else self.gamma.reals
        solution = model.solve(c[:, None], gamma[None, :], digits=digits)
        return {name: labelled(name, ("c", "gamma"), solution[name]) for name in OBSERVABLES}

    def dimensions(self, n: int) -> list[int]:
        """Return p = round(c n) for every c, computed exactly.

        Raises
        ------
        ValueError
            If some c is too small for this n, so that p would be 0.
        """
        exact = [real.rational if real.rational is not None else Fraction(float(real)) for real in self.c.reals]
        dimensions = [round(c * n) for c in exact]
        if not min(dimensions):
            smallest = float(min(exact))
            raise ValueError(f"n: got {n}; allowed: n so large that p = round(c n) is at least 1 at c = {smallest:g}")
        return dimensions


def labelled(name: str, dims: tuple[str, ...], values: Any) -> tuple[Any, ...]:
    """Return a variable of a dataset with its long name; every quantity here is a pure number."""
    return dims, values, {"long_name": LONG_NAMES[name], "units": "1"}


def require_model(model: Any, argument: str = "model") -> Any:
    """Return a model, or raise a TypeError that names the argument if it is something else."""
    if isinstance(model, type) or not (hasattr(model, "parameters") and hasattr(model, "solve")):
        raise TypeError(
            f"{argument}: got {reprlib.repr(model)}; allowed: a model, such as Attention(...) or LinearRegression()"
        )
    return model


def require_scalar(model: Any, argument: str = "model") -> None:
    """Raise a TypeError if this is no model, a ValueError if it stands for an array of models."""
    require_model(model, argument)
    for name, parameter in model.parameters().items():
        if parameter.shape:
            raise ValueError(
                f"{name}: got an array of shape {parameter.shape}; allowed in a study: one number for each parameter"
            )


def _axis(values: Any, name: str) -> Parameter:
    axis = Parameter(values, name).require_positive()
    if len(axis.shape) > 1 or axis.shape == (0,):
        raise ValueError(f"{name}: got an array of shape {axis.shape}; allowed: a number or a sequence of numbers")
    return axis if axis.shape else Parameter([values], name)
