"""From the inverse of the plain pencil L to that of its self-adjoint form S L: R = <L^-1> becomes R S^-1.

The branch is followed with the plain pencil; the reduced equations speak of the self-adjoint one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import local_context
from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.pencil import Pencil, Sparse


class Congruence:
    """The unknowns of a self-adjoint Dyson equation from those of the plain one, in numbers.

    Parameters
    ----------
    plain, adjoint : the Dyson equations of L and of S L
    """

    def __init__(self, plain: Dyson, adjoint: Dyson) -> None:
        self.plain, self.adjoint = plain, adjoint
        pairs = [
            (before, after) for before, after in zip(_groups(plain.pencil), _groups(adjoint.pencil), strict=True)
        ]
        entries = [(i, j, value) for group in pairs for side in group for (i, j), value in side.items()]
        symbols = sorted(set().union(*(value.free_symbols for *_, value in entries)), key=str)
        self._symbols = symbols
        self._kernel = Kernel(symbols, [value for *_, value in entries])
        self._pairs = pairs

    def unknowns(self, values: Mapping[str, Any], point: Mapping[Any, Any], precision: int) -> dict[str, Any]:
        """Return the adjoint equation's unknowns by name.

        Parameters
        ----------
        values : the plain equation's unknowns by name, numbers of the context of `precision` bits
        point : the parameters, likewise

        Raises
        ------
        ZeroDivisionError
            Where S is singular.
        """
        context = local_context(precision)
        numbers = iter(self._kernel.multiprecision(precision)(*(point[s] for s in self._symbols)))
        size = self.plain.pencil.size
        before, after = ([context.zeros(size, size) for _ in self._pairs] for _ in range(2))
        for place, group in enumerate(self._pairs):
            for side, target in zip(group, (before, after), strict=True):
                for i, j in side:
                    target[place][i, j] = next(numbers)
        # S [A_0 A_1 ...] = [B_0 B_1 ...], by the normal equations of the rows
        gram, right = context.zeros(size, size), context.zeros(size, size)
        for a, b in zip(before, after, strict=True):
            gram += a * a.T
            right += b * a.T
        inverse = gram * right**-1  # S^-1
        found: dict[str, Any] = {}
        for number, kind in enumerate(self.adjoint.species):
            for i in kind.blocks:
                for j in kind.blocks:
                    symbol = self.adjoint.unknown(number, i, j)
                    if symbol != 0:
                        found[str(symbol)] = context.fsum(
                            values[str(self.plain.unknown(number, i, k))] * inverse[k, j]
                            for k in kind.blocks
                            if self.plain.unknown(number, i, k) != 0
                        )
        return found


def _groups(pencil: Pencil) -> list[Sparse]:
    return [pencil.constant, *pencil.deterministic.values(), *pencil.letters.values()]
