"""The functions whose Gaussian expectations are known: sums of x^m exp(quadratic) cos(quadratic) erf(linear) step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy
from sympy import S

Expr = Any
LARGEST = 4000
"""Terms a combination may have before it is given up."""


class NotClosedError(Exception):
    """No rule gives this expectation, or this function is not in the algebra."""


@dataclass(frozen=True)
class Atom:
    """exp(quadratic x^2 + linear x) wave(chirp x^2 + frequency x) prod erf(b x + c) |x|^power [x > edge].

    `wave` is "cos" or "sin" ("" for 1), `errors` the pairs (b, c), `edge` may be minus infinity. All numbers are
    exact real SymPy constants.
    """

    quadratic: Expr = S.Zero
    linear: Expr = S.Zero
    chirp: Expr = S.Zero
    frequency: Expr = S.Zero
    wave: str = ""
    errors: tuple[tuple[Expr, Expr], ...] = ()
    edge: Expr = S.NegativeInfinity
    power: Expr = S.Zero

    @property
    def is_step(self) -> bool:
        """Whether it is 1, or 0 before its edge and 1 after it."""
        return replace(self, edge=S.NegativeInfinity) == ONE

    @property
    def curvature(self) -> Expr:
        """The complex quadratic coefficient of the exponent."""
        return self.quadratic + S.ImaginaryUnit * self.chirp

    @property
    def slope(self) -> Expr:
        """The complex linear coefficient of the exponent."""
        return self.linear + S.ImaginaryUnit * self.frequency

    def product(self, other: Atom) -> Iterator[tuple[Atom, int, Expr]]:
        """Yield (atom, degree, factor): the product is the sum of factor * x^degree * atom."""
        joined = Atom(
            quadratic=self.quadratic + other.quadratic,
            linear=self.linear + other.linear,
            errors=tuple(sorted(self.errors + other.errors, key=sympy.default_sort_key)),
            edge=later(self.edge, other.edge),
            power=self.power + other.power,
        )
        for factor, chirp, frequency, wave in _waves(self, other):
            for atom, signed in oscillating(replace(joined, chirp=chirp, frequency=frequency, wave=wave), factor):
                yield from _without_whole_power(atom, signed)


ONE = Atom()


def later(left: Expr, right: Expr) -> Expr:
    """Return the edge of the product of two steps."""
    if left == right or right is S.NegativeInfinity:
        return left
    return right if left is S.NegativeInfinity else sympy.Max(left, right)


def oscillating(atom: Atom, factor: Expr) -> Iterator[tuple[Atom, Expr]]:
    """Yield `atom` times `factor` with the sign of its phase normalised, cos 0 and sin 0 resolved."""
    if not atom.wave:
        yield atom, factor
        return
    leading = atom.frequency if atom.chirp.is_zero else atom.chirp
    if leading.is_zero:
        if atom.wave == "cos":
            yield replace(atom, chirp=S.Zero, frequency=S.Zero, wave=""), factor
    elif leading.could_extract_minus_sign():
        flipped = replace(atom, chirp=-atom.chirp, frequency=-atom.frequency)
        yield flipped, -factor if atom.wave == "sin" else factor
    else:
        yield atom, factor


def _without_whole_power(atom: Atom, factor: Expr) -> Iterator[tuple[Atom, int, Expr]]:
    """Yield `atom` times `factor` with |x|^n, n = 0, 1, 2..., written as x^n or x^n sgn(x)."""
    if not (atom.power.is_Integer and atom.power >= 0):
        yield atom, 0, factor
        return
    degree, plain = int(atom.power), replace(atom, power=S.Zero)
    if degree % 2 == 0:
        yield plain, degree, factor
    else:  # sgn(x) = 2 [x > 0] - 1
        yield replace(plain, edge=later(plain.edge, S.Zero)), degree, 2 * factor
        yield plain, degree, -factor


def _waves(left: Atom, right: Atom) -> Iterator[tuple[Expr, Expr, Expr, str]]:
    """Yield (factor, chirp, frequency, wave) of the product of two waves."""
    if not left.wave or not right.wave:
        yield S.One, left.chirp + right.chirp, left.frequency + right.frequency, left.wave or right.wave
        return
    waves = {
        ("cos", "cos"): (("cos", S.Half), ("cos", S.Half)),
        ("sin", "sin"): (("cos", -S.Half), ("cos", S.Half)),
        ("sin", "cos"): (("sin", S.Half), ("sin", S.Half)),
        ("cos", "sin"): (("sin", S.Half), ("sin", -S.Half)),
    }
    for (wave, factor), sign in zip(waves[left.wave, right.wave], (1, -1), strict=True):
        yield factor, left.chirp + sign * right.chirp, left.frequency + sign * right.frequency, wave


class Combination:
    """A sum of coefficient * x^degree * atom: what the rules read a function into.

    The sums, products and powers of combinations are combinations again.
    """

    def __init__(self, terms: Mapping[tuple[Atom, int], Expr] | None = None) -> None:
        self.terms = dict(terms or {})

    @classmethod
    def constant(cls, value: Expr) -> Combination:
        """Return the constant function."""
        return cls.polynomial([value])

    @classmethod
    def polynomial(cls, coefficients: list[Expr], edge: Expr = S.NegativeInfinity) -> Combination:
        """Return sum coefficients[m] x^m, set to 0 before `edge`."""
        atom = Atom(edge=edge)
        return cls({(atom, degree): value for degree, value in enumerate(coefficients) if value != 0})

    def by_atom(self) -> dict[Atom, dict[int, Expr]]:
        """Return the polynomial that multiplies each atom, by degree."""
        grouped: dict[Atom, dict[int, Expr]] = {}
        for (atom, degree), value in self.terms.items():
            grouped.setdefault(atom, {})[degree] = value
        return grouped

    def __add__(self, other: Combination) -> Combination:
        total = Combination(self.terms)
        for key, value in other.terms.items():
            total._accumulate(key, value)
        return total

    def __mul__(self, other: Combination) -> Combination:
        if len(self.terms) * len(other.terms) > LARGEST:
            raise NotClosedError("a product with too many terms")
        product = Combination()
        for (left, m), a in self.terms.items():
            for (right, n), b in other.terms.items():
                for atom, degree, factor in left.product(right):
                    product._accumulate((atom, m + n + degree), a * b * factor)
        return product

    def times(self, factor: Expr) -> Combination:
        """Return the product with a constant."""
        return Combination({key: sympy.expand(factor * value) for key, value in self.terms.items() if factor != 0})

    def reflected(self) -> Combination:
        """Return x -> f(-x)."""
        total = Combination()
        for (atom, degree), value in self.terms.items():
            signed = value * S.NegativeOne ** (
                degree + len(atom.errors) + (atom.wave == "sin" and atom.chirp.is_zero)
            )
            mirrored = replace(
                atom,
                linear=-atom.linear,
                frequency=atom.frequency if atom.chirp.is_zero else -atom.frequency,
                errors=tuple(sorted(((b, -c) for b, c in atom.errors), key=sympy.default_sort_key)),
            )
            if atom.edge is S.NegativeInfinity:
                total._accumulate((mirrored, degree), signed)
            else:  # [-x > l] = 1 - [x > -l]
                total._accumulate((replace(mirrored, edge=S.NegativeInfinity), degree), signed)
                total._accumulate((replace(mirrored, edge=-atom.edge), degree), -signed)
        return total

    def replaced(self, values: Mapping[Expr, Expr]) -> Combination:
        """Return the combination with other constants in place of symbols."""

        def changed(value: Expr) -> Expr:
            return value.xreplace(values)

        return Combination(
            {
                (
                    Atom(
                        changed(atom.quadratic),
                        changed(atom.linear),
                        changed(atom.chirp),
                        changed(atom.frequency),
                        atom.wave,
                        tuple((changed(b), changed(c)) for b, c in atom.errors),
                        changed(atom.edge),
                        changed(atom.power),
                    ),
                    degree,
                ): changed(value)
                for (atom, degree), value in self.terms.items()
            }
        )

    def __pow__(self, exponent: int) -> Combination:
        power, square = Combination.constant(S.One), self
        while exponent:
            if exponent % 2:
                power = power * square
            exponent //= 2
            if exponent:
                square = square * square
        return power

    def _accumulate(self, key: tuple[Atom, int], value: Expr) -> None:
        total = sympy.expand(self.terms.get(key, S.Zero) + value)
        if total == 0:
            self.terms.pop(key, None)
        else:
            self.terms[key] = total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Combination) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))
