"""What a claim can be about: names, points of the parameter domain, values on the branch, exact arguments."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from hermite_rmt.core.numbers import read_real
from hermite_rmt.theory.check.claims import Claim, read_claims
from hermite_rmt.theory.check.text import plain_name, read_text


class RejectedPointError(ValueError):
    """A drawn point is outside the domain of the claim; another is drawn."""


@dataclass(frozen=True)
class Domain:
    """The part of the parameter space a claim is about.

    Attributes
    ----------
    fixed : {parameter: exact value or expression in other parameters}
    conditions : relations between parameters
    """

    fixed: Mapping[Any, Any] = field(default_factory=dict)
    conditions: tuple[Claim, ...] = ()

    def admits(self, point: Mapping[Any, Any]) -> bool:
        """Whether every condition holds at exact parameter values."""
        return all(_holds(claim, point) for claim in self.conditions)

    def __str__(self) -> str:
        parts = [f"{symbol} = {value}" for symbol, value in self.fixed.items()]
        return ", ".join([*parts, *map(str, self.conditions)])


def _holds(claim: Claim, point: Mapping[Any, Any]) -> bool:
    excess = claim.excess.subs(point)
    if not excess.is_number:
        raise ValueError(f"where: got {claim}; allowed: conditions on parameters ({', '.join(map(str, point))})")
    if claim.is_equality:
        return bool(excess == 0)
    return bool(excess > 0) if claim.is_strict else bool(excess >= 0)


class Subject(ABC):
    """A system with its branch, ready to be compared with claims.

    Attributes
    ----------
    title : what it is, for messages
    solvable : whether the branch can be evaluated
    parameters : symbols that get exact values at a point
    symbols : {plain name: symbol, or expression in symbols} of everything a claim may hold
    """

    solvable = True
    title: str
    parameters: tuple[Any, ...]
    symbols: Mapping[str, Any]

    @abstractmethod
    def draw(self, rng: random.Random, number: int, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return exact values for the parameters: the `number`-th point, special strata among them.

        Raises
        ------
        RejectedPointError
            If the point is outside the domain; another one is drawn.
        """

    @abstractmethod
    def completed(self, point: Mapping[Any, Any], fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the point with the fixed values put in.

        Raises
        ------
        RejectedPointError
            If it is outside the domain.
        """

    def with_fixed(self, point: Mapping[Any, Any], fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the point with fixed values in place; values may be expressions in other parameters."""
        found = {**point, **fixed}
        for _ in fixed:
            found = {symbol: sympy.sympify(value).xreplace(found) for symbol, value in found.items()}
        if not all(value.is_Rational for value in found.values()):
            raise ValueError(
                f"where: got {Domain(fixed)}; allowed: rational values, or expressions in free parameters"
            )
        return found

    @abstractmethod
    def values(self, point: Mapping[Any, Any], needed: set[Any], digits: int) -> dict[Any, Any]:
        """Return numbers for the `needed` symbols on the branch, to `digits` digits.

        Raises
        ------
        SolveError
            If the point could not be solved.
        """

    @abstractmethod
    def prove(self, claim: Claim, domain: Domain) -> str | None:
        """Return an exact argument for a claim on the domain, or None."""

    def canonical(self, expression: Any, names: Mapping[str, Any]) -> Any:
        """Return an expression of the user's in this system's symbols.

        Raises
        ------
        ValueError
            For a symbol that has no meaning here.
        """
        expression = sympy.sympify(expression)
        images: dict[Any, Any] = {}
        for derivative in expression.atoms(sympy.Derivative):
            images[derivative] = self._derivative(derivative, names)
        expression = expression.xreplace(images)
        return expression.xreplace({s: self.meaning(s, names) for s in expression.free_symbols})

    def meaning(self, symbol: Any, names: Mapping[str, Any]) -> Any:
        """Return what one symbol of the user's stands for."""
        if symbol in self.own_symbols:
            return symbol
        key = plain_name(str(symbol))
        if key in names:
            return names[key]
        if key not in self.symbols:
            raise ValueError(
                f"claim: got the symbol {symbol}; allowed for {self.title}: {', '.join(sorted(self.symbols))}; "
                "others by names={symbol: name}"
            )
        return self.symbols[key]

    @property
    def own_symbols(self) -> set[Any]:
        """The symbols that need no translation."""
        return set().union(*(sympy.sympify(value).free_symbols for value in self.symbols.values()))

    def _derivative(self, derivative: Any, names: Mapping[str, Any]) -> Any:
        """Return the symbol that stands for the derivative of an observable by gamma."""
        parts = [self.meaning(s, names) for s in (derivative.expr, *derivative.variables) if s.is_Symbol]
        key = f"d{parts[0]}" if len(parts) == 2 and str(parts[1]) == "gamma" else ""
        if key not in self.symbols:
            raise ValueError(f"claim: got {derivative}; allowed: Derivative(q, gamma) and Derivative(m, gamma)")
        return self.symbols[key]

    def read_names(self, names: Mapping[Any, Any] | None) -> dict[str, Any]:
        """Return {plain name of the user's symbol: what it stands for}."""
        read: dict[str, Any] = {}
        for key, value in (names or {}).items():
            if isinstance(value, str):
                if plain_name(value) not in self.symbols:
                    allowed = ", ".join(sorted(self.symbols))
                    raise ValueError(f"names: got {value!r} for {key}; allowed for {self.title}: {allowed}")
                read[plain_name(str(key))] = self.symbols[plain_name(value)]
            else:
                read[plain_name(str(key))] = self.canonical(value, {})
        return read

    def read_claims(self, claim: Any, names: Mapping[str, Any]) -> list[Claim]:
        """Return the single claims, in this system's symbols."""
        known = {key: sympy.Symbol(key) for key in {*self.symbols, *names}}
        return [entry.mapped(lambda side: self.canonical(side, names)) for entry in read_claims(claim, known)]

    def read_domain(self, where: Any, names: Mapping[str, Any]) -> Domain:
        """Return the domain from ``where``: a mapping {parameter: value}, relations, or a list of both."""
        fixed: dict[Any, Any] = {}
        conditions: list[Claim] = []
        for entry in _entries(where):
            if isinstance(entry, tuple):
                symbol = self.meaning(sympy.Symbol(str(entry[0])), names)
                value = entry[1]
                symbol, solved = self._solved_for(symbol, self._value(value, str(symbol), names))
                fixed[symbol] = solved
            else:
                for claim in self.read_claims(entry, names):
                    if claim.is_equality:
                        symbol, value = self._solved_for(claim.left, claim.right)
                        fixed[symbol] = value
                    else:
                        conditions.append(claim)
        return Domain(fixed, tuple(conditions))

    def _value(self, value: Any, name: str, names: Mapping[str, Any]) -> Any:
        """Read a value of `where`: a number, an expression, or text of either."""
        if isinstance(value, str):
            known = {key: sympy.Symbol(key) for key in {*self.symbols, *names}}
            ((value, _, zero),) = read_text(value, known)
            value = value - zero
        elif not isinstance(value, sympy.Basic):
            value = _exact(value, name)
        return self.canonical(value, names)

    def _solved_for(self, meaning: Any, value: Any) -> tuple[Any, Any]:
        """Return (parameter, value) for a condition `meaning = value` on a parameter or a combination of them."""
        for parameter in self.parameters:
            rest = sympy.expand(meaning - parameter)
            if not rest.has(parameter) and rest.free_symbols <= set(self.parameters):
                return parameter, value - rest
        raise ValueError(f"where: got {meaning}; allowed: {', '.join(map(str, self.parameters))}")


def _entries(where: Any) -> Iterator[Any]:
    if where is None:
        return
    if isinstance(where, Mapping):
        yield from where.items()
    elif isinstance(where, Sequence) and not isinstance(where, str):
        for entry in where:
            yield from _entries(entry)
    else:
        yield where


def _exact(value: Any, name: str) -> Any:
    real = read_real(value, name)
    if real.rational is None:
        raise ValueError(f"where: got {value!r} for {name}; allowed: a rational number or a SymPy expression")
    return sympy.Rational(real.rational.numerator, real.rational.denominator)


def positive_rational(rng: random.Random, decades: float = 1.0) -> Any:
    """Return a random positive rational with a short denominator, spread over 10^-decades ... 10^decades."""
    value = 10.0 ** rng.uniform(-decades, decades)
    denominator = rng.randint(7, 60)
    if value < 1:
        return sympy.Rational(denominator, max(denominator + 1, round(denominator / value)))
    return sympy.Rational(round(value * denominator), denominator)


def real_rational(rng: random.Random) -> Any:
    """Return a random rational of either sign, of order 1."""
    return sympy.Rational(rng.choice((-1, 1)) * rng.randint(1, 60), rng.randint(17, 40))
