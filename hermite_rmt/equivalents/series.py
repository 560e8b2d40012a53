"""The physical branch as a power series at infinite spectral parameter, exact modulo a prime.

With v = 1/w, the rows of the pencil that hold v are multiplied by w. At w = 0 the Dyson equation is solved in
finitely many steps, and every further coefficient by one linear system: no root is chosen anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.modular import Matrix, inverse, residue


class NoSeriesError(ArithmeticError):
    """The branch has no power series at infinity in this variable."""


class SpectralSeries:
    """Coefficients of the trace in w = 1/variable.

    Parameters
    ----------
    dyson : of a plain pencil
    variable : the spectral parameter
    values : rational numbers for the other symbols
    prime : modulus

    Raises
    ------
    NoSeriesError
        If the variable is not a spectral parameter (it must enter what is inverted linearly, with the identity).
    NoResidueError
        If a root of a value does not exist modulo the prime.
    """

    def __init__(self, dyson: Dyson, variable: Any, values: Mapping[Any, Any], prime: int) -> None:
        self._dyson, self._prime = dyson, prime
        self._variable = variable
        self._values = {symbol: sympy.sympify(value) for symbol, value in values.items()}
        pencil = dyson.pencil
        scaled = {i for (i, _), value in pencil.constant.items() if sympy.sympify(value).has(variable)}
        others = [factor for *_, factor in dyson.couplings] + [*pencil.output.values(), *pencil.input.values()]
        others += [pencil.offset, *(v for e in pencil.deterministic.values() for v in e.values())]
        if not scaled or any(sympy.sympify(value).has(variable) for value in others):
            raise NoSeriesError(
                f"{variable} is not a spectral parameter: a multiple of the identity that is inverted"
            )
        self._shift = [int(i in scaled) for i in range(pencil.size)]
        self._constants = [self._constant(number) for number in range(len(dyson.species))]
        self._weights = [self._number(kind.weight) for kind in dyson.species]
        # eta_ij = factor w^(shift_i + shift_h) <R_kh>: the row factors of both letters
        self._couplings: dict[int, list[tuple[int, int, int, int, int]]] = {0: [], 1: [], 2: []}
        for i, j, k, h, factor in dyson.couplings:
            self._couplings[self._shift[i] + self._shift[h]].append((i, j, k, h, self._number(factor)))
        self._coefficients: list[list[Matrix]] = []  # [order][species]
        self._etas: list[list[Matrix]] = []
        self._start()
        self._solver = self._factor()

    def trace(self, order: int) -> list[int]:
        """Return the coefficients of w^0 ... w^(order - 1) of the trace."""
        while len(self._coefficients) < order:
            self._extend()
        pencil = self._dyson.pencil
        result = [self._number(pencil.offset)] + [0] * (order - 1)
        for i, left in pencil.output.items():
            for j, right in pencil.input.items():
                factor = self._number(left) * self._number(right)
                for power in range(order - self._shift[j]):
                    result[power + self._shift[j]] += factor * self._trace(self._coefficients[power], i, j)
        return [value % self._prime for value in result]

    def _number(self, value: Any) -> int:
        expression = sympy.sympify(value).xreplace(self._values)

        def power(symbol: Any, numerator: int, denominator: int) -> int:
            raise NoSeriesError(f"values: no value for {symbol}")

        return residue(expression, self._prime, power)

    def _constant(self, species: int) -> dict[int, Matrix]:
        """L_0 by powers of w: {power: matrix}."""
        kind = self._dyson.species[species]
        result: dict[int, Matrix] = {0: _zeros(len(kind.blocks)), 1: _zeros(len(kind.blocks))}
        place = {block: a for a, block in enumerate(kind.blocks)}
        for (i, j), value in self._dyson.constant(species).items():
            polynomial = sympy.Poly(value, self._variable)
            if polynomial.degree() > 1:
                raise NoSeriesError(f"{self._variable} enters to the power {polynomial.degree()}")
            slope, rest = polynomial.coeff_monomial(self._variable), polynomial.coeff_monomial(1)
            if self._shift[i]:
                result[0][place[i]][place[j]] = self._number(slope)
                result[1][place[i]][place[j]] = self._number(rest)
            else:
                result[0][place[i]][place[j]] = self._number(rest)
        return result

    def _trace(self, matrices: list[Matrix], i: int, j: int) -> int:
        total = 0
        for kind, weight, matrix in zip(self._dyson.species, self._weights, matrices, strict=True):
            if i in kind.blocks and j in kind.blocks:
                total += weight * matrix[kind.blocks.index(i)][kind.blocks.index(j)]
        return total % self._prime

    def _eta(self, matrices: list[Matrix], power: int) -> list[Matrix]:
        """Return the part of the covariance map with w^power, applied to one coefficient of R."""
        result = [_zeros(len(kind.blocks)) for kind in self._dyson.species]
        traces: dict[tuple[int, int], int] = {}
        for i, j, k, h, factor in self._couplings[power]:
            if (k, h) not in traces:
                traces[k, h] = self._trace(matrices, k, h)
            for matrix, kind in zip(result, self._dyson.species, strict=True):
                if i in kind.blocks:
                    a, b = kind.blocks.index(i), kind.blocks.index(j)
                    matrix[a][b] = (matrix[a][b] + factor * traces[k, h]) % self._prime
        return result

    def _start(self) -> None:
        current = [_zeros(len(kind.blocks)) for kind in self._dyson.species]
        for _ in range(2 * self._dyson.pencil.size + 4):
            eta = self._eta(current, 0)
            inverted = [
                inverse(_subtract(constant[0], part), self._prime)
                for constant, part in zip(self._constants, eta, strict=True)
            ]
            if any(matrix is None for matrix in inverted):
                raise NoSeriesError(f"the pencil is singular at infinite {self._variable}")
            new = [matrix for matrix in inverted if matrix is not None]
            if new == current:
                self._coefficients = [current]
                self._etas = [eta]
                return
            current = new
        raise NoSeriesError(f"the Dyson equation at infinite {self._variable} is not solved in finitely many steps")

    def _factor(self) -> Matrix:
        """Return the inverse of R_k -> N_0 R_k - eta_0(R_k) R_0, on all entries of all species."""
        base, eta = self._coefficients[0], self._etas[0]
        head = [_subtract(constant[0], part) for constant, part in zip(self._constants, eta, strict=True)]
        self._places = [
            (s, a, b)
            for s, kind in enumerate(self._dyson.species)
            for a in range(len(kind.blocks))
            for b in range(len(kind.blocks))
        ]
        columns = []
        for s, a, b in self._places:
            unit = [_zeros(len(kind.blocks)) for kind in self._dyson.species]
            unit[s][a][b] = 1
            image = self._eta(unit, 0)
            column = []
            for left, matrix, part, right in zip(head, unit, image, base, strict=True):
                total = _subtract(_times(left, matrix, self._prime), _times(part, right, self._prime))
                column += [entry for row in total for entry in row]
            columns.append(column)
        solver = inverse([list(row) for row in zip(*columns, strict=True)], self._prime)
        if solver is None:
            raise NoSeriesError(f"the branch is not analytic at infinite {self._variable}")
        return solver

    def _extend(self) -> None:
        order = len(self._coefficients)
        # what eta(R)_order holds of lower orders; the unknown enters through eta_0 only
        known = [_zeros(len(kind.blocks)) for kind in self._dyson.species]
        for power in (1, 2):
            if order >= power and self._couplings[power]:
                for matrix, part in zip(known, self._eta(self._coefficients[order - power], power), strict=True):
                    _accumulate(matrix, part)
        right: list[int] = []
        for s in range(len(self._dyson.species)):
            inner = _times(known[s], self._coefficients[0][s], self._prime)
            linear = _times(self._constants[s][1], self._coefficients[order - 1][s], self._prime)
            size = len(inner)
            # one flat sum of products for each entry, reduced once
            for a in range(size):
                for b in range(size):
                    total = inner[a][b] - linear[a][b]
                    for k in range(size):
                        total += sum(
                            self._etas[j][s][a][k] * self._coefficients[order - j][s][k][b] for j in range(1, order)
                        )
                    right.append(total % self._prime)
        flat = [sum(map(int.__mul__, row, right)) % self._prime for row in self._solver]
        new = [_zeros(len(kind.blocks)) for kind in self._dyson.species]
        for (s, a, b), value in zip(self._places, flat, strict=True):
            new[s][a][b] = value
        self._coefficients.append(new)
        for matrix, part in zip(known, self._eta(new, 0), strict=True):
            _accumulate(matrix, part)
        self._etas.append([[[entry % self._prime for entry in row] for row in matrix] for matrix in known])


def _zeros(size: int) -> Matrix:
    return [[0] * size for _ in range(size)]


def _subtract(left: Matrix, right: Matrix) -> Matrix:
    return [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(left, right, strict=True)]


def _times(left: Matrix, right: Matrix, prime: int) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [[sum(map(int.__mul__, row, column)) % prime for column in columns] for row in left]


def _accumulate(total: Matrix, part: Matrix) -> None:
    for row, other in zip(total, part, strict=True):
        for index, entry in enumerate(other):
            row[index] += entry
