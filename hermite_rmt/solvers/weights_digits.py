"""Attention with given weights to any number of digits, for tokens of covariance I.

The weights enter through one function of two variables, (1/p) log det(1 + alpha (C + C^T) + beta C^T C) with
C = k W, k = a_1/s (derivations/15_any_weights.py): its derivatives are traces of p x p matrices, computed by
python-flint; the rest is arithmetic on six unknowns, differentiated by dual numbers. The double solution names the
branch; Newton's method and two precisions that agree do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.flint_context import flint_precision
from hermite_rmt.core.known_digits import KnownDigits
from hermite_rmt.core.numbers import Real
from hermite_rmt.solvers.dual import Dual, seeds
from hermite_rmt.solvers.linear import eliminate

UPPER = tuple((i, j) for i in range(3) for j in range(i, 3))
STEPS = 12
MOVED = 1e-6  # relative distance from the double solution that is another solution
ROUNDS = 6

Pair = tuple[Any, Any]


class DigitsError(ArithmeticError):
    """The digits asked for were not reached."""


@dataclass(frozen=True)
class Equation:
    """The numbers of one point, in one local context."""

    c: Any
    gamma: Any
    kappa: Any
    eta: Any
    eps: Any
    factor: Any  # k = a_1/s


class _Traces:
    """Derivatives of the weights' function, and of the quadratic forms of a signal, at one precision."""

    def __init__(self, W: np.ndarray, mu: np.ndarray | None, precision: int) -> None:
        self._context, self._precision, self._p = local_context(precision), precision, len(W)
        with flint_precision(precision) as flint:
            self._W = flint.arb_mat(W.tolist())
            self._identity = flint.arb_mat(np.eye(self._p, dtype=int).tolist())
            self._turned = self._W.transpose()
            self._sum, self._gram = self._W + self._turned, self._turned * self._W
            self._mu = None if mu is None else flint.arb_mat([[entry] for entry in mu.tolist()])
            self.length = None if self._mu is None else self._number((self._mu.transpose() * self._mu)[0, 0])

    def function(self, alpha: Any, beta: Any) -> tuple[Any, ...]:
        """Return tr(WS)/p, tr(W^T W S)/p, S = (1 + alpha (W + W^T) + beta W^T W)^-1, and the derivatives of both."""
        with flint_precision(self._precision) as flint:
            S = self._matrix(flint, alpha, beta, self._gram).inv()
            U, V = self._sum * S, self._gram * S
            crossed = (U * V).trace()
            entries = (U.trace() / 2, V.trace(), -(U * U).trace() / 2, -crossed / 2, -crossed, -(V * V).trace())
            return tuple(self._number(entry) / self._p for entry in entries)

    def forms(self, alpha: Any, beta: Any) -> tuple[tuple[Any, Any, Any], ...]:
        """Return (value, d/dalpha, d/dbeta) of mu^T W^T S' W mu, mu^T W S W^T mu, mu^T W S mu; S' has W W^T in S."""
        with flint_precision(self._precision) as flint:
            other = self._W * self._turned
            forward, backward = self._W * self._mu, self._turned * self._mu
            x = self._matrix(flint, alpha, beta, self._gram).solve(backward)
            z = self._matrix(flint, alpha, beta, self._gram).solve(self._mu)
            y = self._matrix(flint, alpha, beta, other).solve(forward)
            found = []
            for left, right, first, gram in (
                (y, y, forward, other),
                (x, x, backward, self._gram),
                (x, z, self._mu, self._gram),
            ):
                turned = left.transpose()
                entries = (turned * first, -(turned * self._sum * right), -(turned * gram * right))
                found.append(tuple(self._number(entry[0, 0]) for entry in entries))
            return tuple(found)

    def _matrix(self, flint: Any, alpha: Any, beta: Any, gram: Any) -> Any:
        return self._identity + self._sum * flint.arb(alpha) + gram * flint.arb(beta)

    def _number(self, ball: Any) -> Any:
        man, exp = ball.mid().man_exp()
        return self._context.mpf((int(man), int(exp)))


def solve_weights(
    W: np.ndarray,
    mu: np.ndarray | None,
    strength: Real,
    equation: Callable[[int], Equation],
    start: np.ndarray,
    digits: int,
) -> tuple[Mapping[str, Any], float, int]:
    """Return values by name as `KnownDigits`, the residual and the number of Newton steps.

    Parameters
    ----------
    W : (p, p) weights
    mu : (p,) signal; None: `strength` is that of a signal in a random direction
    strength : |mu|^2, where 0 means pure noise
    equation : precision in bits -> `Equation`
    start : (3, 3) the solution in double
    digits : number of digits

    Raises
    ------
    DigitsError
        If Newton's method leaves the start or two precisions never agree.
    ImportError
        If python-flint is not installed.
    """
    precision, previous, steps = bits(digits + 14), None, 0
    scale = np.abs(start).max()
    x: list[Any] = [start[i, j] for i, j in UPPER]
    for _ in range(ROUNDS):
        point = _Point(_Traces(W, mu, precision), equation(precision), precision)
        x, residual, taken = point.newton(x)
        steps += taken
        if max(abs(float(a) - start[i, j]) for a, (i, j) in zip(x, UPPER, strict=True)) > MOVED * scale:
            raise DigitsError("Newton's method left the branch that was followed in double")
        values = point.observe(x, strength.mpf(precision))
        if previous is not None and _agree(previous, values, digits + 2):
            return {name: KnownDigits.of(value, digits) for name, value in values.items()}, residual, steps
        previous, precision = values, int(1.25 * precision) + 32
    raise DigitsError(f"{digits} digits were not reached: two precisions never agreed")


def _agree(first: Mapping[str, Any], second: Mapping[str, Any], digits: int) -> bool:
    def same(a: Any, b: Any) -> bool:
        return bool(abs(a - b) <= abs(b) * b.context.mpf(10) ** -digits)

    return all(same(first[name], value) for name, value in second.items())


class _Point:
    """The equations at one point in one precision."""

    def __init__(self, traces: _Traces, equation: Equation, precision: int) -> None:
        self._traces, self._equation = traces, equation
        self._context = local_context(precision)
        self._tolerance = self._context.mpf(2) ** (12 - precision)

    def newton(self, start: list[Any]) -> tuple[list[Any], float, int]:
        x = [self._context.convert(value) for value in start]
        previous = None
        for step in range(1, STEPS + 1):
            residuals, jacobian, _ = self._linearise(x)
            change = eliminate(jacobian, -residuals)
            x = [a + b for a, b in zip(x, change, strict=True)]
            size = max(map(abs, change)) / max(map(abs, x))
            if size <= self._tolerance or (previous is not None and size > previous and size < 1e-12):
                return x, float(max(map(abs, residuals))), step
            previous = size
        raise DigitsError("Newton's method did not converge from the double solution")

    def observe(self, x: list[Any], strength: Any) -> dict[str, Any]:
        e = self._equation
        _, jacobian, g = self._linearise(x)
        values = [entry.value for entry in (g[0][0], g[0][1], g[1][1])]
        forcing = np.array([self._context.mpf(int((i, j) == (0, 0))) for i, j in UPPER], dtype=object)
        slope = eliminate(jacobian, -forcing)  # M - g^-1 = 0, and dM/dgamma is 1 at (u, u) alone
        q = self._response(g, strength) if strength else g[0][0]
        change = sum((a * b for a, b in zip(q.dense(), slope, strict=True)), self._context.zero)
        return {
            "trace": values[0],
            "quadratic_form": q.value,
            "error": -(e.gamma**2) * change,
            "delta": -(e.c**2) * values[2],
            "tau": e.c * values[1],
        }

    def _linearise(self, x: list[Any]) -> tuple[Any, Any, list[list[Dual]]]:
        """Return the residuals M(g) - g^-1 (upper triangle), their Jacobian, and g as dual numbers."""
        e = self._equation
        entries = dict(zip(UPPER, seeds(tuple(x), (self._context.one,) * 6), strict=True))
        g = [[entries[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]
        X = self._blocks(g, *self._function(g))
        inverse = _inverse(g)
        constant = {(0, 0): e.gamma, (0, 1): e.c * e.kappa, (1, 2): -e.c}
        noise = {(0, 0): e.eta * g[1][1], (0, 1): e.eps * g[0][1], (1, 1): e.eta * g[0][0]}
        rows = []
        for i, j in UPPER:
            total = e.c * X[i][j] - inverse[i][j]
            if (i, j) in noise:
                total = total - e.c * noise[i, j]
            rows.append(total + constant.get((i, j), 0))
        residuals = np.array([row.value for row in rows], dtype=object)
        return residuals, np.array([row.dense() for row in rows], dtype=object), g

    def _angles(self, g: list[list[Dual]]) -> tuple[Dual, Dual]:
        """Return k alpha and k^2 beta of h, what is left of the (u, t) part of g without s."""
        h = _without_s(g)
        k = self._equation.factor
        return k * h[0][1], (k * k) * (h[0][1] * h[0][1] - h[0][0] * h[1][1])

    def _function(self, g: list[list[Dual]]) -> Pair:
        alpha, beta = self._angles(g)
        first, second, aa, ab, ba, bb = self._traces.function(alpha.value, beta.value)
        k = self._equation.factor
        return k * _lifted(first, aa, ab, alpha, beta), (k * k) * _lifted(second, ba, bb, alpha, beta)

    def _blocks(self, g: list[list[Dual]], first: Any, second: Any, unit: Any = 1) -> list[list[Any]]:
        """Return X from tr(C S) and tr(C^T C S), or the like; `unit` is the trace of 1."""
        h = _without_s(g)
        return self._with_s(g, -(h[1][1] * second), first + h[0][1] * second, -(h[0][0] * second), unit)

    def _with_s(self, g: list[list[Dual]], uu: Any, ut: Any, tt: Any, unit: Any) -> list[list[Any]]:
        T = 1 / (1 + g[2][2])
        beside = [g[0][2] * T, g[1][2] * T]
        us, ts = -(uu * beside[0] + ut * beside[1]), -(ut * beside[0] + tt * beside[1])
        ss = unit * T - us * beside[0] - ts * beside[1]
        return [[uu, ut, us], [ut, tt, ts], [us, ts, ss]]

    def _response(self, g: list[list[Dual]], strength: Any) -> Dual:
        """Return q = [(g^-1 + X_v)^-1]_uu."""
        length = self._traces.length  # of the signal, exactly
        if length is None:
            X = [[strength * entry for entry in row] for row in self._blocks(g, *self._function(g))]
        else:
            alpha, beta = self._angles(g)
            k, h = self._equation.factor, _without_s(g)
            forms = self._traces.forms(alpha.value, beta.value)
            forward, backward, mixed = (_lifted(*form, alpha, beta) for form in forms)
            uu, tt = -(h[1][1] * (k * k * forward)), -(h[0][0] * (k * k * backward))
            X = self._with_s(g, uu, k * mixed + h[0][1] * (k * k * backward), tt, length)
        inverse = _inverse(g)
        total = [[inverse[i][j] + X[i][j] for j in range(3)] for i in range(3)]
        q: Dual = _inverse(total)[0][0]
        return q


def _lifted(value: Any, by_alpha: Any, by_beta: Any, alpha: Dual, beta: Dual) -> Dual:
    """Return a function of alpha and beta as a dual number, by the chain rule."""
    return Dual(value, tuple(by_alpha * a + by_beta * b for a, b in zip(alpha.dense(), beta.dense(), strict=True)))


def _without_s(g: list[list[Dual]]) -> list[list[Dual]]:
    T = 1 / (1 + g[2][2])
    return [[g[i][j] - g[i][2] * g[j][2] * T for j in range(2)] for i in range(2)]


def _inverse(a: list[list[Any]]) -> list[list[Any]]:
    """Return the inverse of a symmetric 3 x 3 matrix, by cofactors."""

    def cofactor(i: int, j: int) -> Any:
        (r, s), (k, m) = ([k for k in range(3) if k != n] for n in (i, j))
        minor = a[r][k] * a[s][m] - a[r][m] * a[s][k]
        return minor if (i + j) % 2 == 0 else -minor

    cofactors = {(i, j): cofactor(i, j) for i, j in UPPER}
    determinant = sum((a[0][j] * cofactors[0, j] for j in (1, 2)), a[0][0] * cofactors[0, 0])
    return [[cofactors[min(i, j), max(i, j)] / determinant for j in range(3)] for i in range(3)]
