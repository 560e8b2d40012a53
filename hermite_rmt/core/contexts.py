"""Local mpmath contexts: precision is an argument, the global ``mpmath.mp`` is never touched."""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import Any

from mpmath.ctx_mp import MPContext

BITS_PER_DIGIT = math.log2(10)


def bits(digits: int) -> int:
    """Return the binary precision that holds `digits` decimal digits.

    >>> bits(15)
    51
    """
    return math.ceil(digits * BITS_PER_DIGIT) + 1


@lru_cache(maxsize=128)
def _context(precision: int, thread: int) -> Any:
    context = MPContext()
    context.prec = precision
    return context


def local_context(precision: int) -> Any:
    """Return this thread's own mpmath context of `precision` bits.

    Nobody may change the precision of a context got here: ask for another one instead.
    One context a thread, since mpmath's functions raise and restore their context's precision while they run.
    """
    return _context(precision, threading.get_ident())
