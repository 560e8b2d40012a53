"""The commands that run a piece of work of their own: demo, derive, verify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hermite_rmt as hr
from hermite_rmt.cli import DONE, FAILED, evidence, main, verdicts
from hermite_rmt.cli.commands import verify
from hermite_rmt.cli.verdicts import KeptVerdicts
from hermite_rmt.figures import gallery
from hermite_rmt.study.evidence import agreement

SMALL = {"n": 60, "trials": 3, "rng": 0}


def test_demo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gallery, "DEMO_SIMULATION", SMALL)
    plot = tmp_path / "demo.png"
    assert main(["demo", "--plot", str(plot)]) == DONE
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.endswith(f"figure: {plot}\n")
    assert f"{hr.Attention('tanh(x)').error(1, '0.1'):.4g}" in captured.out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_demo_as_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gallery, "DEMO_SIMULATION", SMALL)
    plot = tmp_path / "demo.png"
    assert main(["demo", "--plot", str(plot), "--json"]) == DONE
    shown = json.loads(capsys.readouterr().out)
    assert shown["figure"] == str(plot)
    assert len(shown["rows"]) == 20
    (row,) = [r for r in shown["rows"] if (r["tokens"], r["features"], r["c"]) == ("pure noise", "attention", "1.0")]
    assert float(row["theory"]) == pytest.approx(hr.Attention("tanh(x)").error(1, "0.1"), rel=1e-13)
    assert float(row["standard_error"]) > 0


@pytest.mark.parametrize("model", ["attention", "linear_regression"])
def test_derive(capsys: pytest.CaptureFixture[str], model: str) -> None:
    classes = {"attention": hr.Attention(a1="1/2", nu="1/2"), "linear_regression": hr.LinearRegression()}
    system = classes[model].equations
    assert main(["derive", model]) == DONE
    assert capsys.readouterr().out.strip() == system.latex().strip()
    assert main(["derive", model, "--text"]) == DONE
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(system.residuals)] == [f"{residual} = 0" for residual in system.residuals]
    assert lines[-1] == f"branch: {system.branch}"
    assert main(["derive", model, "--json"]) == DONE
    derived = json.loads(capsys.readouterr().out)
    assert derived["unknowns"] == [str(symbol) for symbol in system.unknowns]
    assert derived["latex"] == system.latex()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "SIMULATION", SMALL)
    monkeypatch.setattr(verify, "derivation_paths", lambda: [])  # they run as tests of their own


@pytest.mark.usefixtures("quick")
def test_verify_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--json"]) == DONE
    verdicts = json.loads(capsys.readouterr().out)
    assert len(verdicts) == 8
    assert all(verdict["passed"] and 0 < float(verdict["worst"]) <= 1 for verdict in verdicts)
    assert sum(verdict["cells"] for verdict in verdicts) == 140


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("wrong", [1 + 1e-8, 1.5, float("nan")])
def test_verify_fails_where_the_theory_is_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wrong: float
) -> None:
    right = hr.Attention.solve

    def off(*arguments: object, **options: object) -> object:
        solution = right(*arguments, **options)
        return {name: wrong * value for name, value in solution.values.items()}

    monkeypatch.setattr(hr.Attention, "solve", off)
    assert main(["verify"]) == FAILED
    assert "FAILS" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_verify_runs_derivations(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [tmp_path / "01_right.py", tmp_path / "02_wrong.py"]
    paths[0].write_text("assert 1 + 1 == 2")
    paths[1].write_text("assert 1 + 1 == 3")
    monkeypatch.setattr(verify, "derivation_paths", lambda: paths)
    for jobs in (1, 2):
        found = verify.derivation_verdicts(paths, jobs, KeptVerdicts(tmp_path, paths))
        assert [verdict.passed for verdict in found] == [True, False]
        assert "AssertionError" in capsys.readouterr().err
    assert main(["verify"]) == FAILED  # a planted failure is the command's
    assert "FAILS" in capsys.readouterr().out


def test_what_holds_is_kept_for_one_state_of_the_program(tmp_path: Path) -> None:
    source = tmp_path / "01_source.py"
    source.write_text("assert True")
    right, wrong = verdicts.Verdict("a", 1, "b", 0.5), verdicts.Verdict("a", 1, "b", None)
    kept = KeptVerdicts(tmp_path, [source])
    kept.keep("right", [right])
    kept.keep("wrong", [wrong, right])
    with (tmp_path / "verdicts.jsonl").open("a") as file:
        file.write('{"about": "cut')  # what a killed process may leave
    again = KeptVerdicts(tmp_path, [source])
    assert again.get("right") == [right]
    assert again.get("wrong") is None
    again.keep("more", [right])
    assert KeptVerdicts(tmp_path, [source]).get("more") == [right]
    source.write_text("assert 1")
    assert KeptVerdicts(tmp_path, [source]).get("right") is None
    assert KeptVerdicts(None, [source]).get("right") is None


def test_derivations_are_found() -> None:
    assert verify.derivation_paths()[0].stem == "01_hermite"


def test_the_full_round_resumes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(agreement, "FULL_SIZES", {24: 3, 32: 3, 48: 3})
    monkeypatch.setattr(agreement, "LARGE_SIZES", {24: 3, 32: 3, 64: 3})
    first = list(evidence.cell_verdicts(tmp_path))
    assert len(first) == 26  # twelve nonlinearities and one cell of n = p, error and trace

    def unwanted(*arguments: object, **options: object) -> None:
        raise AssertionError("a finished trial is simulated again")

    monkeypatch.setattr(hr.Attention, "simulate", unwanted)
    assert list(evidence.cell_verdicts(tmp_path)) == first
