"""Gaussian integrals on which other tools are wrong or hang: hard_cases.json, each at its tolerance.

Integrals over an interval are Gaussian expectations too: of sqrt(2 pi) exp(x^2/2) g(x), zero outside the interval.
"""

import mpmath
import pytest
import sympy

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.quadrature import coefficient, coefficients, energy

EXPECTATIONS = """
a05 a06 a16 a19 a21 a21b a22 a23 a24b a26 b02 b05 b05b b06 b07 b07b b10 b11 b12c b13 b14 b14b b15 b27 f01 f01b
"""
INTEGRALS = "a01 a03 a07 a08 a09 a10 a15 b16 b18 b19 b20 b22 b23 b24 b25 b26"


def case(hard_cases, identifier):
    (row,) = [row for row in hard_cases(identifier[0]) if row["id"] == identifier]
    names = {"x": X, "e": sympy.E, **row["params"]}
    read = sympy.sympify(row["f"].replace("exp(a*", "exp(-1*").replace("x0", "(-1)"), locals=names)
    # the decimals of the input are exact; floats of few digits would be rounded in sums
    read = read.xreplace({number: sympy.Rational(str(number)) for number in read.atoms(sympy.Float)})
    right = sympy.sympify(row["right_value"])
    return row, read, right


def agree(value, right, digits):
    context = local_context(300)
    exact = context.mpf(str(sympy.N(right, 70)))
    if exact == 0:
        return abs(value) <= mpmath.mpf(10) ** -digits
    return abs(context.convert(value) / exact - 1) <= context.mpf(10) ** (1 - digits)


@pytest.mark.parametrize("identifier", EXPECTATIONS.split())
def test_expectation(hard_cases, identifier):
    row, expression, right = case(hard_cases, identifier)
    digits = row["tolerance_digits"]
    integrand = Integrand.of_expression(expression)
    if row["quantity"] == "nu":
        value = energy(integrand, digits)
    else:
        order = 0 if row["quantity"] == "E[f]" else int(row["quantity"].removeprefix("a_"))
        value = coefficients(integrand, order, digits)[order]
    assert agree(value, right, digits)


@pytest.mark.parametrize("identifier", INTEGRALS.split())
def test_integral(hard_cases, identifier):
    row, integral, right = case(hard_cases, identifier)
    inner, (variable, low, high) = integral.args
    inside = sympy.And(*(c for c in (low < X, high > X) if c not in (True, False)))
    weighted = sympy.sqrt(2 * sympy.pi) * sympy.exp(X**2 / 2) * inner.subs(variable, X)
    f = sympy.Piecewise((weighted, inside), (0, True)) if inside is not sympy.true else weighted
    digits = row["tolerance_digits"]
    assert agree(coefficients(Integrand.of_expression(f), 0, digits)[0], right, digits)


def test_infinite_energy_is_refused_and_its_mean_is_not(hard_cases):
    _, expression, _ = case(hard_cases, "a24")
    with pytest.raises(ValueError, match="infinite"):
        energy(Integrand.of_expression(expression), 30)
    assert coefficients(Integrand.of_expression(expression), 0, 30)[0] > 1


@pytest.mark.slow
def test_high_degree(hard_cases):
    _, expression, right = case(hard_cases, "b09")
    assert agree(coefficient(Integrand.of_expression(expression), 2500, 35), right, 35)


def test_double_breakpoints_are_not_thirds():
    """|x - 1/3|^(-1/2) with the double 1/3 as its singularity is another function, singular elsewhere."""
    exact = coefficients(Integrand.of_expression(1 / sympy.sqrt(sympy.Abs(X - sympy.Rational(1, 3)))), 0, 30)[0]
    rounded = coefficients(Integrand.of_expression(1 / sympy.sqrt(sympy.Abs(X - 1 / 3))), 0, 30)[0]
    assert 0 < abs(exact - rounded) < 1e-15


def test_same_name_other_assumptions(hard_cases):
    (row,) = [row for row in hard_cases("g") if row["id"] == "g07"]
    plain, real = sympy.Symbol("x"), sympy.Symbol("x", real=True)
    for symbol in (plain, real):
        f = Integrand.of_expression(symbol * sympy.exp(-(symbol**2) / 2))
        assert coefficients(f, 0, 30)[0] == int(row["right_value"])


def test_scalar_callable_keeps_its_fractions(hard_cases):
    relu = Integrand.of_callable(lambda t: t if t > 0 else 0)
    assert relu.double([-1.0, 0.5, 1.5]).tolist() == [0, 0.5, 1.5]
