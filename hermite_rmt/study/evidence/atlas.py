"""The claims atlas: every claim by its letter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hermite_rmt.study.evidence.alignment import aligned_weights, misaligned_weights, over_parametrised
from hermite_rmt.study.evidence.claims import Claim, Verdict, verdict_of
from hermite_rmt.study.evidence.linearity import best_linear_part, linear_part_decides
from hermite_rmt.study.evidence.noise import noise

ATLAS: Mapping[str, Callable[[], Claim]] = {
    "a": noise,
    "b": aligned_weights,
    "c": over_parametrised,
    "d": linear_part_decides,
    "e": best_linear_part,
    "f": misaligned_weights,
}


@dataclass(frozen=True)
class Documented:
    """What docs/evidence/claims.md says about a claim: which of its parts hold, in their order."""

    parts: tuple[bool, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the parts."""
        return verdict_of(self.parts)


# the page is checked against this table, and this table against the studies
DOCUMENTED: Mapping[str, Documented] = {
    "a": Documented((False, True, True, False, True)),
    "b": Documented((False, True, True, False)),
    "c": Documented((False, True, False)),
    "d": Documented((True, False, True, False, True)),
    "e": Documented((False, False, False, True, True, True, True)),
    "f": Documented((False, True, True, False)),
}


def differences(claim: Claim) -> list[str]:
    """Say where a claim's study comes to something else than is documented.

    >>> differences(ATLAS["c"]())
    []
    """
    documented = DOCUMENTED[claim.letter].parts
    if len(claim.parts) != len(documented):
        return [f"claim {claim.letter}: {len(claim.parts)} parts, documented are {len(documented)}"]
    return [
        f"claim {claim.letter}, {part.statement}: {_outcome(part.holds)}, documented is that it {_outcome(holds)}"
        for part, holds in zip(claim.parts, documented, strict=True)
        if part.holds != holds
    ]


def _outcome(holds: bool) -> str:
    return "holds" if holds else "fails"
