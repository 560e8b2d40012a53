r"""Claims as text: LaTeX of the simple kind, or plain formulas. A recursive descent over a whitelist; nothing is run.

Understood: numbers; names (Greek letters, ``a_1``, ``g_{us}``, ``mu_K``); ``+ - * / ^``, juxtaposition, ``\cdot``,
``\times``; ``\frac{}{}`` and its kin, ``\sqrt{}``, ``\sqrt[3]{}``, ``sqrt()``; brackets of every size; the relations
``= < > \le \ge``, chained or not; inner products of vectors as ``\mu^T w_K``, ``\|w_Q\|^2``, ``|\mu|^2``. Names are
those of the system, and only those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sympy

LONGEST_TEXT = 4000
DEEPEST_NESTING = 60
LARGEST_EXPONENT = 64

_VECTOR = r"(?:\\mu|mu|w_\{?[KQ]\}?)"
_BAR = r"(?:\\\||\\[lr]Vert|\\[lr]vert|\\Vert|\|{1,2})"
_NORM = re.compile(rf"{_BAR}\s*({_VECTOR})\s*{_BAR}\s*\^\s*(?:2|\{{2\}})")
_INNER = re.compile(rf"({_VECTOR})\s*(?:\^\s*(?:T|\{{T\}}|\\top|\{{\\top\}})|\\cdot)\s*({_VECTOR})(?![A-Za-z0-9_])")
_SPACING = re.compile(r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|[,;:!>\s]|quad|qquad)|~|&")
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>\d+\.?\d*|\.\d+)
    |(?P<relation><=|>=|==|\\leq?(?![A-Za-z])|\\geq?(?![A-Za-z])|\\lt(?![A-Za-z])|\\gt(?![A-Za-z])|[=<>≤≥])
    |(?P<command>\\[A-Za-z]+)
    |(?P<name>[A-Za-z][A-Za-z0-9]*)
    |(?P<subscript>_\s*(?:\{\s*[A-Za-z0-9,+ ]+\s*\}|[A-Za-z0-9+]+))
    |(?P<operator>\*\*|[-+*/^(){}\[\]−·×])""",
    re.VERBOSE,
)
_RELATIONS = {"==": "=", "≤": "<=", "≥": ">=", r"\le": "<=", r"\leq": "<=", r"\ge": ">=", r"\geq": ">="}
_RELATIONS |= {r"\lt": "<", r"\gt": ">"}
_OPERATORS = {"**": "^", "−": "-", "·": "*", "×": "*", r"\cdot": "*", r"\times": "*"}
_FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def plain_name(name: str) -> str:
    r"""Return a name without what spelling adds: backslashes, braces, underscores.

    >>> plain_name(r"\gamma"), plain_name("g_{us}"), plain_name("a_1"), plain_name("g_+")
    ('gamma', 'gus', 'a1', 'gplus')
    """
    return re.sub(r"[\\{}_\s,^]", "", name).replace("+", "plus")


def read_text(text: str, known: Mapping[str, Any]) -> list[tuple[Any, str, Any]]:
    r"""Return [(left, relation, right), ...]: one for each relation of a chain; an expression alone means = 0.

    Parameters
    ----------
    text : the claim
    known : {plain name: symbol}

    Raises
    ------
    ValueError
        For anything outside the language, with the place.

    >>> m, gamma = sympy.symbols("m gamma")
    >>> read_text(r"0 < m \le \frac{1}{\gamma}", {"m": m, "gamma": gamma})
    [(0, '<', m), (m, '<=', 1/gamma)]
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"claim: got a text of {len(text)} characters; allowed: at most {LONGEST_TEXT}")
    return _Reader(text, known).claims()


def _vector(name: str) -> str:
    return "mu" if "mu" in name else name.strip("}")[-1]


def _product(match: re.Match[str]) -> str:
    first, second = (_vector(part) for part in (match.group(1), match.group(match.lastindex or 1)))
    order = ("mu", "K", "Q")
    first, second = sorted((first, second), key=order.index)
    return f" {first}_{second} ".replace("Q_K", "K_Q")


class _Reader:
    """The tokens of one text, read from left to right."""

    def __init__(self, text: str, known: Mapping[str, Any]) -> None:
        self.text, self.known = text, known
        source = _SPACING.sub(" ", _INNER.sub(_product, _NORM.sub(_product, text.strip().strip("$"))))
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise self._refused(f"the character {source[position]!r} is not understood")
            kind, token = str(match.lastgroup), match.group()
            position = match.end()
            if kind == "space":
                continue
            if kind == "command" and token in _OPERATORS:
                kind = "operator"
            if kind == "operator":
                token = _OPERATORS.get(token, token)
            elif kind == "relation":
                token = _RELATIONS.get(token, token)
            elif kind == "subscript":
                if not self.tokens or self.tokens[-1][0] not in ("name", "command"):
                    raise self._refused(f"the subscript {token} belongs to no name")
                self.tokens[-1] = ("name", self.tokens[-1][1] + token)
                continue
            self.tokens.append((kind, token))
        self.place = 0
        self.depth = 0

    def claims(self) -> list[tuple[Any, str, Any]]:
        sides, relations = [self._sum()], []
        while self._kind() == "relation":
            relations.append(self._next()[1])
            sides.append(self._sum())
        if self.place < len(self.tokens):
            raise self._refused(f"{self.tokens[self.place][1]!r} is out of place")
        if not relations:
            return [(sides[0], "=", sympy.S.Zero)]
        return list(zip(sides[:-1], relations, sides[1:], strict=True))

    def _refused(self, reason: str) -> ValueError:
        return ValueError(f"claim: cannot read {self.text!r}: {reason}; allowed: simple LaTeX or a plain formula")

    def _kind(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def _token(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def _next(self) -> tuple[str, str]:
        if self.place >= len(self.tokens):
            raise self._refused("something is missing at the end")
        self.place += 1
        return self.tokens[self.place - 1]

    def _expect(self, token: str) -> None:
        if self._token() != token:
            raise self._refused(f"{token!r} is missing before {self._token() or 'the end'!r}")
        self.place += 1

    def _sum(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise self._refused(f"nested deeper than {DEEPEST_NESTING} levels")
        sign = -1 if self._token() == "-" else 1
        if self._token() in ("+", "-"):
            self.place += 1
        total = sign * self._term()
        while self._token() in ("+", "-"):
            sign = 1 if self._next()[1] == "+" else -1
            total += sign * self._term()
        self.depth -= 1
        return total

    def _term(self) -> Any:
        total = self._power()
        while True:
            token = self._token()
            if token == "*":
                self.place += 1
                total *= self._power()
            elif token == "/":
                self.place += 1
                divisor = self._power()
                if divisor == 0:
                    raise self._refused("a division by zero")
                total /= divisor
            elif self._kind() in ("number", "name", "command") or token in _CLOSING:
                total *= self._power()
            else:
                return total

    def _power(self) -> Any:
        base = self._atom()
        if self._token() != "^":
            return base
        self.place += 1
        sign = -1 if self._token() == "-" else 1
        self.place += self._token() == "-"
        exponent = sign * self._atom()
        if not (exponent.is_Rational and abs(exponent) <= LARGEST_EXPONENT):
            raise self._refused(f"the exponent {exponent} is no number up to {LARGEST_EXPONENT}")
        if base == 0 and exponent < 0:
            raise self._refused("a division by zero")
        return base**exponent

    def _bracket(self, opening: str) -> Any:
        self._expect(opening)
        value = self._sum()
        self._expect(_CLOSING[opening])
        return value

    def _atom(self) -> Any:
        if self._token() in _CLOSING:
            return self._bracket(self._token())
        kind, token = self._next()
        if kind == "number":
            return sympy.Rational(token)
        if token in _FRACTIONS:
            above, below = self._argument(), self._argument()
            if below == 0:
                raise self._refused("a division by zero")
            return above / below
        if token in (r"\sqrt", "sqrt"):
            degree = self._bracket("[") if token == r"\sqrt" and self._token() == "[" else sympy.Integer(2)
            if not (degree.is_Integer and 2 <= degree <= LARGEST_EXPONENT):
                raise self._refused(f"a root of degree {degree}")
            return self._argument() ** (1 / degree)
        if kind in ("name", "command"):
            return self._symbol(token)
        raise self._refused(f"{token!r} is out of place")

    def _argument(self) -> Any:
        if self._token() in ("{", "("):
            return self._bracket(self._token())
        kind, token = self._next()
        if kind == "number":  # \frac12 is one half
            if len(token) > 1 and token.isdigit():
                self.tokens.insert(self.place, ("number", token[1:]))
            return sympy.Integer(token[0])
        return self._symbol(token)

    def _symbol(self, token: str) -> Any:
        name = plain_name(token)
        if name in self.known:
            return self.known[name]
        pieces = self._split(name)
        if pieces is None or "_" in token or token.startswith("\\"):
            raise self._refused(f"the name {token!r} is unknown (known: {', '.join(sorted(self.known))})")
        return sympy.Mul(*pieces)

    def _split(self, name: str) -> list[Any] | None:
        """Letters written together are a product if every one of them is a name: cm is c m."""
        pieces = [self.known.get(letter) for letter in name]
        return None if any(piece is None for piece in pieces) else pieces
