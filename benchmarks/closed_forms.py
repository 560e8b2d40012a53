"""Closed forms by rules against sympy.integrate, as ratios: python benchmarks/closed_forms.py [--limit 8].

For each function, a_0, a_1, ... as far as sympy.integrate answers within the time limit (an alarm stops it: POSIX
only); then the same coefficients by the rules, reading included.
"""

from __future__ import annotations

import argparse
import signal
import time
from typing import Any

import sympy

from hermite_rmt.hermite import formulas
from hermite_rmt.hermite.closed_form import ClosedForm
from hermite_rmt.hermite.integrand import X

FUNCTIONS = {
    "relu": formulas.relu(X),
    "erf": sympy.erf(X),
    "gelu": formulas.gelu(X),
    "exp": sympy.exp(X),
}
DENSITY = sympy.exp(-(X**2) / 2) / sympy.sqrt(2 * sympy.pi)
HIGHEST = 20


def stopped(*_: Any) -> None:
    raise TimeoutError


def by_integrate(f: sympy.Expr, limit: int) -> tuple[int, float]:
    """Return how many coefficients sympy.integrate gives, and the seconds they take."""
    start = time.process_time()
    spent = 0.0
    for k in range(HIGHEST + 1):
        signal.alarm(limit)
        try:
            value = sympy.integrate(sympy.expand(f * sympy.hermite_prob(k, X)) * DENSITY, (X, -sympy.oo, sympy.oo))
        except TimeoutError:
            return k, spent
        finally:
            signal.alarm(0)
        if value.has(sympy.Integral):
            return k, spent
        spent = time.process_time() - start
    return HIGHEST + 1, spent


def by_rules(f: sympy.Expr, count: int) -> float:
    """Return the seconds that `count` coefficients take."""
    start = time.process_time()
    form = ClosedForm.of(f)
    assert form is not None
    for k in range(count):
        form.coefficient(k)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=8, help="seconds for one call of sympy.integrate")
    limit = parser.parse_args().limit
    signal.signal(signal.SIGALRM, stopped)
    for name, f in FUNCTIONS.items():
        count, slow = by_integrate(f, limit)
        sympy.core.cache.clear_cache()
        fast = by_rules(f, count)
        print(
            f"{name:5} a_0..a_{count - 1}: integrate {slow:.2f} s, rules {fast * 1e3:.1f} ms, ratio {slow / fast:.0f}"
        )
        print(f"      a_0..a_{HIGHEST} by rules: {by_rules(f, HIGHEST + 1) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
