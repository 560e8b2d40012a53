"""Bounds of the spectrum of attention's Gram matrix."""

from __future__ import annotations

import numpy as np

from hermite_rmt.solvers.attention_start import FloatArray


def largest_eigenvalue(c: FloatArray, a: FloatArray, eta: FloatArray, kappa: FloatArray) -> FloatArray:
    """Return an upper bound of the limiting spectrum of A^T A/n, |X|^2/n times |K|^2, norm by norm.

    Parameters
    ----------
    c, a, eta, kappa : p/n, |a_1|, nu - a_1^2 and |kappa|, numbers or arrays

    >>> float(largest_eigenvalue(1.0, 0.0, 1.0, 0.0))
    16.0
    """
    end = (1 + c**-0.5) ** 2
    return c * end * (a * end + kappa + 2 * np.sqrt(eta / c)) ** 2
