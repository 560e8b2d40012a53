"""All real solutions of polynomial and radical equations: isolated, counted, none missed and none invented."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy

from hermite_rmt.codegen.roots import real_roots, value_at
from hermite_rmt.core.numbers import Real
from hermite_rmt.equivalents.quotient import Quotient

_ORDER_BITS = 200


def real_solutions(
    residuals: Iterable[Any], unknowns: Sequence[sympy.Symbol]
) -> tuple[dict[sympy.Symbol, Real], ...]:
    """Return all real solutions of ``residual = 0``, ordered by the first unknown, the second, ...

    Parameters
    ----------
    residuals : expressions in the unknowns with rational coefficients: polynomials, quotients, and roots of them
        (floats are the doubles they are). Roots are real: a solution makes what stands under each of them >= 0.
    unknowns : symbols

    Returns
    -------
    tuple of {unknown: `Real`}
        A multiple solution is listed once.

    Raises
    ------
    ValueError
        If a residual holds another symbol, or something that is not algebraic over the rationals.
    InfiniteError
        (a ValueError) If there are infinitely many complex solutions.

    Notes
    -----
    A quotient and a root each bring one more unknown, w d = 1 and s^q = r with s >= 0: each solution satisfies the
    equations as they were given, not only their powers. Then a Groebner basis, the rational univariate
    representation (`quotient.Quotient`), and Sturm's isolation of its roots: exact steps only.

    >>> x, y = sympy.symbols("x y")
    >>> [{str(s): float(v) for s, v in found.items()} for found in real_solutions([x**2 - 2, x * y - 1], (x, y))]
    [{'x': -1.4142135623730951, 'y': -0.7071067811865476}, {'x': 1.4142135623730951, 'y': 0.7071067811865476}]
    >>> real_solutions([sympy.sqrt(x) + 2], (x,))
    ()
    """
    cleared = _Cleared(unknowns)
    polynomials = [cleared.numerator(residual) for residual in residuals]
    quotient = Quotient([*polynomials, *cleared.definitions], cleared.unknowns)
    if not quotient.monomials:
        return ()
    points = quotient.representation()
    found = [
        {
            symbol: value_at(numerator, points.denominator, t)
            for symbol, numerator in zip(cleared.unknowns, points.numerators, strict=True)
        }
        for t, _ in real_roots(points.eliminant)
    ]
    kept = [solution for solution in found if all(solution[root].mpf(_ORDER_BITS) >= 0 for root in cleared.roots)]
    kept.sort(key=lambda solution: [solution[symbol].mpf(_ORDER_BITS) for symbol in unknowns])
    return tuple({symbol: solution[symbol] for symbol in unknowns} for solution in kept)


class _Cleared:
    """Equations without quotients and roots, in more unknowns."""

    def __init__(self, unknowns: Sequence[sympy.Symbol]) -> None:
        self.unknowns = list(unknowns)
        self.roots: list[sympy.Symbol] = []
        self.definitions: list[sympy.Expr] = []
        self._named: dict[sympy.Expr, sympy.Symbol] = {}

    def numerator(self, residual: Any) -> sympy.Expr:
        """Return the polynomial that vanishes with the residual, given the definitions."""
        exact = sympy.sympify(residual)
        exact = exact.xreplace({number: sympy.Rational(number) for number in exact.atoms(sympy.Float)})
        strange = exact.free_symbols - set(self.unknowns)
        if strange:
            names = ", ".join(sorted(map(str, strange)))
            raise ValueError(f"residuals: got the symbols {names}; allowed: the unknowns alone, numbers for the rest")
        numerator, denominator = sympy.fraction(sympy.together(self._rational(exact)))
        if not (numerator.is_polynomial(*self.unknowns) and denominator.is_polynomial(*self.unknowns)):
            raise ValueError(
                f"residuals: got {residual}; allowed: sums, products, quotients and roots, exact numbers"
            )
        if denominator.free_symbols:
            self.definitions.append(self._new("w") * denominator - 1)
        return numerator

    def _rational(self, expression: sympy.Expr) -> sympy.Expr:
        if not expression.args:
            return expression
        parts = [self._rational(part) for part in expression.args]
        if not (expression.is_Pow and expression.exp.is_Rational and not expression.exp.is_Integer):
            return expression.func(*parts)
        base, order = parts[0], expression.exp.q
        key = sympy.Pow(base, sympy.Rational(1, order), evaluate=False)
        if key not in self._named:
            root = self._named[key] = self._new("s")
            self.roots.append(root)
            numerator, denominator = sympy.fraction(sympy.together(base))
            self.definitions.append(root**order * denominator - numerator)
            if denominator.free_symbols:
                self.definitions.append(self._new("w") * denominator - 1)
        return self._named[key] ** expression.exp.p

    def _new(self, letter: str) -> sympy.Symbol:
        self.unknowns.append(sympy.Dummy(letter))
        return self.unknowns[-1]
