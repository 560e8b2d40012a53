"""What the key and query weights of a pretrained model are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from hermite_rmt.simulation.checks import Array
from hermite_rmt.simulation.pretrained import PretrainedWeights
from hermite_rmt.simulation.weights import WeightAnalysis, analyse_weights, rank_needed
from hermite_rmt.study.provenance import software

RANKS = (0, 1, 4, 16, 64)
LEFT = 0.1  # share of the energy that `rank_needed` leaves

DESCRIPTION = (
    "W = W_K^T W_Q: share of the identity in the Frobenius energy, tr W^2/tr W W^T, effective number of singular "
    "values; the best scale I + rank r: its scale over |W|/sqrt p, the share of the energy it leaves, and the rank "
    f"that leaves at most {LEFT:.0%}"
)
NUMBERS = ("identity_energy", "symmetry", "participation_ratio")


def anatomy(
    weights: PretrainedWeights, layers: Sequence[int] | None = None, step: Callable[[], None] = lambda: None
) -> xr.Dataset:
    """Return what the W_K^T W_Q of layers, and of all their heads, is made of.

    Parameters
    ----------
    weights : of the model
    layers : which; None: all
    step : called after each matrix
    """
    chosen = list(range(weights.layers)) if layers is None else list(layers)
    ranks = [rank for rank in RANKS if rank <= weights.p]
    inner = [rank for rank in ranks if rank < weights.p // weights.heads]  # at its own rank a head is all there

    def look(layer: int, head: int | None, ranks: Sequence[int]) -> tuple[WeightAnalysis, int]:
        W = weights.product(layer, head)
        found = analyse_weights(W, ranks), rank_needed(W, LEFT)
        step()
        return found

    whole = [look(layer, None, ranks) for layer in chosen]
    heads = [[look(layer, head, inner) for head in range(weights.heads)] for layer in chosen]

    def both(name: str, read: Callable[[WeightAnalysis, int], object]) -> dict[str, tuple[tuple[str, ...], Array]]:
        return {
            name: (("layer",), np.array([read(*one) for one in whole])),
            f"head_{name}": (("layer", "head"), np.array([[read(*one) for one in row] for row in heads])),
        }

    def of_fits(name: str, read: Callable[[WeightAnalysis], list[float]]) -> dict[str, tuple[tuple[str, ...], Array]]:
        return {
            name: (("layer", "rank"), np.array([read(one) for one, _ in whole])),
            f"head_{name}": (("layer", "head", "head_rank"), np.array([[read(a) for a, _ in row] for row in heads])),
        }

    return xr.Dataset(
        {
            **{k: v for name in NUMBERS for k, v in both(name, lambda a, _, name=name: getattr(a, name)).items()},  # type: ignore[misc]
            **both("rank_needed", lambda _, rank: rank),
            **of_fits("scale", lambda a: [fit.scale / _size(a) for fit in a.fits]),
            **of_fits("unexplained", lambda a: [fit.unexplained for fit in a.fits]),
            "singular_value": (("layer", "index"), [a.singular_values / _size(a) for a, _ in whole]),
        },
        {"layer": chosen, "rank": ranks, "head_rank": inner},
        {"description": DESCRIPTION, "software": software()},
    )


def _size(a: WeightAnalysis) -> float:
    return float(np.sqrt(np.mean(a.singular_values**2)))
