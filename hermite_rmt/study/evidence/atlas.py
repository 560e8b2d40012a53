"""The claims atlas: every claim by its letter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hermite_rmt.study.evidence.alignment import aligned_weights, misaligned_weights, over_parametrised
from hermite_rmt.study.evidence.claims import Claim, Verdict
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

DOCUMENTED: Mapping[str, Verdict] = {
    letter: Verdict.HOLDS if letter == "d" else Verdict.CONDITIONAL for letter in ATLAS
}
