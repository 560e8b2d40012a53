"""`hermite-rmt derive`: the equations of a model."""

from __future__ import annotations

from typing import Any

from hermite_rmt.cli.output import print_json

MODELS = ("attention", "linear_regression")


def run(name: str, as_text: bool, as_json: bool) -> None:
    """Print the equations of a model, its observables, what the symbols mean, and which solution is meant.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    system = _equations(name)
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


def _equations(name: str) -> Any:
    if name == "attention":
        from hermite_rmt.theory.attention import Attention

        return Attention(a1="1/2", nu="1/2").equations
    if name == "linear_regression":
        from hermite_rmt.theory.linear_regression import LinearRegression

        return LinearRegression().equations
    raise ValueError(f"model: got {name!r}; allowed: {', '.join(MODELS)}")
