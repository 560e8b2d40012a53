"""Time of the engine, import apart: median of several runs, each on freshly built expressions.

    python benchmarks/engine.py [--rounds 5]

SymPy's cache is cleared before every run, so that no run profits from the one before. Processor time, which other
processes disturb least. Where rmtool (not a dependency) is installed, its call for the first case runs beside ours.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec

import sympy
from sympy.core.cache import clear_cache

from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, dimensions
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent

n, p = dimensions("n p")
c = sympy.Symbol("c", positive=True)
a1, sigma, gamma, z = sympy.symbols("a1 sigma gamma z")
Z, W = Gaussian("Z", p, n), GOE("W", n)
y, mu, w_K, w_Q = Vector("y", n, "sqrt"), Vector("mu", p), Vector("w_K", p), Vector("w_Q", p)
identity = sympy.Identity(n)
NUMBERS = {a1: "3/5", sigma: "2/5", c: "3/2"}
GRAM = {(mu, mu): 1, (mu, w_K): 0.5, (mu, w_Q): 0.5, (w_K, w_K): 1, (w_Q, w_Q): 1, (w_K, w_Q): 0.5}


def kernel() -> DeterministicEquivalent:
    K = a1 * (Z.T * Z / p - identity) + sigma * W
    return deterministic_equivalent((K - z * identity).inv(), {p: c * n})


def attention() -> DeterministicEquivalent:
    K = a1 * (Z.T * Z / p - identity) + sigma * W
    return deterministic_equivalent((K.T * Z.T * Z * K / n + gamma * identity).inv(), {p: c * n})


def spiked() -> DeterministicEquivalent:
    X = Z + mu * y.T
    K = a1 * (X.T * (sympy.Identity(p) + w_K * w_Q.T) * X / p - identity) + sigma * W
    return deterministic_equivalent((K.T * X.T * X * K / n + gamma * identity).inv(), {p: c * n})


def form(equivalent: DeterministicEquivalent, ridge: float) -> object:
    return equivalent.quadratic_form(y, y, {**NUMBERS, gamma: ridge}, GRAM, digits=30, derivative=gamma)


def tasks() -> dict[str, Callable[[], object]]:
    warm, warm_spiked = attention(), spiked()
    warm.trace({**NUMBERS, gamma: 1}, digits=30)
    form(warm_spiked, 1)
    ridges = iter(0.5 + k / 97 for k in range(10**6))  # a new point each time: paths are remembered
    return {
        "Marchenko-Pastur + semicircle, all symbolic: cubic": lambda: kernel().polynomial(),
        "attention: pencil": lambda: attention().pencil,
        "attention: reduced equations": lambda: attention().equations,
        "attention with signal and weights: pencil": lambda: spiked().pencil,
        "attention: polynomial of degree 17, rational parameters": lambda: attention().polynomial(NUMBERS),
        "attention: first trace, compiled, 30 digits": lambda: attention().trace({**NUMBERS, gamma: 1}, digits=30),
        "attention: trace at another point, 30 digits": lambda: warm.trace(
            {**NUMBERS, gamma: next(ridges)}, digits=30
        ),
        "Theorem 1: error at another point, 30 digits": lambda: form(warm_spiked, next(ridges)),
    }


def rmtool_kernel() -> object:
    """Return the same cubic by rmtool: a scaled and shifted Marchenko-Pastur law freely added to a semicircle."""
    import rmtool

    shifted = rmtool.scaleA(rmtool.shiftA(rmtool.wishartpol(1 / c), -1), a1)
    return rmtool.AplusB(shifted, rmtool.scaleA(rmtool.wignerpol(), sigma))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    every = tasks()
    if find_spec("rmtool"):
        every = {"rmtool: the cubic below": rmtool_kernel, **every}
    for name, task in every.items():
        taken = []
        for _ in range(rounds):
            clear_cache()
            start = time.process_time()
            task()
            taken.append(time.process_time() - start)
        print(f"{statistics.median(taken):8.3f} s  {name}")


if __name__ == "__main__":
    main()
