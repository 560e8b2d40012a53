"""Sweeps on dask.distributed's executor, checkpoints in zarr (extra `distributed`)."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

import hermite_rmt as hr

zarr = pytest.importorskip("zarr", reason="the extra `distributed` is not installed")
distributed = pytest.importorskip("distributed", reason="the extra `distributed` is not installed")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of the cluster's own shutdown
@pytest.mark.parametrize(("workers", "threads"), [(1, 2), (2, 1)])
def test_a_cluster_gives_the_same_bits(tmp_path: Path, workers: int, threads: int) -> None:
    model, simulate = hr.Attention("tanh(x)"), {"n": 256, "trials": 3, "rng": 0}
    here = hr.sweep(model, [0.5, 1], [0.1, 1], simulate=simulate)
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        there = hr.sweep(
            model,
            [0.5, 1],
            [0.1, 1],
            simulate=simulate,
            executor=client.get_executor(),
            store=tmp_path / "trials.jsonl",
        )
    xr.testing.assert_identical(there, here)
    xr.testing.assert_identical(
        hr.sweep(model, [0.5, 1], [0.1, 1], simulate=simulate, store=tmp_path / "trials.jsonl"), here
    )


SMALL = {"n": 60, "trials": 3, "rng": 7}
MODEL = hr.LinearRegression(1)


def test_a_zarr_store_continues(tmp_path: Path) -> None:
    whole = hr.sweep(MODEL, [0.5, 1], [0.1, 1], simulate=SMALL)
    store = tmp_path / "trials.zarr"
    seen: list[int] = []

    def interrupt(done: int, total: int) -> None:
        seen.append(done)
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hr.sweep(MODEL, [0.5, 1], [0.1, 1], simulate=SMALL, store=store, progress=interrupt)
    seen.clear()
    resumed = hr.sweep(MODEL, [0.5, 1], [0.1, 1], simulate=SMALL, store=store, progress=lambda d, t: seen.append(d))
    assert seen == [4, 5, 6]
    xr.testing.assert_identical(resumed, whole)
    samples = zarr.open_group(store, mode="r")["n60/p30/gamma0.1"][:, 0]
    assert samples.mean() == whole.error_simulated.sel(c=0.5, gamma=0.1)


def test_a_killed_sweep_resumes_from_zarr(tmp_path: Path) -> None:
    store = tmp_path / "trials.zarr"
    script = (
        "import sys, hermite_rmt as hr\n"
        "hr.sweep(hr.LinearRegression(), 1, 0.1, simulate=dict(n=100, trials=300, rng=0), store=sys.argv[1])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store)])
    deadline = time.monotonic() + 60
    while len(list(store.glob("n100/p100/gamma0.1/c/*/*"))) < 20:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    seen: list[int] = []
    simulate = {"n": 100, "trials": 300, "rng": 0}
    resumed = hr.sweep(
        hr.LinearRegression(), 1, 0.1, simulate=simulate, store=store, progress=lambda done, total: seen.append(done)
    )
    assert 20 <= seen[0] < 300
    xr.testing.assert_identical(resumed, hr.sweep(hr.LinearRegression(), 1, 0.1, simulate=simulate))


def test_a_zarr_store_of_something_else_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "trials.zarr"
    hr.sweep(MODEL, 1, 1, simulate=SMALL, store=store)
    with pytest.raises(ValueError, match="seed is 7, not 8"):
        hr.sweep(MODEL, 1, 1, simulate={**SMALL, "rng": 8}, store=store)
    zarr.open_group(tmp_path / "other.zarr", mode="w")
    with pytest.raises(ValueError, match="not a trial store"):
        hr.sweep(MODEL, 1, 1, simulate=SMALL, store=tmp_path / "other.zarr")
    (tmp_path / "folder.zarr").mkdir()
    with pytest.raises(ValueError, match="no zarr group"):
        hr.sweep(MODEL, 1, 1, simulate=SMALL, store=tmp_path / "folder.zarr")
