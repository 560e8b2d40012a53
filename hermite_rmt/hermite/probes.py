"""Probes: values of a callable between the nodes of quadrature, which show what the nodes have missed."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from hermite_rmt.core.contexts import local_context
from hermite_rmt.hermite.integrand import Integrand
from hermite_rmt.hermite.transform import log2_peak

SCALAR_PROBES = 2**14
ARRAY_PROBES = 2**17
_SPREAD = 2.0  # the probes are quantiles of N(0, 4): a gap between two has a probability below 2 / their number
END_SHARES = 2.0 ** -np.array([14, 28, 42])
"""Where f is looked at between the end of an interval and the first node: distances in half lengths."""
_SCALES = 46  # halvings of the distance to a given breakpoint
_ROUNDING = 1e-10  # relative to f around: closer values are taken as equal
_OFFSET = (math.sqrt(5) - 1) / 2  # no quantile that anybody would choose


class Probes:
    """f at quantiles of a wide Gaussian: 16384, or 131072 where f takes arrays; and close to given breakpoints.

    An interval on which f differs from a smooth function and which has a Gaussian probability above 1.3e-4 (1.6e-5)
    holds a probe, and so does one of any width at a breakpoint. `doubts` says how much f between the nodes of
    intervals may be off the interpolant through them.
    """

    def __init__(self, integrand: Integrand, order: int) -> None:
        self.order = order
        count = ARRAY_PROBES if integrand.takes_arrays else SCALAR_PROBES
        points = _SPREAD * ndtri((np.arange(count) + _OFFSET) / count)
        near = _OFFSET * 2.0 ** -np.arange(_SCALES)
        around = [float(point) + sign * near for point in integrand.breakpoints or () for sign in (-1, 1)]
        self.points = np.unique(np.concatenate([points, *around]))
        self.values = _values(integrand, self.points)
        self._gaps = gaps = np.gradient(self.points)
        # what a feature as wide as the gap can contribute for each unit of its height
        self._weights = gaps * _importance(self.points, order)

    @property
    def norm(self) -> float:
        """An estimate of sqrt(E f^2), infinite values left out."""
        known = np.isfinite(self.values)
        squares = self.values[known] ** 2 * np.exp(-(self.points[known] ** 2) / 2) * self._gaps[known]
        return math.sqrt(squares.sum() / math.sqrt(2 * math.pi))

    def doubts(
        self,
        left: np.ndarray,
        right: np.ndarray,
        rule: tuple[np.ndarray, np.ndarray],
        values: np.ndarray,
        end_values: np.ndarray,
    ) -> np.ndarray:
        """Return for each interval the largest weighted distance of f to the interpolant at probes and near the ends.

        Parameters
        ----------
        left, right : ends of the intervals
        rule : nodes and weights of Gauss-Legendre quadrature on [-1, 1]
        values : f at the nodes, array (intervals, nodes)
        end_values : f at `end_points`
        """
        close = _ROUNDING * np.abs(values).max(axis=1)
        half = (right - left)[:, None] / 2
        ends = np.concatenate([END_SHARES - 1, 1 - END_SHARES])
        # a jump beyond one of these points, and not beyond the one before, is at most this far from the end
        reach = np.tile(np.concatenate([[1 + rule[0][0]], END_SHARES[:-1]]), 2)
        cell = np.repeat(np.arange(len(left)), len(ends))
        predicted = _interpolated(rule, values, cell, np.tile(ends, len(left))).reshape(end_values.shape)
        importance = _importance(np.stack([left, right], axis=1), self.order).repeat(len(END_SHARES), axis=1)
        with np.errstate(all="ignore"):
            off = (np.abs(predicted - end_values) - close[:, None]) * half * reach * importance
        found = np.where(off > 0, off, 0.0).max(axis=1, initial=0.0)  # what is undefined the sums show
        start, stop = np.searchsorted(self.points, left), np.searchsorted(self.points, right)
        counts = stop - start
        cell = np.repeat(np.arange(len(left)), counts)
        probe = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(start, counts)
        width = (right - left)[cell]
        predicted = _interpolated(rule, values, cell, (2 * self.points[probe] - left[cell] - right[cell]) / width)
        with np.errstate(all="ignore"):
            off = (np.abs(predicted - self.values[probe]) - close[cell]) * self._weights[probe]
        # in an interval below the gap the nodes are closer by far
        np.maximum.at(found, cell, np.where((off > 0) & (width > self._gaps[probe]), off, 0.0))
        return np.asarray(found)


def end_points(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the points close to the ends of intervals at which `doubts` asks for f, array (intervals, 6)."""
    distances = (right - left)[:, None] / 2 * END_SHARES
    return np.concatenate([left[:, None] + distances, right[:, None] - distances], axis=1)


def _importance(points: np.ndarray, order: int) -> np.ndarray:
    """Return max_k |h_k(x)| exp(-x^2/2)."""
    return np.asarray(np.exp2(log2_peak(points, order) - points**2 / (2 * math.log(2))))


def _interpolated(
    rule: tuple[np.ndarray, np.ndarray], values: np.ndarray, cell: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Return the polynomials through `values`, one row an interval, at t in [-1, 1] of the intervals `cell`.

    By the barycentric formula, whose weights for Legendre nodes are (-1)^j sqrt((1 - x_j^2) w_j) (Wang, Huybrechs
    and Vandewalle, Math. Comp. 83 (2014)).
    """
    nodes, weights = rule
    barycentric = np.sqrt((1 - nodes**2) * weights) * (-1.0) ** np.arange(len(nodes))
    with np.errstate(all="ignore"):
        shares = barycentric / (t[:, None] - nodes)
        return np.asarray((shares * values[cell]).sum(axis=1) / shares.sum(axis=1))


def _values(integrand: Integrand, points: np.ndarray) -> np.ndarray:
    try:
        return integrand.double(points)
    except ValueError:
        if not integrand.speaks_multiprecision:
            raise
    context = local_context(64)  # a function of mpf alone
    function = integrand.multiprecision(64)
    return np.array([float(function(context.mpf(point)).real) for point in points.tolist()])
