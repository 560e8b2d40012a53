"""The public function `check`: a counterexample first, then a proof, else the number of points and digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hermite_rmt.core.numbers import read_digits
from hermite_rmt.theory.check.claims import Claim
from hermite_rmt.theory.check.search import Found, Search
from hermite_rmt.theory.check.subject import Domain, Subject
from hermite_rmt.theory.check.subjects import subjects_of
from hermite_rmt.theory.check.verdict import Level, Verdict


def check(
    claim: Any,
    system: Any = "attention",
    *,
    names: Mapping[Any, Any] | None = None,
    where: Any = None,
    points: int = 20,
    digits: int = 30,
    seed: int = 0,
    solve: Callable[[Mapping[str, Any], int], Mapping[str, Any]] | None = None,
) -> Verdict:
    r"""Say whether a claim holds on the solution branch of a system, and how surely.

    Parameters
    ----------
    claim : SymPy equation, inequality or expression (meaning ``= 0``); text, plain or LaTeX of the simple kind
        (`hermite_rmt.theory.check.text` says what is understood); an `EquationSystem`, a matrix equation, or a list
        or mapping {label: claim} of these, checked one by one
    system : "attention", "linear_regression", "marchenko_pastur" or "semicircle", a model of these kinds, a
        `DeterministicEquivalent`, or an `EquationSystem` (a model's own, or with `solve`; without it nothing is
        evaluated, and only proofs are tried). A model stands for all parameters, whatever it was made with.
        attention knows m, q, E, tau, delta; the entries g_uu ... g_ss; I_0, I_1, I_2 (integrals of x^j/D); g_plus;
        F, x_u, x_v, P, T, R of Theorem 1; a1, nu, eta, c, gamma, diagonal (d), skip (alpha), kappa, sigma and the six
        overlaps mu_mu (r), mu_K, mu_Q, K_K, Q_Q, K_Q. linear_regression knows m, q, E, tau, c, gamma, mu_mu (r).
        Both know Derivative(q, gamma) and Derivative(m, gamma), and all systems the unknowns and parameters of their
        equations by name (g11, ...) and `trace` (or `m`)
    names : {symbol of the claim: the system's name, or an expression in its names}; a_1 and a1 are one
    where : restricts the domain: {parameter: exact value or expression}, relations between parameters, or a list
    points, digits : how many points of the domain are compared, and to how many digits
    seed : of the points
    solve : for an `EquationSystem`: (values of the parameters by name, digits) -> values of the unknowns by name

    Returns
    -------
    Verdict
        FALSE with a counterexample, confirmed at twice the digits; PROVED only with an exact argument for the whole
        domain (where both sides are defined); HOLDS with no counterexample and no proof; UNDECIDED where the claim
        could not be evaluated at a single point. Of several claims, the worst level

    Raises
    ------
    ValueError
        For claims that cannot be read, unknown names, or an empty domain.
    TypeError
        For objects that are no claims or no systems.

    >>> check(r"c\,g_{ts} = -\gamma\,m", "attention", points=4).level.name
    'PROVED'
    >>> print(check("E = gamma q", "linear_regression"))
    E = gamma*q
      false: there is a counterexample
      both sides were compared at an exact point, to 30 and to 60 digits
      at c = 6, gamma = 269/55, mu_mu = 39/118:
      left side 0.221152004401952188338428050804, right side 0.458624681273127378520198855681
    """
    digits = read_digits(digits) or 30
    if isinstance(points, bool) or not isinstance(points, int) or points < 1:
        raise ValueError(f"points: got {points!r}; allowed: a whole number, at least 1")
    subject, claims, domain = _understood(claim, subjects_of(system, solve), names, where)
    parts = tuple(_check(subject, entry, domain, points, digits, seed) for entry in claims)
    return parts[0] if len(parts) == 1 else Verdict.together(parts)


def _understood(
    claim: Any, subjects: Iterable[Subject], names: Mapping[Any, Any] | None, where: Any
) -> tuple[Subject, list[Claim], Domain]:
    """Return the first subject that knows all names, with the claims and the domain in its symbols."""
    refusals = []
    for subject in subjects:
        try:
            meanings = subject.read_names(names)
            return subject, subject.read_claims(claim, meanings), subject.read_domain(where, meanings)
        except ValueError as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _check(subject: Subject, claim: Claim, domain: Domain, points: int, digits: int, seed: int) -> Verdict:
    def equal(point: Mapping[Any, Any]) -> bool:
        special = {symbol: value for symbol, value in point.items() if value in (0, 1)}
        return subject.prove(Claim(claim.left, "=", claim.right), Domain({**special, **domain.fixed})) is not None

    found = Search(subject, claim, domain, digits, seed).run(points, equal) if subject.solvable else Found()
    shown = f"{claim}{f', where {domain}' if str(domain) else ''}"

    def verdict(level: Level, argument: str) -> Verdict:
        example = found.counterexample
        return Verdict(level, shown, argument, found.points, digits, example, claim.label, claim_latex=claim.latex())

    if found.counterexample is not None:
        return verdict(
            Level.FALSE, f"both sides were compared at an exact point, to {digits} and to {2 * digits} digits"
        )
    # what could be evaluated and never was is defined nowhere: that is not proved
    reason = subject.prove(claim, domain) if found.points or not subject.solvable else None
    if reason is not None:
        return verdict(Level.PROVED, reason)
    argument = f"no counterexample at {found.points} exact points of the domain ({subject.title})"
    for count, what in (
        (found.ties, "with both sides equal to all digits"),
        (found.undefined, "where a side has no real value"),
        (found.unsolved, "that could not be solved"),
    ):
        argument += f"; {count} {what}" if count else ""
    return verdict(Level.HOLDS if found.points else Level.UNDECIDED, argument)
