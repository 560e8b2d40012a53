"""Hermite coefficients against the usual ways, in one run, as ratios: python benchmarks/hermite.py.

What is compared: a loop of `mpmath.quad` with the right breakpoints and enough working digits; 1000 digits of
a_1(tanh); a_2500 of cos(50 x).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mpmath
import sympy

from hermite_rmt.hermite.certified import certified_coefficients
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.quadrature import coefficient, coefficients

DIGITS = 50
COUNT = 20


def timed(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least processor time in seconds and the result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def by_quad(function: Callable[[Any, Any], Any], points: list[Any]) -> list[Any]:
    """Return a_0..a_19 by a loop of mpmath.quad, as one would write it."""
    mp = mpmath.mp.clone()
    mp.dps = DIGITS + 10
    root = mp.sqrt(2 * mp.pi)

    def hermite(k: int, x: Any) -> Any:
        previous, current = mp.zero, mp.one
        for j in range(k):
            previous, current = current, (x * current - mp.sqrt(j) * previous) / mp.sqrt(j + 1)
        return current

    return [
        mp.quad(lambda x, k=k: function(mp, x) * hermite(k, x) * mp.exp(-(x**2) / 2) / root, points)
        for k in range(COUNT)
    ]


def main() -> None:
    """Print the table."""
    cases = [
        ("tanh(x)", sympy.tanh(X), lambda mp, x: mp.tanh(x), [-mpmath.inf, 0, mpmath.inf]),
        ("Max(x - 1, 0)", sympy.Max(X - 1, 0), lambda mp, x: max(x - 1, 0), [-mpmath.inf, 1, mpmath.inf]),
        ("erf(x)", sympy.erf(X), lambda mp, x: mp.erf(x), [-mpmath.inf, 0, mpmath.inf]),
    ]
    print(f"{COUNT} coefficients at {DIGITS} digits")
    for name, expression, function, points in cases:
        slow, old = timed(lambda function=function, points=points: by_quad(function, points), 1)
        integrand = Integrand.of_expression(expression)
        fast, new = timed(lambda integrand=integrand: coefficients(integrand, COUNT - 1, DIGITS))
        gap = max(abs(a - b) for a, b in zip(old, new, strict=True))
        print(
            f"  {name:14s} mp.quad loop {slow:7.2f} s   here {fast:6.3f} s   ratio {slow / fast:6.1f}   "
            f"largest difference {mpmath.nstr(gap, 2)}"
        )
    tanh = Integrand.of_expression(sympy.tanh(X))
    print("1000 digits of a_1(tanh)", f"{timed(lambda: coefficients(tanh, 1, 1000), 1)[0]:.2f} s")
    print("50 certified digits of a_1(tanh)", f"{timed(lambda: certified_coefficients(tanh, 1, 50), 1)[0]:.2f} s")
    cosine = Integrand.of_expression(sympy.cos(50 * X))
    seconds, value = timed(lambda: coefficient(cosine, 2500, 30), 1)
    print(f"a_2500 of cos(50 x) at 30 digits {seconds:.1f} s: {value}")


if __name__ == "__main__":
    main()
