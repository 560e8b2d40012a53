"""One polynomial P(m, parameters) = 0 for the trace m.

Small systems are eliminated symbolically, by combinations of equations and resultants; an extraneous factor is
dropped on the evidence of the branch's own power series. With rational numbers for all symbols but the spectral
parameter, the series itself gives P: modulo a prime first (degrees and support), then modulo a large one (rational
coefficients), and the result is checked on the longer first series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.guess import Exponents, coefficients, find_support, powers, rational
from hermite_rmt.equivalents.modular import PRIME, NoResidueError
from hermite_rmt.equivalents.reduction import Reduction
from hermite_rmt.equivalents.series import NoSeriesError, SpectralSeries

M = sympy.Symbol("m")
_LENGTHS = (24, 48, 96, 192, 384)
_EXPONENTS = (127, 521, 1279, 2203, 4423)  # of Mersenne primes


class EliminationError(ArithmeticError):
    """No polynomial was found; the message says what to try."""


@dataclass(frozen=True, repr=False)
class AlgebraicEquation:
    """The polynomial equation of the trace.

    Attributes
    ----------
    polynomial : expression in `m` and the symbols, with integer coefficients
    proved : whether it was derived by exact steps from the equations (else it was verified, see `evidence`)
    evidence : a sentence on how it was found and checked
    """

    polynomial: Any
    proved: bool
    evidence: str

    @property
    def degree(self) -> int:
        """The degree in m."""
        return int(sympy.degree(self.polynomial, M))

    def __repr__(self) -> str:
        return f"<AlgebraicEquation of degree {self.degree}, {'proved' if self.proved else 'verified'}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {sympy.latex(sympy.collect(self.polynomial, M))} = 0$"

    def __str__(self) -> str:
        return f"{self.polynomial} = 0\n({'proved' if self.proved else 'verified'}: {self.evidence})"


def eliminate_symbolically(reduction: Reduction, plain: Dyson, spectral: Sequence[Any]) -> AlgebraicEquation:
    """Return P with all parameters symbolic.

    Parameters
    ----------
    reduction : of the Dyson equation, as deep as it goes
    plain : the Dyson equation of the plain pencil, for the series that selects a factor
    spectral : symbols that may be the spectral parameter

    Raises
    ------
    EliminationError
        If the system is too large for resultants.
    """
    system = reduction.system
    _require_free_name(system.parameters)
    field = reduction.polynomials.field
    trace = field.rational(system.observables["trace"])
    equations = [sympy.numer(sympy.together(M - trace)), *map(field.rational, system.residuals)]
    unknowns = list(system.unknowns)
    if trace in unknowns:
        equations = [e.xreplace({trace: M}) for e in equations[1:]]
        unknowns.remove(trace)
    if len(unknowns) > 2 or len(equations) > 4:
        raise EliminationError(
            f"{len(system.unknowns)} unknowns are too many to eliminate with symbolic parameters; "
            "give rational numbers for all symbols but the spectral parameter"
        )
    steps = "combinations of equations"
    for unknown in unknowns:
        with_it = sorted((e for e in equations if e.has(unknown)), key=lambda e: int(sympy.degree(e, unknown)))
        equations = [e for e in equations if not e.has(unknown)]
        equations += [sympy.resultant(with_it[0], other, unknown) for other in with_it[1:]]
        steps = "combinations of equations and resultants"
    equations = [e for e in equations if sympy.expand(e) != 0]
    if not equations:
        raise EliminationError("the equations determine no polynomial: they are dependent")
    common = equations[0]
    for other in equations[1:]:
        common = sympy.gcd(common, other)
    factors = [f for f, _ in sympy.factor_list(common)[1] if f.has(M)]
    if len(factors) == 1:
        polynomial = field.restored(_primitive(factors[0]))
        return AlgebraicEquation(polynomial, True, f"{steps}; irreducible, no extraneous factor")
    return _select([field.restored(_primitive(factor)) for factor in factors], plain, spectral, steps)


def _require_free_name(symbols: Iterable[Any]) -> None:
    if any(str(symbol) == M.name for symbol in symbols):
        raise EliminationError(f"a parameter is called {M.name}, as the trace in the polynomial; rename it")


def _select(factors: list[Any], plain: Dyson, spectral: Sequence[Any], steps: str) -> AlgebraicEquation:
    for variable in spectral:
        others = sorted({s for f in factors for s in f.free_symbols} - {M, variable}, key=str)
        values = {s: sympy.Rational(k + 3, 2 * k + 5) ** 2 for k, s in enumerate(others)}
        values |= {s: sympy.Rational(1) for s in _free(plain) if s not in values and s != variable}
        try:
            series = SpectralSeries(plain, variable, values, PRIME).trace(24)
        except (NoSeriesError, NoResidueError):
            continue
        vanishing = [f for f in factors if _vanishes(f.subs(values), variable, series, PRIME)]
        if len(vanishing) == 1:
            evidence = (
                f"{steps}; of {len(factors)} irreducible factors the only one that vanishes on the branch's series "
                f"in 1/{variable}, to 24 terms"
            )
            return AlgebraicEquation(vanishing[0], True, evidence)
    raise EliminationError(f"{len(factors)} factors are left and no series tells which one is meant: {factors}")


def _free(dyson: Dyson) -> set[Any]:
    return set().union(*(r.free_symbols for r in dyson.residuals())) - set(dyson.unknowns)


def _vanishes(polynomial: Any, variable: Any, series: list[int], prime: int) -> bool:
    terms = _terms(polynomial, variable)
    return not any(_evaluate(terms, series, prime))


def _terms(polynomial: Any, variable: Any) -> dict[Exponents, Any]:
    """Return the coefficients of v^-degree P by (power of m, power of w = 1/v)."""
    poly = sympy.Poly(polynomial, M, variable)
    degree = poly.degree(variable)
    return {(a, degree - b): value for (a, b), value in poly.terms()}


def _evaluate(terms: Mapping[Exponents, Any], series: list[int], prime: int) -> list[int]:
    table = powers(series, max(a for a, _ in terms), prime)
    total = [0] * len(series)
    for (a, b), value in terms.items():
        factor = int(value.p) * pow(int(value.q), -1, prime)
        for k in range(len(series) - b):
            total[k + b] += factor * table[a][k]
    return [entry % prime for entry in total]


def eliminate_by_series(plain: Dyson, variable: Any, values: Mapping[Any, Any]) -> AlgebraicEquation:
    """Return P(m, variable) with rational numbers for all other symbols.

    Raises
    ------
    EliminationError
        If the variable is no spectral parameter, or P has more than about 350 coefficients.
    """
    _require_free_name([variable, *values])
    try:
        first = SpectralSeries(plain, variable, values, PRIME)
        support = None
        for length in _LENGTHS:
            series = first.trace(length)
            support = find_support(series, PRIME)
            if support is not None:
                break
    except (NoSeriesError, NoResidueError) as reason:
        raise EliminationError(str(reason)) from None
    if support is None:
        raise EliminationError(f"no polynomial with fewer than {_LENGTHS[-1]} coefficients fits the series")
    for exponent in _EXPONENTS:
        fractions = _reconstruct(plain, variable, values, support, 2**exponent - 1)
        if fractions is None:
            continue
        terms = dict(zip(support, fractions, strict=True))
        if not any(_evaluate(terms, series, PRIME)):
            highest = max(b for _, b in support)
            polynomial = sympy.Add(*(value * M**a * variable ** (highest - b) for (a, b), value in terms.items()))
            evidence = (
                f"least polynomial relation of the branch's series in 1/{variable}: {len(support)} coefficients from "
                f"the series modulo 2^{exponent} - 1, checked on {length} terms modulo {PRIME}"
            )
            return AlgebraicEquation(_primitive(polynomial), False, evidence)
    raise EliminationError("the coefficients are irrational, or too large to be reconstructed")


def _reconstruct(
    plain: Dyson, variable: Any, values: Mapping[Any, Any], support: list[Exponents], prime: int
) -> list[Any] | None:
    try:
        series = SpectralSeries(plain, variable, values, prime)
        for extra in (14, len(support)):
            residues = coefficients(series.trace(len(support) + extra), support, prime)
            if residues is not None:
                break
    except NoResidueError:
        return None
    if residues is None:
        return None
    fractions = [rational(value, prime) for value in residues]
    if any(f is None or max(map(abs, f)).bit_length() > prime.bit_length() // 2 - 20 for f in fractions):
        return None
    return [sympy.Rational(*f) for f in fractions if f is not None]


def _primitive(polynomial: Any) -> Any:
    expanded = sympy.expand(sympy.numer(sympy.together(polynomial)))
    primitive = sympy.Poly(expanded, M, *sorted(expanded.free_symbols - {M}, key=str)).primitive()[1]
    return -primitive.as_expr() if primitive.LC() < 0 else primitive.as_expr()
