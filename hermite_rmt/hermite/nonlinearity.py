"""Nonlinearity: the function f of the attention matrix, with its Hermite coefficients a_k and its energy nu."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from hermite_rmt.core.numbers import ComputedReal, Real, read_digits, read_real
from hermite_rmt.hermite import enclosed_expectations, expectations
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.less_means import LessMeans
from hermite_rmt.hermite.pointwise import evaluate
from hermite_rmt.hermite.source_reading import read_source
from hermite_rmt.hermite.sources import Source, exact_constant

if TYPE_CHECKING:
    from hermite_rmt.hermite.expansion import HermiteExpansion

Expr = Any


class Nonlinearity:
    """A real function f of one variable, seen under xi ~ N(0, 1).

    Its orthonormal Hermite coefficients are ``a_k = E[f(xi) h_k(xi)]``, ``h_k = He_k / sqrt(k!)``, and its energy is
    ``nu = E[f(xi)^2] = sum_k a_k^2``: the two numbers a_1 and nu are all that the limit theory of attention sees of f
    (Liao et al., arXiv 2506.18656).

    Parameters
    ----------
    source : text, SymPy expression, callable, number or Nonlinearity
        Text is read by `hermite_rmt.hermite.parsing.parse` and never evaluated. A SymPy expression has one free
        symbol, whatever its assumptions. A callable takes one number (or an array); functions of NumPy, SciPy, SymPy
        and `math` are recognised and become expressions.
    variable : SymPy symbol or name, optional
        The variable, where the expression has symbolic parameters too.
    breakpoints : numbers, optional
        Where f has kinks or jumps, if the package should not look for them itself; a callable is looked at on all
        scales around them, which finds peaks narrower than a Gaussian probability of 1e-4.
    name : str, optional
        What messages, tables and figures call f.

    Raises
    ------
    ValueError
        If a text cannot be read, or the variable cannot be told from the parameters.
    TypeError
        If `source` is of another type.

    Notes
    -----
    ``mean``, ``nu``, ``coefficient`` and ``coefficients`` return floats; with ``digits=N`` mpf numbers with N right
    digits; with ``certified=True`` a `Ball` that contains the value. They raise a ValueError with the reason where
    the value does not exist: f not integrable, not square integrable, complex or undefined.

    ``f + g``, ``3 * f``, ``f * g``, ``-f``, ``f / 2``, ``f.scaled(2)`` and ``f.shifted(1)`` are nonlinearities again.

    >>> f = Nonlinearity("max(x, 0)")
    >>> f.nu(), f.mean(digits=20), f.closed_form(0)
    (0.5, mpf('0.39894228040143267794'), sqrt(2)/(2*sqrt(pi)))
    >>> f.centred().mean(digits=20), f.centred().nu(digits=20)
    (mpf('0.0'), mpf('0.34084505690810466423'))
    """

    _body: LessMeans

    def __init__(
        self,
        source: Any,
        variable: Any = None,
        breakpoints: Iterable[Any] | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(source, Nonlinearity):  # a family of the catalogue stands for its default member
            source = getattr(source, "default", source)
        if isinstance(source, Nonlinearity):
            self._body = LessMeans(source._body.source.revised(breakpoints, name), source._body.means)
        else:
            self._body = LessMeans(read_source(source, variable, breakpoints, name))

    @classmethod
    def _of(cls, body: LessMeans) -> Nonlinearity:
        made = cls.__new__(cls)
        made._body = body
        return made

    # What it is

    @property
    def name(self) -> str:
        """The name given, or the formula."""
        name = self._body.source.name
        return f"{name}, centred" if self._body.is_centred else name

    @property
    def formula(self) -> str:
        """The expression in the formula language, or the name of the callable; before any mean is taken off."""
        return self._body.source.formula

    @property
    def integrand(self) -> Integrand:
        """The function before any mean is taken off; a ValueError where parameters have no values."""
        return self._body.source.integrand

    @property
    def expression(self) -> Expr | None:
        """The expression in `integrand.X`; None for a callable, or where a mean taken off has no closed form."""
        return self._body.expression

    @property
    def parameters(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the expression other than its variable."""
        return self._body.source.parameters

    @property
    def parity(self) -> str | None:
        """``"even"`` or ``"odd"`` where the expression shows it, else None."""
        return self._body.parity

    def is_centred(self) -> bool:
        """Whether E f = 0: exactly where that can be decided, else to the accuracy of the numbers."""
        exact = self.closed_form(0)
        if exact is not None and exact.is_zero is not None:
            return bool(exact.is_zero)
        if self._body.is_centred or self.parity == "odd":
            return True
        if abs(self.mean()) > 1e-12 * max(1.0, self.nu()) ** 0.5:
            return False
        # a callable has a mean to within rounding, an expression has all its digits
        return self._body.source.expression is None or bool(self.mean(digits=15) == 0)

    # Closed forms

    def closed_form(self, k: Any) -> Expr | None:
        """Return a_k exactly, or None where no rule gives it.

        Parameters
        ----------
        k : int, or a SymPy symbol that is a nonnegative integer
            For a symbol the result holds for all k at once.

        Notes
        -----
        With symbolic parameters the result holds where the expectation exists (exp(a x^2) needs a < 1/2).

        >>> Nonlinearity("exp(a*x)", variable="x").closed_form(sympy.Symbol("k", integer=True, nonnegative=True))
        a**k*exp(a**2/2)/sqrt(factorial(k))
        """
        if not isinstance(k, sympy.Symbol):
            return self._body.closed_form(_order(k, "k"))
        if not (k.is_integer and k.is_nonnegative):
            raise ValueError(f"k: got the symbol {k}; allowed: Symbol('{k}', integer=True, nonnegative=True)")
        return self._body.closed_form(k)

    def closed_form_nu(self) -> Expr | None:
        """Return nu = E f^2 exactly, or None where no rule gives it.

        >>> Nonlinearity("erf(x)").closed_form_nu()
        2*asin(2/3)/pi
        """
        return self._body.closed_form_nu()

    # Numbers

    def mean(self, digits: int | None = None, certified: bool = False) -> Any:
        """Return a_0 = E f."""
        return self.coefficient(0, digits, certified)

    def coefficient(self, k: int, digits: int | None = None, certified: bool = False) -> Any:
        """Return a_k = E[f h_k]."""
        k = _order(k, "k")
        if certified:
            return enclosed_expectations.coefficient(self._body, k, read_digits(digits))
        return expectations.coefficient(self._body, k, read_digits(digits))

    def coefficients(self, order: int, digits: int | None = None, certified: bool = False) -> list[Any]:
        """Return [a_0, ..., a_order]."""
        order, digits = _order(order, "order"), read_digits(digits)
        if certified:
            return enclosed_expectations.coefficients(self._body, order, digits)
        return expectations.coefficients(self._body, order, digits)

    def nu(self, digits: int | None = None, certified: bool = False) -> Any:
        """Return nu = E f^2, the energy."""
        digits = read_digits(digits)
        return (enclosed_expectations if certified else expectations).energy(self._body, digits)

    def real_coefficient(self, k: int) -> Real:
        """Return a_k as a `Real`: exact where a closed form exists, else to any digits asked for."""
        return self._real(self.closed_form(k), partial(self.coefficient, k), f"a_{k}")

    def real_nu(self) -> Real:
        """Return nu as a `Real`: exact where a closed form exists, else to any digits asked for."""
        return self._real(self.closed_form_nu(), self.nu, "nu")

    def _real(self, exact: Expr | None, evaluate: Callable[..., Any], quantity: str) -> Real:
        if exact is not None and not exact.free_symbols:
            return read_real(exact, quantity)
        return ComputedReal(evaluate, f"{quantity}({self!r})", enclose=partial(evaluate, certified=True))

    def expansion(self, order: int, digits: int | None = None) -> HermiteExpansion:
        """Return the Hermite expansion of f up to `order`."""
        from hermite_rmt.hermite.expansion import HermiteExpansion

        return HermiteExpansion.of(self, order, digits)

    def __call__(self, values: Any) -> Any:
        """Evaluate f in double precision at a number or an array.

        Raises
        ------
        ValueError
            If f is not real and defined at a point.
        """
        points = np.asarray(values, dtype=float)
        results = evaluate(self.integrand, points) - float(expectations.taken(self._body, None))
        return results if np.ndim(values) else float(results)

    # Arithmetic

    def centred(self) -> Nonlinearity:
        """Return f - E f, exactly: its a_0 is 0 and its energy nu - (E f)^2, to whatever digits are asked later."""
        return self if self._body.is_centred else Nonlinearity._of(self._body.centred())

    def substitute(self, values: Mapping[Any, Any]) -> Nonlinearity:
        """Return f with numbers (exact ones stay exact) in place of parameters, given by symbol or name."""
        return Nonlinearity._of(self._body.substitute(values))

    def scaled(self, scale: Any) -> Nonlinearity:
        """Return x -> f(scale x)."""
        factor = exact_constant(scale, "scale")
        if factor.is_zero:
            raise ValueError(f"scale: got {scale!r}; allowed: a real number other than 0")
        return Nonlinearity._of(self._body.composed(factor, sympy.S.Zero))

    def shifted(self, shift: Any) -> Nonlinearity:
        """Return x -> f(x + shift)."""
        return Nonlinearity._of(self._body.composed(sympy.S.One, exact_constant(shift, "shift")))

    def __add__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        return Nonlinearity._of(self._body + right._body)

    def __mul__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        return Nonlinearity._of(self._body * right._body)

    def __neg__(self) -> Nonlinearity:
        return self * -1

    def __sub__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        return self + -right

    def __rsub__(self, other: Any) -> Nonlinearity:
        left = _operand(other)
        if left is None:
            return NotImplemented
        return left - self

    def __truediv__(self, divisor: Any) -> Nonlinearity:
        by = exact_constant(divisor, "divisor")
        if by.is_zero:
            raise ZeroDivisionError(f"{self.name}: divided by 0")
        quotient: Nonlinearity = self * (1 / by)
        return quotient

    __radd__ = __add__
    __rmul__ = __mul__
    __array_ufunc__ = None  # numpy scalars on the left leave the operation to us

    # Identity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nonlinearity) and self._body.key == other._body.key

    def __hash__(self) -> int:
        return hash(self._body.key)

    def __repr__(self) -> str:
        shown = repr(self._body.source)
        if self._body.is_centred:
            return f"{shown}.centred()"
        # S.centred() - S is the constant -E S, to whatever digits it will be asked for
        return shown + "".join(
            f" + {_factor(multiple)}({mean!r}.centred() - {mean!r})" for multiple, mean in self._body.means
        )

    def _repr_latex_(self) -> str:
        means = "".join(
            rf" - {'' if multiple == 1 else sympy.latex(multiple)}\,E\left[{mean.latex(sympy.Symbol('xi'))}\right]"
            for multiple, mean in self._body.means
        )
        return f"${self._body.source.latex(sympy.Symbol('x'))}{means}$"


def _operand(value: Any) -> Nonlinearity | None:
    if isinstance(value, Nonlinearity):
        return value
    if isinstance(value, str):  # a formula or a number? say which
        return None
    try:
        return Nonlinearity._of(LessMeans(Source(exact_constant(value, "operand"))))
    except TypeError:
        return None


def _factor(multiple: Any) -> str:
    """Return an exact factor as it may be typed before a nonlinearity."""
    if multiple == 1:
        return ""
    return f"{multiple.p}*" if multiple.is_Integer else f"Nonlinearity({str(multiple)!r})*"


def _order(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Integral, sympy.Integer)) or value < 0:
        raise ValueError(f"{name}: got {value!r}; allowed: a whole number, 0 or more")
    return int(value)
