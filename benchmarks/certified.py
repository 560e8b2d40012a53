"""What a proof costs: `certify` against the plain solve to the same digits, on derived systems.

    python benchmarks/certified.py [--rounds 7] [--digits 15 30 70 200]

Both run in turn at points not seen before (paths are remembered), after everything is compiled; the parameters are
exact. Medians of processor time, and their ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import sympy
from engine import GRAM, attention, c, gamma, identity, kernel, n, p, spiked, y, z

from hermite_rmt.equivalents.ensembles import Gaussian
from hermite_rmt.theory.equivalent import deterministic_equivalent
from hermite_rmt.theory.multi_head import equivalent as heads

NUMBERS = {"a1": "3/5", "sigma": "2/5", "c": "3/2"}
HEADS = {"c": "3/2", "a1_1": "3/5", "a1_2": "1/2", "kappa_1": "-3/5", "kappa_2": "-1/2"}
HEADS |= {"C_1_1": "1/5", "C_1_2": "1/10", "C_2_2": "1/3"}
Task = tuple[Callable[[dict[str, object], int], object], Callable[[dict[str, object], int], object]]


def tasks() -> Iterator[tuple[str, str, dict[str, str], Task]]:
    """Yield a name, the symbol that varies, the other values, and the plain and the certified call."""
    Z = Gaussian("Z", p, n)
    law = deterministic_equivalent((Z.T * Z / p + gamma * identity).inv(), {p: c * n})
    yield "Marchenko-Pastur: trace", "gamma", {"c": "3/2"}, (law.trace, law.certify)
    free = kernel()
    yield "Marchenko-Pastur + semicircle: trace", "z", NUMBERS, (free.trace, free.certify)
    model = attention()
    yield "attention: trace", "gamma", NUMBERS, (model.trace, model.certify)
    two = heads(2, False)
    yield "two heads: trace", "gamma", HEADS, (two.trace, two.certify)
    signal = spiked()
    yield (
        "Theorem 1: form and its derivative",
        "gamma",
        NUMBERS,
        (
            lambda values, digits: signal.quadratic_form(y, y, values, GRAM, digits, gamma),
            lambda values, digits: signal.certify(values, digits, (y, y), GRAM, gamma),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--digits", type=int, nargs="+", default=[15, 30, 70, 200])
    chosen = parser.parse_args()
    fresh = iter(range(10**9))
    for name, symbol, rest, calls in tasks():
        for digits in chosen.digits:
            times: tuple[list[float], list[float]] = ([], [])
            for round_ in range(chosen.rounds + 1):
                for call, taken in zip(calls, times, strict=True):
                    step = sympy.Rational(next(fresh), 997)
                    values = {**rest, symbol: -6 - step if symbol == str(z) else sympy.Rational(1, 2) + step}
                    start = time.process_time()
                    call(values, digits)
                    if round_:  # the first one compiles
                        taken.append(time.process_time() - start)
            plain, proved = map(statistics.median, times)
            print(f"{1e3 * plain:9.1f} ms {1e3 * proved:9.1f} ms  {proved / plain:5.2f}  {name}, {digits} digits")


if __name__ == "__main__":
    main()
