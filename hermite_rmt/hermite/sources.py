"""What a nonlinearity is made of: an expression in X with its parameters, or a callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy

from hermite_rmt.core.contexts import local_context
from hermite_rmt.core.numbers import ComputedReal, RationalReal, read_real
from hermite_rmt.hermite.integrand import Integrand, X
from hermite_rmt.hermite.writing import write

Expr = Any


@dataclass(frozen=True, repr=False)
class Source:
    """An expression in `X` and parameters, or a callable; breakpoints, name and text as given by the user."""

    expression: Expr | None
    function: Callable[[Any], Any] | None = None
    breakpoints: tuple[Any, ...] | None = None
    label: str | None = None
    text: str | None = None
    cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # what is cached are numbers of local mpmath contexts, which do not pickle
        return Source, (self.expression, self.function, self.breakpoints, self.label, self.text)

    @property
    def name(self) -> str:
        """The name given, or the formula."""
        if self.label is not None:
            return self.label
        return self.formula

    @cached_property
    def formula(self) -> str:
        """The text it was read from, the expression in the formula language, or the name of the callable."""
        if self.text is not None:
            return self.text
        if self.expression is None:
            return getattr(self.function, "__name__", "f")
        try:
            return write(self.expression)
        except ValueError:  # a Piecewise that leaves points out
            return str(self.expression)

    def latex(self, variable: sympy.Symbol) -> str:
        """Return the expression in this variable as LaTeX, or the name of the callable."""
        if self.expression is None:
            return rf"\mathrm{{{self.name}}}({sympy.latex(variable)})"
        return str(sympy.latex(self.expression.xreplace({X: variable})))

    def __repr__(self) -> str:
        given = repr(self.formula) if self.expression is not None else self.formula
        if self.parameters:
            given += f", variable={str(X)!r}"
        if self.breakpoints is not None:
            given += f", breakpoints=[{', '.join(map(repr, map(str, self.breakpoints)))}]"
        if self.label is not None:
            given += f", name={self.label!r}"
        return f"Nonlinearity({given})"

    @cached_property
    def parameters(self) -> tuple[sympy.Symbol, ...]:
        """The free symbols other than the variable, by name."""
        if self.expression is None:
            return ()
        return tuple(sorted(self.expression.free_symbols - {X}, key=str))

    @cached_property
    def integrand(self) -> Integrand:
        """The integrand of quadrature; a ValueError where parameters have no values or f is complex."""
        if self.expression is None:
            assert self.function is not None
            return Integrand.of_callable(self.function, self.breakpoints, self.name)
        if self.parameters:
            names = ", ".join(map(str, self.parameters))
            raise ValueError(
                f"{self.name}: the parameters {names} have no values; allowed: closed forms only, or give the values "
                f"with substitute({{'{self.parameters[0]}': ...}})"
            )
        if self._complex_point is not None:
            point, value = (str(local_context(30).convert(number)) for number in self._complex_point)
            raise ValueError(f"f: got {self.name}, which is complex, f({point}) = {value}; allowed: a real function")
        return Integrand.of_expression(self.expression, self.breakpoints, self.name)

    @cached_property
    def _complex_point(self) -> tuple[Any, Any] | None:
        return Integrand.of_expression(self.expression, self.breakpoints, self.name).complex_point()

    @cached_property
    def _is_complex(self) -> bool:
        return not self.parameters and self._complex_point is not None

    @cached_property
    def closed(self) -> Any:
        """The closed form of its coefficients (`closed_form.ClosedForm`), or None."""
        from hermite_rmt.hermite.closed_form import ClosedForm

        return None if self.expression is None or self._is_complex else ClosedForm.of(self.expression)

    @cached_property
    def closed_square(self) -> Any:
        """The closed form of f^2, or None; that of |cos x| is found through cos(x)^2."""
        from hermite_rmt.hermite.closed_form import ClosedForm

        if self.expression is None or self._is_complex:
            return None
        return ClosedForm.of(self.expression**2) if self.closed is None else self.closed.squared()

    @cached_property
    def parity(self) -> str | None:
        """``"even"`` or ``"odd"`` where the closed form or the expression shows it, else None."""
        if self.expression is None:
            return None
        if self.closed is not None:
            parity: str | None = self.closed.parity
            return parity
        reflected = self.expression.subs(X, -X)
        for parity, sign in (("even", 1), ("odd", -1)):
            if sympy.expand_mul(reflected - sign * self.expression) == 0:
                return parity
        return None

    def substitute(self, values: Mapping[Any, Any]) -> Source:
        """Return the source with values in place of parameters."""
        if self.expression is None:
            raise ValueError(f"{self.name}: a callable has no parameters")
        by_name = {symbol.name: symbol for symbol in self.parameters}
        given = {getattr(key, "name", str(key)): value for key, value in values.items()}
        unknown = sorted(set(given) - set(by_name))
        if unknown:
            raise ValueError(f"values: got {', '.join(unknown)}; allowed: {', '.join(by_name) or 'none, f has none'}")
        exact = {by_name[name]: exact_constant(value, name) for name, value in given.items()}
        return Source(self.expression.subs(exact), None, self.breakpoints, None)

    def revised(self, breakpoints: Iterable[Any] | None, name: str | None) -> Source:
        """Return the source with another name or other breakpoints, where they are given."""
        given = self.breakpoints if breakpoints is None else exact_points(breakpoints)
        return replace(self, breakpoints=given, label=self.label if name is None else name, cache={})

    def pointwise(self, operator: Callable[..., Any], *others: Source) -> Source:
        """Return operator(self, *others), point by point."""
        sources = (self, *others)
        if all(source.expression is not None for source in sources):
            return Source(operator(*(source.expression for source in sources)), None, _union(sources))
        return Source(None, Pointwise(operator, tuple(map(_callable, sources))), _union(sources))

    def composed(self, scale: Expr, shift: Expr) -> Source:
        """Return x -> f(scale x + shift)."""
        points = None if self.breakpoints is None else tuple((point - shift) / scale for point in self.breakpoints)
        if self.expression is not None:
            return Source(self.expression.subs(X, scale * X + shift), None, points)
        return Source(None, Pointwise(_callable(self), (_callable(Source(scale * X + shift)),)), points)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two sources equal."""
        expression = None if self.expression is None else sympy.srepr(self.expression)
        return expression, self.function, self.breakpoints


@dataclass(frozen=True)
class Pointwise:
    """The callable x -> operator(part(x), ...), which pickles where its parts do."""

    operator: Callable[..., Any]
    parts: tuple[Callable[[Any], Any], ...]

    def __call__(self, point: Any) -> Any:
        """Evaluate at a point."""
        return self.operator(*(part(point) for part in self.parts))


@dataclass(frozen=True)
class Evaluated:
    """An expression as a callable of a number, an array or an mpf (in the precision of its context)."""

    expression: Expr

    def __call__(self, point: Any) -> Any:
        """Evaluate at a point."""
        integrand = Integrand.of_expression(self.expression)
        if hasattr(point, "_mpf_"):
            return integrand.multiprecision(point.context.prec)(point)
        return integrand.double(point)


def _callable(source: Source) -> Callable[[Any], Any]:
    if source.expression is not None:
        return Evaluated(source.expression)
    assert source.function is not None
    return source.function


def _union(sources: Iterable[Source]) -> tuple[Any, ...] | None:
    given = [source.breakpoints for source in sources if source.breakpoints is not None]
    return tuple(point for points in given for point in points) if given else None


def exact_constant(value: Any, name: str) -> Expr:
    """Return a number as an exact SymPy constant (a float as the binary fraction it is); expressions pass through."""
    if isinstance(value, sympy.Expr) and value.free_symbols:
        return value
    real = read_real(value, name)
    if isinstance(real, RationalReal):
        return sympy.Rational(real.rational.numerator, real.rational.denominator)
    if isinstance(real, ComputedReal):
        raise TypeError(f"{name}: got {value!r}; allowed: an exact number")
    return real.expression  # type: ignore[attr-defined]


def exact_points(breakpoints: Iterable[Any]) -> tuple[Expr, ...]:
    """Return breakpoints as exact SymPy constants."""
    return tuple(exact_constant(point, "breakpoints") for point in breakpoints)
