"""Newton and continuation: paths are followed, not left; failures say where."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from hermite_rmt.codegen import Kernel
from hermite_rmt.core.contexts import local_context
from hermite_rmt.equivalents.ensembles import GOE, dimensions
from hermite_rmt.equivalents.spectral import deterministic
from hermite_rmt.solvers.continuation import Arithmetic, CompiledSystem, ContinuationError
from hermite_rmt.solvers.linear import SingularError, eliminate
from hermite_rmt.theory.equivalent import deterministic_equivalent

x, y, t = sympy.symbols("x y t")


def system(unknowns, residuals, parameters=(t,)):
    entries = {
        (i, j): sympy.diff(residual, unknown)
        for i, residual in enumerate(residuals)
        for j, unknown in enumerate(unknowns)
        if residual.has(unknown)
    }
    kernel = Kernel((*unknowns, *parameters), [*residuals, *entries.values()])
    layout = tuple((0, k, k) for k in range(len(unknowns)))
    return CompiledSystem(kernel, len(unknowns), tuple(entries), layout)


@pytest.mark.parametrize("precision", [None, 120])
def test_a_branch_is_followed_past_its_neighbours(precision):
    # x^3 - x = t has three branches at t = 0; the one at x = 1 grows with t
    arithmetic = Arithmetic(system((x,), [x**3 - x - t]), precision)
    found, trail = arithmetic.follow(arithmetic.array([1]), lambda u: [6 * u])
    assert abs(float(found[0]) - 2) < 1e-9
    assert trail[0] == 0
    assert trail[-1] == 1
    assert trail == sorted(trail)


def test_a_fold_is_not_jumped_over():
    # the branch of w^3 - w = t, w = x - 3, at w = 0 ends where it meets another one, at t = -2/sqrt(27)
    arithmetic = Arithmetic(system((x,), [(x - 3) ** 3 - (x - 3) - t]))
    with pytest.raises(ContinuationError, match=r"beyond 0\.384"):
        arithmetic.follow(arithmetic.array([3]), lambda u: [-u])


def test_complex_parameters_lead_around_a_fold():
    arithmetic = Arithmetic(system((x,), [(x - 3) ** 3 - (x - 3) - t]))
    around, _ = arithmetic.follow(arithmetic.array([3]), lambda u: [-0.5 * (1 - np.exp(1j * np.pi * u))])
    w = around[0] - 3
    assert abs(w**3 - w + 1) < 1e-8
    assert abs(w.imag) > 0.1


def test_a_large_first_correction_is_refused_unless_allowed():
    arithmetic = Arithmetic(system((x,), [x**2 - t]))
    with pytest.raises(ContinuationError, match="first Newton correction"):
        arithmetic.newton(arithmetic.array([10.0]), [1.0], 1e-12)
    assert abs(arithmetic.newton(arithmetic.array([10.0]), [1.0], 1e-12, guarded=False)[0] - 1) < 1e-12


def test_systems_without_solution_do_not_converge():
    arithmetic = Arithmetic(system((x,), [x**2 + t]))
    with pytest.raises(ContinuationError, match=r"not contract|ran out|singular|not finite"):
        arithmetic.newton(arithmetic.array([1.0]), [1.0], 1e-12, guarded=False)


@pytest.mark.parametrize("precision", [None, 100])
def test_singular_jacobians_are_named(precision):
    arithmetic = Arithmetic(system((x, y), [x + y - t, 2 * x + 2 * y]), precision)
    with pytest.raises(ContinuationError, match="singular"):
        arithmetic.correction(arithmetic.array([0, 0]), arithmetic.array([1]))


@pytest.mark.parametrize("digits", [20, 200])
def test_newton_reaches_the_precision_of_its_context(digits):
    precision = int(digits * 3.4)
    arithmetic = Arithmetic(system((x,), [x**2 - t]), precision)
    context = local_context(precision)
    found = arithmetic.newton(arithmetic.array(["1.4"]), [context.mpf(2)], 2.0 ** (-precision / 2))
    assert abs(found[0] - context.sqrt(2)) < context.mpf(10) ** -digits


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.booleans())
def test_elimination_solves(size, seed, complex_valued):
    rng = np.random.default_rng(seed)
    context = local_context(150)
    number = (lambda: context.mpc(*rng.standard_normal(2))) if complex_valued else (lambda: context.mpf(rng.normal()))
    matrix, right = np.empty((size, size), dtype=object), np.empty(size, dtype=object)
    for i in range(size):
        right[i] = number()
        for j in range(size):
            matrix[i, j] = number() if rng.random() < 0.7 or i == j else context.zero
    try:
        solution = eliminate(matrix, right)
    except SingularError:
        assert np.linalg.matrix_rank(matrix.astype(complex)) < size
        return
    assert max(abs(entry) for entry in matrix @ solution - right) < context.mpf(2) ** -100 * (
        1 + max(abs(entry) for entry in solution)
    )


def test_scales_are_of_the_rows_and_columns_of_a_matrix():
    layout = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1))
    unknowns = sympy.symbols("a b c d")
    kernel = Kernel(unknowns, [*unknowns, *[sympy.S.One] * 4])
    arithmetic = Arithmetic(CompiledSystem(kernel, 4, tuple((k, k) for k in range(4)), layout))
    assert np.allclose(arithmetic.scales(np.array([1e10, 1e5, 1e5, 0.0])), [1e10, 1e5, 1e5, 1.0])


@pytest.mark.parametrize("height", ["1/10", "1/100", "1e-6"])
def test_a_path_past_a_closing_gap_keeps_the_physical_branch(height):
    """K = T + s W, T = +-1, z = i h: on the way to s = 2 the gap closes at s = 1, where two solutions nearly meet."""
    n, z = dimensions("n"), sympy.Symbol("z")
    half = sympy.Rational(1, 2)
    T = deterministic("T", n, {1: half, -1: half})
    resolvent = deterministic_equivalent((T + 2 * GOE("W", n) - z * sympy.Identity(n)).inv())
    m = resolvent.trace({z: sympy.I * sympy.Rational(height)})
    # m = E 1/(T - z - 4 m), which gives m = i sqrt(3)/4 at z = 0
    w = -(1j * float(sympy.Rational(height)) + 4 * m)
    assert m == pytest.approx((1 / (w + 1) + 1 / (w - 1)) / 2, rel=1e-12)
    assert m.imag == pytest.approx(3**0.5 / 4, abs=float(sympy.Rational(height)))
