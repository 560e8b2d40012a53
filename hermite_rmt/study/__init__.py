"""Studies over grids: sweeps with simulation and checkpoints, comparisons of models."""

from hermite_rmt.study.compare import compare
from hermite_rmt.study.executors import process_pool
from hermite_rmt.study.sweep import sweep

__all__ = ["compare", "process_pool", "sweep"]
