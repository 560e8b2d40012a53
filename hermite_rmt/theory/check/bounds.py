"""Inequalities from known ones: sums of products of nonnegative quantities (Handelman, Schmuedgen)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.subject import Domain

MOST_PRODUCTS = 1500
SMALLEST = 1e-9  # weights below it, of the linear program, are taken as zero


@dataclass(frozen=True)
class Fact:
    """An expression known to be nonnegative on the branch, or positive if `strict`, and why."""

    expression: Any
    strict: bool
    reason: str


def prove_inequality(claim: Claim, domain: Domain, facts: Sequence[Fact], positive: Sequence[Any]) -> str | None:
    """Return a certificate that the excess of a claim is a nonnegative combination of products of facts, or None.

    The weights are found by a linear program in doubles, then solved for exactly and checked by expansion.

    Parameters
    ----------
    claim, domain : the inequality, and where it is claimed
    facts : what is known on the branch
    positive : symbols that are positive
    """
    fixed = dict(domain.fixed)
    numerator, denominator = sympy.fraction(sympy.together(claim.excess.xreplace(fixed)))
    known_positive = {s for s in positive if s not in fixed} | {f.expression for f in facts if f.strict}
    if not _is_positive(denominator, known_positive):
        return None
    symbols = sorted(numerator.free_symbols, key=str)
    if not symbols or not numerator.is_polynomial(*symbols):
        return None
    relevant = [*_relevant(claim, domain, facts, symbols)]
    relevant += [Fact(s, True, f"{s} > 0") for s in symbols if s in known_positive and s in positive]
    products = list(itertools.islice(_products(relevant), MOST_PRODUCTS))
    target = sympy.Poly(numerator, *symbols)
    columns = [sympy.Poly(product, *symbols) for product, *_ in products]
    strict = [is_strict for _, is_strict, _ in products]
    weights = _weights(target, columns, strict)
    if weights is None or (claim.is_strict and not any(strict[k] and value > 0 for k, value in weights.items())):
        return None
    used = list(dict.fromkeys(fact.reason for k in weights for fact in products[k][2]))
    shown = " + ".join(f"{weight}*({sympy.factor(products[k][0])})" for k, weight in weights.items())
    return f"the difference{' times a positive number' if denominator != 1 else ''} is {shown}; {'; '.join(used)}"


def _relevant(claim: Claim, domain: Domain, facts: Sequence[Fact], symbols: Sequence[Any]) -> Iterator[Fact]:
    fixed = dict(domain.fixed)
    given = [Fact(c.excess, c.is_strict, str(c)) for c in domain.conditions if not c.is_equality]
    for fact in (*given, *facts):
        expression = sympy.expand(fact.expression.xreplace(fixed))
        if expression.free_symbols and expression.free_symbols <= set(symbols):
            yield Fact(expression, fact.strict, fact.reason)


def _is_positive(denominator: Any, known: set[Any]) -> bool:
    """Whether every factor is a positive number, a positive symbol or an even power."""
    for factor in sympy.Mul.make_args(sympy.factor(denominator)):
        base, exponent = factor.as_base_exp()
        if not (base in known or base.is_positive or (exponent.is_Integer and exponent % 2 == 0)):
            return False
    return True


def _products(facts: Sequence[Fact]) -> Iterator[tuple[Any, bool, tuple[Fact, ...]]]:
    """Products of up to three facts, and squares of the symbols in them."""
    yield sympy.S.One, True, ()
    for count in (1, 2, 3):
        for chosen in itertools.combinations_with_replacement(facts, count):
            yield sympy.expand(sympy.Mul(*(f.expression for f in chosen))), all(f.strict for f in chosen), chosen
    for symbol in sorted({s for f in facts for s in f.expression.free_symbols}, key=str):
        yield symbol**2, False, ()


def _weights(target: Any, columns: Sequence[Any], strict: Sequence[bool]) -> dict[int, Any] | None:
    """Return {column: exact positive weight} with target = sum of weight times column, or None."""
    from scipy.optimize import linprog

    monomials = sorted({m for poly in (target, *columns) for m in poly.monoms()})
    row = {monomial: k for k, monomial in enumerate(monomials)}
    matrix = np.zeros((len(monomials), len(columns)))
    for j, column in enumerate(columns):
        for monomial, value in column.terms():
            matrix[row[monomial], j] = float(value)
    right = np.zeros(len(monomials))
    for monomial, value in target.terms():
        right[row[monomial]] = float(value)
    for cost in (np.where(strict, -1.0, 1.0), np.ones(len(columns))):
        result = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, 1e4), method="highs-ds")
        if result.status != 0 or result.x is None:
            continue
        support = [j for j in range(len(columns)) if result.x[j] > SMALLEST]
        exact = _exact_weights(target, columns, support, result.x)
        if exact is not None:
            return exact
    return None


def _exact_weights(
    target: Any, columns: Sequence[Any], support: Sequence[int], guess: np.ndarray
) -> dict[int, Any] | None:
    weights = {j: sympy.Rational(float(guess[j])).limit_denominator(1000) for j in support}
    total = sum((columns[j] * weight for j, weight in weights.items()), sympy.Poly(0, *target.gens))
    return weights if (total - target).is_zero else None
