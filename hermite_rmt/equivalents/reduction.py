"""From the matrix Dyson equation to a small polynomial system, in named passes that print themselves.

The order: the zero pattern and self-adjointness first, since they cost nothing and everything after is smaller;
then equal unknowns, which need the full map; then Ward identities, linear and exact, before any product is formed;
then products, cleared of denominators, and linear algebra between the equations; elimination last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from hermite_rmt.equivalents.dyson import BRANCH, CITATIONS, Dyson
from hermite_rmt.equivalents.fields import ParameterField
from hermite_rmt.equivalents.merging import equal_unknowns
from hermite_rmt.equivalents.polynomials import Polynomial, PolynomialSystem
from hermite_rmt.equivalents.system import EquationSystem
from hermite_rmt.equivalents.ward import ward_identities

LARGEST_SUBSTITUTE = 8  # terms of an expression that may replace an unknown
SHORT = 16  # terms of a system that may grow to this length


@dataclass(frozen=True, repr=False)
class Step:
    """One pass: its name, why it stands where it does, and what was left after it."""

    name: str
    reason: str
    unknowns: int
    equations: tuple[Any, ...] = ()
    relations: tuple[tuple[Any, Any], ...] = ()

    def operations(self) -> int:
        """Return the number of operations in the equations after the pass."""
        replacements, reduced = sympy.cse(self.equations)
        return int(sum(sympy.count_ops(e) for e in (*(value for _, value in replacements), *reduced)))

    def latex(self) -> str:
        """Return what the pass did and what it left, as LaTeX lines."""
        lines = [f"{sympy.latex(left)} = {sympy.latex(right)}" for left, right in self.relations]
        lines += [f"{sympy.latex(equation)} = 0" for equation in self.equations]
        return " \\\\\n".join(lines)

    def __repr__(self) -> str:
        return f"<Step {self.name}: {self.unknowns} unknowns>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle \\begin{{gathered}} \\text{{{self.name}}} \\\\ {self.latex()} \\end{{gathered}}$"

    def __str__(self) -> str:
        head = f"{self.name}: {self.unknowns} unknowns"
        if self.equations:
            head += f", {len(self.equations)} equations, {self.operations()} operations"
        lines = [f"{head}\n  ({self.reason})"]
        lines += [f"  {left} = {right}" for left, right in self.relations]
        lines += [f"  {equation} = 0" for equation in self.equations]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Reduction:
    """The passes that led from a Dyson equation to a small system.

    Attributes
    ----------
    steps : tuple of Step
    polynomials : the last system, over the field of the parameters
    trace : the limiting normalised trace, a polynomial in the remaining unknowns
    system : the same as an `EquationSystem`
    """

    steps: tuple[Step, ...]
    polynomials: PolynomialSystem
    trace: Polynomial
    system: EquationSystem

    def latex(self) -> str:
        """Return all passes as LaTeX."""
        return " \\\\[1ex]\n".join(f"\\text{{{step.name}}} \\\\\n{step.latex()}" for step in self.steps)

    def __repr__(self) -> str:
        return f"<Reduction: {' -> '.join(str(step.unknowns) for step in self.steps)} unknowns>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle \\begin{{gathered}} {self.latex()} \\end{{gathered}}$"

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))


def reduce_dyson(dyson: Dyson, deeply: bool = False) -> Reduction:
    """Run the passes.

    Parameters
    ----------
    dyson : the equation
    deeply : also express unknowns by others where a combination of equations allows it (polynomials of higher degree)
    """
    steps = list(_structure(dyson))
    merged = equal_unknowns(dyson)
    if merged:
        kept = [u for u in dyson.unknowns if u not in merged]
        reason = "invariant under the Dyson map: found in exact iterates, proved at a generic point of the pattern"
        steps.append(Step("equal unknowns", reason, len(kept), (), tuple(merged.items())))
    field = _field(dyson)
    system = PolynomialSystem.over(dyson.unknowns, field)
    system = system.substitute({u: system.affine(image) for u, image in merged.items()})
    identities = _ward(dyson, field, system)
    if identities:
        reason = "L R = 1 and R L = 1 as traces: exact and linear, so before any product"
        system = system.substitute({u: system.affine(image) for u, image in identities.items()})
        steps.append(Step("Ward identities", reason, len(system.unknowns), (), tuple(identities.items())))
    system = _multiplied(dyson, system).normalised().independent()
    reason = "(L_0 - eta(R)) R = 1 in the remaining unknowns, denominators cleared; combinations of others dropped"
    steps.append(_step("equations", reason, system))
    if deeply:
        system, relations = _express(system, _targets(dyson))
        if relations:
            reason = "a combination of equations gives an unknown as a polynomial in the others"
            steps.append(replace(_step("elimination", reason, system), relations=relations))
    trace = _trace(dyson, system)
    return Reduction(tuple(steps), system, trace, _equation_system(dyson, system, trace))


def _structure(dyson: Dyson) -> Sequence[Step]:
    blocks = [len(kind.blocks) for kind in dyson.species]
    whole = sum(size * size for size in blocks)
    support = sum((i, j) in dyson.support for kind in dyson.species for i in kind.blocks for j in kind.blocks)
    sizes = ", ".join(
        f"{size} x {size} on {kind.dimension}" for size, kind in zip(blocks, dyson.species, strict=True)
    )
    steps = [Step("matrix Dyson equation", f"scalar blocks of E L^-1: {sizes}; none between dimensions", whole)]
    if support < whole:
        steps.append(Step("zero pattern", "the smallest set of blocks closed under the Dyson map", support))
    if dyson.pencil.self_adjoint:
        steps.append(Step("self-adjointness", "L is symmetric, so R is", len(dyson.unknowns)))
    return steps


def _field(dyson: Dyson) -> ParameterField:
    pencil = dyson.pencil
    values: list[Any] = [value for _, value in sorted(pencil.constant.items())]
    for group in (pencil.deterministic, pencil.letters):
        values += [value for entries in group.values() for value in entries.values()]
    for kind in dyson.species:
        values += [kind.weight, *kind.eigenvalues.values()]
    values += [factor for *_, factor in dyson.couplings]
    values += [*dyson.ratios.values(), *pencil.output.values(), *pencil.input.values(), pencil.offset]
    return ParameterField(values)


def _targets(dyson: Dyson) -> set[Any]:
    """Return the unknowns in the trace of the expression: kept to the last."""
    return set(dyson.observable().free_symbols) & set(dyson.unknowns)


def _ward(dyson: Dyson, field: ParameterField, system: PolynomialSystem) -> dict[Any, Any]:
    targets = _targets(dyson)
    order = [u for u in reversed(dyson.unknowns) if u not in targets] + [u for u in dyson.unknowns if u in targets]
    kept = [u for u in order if u in system.unknowns]
    merged = {u: system.expression(image) for u, image in system.solved.items()}
    return ward_identities(dyson, field, kept, merged)


def _multiplied(dyson: Dyson, system: PolynomialSystem) -> PolynomialSystem:
    """Return the system with the entries of (L_0 - eta(R)) R - 1 as its polynomials."""
    field, one = system.field, system.ring.one
    traces: dict[tuple[int, int], Polynomial] = {}
    for number, kind in enumerate(dyson.species):
        weight = field.element(kind.weight)
        for i in kind.blocks:
            for j in kind.blocks:
                symbol = dyson.unknown(number, i, j)
                if symbol != 0:
                    traces[i, j] = traces.get((i, j), system.ring.zero) + system.generator(symbol) * weight
    polynomials = []
    for number, kind in enumerate(dyson.species):
        matrix = {pair: one * field.element(value) for pair, value in dyson.constant(number).items()}
        for i, j, k, h, factor in dyson.couplings:
            if i in kind.blocks and (k, h) in traces:
                matrix[i, j] = matrix.get((i, j), system.ring.zero) - traces[k, h] * field.element(factor)
        for i in kind.blocks:
            for j in kind.blocks:
                entry = -one if i == j else system.ring.zero
                for k in kind.blocks:
                    symbol = dyson.unknown(number, k, j)
                    if (i, k) in matrix and symbol != 0:
                        entry += matrix[i, k] * system.generator(symbol)
                polynomials.append(entry)
    return replace(system, polynomials=tuple(p for p in polynomials if p))


def _express(system: PolynomialSystem, targets: set[Any]) -> tuple[PolynomialSystem, tuple[tuple[Any, Any], ...]]:
    """Express unknowns by others as long as the system gets no longer by it."""
    relations: list[tuple[Any, Any]] = []
    while True:
        length = max(sum(map(len, system.polynomials)), SHORT)
        best: tuple[int, Any, Polynomial, PolynomialSystem] | None = None
        for unknown in reversed(system.unknowns):
            if unknown in targets:
                continue
            image = system.combination_for(unknown)
            if image is None or len(image) > LARGEST_SUBSTITUTE or max(map(sum, image.monoms()), default=0) > 2:
                continue
            smaller = system.substitute({unknown: image}).normalised()
            if sum(map(len, smaller.polynomials)) > 3 * length:
                continue
            smaller = smaller.independent()
            size = sum(map(len, smaller.polynomials))
            if size <= length and (best is None or size < best[0]):
                best = (size, unknown, image, smaller)
        if best is None:
            return system, tuple(relations)
        _, unknown, image, system = best
        relations.append((unknown, system.expression(image)))


def _step(name: str, reason: str, system: PolynomialSystem) -> Step:
    return Step(name, reason, len(system.unknowns), tuple(system.cleared(p) for p in system.polynomials))


def _trace(dyson: Dyson, system: PolynomialSystem) -> Polynomial:
    total = system.ring.one * system.field.element(dyson.pencil.offset)
    for i, left in dyson.pencil.output.items():
        for j, right in dyson.pencil.input.items():
            if dyson.pencil.types[i] == dyson.pencil.types[j]:
                total += system.affine(sympy.expand(left * right * dyson.trace(i, j)))
    return total


def _equation_system(dyson: Dyson, system: PolynomialSystem, trace: Polynomial) -> EquationSystem:
    equations = tuple(system.cleared(p) for p in system.polynomials)
    observable = system.expression(trace)
    used = set().union(observable.free_symbols, *(e.free_symbols for e in equations))
    unknowns = tuple(u for u in system.unknowns if u in used)
    whole = dyson.system()
    return EquationSystem(
        unknowns,
        tuple(sorted(used - set(unknowns), key=str)),
        equations,
        BRANCH,
        {"trace": observable},
        {u: whole.meanings[u] for u in unknowns},
        CITATIONS,
    )
