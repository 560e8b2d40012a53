"""What a check returns: one of four levels, what was used to reach it, and a counterexample where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sympy


class Level(Enum):
    """How much is known about a claim; the value is the sentence."""

    PROVED = "proved: an exact argument covers the physical branch"
    HOLDS = "holds at every point tried, to the digits stated; not proved"
    UNDECIDED = "undecided: it could not be evaluated at enough points"
    FALSE = "false: there is a counterexample"

    def __repr__(self) -> str:
        return f"Level.{self.name}"


# The level of several claims together is that of the worst
_ORDER = (Level.PROVED, Level.HOLDS, Level.UNDECIDED, Level.FALSE)


@dataclass(frozen=True)
class Counterexample:
    """A point of the physical branch where a claim fails.

    Attributes
    ----------
    point : mapping of parameters to exact numbers
    left, right : both sides there, with as many digits as were asked for
    """

    point: Mapping[sympy.Symbol, sympy.Expr]
    left: Any
    right: Any

    def __str__(self) -> str:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.point.items())
        return f"at {at}: left side {self.left}, right side {self.right}"


@dataclass(frozen=True)
class Verdict:
    """The outcome of `check`.

    Attributes
    ----------
    level : Level
    claim : the claim as it was understood, in the system's own names
    argument : what the level rests on, in words
    points : number of points of the branch at which both sides were compared
    digits : decimal digits to which they were compared
    counterexample : Counterexample or None
    label : the name of the claim inside a list of claims
    parts : the verdicts on the single claims, where several were checked together

    A verdict has no truth value: ask for its `level`, or for `holds`.
    """

    level: Level
    claim: str
    argument: str
    points: int = 0
    digits: int = 0
    counterexample: Counterexample | None = None
    label: str = ""
    parts: tuple[Verdict, ...] = ()
    claim_latex: str = ""

    @classmethod
    def together(cls, parts: tuple[Verdict, ...]) -> Verdict:
        """Return the verdict on several claims: the level of the worst, the offending ones named."""
        level = max((part.level for part in parts), key=_ORDER.index)
        worst = [part for part in parts if part.level is level]
        named = ", ".join(part.label for part in worst)
        argument = f"{len(worst)} of {len(parts)} claims are at this level: {named}"
        return cls(
            level,
            "; ".join(part.claim for part in parts),
            argument if level is not Level.PROVED else "every one of the claims is proved; see parts",
            min(part.points for part in parts),
            min(part.digits for part in parts),
            worst[0].counterexample,
            parts=parts,
            claim_latex=r" \\ ".join(part.claim_latex for part in parts),
        )

    @property
    def holds(self) -> bool | None:
        """True if proved, False if there is a counterexample, None if neither is known."""
        return {Level.PROVED: True, Level.FALSE: False}.get(self.level)

    @property
    def offending(self) -> tuple[str, ...]:
        """The labels of the claims that are false."""
        return tuple(part.label for part in self.parts or (self,) if part.level is Level.FALSE)

    def __bool__(self) -> bool:
        raise TypeError("a Verdict has no truth value: compare its level, or ask for holds (True, False or None)")

    def __str__(self) -> str:
        lines = [f"{f'{self.label}: ' if self.label else ''}{self.claim}", f"  {self.level.value}"]
        if self.level is Level.HOLDS:
            lines.append(f"  {self.points} points, {self.digits} digits")
        lines.append(f"  {self.argument}")
        if self.counterexample and not self.parts:
            lines.append(f"  {self.counterexample}")
        lines += ["  " + line for part in self.parts for line in str(part).splitlines()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Verdict {self.level.name.lower()}: {self.claim}>"

    def _repr_latex_(self) -> str:
        return (
            rf"$\displaystyle \begin{{gathered}} {self.claim_latex} \\ \text{{{self.level.value}}} \end{{gathered}}$"
        )
