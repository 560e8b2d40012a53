"""Sweeps on dask.distributed's executor (extra `distributed`)."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

import hermite_rmt as hr

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
