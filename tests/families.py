"""Random members of families of nonlinearities, with rational parameters: strategies.

The closed-form rules cover all of them but `saturating`.
"""

from fractions import Fraction

import sympy as sp
from hypothesis import strategies as st

from hermite_rmt.hermite import formulas
from hermite_rmt.hermite.integrand import X


def rationals(low, high, denominator=6):
    return st.fractions(Fraction(low), Fraction(high), max_denominator=denominator).map(
        lambda q: sp.Rational(q.numerator, q.denominator)
    )


def nonzero(low, high, denominator=6):
    return rationals(low, high, denominator).filter(lambda q: q != 0)


points = rationals(-2, 2, 4)
slopes = nonzero(-2, 2, 4)

polynomials = st.lists(rationals(-2, 2), min_size=1, max_size=5).map(
    lambda c: sum((a * X**m for m, a in enumerate(c)), start=sp.S.Zero)
)
exponentials = nonzero(-1, 1).map(lambda b: sp.exp(b * X))
waves = st.builds(lambda f, b, c: f(b * X + c), st.sampled_from([sp.cos, sp.sin]), slopes, points)
gaussians = st.builds(
    lambda p, a, b: p * sp.exp(a * X**2 + b * X),
    polynomials,
    # E f^2 has to exist: the quadratic coefficient stays below 1/4
    rationals(-2, 2, 4).map(lambda q: q / 10),
    rationals(-1, 1),
)
errors = st.builds(lambda b, c: sp.erf(b * X + c), slopes, points)
ramps = st.builds(lambda s, t, p: formulas.leaky_relu(X - t, s) ** p, rationals(-1, 1), points, st.integers(1, 3))
steps = st.builds(lambda t: sp.sign(X - t), points)
kinks = st.builds(lambda p: sp.Abs(p), polynomials.filter(lambda p: sp.degree(p, X) in (1, 2)))
clips = st.builds(lambda a, w: formulas.clip(X, a, a + w), points, rationals(Fraction(1, 4), 3, 4))
gelus = slopes.map(lambda b: formulas.gelu(b * X))
tails = st.builds(lambda a, b: formulas.elu(X, a) * sp.exp(b * X), slopes, rationals(-1, Fraction(1, 2)))

powers = st.builds(
    lambda f, q: f(X) ** abs(q) if f is formulas.relu else f(X) ** q,
    st.sampled_from([sp.Abs, formulas.relu, lambda x: sp.Max(x, -2 * x)]),
    # E f^2 has to exist: the exponent stays above -1/2
    rationals(Fraction(-2, 5), 3, 5).filter(lambda q: not q.is_Integer),
)

saturating = st.builds(
    lambda f, b, c: f(b * X + c),
    st.sampled_from(
        [sp.tanh, sp.atan, formulas.sigmoid, formulas.softsign, formulas.softplus, formulas.silu, formulas.mish]
    ),
    slopes,
    points,
)

smooth = st.one_of(polynomials, exponentials, waves, gaussians, errors, gelus)
piecewise = st.one_of(ramps, steps, kinks, clips)
members = st.one_of(smooth, piecewise, tails, powers)
everything = st.one_of(members, saturating)
