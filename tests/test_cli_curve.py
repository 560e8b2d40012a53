from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import hermite_rmt as hr
from hermite_rmt.cli import BAD_INPUT, DONE, INTERRUPTED, main
from hermite_rmt.study.trials import Portable, run_trial

CURVE = ["curve", "tanh(x)", "--c", "0.3,1,2", "--gamma", "0.1,1"]
SIMULATED = [*CURVE, "--simulate", "40", "--trials", "3", "--seed", "2"]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def test_long_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(CURVE) == DONE
    out = capsys.readouterr().out
    assert "model,c,gamma,error,error_se,n,p,trials\n" in out
    rows = table(out)
    assert len(rows) == 12
    for model in (hr.Attention("tanh(x)"), hr.LinearRegression()):
        own = [row for row in rows if row["model"] == model.name]
        assert [(row["c"], row["gamma"]) for row in own] == [(c, g) for c in ("0.3", "1", "2") for g in ("0.1", "1")]
        errors = [float(row["error"]) for row in own]
        np.testing.assert_array_equal(errors, model.error([[0.3], [1], [2]], [[0.1, 1]]).ravel())
    assert {row[name] for row in rows for name in ("error_se", "n", "p", "trials")} == {""}


def test_simulated_rows_stand_at_the_realised_ratio_beside_the_theory_there(tmp_path: Path) -> None:
    output = tmp_path / "curve.csv"
    assert main([*CURVE, "--simulate", "37", "--trials", "3", "--seed", "2", "--output", str(output)]) == DONE
    rows = table(output.read_text())
    simulated = [row for row in rows if row["n"]]
    assert [int(row["p"]) for row in simulated[::2]] == [11, 37, 74] * 2
    models = {model.name: model for model in (hr.Attention("tanh(x)"), hr.LinearRegression())}
    for row in simulated:
        assert float(row["c"]) == int(row["p"]) / 37
        (theory,) = [r for r in rows if not r["n"] and all(r[k] == row[k] for k in ("model", "c", "gamma"))]
        model, gamma = models[row["model"]], float(row["gamma"])
        assert float(theory["error"]) == pytest.approx(model.error(float(row["c"]), gamma), rel=1e-13)
        samples = [
            run_trial(Portable(model), (37, int(row["p"]), k), [gamma], 2, {})[repr(gamma)]["error"] for k in range(3)
        ]
        assert float(row["error"]) == pytest.approx(np.mean(samples), rel=1e-14)
        assert float(row["error_se"]) == pytest.approx(stats.sem(samples), rel=1e-12)
        assert row["trials"] == "3"


def test_json_has_the_same_rows_as_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "curve.csv"
    assert main([*SIMULATED, "--json", "--output", str(output)]) == DONE
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows == [{name: text for name, text in row.items() if text} for row in table(output.read_text())]


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curve", "tanh(x)", "--c", "1/3", "--gamma", "0.1", "--digits", "25"]) == DONE
    attention, regression = table(capsys.readouterr().out)
    assert attention["error"] == str(hr.Attention("tanh(x)").error("1/3", "0.1", digits=25))
    assert regression["error"] == str(hr.LinearRegression().error("1/3", "0.1", digits=25))
    assert attention["c"] == "0." + "3" * 30


def test_plot_and_output_together_say_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output, plot = tmp_path / "curve.csv", tmp_path / "curve.png"
    assert main([*SIMULATED, "--output", str(output), "--plot", str(plot)]) == DONE
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_workers_do_not_matter(tmp_path: Path) -> None:
    outputs = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for workers, output in enumerate(outputs, start=1):
        assert main([*SIMULATED, "--workers", str(workers), "--output", str(output)]) == DONE
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_a_cut_file_is_completed_to_the_same_bytes(tmp_path: Path) -> None:
    output = tmp_path / "curve.csv"
    command = [*SIMULATED, "--output", str(output)]
    assert main(command) == DONE
    whole = output.read_bytes()
    assert main(command) == DONE
    assert output.read_bytes() == whole
    for length in (0, 30, whole.index(b"model,c") + 3, len(whole) // 2, len(whole) - 1):
        output.write_bytes(whole[:length])
        assert main(command) == DONE
        assert output.read_bytes() == whole


def test_trials_of_an_incomplete_cell_are_kept_beside_the_table_until_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, whole = tmp_path / "curve.csv", tmp_path / "whole.csv"
    assert main([*SIMULATED, "--output", str(whole)]) == DONE
    simulate = hr.Attention.simulate
    calls: list[int] = []

    def interrupted(self: hr.Attention, n: int, p: int, *arguments: object, **options: object) -> object:
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(p)
        return simulate(self, n, p, *arguments, **options)

    monkeypatch.setattr(hr.Attention, "simulate", interrupted)
    assert main([*SIMULATED, "--output", str(output)]) == INTERRUPTED
    assert "keeps 2 simulated points" in capsys.readouterr().err
    assert len((tmp_path / "curve.csv.attention.trials").read_text().splitlines()) == 6
    monkeypatch.setattr(hr.Attention, "simulate", simulate)
    assert main([*SIMULATED, "--output", str(output)]) == DONE
    assert output.read_bytes() == whole.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"curve.csv", "whole.csv"}


def test_a_finer_grid_keeps_what_is_there(tmp_path: Path) -> None:
    output = tmp_path / "curve.csv"
    assert main([*SIMULATED, "--output", str(output)]) == DONE
    before = output.read_bytes()
    finer = [argument if argument != "0.3,1,2" else "0.3,1,1.5,2" for argument in SIMULATED]
    assert main([*finer, "--output", str(output)]) == DONE
    assert output.read_bytes().startswith(before)
    assert {row["c"] for row in table(output.read_text())} == {"0.3", "1", "1.5", "2"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--seed", "3"], "seed is 2, not 3"),
        (["--trials", "4"], "simulation is"),
        (["--mu-mu", "1"], "attention is"),
        (["--digits", "20"], "digits is None, not 20"),
    ],
)
def test_a_file_of_another_curve_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: list[str], named: str
) -> None:
    output = tmp_path / "curve.csv"
    assert main([*SIMULATED, "--output", str(output)]) == DONE
    before = output.read_bytes()
    assert main([*SIMULATED, *change, "--output", str(output)]) == BAD_INPUT
    assert named in capsys.readouterr().err
    assert output.read_bytes() == before


@pytest.mark.parametrize("content", [b"my notes", b"x,y\n1,2\n", b"# curve\n", b"\xff\xfe\n"])
def test_a_file_of_something_else_is_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes
) -> None:
    output = tmp_path / "notes.txt"
    output.write_bytes(content)
    assert main([*SIMULATED, "--output", str(output)]) == BAD_INPUT
    assert "notes.txt" in capsys.readouterr().err
    assert output.read_bytes() == content


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_there_is_and_the_same_command_continues(tmp_path: Path, workers: str) -> None:
    output = tmp_path / "curve.csv"
    command = [
        *("curve", "tanh(x)", "--c", "0.2:2:10", "--gamma", "0.1", "--simulate", "100", "--trials", "20"),
        *("--output", str(output)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "hermite_rmt.cli", *command, "--workers", workers],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell starts what it runs in the background with interrupts ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not (output.exists() and b",100," in output.read_bytes()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
    _, err = process.communicate()
    assert process.returncode == INTERRUPTED
    assert err.count("\n") == 1
    assert "the same command continues" in err
    kept = output.read_bytes()
    assert main(command) == DONE
    assert output.read_bytes().startswith(kept)
    assert sum(bool(row["n"]) for row in table(output.read_text())) == 20


def test_a_refused_curve_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "curve.csv"
    arguments = ["curve", "tanh(x)", "--c", "0.001,1", "--gamma", "0.2", "--simulate", "100", "--output", str(output)]
    assert main(arguments) == BAD_INPUT
    assert "n: got 100" in capsys.readouterr().err
    assert not output.exists()
