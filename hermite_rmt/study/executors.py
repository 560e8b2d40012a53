"""Where trials run: this process, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from threadpoolctl import ThreadpoolController


class _SingleThreadedBlas:
    """One BLAS thread while at least one trial runs in this process, counted over its threads.

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


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of spawned worker processes that leave a Ctrl-C to the process that owns them.

    Parameters
    ----------
    workers : number of processes

    As with every use of spawned processes, a script needs ``if __name__ == "__main__":`` around its own work.
    """
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )
    with _interrupts_blocked():
        # a pool starts a worker when a task finds none idle; those started here inherit the blocked signal, which
        # covers the second or so before a worker comes to its initializer
        for _ in range(workers):
            pool.submit(int)
    try:
        yield pool
    finally:
        # not cancel_futures=True, with which Python <= 3.12 never returns after a task that could not be pickled
        pool.shutdown()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
