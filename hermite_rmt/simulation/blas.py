"""One BLAS thread, where more would change the bits, multiply with workers, or slow small matrices down."""

from __future__ import annotations

import importlib
import threading

from threadpoolctl import ThreadpoolController


class _SingleThreadedBlas:
    """One BLAS thread while at least one block of code asks for it in this process, counted over its threads.

    Products and factorisations round differently on another number of BLAS threads. With one thread a trial gives
    the same bits in any worker, and the threads of several workers do not multiply.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._running:
                importlib.import_module("scipy.linalg")  # SciPy's own BLAS can only be limited once it is loaded
                self._limit = ThreadpoolController().limit(limits=1, user_api="blas")
            self._running += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._limit.restore_original_limits()


one_blas_thread = _SingleThreadedBlas()
