"""Pencil -> matrix Dyson equation (L_0 - eta(R)) R = 1, split by dimension.

R = E L^-1 in the limit. Its blocks are scalar (times the identity of their dimension), or functions of the
deterministic matrices: one scalar matrix for every atom of a joint spectral law. Blocks between different
dimensions vanish, so each dimension has its own small equation; eta couples them through normalised traces:

    eta(R)_ij = sum A^x_ik A^y_hj cov(x, y) (size of k / base) <R_kh>       over letters x at (i, k), y at (h, j)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import sympy

from hermite_rmt.equivalents.covariance import Couplings, covariance_map
from hermite_rmt.equivalents.pattern import inverse_support
from hermite_rmt.equivalents.pencil import Pencil, Sparse
from hermite_rmt.equivalents.species import species_of
from hermite_rmt.equivalents.system import EquationSystem

# Path parameters of the numerical solution: every covariance times SCALE (0 is deterministic, 1 the model), and
# SHIFT times a direction (a number for each inverse, `Dyson.directions`) added to everything that is inverted.
SCALE = sympy.Dummy("scale", nonnegative=True)
SHIFT = sympy.Dummy("shift", nonnegative=True)
BRANCH = (
    "the solution continued from R = L_0^-1 at vanishing covariance (every covariance times s, s from 0 to 1); "
    "the path is recorded. A bound alone selects nothing; the test of derivations/17_branch.py does, at real points"
)
CITATIONS = (
    "Helton, Rashidi Far, Speicher, Operator-valued semicircular elements (2007), arXiv math/0703510",
    "Helton, Mai, Speicher, Applications of realizations (2018), arXiv 1511.05330",
    "Erdos, The matrix Dyson equation and its applications (2019), arXiv 1903.10060",
)


class Dyson:
    """The Dyson equation of one pencil.

    Parameters
    ----------
    pencil : Pencil
    ratios : each dimension over the base dimension
    avoid : names of symbols the unknowns must not be called
    """

    def __init__(self, pencil: Pencil, ratios: Mapping[Any, Any], avoid: Iterable[str] = ()) -> None:
        self.pencil = pencil
        self.ratios = dict(ratios)
        self.species = species_of(pencil)
        taken = set(avoid)
        self._symbols: dict[tuple[int, int, int], Any] = {}
        for number, kind in enumerate(self.species):
            for a, i in enumerate(kind.blocks):
                for b, j in enumerate(kind.blocks):
                    if (i, j) not in self.support:
                        continue
                    if pencil.self_adjoint and a > b:
                        self._symbols[number, i, j] = self._symbols[number, j, i]
                        continue
                    separator = "_" if len(kind.blocks) > 9 else ""
                    name = f"{kind.label}{a + 1}{separator}{b + 1}"
                    while name in taken:
                        name = f"R{name}"
                    self._symbols[number, i, j] = sympy.Symbol(name)

    @cached_property
    def support(self) -> frozenset[tuple[int, int]]:
        """The block pairs of R that are not proved to vanish: a set closed under R -> (L_0 - eta(R))^-1.

        The power series of R in the covariance scale is built by that map from L_0^-1, so what lies outside
        the closed set is zero to every order.
        """
        fixed = set(self.pencil.constant)
        fixed |= {pair for entries in self.pencil.deterministic.values() for pair in entries}
        support: frozenset[tuple[int, int]] = frozenset()
        while True:
            inner = fixed | {(i, j) for i, j, k, h, _ in self.couplings if (k, h) in support}
            larger = frozenset(
                pair for d in self.pencil.dimensions for pair in inverse_support(inner, self.pencil.blocks(d))
            )
            if larger == support:
                return support
            support = larger

    @cached_property
    def couplings(self) -> Couplings:
        """The covariance map: (i, j, k, h, factor) for eta(R)_ij = sum of factor <R_kh>."""
        return covariance_map(self.pencil.letters, self.pencil.letters, self.pencil.types, self.ratios)

    @cached_property
    def directions(self) -> dict[int, Any]:
        """The symbols of the directions in which inverses are shifted, by row."""
        return {row: sympy.Dummy(f"direction{row + 1}") for row in self.pencil.inverses}

    def unknown(self, species: int, i: int, j: int) -> Any:
        """Return the symbol of R_ij for one species, or 0."""
        return self._symbols.get((species, i, j), sympy.S.Zero)

    @cached_property
    def _places(self) -> dict[Any, tuple[int, int, int]]:
        # the first place of a symbol: symmetric entries share one
        return {symbol: place for place, symbol in reversed(self._symbols.items())}

    def place(self, symbol: Any) -> tuple[int, int, int]:
        """Return (species, row, column) of an unknown."""
        return self._places[symbol]

    @property
    def unknowns(self) -> tuple[Any, ...]:
        """All unknowns, once each."""
        return tuple(dict.fromkeys(self._symbols.values()))

    def trace(self, i: int, j: int) -> Any:
        """Return the normalised trace <R_ij>, an average over the atoms."""
        dimension = self.pencil.types[i]
        return sympy.Add(
            *(
                kind.weight * self.unknown(a, i, j)
                for a, kind in enumerate(self.species)
                if kind.dimension == dimension
            )
        )

    @cached_property
    def eta(self) -> Sparse:
        """The covariance map applied to the unknowns, by (row, column)."""
        total: Sparse = {}
        for i, j, k, h, factor in self.couplings:
            total[i, j] = total.get((i, j), sympy.S.Zero) + factor * self.trace(k, h)
        return {pair: value for pair, value in total.items() if value != 0}

    def constant(self, species: int) -> Sparse:
        """Return L_0 for one species: deterministic matrices replaced by their eigenvalues at the atom."""
        kind = self.species[species]
        result = {(i, j): value for (i, j), value in self.pencil.constant.items() if i in kind.blocks}
        for symbol, eigenvalue in kind.eigenvalues.items():
            for pair, value in self.pencil.deterministic[symbol].items():
                result[pair] = result.get(pair, sympy.S.Zero) + value * eigenvalue
        return result

    def inverse_matrix(self, species: int, scale: Any = 1, shift: Any = 0) -> Sparse:
        """Return L_0 - scale * eta(R) for one species: the inverse of R."""
        blocks = self.species[species].blocks
        result = self.constant(species)
        for row, direction in self.directions.items() if shift != 0 else ():
            if row in blocks:
                result[row, row] = result.get((row, row), sympy.S.Zero) + shift * direction
        for (i, j), value in self.eta.items():
            if i in blocks:
                result[i, j] = result.get((i, j), sympy.S.Zero) - scale * value
        return result

    def residuals(self, scale: Any = 1, shift: Any = 0) -> tuple[Any, ...]:
        """Return the entries of (L_0 + shift - scale * eta(R)) R - 1 that are not identically zero."""
        result = []
        for number, kind in enumerate(self.species):
            matrix = self.inverse_matrix(number, scale, shift)
            rows: dict[int, list[tuple[int, Any]]] = {}
            for (i, k), value in matrix.items():
                rows.setdefault(i, []).append((k, value))
            for i in kind.blocks:
                for j in kind.blocks:
                    terms = [value * self.unknown(number, k, j) for k, value in rows.get(i, ())]
                    entry = sympy.Add(*terms, sympy.S.NegativeOne if i == j else sympy.S.Zero)
                    if entry != 0:
                        result.append(entry)
        return tuple(result)

    def observable(self) -> Any:
        """Return the limiting normalised trace of the expression: offset + out^T <R> in."""
        terms = [
            left * right * self.trace(i, j)
            for i, left in self.pencil.output.items()
            for j, right in self.pencil.input.items()
        ]
        return sympy.Add(self.pencil.offset, *terms)

    def system(self, scale: Any = 1, shift: Any = 0) -> EquationSystem:
        """Return the equations as an `EquationSystem`, with the trace as an observable."""
        residuals, trace = self.residuals(scale, shift), self.observable()
        unknowns = self.unknowns
        symbols = set().union(trace.free_symbols, *(r.free_symbols for r in residuals)) - set(unknowns)
        meanings = {
            symbol: f"<R_{i + 1},{j + 1}> of R = E L^-1, on the dimension {self.species[a].dimension}"
            for (a, i, j), symbol in self._symbols.items()
        }
        return EquationSystem(
            unknowns,
            tuple(sorted(symbols, key=str)),
            residuals,
            BRANCH,
            {"trace": trace},
            meanings,
            CITATIONS,
        )
