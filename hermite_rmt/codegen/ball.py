"""SymPy expressions as functions of Arb balls (python-flint), real and complex, for enclosures one can rely on."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.polys.rootoftools import ComplexRootOf

from hermite_rmt.codegen.enclosures import COMPLEX, CONSTANTS, NAMES, REAL, Step
from hermite_rmt.codegen.roots import enclose_root
from hermite_rmt.core.ball import Ball
from hermite_rmt.core.contexts import bits
from hermite_rmt.core.flint_context import flint_module, flint_precision
from hermite_rmt.core.numbers import SymbolicReal


class BallFunction:
    """One expression in one variable (or several) as a function of balls.

    `real(x)` takes an `arb` and encloses f on it. `complex(z, analytic)` takes an `acb` and encloses the analytic
    continuation of f; with `analytic` true it is not finite wherever f may fail to be analytic on z, as
    `acb.integral` demands (cuts of sqrt, log, powers, inverse functions; kinks and jumps of Abs, Max, sign...).

    Both work at the precision python-flint has at the moment: call them inside `flint_precision`.

    Parameters
    ----------
    variable : SymPy symbol, or several in the order in which their values are passed
    expression : SymPy expression in it (or them) alone, without Piecewise

    Raises
    ------
    ValueError
        If the expression holds a function that has no enclosure here.

    >>> from hermite_rmt.core.flint_context import flint_precision
    >>> x = sympy.Symbol("x")
    >>> with flint_precision(100) as flint:
    ...     print(BallFunction(x, sympy.tanh(x) / 3).real(flint.arb(1)).str(20))
    [0.25386471865192162937 +/- 3.16e-21]
    """

    def __init__(self, variable: sympy.Symbol | tuple[sympy.Symbol, ...], expression: sympy.Expr) -> None:
        self.variables = variable if isinstance(variable, tuple) else (variable,)
        self.expression = expression
        self._constants: dict[int, list[Any]] = {}
        self._sources: list[sympy.Expr] = []  # constant subexpressions, evaluated once a precision
        self._steps: list[tuple[str, Step, tuple[int, ...]]] = []
        self._slots: dict[sympy.Expr, int] = {}
        self._slot(expression)

    def real(self, *x: Any) -> Any:
        """Return an `arb` that contains f(t) for every t in the `arb` x; not finite where f is undefined."""
        return self._run(x, REAL, ())

    def complex(self, z: Any, analytic: bool = False) -> Any:
        """Return an `acb` that contains f on the `acb` z; not finite if `analytic` and f may not be analytic on z."""
        return self._run((z,), COMPLEX, (bool(analytic),))

    def _run(self, values: tuple[Any, ...], table: dict[str, Step], flag: tuple[Any, ...]) -> Any:
        flint = flint_module()
        assert flint is not None
        precision = flint.ctx.prec
        if precision not in self._constants:
            self._constants[precision] = [constant_ball(source) for source in self._sources]
        convert = flint.arb if table is REAL else flint.acb
        registers: list[Any] = []
        constants = self._constants[precision]
        for name, function, arguments in self._steps:
            if name == "variable":
                registers.append(values[arguments[0]])
            elif name == "constant":
                registers.append(convert(constants[arguments[0]]))
            elif name == "plain":
                registers.append(function(*(registers[index] for index in arguments)))
            else:
                registers.append(table[name](*(registers[index] for index in arguments), *flag))
        return registers[-1]

    def _slot(self, expression: sympy.Expr) -> int:
        if expression not in self._slots:
            self._slots[expression] = self._append(expression)
        return self._slots[expression]

    def _append(self, expression: sympy.Expr) -> int:
        step: tuple[str, Step, tuple[int, ...]]
        if expression in self.variables:
            step = ("variable", _nothing, (self.variables.index(expression),))
        elif not expression.has(*self.variables):
            self._sources.append(expression)
            step = ("constant", _nothing, (len(self._sources) - 1,))
        elif expression.is_Add or expression.is_Mul:
            slots = tuple(self._slot(argument) for argument in expression.args)
            step = ("plain", _sum if expression.is_Add else _product, slots)
        elif expression.is_Pow:
            step = self._power(expression)
        else:
            name = _name(expression)
            step = (name, _nothing, tuple(self._slot(argument) for argument in _arguments(expression)))
        self._steps.append(step)
        return len(self._steps) - 1

    def _power(self, expression: sympy.Pow) -> tuple[str, Step, tuple[int, ...]]:
        base, exponent = expression.args
        if exponent.is_Integer:
            power = int(exponent)
            return ("plain", lambda value: _whole_power(value, power), (self._slot(base),))
        if exponent == sympy.S.Half:
            return ("sqrt", _nothing, (self._slot(base),))
        if exponent == -sympy.S.Half:
            return ("rsqrt", _nothing, (self._slot(base),))
        if not base.has(*self.variables) and base.is_positive:
            return ("exp", _nothing, (self._slot(exponent * sympy.log(base)),))
        return ("pow", _nothing, (self._slot(base), self._slot(exponent)))


def constant_ball(expression: sympy.Expr) -> Any:
    """Return an `arb` that contains a real constant, at python-flint's precision.

    Raises
    ------
    ValueError
        If it holds something that cannot be enclosed here.
    """
    flint = flint_module()
    assert flint is not None
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression.is_Float:
        return constant_ball(sympy.Rational(expression))
    if expression in CONSTANTS:
        return CONSTANTS[expression](flint)
    if isinstance(expression, ComplexRootOf) and expression.is_real:
        lower, upper = (
            flint.fmpq(end.numerator, end.denominator) for end in enclose_root(expression, flint.ctx.prec)
        )
        return flint.arb(lower).union(flint.arb(upper))
    if not expression.args:
        raise ValueError(f"certified: no enclosure of the constant {expression}")
    if expression.is_Add or expression.is_Mul:
        return (_sum if expression.is_Add else _product)(*map(constant_ball, expression.args))
    if expression.is_Pow:
        base, exponent = expression.args
        if exponent.is_Integer:
            return constant_ball(base) ** int(exponent)
        return REAL["pow"](constant_ball(base), constant_ball(exponent))
    return REAL[_name(expression)](*map(constant_ball, _arguments(expression)))


def enclose_constant(expression: sympy.Expr, digits: int) -> Ball:
    """Return a ball of relative radius at most 10^-digits that contains a real constant.

    Raises
    ------
    ValueError
        If it holds something that cannot be enclosed here, or is too close to 0 to be told from it.
    """
    target = bits(digits)
    for precision in (target + 32, 2 * target + 200, 8 * target + 800):
        with flint_precision(precision):
            value = constant_ball(expression)
            if value.rel_accuracy_bits() >= target + 2:
                return Ball.of_arb(value, digits)
    raise ValueError(f"certified: {expression} cannot be told from 0 with {precision} bits")


SymbolicReal.encloser = enclose_constant


def _name(expression: sympy.Expr) -> str:
    name = NAMES.get(expression.func)
    if name is None:
        raise ValueError(f"certified: no enclosure of {expression.func.__name__}; allowed: {', '.join(sorted(REAL))}")
    return name


def _arguments(expression: sympy.Expr) -> tuple[sympy.Expr, ...]:
    if isinstance(expression, sympy.Heaviside):
        return (expression.args[0],)
    if isinstance(expression, sympy.polygamma):
        if expression.args[0] != 0:
            raise ValueError(f"certified: no enclosure of {expression}")
        return (expression.args[1],)
    return tuple(expression.args)


def _nothing(*_: Any) -> Any:
    raise AssertionError("a placeholder is never called")


def _whole_power(value: Any, power: int) -> Any:
    """Return value^power by multiplications: that of python-flint is nan on real balls that contain 0."""
    if power < 0:
        return 1 / _whole_power(value, -power)
    result, square = 1, value
    while power:
        if power % 2:
            result = square * result
        power //= 2
        if power:
            square = square * square
    return result


def _sum(*values: Any) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _product(*values: Any) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total * value
    return total
