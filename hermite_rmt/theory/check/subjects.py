"""From what a user calls a system to the subjects that understand it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.theory import attention, linear_regression
from hermite_rmt.theory.check.attention import AttentionSubject
from hermite_rmt.theory.check.engine import EngineSubject, SystemSubject
from hermite_rmt.theory.check.regression import RegressionSubject
from hermite_rmt.theory.check.subject import Subject
from hermite_rmt.theory.equivalent import DeterministicEquivalent
from hermite_rmt.theory.statements import laws

# by name: the theory's own names where there are some, then those of the engine's equations
_THEORY: dict[str, Callable[[], Subject]] = {"attention": AttentionSubject, "linear_regression": RegressionSubject}
_ENGINE = {
    "attention": attention.equivalent,
    "linear_regression": linear_regression.equivalent,
    "marchenko_pastur": laws.marchenko_pastur,
    "semicircle": laws.semicircle,
}
_ALLOWED = f"{', '.join(map(repr, _ENGINE))}, a model, a DeterministicEquivalent or an EquationSystem"


def subjects_of(system: Any, solve: Any = None) -> Iterator[Subject]:
    """Yield the subjects a claim about `system` may be meant for, the likeliest first.

    An `EquationSystem` that is one of the models' own is solved by its engine; any other needs `solve`.

    Raises
    ------
    ValueError
        For an unknown name.
    TypeError
        For anything that is no system.
    """
    if isinstance(system, str):
        if system not in _ENGINE:
            raise ValueError(f"system: got {system!r}; allowed: {_ALLOWED}")
        yield from _named(system)
    elif isinstance(system, attention.Attention | linear_regression.LinearRegression):
        yield from _named(system.name)
    elif isinstance(system, DeterministicEquivalent):
        yield _engine(system)
    elif isinstance(system, EquationSystem):
        homes = [] if solve else [home() for home in _ENGINE.values()]
        own = (home for home in homes if home.equations.residuals == system.residuals)
        known = next(own, None)
        yield _engine(known) if known else SystemSubject(system, solve)
    else:
        raise TypeError(f"system: got {system!r}; allowed: {_ALLOWED}")


def _named(name: str) -> Iterator[Subject]:
    if name in _THEORY:
        yield _theory(name)
    yield _engine(_ENGINE[name]())


@cache
def _theory(name: str) -> Subject:
    return _THEORY[name]()


@lru_cache(maxsize=16)
def _engine(equivalent: DeterministicEquivalent) -> EngineSubject:
    return EngineSubject(equivalent)
