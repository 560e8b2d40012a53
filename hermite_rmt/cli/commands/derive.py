"""`hermite-rmt derive`: the equations of a model, or the derivation of a statement."""

from __future__ import annotations

from typing import Any

from hermite_rmt.cli.output import print_json

MODELS = ("attention", "linear_regression")
STATEMENTS = ("proposition-1", "theorem-1", "linear-regression", "marchenko-pastur", "semicircle")


def run(name: str, as_text: bool, as_latex: bool, steps: bool, as_json: bool) -> None:
    """Print the equations of a model (LaTeX), or the derivation of a statement (text) by the engine.

    Raises
    ------
    ValueError
        If there is no such model or statement, or `steps` is asked of a model.
    """
    if as_text and as_latex:
        raise ValueError("text, latex: got both; allowed: one of them")
    if name in STATEMENTS:
        _derive(name, as_latex, steps, as_json)
        return
    system = _equations(name)
    if steps:
        raise ValueError(f"steps: got a model, {name}; allowed with: {', '.join(STATEMENTS)}")
    if as_json:
        print_json(
            {
                "model": name,
                "unknowns": [str(symbol) for symbol in system.unknowns],
                "parameters": [str(symbol) for symbol in system.parameters],
                "residuals": [str(residual) for residual in system.residuals],
                "observables": {key: str(value) for key, value in system.observables.items()},
                "branch": system.branch,
                "citations": list(system.citations),
                "latex": system.latex(),
            }
        )
    elif as_text:
        for residual in system.residuals:
            print(f"{residual} = 0")
        for key, value in system.observables.items():
            print(f"{key} = {value}")
        for symbol, meaning in system.meanings.items():
            print(f"where {symbol}: {meaning}")
        print(f"branch: {system.branch}")
    else:
        print(system.latex())


def _derive(name: str, as_latex: bool, steps: bool, as_json: bool) -> None:
    from hermite_rmt.theory.statements.derivation import DERIVATIONS

    sections = list(DERIVATIONS[name].sections(steps))
    if as_json:
        parts = [{"heading": s.heading, "text": list(s.text), "latex": list(s.latex)} for s in sections]
        print_json({"statement": name, "sections": parts})
    else:
        print("\n\n".join(section.typeset() if as_latex else str(section) for section in sections))


def _equations(name: str) -> Any:
    if name == "attention":
        from hermite_rmt.theory.attention import Attention

        return Attention(a1="1/2", nu="1/2").equations
    if name == "linear_regression":
        from hermite_rmt.theory.linear_regression import LinearRegression

        return LinearRegression().equations
    raise ValueError(f"name: got {name!r}; allowed: {', '.join((*STATEMENTS, *MODELS))}")
