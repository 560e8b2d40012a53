"""From the inverse of the plain pencil L to that of its self-adjoint form S L: R = <L^-1> becomes R S^-1.

The branch is followed with the plain pencil; the reduced equations speak of the self-adjoint one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermite_rmt.codegen import Kernel
from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.flint_context import require_flint
from hermite_rmt.equivalents.dyson import Dyson

Rows = list[list[Any]]


class Congruence:
    """The unknowns of a self-adjoint Dyson equation from those of the plain one, in numbers.

    Parameters
    ----------
    plain, adjoint : the Dyson equations of L and of S L
    """

    def __init__(self, plain: Dyson, adjoint: Dyson) -> None:
        self.plain, self.adjoint = plain, adjoint
        self._places, values = list(adjoint.pencil.symmetriser), list(adjoint.pencil.symmetriser.values())
        self._symbols = tuple(sorted(set().union(*(value.free_symbols for value in values)), key=str))
        self._kernel = Kernel(self._symbols, values)
        self._values = values

    def unknowns(self, values: Mapping[Any, Any], point: Mapping[Any, Any], precision: int) -> dict[str, Any]:
        """Return the adjoint equation's unknowns by name.

        Parameters
        ----------
        values : the plain equation's unknowns by symbol, numbers of the context of `precision` bits
        point : the parameters, likewise

        Raises
        ------
        ZeroDivisionError
            Where S is singular.
        """
        context = local_context(precision)
        entries = self._kernel.multiprecision(precision)(*(point[s] for s in self._symbols))
        return self._multiply(values, entries, context.zero, lambda rows: (context.matrix(rows) ** -1).tolist())

    def balls(self, values: Mapping[Any, Any], point: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the same in balls, inside python-flint's precision.

        Raises
        ------
        ZeroDivisionError
            Where S may be singular.
        """
        flint = require_flint()
        given = [point[symbol] for symbol in self._symbols]
        entries = [BallFunction(self._symbols, value).real(*given) for value in self._values]
        return self._multiply(values, entries, flint.arb(0), lambda rows: flint.arb_mat(rows).inv().table())

    def _multiply(
        self, values: Mapping[Any, Any], entries: Sequence[Any], zero: Any, invert: Callable[[Rows], Sequence[Any]]
    ) -> dict[str, Any]:
        symmetriser = dict(zip(self._places, entries, strict=True))
        found: dict[str, Any] = {}
        for number, kind in enumerate(self.adjoint.species):
            blocks = kind.blocks
            inverse = invert([[symmetriser.get((i, j), zero) for j in blocks] for i in blocks])
            for i in blocks:
                for b, j in enumerate(blocks):
                    symbol = self.adjoint.unknown(number, i, j)
                    if symbol != 0 and str(symbol) not in found:
                        found[str(symbol)] = sum(
                            (
                                values[self.plain.unknown(number, i, k)] * inverse[a][b]
                                for a, k in enumerate(blocks)
                                if self.plain.unknown(number, i, k) != 0
                            ),
                            start=zero,
                        )
        return found
