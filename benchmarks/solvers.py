"""Times and accuracy of the attention solvers against the obvious alternatives, in one run.

    python benchmarks/solvers.py [--quick]

Ratios first: they travel between machines better than times do.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from scipy import integrate, optimize

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.flint_context import flint_module
from hermite_rmt.core.numbers import read_real
from hermite_rmt.solvers.arithmetic import MpmathArithmetic
from hermite_rmt.solvers.attention_certified import certify_point
from hermite_rmt.solvers.attention_digits import solve_point
from hermite_rmt.solvers.attention_equations import chart, residuals, sums
from hermite_rmt.solvers.attention_grid import solve_grid
from hermite_rmt.solvers.attention_path import double_start
from hermite_rmt.solvers.attention_point import ExactPoint

ARITHMETICS = ("python-flint", "mpmath (gmpy)", "mpmath (python)")
OVERLAPS = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the best processor time of a few runs: what the work costs on one core."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def box(size: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return random points of the box: decades of c, gamma, nu; a_1^2/nu, diagonal and lengths uniform."""
    rng = np.random.default_rng(seed)
    c, gamma, nu = (10 ** rng.uniform(*exponents, size) for exponents in ((-3, 3), (-12, 6), (-6, 6)))
    a1 = np.sqrt(nu * rng.uniform(0, 1, size)) * rng.choice([-1, 1], size)
    eta, kappa = nu - a1 * a1, rng.uniform(-2, 2, size) - a1
    vectors = rng.normal(size=(size, 3, 3))
    vectors *= rng.uniform(0, 10, (size, 3, 1)) / np.linalg.norm(vectors, axis=-1, keepdims=True)
    gram = vectors @ vectors.swapaxes(-1, -2)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2), (1, 2))
    return c, gamma, a1, a1 * a1 + eta, eta, kappa, np.stack([gram[:, i, j] for i, j in pairs], axis=-1)


def exact_point(arguments: tuple[np.ndarray, ...], index: int) -> dict[str, Any]:
    """Return the doubles of one point as exact numbers."""
    c, gamma, a1, _, eta, kappa, gram = arguments
    values = {"c": c, "gamma": gamma, "a1": a1, "eta": eta, "kappa": kappa}
    values |= dict(zip(OVERLAPS, gram.T, strict=True))
    return {name: read_real(float(value[index]), name) for name, value in values.items()}


def damped_fixed_point(arguments: tuple[np.ndarray, ...], steps: int, right: np.ndarray) -> tuple[float, np.ndarray]:
    """Iterate form (a), 3 x 3, damping 1/2: seconds a step and point, steps until m is right to 1e-9."""
    c, gamma, a1, _, eta, kappa, _ = arguments
    size = c.size
    L, phi, P = np.zeros((size, 3, 3)), np.zeros((size, 3, 3)), np.zeros((3, 3))
    L[:, 0, 0], L[:, 0, 1], L[:, 1, 0], L[:, 1, 2], L[:, 2, 1] = gamma, c * kappa, c * kappa, -c, -c
    phi[:, 0, 1], phi[:, 1, 0], phi[:, 2, 2] = c * a1, c * a1, c
    P[0, 1] = P[1, 0] = 1
    self_energy = (eta * c)[:, None, None]
    g = np.zeros((size, 3, 3))
    g[:, 0, 0], g[:, 1, 1], g[:, 2, 2] = 1 / gamma, -1.0, 1.0
    needed = np.full(size, np.inf)
    eye = np.eye(3)
    start = time.process_time()
    for step in range(steps):
        with np.errstate(all="ignore"):
            inner = np.linalg.solve(eye + g @ phi / c[:, None, None], eye + 0 * g)
            new = np.linalg.inv(L + phi @ inner - self_energy * (P @ g @ P))
        g = (g + new) / 2
        close = abs(g[:, 0, 0] / right - 1) < 1e-9
        needed = np.where(close & np.isinf(needed), step + 1, needed)
    return (time.process_time() - start) / steps / size, needed


def scalar_form(c: float, gamma: float, a1: float, eta: float, kappa: float) -> tuple[float, float, float]:
    """Return m, delta, tau by scipy.optimize.root on form (b) with scipy.integrate.quad (c not 1)."""
    sigma2 = eta / c

    def law(f: Callable[[float], float]) -> float:
        def density(angle: float) -> float:  # x = 1 + 1/c - 2 cos(angle)/sqrt(c): no edge singularities
            x = 1 + 1 / c - 2 * np.cos(angle) / np.sqrt(c)
            return f(x) * 2 * np.sin(angle) ** 2 / (np.pi * x)

        value = integrate.quad(density, 0, np.pi, epsabs=0, epsrel=1e-10, limit=200)[0]
        return value + (max(1 - c, 0) * f(0.0) if c < 1 else 0.0)

    def equations(unknowns: np.ndarray) -> list[float]:
        m, delta = np.exp(unknowns[:2])
        tau = unknowns[2]
        g = gamma + sigma2 * delta

        def cubic(x: float) -> float:
            return g * (1 + eta * m * x) + c * x * (a1 * x + kappa - sigma2 * tau) ** 2

        return [
            law(lambda x: (1 + eta * m * x) / cubic(x)) / m - 1,
            law(lambda x: c * x * g / cubic(x)) / delta - 1,
            law(lambda x: c * x * (a1 * x + kappa - sigma2 * tau) / cubic(x)) - tau,
        ]

    found = optimize.root(equations, [np.log(1 / (1 + gamma)), 0.0, 0.0], tol=1e-10)
    m, delta = np.exp(found.x[:2])
    return float(m), float(delta), float(found.x[2])


def find_root(point: dict[str, Any], digits: int, rational: bool) -> None:
    """Run mpmath.findroot from doubles, on the sums over roots (form d) or on the rational form."""
    context = local_context(bits(digits) + 30)
    exact = ExactPoint(point)
    start = double_start(exact.double(), exact.even)
    assert start is not None
    if rational:
        numbers = MpmathArithmetic(context.prec)
        scaled = exact.scaled(numbers)

        def equations(*x: Any) -> tuple[Any, ...]:
            roots = chart(start.use_pair)(scaled.inputs, scaled.gamma, *x)
            return residuals(scaled.inputs, scaled.gamma, roots, sums(scaled.inputs, roots))

        context.findroot(equations, [numbers.number(x) for x in start.x], tol=context.mpf(10) ** (-2 * digits))
        return
    c, gamma, a1, eta, kappa = (point[name].mpf(context.prec) for name in ("c", "gamma", "a1", "eta", "kappa"))
    sigma2 = eta / c
    guess = [context.mpf(solve_point(point, 15)[name]) for name in ("trace", "delta", "tau")]

    def form_d(m: Any, delta: Any, tau: Any) -> tuple[Any, ...]:
        g, k = gamma + sigma2 * delta, kappa - sigma2 * tau
        cubic = [c * a1 * a1, 2 * c * a1 * k, c * k * k + g * eta * m, g]
        total = [0, 0, 0]
        for x in context.polyroots(cubic, maxsteps=200, extraprec=200):
            b = c * x - c - 1
            root = context.sqrt(b * b - 4 * c)
            t = min((-b + root) / (2 * c), (-b - root) / (2 * c), key=abs)
            weight = c * t / (1 - t) / ((3 * cubic[0] * x + 2 * cubic[1]) * x + cubic[2])
            total = [entry + weight * x**power for power, entry in enumerate(total)]
        I0, I1, I2 = map(context.re, total)
        return I0 + eta * m * I1 - m, c * g * I1 - delta, c * (a1 * I2 + k * I1) - tau

    context.findroot(form_d, guess, tol=context.mpf(10) ** (-2 * digits))


def solve_all(points: list[dict[str, Any]], digits: int, use_flint: bool | None = None) -> None:
    """Solve points one by one."""
    for point in points:
        solve_point(point, digits, use_flint)


def processor() -> str:
    """Return the processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def double_precision(size: int) -> None:
    """Time and accuracy of grids, against the damped fixed point and scipy."""
    arguments = box(size)
    solve_grid(*box(1000))
    cost = seconds(lambda: solve_grid(*arguments)) / size
    solution = solve_grid(*arguments)
    sample = np.random.default_rng(1).choice(size, 500, replace=False)
    errors = []
    for index in sample:
        right = solve_point(exact_point(arguments, index), 40)
        errors.append(abs(float((solution["error"][index] - right["error"]) / right["error"])))
    some = tuple(argument[:2000] for argument in arguments)
    a_step, steps = damped_fixed_point(some, 1000, solution["trace"][:2000])
    rng = np.random.default_rng(2)
    with_quad = []
    for c, gamma, a1 in zip(rng.uniform(1.2, 4, 5), rng.uniform(0.1, 1, 5), rng.uniform(0.2, 0.7, 5), strict=True):
        with_quad.append(seconds(lambda c=c, gamma=gamma, a1=a1: scalar_form(c, gamma, a1, 0.6 - a1**2, -a1), 1))
        m = scalar_form(c, gamma, a1, 0.6 - a1**2, -a1)[0]
        one = np.ones(1)
        mine = solve_grid(
            c * one, gamma * one, a1 * one, 0.6 * one, (0.6 - a1**2) * one, -a1 * one, np.zeros((1, 6))
        )["trace"][0]
        assert abs(m / mine - 1) < 1e-7
    print(f"double precision, {size} points of the box, E with all six overlaps")
    print(
        f"  over the damped fixed point (m alone, median point) {a_step * np.median(steps) / cost:10.0f} times faster"
    )
    print(f"  over scipy.optimize.root + quad (m alone)            {np.median(with_quad) / cost:10.0f} times faster")
    print(f"  time a point                                         {cost * 1e6:10.2f} microseconds")
    print(
        f"  damped fixed point: {a_step * 1e6:.2f} microseconds a step, median {np.median(steps):.0f} steps, "
        f"{np.mean(np.isinf(steps)):.1%} not within 1e-9 after 1000 steps"
    )
    print(f"  error against 40 digits, 500 points: median {np.median(errors):.1e}, largest {max(errors):.1e}")
    print(f"  outcomes: {dict(Counter(outcome.name for outcome in solution.outcome))}")


def memory() -> None:
    """Print the peak memory of 10^6 points."""
    arguments = box(10**6)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cost = seconds(lambda: solve_grid(*arguments), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"10^6 points: {cost:.2f} s, peak {peak / 1e6:.2f} GB, of which {before / 1e6:.2f} before the solve")


def any_precision(quick: bool) -> None:
    """Print the times of digits with every arithmetic there is, against mpmath.findroot, and of certificates."""
    points = [exact_point(box(30, seed=3), index) for index in range(30)]
    cost = digits_costs(quick, True) if flint_module() else {}
    cost |= digits_costs(quick, False)
    cost |= without_gmpy(quick)
    names = sorted({name for name, _ in cost}, key=ARITHMETICS.index)
    print("digits, q and E with overlaps; mpmath.findroot finds m, delta, tau alone")
    for rational, form in ((False, "the sums over roots, form (d)"), (True, "the rational form solved here")):
        there = seconds(partial(find_root, points[0], 200, rational)) * 1e3
        mine = seconds(partial(solve_all, points[:1], 200)) * 1e3
        print(f"  over mpmath.findroot at 200 digits, same point, on {form}: {there / mine:6.1f} times faster")
    if flint_module():
        certified = [seconds(partial(certify_point, point, 70), 5) for point in points]
        plain = [seconds(partial(solve_point, point, 70), 5) for point in points]
        ratios = np.array(certified) / np.array(plain)
        print(
            f"  certified over plain, 70 digits: median {np.median(ratios):.1f}, "
            f"largest of 30 points {ratios.max():.1f} ({np.mean(certified) * 1e3:.2f} ms)"
        )
    for digits in sorted({digits for _, digits in cost}):
        row = ", ".join(f"{name} {cost[name, digits]:.2f}" for name in names)
        print(f"  {digits:6} digits, milliseconds a point: {row}")


def digits_costs(quick: bool, use_flint: bool) -> dict[tuple[str, int], float]:
    """Return milliseconds a point by arithmetic and digits."""
    points = [exact_point(box(30, seed=3), index) for index in range(30)]
    name = "python-flint" if use_flint else f"mpmath ({mpmath.libmp.BACKEND})"
    cost = {}
    for digits in (50, 200, 1000) if quick else (50, 200, 1000, 10000):
        chosen = points if digits < 1000 else points[: 10 if digits == 1000 else 2]
        cost[name, digits] = seconds(partial(solve_all, chosen, digits, use_flint)) / len(chosen) * 1e3
    return cost


def without_gmpy(quick: bool) -> dict[tuple[str, int], float]:
    """Return the same in a process of its own where mpmath and SymPy work on Python's integers."""
    if mpmath.libmp.BACKEND == "python":
        return {}
    command = [sys.executable, __file__, "--digits-only", *(["--quick"] if quick else [])]
    plain = {"MPMATH_NOGMPY": "1", "SYMPY_GROUND_TYPES": "python"}
    found = subprocess.run(command, env=os.environ | plain, check=True, capture_output=True, text=True)
    return {(name, digits): cost for name, digits, cost in json.loads(found.stdout)}


def main() -> None:
    """Run everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer points, no 10^6 points, no 10,000 digits")
    parser.add_argument("--digits-only", action="store_true", help="the times of mpmath alone, as JSON")
    options = parser.parse_args()
    if options.digits_only:
        print(json.dumps([[*key, cost] for key, cost in digits_costs(options.quick, False).items()]))
        return
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{processor()}, {os.cpu_count()} processors{load}")
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}; processor time of one core, best of the runs")
    double_precision(20_000 if options.quick else 100_000)
    any_precision(options.quick)
    if not options.quick:
        memory()


if __name__ == "__main__":
    main()
