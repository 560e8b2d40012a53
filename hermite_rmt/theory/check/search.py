"""The search for counterexamples: exact points, both sides to many digits, twice before a claim is false."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.numbers import KnownDigits
from hermite_rmt.core.solution import SolveError
from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.subject import Domain, RejectedPointError, Subject
from hermite_rmt.theory.check.verdict import Counterexample

GUARD = 12
TRIES = 12  # draws for each point wanted
STABLE = 5  # digits to which a difference must agree at two precisions to be one
NARROWEST, STEPS = 3, 15  # points of smallest margin from which to descend, for inequalities, and how far


@dataclass
class Found:
    """What a search found.

    Attributes
    ----------
    points : points where the claim held
    ties : of them, those where a strict inequality was an equality to all digits
    undefined : points where a side had no real value
    unsolved : points where the system could not be solved
    """

    points: int = 0
    ties: int = 0
    undefined: int = 0
    unsolved: int = 0
    counterexample: Counterexample | None = None


class Search:
    """One claim, compared at points of its domain."""

    def __init__(self, subject: Subject, claim: Claim, domain: Domain, digits: int, seed: int) -> None:
        self.subject, self.claim, self.domain, self.digits = subject, claim, domain, digits
        self.random = random.Random(seed)
        fixed = dict(domain.fixed)
        needed = claim.left.free_symbols | claim.right.free_symbols
        self.symbols = sorted(needed, key=str)
        terms = sympy.Add.make_args(claim.left) + sympy.Add.make_args(claim.right)
        self.kernel = Kernel(self.symbols, [claim.left, claim.right, *terms])
        self.fixed = fixed
        self.found = Found()
        self.margins: list[tuple[float, Mapping[Any, Any]]] = []

    def run(self, points: int, equality: Callable[[Mapping[Any, Any]], bool]) -> Found:
        """Compare at `points` points; `equality` says whether both sides are proved equal at a point."""
        for number, point in enumerate(self._points(points)):
            self._compare(point, equality)
            if self.found.counterexample or number + 1 >= TRIES * points:
                break
            if self.found.points >= points:
                break
        if not self.claim.is_equality and not self.found.counterexample:
            self._descend(equality)
        return self.found

    def _points(self, points: int) -> Iterator[Mapping[Any, Any]]:
        for number in range(TRIES * points):
            try:
                point = self.subject.completed(self.subject.draw(self.random, number, self.fixed), self.fixed)
            except RejectedPointError:
                continue
            if self.domain.admits(point):
                yield point

    def _descend(self, equality: Callable[[Mapping[Any, Any]], bool]) -> None:
        """Move from the points of smallest margin by random steps that lower it, until it is negative or they end."""
        for margin, point in sorted(self.margins, key=lambda entry: entry[0])[:NARROWEST]:
            best, here = margin, point
            for _ in range(STEPS):
                moved = self._moved(here)
                if moved is None:
                    continue
                self._compare(moved, equality)
                if self.found.counterexample:
                    return
                if self.margins[-1][1] is moved and self.margins[-1][0] < best:
                    best, here = self.margins[-1]

    def _moved(self, point: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
        """Return a neighbour in the domain: about half of the parameters changed by factors, sometimes negative."""
        moved = dict(point)
        for symbol, value in point.items():
            if self.random.random() < 0.5:
                sign = -1 if self.random.random() < 0.1 else 1
                moved[symbol] = value * sympy.Rational(sign * self.random.choice((3, 6, 8, 9, 11, 13, 17, 30)), 10)
        try:
            moved = self.subject.completed(moved, self.fixed)
        except RejectedPointError:
            return None
        return moved if self.domain.admits(moved) else None

    def _sides(self, point: Mapping[Any, Any], digits: int) -> tuple[Any, Any, Any] | None:
        """Return left, right and the size of their terms, or None where they are not real numbers."""
        precision = bits(digits + GUARD)
        try:
            values = self.subject.values(point, set(self.symbols), digits)
        except SolveError:
            self.found.unsolved += 1
            return None
        try:
            left, right, *terms = self.kernel.multiprecision(precision)(*(values[s] for s in self.symbols))
        except (ZeroDivisionError, ValueError, OverflowError):
            self.found.undefined += 1
            return None
        context = local_context(precision)
        if not all(context.isfinite(side) and not getattr(side, "imag", 0) for side in (left, right)):
            self.found.undefined += 1
            return None
        return left, right, context.fsum(abs(term) for term in terms)

    def _compare(self, point: Mapping[Any, Any], equality: Callable[[Mapping[Any, Any]], bool]) -> None:
        sides = self._sides(point, self.digits)
        if sides is None:
            return
        left, right, scale = sides
        excess = left - right if self.claim.relation in ("=", ">", ">=") else right - left
        tolerance = scale * local_context(64).mpf(10) ** -self.digits
        if abs(excess) <= tolerance:
            tie = self.claim.is_strict
            if tie and equality(point):
                self._refute(point, left, right)
                return
            self.found.points += 1
            self.found.ties += tie
        elif excess > 0 and not self.claim.is_equality:
            self.found.points += 1
            self.margins.append((float(excess / scale), point))
        else:
            self._confirm(point, excess)

    def _confirm(self, point: Mapping[Any, Any], excess: Any) -> None:
        """Call it false only if the difference is the same at twice the digits."""
        sides = self._sides(point, 2 * self.digits)
        if sides is None:
            return
        left, right, scale = sides
        again = left - right if self.claim.relation in ("=", ">", ">=") else right - left
        if abs(again - excess) <= abs(again) * local_context(64).mpf(10) ** -STABLE:
            self._refute(point, left, right)
        elif abs(again) <= scale * local_context(64).mpf(10) ** -self.digits:
            self.found.points += 1
        else:
            self.found.undefined += 1

    def _refute(self, point: Mapping[Any, Any], left: Any, right: Any) -> None:
        shown = (KnownDigits.of(side, self.digits) if hasattr(side, "_mpf_") else side for side in (left, right))
        self.found.counterexample = Counterexample(point, *shown)
