"""Derivations by name, worked out by the engine: expression, pencil, passes, equations, branch, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

from hermite_rmt.equivalents.dyson import Dyson
from hermite_rmt.equivalents.ensembles import Vector, overlap
from hermite_rmt.equivalents.reduction import Reduction, reduce_dyson
from hermite_rmt.equivalents.spikes import response_system
from hermite_rmt.theory import attention, linear_regression
from hermite_rmt.theory.equivalent import DeterministicEquivalent
from hermite_rmt.theory.statements import laws

MODEL = "Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656"
_KERNEL = (
    "K linearised in operator norm (Cheng, Singer 2013; Fan, Montanari 2019): a1 = E xi f(xi), eta = nu - a1^2, "
    "kappa = diagonal + skip - a1, W a GOE matrix; c = p/n"
)
_ERROR = (
    "E = lim (1/n) |y - A^T w*|^2 = -gamma^2 dq/dgamma, q = lim y^T Q y/n (the resolvent identity, exact at any n)"
)


_NAMES = {"lim tr Q/n": r"\lim \tfrac1n \operatorname{tr} Q", "lim y^T Q y/n": r"\lim \tfrac1n y^T Q y"}
_UNIQUE = (
    "it is the only solution with m > 0 and delta >= 0 of the equivalent integral form (Earle, Hamilton 1970: its "
    "map contracts; derivations/06)"
)


@dataclass(frozen=True)
class Section:
    """A heading with lines of plain text, and the same lines as LaTeX: sentences (`prose`) or formulas."""

    heading: str
    text: tuple[str, ...]
    latex: tuple[str, ...]
    prose: bool = False

    @classmethod
    def of_sentences(cls, heading: str, sentences: Sequence[str]) -> Section:
        """Return a section of words."""
        return cls(heading, tuple(sentences), tuple(map(_escaped, sentences)), prose=True)

    @classmethod
    def of_equations(cls, heading: str, pairs: Sequence[tuple[Any, Any]]) -> Section:
        """Return a section of equations left = right."""
        text = tuple(f"{left} = {right}" for left, right in pairs)
        return cls(heading, text, tuple(f"{_latex(left)} = {_latex(right)}" for left, right in pairs))

    def typeset(self) -> str:
        """Return the section as LaTeX (amsmath)."""
        if self.prose:
            body = "\n".join(f"\\item {line}" for line in self.latex)
            return f"\\paragraph{{{_escaped(self.heading)}}}\n\\begin{{itemize}}\n{body}\n\\end{{itemize}}"
        body = " \\\\\n".join(self.latex)
        return f"\\paragraph{{{_escaped(self.heading)}}}\n\\begin{{gather*}}\n{body}\n\\end{{gather*}}"

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"  {line}" for line in self.text)])


class Derivation:
    """One statement, derived by the engine from its matrix expression.

    Parameters
    ----------
    title : what is derived
    equivalent : gives the deterministic equivalent
    notes : what the symbols are, and what follows
    citations : sources of the model and statement
    form : whether the labels' quadratic form y^T Q y/n is wanted, and with it the low-rank parts
    branch : what else is known of the solution meant
    """

    def __init__(
        self,
        title: str,
        equivalent: Callable[[], DeterministicEquivalent],
        notes: Sequence[str],
        citations: Sequence[str],
        form: bool = False,
        branch: Sequence[str] = (),
    ) -> None:
        self.title, self.notes, self._form = title, tuple(notes), form
        self._citations, self._branch = tuple(citations), tuple(branch)
        self._equivalent = equivalent

    @cached_property
    def equivalent(self) -> DeterministicEquivalent:
        """The deterministic equivalent."""
        return self._equivalent()

    @cached_property
    def dyson(self) -> Dyson:
        """The Dyson equation of the pencil: with the vectors' blocks where a quadratic form is wanted."""
        if not self._form:
            return self.equivalent.dyson
        names = {str(symbol) for symbol in self.equivalent.parameters}
        return Dyson(self.equivalent.pencil, self.equivalent.ratios, names)

    @cached_property
    def reduction(self) -> Reduction:
        """The passes from the Dyson equation to the equations."""
        return reduce_dyson(self.dyson) if self._form else self.equivalent.reduction

    @property
    def citations(self) -> tuple[str, ...]:
        """The sources of the statement and of the method."""
        return (*self._citations, *self.reduction.system.citations)

    def sections(self, steps: bool = False) -> Iterator[Section]:
        """Yield the parts in order; `steps` adds every pass of the reduction."""
        system, expression, ratios = self.reduction.system, self.equivalent.expression, self.equivalent.ratios
        yield Section.of_sentences("statement", [self.title, *self.notes])
        yield Section.of_equations("expression", [(sympy.Symbol("Q"), expression)])
        base = next(size for size, ratio in ratios.items() if ratio == 1)
        others = [(size / base, ratio) for size, ratio in ratios.items() if ratio != 1]
        if others:
            yield Section.of_equations("dimensions", others)
        pencil = self.equivalent.pencil
        yield Section("pencil, Q a corner of its inverse", tuple(str(pencil).splitlines()), (pencil.latex(),))
        if steps:
            for step in self.reduction.steps:
                left = f"{step.reason}; {step.unknowns} unknowns left"
                yield Section.of_sentences(f"step: {step.name}", [left])
                if step.relations:
                    yield Section.of_equations(f"{step.name} found", step.relations)
        yield Section.of_equations("equations", [(residual, 0) for residual in system.residuals])
        observables = [(f"lim tr Q/{base}", system.observables["trace"])]
        if self._form:
            response, form = self._response()
            yield Section.of_equations("response of the low-rank parts, linear in w", [(r, 0) for r in response])
            observables.append(("lim y^T Q y/n", form))
        yield Section.of_equations("observables", observables)
        yield Section.of_sentences("where", [f"{symbol}: {meaning}" for symbol, meaning in system.meanings.items()])
        yield Section.of_sentences("branch", [system.branch, *self._branch])
        yield Section.of_sentences("sources", self.citations)

    def _response(self) -> tuple[list[Any], Any]:
        """Return the linear equations of the response, and y^T Q y/n, in the unknowns that are left."""
        labels = next(v for v in self.equivalent.expression.atoms(Vector) if v.delocalised)
        joined = response_system(self.dyson, labels, labels, overlap)
        reduced = self.reduction.polynomials
        images = {unknown: reduced.expression(image) for unknown, image in reduced.solved.items()}
        images[overlap(labels, labels)] = sympy.S.One
        bulk = len(self.dyson.residuals())
        residuals = [sympy.expand(residual.xreplace(images)) for residual in joined.residuals[bulk:]]
        return residuals, sympy.expand(joined.observables["quadratic_form"].xreplace(images))


def _latex(value: Any) -> str:
    if str(value) in _NAMES:
        return _NAMES[str(value)]
    overlaps = [s for s in sympy.sympify(value).free_symbols if str(s).startswith("<")]
    names = {s: rf"\langle {', '.join(map(_vector, str(s)[1:-1].split(',')))} \rangle" for s in overlaps}
    return str(sympy.latex(value, symbol_names=names))


def _vector(name: str) -> str:
    return str(sympy.latex(sympy.Symbol(name)))


def _escaped(sentence: str) -> str:
    for character, written in (
        ("\\", r"\textbackslash "),
        ("_", r"\_"),
        ("^", r"\^{}"),
        ("<", r"$<$"),
        (">", r"$>$"),
    ):
        sentence = sentence.replace(character, written)
    return sentence


DERIVATIONS: dict[str, Derivation] = {
    "proposition-1": Derivation(
        "Proposition 1: the resolvent of nonlinear attention on pure noise behaves as m(gamma) I",
        laws.attention_noise,
        [_KERNEL],
        [f"{MODEL}: Proposition 1"],
        branch=[_UNIQUE],
    ),
    "theorem-1": Derivation(
        "Theorem 1: the interpolation error of nonlinear attention with signal mu y^T and weights I + w_K w_Q^T",
        attention.equivalent,
        [_KERNEL, _ERROR],
        [f"{MODEL}: Theorem 1"],
        form=True,
        branch=[_UNIQUE],
    ),
    "linear-regression": Derivation(
        "Linear ridge regression on signal plus noise X = mu y^T + Z",
        linear_regression.equivalent,
        [_ERROR],
        ["Marchenko, Pastur, Mathematics of the USSR-Sbornik 1 (1967), 457-483", f"{MODEL}: the comparison"],
        form=True,
    ),
    "marchenko-pastur": Derivation(
        "The Marchenko-Pastur law: the Stieltjes transform of X^T X/p",
        laws.marchenko_pastur,
        ["z off the support; m behaves as -1/z as z grows"],
        ["Marchenko, Pastur, Mathematics of the USSR-Sbornik 1 (1967), 457-483"],
    ),
    "semicircle": Derivation(
        "Wigner's semicircle law: the Stieltjes transform of a GOE matrix with off-diagonal variance 1/n",
        laws.semicircle,
        ["z off the support; m behaves as -1/z as z grows"],
        ["Wigner, Annals of Mathematics 67 (1958), 325-327"],
    ),
}
