"""Nonlinearity: the function f of the attention matrix, with its Hermite coefficients a_k and its energy nu."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from hermite_rmt.core.numbers import ComputedReal, Real, read_digits, read_real
from hermite_rmt.hermite import expectations
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.sources import Source, exact_constant, read_source

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
        Text is read by `hermite_rmt.hermite.parsing.parse` and never evaluated. A SymPy expression has one free symbol,
        whatever its assumptions. A callable takes one number (or an array); functions of NumPy, SciPy, SymPy and `math`
        are recognised and become expressions.
    variable : SymPy symbol or name, optional
        The variable, where the expression has symbolic parameters too.
    breakpoints : numbers, optional
        Where f has kinks or jumps, if the package should not look for them itself.
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
    digits; with ``certified=True`` a `Ball` that contains the value. They raise a ValueError with the reason where the
    value does not exist: f not integrable, not square integrable, complex or undefined.

    >>> f = Nonlinearity("max(x, 0)")
    >>> f.nu(), f.mean(digits=20), f.centred().mean(digits=20)
    (0.5, mpf('0.3989422804014326779'), mpf('0.0'))
    """

    def __init__(
        self,
        source: Any,
        variable: Any = None,
        breakpoints: Iterable[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._means: tuple[tuple[Expr, Source], ...] = ()
        if not isinstance(source, Nonlinearity):  # a family of the catalogue stands for its default member
            source = getattr(source, "default", source)
        if isinstance(source, Nonlinearity):
            self._source = source._source.revised(breakpoints, name)
            self._means = source._means
        else:
            self._source = read_source(source, variable, breakpoints, name)

    @classmethod
    def _of(cls, source: Source, means: Iterable[tuple[Expr, Source]] = ()) -> Nonlinearity:
        made = cls.__new__(cls)
        made._source = source
        made._means = tuple(means)
        return made

    # What it is

    @property
    def name(self) -> str:
        """The name given, or the formula."""
        return f"{self._source.name}, centred" if self._is_less_own_mean else self._source.name

    @property
    def formula(self) -> str:
        """The expression in the formula language, or the name of the callable; before any mean is taken off."""
        return self._source.formula

    @property
    def integrand(self) -> Integrand:
        """The function before any mean is taken off; a ValueError where parameters have no values."""
        return self._source.integrand

    @property
    def expression(self) -> Expr | None:
        """The SymPy expression in `integrand.X`; None for a callable, or where a mean taken off has no closed form."""
        base = self._source.expression
        return None if base is None else self._less_means(base)

    @property
    def parameters(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the expression other than its variable."""
        return self._source.parameters

    def substitute(self, values: Mapping[Any, Any]) -> Nonlinearity:
        """Return f with numbers (exact ones stay exact) in place of parameters, given by symbol or name."""
        return Nonlinearity._of(self._source.substitute(values), [(c, m.substitute(values)) for c, m in self._means])

    @property
    def _is_less_own_mean(self) -> bool:
        return len(self._means) == 1 and self._means[0][0] == 1 and self._means[0][1].key == self._source.key

    @cached_property
    def parity(self) -> str | None:
        """``"even"`` or ``"odd"`` where the expression shows it, else None."""
        base = self._source.parity
        return base if base == "even" or not self._means or self._is_less_own_mean else None

    def is_centred(self) -> bool:
        """Whether E f = 0: exactly where that can be decided, else to the accuracy of the numbers."""
        exact = self.closed_form(0)
        if exact is not None and exact.is_zero is not None:
            return bool(exact.is_zero)
        if self._is_less_own_mean or self.parity == "odd":
            return True
        scale = max(1.0, self.nu()) ** 0.5
        return bool(abs(self.mean()) <= 1e-12 * scale)

    # Closed forms

    def closed_form(self, k: Any) -> Expr | None:
        """Return a_k exactly, or None where no rule gives it.

        Parameters
        ----------
        k : int, or a SymPy symbol that is a nonnegative integer
            For a symbol the result holds for all k at once.
        """
        order = k if isinstance(k, sympy.Symbol) else _order(k, "k")
        if isinstance(k, sympy.Symbol) and not (k.is_integer and k.is_nonnegative):
            raise ValueError(f"k: got the symbol {k}; allowed: Symbol('{k}', integer=True, nonnegative=True)")
        found = self._source.closed
        value = None if found is None else found.coefficient(order)
        if not self._means or value is None or (isinstance(order, int) and order > 0):
            return value
        if isinstance(order, sympy.Symbol):
            zeroth = self.closed_form(0)
            return None if zeroth is None else sympy.Piecewise((zeroth, sympy.Eq(order, 0)), (value, True))
        return sympy.S.Zero if self._is_less_own_mean else self._less_means(value)

    def closed_form_nu(self) -> Expr | None:
        """Return nu = E f^2 exactly, or None where no rule gives it."""
        square, closed = self._source.closed_square, self._source.closed
        energy = None if square is None else square.coefficient(0)
        if not self._means or energy is None:
            return energy
        mean = None if closed is None else closed.coefficient(0)
        left = self.closed_form(0)
        return None if mean is None or left is None else sympy.expand(energy - mean**2 + left**2)

    def _less_means(self, value: Expr) -> Expr | None:
        taken = [None if mean.closed is None else mean.closed.coefficient(0) for _, mean in self._means]
        if any(mean is None for mean in taken):
            return None
        return value - sympy.Add(*(c * mean for (c, _), mean in zip(self._means, taken, strict=True)))

    # Numbers

    def mean(self, digits: int | None = None, certified: bool = False) -> Any:
        """Return a_0 = E f."""
        return self.coefficient(0, digits, certified)

    def coefficient(self, k: int, digits: int | None = None, certified: bool = False) -> Any:
        """Return a_k = E[f h_k]."""
        return self.coefficients(k, digits, certified)[_order(k, "k")]

    def coefficients(self, order: int, digits: int | None = None, certified: bool = False) -> list[Any]:
        """Return [a_0, ..., a_order]."""
        order, digits = _order(order, "order"), read_digits(digits)
        if certified:
            balls = expectations.certified_coefficients(self._source, order, digits)
            return [expectations.certified_mean(self._source, self._taken, digits), *balls[1:]]
        values = expectations.coefficients(self._source, order, digits)
        values[0] = expectations.mean(self._source, self._taken, digits)
        return [expectations.known_digits(value, digits) for value in values]

    def nu(self, digits: int | None = None, certified: bool = False) -> Any:
        """Return nu = E f^2, the energy."""
        digits = read_digits(digits)
        if certified:
            return expectations.certified_energy_less_means(self._source, self._taken, digits)
        return expectations.known_digits(expectations.energy_less_means(self._source, self._taken, digits), digits)

    @property
    def _taken(self) -> expectations.Means:
        return expectations.Means(self._means, self._is_less_own_mean)

    def real_coefficient(self, k: int) -> Real:
        """Return a_k as a `Real`: exact where a closed form exists, else to any digits asked for."""
        return self._real(self.closed_form(k), partial(self.coefficient, k), f"a_{k}")

    def real_nu(self) -> Real:
        """Return nu as a `Real`: exact where a closed form exists, else to any digits asked for."""
        return self._real(self.closed_form_nu(), self.nu, "nu")

    def _real(self, exact: Expr | None, evaluate: Callable[[int], Any], quantity: str) -> Real:
        if exact is not None and not exact.free_symbols:
            return read_real(exact, quantity)
        return ComputedReal(evaluate, f"{quantity}({self!r})")

    def expansion(self, order: int) -> HermiteExpansion:
        """Return the Hermite expansion of f up to `order`."""
        from hermite_rmt.hermite.expansion import HermiteExpansion

        return HermiteExpansion(self, order)

    def __call__(self, values: Any) -> Any:
        """Evaluate f in double precision at a number or an array.

        Raises
        ------
        ValueError
            If f is not real and defined at a point.
        """
        points = np.asarray(values, dtype=float)
        results = self.integrand.double(points)
        wrong = np.isnan(results) & ~np.isnan(points)
        if wrong.any():
            raise ValueError(f"{self.name}: not a real number at x = {points[wrong].ravel()[0]:.17g}")
        for multiple, mean in self._means:
            results = results - float(multiple) * expectations.coefficients(mean, 0, None)[0]
        return results if np.ndim(values) else float(results)

    # Arithmetic

    def centred(self) -> Nonlinearity:
        """Return f - E f, exactly: its a_0 is 0 and its energy nu - (E f)^2, to whatever digits are asked later."""
        return self if self._is_less_own_mean else Nonlinearity._of(self._source, [(sympy.S.One, self._source)])

    def scaled(self, scale: Any) -> Nonlinearity:
        """Return x -> f(scale x)."""
        return self._composed(exact_constant(scale, "scale"), sympy.S.Zero)

    def shifted(self, shift: Any) -> Nonlinearity:
        """Return x -> f(x + shift)."""
        return self._composed(sympy.S.One, exact_constant(shift, "shift"))

    def _composed(self, scale: Expr, shift: Expr) -> Nonlinearity:
        if scale.is_zero:
            raise ValueError("scale: got 0; allowed: any other real number")
        return Nonlinearity._of(self._source.composed(scale, shift), self._means)

    def __add__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        total = self._source.pointwise(operator.add, right._source)
        if self._is_less_own_mean and right._is_less_own_mean:
            return Nonlinearity._of(total, [(sympy.S.One, total)])
        return Nonlinearity._of(total, self._means + right._means)

    def __mul__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        constant, factor = (right, self) if right._is_constant else (self, right)
        if constant._is_constant:
            multiple = constant._source.expression
            product = factor._source.pointwise(operator.mul, constant._source)
            if factor._is_less_own_mean:
                return Nonlinearity._of(product, [(sympy.S.One, product)])
            return Nonlinearity._of(product, [(multiple * c, mean) for c, mean in factor._means])
        return Nonlinearity._of(self._explicit.pointwise(operator.mul, right._explicit))

    @property
    def _is_constant(self) -> bool:
        expression = self._source.expression
        return expression is not None and not self._means and X not in expression.free_symbols

    @property
    def _explicit(self) -> Source:
        """The source with its means written out; a ValueError where one has no closed form."""
        if not self._means:
            return self._source
        if self.expression is None:
            raise ValueError(f"{self.name}: its mean has no closed form; multiply before centring")
        return Source(self.expression, None, self._source.breakpoints)

    def __neg__(self) -> Nonlinearity:
        return self * -1

    def __sub__(self, other: Any) -> Nonlinearity:
        right = _operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: Any) -> Nonlinearity:
        return -self + other

    def __truediv__(self, other: Any) -> Nonlinearity:
        return self * (1 / exact_constant(other, "divisor"))

    __radd__ = __add__
    __rmul__ = __mul__
    __array_ufunc__ = None  # numpy scalars on the left leave the operation to us

    # Identity

    @property
    def _key(self) -> tuple[Any, ...]:
        return self._source.key, tuple((sympy.srepr(c), mean.key) for c, mean in self._means)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nonlinearity) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        if self._is_less_own_mean:
            return f"{self._source!r}.centred()"
        return repr(self._source) + "".join(f" - {c}*mean({mean!r})" for c, mean in self._means)

    def _repr_latex_(self) -> str:
        base = self._source.expression
        written = rf"\mathrm{{{self.name}}}" if base is None else sympy.latex(base)
        return f"${written} - \\mathbb{{E}}$" if self._means else f"${written}$"


def _operand(value: Any) -> Nonlinearity | None:
    if isinstance(value, Nonlinearity):
        return value
    try:
        return Nonlinearity._of(Source(exact_constant(value, "operand")))
    except TypeError:
        return None


def _order(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Integral, sympy.Integer)) or value < 0:
        raise ValueError(f"{name}: got {value!r}; allowed: a whole number, 0 or more")
    return int(value)
