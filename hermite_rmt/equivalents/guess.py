"""The polynomial relation of a power series: P(m, w) = 0 from the series m(w) modulo primes (Hermite-Pade)."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from hermite_rmt.equivalents.modular import null_space

Series = Callable[[int], list[int]]  # number of terms -> coefficients modulo the prime
Exponents = tuple[int, int]  # (power of m, power of w)
WEIGHTS: tuple[Exponents, ...] = ((1, 1), (1, 2))
MARGIN = 12  # terms of the series beyond the number of unknown coefficients: all of them must fit


def powers(series: list[int], highest: int, prime: int) -> list[list[int]]:
    """Return m^0, ..., m^highest, each to the order of the series."""
    length = len(series)
    result = [[1] + [0] * (length - 1)]
    for _ in range(highest):
        last = result[-1]
        result.append([sum(map(int.__mul__, last[: k + 1], series[k::-1])) % prime for k in range(length)])
    return result


def find_support(series: list[int], prime: int) -> list[Exponents] | None:
    """Return the exponents of the minimal polynomial of a series, or None if the series is too short to tell.

    Monomials m^a w^b are tried in the order of a weighted degree. The relations of a series form a principal ideal,
    so the first one in a monomial order is its generator: irreducible, and a factor of every other.
    """
    for weights in WEIGHTS:
        support = _first_relation(series, weights, prime)
        if support is not None:
            return support
    return None


def _first_relation(series: list[int], weights: Exponents, prime: int) -> list[Exponents] | None:
    length = len(series)
    exponents = _ordered(weights, length - MARGIN)
    table = powers(series, max(a for a, _ in exponents), prime)
    rows: list[tuple[int, list[int]]] = []  # (pivot, a column of the matrix reduced by those before)
    columns = []
    for a, b in exponents:
        column = [0] * b + table[a][: length - b]
        columns.append(column)
        for pivot, other in rows:
            if factor := column[pivot]:
                column = [(x - factor * y) % prime for x, y in zip(column, other, strict=True)]
        pivot = next((k for k, entry in enumerate(column) if entry), -1)
        if pivot < 0:
            matrix = [list(entries) for entries in zip(*columns, strict=True)]
            vector = null_space(matrix, len(columns), prime)[0]
            return sorted(exponents[k] for k, value in enumerate(vector) if value)
        scale = pow(column[pivot], -1, prime)
        rows.append((pivot, [entry * scale % prime for entry in column]))
    return None


def _ordered(weights: Exponents, count: int) -> list[Exponents]:
    """Return the first monomials of a weighted degree order (ties by the power of m)."""
    first, second = weights
    found: list[Exponents] = []
    degree = 0
    while len(found) < count:
        for a in range(degree // first + 1):
            if (degree - a * first) % second == 0 and a < count and (degree - a * first) // second < count:
                found.append((a, (degree - a * first) // second))
        degree += 1
    return found[:count]


def coefficients(series: list[int], support: list[Exponents], prime: int) -> list[int] | None:
    """Return the coefficients on a known support, the last one 1; None if the relation is not unique."""
    table = powers(series, max(a for a, _ in support), prime)
    columns = [[0] * b + table[a][: len(series) - b] for a, b in support]
    basis = null_space([list(row) for row in zip(*columns, strict=True)], len(support), prime)
    if len(basis) != 1 or not basis[0][-1]:
        return None
    scale = pow(basis[0][-1], -1, prime)
    return [value * scale % prime for value in basis[0]]


def rational(value: int, prime: int) -> tuple[int, int] | None:
    """Return the fraction of small numerator and denominator congruent to a residue, or None.

    >>> rational(pow(7, -1, 10**9 + 7) * 3, 10**9 + 7)
    (3, 7)
    """
    bound = isqrt(prime // 2)
    old, new, old_cofactor, cofactor = prime, value % prime, 0, 1
    while new > bound:
        quotient = old // new
        old, new = new, old - quotient * new
        old_cofactor, cofactor = cofactor, old_cofactor - quotient * cofactor
    if cofactor == 0 or abs(cofactor) > bound:
        return None
    return (new, cofactor) if cofactor > 0 else (-new, -cofactor)
