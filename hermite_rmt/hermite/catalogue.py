"""The named nonlinearities: `nonlinearities.relu`, `nonlinearities.leaky_relu(0.2)`, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.core.solution import html_table
from hermite_rmt.hermite.breakpoints import piece_at
from hermite_rmt.hermite.formulas import FORMULAS, parameters
from hermite_rmt.hermite.integrand import X
from hermite_rmt.hermite.nonlinearity import Nonlinearity
from hermite_rmt.hermite.sources import exact_constant

Expr = Any
_FAR = sympy.Integer(10) ** 9


@dataclass(frozen=True, repr=False)
class Family:
    """A nonlinearity with parameters: called with their values (exact numbers or symbols) it gives one member."""

    name: str
    formula: Callable[..., Expr]

    def __call__(self, *values: Any, **named: Any) -> Nonlinearity:
        """Return the member with these parameters, the others at their defaults."""
        defaults = parameters(self.formula)
        names = list(defaults)
        if len(values) > len(names) or not set(named) <= set(names[len(values) :]):
            raise TypeError(f"{self.name}: takes the parameters {', '.join(names)}, got {values} and {named}")
        given = {**dict(zip(names, values, strict=False)), **named}
        exact = {name: exact_constant(value, name) for name, value in given.items()}
        shown = ", ".join(f"{name}={value}" for name, value in exact.items())
        label = f"{self.name}({shown})" if shown else self.name
        return Nonlinearity(self.formula(X, **exact), variable=X, name=label)

    def __repr__(self) -> str:
        listed = self.name in nonlinearities and nonlinearities[self.name] is self
        return f"nonlinearities.{self.name}" if listed else f"<Family {self}>"

    def __str__(self) -> str:
        """Return the name with the parameters at their defaults."""
        shown = ", ".join(f"{name}={value}" for name, value in parameters(self.formula).items())
        return f"{self.name}({shown})"

    def _repr_latex_(self) -> str:
        symbols = {name: sympy.Symbol(name) for name in parameters(self.formula)}
        defaults = ", ".join(
            f"{sympy.latex(symbols[n])} = {sympy.latex(v)}" for n, v in parameters(self.formula).items()
        )
        return f"${sympy.latex(self.formula(X, **symbols))}, \\quad {defaults}$"

    @property
    def default(self) -> Nonlinearity:
        """The member with all parameters at their defaults."""
        return self()


class Catalogue:
    """A namespace of nonlinearities.

    An entry is an attribute, or an item by its name: a `Nonlinearity`, or a `Family` to call with its parameters.
    Iteration goes over nonlinearities (a family's default member), `in` and `names` over names.

    >>> nonlinearities.relu(-2.0), nonlinearities.leaky_relu(slope="0.2").closed_form(1)
    (0.0, 3/5)
    >>> mine = Catalogue()
    >>> mine.register("bump", "exp(-x^2)")
    >>> mine.bump.closed_form_nu()
    sqrt(5)/5
    """

    def __init__(self) -> None:
        self._entries: dict[str, Nonlinearity | Family] = {}

    def register(self, name: str, source: Any) -> None:
        """Add a nonlinearity.

        Parameters
        ----------
        name : an identifier that is not taken
        source : whatever `Nonlinearity` takes

        Raises
        ------
        ValueError
            If the name is taken or no identifier.
        """
        self._add(name, Nonlinearity(source, name=name))

    def register_family(self, name: str, formula: Callable[..., Expr]) -> None:
        """Add a nonlinearity with parameters: `formula(x, parameter=default, ...)` returns a SymPy expression."""
        self._add(name, Family(name, formula))

    def _add(self, name: str, entry: Nonlinearity | Family) -> None:
        if not name.isidentifier() or name in self._entries or hasattr(type(self), name):
            raise ValueError(f"name: got {name!r}; allowed: an identifier that is not taken")
        self._entries[name] = entry

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order they were added."""
        return tuple(self._entries)

    def __getattr__(self, name: str) -> Any:
        entries = self.__dict__.get("_entries", {})
        if name not in entries:
            raise AttributeError(f"no nonlinearity {name!r}; allowed: {', '.join(entries)}")
        return entries[name]

    def __getitem__(self, name: str) -> Nonlinearity | Family:
        if name not in self._entries:
            raise KeyError(f"no nonlinearity {name!r}; allowed: {', '.join(self._entries)}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Nonlinearity]:
        for entry in self._entries.values():
            yield entry.default if isinstance(entry, Family) else entry

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._entries]

    def __repr__(self) -> str:
        return f"<Catalogue of {len(self)} nonlinearities: {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        return html_table(
            {str(entry) if isinstance(entry, Family) else f.name: f.formula for entry, f in self._pairs()}
        )

    def _pairs(self) -> Iterator[tuple[Nonlinearity | Family, Nonlinearity]]:
        return zip(self._entries.values(), self, strict=True)

    def table(self, order: int = 5, digits: int | None = None) -> list[Row]:
        """Return one row for each nonlinearity, the most linear first."""
        rows = [Row.of(f, order, digits) for f in self]
        return sorted(rows, key=lambda row: -float(row.linear_fraction))


@dataclass(frozen=True)
class Row:
    """One line of the catalogue's table.

    Attributes
    ----------
    name, formula : what it is called, and its text
    coefficients : a_0, ..., a_order
    nu : the energy E f^2
    linear_fraction : a_1^2 / (nu - a_0^2), the linear part of the energy once f is centred
    closed : whether all coefficients are known in closed form; `closed_nu` likewise
    parity : "even", "odd" or None
    slope : the limit of f(x)/x at +infinity, which decides the diagonal that is kept: f(sqrt p)/sqrt p
    """

    name: str
    formula: str
    coefficients: tuple[Any, ...]
    nu: Any
    linear_fraction: Any
    closed: bool
    closed_nu: bool
    parity: str | None
    slope: Expr

    @classmethod
    def of(cls, f: Nonlinearity, order: int, digits: int | None) -> Row:
        """Return the row of a nonlinearity without symbolic parameters."""
        values = f.coefficients(max(order, 1), digits)
        centred = f.centred().nu(digits)
        return cls(
            name=f.name,
            formula=f.formula,
            coefficients=tuple(values[: order + 1]),
            nu=f.nu(digits),
            linear_fraction=values[1] ** 2 / centred if centred else centred,
            closed=f.closed_form(order) is not None,
            closed_nu=f.closed_form_nu() is not None,
            parity=f.parity,
            slope=slope_at_infinity(f),
        )


def markdown(rows: Sequence[Row], decimals: int = 4) -> str:
    """Return the table as Markdown, one line for each row.

    >>> print(markdown([Row.of(nonlinearities.relu, 2, None)]))
    | name | linear part | nu | a_0 | a_1 | a_2 | parity | slope | closed form |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | relu | 0.7335 | 0.5000 | 0.3989 | 0.5000 | 0.2821 | | 1 | a_k, nu |
    """
    names = [f"a_{k}" for k in range(len(rows[0].coefficients))]
    lines = [["name", "linear part", "nu", *names, "parity", "slope", "closed form"]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        numbers = (row.linear_fraction, row.nu, *row.coefficients)
        closed = ", ".join(["a_k"] * row.closed + ["nu"] * row.closed_nu)
        slope = (
            str(row.slope) if row.slope.is_Integer or not row.slope.is_finite else f"{float(row.slope):.{decimals}f}"
        )
        lines.append([row.name, *(f"{float(x):.{decimals}f}" for x in numbers), row.parity or "", slope, closed])
    return "\n".join("| " + " | ".join(cells).replace("|  |", "| |") + " |" for cells in lines)


def slope_at_infinity(f: Nonlinearity) -> Expr:
    """Return the limit of f(x)/x at +infinity (0, a number or infinity), of an expression.

    The diagonal entry f(|x_i|^2/sqrt p)/sqrt p that a kept diagonal has tends to it.

    >>> slope_at_infinity(nonlinearities.gelu), slope_at_infinity(nonlinearities.tanh)
    (1, 0)
    """
    expression = f.integrand.expression
    if expression is None:
        raise ValueError(f"{f.name}: the slope of a callable is not known")
    return sympy.limit(piece_at(expression, _FAR) / X, X, sympy.oo)


nonlinearities = Catalogue()
for _name, _formula in FORMULAS.items():
    if parameters(_formula):
        nonlinearities.register_family(_name, _formula)
    else:
        nonlinearities.register(_name, _formula(X))
