from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

import hermite_rmt as hr
from hermite_rmt.simulation.blas import one_blas_thread
from hermite_rmt.study import process_pool, sweep
from hermite_rmt.study.store import JsonLinesStore
from hermite_rmt.study.trials import Portable, run_trial

C = [0.5, "4/3", 2]
GAMMA = [0.1, "1"]
SMALL = {"n": 60, "trials": 3, "rng": 7}


@pytest.fixture(scope="module")
def model() -> hr.LinearRegression:
    return hr.LinearRegression(mu_mu=1)


@pytest.fixture(scope="module")
def whole(model: hr.LinearRegression) -> xr.Dataset:
    return sweep(model, C, GAMMA, simulate=SMALL)


def test_theory_is_the_models(model: hr.LinearRegression) -> None:
    data = sweep(model, C, GAMMA)
    for name in ("error", "quadratic_form", "trace"):
        expected = getattr(model, name)([[v] for v in C], [GAMMA])
        np.testing.assert_array_equal(data[name].values, expected)
        assert data[name].dims == ("c", "gamma")
    assert not [name for name, array in data.variables.items() if "long_name" not in array.attrs]


def test_theory_to_digits_takes_text_exactly(model: hr.LinearRegression) -> None:
    data = sweep(model, "1/3", "0.1", digits=30)
    assert str(data.error.values[0, 0]) == str(model.error("1/3", "0.1", digits=30))


def test_simulated_variables(model: hr.LinearRegression, whole: xr.Dataset) -> None:
    assert whole.p.values.tolist() == [30, 80, 120]
    np.testing.assert_array_equal(whole.c_realised.values, whole.p.values / whole.n.values)
    np.testing.assert_array_equal(
        whole.error_at_realised.values, model.error(whole.c_realised.values[:, None], [GAMMA])
    )
    samples = [run_trial(Portable(model), (60, 80, k), [0.1], 7, {})["0.1"]["error"] for k in range(3)]
    cell = whole.isel(c=1, gamma=0)
    assert cell.error_simulated == np.mean(samples)
    assert cell.error_standard_error == pytest.approx(stats.sem(samples), rel=1e-14)


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_give_the_same_bits(model: hr.LinearRegression, whole: xr.Dataset, workers: int) -> None:
    with ThreadPoolExecutor(workers) as executor:
        xr.testing.assert_identical(sweep(model, C, GAMMA, simulate=SMALL, executor=executor), whole)


def test_spawned_processes_give_the_same_bits() -> None:
    model = hr.Attention("tanh(x)")
    # large enough for products and factorisations that would round differently on two BLAS threads
    simulate = {"n": 256, "trials": 2, "rng": 0}
    with threadpool_limits(2):
        here = sweep(model, [0.5, 1], 0.1, simulate=simulate)
    with process_pool(2) as executor:
        xr.testing.assert_identical(sweep(model, [0.5, 1], 0.1, simulate=simulate, executor=executor), here)


def test_a_model_that_cannot_travel_is_an_error(model: hr.LinearRegression) -> None:
    class Local(hr.LinearRegression):
        pass

    with process_pool(1) as executor, pytest.raises((AttributeError, pickle.PicklingError), match="Local"):
        sweep(Local(), 1, 1, simulate=SMALL, executor=executor)


def test_one_blas_thread_while_a_trial_runs() -> None:
    def blas_threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2):
        with one_blas_thread:
            with one_blas_thread:
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {2}


class Interrupting:
    """Progress that interrupts after some trials, and counts them."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.seen: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.seen.append((done, total))
        if done == self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [0, 2])
def test_an_interrupted_sweep_continues(
    model: hr.LinearRegression, whole: xr.Dataset, tmp_path: Path, workers: int
) -> None:
    store = tmp_path / "trials.jsonl"

    def run(progress: Interrupting) -> xr.Dataset:
        if not workers:
            return sweep(model, C, GAMMA, simulate=SMALL, store=store, progress=progress)
        with ThreadPoolExecutor(workers) as executor:
            return sweep(model, C, GAMMA, simulate=SMALL, store=store, progress=progress, executor=executor)

    with pytest.raises(KeyboardInterrupt):
        run(Interrupting(after=4))
    kept = len(store.read_text().splitlines()) - 1
    assert kept >= 4
    progress = Interrupting(after=-1)
    xr.testing.assert_identical(run(progress), whole)
    assert progress.seen == [(done, 9) for done in range(kept, 10)]


def test_no_computed_trial_is_lost(model: hr.LinearRegression, tmp_path: Path) -> None:
    computed: list[int] = []

    class Counting:
        name, parameters, solve, describe = model.name, model.parameters, model.solve, model.describe

        def simulate(self, n: int, p: int, *arguments: object, **options: object) -> object:
            time.sleep(0.02)  # so that trials are running when the interrupt comes
            estimates = model.simulate(n, p, *arguments, **options)
            computed.append(p)
            return estimates

    store = tmp_path / "trials.jsonl"
    with ThreadPoolExecutor(3) as executor, pytest.raises(KeyboardInterrupt):
        sweep(Counting(), C, GAMMA, simulate=SMALL, store=store, executor=executor, progress=Interrupting(after=2))
    assert 2 < len(computed) < 9
    assert len(store.read_text().splitlines()) - 1 == len(computed)


def test_what_was_computed_beside_a_failed_trial_is_kept(model: hr.LinearRegression, tmp_path: Path) -> None:
    class Failing:
        name, parameters, solve, describe = model.name, model.parameters, model.solve, model.describe

        def simulate(self, n: int, p: int, *arguments: object, **options: object) -> object:
            if p == 80:
                raise RuntimeError("this cell cannot be simulated")
            return model.simulate(n, p, *arguments, **options)

    store = tmp_path / "trials.jsonl"
    with ThreadPoolExecutor(1) as executor, pytest.raises(RuntimeError, match="this cell"):
        sweep(Failing(), C, GAMMA, simulate=SMALL, store=store, executor=executor)
    kept = {json.loads(line)["p"] for line in store.read_text().splitlines()[1:]}
    assert 30 in kept
    assert 80 not in kept


def test_a_cut_last_line_is_dropped(model: hr.LinearRegression, whole: xr.Dataset, tmp_path: Path) -> None:
    store = tmp_path / "trials.jsonl"
    sweep(model, C, GAMMA, simulate=SMALL, store=store)
    complete = store.read_bytes()
    for cut in (5, len(complete) - complete.index(b"\n"), len(complete) - 10):
        store.write_bytes(complete[:-cut])
        xr.testing.assert_identical(sweep(model, C, GAMMA, simulate=SMALL, store=store), whole)
        assert store.read_bytes() == complete


def test_a_store_serves_finer_grids_more_ridges_and_more_trials(
    model: hr.LinearRegression, whole: xr.Dataset, tmp_path: Path
) -> None:
    store = tmp_path / "trials.jsonl"
    sweep(model, C[:1], GAMMA[:1], simulate={**SMALL, "trials": 2}, store=store)
    progress = Interrupting(after=-1)
    xr.testing.assert_identical(sweep(model, C, GAMMA, simulate=SMALL, store=store, progress=progress), whole)
    # the two kept trials lacked a ridge
    assert progress.seen[0] == (0, 9)
    sweep(model, C[1:], GAMMA[1:], simulate=SMALL, store=store, progress=progress)
    assert progress.seen[-1] == (6, 6)


def test_more_ridges_later_give_the_bits_of_all_at_once(model: hr.LinearRegression, tmp_path: Path) -> None:
    gammas = [0.1, 0.2, 0.4, 0.8, 1.6]
    for part in (gammas[:2], gammas):
        data = sweep(model, C, part, simulate=SMALL, store=tmp_path / "trials.jsonl")
    xr.testing.assert_identical(data, sweep(model, C, gammas, simulate=SMALL))


@pytest.mark.parametrize(
    ("change", "named"),
    [({"rng": 8}, "seed is 7, not 8"), ({"noise": "uniform"}, "simulation is"), ({"model": 2}, "model is")],
)
def test_a_store_of_something_else_is_refused(
    model: hr.LinearRegression, tmp_path: Path, change: dict[str, object], named: str
) -> None:
    store = tmp_path / "trials.jsonl"
    sweep(model, C, GAMMA, simulate=SMALL, store=store)
    before = store.read_bytes()
    other = hr.LinearRegression(change.pop("model")) if "model" in change else model
    with pytest.raises(ValueError, match=named):
        sweep(other, C, GAMMA, simulate={**SMALL, **change}, store=store)
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"my notes", b"c,error\n0.5,0.1\n", b'{"format": "other"}\n', b"\xff\xfe\n", b"[1]\n"]
)
def test_a_file_that_is_no_store_is_left_alone(model: hr.LinearRegression, tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "notes.txt"
    store.write_bytes(content)
    with pytest.raises(ValueError, match=r"notes\.txt"):
        sweep(model, C, GAMMA, simulate=SMALL, store=store)
    assert store.read_bytes() == content


def test_a_killed_sweep_resumes_and_loses_nothing(tmp_path: Path) -> None:
    store = tmp_path / "trials.jsonl"
    script = (
        "import sys, hermite_rmt as hr\n"
        "simulate = dict(n=100, trials=200, rng=0)\n"
        "hr.sweep(hr.LinearRegression(), [0.5, 1, 2], 0.1, simulate=simulate, store=sys.argv[1])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store)])
    deadline = time.monotonic() + 60
    while not (store.exists() and store.read_bytes().count(b"\n") > 20):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = store.read_bytes()
    kept = kept[: kept.rindex(b"\n") + 1]
    model, simulate = hr.LinearRegression(), {"n": 100, "trials": 200, "rng": 0}
    resumed = sweep(model, [0.5, 1, 2], 0.1, simulate=simulate, store=store)
    assert store.read_bytes().startswith(kept)
    assert store.read_bytes().count(b"\n") == 601
    xr.testing.assert_identical(resumed, sweep(model, [0.5, 1, 2], 0.1, simulate=simulate))


def test_a_store_of_ones_own(model: hr.LinearRegression, whole: xr.Dataset, tmp_path: Path) -> None:
    store = JsonLinesStore(tmp_path / "trials.jsonl")
    xr.testing.assert_identical(sweep(model, C, GAMMA, simulate=SMALL, store=store), whole)


def test_cells_of_one_p_are_one_cell(model: hr.LinearRegression) -> None:
    data = sweep(model, [0.5, 0.501], 0.1, simulate=SMALL)
    assert data.p.values.tolist() == [30, 30]
    assert data.error_simulated.values[0] == data.error_simulated.values[1]
    assert data.error.values[0] != data.error.values[1]


def test_one_trial_has_no_standard_error(model: hr.LinearRegression) -> None:
    data = sweep(model, 0.5, 0.1, simulate={"n": 60, "trials": 1, "rng": 0})
    assert np.isnan(data.error_standard_error.item())
    assert np.isfinite(data.error_simulated.item())


def test_the_dataset_can_be_written_and_read(whole: xr.Dataset, tmp_path: Path) -> None:
    whole.to_netcdf(tmp_path / "sweep.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "sweep.nc", engine="scipy") as back:
        xr.testing.assert_equal(back.load(), whole)
        assert back.attrs == whole.attrs


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"c": [0.5, -1]}, "c: got -1"),
        ({"c": []}, "c: got an array of shape"),
        ({"c": [[1.0]]}, "c: got an array of shape"),
        ({"gamma": 0}, "gamma: got 0"),
        ({"gamma": float("nan")}, "gamma: got nan"),
        ({"model": hr.LinearRegression(mu_mu=[0, 1])}, "mu_mu: got an array"),
        ({"simulate": {"trials": 3}}, "simulate: got"),
        ({"simulate": {"n": 0}}, "n: got 0"),
        ({"simulate": {"n": 60, "trials": 0}}, "trials: got 0"),
        ({"simulate": {"n": 60, "trials": True}}, "trials: got True"),
        ({"simulate": {"n": 60, "rng": -1}}, "rng: got -1"),
        ({"simulate": {"n": 60, "rng": np.random.default_rng(0)}}, "rng: got Generator"),
        ({"simulate": {"n": 10, "rng": 0}, "c": [0.01, 1]}, "n: got 10"),
        ({"simulate": {"n": 60}, "store": "trials.jsonl"}, "simulate: got no rng"),
    ],
)
def test_bad_input(model: hr.LinearRegression, change: dict[str, object], named: str) -> None:
    arguments = {"model": model, "c": C, "gamma": GAMMA, **change}
    with pytest.raises(ValueError, match=named):
        sweep(**arguments)


def test_what_is_no_model_or_no_dict_is_named() -> None:
    with pytest.raises(TypeError, match="model: got 5; allowed: a model"):
        hr.sweep(5, c=[1], gamma=1)
    with pytest.raises(TypeError, match="simulate: got 5; allowed: a dict with n"):
        hr.sweep(hr.LinearRegression(), c=[1], gamma=1, simulate=5)  # type: ignore[arg-type]
