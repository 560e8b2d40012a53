"""`hermite-rmt claims`: the claims atlas, each claim with its verdict and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from hermite_rmt.cli import DONE, FAILED, fail
from hermite_rmt.cli.output import number_text, print_columns, print_json, progress_bar
from hermite_rmt.study.evidence.atlas import ATLAS, DOCUMENTED, differences
from hermite_rmt.study.evidence.claims import Claim
from hermite_rmt.study.evidence.spots import spot_checks

REAL_WEIGHTS = "g"


def run(letters: Sequence[str], model: Path | None, simulate: bool, as_json: bool) -> int:
    """Study the claims and print what was found; fail where that is not what is documented.

    Raises
    ------
    ValueError
        If there is no such claim, or claim g is asked for without a model.
    """
    allowed = [*ATLAS, REAL_WEIGHTS]
    for letter in letters:
        if letter not in allowed:
            raise ValueError(f"claim: got {letter!r}; allowed: {', '.join(allowed)}")
    if REAL_WEIGHTS in letters and model is None:
        raise ValueError("model: got none; allowed with claim g: --model, a safetensors file or its folder")
    chosen = letters or [*ATLAS, *([REAL_WEIGHTS] if model is not None else [])]
    claims = []
    surprises = []
    for claim in _claims(chosen, model):
        claims.append(claim)
        if claim.letter in DOCUMENTED:
            surprises += differences(claim)
        if not as_json:
            print(f"{claim.letter}. {claim.statement}\n   {claim.verdict}")
            for part in claim.parts:
                print(f"   - {'holds' if part.holds else 'fails'}: {part.statement}\n     {part.evidence}")
            print()
    records = [
        {
            "claim": claim.letter,
            "statement": claim.statement,
            "verdict": claim.verdict,
            "parts": [asdict(part) for part in claim.parts],
        }
        for claim in claims
    ]
    if simulate:
        with progress_bar("simulated spots") as progress:
            table = spot_checks(claims=[letter for letter in chosen if letter in ATLAS], progress=progress)
        rows = table.to_dataframe().reset_index()
        if as_json:
            spots = [{name: number_text(v) for name, v in spot.items()} for spot in rows.to_dict("records")]
            print_json({"claims": records, "simulated": spots})
            return _exit_code(surprises)
        names = ["claim", "spot", "theory", "simulated", "standard_error", "z"]
        print(f"differences of two errors, simulated; {table.attrs['description']}")
        print_columns(
            names, [[f"{v:.4f}" if isinstance(v, float) else str(v) for v in row] for row in rows[names].values]
        )
    elif as_json:
        print_json({"claims": records})
    return _exit_code(surprises)


def _exit_code(surprises: Sequence[str]) -> int:
    return fail("; ".join(surprises), FAILED) if surprises else DONE


def _claims(letters: Sequence[str], model: Path | None) -> Iterator[Claim]:
    for letter in letters:
        if letter != REAL_WEIGHTS:
            yield ATLAS[letter]()
            continue
        from hermite_rmt.simulation.pretrained import load_embeddings, load_weights
        from hermite_rmt.study.evidence.pretrained import pretrained

        assert model is not None
        with progress_bar("pretrained weights") as progress:
            yield pretrained(load_weights(model), load_embeddings(model), progress=progress)
