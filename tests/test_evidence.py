"""The evidence: verdicts follow from their parts, studies find what is known, and every quick study runs."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import hermite_rmt as hr
from hermite_rmt.cli import BAD_INPUT, DONE, FAILED, main
from hermite_rmt.simulation.attention import simulate_attention
from hermite_rmt.study.evidence.agreement import judge, member, simulate_agreement
from hermite_rmt.study.evidence.alignment import aligned_weights, angles, misaligned_weights, over_parametrised
from hermite_rmt.study.evidence.atlas import ATLAS, DOCUMENTED, differences
from hermite_rmt.study.evidence.claims import Claim, Part, Verdict
from hermite_rmt.study.evidence.corrections import skewed_error, unbalanced_error
from hermite_rmt.study.evidence.decay import decay, exponents
from hermite_rmt.study.evidence.effects import scaling
from hermite_rmt.study.evidence.limits import Box, attention_error, directed, regression_error
from hermite_rmt.study.evidence.linearity import best, linear_part_decides
from hermite_rmt.study.evidence.noise import critical_energy, noise
from hermite_rmt.study.evidence.remainder import remainder
from hermite_rmt.study.evidence.spectra import bulk
from hermite_rmt.study.evidence.spots import spot_checks, spots

pytestmark = pytest.mark.usefixtures("one_blas_thread")


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ((True, False), Verdict.HOLDS),
        ((False, True), Verdict.CONDITIONAL),
        ((False, False), Verdict.FALSE),
    ],
)
def test_the_verdict_follows_from_the_parts(holds: tuple[bool, ...], verdict: Verdict) -> None:
    assert Claim("x", "", tuple(Part("", one, "") for one in holds), {}).verdict is verdict


def test_limits_are_the_models() -> None:
    overlaps = directed(2.0, 0.5, key=1.0, query=-1.0)
    model = hr.Attention(a1=np.sqrt(0.3), nu=0.5, diagonal=0.2, overlaps=hr.Overlaps(**overlaps))
    assert attention_error(1.5, 0.1, 0.6, overlaps, nu=0.5, diagonal=0.2) == pytest.approx(model.error(1.5, 0.1))
    assert regression_error(1.5, 0.1, 2.0) == hr.LinearRegression(mu_mu=2).error(1.5, 0.1)


def test_linear_f_is_taken_as_linear() -> None:
    assert attention_error(0.5, 0.1, 1.0, nu=0.3) == pytest.approx(
        float(hr.Attention(a1="0.3", nu="0.09").error("0.5", "0.03", digits=20)), rel=1e-9
    )


def test_directed_weights_are_weights_of_vectors() -> None:
    box = Box.draw(200, 0)
    key, query = np.random.default_rng(1).uniform(-1, 1, (2, 200))
    hr.Overlaps(**directed(box.mu_mu, box.strength, key, query))  # refuses what is no Gram matrix


def test_noise_is_a_matter_of_scale() -> None:
    claim = noise(points=2000, resolution=5)
    holds = {part.statement: part.holds for part in claim.parts}
    assert claim.verdict is Verdict.CONDITIONAL
    assert list(holds.values()) == [False, True, True, False, True]


def test_the_critical_energy_makes_the_errors_equal() -> None:
    c, gamma, fraction = (np.array([x]) for x in (0.7, 0.2, 0.4))
    nu = critical_energy(c, gamma, fraction)
    assert attention_error(c, gamma, fraction, nu=nu) == pytest.approx(regression_error(c, gamma), rel=1e-8)


def test_verdicts_of_signal_and_weights() -> None:
    assert [part.holds for part in aligned_weights(2000, 7).parts] == [False, True, True, False]
    assert [part.holds for part in over_parametrised(5).parts] == [False, True, False]
    assert [part.holds for part in misaligned_weights(2000, 5).parts][:3] == [False, True, True]


def test_angles_are_symmetric() -> None:
    """Turning both weights around changes nothing; weights across the signal do nothing."""
    relative = angles(7).relative
    assert np.allclose(relative, relative[:, ::-1, ::-1], rtol=1e-7)
    assert relative.sel(key_angle=90, query_angle=90).values == pytest.approx(1.0)
    assert float(relative.max()) > 1.2
    assert float(relative.min()) < 0.9


def test_verdicts_of_the_linear_part() -> None:
    assert [part.holds for part in linear_part_decides(2000, 5).parts] == [True, False, True, False, True]
    fractions = best(7)
    noise_trace = fractions.best.sel(case="noise", scale="trace")
    assert float(noise_trace.sel(c=slice(None, 0.9)).max()) == 0  # p < n: without linear part
    assert (fractions.relative_to_linear <= 1).all()


def test_the_page_says_what_the_studies_find() -> None:
    page = (Path(__file__).parents[1] / "docs" / "evidence" / "claims.md").read_text()
    rows = dict(re.findall(r"^\| ([a-g]) \| [^|]* \| ([^|:]*?)(?::[^|]*)? \|$", page, re.MULTILINE))
    assert rows.keys() == {*ATLAS, "g"}
    assert {letter: documented.verdict.value for letter, documented in DOCUMENTED.items()} == {
        letter: verdict for letter, verdict in rows.items() if letter in ATLAS
    }


@pytest.mark.parametrize("letter", list(ATLAS))
def test_studies_find_what_is_documented(letter: str) -> None:
    assert differences(ATLAS[letter]()) == []


def test_a_study_that_finds_something_else_is_told() -> None:
    parts = tuple(Part(f"part {k}", holds, "") for k, holds in enumerate((False, True, True)))
    (told,) = differences(Claim("c", "", parts, {}))
    assert told == "claim c, part 2: holds, documented is that it fails"
    assert "3 parts" in differences(Claim("a", "", parts, {}))[0]


def test_the_atlas_has_its_claims() -> None:
    assert list(ATLAS) == list("abcdef")
    assert {spot.claim for spot in spots()} == set(ATLAS)


def test_a_spot_agrees_with_its_limit() -> None:
    found = spot_checks(n=150, trials=6, claims="d")
    # cos with weights of norm 1/2: gaps of order n^-1/2, and of order 1/n where c changes
    assert np.all(np.abs(found.simulated - found.theory) < 8 * found.standard_error + 0.03)


@pytest.fixture(scope="module")
def small() -> xr.Dataset:
    sizes = {64: 12, 128: 8, 256: 6}
    return simulate_agreement(sizes, names=("tanh", "sign"), settings=("noise", "weights"))


def test_cells_agree_and_say_so(small: xr.Dataset) -> None:
    judged = judge(small)
    assert judged.passes.all()
    assert judged.attrs["cells"] == judged.z.size == 2 * 2 * 2 * 2 * 3
    assert judged.attrs["tested_n"] == 256


def test_a_wrong_limit_is_found(small: xr.Dataset) -> None:
    wrong = small.assign(gap=small.gap + 0.2)
    assert not judge(wrong).passes.all()


def test_fluctuations_of_the_trace_fall_like_one_over_n(small: xr.Dataset) -> None:
    found = exponents(small).sel(observable="trace")
    # each exponent from six correlated cells at three sizes
    assert np.all(np.abs(found.deviation_exponent - 1) < 0.5)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_decay_recovers_a_power(power: float) -> None:
    n = np.array([100.0, 200.0, 400.0, 800.0])
    errors = 0.02 * n**-power * np.ones((3, 1))
    noise_of = np.random.default_rng(0).standard_normal((3, 4)) * errors
    k, error = decay(n, np.array([[1.0], [-2.0], [0.5]]) * n**-power + noise_of, errors)
    assert abs(k - power) < 4 * error
    assert error < 0.05


def test_decay_says_nothing_about_noise() -> None:
    n = np.array([100.0, 200.0, 400.0])
    values = np.random.default_rng(0).standard_normal((5, 3))
    assert all(math.isnan(value) for value in decay(n, values, np.ones((5, 3))))


def test_members_are_centred() -> None:
    assert all(member(name).is_centred() for name in ("exp", "leaky_relu", "tanh"))


def test_the_remainder_falls() -> None:
    found = remainder(sizes=(64, 128, 256), trials=3)
    assert np.all(found.slope + 2 * found.slope_error < 0)


def test_densities_lie_over_eigenvalues() -> None:
    found = bulk(n=200, cases=("relu",))
    assert float(found.distance.max()) < 0.05


def test_unbalanced_labels_see_the_second_coefficient() -> None:
    """Check the value theory and simulation agree on, and its two limits."""
    assert unbalanced_error(0, 1, 1, 0.5, 1e-3, 0.5) == pytest.approx(0.4375, abs=5e-5)
    model = hr.Attention(a1=0.3, nu=0.5)
    assert unbalanced_error(0.3, 0.2, 0.5, 0.5, 0.1, 0) == pytest.approx(model.error(0.5, 0.1), rel=1e-7)
    # without a_2 the mean of the labels is nothing special
    assert unbalanced_error(0.3, 0, 0.5, 0.5, 0.1, 0.5) == pytest.approx(model.error(0.5, 0.1), rel=1e-7)


def test_fair_signs_do_not_see_the_second_coefficient() -> None:
    """Their squares are constant: without a fluctuation of |z|^2 the term of a_2 is gone."""
    assert unbalanced_error(0.3, 0.4, 0.5, 0.5, 0.1, 0.5, kurtosis=-2) == pytest.approx(
        hr.Attention(a1=0.3, nu=0.5).error(0.5, 0.1), rel=1e-7
    )


@pytest.mark.parametrize(("a2", "along", "skewness"), [(0.0, 1.0, 2.0), (0.5, 0.0, 2.0), (0.5, 1.0, 0.0)])
def test_without_one_of_its_causes_skewness_does_nothing(a2: float, along: float, skewness: float) -> None:
    plain = hr.Attention(a1=0.6, nu=0.8, overlaps=hr.Overlaps(mu_mu=1.2)).error(0.7, 0.2)
    assert skewed_error(0.6, a2, 0.8, 0.7, 0.2, 1.2, along, skewness, 3.0) == pytest.approx(plain, rel=1e-12)


def test_skewed_noise_lowers_the_error_of_a_signal_along_it() -> None:
    """Simulated, with the paired difference of a signal along 1_p and one across it; universality says zero."""
    n, p = 300, 150
    one, across = (np.resize(signs, p) / p**0.5 for signs in ([1.0], [1.0, -1.0]))
    f = hr.Nonlinearity("relu(x)").centred()
    samples = [
        simulate_attention(
            f, (1, 0, 0, 0, 0, 0), n, p, [0.1], trials=150, rng=5, noise="exponential", mu=mu
        )[0].error.samples
        for mu in (one, across)
    ]  # fmt: skip
    difference = samples[0] - samples[1]
    limits = [
        skewed_error(f.coefficient(1), f.coefficient(2), f.nu(), 0.5, 0.1, 1.0, along, 2.0, 6.0) for along in (1, 0)
    ]
    error = difference.std(ddof=1) / len(difference) ** 0.5
    assert abs(difference.mean() - (limits[0] - limits[1])) < 5 * error + 2 / n
    assert difference.mean() + 5 * error < 0


def test_gaps_of_weakened_assumptions() -> None:
    found = scaling({64: 200, 128: 100, 256: 50})
    slow = found.sel(effect="tanh, Student 2.5")
    assert float(slow.exponent) + 2 * float(slow.exponent_error) < 0.75  # falls like n^-1/4, and surely not like 1/n
    assert np.all(found.probability > 1e-4)
    own = found.gap.sel(effect="tanh, own diagonal, limit d = 0") / found.standard_error.sel(effect="tanh, Gaussian")
    assert np.all(np.abs(own) > 4)


def test_claims_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "c", "--json"]) == DONE
    (record,) = json.loads(capsys.readouterr().out)["claims"]
    assert record["claim"] == "c"
    assert record["verdict"] == "holds under stated conditions"
    assert main(["claims", "c"]) == DONE
    assert "fails: p > n" in capsys.readouterr().out
    for arguments in (["claims", "z"], ["claims", "g"]):
        assert main(arguments) == BAD_INPUT
        assert "allowed" in capsys.readouterr().err


def test_a_claim_that_is_documented_otherwise_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Claim("c", "planted", tuple(Part(f"part {k}", True, "") for k in range(3)), {})
    monkeypatch.setitem(ATLAS, "c", lambda: wrong)  # type: ignore[arg-type]
    assert main(["claims", "c"]) == FAILED
    assert "documented is that it fails" in capsys.readouterr().err
