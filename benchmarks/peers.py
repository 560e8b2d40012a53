"""What other tools do with the tasks of docs/comparison.md: time, and deviation from the exact value.

    python benchmarks/peers.py [--rounds 5]

Runs what is installed and names what is not: rmtool, freealg, scikit-rmt (needs numpy < 2), neural-tangents (0.6.5
needs jax < 0.4.36, tf2jax < 0.3.7), and this package. They do not fit into one environment: run it in several.
Processor time, median of the rounds, one process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np

A1, SIGMA, C = 0.5, 0.3, 2.0  # K = a_1 (G - 1) + sigma W, G = Z^T Z/p, c = p/n
RATIO = 1 / C
LINE = np.linspace(-1.5, 2.5, 400)
INSIDE = np.linspace((1 - RATIO**0.5) ** 2, (1 + RATIO**0.5) ** 2, 402)[1:-1]
MEAN = 111 / 400  # lim tr(K G K)/n

Task = tuple[str, Callable[[], object], Callable[[object], str]]


def deviation(exact: np.ndarray) -> Callable[[object], str]:
    """Return what says how far an array is from the exact one."""
    return lambda found: f"largest deviation {np.nanmax(np.abs(np.asarray(found, dtype=float) - exact)):.1e}"


def near(exact: float) -> Callable[[object], str]:
    return lambda found: f"{float(found):.6g} for {exact:.6g}"  # type: ignore[arg-type]


def mp_density(x: np.ndarray) -> np.ndarray:
    low, high = (1 - RATIO**0.5) ** 2, (1 + RATIO**0.5) ** 2
    return np.sqrt(np.clip((high - x) * (x - low), 0, None)) / (2 * np.pi * RATIO * x)


def sum_transform(z: np.ndarray) -> np.ndarray:
    """Return the candidates for m(z): the roots of z = a_1/(1 + a_1 m/c) - a_1 - sigma^2 m - 1/m."""
    k = A1 / C
    return np.array([np.roots([-(SIGMA**2) * k, -(SIGMA**2) - (x + A1) * k, A1 - (x + A1) - k, -1]) for x in z])


def sum_density(x: np.ndarray) -> np.ndarray:
    return np.abs(sum_transform(x).imag).max(axis=1) / np.pi


def rmtool_tasks() -> Iterator[Task]:
    import rmtool
    import sympy

    c, a1, sigma = sympy.symbols("c a1 sigma")

    def kernel(a1: object, sigma: object, c: object) -> object:
        shifted = rmtool.scaleA(rmtool.shiftA(rmtool.wishartpol(1 / c), -1), a1)  # type: ignore[operator]
        return rmtool.AplusB(shifted, rmtool.scaleA(rmtool.wignerpol(), sigma))

    def density(law: object, x: np.ndarray) -> np.ndarray:
        return np.asarray(rmtool.Lmz2pdf(law, x).density)

    def degree(law: object) -> str:
        return f"degree {sympy.degree(law, rmtool.m)} in m"

    def mean_of_product() -> object:
        return rmtool.Lmz2MomF(rmtool.AtimesB(square, wishart), 1)[-1]

    half, three = sympy.Rational(1, 2), sympy.Rational(3, 10)
    numeric = kernel(half, three, sympy.Integer(2))
    wishart = rmtool.wishartpol(half)
    square = rmtool.squareA(numeric)
    yield "Marchenko-Pastur density, 400 points", lambda: density(wishart, INSIDE), deviation(mp_density(INSIDE))
    yield "Marchenko-Pastur + semicircle, all symbolic", lambda: kernel(a1, sigma, c), degree
    yield "its density, 400 points", lambda: density(numeric, LINE), deviation(sum_density(LINE))
    yield "mean of K G K, multiplied as if K^2 and G were free", mean_of_product, near(MEAN)


def freealg_tasks() -> Iterator[Task]:
    from freealg.distributions import FreeLevy

    law = FreeLevy([A1 / C], [1.0], C, a=-A1, sigma=SIGMA)
    exact = min(sum_transform(np.array([-2.0]))[0], key=lambda m: abs(m - 0.5)).real
    yield (
        "density of Marchenko-Pastur + semicircle, 400 points",
        lambda: law.density(LINE),
        deviation(sum_density(LINE)),
    )
    yield (
        "its Stieltjes transform at z = -2",
        lambda: complex(law.stieltjes(np.array([-2.0 + 0j]))[0]).real,
        near(exact),
    )


def skrmt_tasks() -> Iterator[Task]:
    from skrmt.ensemble.spectral_law import MarchenkoPasturDistribution

    law, wide = MarchenkoPasturDistribution(ratio=RATIO), MarchenkoPasturDistribution(ratio=2.0)
    yield "Marchenko-Pastur density, 400 points", lambda: law.pdf(INSIDE), deviation(mp_density(INSIDE))
    yield "cdf at 0.1 for ratio 2, below the edge: the atom", lambda: wide.cdf(0.1), near(0.5)


def neural_tangents_tasks() -> Iterator[Task]:
    import jax
    from neural_tangents import stax

    jax.config.update("jax_enable_x64", True)
    x = np.array([[1.0, 0.0], [0.5, 0.75**0.5]])  # correlation 1/2

    def dual(layer: tuple[object, object, Callable[..., object]]) -> Callable[[], object]:
        kernel = stax.serial(stax.Dense(1, W_std=2**0.5), layer)[2]
        return lambda: np.asarray(kernel(x, None, "nngp"))[0, 1]

    relu = (3**0.5 / 2 + np.pi * 2 / 3 * 0.5) / (2 * np.pi)
    yield "dual of relu at 1/2, closed form", dual(stax.Relu()), near(relu)
    numerical = stax.ElementwiseNumerical(lambda u: jax.numpy.maximum(u, 0), deg=25)
    yield "the same by its quadrature of degree 25", dual(numerical), near(relu)


def own_tasks() -> Iterator[Task]:
    import sympy

    import hermite_rmt as hr

    n, p = hr.dimensions("n p")
    c, a1, sigma, z = sympy.symbols("c a1 sigma z")
    Z, identity = hr.Gaussian("Z", p, n), sympy.Identity(n)
    G = Z.T * Z / p
    K = a1 * (G - identity) + sigma * hr.GOE("W", n)

    def cubic() -> object:
        sympy.core.cache.clear_cache()
        return hr.deterministic_equivalent((K - z * identity).inv(), {p: c * n}).polynomial().degree

    def mean() -> object:
        return hr.deterministic_equivalent(K * G * K, {p: c * n}).moments(1, {a1: "1/2", sigma: "3/10", c: 2})[1]

    law, model = hr.MarchenkoPastur(RATIO), hr.Attention("tanh(x)")
    at = np.geomspace(0.1, 10, 400)
    spectrum = hr.Attention(a1=A1, nu=A1**2 + C * SIGMA**2).spectrum(C)
    f, u = hr.nonlinearities.relu, 0.5
    relu = (3**0.5 / 2 + np.pi * 2 / 3 * 0.5) / (2 * np.pi)
    yield "Marchenko-Pastur density, 400 points", lambda: law.pdf(INSIDE), deviation(mp_density(INSIDE))
    yield "Marchenko-Pastur + semicircle, all symbolic", cubic, lambda degree: f"degree {degree} in m"
    yield "its density, 400 points", lambda: spectrum.kernel_density(LINE), deviation(sum_density(LINE))
    yield "mean of K G K", mean, near(MEAN)
    yield "dual of relu at 1/2, 60 coefficients", lambda: f.expansion(60).dual(u), near(relu)
    yield (
        "attention's trace, 400 points, gamma = 0.001",
        lambda: model.trace(at, 1e-3),
        lambda m: f"{np.size(m)} points",
    )


PEERS: dict[str, Callable[[], Iterator[Task]]] = {
    "rmtool": rmtool_tasks,
    "freealg": freealg_tasks,
    "scikit-rmt": skrmt_tasks,
    "neural-tangents": neural_tangents_tasks,
    "hermite-rmt": own_tasks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for name, tasks in PEERS.items():
        try:
            print(f"{name} {version(name)}")
        except PackageNotFoundError:
            print(f"{name}: not installed")
            continue
        for label, task, judge in tasks():
            taken = []
            for _ in range(rounds):
                start = time.process_time()
                found = task()
                taken.append(time.process_time() - start)
            print(f"  {1e3 * statistics.median(taken):9.2f} ms  {label}: {judge(found)}")


if __name__ == "__main__":
    main()
