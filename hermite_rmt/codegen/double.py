"""Functions that NumPy lacks or spells differently from SymPy, as elementwise functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DOUBLE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Heaviside": lambda x, at_zero=0.5: np.heaviside(x, at_zero),
}
