"""Claims about derived systems: any deterministic equivalent, or an EquationSystem with a way to solve it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.solution import Outcome, Solution, SolveError
from hermite_rmt.equivalents.fields import ParameterField
from hermite_rmt.equivalents.polynomials import PolynomialSystem
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.exact import NotExactError
from hermite_rmt.theory.check.membership import combination, numerator_of
from hermite_rmt.theory.check.subject import Domain, RejectedPointError, Subject, positive_rational, real_rational
from hermite_rmt.theory.check.text import plain_name
from hermite_rmt.theory.equivalent import DeterministicEquivalent

Solve = Callable[[Mapping[str, Any], int], Mapping[str, Any]]
TRACE = sympy.Symbol("trace")


class SystemSubject(Subject):
    """An `EquationSystem`: its unknowns, parameters and observables by name.

    Parameters
    ----------
    system : the equations
    solve : (exact parameter values by name, digits) -> unknowns by name; without it nothing is evaluated, and a
        proof is all there can be
    """

    def __init__(self, system: EquationSystem, solve: Solve | None = None) -> None:
        self.title = "the system"
        self.system, self._solve = system, solve
        self.solvable = solve is not None
        self.parameters = system.parameters
        self.observables = {sympy.Symbol(name): value for name, value in system.observables.items()}
        own = {str(s): s for s in (*system.parameters, *system.unknowns)}
        self.symbols = {plain_name(name): s for name, s in {**own, **{str(s): s for s in self.observables}}.items()}

    def draw(self, rng: random.Random, number: int, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a point: positive symbols over two decades, the others of both signs; 1 and 0 now and then."""
        point = {}
        for symbol in self.parameters:
            special = number % 6 == 5 and rng.random() < 0.5
            if symbol.is_positive:
                point[symbol] = sympy.S.One if special else positive_rational(rng, 0.7)
            elif symbol.is_nonnegative:
                point[symbol] = sympy.S.Zero if special else positive_rational(rng, 0.7)
            else:
                point[symbol] = (
                    rng.choice((-1, 1)) * positive_rational(rng, 0.7) if number % 2 else real_rational(rng)
                )
        return point

    def completed(self, point: Mapping[Any, Any], fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the point with the fixed values put in, where they obey the symbols' assumptions."""
        point = self.with_fixed(point, fixed)
        for symbol, value in point.items():
            if (symbol.is_positive and not value > 0) or (symbol.is_nonnegative and value < 0):
                raise RejectedPointError(f"{symbol} = {value} is against its assumptions")
        return point

    def values(self, point: Mapping[Any, Any], needed: set[Any], digits: int) -> dict[Any, Any]:
        """Return parameters, unknowns and observables."""
        precision = digits + 10
        context = local_context(bits(precision))
        found = {symbol: context.mpf(int(value.p)) / int(value.q) for symbol, value in point.items()}
        solved = self._unknowns(point, precision)
        found |= {self.symbols[plain_name(name)]: context.convert(value) for name, value in solved.items()}
        for symbol in needed & set(self.observables):
            value = self.observables[symbol]
            arguments = sorted(value.free_symbols, key=str)
            (found[symbol],) = Kernel(arguments, [value]).multiprecision(context.prec)(*(found[s] for s in arguments))
        return found

    def _unknowns(self, point: Mapping[Any, Any], digits: int) -> Mapping[str, Any]:
        assert self._solve is not None  # asked only where it can be answered
        return self._solve({str(symbol): value for symbol, value in point.items()}, digits)

    def prove(self, claim: Claim, domain: Domain) -> str | None:
        """Return how an equality follows from the equations, for all their solutions."""
        if not claim.is_equality:
            return None
        fixed = dict(domain.fixed)
        excess = claim.excess.xreplace(fixed)
        try:
            system = self._polynomials(fixed, excess)
            how, found = combination(numerator_of(excess, system, self._images(fixed)), system)
        except NotExactError:
            return None
        return f"for every solution of the equations: {how}" if found else None

    def _images(self, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return what observables are, and unknowns that the reduction has expressed by others."""
        return {symbol: value.xreplace(fixed) for symbol, value in self.observables.items()}

    def _polynomials(self, fixed: Mapping[Any, Any], excess: Any) -> PolynomialSystem:
        system = self.system.substitute(fixed)
        polynomials = [sympy.Poly(sympy.numer(sympy.together(r)), *system.unknowns) for r in system.residuals]
        values = [value for p in polynomials for value in p.coeffs()]
        values += [*system.parameters, *(p for p in excess.atoms(sympy.Pow) if p.base in system.parameters)]
        values += [
            *(
                a
                for image in self._images(fixed).values()
                for a in image.atoms(sympy.Pow)
                if a.base in system.parameters
            )
        ]
        empty = PolynomialSystem.over(system.unknowns, ParameterField(values))
        elements = [
            empty.ring.from_dict({m: empty.field.element(value) for m, value in p.terms()}) for p in polynomials
        ]
        return replace(empty, polynomials=tuple(p for p in elements if p))


class EngineSubject(SystemSubject):
    """A `DeterministicEquivalent`: the unknowns of its Dyson equation, its parameters, and `trace` (or `m`)."""

    def __init__(self, equivalent: DeterministicEquivalent) -> None:
        reduction = equivalent.reduction
        super().__init__(reduction.system)
        self.title = "the derived system"
        self.parameters = equivalent.parameters
        self._equivalent, self.solvable = equivalent, True
        reduced = reduction.polynomials
        self._solved = {unknown: reduced.expression(image) for unknown, image in reduced.solved.items()}
        names = {plain_name(str(unknown)): unknown for unknown in (*self.parameters, *equivalent.dyson.unknowns)}
        self.symbols = {**names, "m": TRACE, **self.symbols}

    def _images(self, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        return super()._images(fixed) | {unknown: value.xreplace(fixed) for unknown, value in self._solved.items()}

    def _unknowns(self, point: Mapping[Any, Any], digits: int) -> Mapping[str, Any]:
        solution = self._equivalent.solve(dict(point), digits=digits + 5)
        if len(solution.values) == 1:
            failed = Solution({}, None, Outcome.OUT_OF_RANGE, digits)
            raise SolveError(f"{solution.notes[-1]}", failed)
        context = local_context(bits(digits + 5))
        return {name: context.convert(value) for name, value in solution.values.items() if name != "trace"}
