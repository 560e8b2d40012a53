"""A user's program, as it should pass mypy --strict."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import hermite_rmt as hr
from hermite_rmt.figures import curve_figure, save


def curve(text: str, c: list[float]) -> np.ndarray:
    f = hr.Nonlinearity(text).centred()
    model = hr.Attention(f, overlaps=hr.Overlaps.aligned(mu_mu=1))
    return np.asarray(model.error(c, gamma=0.1))


def constants(text: str) -> tuple[float, float]:
    f = hr.Nonlinearity(text)
    return f.coefficient(1), f.nu()


def outcome(c: float) -> str:
    solution: hr.Solution = hr.LinearRegression(mu_mu=1).solve(c, 0.1, raises=False)
    if solution.outcome is hr.Outcome.CONVERGED:
        return f"{solution['error']:.6f}"
    return str(solution.outcome.value)


def study(path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        data = hr.sweep(
            hr.Attention("tanh(x)"),
            c=[0.5, 1.0],
            gamma=0.1,
            simulate={"n": 40, "trials": 2, "rng": 0},
            executor=executor,
        )
    save(curve_figure({"tanh": [data]}), path)


def certified(text: str) -> tuple[float, float]:
    ball: hr.Ball = hr.Nonlinearity(text).nu(digits=20, certified=True)
    return float(ball.lower), float(ball.upper)


def law(ratio: float) -> float:
    return float(hr.MarchenkoPastur(ratio).atom())


def claim() -> bool | None:
    verdict = hr.check("E <= gamma*q", "linear_regression", points=3)
    return verdict.holds


def simulated() -> float:
    estimate = hr.LinearRegression().simulate(40, 20, 0.1, rng=0)
    return estimate.error.mean if not isinstance(estimate, list) else estimate[0].error.mean


if __name__ == "__main__":
    print(
        curve("relu(x)", [0.5, 1.0]),
        simulated(),
        constants("tanh(x)"),
        outcome(0.5),
        certified("tanh(x)"),
        law(2.0),
        claim(),
    )
