"""Where trials run: this process, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context


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
