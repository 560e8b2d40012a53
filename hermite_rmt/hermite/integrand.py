"""Integrand: a real function of one Gaussian variable (expression or callable), evaluated at any precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import Real, read_real

X = sympy.Symbol("x", real=True)
"""The one variable of every expression inside `hermite`."""

# generic points (no simple fraction, no multiple of pi) where a callable's precision is probed
_PROBES = ("-2.718390214", "-0.577123851", "0.318640217", "1.414930871", "3.140261133")
# Off every breakpoint people write, on both sides, out to where the Gaussian weight has fallen to 1e-8
_REALITY_PROBES = tuple(f"{sign}{k / 2 + 0.2137:.4f}" for k in range(12) for sign in ("", "-"))


@dataclass(frozen=True, eq=False)
class Integrand:
    """A function f of one real variable whose Gaussian expectations are asked.

    Use `of_expression` or `of_callable`; exactly one of `expression` and `function` is not None.

    Attributes
    ----------
    expression : sympy.Expr in `X` alone, or None
    function : callable of one number, or None
    breakpoints : points given by the user where f may fail to be analytic (in expressions others are found as well)
    name : what messages call it

    >>> f = Integrand.of_expression(sympy.Max(sympy.Symbol("t"), 0))
    >>> f.double(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    expression: sympy.Expr | None = None
    function: Callable[[Any], Any] | None = None
    breakpoints: tuple[Real, ...] | None = None
    name: str = "f"

    variable = X

    @classmethod
    def of_expression(
        cls, expression: Any, breakpoints: Iterable[Any] | None = None, name: str | None = None
    ) -> Integrand:
        """Return the integrand of a SymPy expression in at most one free symbol; floats in it are taken exactly.

        Raises
        ------
        TypeError
            If `expression` is not a SymPy expression or a number.
        ValueError
            If it has more than one free symbol.
        """
        if isinstance(expression, str):
            raise TypeError(f"expression: got the text {expression!r}; allowed: a SymPy expression")
        expression = sympy.sympify(expression)
        if not isinstance(expression, sympy.Expr):
            raise TypeError(f"expression: got {expression!r}; allowed: a SymPy expression in one free symbol")
        symbols = sorted(expression.free_symbols, key=str)
        if len(symbols) > 1:
            names = ", ".join(map(str, symbols))
            raise ValueError(f"expression: got the free symbols {names}; allowed: one, give the others values first")
        replacements: dict[Any, Any] = {number: sympy.Rational(number) for number in expression.atoms(sympy.Float)}
        expression = expression.xreplace(replacements)
        if symbols and symbols[0] != X:
            expression = expression.subs(symbols[0], X)  # subs, not xreplace: sqrt(t**2) becomes Abs(x)
        return cls(expression, None, _points(breakpoints), name or str(expression))

    @classmethod
    def of_callable(
        cls, function: Callable[[Any], Any], breakpoints: Iterable[Any] | None = None, name: str | None = None
    ) -> Integrand:
        """Return the integrand of a callable of one number (it may also take arrays).

        Raises
        ------
        TypeError
            If `function` is not callable.
        """
        if not callable(function):
            raise TypeError(f"function: got {function!r}; allowed: a callable of one number")
        return cls(None, function, _points(breakpoints), name or getattr(function, "__name__", "f") or "f")

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled expression; a ValueError for a callable."""
        if self.expression is None:
            raise ValueError(f"{self.name}: a callable has no expression to compile")
        return Kernel([X], [self.expression])

    def double(self, values: Any) -> np.ndarray:
        """Evaluate in double precision at an array of points, without warnings; undefined values are nan."""
        points = np.asarray(values, dtype=float)
        if self.expression is not None:
            return _real_part(self.kernel.double(points)[0])
        with np.errstate(all="ignore"):
            if self.takes_arrays:
                try:
                    return _real_part(np.broadcast_to(self.function(points), points.shape))  # type: ignore[misc]
                except Exception:  # at which point? one by one it is said
                    pass
            return np.array([self._scalar(point) for point in points.ravel().tolist()]).reshape(points.shape)

    def _scalar(self, point: float) -> float:
        assert self.function is not None
        try:
            value = self.function(point)
        except OverflowError:
            return math.inf
        except (ZeroDivisionError, ValueError):  # a pole, or outside the domain: `failure` tells
            return math.nan
        except Exception as error:
            raise self._raised(error, point) from error
        number = self._number(value, point)
        return math.nan if number.imag else number.real

    def _number(self, value: Any, point: Any) -> complex:
        try:
            return complex(value)
        except OverflowError:
            return complex(math.inf)
        except Exception as error:
            raise ValueError(f"{self.name}: f({_shown(point)}) = {value!r} is no number") from error

    def _raised(self, error: Exception, point: Any) -> ValueError:
        return ValueError(f"{self.name}: f raises {type(error).__name__} at x = {_shown(point)}: {error}")

    def failure(self, point: Any) -> tuple[str, Exception | None]:
        """Return why a callable has no real value at a point, in words, and the exception it raises, if it does."""
        assert self.function is not None
        try:
            with np.errstate(all="ignore"):
                number = self._number(self.function(point), point)
        except Exception as error:
            return f"f raises {type(error).__name__} there, f({_shown(point)}): {error}", error
        if number.imag:
            return f"f is complex, f({_shown(point)}) = {number:.6g}", None
        return (f"f is undefined, f({_shown(point)}) = {number.real}" if math.isnan(number.real) else ""), None

    @cached_property
    def takes_arrays(self) -> bool:
        """Whether a callable evaluates arrays, to the same values as one by one."""
        assert self.function is not None
        points = np.array([float(text) for text in _PROBES])
        with np.errstate(all="ignore"):
            try:
                together = np.asarray(self.function(points), dtype=float)
            except Exception:
                return False
            one_by_one = np.array([self._scalar(point) for point in points.tolist()])
        return together.shape in (points.shape, ()) and bool(
            np.allclose(together, one_by_one, rtol=1e-13, atol=0, equal_nan=True)
        )

    def multiprecision(self, precision: int) -> Callable[[Any], Any]:
        """Return f as a function of one mpf (of any context) that works in the local context of `precision` bits.

        The value is an mpf, or an mpc where f is complex; callables are trusted to keep the precision of their
        argument (`speaks_multiprecision` tells); where they overflow or divide by 0 the value is inf or nan.

        Raises
        ------
        ValueError
            When it is called, if a callable raises; from its exception, with the point.
        """
        context = local_context(precision)
        if self.expression is not None:
            compiled = self.kernel.multiprecision(precision)
            return lambda point: compiled(point)[0]
        function = self.function
        assert function is not None

        def evaluate(point: Any) -> Any:
            x = context.convert(point)
            try:
                return context.convert(function(x))
            except OverflowError:
                return context.inf
            except (ZeroDivisionError, ValueError):
                return context.nan
            except Exception as error:
                raise self._raised(error, x) from error

        return evaluate

    @cached_property
    def speaks_multiprecision(self) -> bool:
        """Whether f keeps the digits of an mpf argument; False for callables built on `math` or NumPy.

        A function that works in double takes the same value at x and x + 2^-90, though it changes between x and
        x + 2^-20. (A step function changes at neither.)
        """
        if self.expression is not None:
            return True
        context = local_context(300)
        evaluate = self.multiprecision(300)
        for text in _PROBES:
            point = context.mpf(text)
            try:
                here, near, far = (evaluate(point + context.mpf(2) ** shift) for shift in (-300, -90, -20))
            except Exception:
                self.double(float(text))  # an f that raises whatever it is given says so
                return False
            if here == near and here != far:
                return False
        return True

    def complex_point(self) -> tuple[Any, Any] | None:
        """Return a point where f is found to be complex, with its value there, or None.

        Squares and closed forms of f do not show it: sqrt(x)^2 is x.
        """
        context = local_context(100)
        evaluate = self.multiprecision(100)
        for text in _REALITY_PROBES:
            try:
                value = context.convert(evaluate(context.mpf(text)))
            except Exception:  # undefined there; whoever integrates says so
                continue
            if abs(value.imag) > 1e-20 * abs(value):
                return context.mpf(text), value
        return None

    def squared(self) -> Integrand:
        """Return the integrand f^2."""
        if self.expression is not None:
            return Integrand(self.expression**2, None, self.breakpoints, f"({self.name})^2")
        function = self.function
        assert function is not None
        return Integrand(None, lambda point: function(point) ** 2, self.breakpoints, f"({self.name})^2")


def _points(values: Iterable[Any] | None) -> tuple[Real, ...] | None:
    if values is None:
        return None
    points = {point.text: point for point in (read_real(value, "breakpoints") for value in values)}
    return tuple(sorted(points.values(), key=lambda point: point.mpf(200)))


def _shown(point: Any) -> str:
    return f"{float(point):.10g}"


def _real_part(values: Any) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind != "c":
        return np.asarray(values, dtype=float)
    return np.asarray(np.where(values.imag == 0, values.real, np.nan), dtype=float)
