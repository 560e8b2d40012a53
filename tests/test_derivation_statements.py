"""`hermite-rmt derive` and what is behind it: each statement comes out of the engine as the theory says it."""

import json

import pytest
import sympy

from hermite_rmt.cli import BAD_INPUT, DONE, main
from hermite_rmt.cli.commands.derive import STATEMENTS
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.check import Level, check
from hermite_rmt.theory.overlaps import Overlaps
from hermite_rmt.theory.statements.derivation import DERIVATIONS

HEADINGS = ["statement", "expression", "equations", "observables", "where", "branch", "sources"]


def test_the_command_knows_every_derivation():
    assert tuple(DERIVATIONS) == STATEMENTS


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_prints_text_latex_and_json(name, capsys):
    assert main(["derive", name]) == DONE
    plain = capsys.readouterr().out
    assert main(["derive", name, "--steps"]) == DONE
    longer = capsys.readouterr().out
    positions = [longer.index(f"\n{heading}\n") for heading in HEADINGS[1:]]
    assert positions == sorted(positions)
    assert "step: self-adjointness" in longer
    assert "step:" not in plain
    assert main(["derive", name, "--latex", "--steps"]) == DONE
    latex = capsys.readouterr().out
    assert latex.count(r"\begin{") == latex.count(r"\end{")
    assert latex.count("{") == latex.count("}")
    assert "<" not in latex.replace("$<$", "")
    assert main(["derive", name, "--json"]) == DONE
    sections = json.loads(capsys.readouterr().out)["sections"]
    assert set(HEADINGS) <= {section["heading"] for section in sections}


def _equations(name):
    (section,) = (s for s in DERIVATIONS[name].sections() if s.heading == "equations")
    return section.text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("semicircle", "m^2 + z m + 1"),
        ("marchenko-pastur", "c z m - c m + c + z m^2 + m"),
        ("linear-regression", "gamma m^2 + (gamma + c - 1) m - 1"),
    ],
)
def test_the_equations_are_those_of_the_theory(name, expected):
    system = {"semicircle": "semicircle", "marchenko-pastur": "marchenko_pastur"}.get(name, "linear_regression")
    (equation,) = _equations(name)
    assert check(expected, system, points=2).level is Level.PROVED
    assert check(equation.replace("**", "^").replace("g11", "m"), system, points=2).level is Level.PROVED


def test_the_derived_response_gives_the_solver_s_quadratic_form():
    """Theorem 1 as derived, its unknowns solved for at a point, against the model: an independent route."""
    derivation = DERIVATIONS["theorem-1"]
    response, form = derivation._response()
    overlaps = {"mu_mu": 2, "mu_K": "1/2", "mu_Q": "-3/5", "K_K": "13/10", "Q_Q": "7/10", "K_Q": "-2/5"}
    point = {
        "a1": sympy.Rational(3, 5),
        "c": 2,
        "gamma": 1,
        "kappa": sympy.Rational(-3, 5),
        "eta": sympy.Rational(7, 50),
    }
    model = Attention(a1="3/5", nu="1/2", overlaps=Overlaps(**overlaps)).solve(2, 1, digits=30)
    names = {"mu_mu": "<mu,mu>", "mu_K": "<mu,w_K>", "mu_Q": "<mu,w_Q>"}
    names |= {"K_K": "<w_K,w_K>", "Q_Q": "<w_Q,w_Q>", "K_Q": "<w_K,w_Q>"}
    values = {names[key]: sympy.Rational(value) for key, value in overlaps.items()} | point
    system = derivation.reduction.system
    every = [*system.residuals, *response, form]
    values = {s: values[str(s)] for e in every for s in e.free_symbols if str(s) in values}
    start = _unknowns(system, model, values)
    linear = [sympy.N(r.xreplace({**values, **start}), 30) for r in response]
    unknowns = sorted({s for r in linear for s in r.free_symbols}, key=str)
    (solved,) = sympy.linsolve(linear, unknowns)
    q = form.xreplace({**values, **start}).xreplace(dict(zip(unknowns, solved, strict=True)))
    assert abs(q / sympy.Float(str(model["quadratic_form"]), 30) - 1) < 1e-20


def _unknowns(system, model, values):
    """Proposition 1's unknowns from the solver's m, tau, delta: five entries of g, the others by linear equations."""
    m, tau, delta = (sympy.Float(str(model[name]), 40) for name in ("trace", "tau", "delta"))
    numbers = {str(s): v for s, v in values.items()}
    c, gamma, eta = numbers["c"], numbers["gamma"], numbers["eta"]
    sigma2, a1 = eta / c, numbers["a1"]
    k, g_plus = numbers["kappa"] - sigma2 * tau, gamma + sigma2 * delta
    g_us = a1 * delta / (c * g_plus) + k * gamma * m / g_plus
    g_ss = a1 * tau / c + a1 * k * delta / (c * g_plus) + (k**2 + sigma2 * m * g_plus) * gamma * m / g_plus
    known = {"g11": m, "g12": g_us, "g13": tau, "g22": g_ss, "g33": -delta}
    rest = [s for s in system.unknowns if str(s) not in known]
    found = {s: known[str(s)] for s in system.unknowns if str(s) in known}
    linear = [r.xreplace({**values, **found}) for r in system.residuals]
    matrix = sympy.Matrix([[r.coeff(s) for s in rest] for r in map(sympy.expand, linear)])
    constant = sympy.Matrix([r.xreplace(dict.fromkeys(rest, 0)) for r in linear])
    solution = (matrix.T * matrix).LUsolve(-matrix.T * constant)
    assert max(abs(entry) for entry in matrix * solution + constant) < 1e-25
    return found | dict(zip(rest, solution, strict=True))


@pytest.mark.parametrize(
    "arguments",
    [["derive", "theorem-2"], ["derive", "attention", "--steps"], ["derive", "semicircle", "--text", "--latex"]],
)
def test_bad_requests_are_refused(arguments, capsys):
    assert main(arguments) == BAD_INPUT
    assert "allowed" in capsys.readouterr().err
