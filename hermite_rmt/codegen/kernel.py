"""The one bridge from SymPy to numbers: expressions become picklable kernels for NumPy and local mpmath contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy
from sympy.printing.pycode import MpmathPrinter

from hermite_rmt.codegen.double import DOUBLE_FUNCTIONS, with_float_constants
from hermite_rmt.core.contexts import local_context


class Kernel:
    """Several expressions in the same arguments, compiled once, with common subexpressions shared.

    Parameters
    ----------
    arguments : sympy symbols, in the order in which their values are passed
    expressions : SymPy expressions in those symbols alone

    Raises
    ------
    ValueError
        If an expression has a free symbol that is not an argument.

    A kernel pickles by its expressions, so it travels to spawned workers.

    >>> x = sympy.Symbol("x")
    >>> kernel = Kernel([x], [x**2, sympy.Integer(3)])
    >>> kernel.double(np.array([1.0, 2.0]))
    (array([1., 4.]), array([3., 3.]))
    >>> kernel.multiprecision(100)(local_context(100).mpf(3))
    (mpf('9.0'), mpf('3.0'))
    """

    def __init__(self, arguments: Iterable[sympy.Symbol], expressions: Iterable[sympy.Expr]) -> None:
        self.arguments = tuple(arguments)
        self.expressions = tuple(sympy.sympify(expression) for expression in expressions)
        unknown = set().union(*(e.free_symbols for e in self.expressions)) - set(self.arguments)
        if unknown:
            names = ", ".join(sorted(str(symbol) for symbol in unknown))
            raise ValueError(f"expressions: free symbols {names}; allowed: {self.arguments}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self.arguments, self.expressions)

    def __repr__(self) -> str:
        return f"Kernel({list(self.arguments)}, {list(self.expressions)})"

    @cached_property
    def _plain(self) -> tuple[list[sympy.Symbol], list[sympy.Expr]]:
        # lambdify writes symbol names into source code: names of our own are the only ones it ever sees
        plain = [sympy.Symbol(f"v{index}") for index in range(len(self.arguments))]
        renaming = dict(zip(self.arguments, plain, strict=True))
        return plain, [expression.xreplace(renaming) for expression in self.expressions]

    @cached_property
    def _double(self) -> Callable[..., Any]:
        arguments, expressions = self._plain
        expressions = [with_float_constants(expression) for expression in expressions]
        compiled: Callable[..., Any] = sympy.lambdify(
            arguments, expressions, modules=[DOUBLE_FUNCTIONS, "scipy", "numpy"], cse=True
        )
        return compiled

    @property
    def function(self) -> Callable[..., Any]:
        """The compiled function of doubles as it is: scalars or arrays, nothing converted, broadcast or silenced."""
        return self._double

    def double(self, *values: Any) -> tuple[np.ndarray, ...]:
        """Evaluate in double (or complex double) precision; arguments and constants broadcast together.

        Non-finite results are returned as they are, without a warning: the caller checks them.
        """
        arrays = [np.asarray(value) for value in values]
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        with np.errstate(all="ignore"):  # an unused branch of a Piecewise may divide by zero
            results = self._double(*(array if array.dtype.kind in "fc" else array.astype(float) for array in arrays))
        return tuple(np.array(np.broadcast_to(np.asarray(r, dtype=np.result_type(r, float)), shape)) for r in results)

    def multiprecision(self, precision: int) -> Callable[..., tuple[Any, ...]]:
        """Return the function of mpf or mpc arguments that evaluates in the local context of `precision` bits."""
        compiled = _compile_multiprecision(self, precision)
        context = local_context(precision)

        def evaluate(*values: Any) -> tuple[Any, ...]:
            return tuple(context.convert(result) for result in compiled(*map(context.convert, values)))

        return evaluate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.arguments, self.expressions))


@lru_cache(maxsize=256)
def _compile_multiprecision(kernel: Kernel, precision: int) -> Callable[..., Any]:
    context = local_context(precision)
    namespace = {name: getattr(context, name) for name in dir(context) if not name.startswith("_")}
    arguments, expressions = kernel._plain
    printer = MpmathPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    compiled: Callable[..., Any] = sympy.lambdify(
        arguments, expressions, modules=[namespace], printer=printer, cse=True
    )
    return compiled
