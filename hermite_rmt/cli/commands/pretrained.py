"""`hermite-rmt pretrained`: the study of a pretrained model's weights, with its tables and figures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from hermite_rmt.cli.output import print_json, progress_bar
from hermite_rmt.figures.pretrained import pretrained_figures
from hermite_rmt.simulation.pretrained import load_embeddings, load_weights
from hermite_rmt.study.evidence.pretrained import pretrained

ALL, NONE = "all", "none"


def run(model: Path, layer: str, head: str, trials: int, tokens: bool, folder: Path | None, as_json: bool) -> None:
    """Study the weights in a file, print what was found and save the figures with their data.

    Raises
    ------
    ValueError, FileNotFoundError
        If the file is missing or of no known layout, there is no such layer or head, or safetensors is missing.
    """
    layers, heads = _read_numbers(layer, "layer", [ALL]), _read_numbers(head, "head", [ALL, NONE])
    try:
        weights = load_weights(model)
        embeddings = load_embeddings(model) if tokens else None
    except ImportError as error:  # the extra is missing: bad input for a command line, not a failure of the program
        raise ValueError(str(error)) from error
    with progress_bar("pretrained weights") as progress:
        claim = pretrained(weights, embeddings, layers, heads, trials, progress)
    saved = []
    if folder is not None:
        for name, drawn in pretrained_figures(claim.data).items():
            saved += [str(path) for path in drawn.save(folder, name)]
    if as_json:
        parts = [asdict(part) for part in claim.parts]
        print_json({"statement": claim.statement, "verdict": claim.verdict, "parts": parts, "files": saved})
        return
    shape = f"{weights.layers} layers, {weights.heads} heads, {weights.p} dimensions"
    print(f"{model}: layout {weights.layout}, {shape}\n{claim.statement}: {claim.verdict}")
    for part in claim.parts:
        print(f"- {'holds' if part.holds else 'fails'}: {part.statement}\n  {part.evidence}")
    print("\n".join(saved))


def _read_numbers(text: str, name: str, words: list[str]) -> list[int] | None:
    """Read one of the words (all: None, none: no number), or numbers with commas."""
    if text in words:
        return None if text == ALL else []
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}: got {text!r}; allowed: {', '.join(words)}, or numbers such as 0,3") from None
