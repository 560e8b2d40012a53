"""`hermite-rmt verify`: derivations, reference values and a round of simulation, with a verdict for each."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from scipy import stats

import hermite_rmt
from hermite_rmt.cli import DONE, FAILED, INTERRUPTED, fail
from hermite_rmt.cli.output import number_text, print_json, print_table, progress_bar
from hermite_rmt.cli.verdicts import KeptVerdicts, Verdict, largest
from hermite_rmt.core.numbers import read_real
from hermite_rmt.hermite import Nonlinearity
from hermite_rmt.study import sweep
from hermite_rmt.study.executors import process_pool
from hermite_rmt.theory.attention import Attention
from hermite_rmt.theory.linear_regression import LinearRegression
from hermite_rmt.theory.overlaps import Overlaps

OVERLAPS = {"mu_mu": "mm", "mu_K": "mk", "mu_Q": "mq", "K_K": "kk", "Q_Q": "qq", "K_Q": "kq"}
EXTREME = 6  # the last reference points, for which double precision promises two digits less
DIGITS = 35
SIMULATION = {"n": 400, "trials": 12, "rng": 0}
FALSE_ALARMS = 1e-3  # probability that a right theory fails any of the simulated cells by chance
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
FINITE_SIZE = 2.0  # allowance for the O(1/n) gap between finite n and the limit, times 1/n


def run(full: bool, folder: Path | None, jobs: int, as_json: bool) -> int:
    """Run all checks and print a table of verdicts.

    Parameters
    ----------
    full : whether to test the claims, the limits of the theory and all cells of theory against simulation as well
    folder : where finished checks and trials are kept, so that an interrupted run continues; None: nowhere
    jobs : processes at work at a time; the results do not depend on it
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    paths = derivation_paths()
    kept = KeptVerdicts(folder, paths)
    rounds: list[tuple[str, Callable[[], Iterable[Verdict]]]] = [
        ("reference values", reference_verdicts),
        ("simulation", simulation_verdicts),
    ]
    if full:
        from hermite_rmt.cli.evidence import cell_verdicts, claim_verdicts, limit_verdicts, spot_verdicts

        rounds += [("claims", claim_verdicts), ("spots", spot_verdicts), ("limits", limit_verdicts)]
    verdicts: list[Verdict] = []
    try:
        for about, checks in rounds:
            found = kept.get(about)
            if found is None:
                found = list(checks())
                kept.keep(about, found)
            verdicts += found
        verdicts += derivation_verdicts(paths, jobs, kept)
        if full:
            with process_pool(jobs) if jobs > 1 else nullcontext() as executor:
                verdicts += cell_verdicts(folder, executor)
    except KeyboardInterrupt:
        if folder is None:
            raise
        return fail(f"interrupted; {folder} keeps what is done, the same command continues", INTERRUPTED)
    if as_json:
        print_json(
            [
                {**asdict(v), "worst": None if v.worst is None else number_text(v.worst), "passed": v.passed}
                for v in verdicts
            ]
        )
    else:
        print_table(
            "",
            ("check", "cells", "allowed deviation", "worst, in units of allowed", "verdict"),
            [
                (
                    v.check,
                    str(v.cells),
                    v.allowed,
                    "-" if v.worst is None else f"{v.worst:.3g}",
                    "holds" if v.passed else "FAILS",
                )
                for v in verdicts
            ],
        )
    return DONE if all(verdict.passed for verdict in verdicts) else FAILED


def reference_verdicts() -> Iterator[Verdict]:
    """Compare with the 40-digit reference values, which were computed from another form of the equations."""
    points = json.loads(files("hermite_rmt.reference").joinpath("theory_values.json").read_text())
    for label, part, tolerance in (
        ("double precision", points[:-EXTREME], 1e-9),
        ("double precision, extremes", points[-EXTREME:], 1e-7),
    ):
        worst = largest(_deviation(point, None) for point in part)
        yield Verdict(f"reference values, {label}", 2 * len(part), f"{tolerance:g} relative", worst / tolerance)
    worst = largest(_deviation(point, DIGITS) for point in points)
    tolerance = 10.0 ** (2 - DIGITS)
    yield Verdict(f"reference values, digits={DIGITS}", 2 * len(points), f"{tolerance:g} relative", worst / tolerance)


def simulation_verdicts() -> Iterator[Verdict]:
    """Compare with simulation: Student's quantile for all cells together, plus the stated finite-size allowance."""
    relu = Nonlinearity("relu(x)").centred()
    models = {
        "attention, tanh, noise": Attention("tanh(x)"),
        "attention, tanh, aligned weights": Attention("tanh(x)", overlaps=Overlaps.aligned(1)),
        "attention, tanh, anti-aligned keys": Attention("tanh(x)", overlaps=Overlaps(1, -1, 1, 1, 1, -1)),
        "attention, centred relu, noise": Attention(relu),
        "linear regression, signal": LinearRegression(1),
    }
    c, gamma = [0.5, 2], [0.1, 1]
    n, trials = SIMULATION["n"], SIMULATION["trials"]
    cells = len(models) * len(c) * len(gamma)
    quantile = stats.t.ppf(1 - FALSE_ALARMS / cells / 2, trials - 1)
    for label, model in models.items():
        with progress_bar(label) as progress:
            data = sweep(model, c, gamma, simulate=SIMULATION, progress=progress)
        allowed = quantile * data.error_standard_error + FINITE_SIZE / n
        worst = largest((abs(data.error_simulated - data.error_at_realised) / allowed).values.ravel())
        text = f"{quantile:.3g} standard errors + {FINITE_SIZE:g}/n"
        yield Verdict(f"simulation, {label}", len(c) * len(gamma), text, worst)


def derivation_verdicts(paths: Sequence[Path], jobs: int, kept: KeptVerdicts) -> Iterator[Verdict]:
    """Run every derivation in a process of its own: each ends in assertions."""
    threads = dict.fromkeys(BLAS_THREADS, "1") if jobs > 1 else {}

    def verdict(path: Path) -> Verdict:
        if (known := kept.get(path.stem)) is not None:
            return known[0]
        command = [sys.executable, str(path)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **threads})
        if finished.returncode:
            print(finished.stderr, file=sys.stderr, end="")
        worst = None if finished.returncode else 0.0
        found = Verdict(f"derivation {path.stem}", 1, "no failed assertion", worst)
        kept.keep(path.stem, [found])
        return found

    with progress_bar("derivations") as progress, ThreadPoolExecutor(jobs) as threads_of_jobs:
        for done, found in enumerate(threads_of_jobs.map(verdict, paths)):
            yield found
            if progress is not None:
                progress(done + 1, len(paths))


def derivation_paths() -> list[Path]:
    """Return the derivations: those installed with the package or, in a checkout, those beside it."""
    package = Path(hermite_rmt.__file__).parent
    for folder in (package / "derivations", package.parent / "derivations"):
        if paths := sorted(folder.glob("[0-9][0-9]_*.py")):
            return paths
    raise FileNotFoundError("derivations: not installed with the package, and not beside it")


def _deviation(point: Mapping[str, Any], digits: int | None) -> float:
    """Return the larger relative deviation of error and quadratic form at a reference point."""
    convert: Callable[[Any], Any] = float if digits is None else str
    overlaps = Overlaps(**{name: convert(point["overlaps"][short]) for name, short in OVERLAPS.items()})
    numbers = {name: convert(point[name]) for name in ("a1", "nu", "diagonal")}
    model = Attention(overlaps=overlaps, **numbers)
    return largest(
        _relative(getattr(model, quantity)(convert(point["c"]), convert(point["gamma"]), digits=digits), point[key])
        for quantity, key in (("error", "E"), ("quadratic_form", "q"))
    )


def _relative(value: Any, reference: str) -> float:
    if not math.isfinite(value):
        return math.nan
    exact = read_real(reference, "reference").rational
    computed = read_real(value, "value").rational
    assert exact is not None
    assert computed is not None
    return abs(float(computed / exact - 1))
