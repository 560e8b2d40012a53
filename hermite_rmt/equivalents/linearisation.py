"""The pass that replaces an entrywise nonlinearity by its linear part plus noise.

With scores S whose off-diagonal entries are asymptotically N(0, 1), as S = X^T (I + low rank) X / sqrt p, X = Z + low
rank: f(S) without its diagonal is, up to o(1) in operator norm after division by sqrt p,

    a_1 (S - sqrt p I) + sqrt(n) W  (+ the rank-two term of a_2)

W a GOE matrix of variance nu - a_1^2 independent of Z; several functions of the same scores get jointly Gaussian W_h
with covariance E f_h f_k - a_1h a_1k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from hermite_rmt.core.derived import combine
from hermite_rmt.core.numbers import Real
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, Vector, joint_family
from hermite_rmt.equivalents.entrywise import OffDiagonal
from hermite_rmt.equivalents.errors import ExpressionError, clip
from hermite_rmt.equivalents.nodes import without_low_rank
from hermite_rmt.equivalents.reading import Reader
from hermite_rmt.hermite.mixed import real_mixed_energy
from hermite_rmt.hermite.nonlinearity import Nonlinearity

CITATIONS = (
    "Cheng, Singer, The spectrum of random inner-product kernel matrices (2013), arXiv 1202.3155",
    "Fan, Montanari, The spectral norm of random inner-product kernel matrices (2019), arXiv 1507.05343",
    "Liao, Liu, Hou, Zou, Ling, On the interpolation error of nonlinear attention versus linear regression, "
    "arXiv 2506.18656",
)


@dataclass(frozen=True)
class Linearised:
    """An expression without entrywise functions.

    Attributes
    ----------
    expression : SymPy matrix expression
    constants : {symbol: Real}, the Hermite coefficients that have no symbolic value
    lengths : {vector: |vector|^2 over its dimension}, vectors the pass brought in, orthogonal to all others
    assumptions : what was used, a sentence each
    """

    expression: Any
    constants: dict[Any, Real]
    lengths: dict[Any, Any]
    assumptions: tuple[str, ...]


def linearise_entrywise(expression: Any, reader: Callable[[Any], Reader]) -> Linearised:
    """Replace every `off_diagonal(f(scores))` in an expression.

    Raises
    ------
    ExpressionError
        If the scores are not of the form above, with entries of variance 1, or f is not centred.
    """
    nodes = sorted(expression.atoms(OffDiagonal), key=str)
    if not nodes:
        return Linearised(expression, {}, {}, ())
    letters = [_require_scores(node, reader(node.matrix.scores)) for node in nodes]
    constants: dict[Any, Real] = {}
    added: dict[Any, Any] = {}
    replacements: dict[Any, Any] = {}
    assumptions: list[str] = []
    for letter in dict.fromkeys(letters):
        group = [node for node, its in zip(nodes, letters, strict=True) if its == letter]
        functions = list(dict.fromkeys(node.matrix.nonlinearity for node in group))
        p, n = letter.shape
        suffixes = [f"_{k}" for k in range(1, len(functions) + 1)] if len(nodes) > 1 else [""]
        first = [_coefficient(f, 1, f"a_1{x}", constants) for f, x in zip(functions, suffixes, strict=True)]
        noises = _noises(functions, first, suffixes, n, letter, constants)
        for node in group:
            number = functions.index(node.matrix.nonlinearity)
            scores = node.matrix.scores
            linear = first[number] * scores - first[number] * sympy.sqrt(p) * sympy.Identity(n)
            replacement = linear + sympy.sqrt(n) * noises[number]
            if node.ones is not None:
                second = _coefficient(functions[number], 2, f"a_2{suffixes[number]}", constants)
                lengths = Vector(f"g_{letter.name}", n, "sqrt")
                replacement += second / sympy.sqrt(p) * (lengths * node.ones.T + node.ones * lengths.T)
                added[lengths] = 1  # (kappa_4 + 2)/2 with kappa_4 = 0 for Gaussian tokens
            replacements[node] = replacement
        assumptions += _assumptions(group, functions, letter)
    return Linearised(expression.xreplace(replacements), constants, added, tuple(assumptions))


def _coefficient(f: Nonlinearity, k: int, name: str, constants: dict[Any, Real]) -> Any:
    if not f.parameters:
        symbol = sympy.Symbol(name, real=True)
        constants[symbol] = f.real_coefficient(k)
        return symbol
    value = f.closed_form(k)
    if value is None:
        raise ExpressionError(f"{f.name}: no closed form for a_{k}; give its parameters numbers first")
    return value


def _noises(
    functions: list[Nonlinearity],
    first: list[Any],
    suffixes: list[str],
    n: Any,
    letter: Gaussian,
    constants: dict[Any, Real],
) -> list[Any]:
    """Return the GOE matrix of every function: of variance nu - a_1^2, jointly Gaussian where there are several."""
    name = f"W_{letter.name}"
    if len(functions) == 1:
        f = functions[0]
        if not f.parameters:
            energy = sympy.Symbol(f"eta{suffixes[0]}", nonnegative=True)
            constants[energy] = _excess(f, f)
            return [GOE(name, n, energy)]
        nu = f.closed_form_nu()
        if nu is None:
            raise ExpressionError(f"{f.name}: no closed form for nu; give its parameters numbers first")
        return [GOE(name, n, sympy.factor(nu - first[0] ** 2))]
    entries = {}
    for i, f in enumerate(functions):
        for j, g in enumerate(functions[: i + 1]):
            if f.parameters or g.parameters:
                raise ExpressionError(f"{f.name}: several functions with symbolic parameters are not supported")
            symbol = sympy.Symbol(f"eta_{j + 1}{i + 1}", real=True)
            constants[symbol] = _excess(f, g)
            entries[i, j] = entries[j, i] = symbol
    size = len(functions)
    covariance = sympy.Matrix(size, size, lambda i, j: entries[i, j])
    names = " ".join(f"{name}{suffix}" for suffix in suffixes)
    return list(joint_family(GOE, names, n, covariance=covariance))


def _excess(f: Nonlinearity, g: Nonlinearity) -> Real:
    """Return E[f g] - a_1(f) a_1(g) = sum over k >= 2 of a_k(f) a_k(g)."""
    operands = real_mixed_energy(f, g), f.real_coefficient(1), g.real_coefficient(1)
    return combine(_gap, *operands, text="E[fg] - a_1 a_1")


def _gap(mean: Any, left: Any, right: Any) -> Any:
    return mean - left * right


def _require_scores(node: OffDiagonal, reader: Reader) -> Gaussian:
    """Check that scores are X^T (...) X / sqrt p with entries of variance 1; return the Gaussian matrix."""
    scores, f = node.matrix.scores, node.matrix.nonlinearity
    reading = reader.read(scores)
    bulk = without_low_rank(reading.node)
    parts = bulk.parts if bulk.kind == "sum" else ((sympy.S.One, bulk),)
    problem = (
        f"the scores {clip(scores)}: allowed: X.T*(Identity(p) + low rank)*X/sqrt(p), X a Gaussian matrix + low rank"
    )
    if len(parts) != 1 or parts[0][1].kind != "product" or len(parts[0][1].parts) != 2:
        raise ExpressionError(problem)
    left, right = parts[0][1].parts
    letter = right.parts[0].left if right.kind == "letter" else None
    if left.kind != "letter" or not isinstance(letter, Gaussian) or left.parts[0] != right.parts[0].transpose():
        raise ExpressionError(problem)
    if right.parts[0].transposed:
        raise ExpressionError(problem + f" with the tokens as columns (got {letter}*{letter}.T)")
    p, n = letter.shape
    order = reading.order + (reader.scalar(sympy.sqrt(p), scores)[1] - reader.scalar(n, scores)[1])
    variance = sympy.simplify(parts[0][0] ** 2 * reader.ratio(p) * letter.variance**2)
    if order != 0 or variance != 1:
        size = f"{variance}" if order == 0 else f"of order {reader.base}^({2 * order})"
        raise ExpressionError(
            f"the scores {clip(scores)}: their entries have variance {size}; allowed: 1 (rescale f)"
        )
    _require_centred(f)
    return letter


def _require_centred(f: Nonlinearity) -> None:
    if not f.parameters:
        if not f.is_centred():
            raise ExpressionError(f"{f.name} is not centred: E f(xi) = {f.mean():.6g}; use Nonlinearity(f).centred()")
        return
    mean = f.closed_form(0)
    if mean is None:
        raise ExpressionError(f"{f.name}: no closed form for E f(xi); give its parameters numbers first")
    if sympy.simplify(mean) != 0:
        raise ExpressionError(f"{f.name} is not centred: E f(xi) = {mean}; use Nonlinearity(f).centred()")


def _assumptions(group: list[Any], functions: list[Nonlinearity], letter: Gaussian) -> list[str]:
    names = ", ".join(f.name for f in functions)
    told = [
        f"f = {names} of the scores is replaced by a_1 (scores) + sqrt(nu - a_1^2) GOE in operator norm, the GOE "
        f"independent of {letter}: {'; '.join(CITATIONS)}",
        "the diagonal of f(scores) is removed",
        "deterministic vectors are spread out enough not to see single entries",
    ]
    if any(node.ones is None for node in group):
        told.append("vectors are orthogonal to the all-ones vector (balanced), so the a_2 term is not seen")
    return told
