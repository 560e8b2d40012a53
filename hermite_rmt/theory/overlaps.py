"""The Gram matrix of the signal and the weights, all that Theorem 1 sees of them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hermite_rmt.core.derived import combine
from hermite_rmt.core.numbers import RationalReal, Real
from hermite_rmt.core.parameter import Parameter, broadcast_shape

# Relative size of a negative eigenvalue that rounding of double entries can make (design: numbers at the door)
FLOAT_TOLERANCE = 1e-12


class Overlaps:
    """Scalar products of the signal mu and the weight vectors w_K and w_Q.

    The limit of the model depends on the three vectors of R^p through these six numbers alone (Theorem 1 of Liao,
    Liu, Hou, Zou, Ling, arXiv 2506.18656). Each takes a number or an array; arrays broadcast together.

    Parameters
    ----------
    mu_mu, K_K, Q_Q : |mu|^2, |w_K|^2, |w_Q|^2, at least 0
    mu_K, mu_Q, K_Q : mu.w_K, mu.w_Q, w_K.w_Q

    Raises
    ------
    ValueError
        If the Gram matrix is not positive semidefinite (exactly for exact entries; for doubles an eigenvalue down
        to -1e-12 of the largest is rounding).

    >>> Overlaps(mu_mu=1, mu_K="1/2", K_K=1)
    Overlaps(mu_mu=1, mu_K='1/2', mu_Q=0, K_K=1, Q_Q=0, K_Q=0)
    """

    NAMES = ("mu_mu", "mu_K", "mu_Q", "K_K", "Q_Q", "K_Q")

    def __init__(
        self, mu_mu: Any = 0, mu_K: Any = 0, mu_Q: Any = 0, K_K: Any = 0, Q_Q: Any = 0, K_Q: Any = 0
    ) -> None:
        values = (mu_mu, mu_K, mu_Q, K_K, Q_Q, K_Q)
        self.parameters = {name: Parameter(value, name) for name, value in zip(self.NAMES, values, strict=True)}
        self.shape = broadcast_shape(self.parameters.values())
        for name in ("mu_mu", "K_K", "Q_Q"):
            parameter = self.parameters[name]
            parameter.require(parameter.floats >= 0, "at least 0, a squared norm")
        _require_positive_semidefinite(self.parameters, self.shape)

    @classmethod
    def from_vectors(cls, mu: Sequence[Any], w_K: Sequence[Any], w_Q: Sequence[Any]) -> Overlaps:
        """Return the overlaps of three vectors of one length p, computed exactly from their entries.

        >>> Overlaps.from_vectors([1, 0], ["1/2", 1], [0, 1]).parameters["K_K"].reals[()]
        RationalReal(5/4)
        """
        vectors = {name: _read_vector(v, name) for name, v in (("mu", mu), ("w_K", w_K), ("w_Q", w_Q))}
        lengths = {name: len(vector) for name, vector in vectors.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"mu, w_K, w_Q: got lengths {lengths}; allowed: three vectors of one length p")
        m, k, q = vectors.values()
        return cls(*(_dot(a, b) for a, b in ((m, m), (m, k), (m, q), (k, k), (q, q), (k, q))))

    @classmethod
    def aligned(cls, mu_mu: Any, strength: Any = 1) -> Overlaps:
        """Return the overlaps of w_K = w_Q = strength * mu (a negative strength anti-aligns both).

        >>> Overlaps.aligned("3/2", strength=2)
        Overlaps(mu_mu='3/2', mu_K=3, mu_Q=3, K_K=6, Q_Q=6, K_Q=6)
        """
        norm, factor = Parameter(mu_mu, "mu_mu").reals, Parameter(strength, "strength").reals
        once = np.frompyfunc(lambda r, s: combine(operator.mul, r, s, text="mu_mu*strength"), 2, 1)(norm, factor)
        twice = np.frompyfunc(lambda r, s: combine(operator.mul, r, s, text="mu_mu*strength^2"), 2, 1)(once, factor)
        return cls(mu_mu=norm, mu_K=once, mu_Q=once, K_K=twice, Q_Q=twice, K_Q=twice)

    def floats(self) -> tuple[float, ...]:
        """Return the six overlaps as floats, in the order of `NAMES`; only for one point.

        Raises
        ------
        ValueError
            If the overlaps hold arrays.
        """
        if self.shape:
            raise ValueError(f"overlaps: got arrays of shape {self.shape}; allowed: one number for each overlap")
        return tuple(float(parameter.floats) for parameter in self)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Overlaps) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return tuple((p.shape, tuple(getattr(real, "text", str(real)) for real in p.reals.flat)) for p in self)

    def __repr__(self) -> str:
        return f"Overlaps({', '.join(f'{name}={p!r}' for name, p in self.parameters.items())})"

    def _repr_latex_(self) -> str:
        entries = [_shown(self.parameters[name]) for name in self.NAMES]
        mm, mk, mq, kk, qq, kq = entries
        rows = rf"{mm} & {mk} & {mq} \\ {mk} & {kk} & {kq} \\ {mq} & {kq} & {qq}"
        return rf"$$\operatorname{{Gram}}(\mu, w_K, w_Q) = \begin{{pmatrix}} {rows} \end{{pmatrix}}$$"


def _shown(parameter: Parameter) -> str:
    if parameter.shape:
        return f"array of shape {parameter.shape}"
    real: Any = parameter.reals[()]
    return repr(float(real)) if parameter.binary else str(real.text)


def _read_vector(vector: Any, name: str) -> list[Real]:
    parameter = Parameter(vector, name)
    if len(parameter.shape) != 1:
        raise ValueError(f"{name}: got an array of shape {parameter.shape}; allowed: a vector of length p")
    return list(parameter.reals)


def _dot(left: list[Real], right: list[Real]) -> Real:
    if all(entry.rational is not None for entry in (*left, *right)):
        return RationalReal(sum((a.rational * b.rational for a, b in zip(left, right, strict=True)), Fraction(0)))  # type: ignore[operator]
    count = len(left)
    return combine(
        lambda *entries: sum(entries[i] * entries[count + i] for i in range(count)), *left, *right, text="dot"
    )


def _require_positive_semidefinite(parameters: dict[str, Parameter], shape: tuple[int, ...]) -> None:
    tolerant = any(parameter.binary for parameter in parameters.values())
    mm, mk, mq, kk, qq, kq = (np.broadcast_to(parameter.floats, shape) for parameter in parameters.values())
    gram = np.stack([np.stack(row, axis=-1) for row in ((mm, mk, mq), (mk, kk, kq), (mq, kq, qq))], axis=-2)
    eigenvalues = np.linalg.eigvalsh(gram)
    relative = eigenvalues[..., 0] / np.maximum(eigenvalues[..., -1], np.finfo(float).tiny)
    refused = np.asarray(relative < -FLOAT_TOLERANCE)
    if not tolerant and not refused.any():
        # doubles cannot tell a singular Gram matrix from an indefinite one: exact entries are decided exactly
        for index in np.argwhere(np.abs(relative) <= FLOAT_TOLERANCE):
            point = tuple(index)
            refused[point] = _has_negative_minor(
                [np.broadcast_to(p.reals, shape)[point] for p in parameters.values()]
            )
    if refused.any():
        smallest = float(eigenvalues[tuple(np.argwhere(refused)[0])][0])
        values = ", ".join(f"{name} = {p.shown(refused)}" for name, p in parameters.items())
        raise ValueError(
            f"overlaps: got {values}, a Gram matrix with smallest eigenvalue {smallest:.6g}; "
            "allowed: scalar products of three real vectors, a positive semidefinite Gram matrix"
        )


def _has_negative_minor(entries: list[Real]) -> bool:
    mm, mk, mq, kk, qq, kq = entries
    minors = [
        combine(lambda a, b, d: a * d - b * b, mm, mk, kk, text="minor"),
        combine(lambda a, b, d: a * d - b * b, mm, mq, qq, text="minor"),
        combine(lambda a, b, d: a * d - b * b, kk, kq, qq, text="minor"),
        combine(
            lambda a, b, c, d, e, f: a * (d * e - f * f) - b * (b * e - f * c) + c * (b * f - d * c),
            *(mm, mk, mq, kk, qq, kq),
            text="determinant",
        ),
    ]
    return any(minor.mpf(53) < 0 for minor in minors)


def read_overlaps(overlaps: Any) -> Overlaps:
    """Return `overlaps`, or no signal and no weights for None; anything else is a TypeError."""
    if overlaps is None:
        return Overlaps()
    if not isinstance(overlaps, Overlaps):
        raise TypeError(f"overlaps: got {overlaps!r}; allowed: hermite_rmt.Overlaps or None")
    return overlaps


def read_norm(mu_mu: Any) -> Parameter:
    """Return |mu|^2 as a parameter, or raise a ValueError if it is negative."""
    parameter = Parameter(mu_mu, "mu_mu")
    parameter.require(parameter.floats >= 0, "at least 0, a squared norm")
    return parameter


__all__ = ["Overlaps", "read_norm", "read_overlaps"]
