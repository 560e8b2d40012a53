"""What people write, cut into tokens and rewritten into Python's grammar: 2x, x^2, |x|, np.tanh, unicode signs."""

from __future__ import annotations

import re

from hermite_rmt.hermite.vocabulary import FUNCTIONS, KEYWORDS, MODULES, VARIABLES

DEEPEST_NESTING = 60

_TOKEN = re.compile(
    r"""(?P<space>[ \t\n]+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[^\W\d²³][^\W²³]*(?:\.[^\W\d²³][^\W²³]*)*)
    |(?P<operator>\*\*|<=|>=|==|!=|[-+*/^(),<>|])
    |(?P<unicode>[−–×·⋅÷²³≤≥])""",
    re.VERBOSE,
)
_UNICODE = {"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "²": "**2", "³": "**3", "≤": "<=", "≥": ">="}


class RefusedError(Exception):
    """Why a text cannot be read, and at which column of the text as it was given."""

    def __init__(self, reason: str, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.column = column


def tokenized(text: str) -> tuple[str, list[int]]:
    """Return the text in Python's grammar, and for each of its characters the column of `text` it came from.

    Raises
    ------
    RefusedError
        If a character, or a name with a dot, is not part of the language, or brackets do not match.

    >>> tokenized("2|x|")[0]
    '2 * abs ( x ) '
    """
    return _Tokens(text).python()


class _Tokens:
    """The text cut into tokens, rewritten into Python's grammar with the column each character came from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.source = ""
        self.columns: list[int] = []
        self.previous = ""  # the kind of the last token: "operand", "open", "operator" or ""
        self.brackets: list[tuple[str, int]] = []

    def python(self) -> tuple[str, list[int]]:
        position = 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise RefusedError(f"the character {self.text[position]!r} is not part of a formula", position)
            kind = str(match.lastgroup)
            if kind != "space":
                self._token(kind, match.group(), position)
            position = match.end()
        if self.brackets:
            raise RefusedError("an opening bracket without its closing one", self.brackets[-1][1])
        if self.previous in ("operator", "function"):
            raise RefusedError("something is missing at the end", len(self.text.rstrip()))
        return self.source, [*self.columns, len(self.text)]

    def _emit(self, written: str, position: int, previous: str) -> None:
        self.source += written + " "
        self.columns += [position] * (len(written) + 1)
        self.previous = previous

    def _juxtaposed(self, position: int) -> None:
        if self.previous == "operand":
            self._emit("*", position, "operator")

    def _token(self, kind: str, token: str, position: int) -> None:
        token = _UNICODE.get(token, token)
        if kind == "number":
            if self.previous == "operand":
                raise RefusedError(f"an operator is missing before {token}", position)
            self._emit(token, position, "operand")
        elif kind == "name":
            self._name(token, position)
        elif token == "(":
            if self.previous == "operand":
                self._emit("*", position, "operator")
            self._open("(", position)
        elif token == ")":
            if not self.brackets or self.brackets.pop()[0] != "(":
                raise RefusedError("a closing bracket without its opening one", position)
            self._emit(")", position, "operand")
        elif token == "|":
            self._bar(position)
        else:
            self._emit(
                "**" if token == "^" else token, position, "operand" if token in ("**2", "**3") else "operator"
            )

    def _open(self, bracket: str, position: int) -> None:
        self.brackets.append((bracket, position))
        if len(self.brackets) > DEEPEST_NESTING:
            raise RefusedError(f"nested deeper than {DEEPEST_NESTING} levels", position)
        self._emit("(", position, "open")

    def _bar(self, position: int) -> None:
        if self.previous == "operand" and self.brackets and self.brackets[-1][0] == "|":
            self.brackets.pop()
            self._emit(")", position, "operand")
            return
        self._juxtaposed(position)
        self._emit("abs", position, "function")
        self._open("|", position)

    def _name(self, token: str, position: int) -> None:
        *prefix, name = token.split(".")
        if prefix and ".".join(prefix) not in MODULES:
            raise RefusedError(f"attribute access ({token}) is not part of a formula", position + len(prefix[0]))
        name = {"π": "pi", "ξ": "xi"}.get(name, name)
        if not name.isascii() or name.startswith("__"):
            raise RefusedError(f"unknown name {name!r}", position)
        if name in KEYWORDS:
            self._emit(name, position, "operator")
            return
        self._juxtaposed(position)
        following = self.text[position + len(token) :].lstrip()
        called = following.startswith("(") and (name in FUNCTIONS or len(name) > 1 or name not in VARIABLES)
        self._emit(name, position, "function" if called else "operand")
