"""Crossings of two error curves, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermite_rmt.core.solution import html_table

SHOWN = 6  # places in a sentence


@dataclass(frozen=True)
class Crossing:
    """Where two curves have one error; `rising` says that the first has the larger error just above `value`."""

    value: Any
    error: Any
    rising: bool

    def _repr_html_(self) -> str:
        return html_table({name: str(value) for name, value in vars(self).items()})


class Crossings(list[Crossing]):
    """Crossings in increasing order, and what is known about them.

    Each is a change of sign: seen in double precision at both sides, or with ``digits=`` computed with an error bound
    a hundredth of the last digit to both sides. That none is missed is proved with ``certified=True``, else checked:
    see `known`.

    Attributes
    ----------
    touches : list of float
        Where the curves come together to rounding without a change of sign between two points of the scan: tangent
        to each other, two crossings closer than double precision tells apart, or one curve over an interval. With
        ``digits=`` they are decided again in digits; what is left is together to that many.
    spacing : float
        Largest distance of two points of the scan (of their logarithms along c and gamma); 0 without a scan.
    proved : bool
        Whether it is proved that these are all crossings between the ends of the range, each a single one.
    unresolved : list of (float, float)
        With ``certified=True`` the intervals of which nothing is proved: around touches.
    equal : str
        How it is known that the curves are one all over the range; empty where they are not, or it is not known.
    digits : int or None
        To how many digits `touches` are decided; None for double precision.
    """

    def __init__(
        self,
        found: Sequence[Crossing],
        touches: Sequence[float] = (),
        spacing: float = 0.0,
        unresolved: Sequence[tuple[float, float]] | None = None,
        equal: str = "",
        digits: int | None = None,
    ) -> None:
        super().__init__(found)
        self.touches = list(touches)
        self.spacing = spacing
        self.proved = unresolved is not None and not unresolved
        self.unresolved = list(unresolved or ())
        self.equal = equal
        self.digits = digits

    @property
    def known(self) -> str:
        """What is known, in a sentence."""
        if self.equal:
            return f"the curves are equal: {self.equal}"
        if self.proved:
            return f"proved: {len(self)} crossing{'' if len(self) == 1 else 's'} and no other"
        if self.unresolved:
            places = _listed([f"[{low:.12g}, {high:.12g}]" for low, high in self.unresolved])
            found = f"{len(self)} crossing{'' if len(self) == 1 else 's'} and no other outside {places}"
            return f"proved: {found}, where the curves are equal or too close to tell"
        changes = f"{len(self)} change{'' if len(self) == 1 else 's'} of sign"
        sentence = f"{changes}; between them none was seen by a scan of spacing {self.spacing:.2g}"
        if self.touches:
            places = _listed([f"{value:.6g}" for value in self.touches])
            if self.digits is None:
                return f"{sentence}; in double precision the curves touch, or are one to rounding, at {places}"
            return f"{sentence}; to {self.digits} digits the curves touch, or are one, at {places}"
        return f"{sentence}, nor a touch"


def _listed(places: Sequence[str]) -> str:
    """Return places in a row, of many the first and the last."""
    if len(places) <= SHOWN:
        return ", ".join(places)
    return f"{len(places)} places from {places[0]} to {places[-1]}"
