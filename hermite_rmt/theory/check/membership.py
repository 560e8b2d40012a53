"""Combinations of equations, by linear algebra over their multiples: modulo a prime first, then exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from hermite_rmt.equivalents.modular import PRIME, NoResidueError, RandomPoint
from hermite_rmt.equivalents.polynomials import PolynomialSystem
from hermite_rmt.theory.check.exact import NotExactError

MOST_ROWS = 700  # multiples of equations in one attempt
MOST_EXACT = 16  # multiples in a combination that is still solved for exactly
EXTRA_DEGREES = 2
LARGEST = 4000  # terms of a claim

Polynomial = Any


@dataclass(frozen=True)
class Ratio:
    """A quotient of polynomials in the unknowns, never reduced."""

    numerator: Polynomial
    denominator: Polynomial

    def __add__(self, other: Ratio) -> Ratio:
        if self.denominator == other.denominator:
            return Ratio(self.numerator + other.numerator, self.denominator)
        return Ratio(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio(self.numerator * other.numerator, self.denominator * other.denominator)

    def to_the(self, exponent: int) -> Ratio:
        """Return a power; a negative one of zero is refused."""
        if exponent >= 0:
            return Ratio(self.numerator**exponent, self.denominator**exponent)
        if not self.numerator:
            raise NotExactError("a division by an expression that vanishes on the branch")
        return Ratio(self.denominator**-exponent, self.numerator**-exponent)


def numerator_of(expression: Any, system: PolynomialSystem, observables: Mapping[Any, Any]) -> Polynomial:
    """Return the numerator of an expression in unknowns, parameters and observables, as an element of the ring.

    Raises
    ------
    NotExactError
        For functions and roots, and for sizes that no combination will be found for.
    """
    ring = system.ring
    unknowns = set(ring.symbols)

    def read(part: Any) -> Ratio:
        if part in observables:
            return read(observables[part])
        if part.is_Symbol and part in unknowns:
            return Ratio(system.generator(part), ring.one)
        if not part.has(*unknowns, *observables):
            try:
                return Ratio(ring.one * system.field.element(part), ring.one)
            except (ValueError, TypeError, sympy.PolynomialError, sympy.polys.polyerrors.CoercionFailed) as reason:
                raise NotExactError(f"{part} is no rational function of the parameters") from reason
        if part.is_Pow and part.exp.is_Integer:
            result = read(part.base).to_the(int(part.exp))
        elif part.is_Add or part.is_Mul:
            result = read(part.args[0])
            for other in part.args[1:]:
                result = result + read(other) if part.is_Add else result * read(other)
        else:
            raise NotExactError(f"{part} is no rational function")
        if len(result.numerator) + len(result.denominator) > LARGEST:
            raise NotExactError("the claim is too large for an exact expansion")
        return result

    return read(expression).numerator


def combination(target: Polynomial, system: PolynomialSystem) -> tuple[str, bool]:
    """Return (argument, True) if the target is a combination of the equations, else (what is known, False).

    The combination is found modulo a prime at random parameters, which tells the multiples that occur in it; their
    coefficients are then solved for exactly over the field of the parameters and multiplied out.
    """
    if not target:
        return "an identity, after the substitutions of the reduction (equal unknowns and Ward identities)", True
    if len(system.unknowns) == 1 and len(system.polynomials) == 1:
        if not target.rem(system.polynomials[0]):
            return f"a multiple of the equation {system.cleared(system.polynomials[0])} = 0", True
        return "", False
    degree = max(map(sum, target.monoms()))
    for extra in range(EXTRA_DEGREES + 1):
        rows = list(itertools.islice(_multiples(system, degree + extra), MOST_ROWS + 1))
        if not rows or len(rows) > MOST_ROWS:
            break
        used = _modular(target, rows, system)
        if used is None:
            continue
        if len(used) > MOST_EXACT:
            return (
                f"a combination of {len(used)} multiples of equations modulo a prime, too large to be made exact",
                False,
            )
        count = _exact(target, [rows[k] for k in used], system)
        if count:
            return f"a combination of {count} multiples of the equations, multiplied out exactly", True
    return "", False


def _multiples(system: PolynomialSystem, degree: int) -> Iterator[Polynomial]:
    places = [system.ring.symbols.index(unknown) for unknown in system.unknowns]
    for polynomial in system.polynomials:
        room = degree - max(map(sum, polynomial.monoms()))
        for total in range(room + 1):
            for chosen in itertools.combinations_with_replacement(places, total):
                exponents = [chosen.count(place) for place in range(len(system.ring.symbols))]
                yield polynomial.mul_monom(tuple(exponents))


def _modular(target: Polynomial, rows: Sequence[Polynomial], system: PolynomialSystem) -> list[int] | None:
    """Return the rows in the combination at a random point modulo a prime, or None if there is none."""
    point = RandomPoint(1)
    residues: dict[Any, int] = {}

    def residue(value: Any) -> int:
        if value not in residues:
            residues[value] = point(system.field.expression(value))
        return residues[value]

    try:
        vectors = [{m: residue(v) for m, v in row.terms()} for row in (*rows, target)]
    except NoResidueError:
        return None
    basis: dict[Any, tuple[dict[Any, int], dict[int, int]]] = {}  # pivot -> reduced row, its combination
    for number, vector in enumerate(vectors):
        history = {number: 1}
        _reduce(vector, history, basis)
        if not vector:
            if number == len(rows):
                return sorted(k for k in history if k != number)
            continue
        if number == len(rows):
            return None
        pivot = max(vector)
        scale = pow(vector[pivot], -1, PRIME)
        basis[pivot] = (
            {m: v * scale % PRIME for m, v in vector.items()},
            {k: v * scale % PRIME for k, v in history.items()},
        )
    return None


def _reduce(
    vector: dict[Any, int], history: dict[int, int], basis: Mapping[Any, tuple[dict[Any, int], dict[int, int]]]
) -> None:
    """Subtract basis rows until no pivot is left; both mappings are changed in place."""
    while True:
        pivot = max((m for m in vector if m in basis), default=None)
        if pivot is None:
            return
        factor = vector[pivot]
        for into, other in zip((vector, history), basis[pivot], strict=True):
            for key, value in other.items():
                rest = (into.get(key, 0) - factor * value) % PRIME
                if rest:
                    into[key] = rest
                else:
                    into.pop(key, None)


def _exact(target: Polynomial, rows: Sequence[Polynomial], system: PolynomialSystem) -> int:
    """Return the number of rows in an exact combination, 0 if there is none; the combination is multiplied out."""
    monomials = sorted({m for p in (*rows, target) for m in p.monoms()})
    columns = [*rows, target]
    entries = {i: {j: column[m] for j, column in enumerate(columns) if m in column} for i, m in enumerate(monomials)}
    reduced, pivots = DomainMatrix(entries, (len(monomials), len(columns)), system.field.domain).rref()
    if len(rows) in pivots:
        return 0
    last = reduced.to_sdm()
    weights = {pivot: last.get(k, {}).get(len(rows), system.field.domain.zero) for k, pivot in enumerate(pivots)}
    total = system.ring.zero
    for pivot, weight in weights.items():
        total += rows[pivot] * weight
    return sum(bool(weight) for weight in weights.values()) if total == target else 0
