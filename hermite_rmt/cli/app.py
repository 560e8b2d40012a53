"""The commands and their options. What they do is in `hermite_rmt.cli.commands`, imported when a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hermite_rmt.cli.models import ModelOptions
from hermite_rmt.cli.options import (
    SIMULATION,
    C,
    Certified,
    Digits,
    Formula,
    Formulas,
    Gamma,
    Json,
    Output,
    Plot,
    Seed,
    Trials,
    Workers,
    with_model_options,
)

app = typer.Typer(
    name="hermite-rmt",
    help="Limits of nonlinear random matrices: Hermite coefficients, error curves, simulation.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _examples(*commands: str) -> str:
    return "\n\n".join(["Examples:", *(f"hermite-rmt {command}" for command in commands)])


class Quantity(StrEnum):
    """What `error` can print."""

    error = "error"
    quadratic_form = "quadratic_form"
    trace = "trace"


class Scale(StrEnum):
    """The scales of `compare`."""

    equal = "equal"
    trace = "trace"


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"hermite-rmt {version('hermite-rmt')}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Limits of nonlinear random matrices: Hermite coefficients, error curves, simulation."""


@app.command(epilog=_examples("demo --plot demo.pdf"))
def demo(
    plot: Annotated[Path, typer.Option("--plot", help="Figure file: .png, .pdf or .svg.")] = Path("demo.png"),
    as_json: Json = False,
) -> Any:
    """Attention against linear regression: a table, a figure, simulated points; about a minute."""
    from hermite_rmt.cli.commands import demo as command

    return command.run(plot, as_json)


@app.command(
    epilog=_examples(
        'error "tanh(x)" --c 0.5 --gamma 0.1 --digits 30',
        'error "relu(x)" --centre --c 0.5,1,2 --gamma 0.1 --mu-mu 1 --json',
    )
)
@with_model_options
def error(
    f: Formula,
    c: C,
    gamma: Gamma,
    options: ModelOptions,
    quantity: Annotated[Quantity, typer.Option(help="What to print.")] = Quantity.error,
    digits: Digits = None,
    certified: Certified = False,
    as_json: Json = False,
) -> Any:
    """Print attention's interpolation error at points, to any number of digits."""
    from hermite_rmt.cli.commands import error as command

    return command.run(f, options, c, gamma, quantity.value, digits, certified, as_json)


@app.command(
    epilog=_examples(
        'curve "tanh(x)" --c 0.1:4:40 --gamma 0.1 --output curve.csv --plot curve.png',
        'curve "tanh(x)" --c 0.1:4:40 --gamma 0.1 --simulate 512 --trials 10 --output curve.csv',
    )
)
@with_model_options
def curve(
    f: Formula,
    c: C,
    gamma: Gamma,
    options: ModelOptions,
    simulate: Annotated[
        int | None, typer.Option("--simulate", metavar="N", min=2, help="Simulate n = N.", rich_help_panel=SIMULATION)
    ] = None,
    trials: Trials = 10,
    seed: Seed = 0,
    workers: Workers = 1,
    digits: Digits = None,
    output: Output = None,
    plot: Plot = None,
    as_json: Json = False,
) -> Any:
    """Compute error curves of attention and linear regression along c, with simulated points on request.

    Prints CSV, or writes it to --output, which an interrupted command keeps and the same command continues.
    """
    from hermite_rmt.cli.axes import read_axis
    from hermite_rmt.cli.commands import curve as command

    simulation = None if simulate is None else (simulate, trials, seed)
    request = command.Request(read_axis(c, "c"), read_axis(gamma, "gamma"), digits, simulation, workers)
    return command.run([options.attention(f), options.regression()], request, output, plot, as_json)


@app.command(
    epilog=_examples('compare "tanh(x)" "cos(x)" --centre --c 0.1:4:40 --gamma 0.1 --scale trace --plot compare.png')
)
@with_model_options
def compare(
    formulas: Formulas,
    c: C,
    gamma: Gamma,
    options: ModelOptions,
    scale: Annotated[
        Scale, typer.Option(help="Same ridge for all (equal), or features scaled to equal trace norm (trace).")
    ] = Scale.equal,
    output: Output = None,
    plot: Plot = None,
    as_json: Json = False,
) -> Any:
    """Compare nonlinearities with each other and with linear regression, and find where their curves cross."""
    from hermite_rmt.cli.axes import read_axis
    from hermite_rmt.cli.commands import compare as command

    models = [*(options.attention(f) for f in formulas), options.regression()]
    return command.run(models, read_axis(c, "c"), read_axis(gamma, "gamma"), scale.value, output, plot, as_json)


@app.command(
    epilog=_examples(
        'simulate "tanh(x)" --n 800 --p 400 --gamma 0.1,1 --trials 20 --seed 1',
        'simulate "tanh(x)" --n 4096 --p 4096 --gamma 0.1 --trials 3',
    )
)
@with_model_options
def simulate(
    f: Formula,
    n: Annotated[int, typer.Option("--n", min=2, help="Number of tokens.")],
    p: Annotated[int, typer.Option("--p", min=1, help="Embedding dimension.")],
    gamma: Gamma,
    options: ModelOptions,
    trials: Trials = 10,
    seed: Seed = 0,
    noise: Annotated[str, typer.Option(help="Law of the noise entries.", rich_help_panel=SIMULATION)] = "gaussian",
    as_json: Json = False,
) -> Any:
    """Simulate the finite model at one n and p, beside its limit at p/n."""
    from hermite_rmt.cli.axes import read_axis
    from hermite_rmt.cli.commands import simulate as command

    return command.run(options.attention(f), n, p, read_axis(gamma, "gamma"), trials, seed, noise, as_json)


@app.command(
    epilog=_examples(
        'coefficients "tanh(x)" --order 6 --digits 40', 'coefficients "relu(x)" --centre --plot spectrum.png'
    )
)
def coefficients(
    f: Formula,
    order: Annotated[int, typer.Option("--order", min=0, help="Highest degree.")] = 6,
    digits: Digits = None,
    certified: Certified = False,
    centre: Annotated[bool, typer.Option("--centre", "--center", help="Subtract the mean of f.")] = False,
    plot: Plot = None,
    as_json: Json = False,
) -> Any:
    """Print the Hermite coefficients a_k and the energy nu of a nonlinearity."""
    from hermite_rmt.cli.commands import coefficients as command

    return command.run(f, ModelOptions(centre=centre), order, digits, certified, plot, as_json)


@app.command(epilog=_examples("derive proposition-1 --steps", "derive theorem-1 --latex", "derive attention --text"))
def derive(
    name: Annotated[
        str,
        typer.Argument(
            help="proposition-1, theorem-1, linear-regression, marchenko-pastur or semicircle: the derivation; "
            "attention or linear_regression: the model's equations, as LaTeX."
        ),
    ],
    steps: Annotated[bool, typer.Option("--steps", help="Every pass from the Dyson equation on.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="LaTeX in place of text.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Plain text in place of LaTeX.")] = False,
    as_json: Json = False,
) -> Any:
    """Derive a statement from its matrix expression, or print the equations of a model."""
    from hermite_rmt.cli.commands import derive as command

    return command.run(name, text, latex, steps, as_json)


@app.command(
    epilog=_examples("figures", "figures crossings spectrum --folder figures", "figures --all --store verification")
)
def figures(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Figures; without any, list them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Make all of them.")] = False,
    folder: Annotated[Path, typer.Option("--folder", "--directory", help="Where they go.")] = Path("figures"),
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Keep simulated trials here: an interrupted command continues (as for verify)."),
    ] = None,
    as_json: Json = False,
) -> Any:
    """Make the project's figures, as PNG and PDF with their data beside them."""
    from hermite_rmt.cli.commands import figures as command

    return command.run(names or [], everything, folder, store, as_json)


@app.command(epilog=_examples("claims", "claims a f --simulate", "claims g --model path/to/model"))
def claims(
    letters: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAIM]...", help="a to g; without any, all (g needs --model).")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="Pretrained model for claim g: a safetensors file or its folder.")
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate the spots beside the claims too.")] = False,
    as_json: Json = False,
) -> Any:
    """Put the paper's claims to the test: verdict, region and evidence of each."""
    from hermite_rmt.cli.commands import claims as command

    return command.run(letters or [], model, simulate, as_json)


@app.command(
    epilog=_examples("pretrained path/to/model --folder figures", "pretrained path/to/model --layer 0 --head 3,7")
)
def pretrained(
    model: Annotated[Path, typer.Argument(help="A safetensors file of GPT-2 or BERT layout, or its folder.")],
    layer: Annotated[str, typer.Option("--layer", help="Layers to simulate: all, or 0,3.")] = "all",
    head: Annotated[
        str, typer.Option("--head", help="Heads to simulate alone beside their sum: all, none, or 0,3.")
    ] = "all",
    trials: Trials = 8,
    tokens: Annotated[bool, typer.Option("--tokens/--no-tokens", help="Real token embeddings too.")] = True,
    folder: Annotated[
        Path | None, typer.Option("--folder", "--directory", help="Save figures and tables here.")
    ] = None,
    as_json: Json = False,
) -> Any:
    """Simulate attention with the weights of a pretrained model, beside Theorem 1 and the limit for these weights."""
    from hermite_rmt.cli.commands import pretrained as command

    return command.run(model, layer, head, trials, tokens, folder, as_json)


@app.command(epilog=_examples("verify --json", "verify --full --folder verification --workers 2"))
def verify(
    full: Annotated[
        bool, typer.Option("--full", help="Claims and all simulated cells to n = 4096 as well: half an hour.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", "--store", help="Keep what is done here: an interrupted run continues.")
    ] = None,
    workers: Workers = 1,
    as_json: Json = False,
) -> Any:
    """Check derivations, reference values and a round of simulation; exit code 1 if anything fails."""
    from hermite_rmt.cli.commands import verify as command

    return command.run(full, folder, workers, as_json)
