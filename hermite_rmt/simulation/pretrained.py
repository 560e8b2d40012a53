"""Key and query weights of pretrained transformers, from a local safetensors file."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from hermite_rmt.simulation.checks import Array, positive_integer


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a family of models keeps its tensors.

    Attributes
    ----------
    weights : pattern of the tensors' names, with the layer as its first group and, where query and key have a tensor
        each, the part as its second
    embeddings : the end of the name of the token embeddings
    split : parts by name -> (query, key), each of shape (p, p) with one output feature a row
    """

    weights: re.Pattern[str]
    embeddings: str
    split: Callable[[Mapping[str, Array]], tuple[Array, Array]]


def _split_fused(parts: Mapping[str, Array]) -> tuple[Array, Array]:
    fused = parts["c_attn"]  # Conv1D: x @ weight, so the columns are output features, query before key before value
    p = len(fused)
    if fused.shape != (p, 3 * p):
        raise ValueError(f"path: got c_attn of shape {fused.shape}; allowed: (p, 3 p)")
    return fused[:, :p].T, fused[:, p : 2 * p].T


def _split_separate(parts: Mapping[str, Array]) -> tuple[Array, Array]:
    if set(parts) != {"query", "key"}:
        raise ValueError(f"path: got a layer with {sorted(parts)} alone; allowed: query and key")
    query, key = parts["query"], parts["key"]
    if query.shape != key.shape or query.ndim != 2 or query.shape[0] != query.shape[1]:
        raise ValueError(f"path: got query {query.shape}, key {key.shape}; allowed: both (p, p)")
    return query, key


#: Layouts by name: GPT-2's fused c_attn, BERT's separate query and key.
LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "gpt2": Layout(re.compile(r"(?:^|\.)h\.(\d+)\.attn\.(c_attn)\.weight$"), "wte.weight", _split_fused),
        "bert": Layout(
            re.compile(r"(?:^|\.)layer\.(\d+)\.attention\.self\.(query|key)\.weight$"),
            "word_embeddings.weight",
            _split_separate,
        ),
    }
)


@dataclass(frozen=True, eq=False)
class PretrainedWeights:
    """Query and key weights of all layers of a model.

    Attributes
    ----------
    layout : a name of `LAYOUTS`
    queries, keys : one (p, p) matrix a layer, one output feature a row; biases are left out
    heads : number of heads, each with p/heads consecutive rows
    """

    layout: str
    queries: tuple[Array, ...]
    keys: tuple[Array, ...]
    heads: int

    @property
    def p(self) -> int:
        """The dimension of the tokens."""
        return len(self.queries[0])

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.queries)

    def product(self, layer: int, head: int | None = None) -> Array:
        """Return W_K^T W_Q, (p, p), of one head, or the sum over the heads of a layer.

        Its rows belong to the token attended to and its columns to the attending one, as in X^T W X.

        Raises
        ------
        ValueError
            If there is no such layer or head.
        """
        if not 0 <= layer < self.layers:
            raise ValueError(f"layer: got {layer}; allowed: 0 to {self.layers - 1}")
        if head is None:
            rows = slice(None)
        elif 0 <= head < self.heads:
            size = self.p // self.heads
            rows = slice(head * size, (head + 1) * size)
        else:
            raise ValueError(f"head: got {head}; allowed: 0 to {self.heads - 1}, or None for their sum")
        return np.asarray(self.keys[layer][rows].T @ self.queries[layer][rows])


def load_weights(path: str | Path, heads: int | None = None) -> PretrainedWeights:
    """Read the query and key weights of a GPT-2 or BERT model.

    Parameters
    ----------
    path : a safetensors file, or a folder that holds model.safetensors
    heads : number of heads; None reads it from config.json beside the file

    Raises
    ------
    ValueError
        If the file's names fit no layout, a tensor has an unexpected shape or a type that NumPy lacks (bfloat16), or
        the number of heads is unknown or does not divide the dimension.
    ImportError
        If safetensors is not installed (extra `pretrained`).
    """
    file = _model_file(path)
    with _opened(file) as tensors:
        names = list(tensors.keys())
        layout, found = _recognise(names, file)
        parts: dict[int, dict[str, Array]] = {}
        for name, (layer, part) in found.items():
            parts.setdefault(layer, {})[part] = _read(tensors, name)
    if sorted(parts) != list(range(len(parts))):
        raise ValueError(f"path: got layers {sorted(parts)} in {file}; allowed: layers 0, 1, ... without gaps")
    pairs = [LAYOUTS[layout].split(parts[layer]) for layer in range(len(parts))]
    count = _heads_of_config(file) if heads is None else positive_integer(heads, "heads")
    p = len(pairs[0][0])
    if p % count:
        raise ValueError(f"heads: got {count}; allowed: a divisor of the dimension {p}")
    return PretrainedWeights(layout, tuple(q for q, _ in pairs), tuple(k for _, k in pairs), count)


def load_embeddings(path: str | Path) -> Array:
    """Read the token embeddings of a GPT-2 or BERT model, one token a row; arguments and errors as `load_weights`."""
    file = _model_file(path)
    with _opened(file) as tensors:
        names = list(tensors.keys())
        layout, _ = _recognise(names, file)
        ending = LAYOUTS[layout].embeddings
        matching = [name for name in names if name == ending or name.endswith(f".{ending}")]
        if len(matching) != 1:
            raise ValueError(f"path: got {len(matching)} tensors named {ending} in {file}; allowed: one")
        return _read(tensors, matching[0])


def _model_file(path: str | Path) -> Path:
    file = Path(path)
    return file / "model.safetensors" if file.is_dir() else file


def _opened(file: Path) -> Any:
    if not file.is_file():
        raise FileNotFoundError(f"path: got {file}; allowed: a safetensors file, or a folder with model.safetensors")
    try:
        safetensors = importlib.import_module("safetensors")
    except ImportError as error:
        raise ImportError("reading pretrained weights needs safetensors: install hermite-rmt[pretrained]") from error
    try:
        return safetensors.safe_open(file, framework="numpy")
    except safetensors.SafetensorError as error:
        raise ValueError(f"path: got {file}; allowed: a safetensors file ({error})") from error


def _read(tensors: Any, name: str) -> Array:
    dtype = tensors.get_slice(name).get_dtype()
    if dtype not in ("F64", "F32", "F16"):  # NumPy has no bfloat16
        raise ValueError(f"path: got {name} of type {dtype}; allowed: a file converted to F16, F32 or F64")
    return np.asarray(tensors.get_tensor(name), dtype=np.float64)


def _recognise(names: list[str], file: Path) -> tuple[str, dict[str, tuple[int, str]]]:
    """Return the layout whose pattern fits some names, and layer and part of each of those."""
    for layout, description in LAYOUTS.items():
        matches = {name: match for name in names if (match := description.weights.search(name))}
        if matches:
            return layout, {name: (int(match[1]), match[2]) for name, match in matches.items()}
    raise ValueError(f"path: got {file} with tensors {names[:3]}...; allowed: the layouts {', '.join(LAYOUTS)}")


def _heads_of_config(file: Path) -> int:
    config = file.with_name("config.json")
    entries = json.loads(config.read_text()) if config.is_file() else {}
    for name in ("num_attention_heads", "n_head"):
        if name in entries:
            return positive_integer(entries[name], name)
    raise ValueError(f"heads: got None and no number of heads in {config}; allowed: a positive integer")
