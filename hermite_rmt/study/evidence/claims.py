"""What a study of a claim comes to: parts that hold or do not, a verdict that follows from them, and the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import xarray as xr


class Verdict(StrEnum):
    """The outcome for a claim."""

    HOLDS = "holds"
    CONDITIONAL = "holds under stated conditions"
    FALSE = "false as stated"


@dataclass(frozen=True)
class Part:
    """One checked statement.

    Attributes
    ----------
    statement : in words
    holds : what the evidence says
    evidence : the numbers it rests on
    """

    statement: str
    holds: bool
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A claim and what was found.

    Attributes
    ----------
    letter : a to g
    statement : the claim
    parts : the claim as it stands first, then the same under conditions, and what else was measured
    data : the datasets of the study by name
    """

    letter: str
    statement: str
    parts: tuple[Part, ...]
    data: Mapping[str, xr.Dataset]

    @property
    def verdict(self) -> Verdict:
        """Holds if the claim as it stands does; under conditions if some other part does; else false.

        >>> Claim("x", "all", (Part("all", False, "one"), Part("most", True, "many")), {}).verdict.value
        'holds under stated conditions'
        """
        return verdict_of([part.holds for part in self.parts])


def verdict_of(holds: Sequence[bool]) -> Verdict:
    """Return the verdict that follows from the outcomes of a claim's parts, the claim as it stands first."""
    if holds[0]:
        return Verdict.HOLDS
    return Verdict.CONDITIONAL if any(holds) else Verdict.FALSE
