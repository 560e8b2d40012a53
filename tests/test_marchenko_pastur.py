"""The Marchenko-Pastur law against its equation, against quadrature of its density, and against eigenvalues."""

import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from hermite_rmt.core.contexts import local_context
from hermite_rmt.theory.marchenko_pastur import MarchenkoPastur

ratios = st.fractions(min_value="1/50", max_value=50, max_denominator=50)
complexes = st.builds(complex, st.floats(-20, 20), st.floats(1e-9, 20))


@given(ratio=ratios, z=complexes)
def test_stieltjes_solves_its_equation_on_the_right_branch(ratio, z):
    m = MarchenkoPastur(ratio).stieltjes(z)
    assert abs(float(ratio) * z * m * m + (z + float(ratio) - 1) * m + 1) < 1e-9 * (1 + abs(z * m) * abs(m))
    assert m.imag > 0
    assert MarchenkoPastur(ratio).stieltjes(z.conjugate()) == m.conjugate()


@given(ratio=ratios, x=st.floats(1e-6, 1e4))
def test_stieltjes_left_of_the_support_is_positive_and_decreases_as_one_over_distance(ratio, x):
    law = MarchenkoPastur(ratio)
    m = law.stieltjes(-x)
    assert 0 < m <= 1 / x
    assert law.stieltjes(-2 * x) < m


@given(ratio=ratios)
def test_stieltjes_right_of_the_support_and_in_the_gap(ratio):
    law = MarchenkoPastur(ratio)
    lower, upper = law.support()
    assert law.stieltjes(upper * 1.01) < 0
    if lower > 1e-3:
        inside_gap = law.stieltjes(lower / 2)
        exact = integrate.quad(
            lambda t: law.pdf(t) / (t - lower / 2), lower, upper, limit=400, epsabs=1e-11, epsrel=1e-9
        )[0]
        assert inside_gap == pytest.approx(exact - law.atom() / (lower / 2), rel=1e-6)


@pytest.mark.parametrize("ratio", ["1/4", "1/2", "1", "2", "7"])
def test_cdf_is_the_integral_of_the_density_with_the_atom(ratio):
    law = MarchenkoPastur(ratio)
    lower, upper = law.support()
    assert law.cdf(upper) == 1
    assert law.cdf(-1e-9) == 0
    assert law.cdf(0) == pytest.approx(max(0, 1 - 1 / law.ratio), abs=1e-15)
    context = local_context(120)
    for fraction in (0.1, 0.5, 0.9):
        x = lower + fraction * (upper - lower)
        # t = lower + s^2 removes the square root (and the pole at 0 of the hard edge) from the integrand
        mass = context.quad(
            lambda s: law.pdf(context.mpf(lower) + s * s, digits=25) * 2 * s, [0, context.sqrt(x - lower)]
        )
        assert law.cdf(x) == pytest.approx(float(mass) + law.atom(), rel=1e-12)


@pytest.mark.parametrize("ratio", ["1/4", "1", "2"])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_moments_are_integrals(ratio, order):
    law = MarchenkoPastur(ratio)
    lower, upper = law.support()
    value = integrate.quad(
        lambda s: (lower + s * s) ** order * law.pdf(lower + s * s) * 2 * s,
        0,
        math.sqrt(upper - lower),
        epsabs=1e-12,
    )[0]
    assert law.moment(order) == pytest.approx(value + (law.atom() if order == 0 else 0), rel=1e-7)


def test_moments_are_the_expansion_of_the_stieltjes_transform():
    law = MarchenkoPastur("3/7")
    z = 10**6
    partial = -sum(law.moment(k, digits=60) * mpmath.mpf(1) / mpmath.mpf(z) ** (k + 1) for k in range(5))
    assert float(law.stieltjes(z, digits=50)) == pytest.approx(float(partial), rel=1e-14)


def hard_case(hard_cases, case_id):
    """One row, and its right value to 60 digits."""
    (case,) = [row for row in hard_cases("d") if row["id"] == case_id]
    right = sympy.sympify(case["right_value"], rational=True).evalf(60)
    return case, [local_context(240).convert(part) for part in right.as_real_imag()]


def agrees(value, right, case):
    """Whether a real or complex number has the digits of the right value, real and imaginary part each."""
    context = local_context(240)
    tolerance = context.mpf(10) ** -case["tolerance_digits"]
    parts = value.real, getattr(value, "imag", 0)
    return all(abs(context.convert(a) - b) <= abs(b) * tolerance for a, b in zip(parts, right, strict=True))


BRANCH_CASES = {"d03": "-1e-20", "d03b": "-1e-12", "d04": "-1e-30", "d05": "-1e-20", "d06b": "-1e-6", "d14": "9/4"}


@pytest.mark.parametrize("case_id", BRANCH_CASES)
def test_real_hard_cases_of_the_branch(hard_cases, case_id):
    case, right = hard_case(hard_cases, case_id)
    ratio = (case["params"] or {"c": 1})["c"]
    value = MarchenkoPastur(ratio).stieltjes(BRANCH_CASES[case_id], digits=case["tolerance_digits"] + 1)
    assert agrees(value, right, case)


@pytest.mark.parametrize("case_id", ["d01b", "d06"])
def test_complex_hard_cases_of_the_branch(hard_cases, case_id):
    case, right = hard_case(hard_cases, case_id)
    z = sympy.sympify(case["params"]["z"], rational=True)
    law = MarchenkoPastur(case["params"]["c"])
    assert agrees(law.stieltjes(z, digits=case["tolerance_digits"] + 1), right, case)
    assert abs(law.stieltjes(complex(z)) / complex(*map(float, right)) - 1) < 1e-14


def test_missing_atom_and_hard_edge(hard_cases):
    case, right = hard_case(hard_cases, "d18b")
    assert agrees(MarchenkoPastur(2).cdf("3", digits=case["tolerance_digits"] + 1), right, case)
    assert MarchenkoPastur(2).cdf(3) == pytest.approx(float(right[0]), rel=1e-15)
    case, right = hard_case(hard_cases, "d17")
    assert agrees(MarchenkoPastur(1).pdf("1e-12", digits=case["tolerance_digits"] + 1), right, case)
    assert MarchenkoPastur(1).pdf(1e-12) == pytest.approx(float(right[0]), rel=1e-14)


def test_eigenvalues_follow_the_law():
    p, n = 400, 800  # ratio 2: an atom of mass 1/2
    law = MarchenkoPastur(n / p)
    X = np.random.default_rng(3).normal(size=(p, n))
    eigenvalues = np.linalg.eigvalsh(X @ X.T / p)
    empirical = np.concatenate([np.zeros(n - p), eigenvalues])
    for order in (1, 2, 3):
        # linear statistics fluctuate at order 1/n; 20/n is 5 standard deviations of the third moment
        assert np.mean(empirical**order) == pytest.approx(law.moment(order), rel=20 / n)
    distance = stats.ks_1samp(eigenvalues, lambda x: (law.cdf(x) - law.atom()) / (1 - law.atom())).statistic
    assert distance < 4 / p  # rigid eigenvalues: far below the 1/sqrt(p) of independent ones


@pytest.mark.parametrize(("ratio", "z"), [("1/4", 1), ("1/4", "1/2"), (1, 0), (2, 0), (2, 3.0)])
def test_points_of_the_spectrum_are_refused(ratio, z):
    with pytest.raises(ValueError, match="z: got"):
        MarchenkoPastur(ratio).stieltjes(z)


@pytest.mark.parametrize("ratio", [0, -1, float("nan"), [1, 2]])
def test_bad_ratio(ratio):
    with pytest.raises(ValueError, match="ratio: got"):
        MarchenkoPastur(ratio)


def test_arrays_keep_their_shape_and_digits_their_type():
    law = MarchenkoPastur(2)
    assert law.pdf(np.zeros((2, 3))).shape == (2, 3)
    assert law.stieltjes([-1.0, -2.0]).dtype == float
    assert law.stieltjes([1j, 2j]).dtype == complex
    assert law.cdf(["1", "2"], digits=20).shape == (2,)
    assert isinstance(law.atom(), float)
    with pytest.raises(ValueError, match="order: got"):
        law.moment(-1)
