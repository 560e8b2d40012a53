"""The one bridge from SymPy to numbers: nothing else in the package compiles expressions."""

from hermite_rmt.codegen.ball import BallFunction
from hermite_rmt.codegen.kernel import Kernel

__all__ = ["BallFunction", "Kernel"]
