"""check: whether an equation or inequality holds on the solution branch of a system, with the level of certainty."""

from hermite_rmt.theory.check.checker import check
from hermite_rmt.theory.check.verdict import Counterexample, Level, Verdict

__all__ = ["Counterexample", "Level", "Verdict", "check"]
