"""Points of attention for the solver tests: the reference values, and random points of the whole parameter box."""

import json
from fractions import Fraction
from importlib import resources

import numpy as np

from hermite_rmt.core.numbers import read_real
from hermite_rmt.solvers.attention_grid import solve_grid

OVERLAPS = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")
SHORT = ("mm", "mk", "mq", "kk", "qq", "kq")


def reference_rows():
    """Rows of theory_values.json."""
    return json.loads((resources.files("hermite_rmt") / "reference" / "theory_values.json").read_text())


def exact(c, gamma, a1, nu, diagonal=0, overlaps=(0,) * 6):
    """Parameters of `solve_point` and `certify_point` from exact numbers (text, int, Fraction)."""
    c, gamma, a1, nu, diagonal = (Fraction(x) for x in (c, gamma, a1, nu, diagonal))
    values = {"c": c, "gamma": gamma, "a1": a1, "eta": nu - a1**2, "kappa": diagonal - a1}
    values |= dict(zip(OVERLAPS, map(Fraction, overlaps), strict=True))
    return {name: read_real(value, name) for name, value in values.items()}


def exact_row(row):
    """Parameters of one reference row."""
    overlaps = [row["overlaps"][name] for name in SHORT]
    return exact(row["c"], row["gamma"], row["a1"], row["nu"], row["diagonal"], overlaps)


def doubles(points):
    """Arguments of `solve_grid` for a list of exact parameters: everything rounded once, nu to what belongs to it."""
    column = {name: np.array([float(point[name]) for point in points]) for name in points[0]}
    nu = column["a1"] ** 2 + column["eta"]
    gram = np.stack([column[name] for name in OVERLAPS], axis=-1)
    return column["c"], column["gamma"], column["a1"], nu, column["eta"], column["kappa"], gram


def exact_point(arguments, index):
    """Parameters of `solve_point` at one point of the arguments of `solve_grid`: the doubles, exactly."""
    c, gamma, a1, _, eta, kappa, gram = arguments
    values = {"c": c, "gamma": gamma, "a1": a1, "eta": eta, "kappa": kappa}
    values |= dict(zip(OVERLAPS, gram.T, strict=True))
    return {name: read_real(float(value[index]), name) for name, value in values.items()}


def gram(vectors):
    """The six overlaps of vectors (N, 3, dimension) in the order mu, w_K, w_Q."""
    matrix = vectors @ vectors.swapaxes(-1, -2)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2), (1, 2))
    return np.stack([matrix[..., i, j] for i, j in pairs], axis=-1)


def random_vectors(rng, size):
    """Vectors of norm up to 10."""
    vectors = rng.normal(size=(size, 3, 3))
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / norms * rng.uniform(0, 10, (size, 3, 1))


def box(rng, size):
    """Random points of the box: c, gamma, nu over their decades, a_1^2/nu and the diagonal uniform."""
    c, gamma, nu = (10 ** rng.uniform(*exponents, size) for exponents in ((-3, 3), (-12, 6), (-6, 6)))
    a1 = np.sqrt(nu * rng.uniform(0, 1, size)) * rng.choice([-1, 1], size)
    eta, kappa = nu - a1 * a1, rng.uniform(-2, 2, size) - a1
    return c, gamma, a1, a1 * a1 + eta, eta, kappa, gram(random_vectors(rng, size))


def edges(rng, size):
    """Random points on the edges of the box and close to them.

    c = 1, c close to 1, c = 1/4 (where 1 is an edge of the bulk), extreme c and gamma; a_1 = 0, f linear, nearly
    either; diagonal 0, +-2, a_1 (kappa = 0), 2 a_1; no signal, aligned, opposite and missing weights, tiny signals.
    """

    def one_of(*options):
        return np.choose(rng.integers(0, len(options), size), [np.broadcast_to(option, size) for option in options])

    def decades(low, high):
        return 10 ** rng.uniform(low, high, size)

    c = one_of(1.0, 1 + decades(-12, -1), 1 - decades(-12, -1), 1e-3, 1e3, decades(-3, 3), decades(-1, 1), 0.25)
    gamma = one_of(decades(-12, 6), decades(-12, -6), 1e-12, 1e6, decades(-2, 2))
    nu = one_of(1.0, decades(-6, 6), 1e-6, 1e6)
    small = decades(-16, -1)
    kind = rng.integers(0, 5, size)
    eta = np.choose(kind, [0 * nu, nu, nu * small, nu * rng.uniform(0, 1, size), nu * (1 - small)])
    share = np.choose(kind, [1 + 0 * small, 0 * small, 1 - small, 1 - eta / nu, small])
    a1 = np.sqrt(nu * share) * rng.choice([-1, 1], size)
    diagonal = one_of(0.0, 2.0, -2.0, rng.uniform(-2, 2, size), np.clip(a1, -2, 2), np.clip(2 * a1, -2, 2))
    vectors, kind = random_vectors(rng, size), rng.integers(0, 6, size)
    vectors[kind == 0, 0] = 0
    vectors[kind == 1, 1:] = vectors[kind == 1, :1]
    vectors[kind == 2, 1] = 0
    vectors[kind == 3, 0] *= 1e-6
    vectors[kind == 4, 2] = -vectors[kind == 4, 1]
    return c, gamma, a1, a1 * a1 + eta, eta, diagonal - a1, gram(vectors)


def solve_one(parameters):
    """`solve_grid` at one point of exact parameters."""
    return solve_grid(*doubles([parameters]))
