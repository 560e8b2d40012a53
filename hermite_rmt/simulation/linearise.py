"""The attention kernel as noise kernel plus low rank, and as linear part plus nonlinear part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from hermite_rmt.simulation.checks import Array, finite_number, real_array
from hermite_rmt.simulation.kernel import Entrywise, attention_kernel


@dataclass(frozen=True, eq=False, repr=False)
class Linearisation:
    """An attention kernel K of tokens X = mu y^T + Z and what it is close to.

    Attributes
    ----------
    kernel : (n, n) K = f(X^T (I + w_K w_Q^T) X / sqrt p) / sqrt p, its diagonal replaced by a constant d
    noise_kernel : (n, n) K_N = f(Z^T Z / sqrt p) / sqrt p, with the same diagonal
    left, right : (n, r) factors of the informative low-rank part; r = 2 for the signal, one more for the weights
    linear_part : (n, n) a_1 X^T (I + w_K w_Q^T) X / p
    """

    kernel: Array
    noise_kernel: Array
    left: Array
    right: Array
    linear_part: Array

    def __repr__(self) -> str:
        return f"<Linearisation of a {len(self.kernel)} x {len(self.kernel)} kernel, low rank {self.left.shape[1]}>"

    @property
    def low_rank(self) -> Array:
        """The informative part left right^T, of shape (n, n)."""
        return np.asarray(self.left @ self.right.T)

    @property
    def remainder(self) -> Array:
        """K - (K_N + low rank): small in operator norm, as n and p grow."""
        return self.kernel - self.noise_kernel - self.low_rank

    @property
    def nonlinear_part(self) -> Array:
        """K - linear part: close to kappa I + sigma W, up to the rank-two term of a_2."""
        return self.kernel - self.linear_part

    def remainder_norm(self) -> float:
        """Return the operator norm of the remainder."""
        return operator_norm(self.remainder)


def linearise(
    X: Any,
    f: Entrywise,
    a1: float | None = None,
    *,
    mu: Any = None,
    y: Any = None,
    w_K: Any = None,
    w_Q: Any = None,
    diagonal: float = 0.0,
) -> Linearisation:
    r"""Split the attention kernel of the tokens X = mu y^T + Z.

    In operator norm, as n and p grow in proportion,

        K = K_N + (a_1/p) [ |mu|^2 y y^T + y (Z^T mu)^T + (Z^T mu) y^T + (X^T w_K)(X^T w_Q)^T ] + o(1)
        K = a_1 X^T (I + w_K w_Q^T) X / p + (d - a_1) I + sigma W + o(1),   sigma^2 = (nu - a_1^2)/c

    (Liao, Liu, Hou, Zou, Ling, arXiv 2506.18656; Cheng and Singer 2013; Fan and Montanari 2019), the second up to the
    rank-two term of a_2. The remainder of the first falls like n^{-1/2} for Lipschitz f, up to logarithms, and like
    n^{-1/4} for f with jumps.

    Parameters
    ----------
    X : (p, n) tokens
    f : entrywise nonlinearity of arrays, centred
    a1 : E[xi f(xi)], xi ~ N(0, 1); None asks f itself for `f.coefficient(1)` (a `hermite_rmt.Nonlinearity`)
    mu, y : (p,) signal and (n,) labels, both or neither (no signal)
    w_K, w_Q : (p,) key and query directions, both or neither (identity weights)
    diagonal : the constant d

    Raises
    ------
    ValueError, TypeError
        If X is not a matrix of finite reals, a vector has another shape, or only one of a pair is given.

    >>> X = np.random.default_rng(0).standard_normal((40, 60))
    >>> linearise(X, np.tanh, 0.6057, w_K=np.ones(40) / 7, w_Q=np.ones(40) / 7).left.shape
    (60, 1)
    """
    if np.ndim(X) != 2:
        raise ValueError(f"X: got an array of dimension {np.ndim(X)}; allowed: a p x n matrix")
    p, n = np.shape(X)
    X = real_array(X, (p, n), "X")
    if a1 is None:
        if not hasattr(f, "coefficient"):
            raise ValueError(
                "a1: got None beside a function that has no coefficients; allowed: the number E[xi f(xi)]"
            )
        a1 = float(f.coefficient(1))
    a1, diagonal = finite_number(a1, "a1"), finite_number(diagonal, "diagonal")
    signal = _pair(mu, y, ("mu", p), ("y", n))
    weights = _pair(w_K, w_Q, ("w_K", p), ("w_Q", p))

    Z = X
    left: list[Array] = []
    right: list[Array] = []
    if signal is not None:
        mu, y = signal
        Z = X - np.outer(mu, y)
        projection = Z.T @ mu
        left += [y, projection]
        right += [float(mu @ mu) * y + projection, y]
    if weights is not None:
        left.append(X.T @ weights[0])
        right.append(X.T @ weights[1])
    zero = np.zeros(p)
    linear_part = X.T @ X
    if weights is not None:
        linear_part += np.outer(left[-1], right[-1])
    keys, queries = weights or (zero, zero)
    return Linearisation(
        kernel=attention_kernel(X, f, keys, queries, diagonal),
        noise_kernel=attention_kernel(Z, f, zero, zero, diagonal),
        left=np.array(left).reshape(len(left), n).T,
        right=np.array(right).reshape(len(right), n).T * (a1 / p),
        linear_part=linear_part * (a1 / p),
    )


def operator_norm(matrix: Array) -> float:
    """Return the largest singular value, by Lanczos steps from a fixed start."""
    if min(matrix.shape) <= 2 or not matrix.any():
        return float(np.linalg.norm(matrix, 2)) if matrix.size else math.nan
    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    return float(svds(matrix, k=1, v0=start, return_singular_vectors=False)[0])


def _pair(first: Any, second: Any, *names: tuple[str, int]) -> tuple[Array, Array] | None:
    (one, size), (other, other_size) = names
    if first is None and second is None:
        return None
    if first is None or second is None:
        given, missing = (other, one) if first is None else (one, other)
        raise ValueError(f"{missing}: got None beside {given}; allowed: {one} and {other} together, or neither")
    return real_array(first, (size,), one), real_array(second, (other_size,), other)
