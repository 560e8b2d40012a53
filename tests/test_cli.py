from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pytest
import typer

import hermite_rmt as hr
from hermite_rmt.cli import BAD_INPUT, DONE, FAILED, INTERRUPTED, main
from hermite_rmt.cli.app import app
from hermite_rmt.cli.axes import decimal_text, read_axis
from hermite_rmt.cli.commands import figures as figures_command
from hermite_rmt.core.numbers import exact_text
from hermite_rmt.figures import evidence
from hermite_rmt.figures.gallery import GALLERY

TANH = "tanh(x)"
SIGNAL = ["--mu-mu", "1", "--mu-K", "-.5", "--mu-Q", ".5", "--K-K", "1", "--Q-Q", "1", "--K-Q", "-0.5"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


# error


def test_error_prints_the_digits_of_the_python_call(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("error", TANH, "--c", "0.5", "--gamma", "0.1", "--digits", "30")
    expected = str(hr.Attention(hr.Nonlinearity(TANH)).error("0.5", "0.1", digits=30))
    assert run(capsys, *arguments) == (DONE, f"{expected}\n", "")
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == DONE
    assert json.loads(out)["points"] == [{"c": "0.5", "gamma": "0.1", "error": expected}]


def test_error_in_double_reads_back_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "error", TANH, "--c", "0.5", "--gamma", "0.1")
    assert float(out) == hr.Attention(TANH).error(0.5, 0.1)


@pytest.mark.parametrize("quantity", ["error", "quadratic_form", "trace"])
def test_every_option_of_the_model_arrives(capsys: pytest.CaptureFixture[str], quantity: str) -> None:
    options = [*SIGNAL, "--diagonal", "0.25", "--skip", "1/3", "--centre", "--quantity", quantity]
    _, out, _ = run(capsys, "error", "relu(x)", "--c", "0.5", "--gamma", "0.1", *options)
    model = hr.Attention(
        hr.Nonlinearity("relu(x)").centred(),
        overlaps=hr.Overlaps(1, -0.5, 0.5, 1, 1, -0.5),
        diagonal=0.25,
        skip="1/3",
    )
    assert float(out) == getattr(model, quantity)(0.5, 0.1)


def test_error_on_several_points(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "error", TANH, "--c", "1/3,2", "--gamma", "0.1:1:3")
    header, *lines = [line.split() for line in out.splitlines()]
    assert header == ["c", "gamma", "error"]
    assert [line[:2] for line in lines] == [[c, g] for c in ("1/3", "2") for g in ("0.1", "0.55", "1")]
    expected = hr.Attention(TANH).error([[1 / 3], [2]], [[0.1, 0.55, 1]])
    np.testing.assert_allclose([float(line[2]) for line in lines], expected.ravel(), rtol=1e-14)


# bad input: exit code 2, one line, no traceback


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["error", "relu(x)", "--c", "1", "--gamma", "1"], "mean E f(xi) = 0.398942280401"),
        (["error", "relu(x)", "--c", "1", "--gamma", "1"], "--centre"),
        (["error", TANH, "--c", "0", "--gamma", "1"], "c: got 0"),
        (["error", TANH, "--c", "-0.5", "--gamma", "1"], "c: got -0.5"),
        (["error", TANH, "--c", "nan", "--gamma", "1"], "c: got 'nan'"),
        (["error", TANH, "--c", "1:2", "--gamma", "1"], "c: got '1:2'"),
        (["error", TANH, "--c", "1:2:1", "--gamma", "1"], "c: got '1:2:1'"),
        (["error", TANH, "--c", "1:2:9999999999", "--gamma", "1"], "c: got '1:2:9999999999'"),
        (["error", TANH, "--c", "1", "--gamma", "1,,2"], "gamma: got ''"),
        (["error", TANH, "--c", "1", "--gamma", "-1e-3"], "gamma: got -0.001"),
        (["error", TANH, "--c", "1", "--gamma", "1", "--digits", "0"], "digits: got 0"),
        (["error", TANH, "--c", "1", "--gamma", "1", "--digits", "ten"], "--digits"),
        (["error", TANH, "--c", "1", "--gamma", "1", "--mu-K", "1"], "overlap"),
        (["error", TANH, "--c", "1", "--gamma", "1", "--skip", "much"], "skip: got 'much'"),
        (["error", "tanh(x)+y", "--c", "1", "--gamma", "1"], "y"),
        (["error", "__import__('os').system('true')", "--c", "1", "--gamma", "1"], ""),
        (["error", "exp(0.3*x**2)", "--centre", "--c", "1", "--gamma", "1"], "infinite"),
        (["error", TANH, "--c", "1"], "--gamma"),
        (["error", TANH, "--c", "1", "--gama", "1"], "--gama"),
        (["error", "-tanh(x)", "--c", "1", "--gamma", "1"], "goes after --"),
        (["nothing"], "nothing"),
        (["curve", TANH, "--c", "1", "--gamma", "1", "--plot", "curve.jpeg"], ".png, .pdf, .svg"),
        (["curve", TANH, "--c", "0.001,1", "--gamma", "1", "--simulate", "50"], "n: got 50"),
        (["curve", TANH, "--c", "1", "--gamma", "1", "--simulate", "50", "--trials", "0"], "--trials"),
        (["curve", TANH, "--c", "1", "--gamma", "1", "--output", "no/such/folder/curve.csv"], "no/such/folder"),
        (["compare", TANH, "--c", "1", "--gamma", "1", "--scale", "norm"], "--scale"),
        (["simulate", TANH, "--n", "50", "--p", "25", "--gamma", "1", "--noise", "loud"], "noise: got 'loud'"),
        (["derive", "perceptron"], "perceptron"),
        (["figures", "nothing"], "name: got 'nothing'"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == BAD_INPUT
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("hermite-rmt: ")
    assert named in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_a_failed_computation_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise hr.SolveError("not converged:\nthe steps ran out", solution=None)

    monkeypatch.setattr(hr.Attention, "error", fail)
    code, _, err = run(capsys, "error", TANH, "--c", "1", "--gamma", "1")
    assert (code, err) == (FAILED, "hermite-rmt: not converged: the steps ran out\n")


def test_an_interrupt_is_exit_code_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hr.Attention, "error", interrupt)
    assert main(["error", TANH, "--c", "1", "--gamma", "1"]) == INTERRUPTED


# other commands


def test_coefficients(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plot = tmp_path / "spectrum.pdf"
    code, out, _ = run(capsys, "coefficients", "relu(x)", "--order", "2", "--digits", "25", "--plot", str(plot))
    f = hr.Nonlinearity("relu(x)")
    lines = [line.split(maxsplit=2) for line in out.splitlines()[1:]]
    assert code == DONE
    assert [line[1] for line in lines] == [*map(str, f.coefficients(2, digits=25)), str(f.nu(digits=25))]
    assert lines[0][2] == str(f.closed_form(0))
    assert plot.stat().st_size > 1000


def test_coefficients_centred_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "coefficients", "relu(x)", "--order", "1", "--centre", "--json")
    values = json.loads(out)
    assert float(values["a_0"]["value"]) == 0
    assert values["a_1"] == {"value": "0.5", "closed_form": "1/2"}


def test_compare(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output, plot = tmp_path / "compare.csv", tmp_path / "compare.svg"
    signal = ["--mu-mu", "1", "--mu-K", "1", "--mu-Q", "1", "--K-K", "1", "--Q-Q", "1", "--K-Q", "1"]
    arguments = ["compare", TANH, "--c", "0.05:2:5", "--gamma", "0.1", *signal, "--scale", "trace"]
    code, out, _ = run(capsys, *arguments, "--output", str(output), "--plot", str(plot))
    models = [hr.Attention(TANH, overlaps=hr.Overlaps.aligned(1)), hr.LinearRegression(1)]
    data = hr.compare(models, np.linspace(0.05, 2, 5), 0.1, scale="trace")
    assert code == DONE
    np.testing.assert_allclose(
        [float(row["error"]) for row in rows_of(output)], data.error.values.ravel(), rtol=1e-12
    )
    assert f"{data.crossing_c.values[0]:.6f}"[:7] in out
    assert plot.stat().st_size > 1000
    _, out, _ = run(capsys, *arguments, "--json")
    crossing = json.loads(out)["crossings"][0]
    assert float(crossing["c"]) == pytest.approx(data.crossing_c.values[0], rel=1e-9)


def test_compare_labels_several_nonlinearities(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "compare.csv"
    run(capsys, "compare", TANH, "max(x, 0)", "--centre", "--c", "1", "--gamma", "1", "--output", str(output))
    models = [row["model"] for row in rows_of(output)]
    assert len(set(models)) == 3
    assert models[2] == "linear_regression"
    assert models[1].startswith("attention max(")


def test_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", TANH, "--n", "50", "--p", "25", "--gamma", "0.1,1", "--trials", "3", "--seed", "5"]
    code, out, _ = run(capsys, *arguments, "--json")
    results = json.loads(out)["results"]
    estimates = hr.Attention(TANH).simulate(50, 25, [0.1, 1], trials=3, rng=5)
    assert code == DONE
    for k, estimate in enumerate(estimates):
        assert float(results[3 * k]["simulated"]) == estimate.error.mean
        assert float(results[3 * k]["standard_error"]) == estimate.error.standard_error
        assert float(results[3 * k]["theory"]) == pytest.approx(
            hr.Attention(TANH).error(0.5, estimate.gamma), rel=1e-13
        )
    code, out, _ = run(capsys, *arguments)
    assert code == DONE
    assert f"{estimates[0].error.mean:.6g}" in out


def test_figures_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "figures")
    assert code == DONE
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(GALLERY)


def test_all_figures_go_on_without_the_pretrained_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chosen = {name: GALLERY[name] for name in ("pretrained", "spectrum")}
    monkeypatch.setattr(figures_command, "GALLERY", chosen)
    monkeypatch.setattr(evidence, "MODEL_PACKAGE", "no_such_package")
    code, out, err = run(capsys, "figures", "--all", "--directory", str(tmp_path))
    assert code == DONE
    assert err.startswith("pretrained: left out")
    assert "spectrum.png" in out
    assert run(capsys, "figures", "pretrained")[0] == BAD_INPUT


def test_figures_makes_the_named_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "figures", "spectrum", "--directory", str(tmp_path))
    assert code == DONE
    assert {Path(line) for line in out.splitlines()} == set(tmp_path.iterdir())


def test_figures_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, out, _ = run(capsys, "figures", "--json")
    assert [entry["name"] for entry in json.loads(out)] == list(GALLERY)
    code, out, _ = run(capsys, "figures", "spectrum", "--folder", str(tmp_path), "--json")
    assert code == DONE
    (made,) = json.loads(out)
    assert made["name"] == "spectrum"
    assert {Path(name) for name in made["files"]} == set(tmp_path.iterdir())


def test_the_model_is_described_by_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "error", "relu(x)", "--centre", "--c", "1", "--gamma", "1", "--json")
    described = json.loads(out)["model"]
    f = hr.Nonlinearity("relu(x)").centred()
    assert float(described["a1"]) == 0.5
    assert float(described["nu"]) == float(f.nu(digits=25))
    assert described["f"] == repr(f)


# what every command has in common


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


@pytest.mark.parametrize("name", commands())
def test_every_command_speaks_json_and_has_examples(name: str) -> None:
    command = commands()[name]
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options
    lines = command.epilog.split("\n\n")
    assert lines[0] == "Examples:"
    assert all(line.startswith(f"hermite-rmt {name}") for line in lines[1:])


@pytest.mark.parametrize("name", commands())
def test_examples_of_the_help_are_understood(name: str) -> None:
    for line in commands()[name].epilog.split("\n\n")[1:]:
        pages.understood(line)


QUICK_EXAMPLES = [
    line
    for name in ("error", "compare", "coefficients", "derive")
    for line in commands()[name].epilog.split("\n\n")[1:]
]


@pytest.mark.parametrize("line", QUICK_EXAMPLES)
def test_quick_examples_of_the_help_run(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *shlex.split(line)[1:])
    assert (code, err) == (DONE, "")
    assert out or list(tmp_path.iterdir())


SLOW_EXAMPLES = [
    line
    for name in ("demo", "curve", "simulate", "figures")
    for line in commands()[name].epilog.split("\n\n")[1:]
    if "--all" not in line  # hours
]


@pytest.mark.slow
@pytest.mark.parametrize("line", SLOW_EXAMPLES)
def test_slow_examples_of_the_help_run(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    test_quick_examples_of_the_help_run(line, capsys, monkeypatch, tmp_path)


SHARED = (
    "--c",
    "--gamma",
    "--digits",
    "--certified",
    "--json",
    "--trials",
    "--seed",
    "--workers",
    "--output",
    "--centre",
)


@pytest.mark.parametrize("option", SHARED)
def test_an_option_means_one_thing_everywhere(option: str) -> None:
    meanings = {
        (parameter.help, parameter.is_flag, tuple(parameter.opts))
        for command in commands().values()
        for parameter in command.params
        if option in parameter.opts
    }
    assert len(meanings) == 1


def test_completion() -> None:
    script = "import sys; from hermite_rmt.cli import main; sys.argv[0] = 'hermite-rmt'; sys.exit(main())"
    for words, count, expected in (
        ("hermite-rmt cu", 1, ["curve"]),
        ("hermite-rmt compare --sca", 2, ["--scale"]),
        ("hermite-rmt compare --scale t", 3, ["trace"]),
    ):
        asked = {"_HERMITE_RMT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env={"PATH": "", **asked}
        )
        assert done.stdout.split() == expected


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (DONE, f"hermite-rmt {hr.__version__}\n")


@pytest.mark.parametrize(
    "command",
    ["", "demo", "error", "curve", "compare", "simulate", "coefficients", "derive", "figures", "claims", "verify"],
)
def test_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (DONE, "")
    assert "--help" in out


def test_help_loads_no_numerics() -> None:
    script = (
        "import sys\n"
        "from hermite_rmt.cli import main\n"
        "main(['curve', '--help'])\n"
        "assert not {'numpy', 'sympy', 'mpmath', 'matplotlib', 'xarray'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_no_colour_codes_in_a_pipe_or_under_no_color() -> None:
    command = [
        sys.executable,
        "-c",
        "from hermite_rmt.cli import main; main(['simulate', 'tanh(x)', *'--n 20 --p 10 --gamma 1'.split()])",
    ]
    for environment in ({}, {"NO_COLOR": "1"}):
        done = subprocess.run(command, check=True, capture_output=True, env={"PATH": "", **environment})
        assert b"\x1b" not in done.stdout
        assert done.stderr == b""


# axes


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.5", [Fraction(1, 2)]),
        ("0.5,1,2", [Fraction(1, 2), 1, 2]),
        (" 1/3 , 1e-3", [Fraction(1, 3), Fraction(1, 1000)]),
        ("0.1:4:40", [Fraction(k, 10) for k in range(1, 41)]),
        ("4:1:2", [4, 1]),
    ],
)
def test_axes_are_exact(text: str, values: list[Fraction]) -> None:
    assert read_axis(text, "c") == values


def test_texts_of_fractions_read_back() -> None:
    for value in [Fraction(a, b) for a in (1, 7, 1000, -3) for b in (1, 2, 3, 512, 625, 10**9)]:
        assert Fraction(exact_text(value)) == value
        assert float(decimal_text(value)) == float(value)
        assert abs(Fraction(decimal_text(value, digits=40)) / value - 1) < Fraction(1, 10**44)
