"""Time of a grid of attention's error in double, against the loop a reader of the paper would write.

    python benchmarks/theory.py [--points 10000] [--loop 40]

The loop solves the scalar form of Proposition 1 (unknowns m, delta, tau, integrals over the Marchenko-Pastur law)
with `scipy.optimize.root` and `scipy.integrate.quad`, and takes E from a difference quotient in gamma. It runs on a
part of the same grid, chosen at random, and its values are compared.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.integrate import quad
from scipy.optimize import root

import hermite_rmt as hr

A1, NU = 0.6, 0.5


def loop_trace(c: float, gamma: float) -> float:
    """Return m from the scalar form, by general tools."""
    sigma2 = (NU - A1**2) / c
    low, high = (1 - c**-0.5) ** 2, (1 + c**-0.5) ** 2
    atom = max(0.0, 1 - c)

    def average(g):
        # x = middle + radius cos(angle) takes the square roots at the edges away
        middle, radius = (low + high) / 2, (high - low) / 2

        def weighted(angle):
            x = middle + radius * np.cos(angle)
            return g(x) * c * (radius * np.sin(angle)) ** 2 / (2 * np.pi * x)

        bulk = quad(weighted, 0, np.pi)[0]
        return bulk + atom * g(0.0)

    def residual(unknowns):
        m, delta, tau = unknowns
        ridge = gamma + sigma2 * delta

        def weight(x):
            return ridge * (1 + c * sigma2 * m * x) + c * x * (A1 * x - A1 - sigma2 * tau) ** 2

        return [
            average(lambda x: (1 + c * sigma2 * m * x) / weight(x)) - m,
            average(lambda x: c * x * ridge / weight(x)) - delta,
            average(lambda x: c * x * (A1 * x - A1 - sigma2 * tau) / weight(x)) - tau,
        ]

    return root(residual, [1 / (gamma + 1), 0.5 * c, 0.0]).x[0]


def loop_error(c: float, gamma: float) -> float:
    step = 1e-4 * gamma
    return -(gamma**2) * (loop_trace(c, gamma + step) - loop_trace(c, gamma - step)) / (2 * step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10**4)
    parser.add_argument("--loop", type=int, default=40, help="points the loop is timed on")
    arguments = parser.parse_args()
    side = round(arguments.points**0.5)
    c, gamma = (grid.ravel() for grid in np.meshgrid(np.geomspace(0.1, 10, side), np.geomspace(0.03, 10, side)))
    model = hr.Attention(a1=A1, nu=NU)
    model.error(c[:2], gamma[:2])  # compiles the kernels
    grid_times = []
    for _ in range(5):
        start = time.process_time()
        errors = model.error(c, gamma)
        grid_times.append((time.process_time() - start) / len(c))
    chosen = np.random.default_rng(0).choice(len(c), arguments.loop, replace=False)
    start = time.process_time()
    looped = [loop_error(c[k], gamma[k]) for k in chosen]
    loop_time = (time.process_time() - start) / len(chosen)
    off = np.abs(np.array(looped) / errors[chosen] - 1)
    grid_time = float(np.median(grid_times))
    print(f"grid of {len(c)} points: {1e6 * grid_time:.2f} microseconds a point (median of 5)")
    print(
        f"loop on {len(chosen)} of them: {1e3 * loop_time:.1f} ms a point, {loop_time / grid_time:.0f} times as long"
    )
    print(f"their values differ by {np.median(off):.1e} (median), {off.max():.1e} (largest), relative")


if __name__ == "__main__":
    main()
