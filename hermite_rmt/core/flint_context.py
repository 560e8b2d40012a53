"""python-flint's precision is one global number: whoever computes with it holds this lock meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

_LOCK = threading.RLock()


@lru_cache(maxsize=1)
def flint_module() -> Any | None:
    """Return the module `flint`, or None where the extra `certified` is not installed."""
    try:
        import flint
    except ImportError:
        return None
    return flint


def require_flint() -> Any:
    """Return the module `flint`.

    Raises
    ------
    ImportError
        If python-flint is not installed.
    """
    flint = flint_module()
    if flint is None:
        raise ImportError("python-flint is not installed: pip install 'hermite-rmt[certified]'")
    return flint


@contextmanager
def flint_precision(precision: int) -> Iterator[Any]:
    """Give python-flint to this thread at `precision` bits; restore its precision afterwards.

    Raises
    ------
    ImportError
        If python-flint is not installed.

    >>> with flint_precision(100) as flint:
    ...     (flint.arb(1) / 3).rel_accuracy_bits() >= 98
    True
    """
    flint = require_flint()
    with _LOCK:
        before = flint.ctx.prec
        flint.ctx.prec = precision
        try:
            yield flint
        finally:
            flint.ctx.prec = before
