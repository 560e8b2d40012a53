"""The arguments and options that several commands share, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hermite_rmt.cli.models import ModelOptions

AXIS = "a number, numbers with commas, or FIRST:LAST:COUNT"
MODEL, SIMULATION = "Model", "Simulation"

Formula = Annotated[str, typer.Argument(metavar="F", help="Nonlinearity: 'tanh(x)', 'max(x, 0)', ...")]
Formulas = Annotated[list[str], typer.Argument(metavar="F...", help="Nonlinearities.")]
C = Annotated[str, typer.Option("--c", metavar="C", help=f"p/n: {AXIS}.")]
Gamma = Annotated[str, typer.Option("--gamma", metavar="GAMMA", help=f"Ridge: {AXIS}.")]
Digits = Annotated[int | None, typer.Option("--digits", help="Right decimal digits; double precision without.")]
Certified = Annotated[bool, typer.Option("--certified", help="Print intervals that are proved to hold the value.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, numbers as exact decimal strings.")]
Output = Annotated[
    Path | None, typer.Option("--output", help="CSV file; continued if it holds a part of this already.")
]
Plot = Annotated[Path | None, typer.Option("--plot", help="Figure file: .png, .pdf or .svg.")]
Trials = Annotated[int, typer.Option("--trials", min=1, help="Draws a cell.", rich_help_panel=SIMULATION)]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", "--jobs", min=1, help="Processes; results do not depend on them.", rich_help_panel=SIMULATION
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.", rich_help_panel=SIMULATION)]


def _model(
    centre: Annotated[
        bool, typer.Option("--centre", "--center", help="Subtract the mean of f.", rich_help_panel=MODEL)
    ] = False,
    mu_mu: Annotated[str, typer.Option("--mu-mu", help="|mu|^2, the signal.", rich_help_panel=MODEL)] = "0",
    mu_K: Annotated[str, typer.Option("--mu-K", help="mu.w_K", rich_help_panel=MODEL)] = "0",
    mu_Q: Annotated[str, typer.Option("--mu-Q", help="mu.w_Q", rich_help_panel=MODEL)] = "0",
    K_K: Annotated[str, typer.Option("--K-K", help="|w_K|^2", rich_help_panel=MODEL)] = "0",
    Q_Q: Annotated[str, typer.Option("--Q-Q", help="|w_Q|^2", rich_help_panel=MODEL)] = "0",
    K_Q: Annotated[str, typer.Option("--K-Q", help="w_K.w_Q", rich_help_panel=MODEL)] = "0",
    diagonal: Annotated[
        str, typer.Option("--diagonal", help="Constant on the diagonal of K.", rich_help_panel=MODEL)
    ] = "0",
    skip: Annotated[
        str, typer.Option("--skip", help="Weight of a skip connection, K + skip I.", rich_help_panel=MODEL)
    ] = "0",
) -> ModelOptions:
    overlaps = {"mu_mu": mu_mu, "mu_K": mu_K, "mu_Q": mu_Q, "K_K": K_K, "Q_Q": Q_Q, "K_Q": K_Q}
    return ModelOptions(centre, overlaps, diagonal, skip)


def with_model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options of a model in place of its parameter `options`."""
    own = inspect.signature(command).parameters
    shared = inspect.signature(_model).parameters

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        options = _model(**{name: values.pop(name) for name in shared})
        return command(**values, options=options)

    parameters = [parameter for name, parameter in own.items() if name != "options"]
    hints = {name: hint for name, hint in get_type_hints(command, include_extras=True).items() if name != "options"}
    hints |= get_type_hints(_model, include_extras=True) | {"return": Any}
    run.__annotations__ = hints
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(annotation=hints[p.name], kind=p.KEYWORD_ONLY) for p in (*parameters, *shared.values())]
    )
    return run
