"""Time of a simulated trial beside the matrix products and the factorisation it needs.

    python benchmarks/simulation.py [--n 2048] [--p 2048] [--rounds 5] [--cpu] [--gammas]

Prints the best time of each over the rounds, taken in turn so that a busy machine disturbs all alike, and the peak
memory of the process. With --cpu: processor time on one BLAS thread, which other processes disturb least. With
--gammas: many gammas by one tridiagonalisation against one Cholesky factor each.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Mapping

import numpy as np
from scipy.linalg import blas, lapack
from threadpoolctl import threadpool_limits

from hermite_rmt.simulation.attention import attention_specification
from hermite_rmt.simulation.linear_regression import linear_regression_specification
from hermite_rmt.simulation.products import gram_of_rows
from hermite_rmt.simulation.seeds import trial_seeds
from hermite_rmt.simulation.shifted import CholeskySolver, TridiagonalSolver
from hermite_rmt.simulation.trial import run_trial

MODELS = {
    "noise": [0, 0, 0, 0, 0, 0],
    "aligned": [1.5, 1.5, 1.5, 1.5, 1.5, 1.5],
    "general": [1.5, 0.5, -0.5, 1, 1, 0.2],
}


Clock = Callable[[], float]


def best_times(tasks: Mapping[str, Callable[[], object]], rounds: int, clock: Clock) -> dict[str, float]:
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(rounds):
        for name, task in tasks.items():
            start = clock()
            task()
            best[name] = min(best[name], clock() - start)
    return best


def needed(n: int, p: int, symmetric: bool) -> Callable[[], object]:
    """Return the bare BLAS calls: scores, features, the smaller Gram matrix, its Cholesky factor."""
    X = np.random.default_rng(0).standard_normal((p, n))
    eye = np.eye(min(n, p), order="F")

    def run() -> None:
        S = blas.dsyrk(1.0, X.T, lower=1)
        A = blas.dsymm(1.0, S, X.T, lower=1) if symmetric else blas.dgemm(1.0, S, X.T, trans_a=1)
        blas.dsyrk(1.0, A, trans=0 if n <= p else 1, lower=1)
        lapack.dpotrf(eye, lower=1)

    return run


def trial_table(n: int, p: int, rounds: int, clock: Clock) -> None:
    seed = trial_seeds(0, 1)[0]
    # regression first: what follows the bare products finds its memory handed back, and pays for getting it again
    specifications = {"linear regression": linear_regression_specification(1.5, n, p, [0.1])}
    specifications |= {
        f"attention, {name}": attention_specification(np.tanh, overlaps, n, p, [0.1])
        for name, overlaps in MODELS.items()
    }
    tasks: dict[str, Callable[[], object]] = {
        name: lambda specification=specification: run_trial(specification, seed)  # type: ignore[misc]
        for name, specification in specifications.items()
    }
    tasks |= {"needed, symmetric": needed(n, p, True), "needed, general": needed(n, p, False)}
    times = best_times(tasks, rounds, clock)
    print(f"n = {n}, p = {p}: best of {rounds}, seconds")
    for name, seconds in times.items():
        base = times["needed, general" if name.endswith("general") else "needed, symmetric"]
        ratio = "" if "regression" in name else f"{seconds / base:6.2f} x needed"
        print(f"  {name:22s} {seconds:8.3f} {ratio}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  peak memory of the process {peak:.2f} GiB ({n * p * 8 / 2**30:.3f} GiB an n x p array)")


def gamma_table(rounds: int, clock: Clock) -> None:
    print("seconds: one Cholesky factor (solve twice, trace), the tridiagonalisation, each gamma on it; break-even")
    for m in (128, 256, 512, 1024, 2048):
        A = np.random.default_rng(0).standard_normal((m, 2 * m))
        gram, b = gram_of_rows(A, 0.5 / m), np.ones(m)
        reduced = TridiagonalSolver(gram)

        def cholesky(gram: np.ndarray = gram, b: np.ndarray = b) -> None:
            solver = CholeskySolver.of_gram(gram, 0.1)
            solver.solve(solver.solve(b))
            solver.trace_inverse()

        def each(reduced: TridiagonalSolver = reduced, b: np.ndarray = b) -> None:
            solver = reduced.shifted(0.1)
            solver.solve(solver.solve(b))
            solver.trace_inverse()

        tasks = {"cholesky": cholesky, "reduce": lambda gram=gram: TridiagonalSolver(gram), "each": each}
        times = best_times(tasks, rounds, clock)
        even = times["reduce"] / (times["cholesky"] - times["each"])
        row = " ".join(f"{times[name]:9.5f}" for name in tasks)
        print(f"  m = {m:5d} {row}   from {even:5.1f} gammas")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2048)
    parser.add_argument("--p", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gammas", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu else time.perf_counter
    with threadpool_limits(1 if arguments.cpu else None, "blas"):
        if arguments.gammas:
            gamma_table(arguments.rounds, clock)
        else:
            trial_table(arguments.n, arguments.p, arguments.rounds, clock)


if __name__ == "__main__":
    main()
