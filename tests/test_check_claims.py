"""Prepared claims, each with the level it must reach: no false one proved or holding, no true one false."""

import pytest

from hermite_rmt.theory.attention import equivalent
from hermite_rmt.theory.check import Level, check
from hermite_rmt.theory.check.subjects import subjects_of

P, H, F = Level.PROVED, Level.HOLDS, Level.FALSE

D = r"(\gamma m)"
CUBIC = rf"{D}^2 ({D} + c - 1) = \frac{{c\gamma}}{{\nu}} (1 - {D})"
PLAIN = {"a1": 0, "kappa": 0}
NOISE = {"mu_mu": 0}
DENOMINATOR = "((1 + a1 T)^2 - a1^2 P R)"
THEOREM = f"q = F + (a1^2 (R x_u^2 + P x_v^2) - 2 a1 (1 + a1 T) x_u x_v) / {DENOMINATOR}"
ROOT = r"\sqrt{(\gamma + c + 1)^2 - 4 c}"
REGRESSION = rf"E = \frac{{1 - c\tau}}{{1 + r\tau}} - \frac{{\gamma (c + r) \tau}}{{(1 + r\tau)^2 {ROOT}}}"

# (claim, where, level): P true and provable, H true and not provable here, F false
ATTENTION = [
    # Proposition 1
    (r"c\, g_{ts} = -\gamma m", None, P),
    (r"c\, g_{ts} = \gamma m", None, F),
    (r"g_{ts} = -\gamma m", None, F),
    (r"g_{ts} = -\gamma m", {"c": 1}, P),
    (r"m = I_0 + c \sigma^2 m I_1", None, P),
    (r"m = I_0 + \sigma^2 m I_1", None, F),
    (r"m = I_0 + 2 c \sigma^2 m I_1", None, F),
    (r"m = I_0", {"nu": "a1**2"}, P),
    (r"\delta = c\, g_+ I_1", None, P),
    (r"\delta = \frac{1}{c} g_+ I_1", None, F),
    (r"\tau = c (a_1 I_2 + (\kappa - \sigma^2 \tau) I_1)", None, P),
    (r"\tau = c (a_1 I_2 + (\kappa + \sigma^2 \tau) I_1)", None, F),
    (r"g_+ = \gamma + \sigma^2\delta", None, P),
    (r"g_+ = \gamma + \eta\delta", None, F),
    (r"g_+ = \gamma + \eta\delta", {"c": 1}, P),
    (r"g_{us} = a_1 I_1 + (\kappa - \sigma^2\tau) I_0", None, P),
    (r"g_{us}\, \gamma = a_1 \delta \gamma/(c g_+) + (\kappa - \sigma^2\tau) \gamma^2 m/g_+", None, P),
    (r"g_+ I_0 = \gamma m", None, P),
    (r"g_+ I_0 = g_+ m", None, F),
    (r"g_{us}^2 \le m\, g_{ss}", None, P),
    (r"g_{us}^2 \ge m\, g_{ss}", None, F),
    (r"0 < m \le 1/\gamma", None, P),
    (r"m < \frac{1}{2\gamma}", None, F),
    (r"\delta = 0", None, F),
    (r"\tau = 0", {"a1": 0, "kappa": 0}, P),
    (r"\tau = 0", {"a1": 0}, F),
    (r"\tau = 0", {"diagonal": 0, "skip": 0}, F),
    (CUBIC, PLAIN, P),
    (CUBIC.replace(r"\frac{c\gamma}{\nu}", r"\frac{\gamma}{c\nu}"), PLAIN, F),
    (CUBIC.replace(r"c - 1", r"1 - c"), PLAIN, F),
    (CUBIC, {"a1": 0}, F),
    (CUBIC, None, F),
    (
        r"\gamma m + \frac{\nu + a_1^2/c}{\gamma} \ge 1",
        {"mu_mu": 0, "diagonal": 0, "skip": 0},
        H,
    ),  # the mean of lambda is nu + a_1^2/c
    (r"\gamma m + \frac{\nu}{\gamma} \ge 1", {"mu_mu": 0, "diagonal": 0, "skip": 0}, F),
    # Theorem 1
    (THEOREM, None, P),
    (THEOREM.replace("- 2 a1", "- a1"), None, F),
    (THEOREM.replace("- 2 a1", "+ 2 a1"), None, F),
    (THEOREM.replace("(1 + a1 T)^2 -", "(1 + a1 T)^2 +"), None, F),
    (THEOREM.replace("(R x_u^2 + P x_v^2)", "(P x_u^2 + R x_v^2)"), None, F),
    (f"{DENOMINATOR} > 0", None, P),
    ("P >= 0 >= R", None, P),
    ("q = m", NOISE, P),
    ("q = m", None, F),
    ("q = m", PLAIN, P),
    ("q = m", {"a1": 0}, F),  # only for a diagonal
    ("q = m", {"mu_K": 0, "mu_Q": 0}, F),
    ("q = F", {"mu_K": 0, "mu_Q": 0}, P),
    ("q = F", {"K_K": 0}, P),
    ("q = F", {"Q_Q": 0}, P),
    ("q = F", {"mu_K": 0}, F),
    ("q <= F", {"mu_K": 0}, H),
    ("q >= F", {"mu_Q": 0}, H),
    ("q <= F", {"mu_Q": 0}, F),
    ("q <= m", {"K_K": 0, "diagonal": 0, "skip": 0}, H),
    ("q <= m", {"K_K": 0, "skip": 0}, F),  # a signal can hurt, with a diagonal
    ("q < m", NOISE, F),  # they are equal
    # the error
    (r"E = -\gamma^2 Derivative", None, None),
    (r"(\gamma q)^2 \le E \le \gamma q \le 1", None, P),
    (r"(\gamma q)^3 \le E", None, P),
    (r"E^2 \le \gamma q", None, P),
    (r"E \le (\gamma q)^2", None, F),
    (r"E = \gamma q", None, F),
    ("E < 1", None, H),
    ("E >= 1 - c", NOISE, H),
    ("E >= 1 - c", None, F),  # a signal helps
    (r"E \le \frac{1}{1 + r}", None, F),
    (rf"E = {D} - {D}^2 ({D} + c - 1)/(3 {D}^2 + 2 (c - 1) {D} + c\gamma/\nu)", PLAIN, P),
    (rf"E = {D} - {D}^2 ({D} + c - 1)/(3 {D}^2 + 2 (c + 1) {D} + c\gamma/\nu)", PLAIN, F),
    (rf"E = {D} - {D}^2 ({D} + c - 1)/(2 {D}^2 + 2 (c - 1) {D} + c\gamma/\nu)", PLAIN, F),
]
ATTENTION = [entry for entry in ATTENTION if entry[2] is not None]

LINEAR_REGRESSION = [
    (r"m = \frac{1}{\gamma + \frac{c}{1 + m}}", None, P),
    (r"m = \frac{1}{\gamma + \frac{1}{c(1 + m)}}", None, F),
    (r"m = \frac{1}{\gamma - \frac{c}{1 + m}}", None, F),
    (r"\gamma m^2 + (\gamma + c - 1) m - 1", None, P),
    (r"\gamma m^2 + (\gamma + c + 1) m - 1", None, F),
    (r"\gamma m^2 + \gamma m = 1", {"c": 1}, P),
    (r"\gamma m^2 + \gamma m = 1", None, F),
    (r"c\tau^2 - (\gamma + c + 1)\tau + 1 = 0", None, P),
    (r"\tau = \frac{2}{\gamma + c + 1 + " + ROOT + "}", None, P),
    (r"\tau = \frac{2}{\gamma + c + 1 - " + ROOT + "}", None, F),
    (r"\tau < 1", None, P),
    (r"c\tau < 1", None, P),
    (r"\tau < \frac12", None, F),
    (r"q = \frac{m (1 + m)}{1 + m + r m}", None, P),
    (r"q = \frac{m (1 + m)}{1 + m + 2 r m}", None, F),
    ("q = m", NOISE, P),
    (REGRESSION, None, P),
    (REGRESSION.replace("(c + r)", "(c - r)"), None, F),
    (REGRESSION.replace("- 4 c", "- 2 c"), None, F),
    (REGRESSION.replace(r"\frac{\gamma (c", r"\frac{2 \gamma (c"), None, F),
    (r"(\gamma q)^2 \le E \le \gamma q", None, P),
    (r"E < 1", None, P),
    (r"E > \frac{1 - c}{1 + r}", None, P),
    (r"E < \frac{1}{1 + r}", None, F),
    (r"\gamma m > 1 - c", None, P),
    (r"\gamma m \ge |1 - c|".replace("|1 - c|", r"\sqrt{(1 - c)^2}"), None, F),  # only for c > 1
    (r"m < \frac{1}{c - 1}", "c > 1", P),
    (r"m < \frac{1}{c - 1}", None, F),  # only for c < 1
    (r"\tau^3 + \gamma^5 > E \tau^3", None, P),
    (r"\gamma m < \frac{1}{\tau}", "c >= 1", P),
    (r"c \tau + c - 1 > c \tau", "c >= 1", F),  # equal at c = 1
    (r"c \tau + c - 1 > c \tau", "c > 1", P),
]

LAWS = [
    ("m^2 + z m + 1 = 0", "semicircle", P),
    ("m = -1/(z + m)", "semicircle", P),
    ("m^2 + z m - 1 = 0", "semicircle", F),
    ("m^2 + 2 z m + 1 = 0", "semicircle", F),
    ("z m < 0", "semicircle", H),
    (r"m = \frac{1}{-z + \frac{1}{1 + m/c}}", "marchenko_pastur", P),
    (r"m = \frac{1}{-z + \frac{1}{1 + c m}}", "marchenko_pastur", F),
    (r"m = \frac{1}{-z - \frac{1}{1 + m/c}}", "marchenko_pastur", F),
]

ENGINE = [
    ("g_23 = -gamma g_11", P),
    ("h_12 = g_13/c", P),
    ("h_12 = g_13", F),
    ("c h_22 = 1 - c - gamma g_11", P),
    ("h_22 = 1 - c - gamma g_11", F),
    ("c g_33 + 2 a1 g_13 g_33 = c gamma g_11 (1 - c - gamma g_11)", P),
    ("c g_33 + a1 g_13 g_33 = c gamma g_11 (1 - c - gamma g_11)", F),
]

CASES = [
    *((claim, "attention", where, level) for claim, where, level in ATTENTION),
    *((claim, "linear_regression", where, level) for claim, where, level in LINEAR_REGRESSION),
    *((claim, system, None, level) for claim, system, level in LAWS),
    *((claim, "engine", None, level) for claim, level in ENGINE),
]


def test_there_are_enough():
    assert len(CASES) >= 60
    assert {level for *_, level in CASES} == {P, H, F}


FALSE = [case for case in CASES if case[-1] is F]


@pytest.mark.parametrize(("claim", "system", "where", "level"), FALSE)
def test_no_proof_of_a_false_claim(claim, system, where, level):
    """The proofs stand on their own: they refuse false claims that no search has sifted out."""
    subject = next(subjects_of(equivalent() if system == "engine" else system))
    domain = subject.read_domain(where, {})
    assert not all(subject.prove(entry, domain) for entry in subject.read_claims(claim, {}))


@pytest.mark.parametrize(("claim", "system", "where", "level"), CASES)
def test_claim(claim, system, where, level):
    verdict = check(claim, equivalent() if system == "engine" else system, where=where, points=8)
    assert verdict.level is level, str(verdict)
    assert (verdict.counterexample is not None) == (level is F)
