"""Where two error curves touch in double precision, decided again in digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hermite_rmt.study.zeros import Function, bracketed_zero, sign_of, stationary_place

LEAST = 40  # working digits: far more than a double holds
GUARD = 8


@dataclass(frozen=True)
class Run:
    """Neighbouring points where double precision does not tell two curves apart.

    Attributes
    ----------
    points : in increasing order, with the next point to either side where the curves are told apart, if there is one
    inside : those where they are not
    """

    points: tuple[float, ...]
    inside: tuple[float, ...]

    def mapped(self, function: Callable[[float], float]) -> Run:
        """Return the run along another coordinate."""
        return Run(tuple(map(function, self.points)), tuple(map(function, self.inside)))


@dataclass(frozen=True)
class Bracket:
    """A change of sign in digits: a place near the crossing, how near, and whether the difference rises."""

    place: Fraction
    distance: Fraction
    rising: bool


def decide(run: Run, difference: Function, digits: int) -> tuple[list[Bracket], list[float]]:
    """Return the changes of sign in a run, and where its curves are together to `digits` digits as well.

    The difference is computed at every point, and where it comes closest to 0 between points of one sign it is
    followed to its stationary place first.

    Parameters
    ----------
    run : neighbouring points
    difference : function of the place and of the working digits that returns a `KnownDigits`
    digits : how many are asked for
    """
    working = max(digits, LEAST) + GUARD
    known = {place: difference(place, working) for place in map(Fraction, run.points)}
    for place in _nearest(known, difference, working):
        known[place] = difference(place, working)
    places = sorted(known)
    apart = [place for place in places if sign_of(known[place])]
    brackets, touches = [], [place for place in places if not sign_of(known[place])]
    for low, high in pairwise(apart):
        if sign_of(known[low]) != sign_of(known[high]):
            place, distance = bracketed_zero(difference, low, high, working)
            brackets.append(Bracket(place, distance, sign_of(known[high]) > 0))
            touches = [touch for touch in touches if not low < touch < high]
    return brackets, [float(place) for place in touches]


def _nearest(known: dict[Fraction, Any], difference: Function, digits: int) -> Sequence[Fraction]:
    """Return the stationary places beside points where |difference| is smaller than at both neighbours."""
    places = sorted(known)
    found = []
    for before, place, after in zip(places, places[1:], places[2:], strict=False):
        signs = {sign_of(known[x]) for x in (before, place, after)}
        size = abs(known[place])
        if len(signs) == 1 and signs != {0} and size <= min(abs(known[before]), abs(known[after])):
            stationary = stationary_place(difference, place, after - before, digits)
            if before < stationary < after:
                found.append(stationary)
    return found
