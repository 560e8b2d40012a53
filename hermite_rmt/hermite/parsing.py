"""Text to SymPy: a tokenizer for what people write, Python's grammar, and a whitelist. Text is never evaluated."""

from __future__ import annotations

import ast
import difflib
import re
from typing import Any

import sympy

from hermite_rmt.hermite.tokens import DEEPEST_NESTING, RefusedError, tokenized
from hermite_rmt.hermite.vocabulary import CONSTANTS, FUNCTIONS, LARGEST_EXPONENT, VARIABLES

Expr = Any

LONGEST_TEXT = 4000
LARGEST_BITS = 4096

_COMPARISONS = {
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
}


# sympy.Symbol is a Boolean too: list what a condition can be
_CONDITIONS = (sympy.core.relational.Relational, sympy.logic.boolalg.BooleanFunction, sympy.logic.boolalg.BooleanAtom)


def parse(text: str, names: tuple[str, ...] = ()) -> Expr:
    """Return the SymPy expression of a text such as ``"x if x > 0 else 0.1x"``.

    Names of one letter (and xi) become real symbols, as do those listed in `names`; `e`, `E` and `pi` are the
    constants, `^` and `**` mean power, a number before a name or a bracket multiplies it. Decimals are exact.

    Parameters
    ----------
    text : formula in one variable, with the functions of `hermite_rmt.hermite.vocabulary`
    names : longer names that are symbols too

    Raises
    ------
    ValueError
        If anything else is met: the message names the place, and a second and third line show it.

    >>> parse("2x+1"), parse("np.tanh(0.1x^2)"), parse("(x>0)*x")
    (2*x + 1, tanh(x**2/10), x*Piecewise((1, x > 0), (0, True)))
    >>> parse("xexp(x)")
    Traceback (most recent call last):
    ...
    ValueError: f: cannot read 'xexp(x)', column 1: unknown function 'xexp' (names are not split: x*exp(x)?)
        xexp(x)
        ^
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"f: got a text of {len(text)} characters; allowed: at most {LONGEST_TEXT}")
    try:
        return _Reader(text, names).read()
    except RefusedError as refusal:
        start = max(0, refusal.column - 30)
        shown = re.sub(r"\s", " ", text)[start : start + 60]
        quoted = repr(text) if len(text) <= 60 else f"{text[:57]!r}..."
        raise ValueError(
            f"f: cannot read {quoted}, column {refusal.column + 1}: {refusal.reason}\n"
            f"    {shown}\n    {' ' * (refusal.column - start)}^"
        ) from None


class _Reader:
    """One pass from text to expression; remembers where in the text each piece came from."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.text = text
        self.names = {*VARIABLES, *names}
        self.source, self.columns = tokenized(text)

    def read(self) -> Expr:
        if not self.source:
            raise RefusedError("nothing to read", 0)
        try:
            tree = ast.parse(self.source, mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            offset = getattr(error, "offset", None) or 1
            raise RefusedError("not a formula", self._column(offset - 1)) from None
        result = self._value(tree.body, 0)
        if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise RefusedError("a division by zero", 0)
        return result

    def _column(self, offset: int) -> int:
        return self.columns[min(offset, len(self.columns) - 1)]

    def _refuse(self, node: ast.AST, reason: str) -> RefusedError:
        return RefusedError(reason, self._column(getattr(node, "col_offset", 0)))

    def _value(self, node: ast.expr, depth: int) -> Expr:
        """Return the expression of a node; a condition counts as 1 where it holds and 0 elsewhere."""
        result = self._any(node, depth)
        if isinstance(result, _CONDITIONS):
            return sympy.Piecewise((sympy.S.One, result), (sympy.S.Zero, True))
        return result

    def _condition(self, node: ast.expr, depth: int) -> Any:
        result = self._any(node, depth)
        if not isinstance(result, _CONDITIONS):
            raise self._refuse(node, "a condition such as x > 0 is needed here")
        return result

    def _any(self, node: ast.expr, depth: int) -> Any:
        if depth > DEEPEST_NESTING:
            raise self._refuse(node, f"nested deeper than {DEEPEST_NESTING} levels")
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self._number(node)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, depth + 1)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand, depth + 1)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return sympy.Not(self._condition(operand, depth + 1))
            case ast.BinOp():
                return self._binary(node, depth)
            case ast.BoolOp(op=op, values=values):
                join = sympy.And if isinstance(op, ast.And) else sympy.Or
                return join(*(self._condition(value, depth + 1) for value in values))
            case ast.Compare():
                return self._comparison(node, depth)
            case ast.IfExp():
                return self._choice(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Tuple():
                raise self._refuse(node, "a comma outside a function's brackets")
        written = self.source[node.col_offset : node.end_col_offset].strip()
        raise self._refuse(node, f"{written!r} is not part of a formula")

    def _choice(self, node: ast.expr, depth: int) -> Expr:
        branches = []
        while isinstance(node, ast.IfExp):  # a if p else b if q else c
            branches.append((self._value(node.body, depth + 1), self._condition(node.test, depth + 1)))
            node = node.orelse
        return sympy.Piecewise(*branches, (self._value(node, depth + 1), True))

    def _number(self, node: ast.Constant) -> Expr:
        written = self.source[node.col_offset : node.end_col_offset]
        exponent = re.search(r"[eE]([+-]?\d+)", written)
        if exponent and abs(int(exponent[1])) > LARGEST_BITS // 4:
            raise self._refuse(node, f"the number {written} is out of range")
        return sympy.Rational(written)

    def _name(self, node: ast.Name) -> Expr:
        if node.id in self.names:
            return sympy.Symbol(node.id, real=True)
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        if node.id in FUNCTIONS:
            raise self._refuse(node, f"{node.id} is a function: write {node.id}(x)")
        raise self._refuse(node, f"unknown name {node.id!r}{_suggestion(node.id, call=False)}")

    def _binary(self, node: ast.BinOp, depth: int) -> Expr:
        # a long sum leans to the left: walk down it instead of recursing
        chain: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            chain.append(left)
            left = left.left
        result = self._value(left, depth + 1)
        for link in reversed(chain):
            right = self._value(link.right, depth + 1)
            match link.op:
                case ast.Add():
                    result = result + right
                case ast.Sub():
                    result = result - right
                case ast.Mult():
                    result = result * right
                case ast.Div():
                    if right == 0:
                        raise self._refuse(link.right, "a division by zero")
                    result = result / right
                case ast.Pow():
                    result = self._power(link, result, right)
                case _:
                    raise self._refuse(link, f"the operator {type(link.op).__name__} is not part of a formula")
        return result

    def _power(self, node: ast.BinOp, base: Expr, exponent: Expr) -> Expr:
        if exponent.is_number and abs(sympy.N(exponent, 5)) > LARGEST_EXPONENT:
            raise self._refuse(node.right, f"an exponent above {LARGEST_EXPONENT}")
        if base.is_Rational and exponent.is_Rational:
            if base == 0 and exponent < 0:
                raise self._refuse(node, "a division by zero")
            size = max(int(base.p).bit_length(), int(base.q).bit_length())
            if size * abs(exponent) > LARGEST_BITS:
                raise self._refuse(node, f"a number of more than {LARGEST_BITS} bits")
        result = base**exponent
        if result.is_Pow and result.exp.is_number and abs(sympy.N(result.exp, 5)) > LARGEST_EXPONENT:
            raise self._refuse(node.right, f"an exponent above {LARGEST_EXPONENT}")
        return result

    def _comparison(self, node: ast.Compare, depth: int) -> Any:
        operands = [self._value(operand, depth + 1) for operand in (node.left, *node.comparators)]
        relations = []
        for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if type(operator) not in _COMPARISONS:
                raise self._refuse(node, "only <, <=, >, >=, == and != compare")
            relations.append(_COMPARISONS[type(operator)](left, right))
        return sympy.And(*relations)

    def _call(self, node: ast.Call, depth: int) -> Expr:
        if not isinstance(node.func, ast.Name):
            raise self._refuse(node, "only a named function can be called")
        name = node.func.id
        if name not in FUNCTIONS:
            if name in self.names or name in CONSTANTS:
                raise self._refuse(node, f"{name} is not a function: write {name}*(...)")
            raise self._refuse(node, f"unknown function {name!r}{_suggestion(name, call=True)}")
        if node.keywords:
            raise self._refuse(node, f"{name} takes no keyword arguments here")
        function = FUNCTIONS[name]
        allowed = function.arity
        if len(node.args) not in allowed:
            counts = f"{allowed.start}" if len(allowed) == 1 else f"{allowed.start} to {allowed.stop - 1}"
            if allowed.stop > 100:
                counts = f"{allowed.start} or more"
            raise self._refuse(node, f"{name} takes {counts} arguments, got {len(node.args)}")
        read = [self._value] * len(node.args)
        if function.condition_first:
            read[0] = self._condition
        arguments = [reader(argument, depth + 1) for reader, argument in zip(read, node.args, strict=True)]
        try:
            return sympy.sympify(function.build(*arguments))
        except (ValueError, TypeError) as error:
            raise self._refuse(node, f"{name}: {error}") from None


def _suggestion(name: str, *, call: bool) -> str:
    """Say what was probably meant by a name that is not known."""
    tail = "(x)" if call else ""
    for function in sorted(FUNCTIONS, key=len, reverse=True):
        if call and name.endswith(function) and name[: -len(function)] in VARIABLES:
            return f" (names are not split: {name[: -len(function)]}*{function}(x)?)"
        if not call and name.startswith(function) and name[len(function) :] in VARIABLES:
            return f" (names are not split: {function}({name[len(function) :]})?)"
    near = difflib.get_close_matches(name, [*FUNCTIONS, *CONSTANTS], n=1, cutoff=0.75)
    return f" ({near[0]}{tail}?)" if near else ""


__all__ = ["parse"]
