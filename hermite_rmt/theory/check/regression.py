"""Claims about linear ridge regression on signal plus noise: every quantity is rational on the branch."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import sympy
from sympy import QQ
from sympy.polys.fields import field

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.theory.check import regression_chart
from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.exact import NotExactError, evaluate, sign, vanishes
from hermite_rmt.theory.check.slope import slopes_by_gamma
from hermite_rmt.theory.check.subject import Domain, RejectedPointError, Subject, positive_rational
from hermite_rmt.theory.check.text import plain_name
from hermite_rmt.theory.linear_regression import LinearRegression

C, GAMMA = sympy.symbols("c gamma", positive=True)
MU_MU = sympy.Symbol("mu_mu", nonnegative=True)
SOLVED = {name: sympy.Symbol(name, real=True) for name in ("m", "q", "E", "tau", "dm", "dq")}


class RegressionSubject(Subject):
    """The names of linear regression (derivation 03) over its whole parameter domain."""

    title = "linear regression"
    parameters = (C, GAMMA, MU_MU)

    def __init__(self) -> None:
        own = {symbol.name: symbol for symbol in (*self.parameters, *SOLVED.values())}
        own |= {"trace": SOLVED["m"], "quadratic_form": SOLVED["q"], "error": SOLVED["E"], "r": MU_MU}
        own |= {"g11": SOLVED["m"]}  # the engine's name
        self.symbols = {plain_name(name): value for name, value in own.items()}

    def draw(self, rng: random.Random, number: int, fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a point; every fifth has c = 1, every fourth no signal, every seventh an extreme gamma."""
        gamma = positive_rational(rng, 1.0)
        return {
            C: sympy.S.One if number % 5 == 1 else positive_rational(rng),
            GAMMA: gamma / 1000 if number % 7 == 3 else 1000 * gamma if number % 7 == 5 else gamma,
            MU_MU: sympy.S.Zero if number % 4 == 2 else positive_rational(rng),
        }

    def completed(self, point: Mapping[Any, Any], fixed: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the point with the fixed values put in, inside the domain c, gamma > 0, |mu|^2 >= 0."""
        point = self.with_fixed(point, fixed)
        if not (point[C] > 0 and point[GAMMA] > 0 and point[MU_MU] >= 0):
            raise RejectedPointError("outside the domain c, gamma > 0, mu_mu >= 0")
        return point

    def values(self, point: Mapping[Any, Any], needed: set[Any], digits: int) -> dict[Any, Any]:
        """Return the closed form's numbers; tau from m; derivatives by differences."""
        precision = digits + 10
        model = LinearRegression(mu_mu=point[MU_MU])
        solution = model.solve(point[C], point[GAMMA], digits=precision)
        context = local_context(bits(precision))
        found = {symbol: context.mpf(int(value.p)) / int(value.q) for symbol, value in point.items()}
        names = {"m": "trace", "q": "quadratic_form", "E": "error"}
        found |= {SOLVED[name]: context.convert(solution[key]) for name, key in names.items()}
        found[SOLVED["tau"]] = found[SOLVED["m"]] / (1 + found[SOLVED["m"]])
        if needed & {SOLVED["dm"], SOLVED["dq"]}:
            slopes = slopes_by_gamma(lambda at, count: model.solve(point[C], at, digits=count), point[GAMMA], digits)
            found |= dict(zip((SOLVED["dm"], SOLVED["dq"]), slopes, strict=True))
        return found

    def prove(self, claim: Claim, domain: Domain) -> str | None:
        """Return an identity, or a sign that all coefficients show, in the positive generators of the branch."""
        try:
            one, values, conditions, how = _chart(domain)
            units = [part for g in one.field.gens[:2] for part in (g, 1 + g)]  # s, t > 0
            excess = evaluate(claim.excess, values, one)
            if claim.is_equality:
                why = vanishes(excess, conditions, units)
                return None if why is None else "; ".join(part for part in (f"an identity: {how}", why) if part)
        except NotExactError:
            return None
        found = sign(excess)
        if found == 0 and not claim.is_strict:
            return f"both sides are equal: {how}"
        zero = {"r"} if any(c.is_strict and _side_of_one(c) for c in domain.conditions) else {"r", "w"}
        if found != 1 or (claim.is_strict and not _strictly(excess, zero)):
            return None
        return f"the difference is a quotient of polynomials with positive coefficients: {how}"


def _strictly(excess: Any, zero: set[str]) -> bool:
    """Whether a term of the numerator is free of the generators that may be zero."""
    places = [place for place, symbol in enumerate(excess.field.symbols) if str(symbol) in zero]
    return any(not any(monomial[place] for place in places) for monomial in excess.numer)


def _chart(domain: Domain) -> tuple[Any, dict[Any, Any], list[Any], str]:
    """Return 1, the values by symbol, conditions that must vanish, and the chart in words, for a domain.

    c fixed, c > 1 or c < 1 is solved for a generator, which stays a polynomial with positive coefficients.
    """
    _, s, t, r, w = field("s,t,r,w", QQ)
    one, how = s.field.one, regression_chart.ARGUMENT
    fixed = dict(domain.fixed)
    c = fixed.get(C)
    sides = {_side_of_one(claim) for claim in domain.conditions}
    if c is not None and c.is_Rational:
        value = one * int(c.p) / int(c.q)
        s, t = (value * (1 + t) - 1, t) if c >= 1 else (s, (1 + s) / value - 1)
        how += f", c = {c}"
        del fixed[C]
    elif 1 in sides:
        s, how = (1 + w) * (1 + t) - 1, how + ", c = 1 + w"
    elif -1 in sides:
        t, how = (1 + w) * (1 + s) - 1, how + ", 1/c = 1 + w"
    noise = fixed.get(MU_MU) == 0
    base, values = regression_chart.chart(noise)
    places = dict(zip(base.field.symbols, (s, t, r), strict=True))
    found = {name: evaluate(element.as_expr(), places, one) for name, element in values.items()}
    table = {symbol: found[symbol.name] for symbol in (C, GAMMA, MU_MU, *SOLVED.values())}
    conditions = [evaluate(sympy.sympify(symbol - value), table, one) for symbol, value in fixed.items()]
    return one, table, conditions, how


def _side_of_one(claim: Claim) -> int:
    """1 for the condition c > 1 (or >=), -1 for c < 1, 0 for any other."""
    for value, side in ((C - 1, 1), (1 - C, -1)):
        if sympy.expand(claim.excess - value) == 0 and not claim.is_equality:
            return side
    return 0
