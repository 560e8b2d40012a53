"""Claims about nonlinear attention: Proposition 1 and Theorem 1."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import sympy

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.solution import SolveError
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.check import attention_chart
from hermite_rmt.theory.check.attention_names import (
    A1,
    DIAGONAL,
    DM,
    DQ,
    ETA,
    FACTS,
    GAMMA,
    GRAM,
    KAPPA,
    NU,
    POSITIVE,
    SKIP,
    SOLVED,
    SUM_SYMBOLS,
    THEOREM_1,
    C,
)
from hermite_rmt.theory.check.bounds import prove_inequality
from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.exact import NotExactError, evaluate, evaluate_quickly, vanishes
from hermite_rmt.theory.check.modes import OVERLAPS, mode_sums
from hermite_rmt.theory.check.slope import slopes_by_gamma
from hermite_rmt.theory.check.subject import Domain, RejectedPointError, Subject, positive_rational, real_rational
from hermite_rmt.theory.check.text import plain_name
from hermite_rmt.theory.overlaps import Overlaps

_STRATA = (
    "generic", "large gamma", "a1 = 0", "small gamma", "mu = 0", "c = 1", "eta = 0", "generic", "w = 0", "plain",
    "generic", "small c", "large c", "a1 = 0, plain", "orthogonal", "generic",
)  # fmt: skip


class AttentionSubject(Subject):
    """The names of Proposition 1 and Theorem 1 over the whole parameter domain of the model."""

    title = "attention"
    parameters = (A1, NU, C, GAMMA, DIAGONAL, SKIP, *GRAM)

    def __init__(self) -> None:
        own = {symbol.name: symbol for symbol in (*self.parameters, *SOLVED.values(), *SUM_SYMBOLS.values(), DM, DQ)}
        own |= {"eta": ETA, "kappa": KAPPA, "sigma": sympy.sqrt(ETA / C)}
        own |= {"trace": SOLVED["m"], "quadratic_form": SOLVED["q"], "error": SOLVED["E"]}
        own |= {"d": DIAGONAL, "alpha": SKIP, "r": GRAM[0]}
        for first, second in (("g_ut", "g_tu"), ("g_us", "g_su"), ("g_ts", "g_st"), ("mu_K", "K_mu"), ("K_Q", "Q_K")):
            own[second] = own[first]
        self.symbols = {plain_name(name): value for name, value in own.items()}

    def draw(self, rng: random.Random, number: int, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a point; the Gram matrix is that of three random rational vectors."""
        stratum = _STRATA[number % len(_STRATA)]
        a1 = sympy.S.Zero if "a1 = 0" in stratum else real_rational(rng)
        eta = sympy.S.Zero if stratum == "eta = 0" else positive_rational(rng)
        plain = "plain" in stratum
        diagonal = sympy.S.Zero if plain or rng.random() < 0.4 else real_rational(rng)
        skip = real_rational(rng) if stratum == "generic" and rng.random() < 0.5 else sympy.S.Zero
        c = {"c = 1": sympy.S.One}.get(stratum) or positive_rational(rng, 0.7)
        if stratum in ("small c", "large c"):
            c = (10 * c + 10) ** (1 if stratum == "large c" else -1)
        gamma = positive_rational(rng, 1.0)
        if stratum in ("small gamma", "large gamma"):
            gamma = (100 * gamma + 10) ** (1 if stratum == "large gamma" else -1)
        vectors = [[sympy.Rational(rng.randint(-12, 12), 9) for _ in range(3)] for _ in range(3)]
        if plain or stratum == "mu = 0":
            vectors[0] = [sympy.S.Zero] * 3
        if plain or stratum == "w = 0":
            vectors[1 + rng.randint(0, 1)] = [sympy.S.Zero] * 3
        if stratum == "orthogonal":
            vectors[0][1:], vectors[2][0] = [sympy.S.Zero] * 2, sympy.S.Zero
        vectors = _respecting(vectors, {s.name for s, value in fixed.items() if value == 0})
        pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2), (1, 2))
        gram = [sum(a * b for a, b in zip(vectors[i], vectors[j], strict=True)) for i, j in pairs]
        a1 = fixed.get(A1, a1)
        return dict(zip(self.parameters, (a1, a1**2 + eta, c, gamma, diagonal, skip, *gram), strict=True))

    def completed(self, point: Mapping[Any, Any], fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the point with the fixed values put in, inside c, gamma, nu > 0, nu >= a1^2, a Gram matrix."""
        point = self.with_fixed(point, fixed)
        if not (point[C] > 0 and point[GAMMA] > 0 and point[NU] > 0 and point[NU] >= point[A1] ** 2):
            raise RejectedPointError("outside the domain c, gamma, nu > 0, nu >= a1^2")
        try:
            Overlaps(*(point[symbol] for symbol in GRAM))
        except ValueError as reason:
            raise RejectedPointError(str(reason)) from None
        return point

    def values(self, point: Mapping[Any, Any], needed: set[Any], digits: int) -> dict[Any, Any]:
        """Return the solver's numbers, and sums over the roots of D where a claim holds them."""
        precision = digits + 10
        solution = _solve(point, precision)
        context = local_context(bits(precision))
        found = {symbol: _convert(context, value) for symbol, value in point.items()}
        names = {"m": "trace", "q": "quadratic_form", "E": "error", "delta": "delta", "tau": "tau"}
        found |= {SOLVED[name]: context.convert(solution[key]) for name, key in names.items()}
        if needed & {DM, DQ}:
            slopes = slopes_by_gamma(
                lambda gamma, count: _solve({**point, GAMMA: gamma}, count), point[GAMMA], digits
            )
            found |= dict(zip((DM, DQ), slopes, strict=True))
        if needed & set(SUM_SYMBOLS.values()):
            numbers = {symbol.name: value for symbol, value in found.items()}
            numbers["eta"] = _convert(context, ETA.xreplace(dict(point)))
            numbers["kappa"] = _convert(context, KAPPA.xreplace(dict(point)))
            sums = mode_sums(numbers, context)
            lost = abs(sums["g_uu"] / found[SOLVED["m"]] - 1)
            if lost > context.mpf(10) ** -digits:
                raise SolveError(f"roots of D nearly collide: the sums over them lose digits (to {lost})", solution)
            found |= {SUM_SYMBOLS[name]: value for name, value in sums.items()}
        return {symbol: value for symbol, value in found.items() if symbol in needed}

    def prove(self, claim: Claim, domain: Domain) -> str | None:
        """Return an identity on the rational parametrisation, or a certificate from the exact bounds."""
        if not claim.is_equality:
            return self._prove_inequality(claim, domain)
        numbers = {symbol.name: value for symbol, value in domain.fixed.items() if value.is_Rational}
        symmetric = sympy.expand(KAPPA.subs(list(domain.fixed.items())).subs(list(domain.fixed.items()))) == 0
        free = _free(claim, domain)
        if domain.fixed.get(A1) == 0:
            one, values = attention_chart.linear_chart(free, symmetric, claim.excess.has(SOLVED["E"], DQ))
            values, reason = {**values, "q": values["F"]}, attention_chart.LINEAR
            if symmetric:
                reason += "; kappa = 0 gives tau = 0 there"
        else:
            one, values = attention_chart.cubic_chart(free)
            values, reason = dict(values), attention_chart.CUBIC
        zero = attention_chart.without(numbers)
        values |= dict.fromkeys(zero, one * 0)
        values |= {name: _number(one, numbers[name]) for name in numbers if name in (*OVERLAPS, "skip")}
        if numbers.get("mu_mu") == 0:
            values["F"] = values["m"]
        try:
            return _identity(claim, domain, one, values, reason)
        except NotExactError:
            return None

    def _prove_inequality(self, claim: Claim, domain: Domain) -> str | None:
        if self.prove(Claim(SOLVED["m"], "=", SOLVED["q"]), domain) is not None:
            claim = claim.mapped(lambda side: side.xreplace({SOLVED["m"]: SOLVED["q"]}))
        return prove_inequality(claim, domain, FACTS, POSITIVE)


def _identity(claim: Claim, domain: Domain, one: Any, values: dict[str, Any], reason: str) -> str | None:
    values["nu"] = values["eta"] + values["a1"] ** 2
    if "skip" in values:
        values["diagonal"] = values["kappa"] + values["a1"] - values["skip"]
    if "q" not in values and all(name in values for name in THEOREM_1):
        a1, (F, x_u, x_v, P, T, R) = values["a1"], (values[name] for name in THEOREM_1)
        closed = (one + a1 * T) ** 2 - a1**2 * P * R
        values["q"] = F + (a1**2 * (R * x_u**2 + P * x_v**2) - 2 * a1 * (one + a1 * T) * x_u * x_v) / closed
    if "E" in values:
        values["dq"] = -values["E"] / values["gamma"] ** 2
    table = {symbol: values[symbol.name] for symbol in _ALL if symbol.name in values}
    conditions = [
        evaluate(sympy.sympify(symbol - value), table, one)
        for symbol, value in domain.fixed.items()
        if symbol in table
    ]
    why = vanishes(evaluate_quickly(claim.excess, table, one), conditions, attention_chart.units(one))
    if why is None:
        return None
    used = claim.excess.free_symbols
    parts = [reason]
    if SOLVED["q"] in used:
        parts.append("q = F + ... by Theorem 1 in its algebraic form (derivation 07)")
    if used & {SOLVED["E"], DQ}:
        parts.append("E = -gamma^2 dq/dgamma, the resolvent identity")
    return "; ".join([*parts, why] if why else parts)


def _free(claim: Claim, domain: Domain) -> tuple[str, ...]:
    """Return the generators a claim needs besides the modes: the fewer, the faster."""
    used = claim.excess.free_symbols.union(*((s - v).free_symbols for s, v in domain.fixed.items()))
    names = {symbol.name for symbol in used}
    names |= {"skip"} if "diagonal" in names else set()
    names |= set(THEOREM_1) if "q" in names else set()
    names |= {"E"} if "dq" in names else set()
    return tuple(name for name in attention_chart.FREE if name in names)


_ALL = (*AttentionSubject.parameters, *SOLVED.values(), *SUM_SYMBOLS.values(), DQ)


def _respecting(vectors: list[list[Any]], zero: set[str]) -> list[list[Any]]:
    """Return vectors whose overlaps of these names vanish."""
    m, k, q = vectors
    none = [sympy.S.Zero] * 3
    m, k, q = (none if name in zero else v for name, v in (("mu_mu", m), ("K_K", k), ("Q_Q", q)))
    if "mu_K" in zero:
        k = _across(k, m)
    if "K_Q" in zero:
        q = _across(q, k)
    if "mu_Q" in zero:
        q = _across(q, m) if "mu_K" in zero or "K_Q" not in zero else _across(_across(q, m), _across(k, m))
    return [m, k, q]


def _across(vector: list[Any], direction: list[Any]) -> list[Any]:
    norm = sum(b * b for b in direction)
    if norm == 0:
        return vector
    along = sum(a * b for a, b in zip(vector, direction, strict=True)) / norm
    return [a - along * b for a, b in zip(vector, direction, strict=True)]


def _solve(point: Mapping[Any, Any], digits: int) -> Any:
    model = Attention(
        a1=point[A1],
        nu=point[NU],
        diagonal=point[DIAGONAL],
        skip=point[SKIP],
        overlaps=Overlaps(*(point[symbol] for symbol in GRAM)),
    )
    return model.solve(point[C], point[GAMMA], digits=digits)


def _convert(context: Any, value: Any) -> Any:
    return context.mpf(int(value.p)) / int(value.q)


def _number(one: Any, value: Any) -> Any:
    return one * int(value.p) / int(value.q)
