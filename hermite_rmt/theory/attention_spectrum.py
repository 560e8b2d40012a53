"""The limiting spectra of attention: of the Gram matrix A^T A/n and of the kernel K."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from hermite_rmt.core.contexts import bits, local_context
from hermite_rmt.core.derived import exact_expression
from hermite_rmt.core.known_complex import KnownComplex
from hermite_rmt.core.numbers import KnownDigits, Real, read_digits, read_real
from hermite_rmt.core.parameter import Parameter
from hermite_rmt.core.solution import Solution, SolveError
from hermite_rmt.equivalents.ensembles import GOE, Gaussian, dimensions
from hermite_rmt.equivalents.errors import clip
from hermite_rmt.solvers.attention_complex import solve_complex, spectral_density
from hermite_rmt.solvers.attention_complex_digits import solve_complex_point
from hermite_rmt.solvers.attention_edges import spectral_edges
from hermite_rmt.theory.engine.values import Number, read_number
from hermite_rmt.theory.equivalent import DeterministicEquivalent, deterministic_equivalent
from hermite_rmt.theory.kernel_edges import kernel_edges
from hermite_rmt.theory.overlaps import Overlaps

if TYPE_CHECKING:
    from hermite_rmt.theory.attention import Attention

DOUBLE_DIGITS = 17
_LAW = ("c", "a1", "nu", "eta", "kappa")
_SMALLEST = 1e-150
_SIGN_BITS = 2000
_ROUNDING = 1e-9
_NEAR = 1e-2
_MORE_DIGITS = 60  # of the edge of K nearest to 0, along which edges of A^T A/n are followed
_SYMBOLS = sympy.symbols("a1 kappa eta c")


@cache
def matrices() -> dict[str, DeterministicEquivalent]:
    """Return the engine's equivalents of the Gram matrix A^T A/n and of the linearised kernel K, without signal."""
    n, p = dimensions("n p")
    a1, kappa, eta, c = _SYMBOLS
    Z = Gaussian("Z", p, n)
    K = a1 * Z.T * Z / p + kappa * sympy.Identity(n) + sympy.sqrt(eta / c) * GOE("W", n)
    expressions = {"gram": K.T * Z.T * Z * K / n, "kernel": K}
    return {name: deterministic_equivalent(matrix, ratios={p: c * n}) for name, matrix in expressions.items()}


class AttentionSpectrum:
    """The limiting eigenvalues of A^T A/n and of K for one model at one aspect ratio.

    Signal and weights have finite rank: they move single eigenvalues, not these laws.

    Parameters
    ----------
    model : `Attention` with scalar parameters
    c : p/n, a positive number

    Raises
    ------
    ValueError
        If `c` or a parameter is an array, or c is not positive.

    >>> from hermite_rmt import Attention
    >>> spectrum = AttentionSpectrum(Attention(a1="0.6", nu="0.5"), c="0.5")
    >>> spectrum.atom(), spectrum.edges(digits=12)
    (0.5, (mpf('0.0146302130246'), mpf('25.9131343890')))
    """

    def __init__(self, model: Attention, c: Any) -> None:
        parameters = {"c": Parameter(c, "c").require_positive(), **model.parameters(), **model.derived()}
        for name, parameter in parameters.items():
            if parameter.shape:
                raise ValueError(f"{name}: got an array of shape {parameter.shape}; allowed: one number")
        self._model, self._parameters = model, parameters
        self._reals = {name: parameter.reals.item() for name, parameter in parameters.items()}

    def __repr__(self) -> str:
        return f"{self._model!r}.spectrum({self._parameters['c']!r})"

    def stieltjes(self, z: Any, digits: int | None = None) -> Any:
        """Return the Stieltjes transform lim tr (A^T A/n - z)^-1/n: the trace at complex gamma = -z.

        Parameters
        ----------
        z : real or complex, scalar or array, not 0; a real z in the spectrum means the limit from above
        digits : None for complex doubles, else an mpc that prints that many right digits of either part

        Raises
        ------
        ValueError
            If z is 0 or no number.
        SolveError
            If z is at an edge of the spectrum, or too close to one for doubles.

        >>> from hermite_rmt import Attention
        >>> spectrum = AttentionSpectrum(Attention(a1="0.6", nu="0.5"), c="0.5")
        >>> print(f"{spectrum.stieltjes(1 + 1j):.8f}")
        -0.35382629+0.49467827j
        >>> print(spectrum.stieltjes("-1", digits=20).real)
        0.81233938483370512197
        """
        return self._transform("trace", z, digits)

    def quadratic_form(self, z: Any, digits: int | None = None) -> Any:
        """Return lim y^T (A^T A/n - z)^-1 y/n, signal and weights included: q at complex gamma = -z.

        It has a pole at each outlier along the labels. Arguments and errors as for `stieltjes`.
        """
        return self._transform("quadratic_form", z, digits)

    def _transform(self, name: str, z: Any, digits: int | None) -> Any:
        count = read_digits(digits)
        array = isinstance(z, (list, tuple)) or np.ndim(z) > 0
        entries = np.asarray(z, dtype=object)
        numbers = [read_number(entry, "z") for entry in entries.ravel()]
        if any(number.text == "0" for number in numbers):
            raise ValueError("z: got 0; allowed: numbers that are not 0")
        if count is None:
            points = np.array([complex(number) for number in numbers])
            values = self._on_doubles(points)[name]
            outside = (points.imag == 0) & self._outside(points.real, values.imag, values)
            values = np.where(outside, values.real, values)
            return values.reshape(entries.shape) if array else complex(values[0])
        results = np.empty(len(numbers), dtype=object)
        results[:] = [self._at(number, name, count) for number in numbers]
        return results.reshape(entries.shape) if array else results[0]

    def _on_doubles(self, z: np.ndarray) -> Solution:
        c, a1, nu, eta, kappa, *overlaps = self._doubles(z.size, *_LAW, *Overlaps.NAMES)
        return solve_complex(c, -z, a1, nu, eta, kappa, np.stack(overlaps, axis=-1)).require_success()

    def _doubles(self, size: int, *names: str) -> list[np.ndarray]:
        """Return parameters as arrays of doubles; what they cannot hold is refused."""
        for name in ("c", "nu"):
            value = float(self._parameters[name].floats)
            self._parameters[name].require(
                np.asarray(_SMALLEST <= value <= 1 / _SMALLEST),
                "1e-150 to 1e150 in doubles; ask for digits=",
            )
        return [np.full(size, float(self._parameters[name].floats)) for name in names]

    def _at(self, z: Number, name: str, digits: int) -> Any:
        imag = read_real(0, "z") if z.imag is None else z.imag
        below = bool(imag.mpf(_SIGN_BITS) < 0)
        above = z.conjugate() if below else z
        found = solve_complex_point(self._reals, (above.real, above.imag or imag), digits)
        if not found.outcome.success:
            why = "; ".join((found.outcome.value, *found.notes))
            raise SolveError(f"z: got {clip(z.text, 60)}: {why}", found)
        value = found[name]
        known = KnownComplex.of_parts(*(KnownDigits.of(part, digits) for part in (value.real, value.imag)))
        return known.conjugate() if below else known

    def density(self, x: Any, digits: int | None = None) -> Any:
        """Return the density of the eigenvalues of A^T A/n at x > 0, without its atom.

        In doubles nan at most at an edge; with `digits` mpf, and `SolveError` there.
        """
        points = Parameter(x, "x").require_positive()
        count = read_digits(digits)
        if count is not None:
            found = np.empty(points.shape, dtype=object)
            for index, point in np.ndenumerate(points.reals):
                m = self._at(Number(point), "trace", count + 2)
                found[index] = KnownDigits.of(m.imag / local_context(bits(count) + 20).pi, count)
            return found if points.shape else found[()]
        arrays = self._doubles(points.floats.size, *_LAW)
        x = points.floats.ravel()
        values = np.asarray(spectral_density(x, *arrays))
        values = np.where(self._outside(x, values, 1 / x), 0.0, values).reshape(points.shape)
        return values if points.shape else float(values)

    def _outside(self, x: np.ndarray, part: np.ndarray, size: np.ndarray) -> Any:
        """Whether real x are off the spectrum: an imaginary part small against `size` is a rounding error there.

        No point is said to be where its part is not small, or the edges are not found.
        """
        small = np.abs(part) < _ROUNDING * np.abs(size)
        if not small.any():
            return small
        try:
            edges = self._double_edges
        except ArithmeticError:
            return np.zeros_like(small)
        within = np.searchsorted(edges, x) + len(edges)  # odd between the two edges of a bulk
        return small & ((x < 0) | (within % 2 == 0)) & ~np.isin(x, edges)

    @cached_property
    def _double_edges(self) -> tuple[float, ...]:
        return self.edges()

    def kernel_density(self, x: Any) -> Any:
        """Return the density of the eigenvalues of K at real x (Cheng, Singer 2013), without an atom.

        Where f is linear and c < 1, K has an atom of mass 1 - c at kappa = diagonal + skip - a_1.

        Notes
        -----
        K is kappa + a_1 G + sigma W with G Marchenko-Pastur and W a free semicircle, so its transform
        h(z) = int 1/(z - x) satisfies z = 1/h + kappa + sigma^2 h + a_1/(1 - a_1 h/c), a cubic in 1/h. For real z it
        has a real root beyond the pole, and the others are a complex pair exactly inside the spectrum: h is one of
        them.
        """
        points = Parameter(x, "x")
        c, a1, _, eta, kappa = (float(entry[0]) for entry in self._doubles(1, *_LAW))
        slope, variance, shifted = a1 / c, eta / c, points.floats.ravel() - kappa
        companion = np.zeros((shifted.size, 3, 3))
        companion[:, 1, 0] = companion[:, 2, 1] = 1.0
        companion[:, 0, 2] = slope * variance
        companion[:, 1, 2] = -(variance + shifted * slope)
        companion[:, 2, 2] = shifted + slope - a1
        roots = np.linalg.eigvals(companion).astype(complex)
        pair = np.take_along_axis(roots, np.abs(roots.imag).argmax(axis=1)[:, None], axis=1)[:, 0]
        inside = pair.imag != 0
        values = np.where(inside, np.abs((1 / np.where(inside, pair, 1.0)).imag) / np.pi, 0.0)
        return values.reshape(points.shape) if points.shape else float(values[0])

    def edges(self, digits: int | None = None) -> tuple[Any, ...]:
        """Return the positive edges of the spectrum of A^T A/n, increasing; an odd number: it starts at 0.

        That is so for c = 1, and for c > 1 where 0 is in the spectrum of K (`kernel_edges` decides).

        Raises
        ------
        ArithmeticError
            If the lower edge is too small to be found, or it cannot be told whether there is one.
        """
        count = read_digits(digits)
        found = spectral_edges(self._reals, count or DOUBLE_DIGITS, self._nearest_level(count or DOUBLE_DIGITS))
        return found if count else tuple(float(edge) for edge in found)

    def _nearest_level(self, digits: int) -> Real | None:
        """Return the edge of K nearest to 0 for c > 1, 0 where 0 is in the spectrum of K."""
        if self._reals["c"].mpf(_SIGN_BITS) <= 1:
            return None
        levels = kernel_edges(self._reals, DOUBLE_DIGITS)
        if 0 in levels or sum(level < 0 for level in levels) % 2:
            return read_real(0, "edge")
        if min(map(abs, levels)) < _NEAR * max(map(abs, levels)):
            levels = kernel_edges(self._reals, 2 * digits + _MORE_DIGITS)
        return read_real(min(levels, key=abs), "edge")

    def kernel_edges(self, digits: int | None = None) -> tuple[Any, ...]:
        """Return the edges of the spectrum of K, increasing: two, or four where a gap divides it.

        Exact decisions at rational parameters (`kernel_edges`): edges about to merge keep their digits, and at a
        double root, where a gap has just closed, there is no edge.

        Raises
        ------
        ArithmeticError
            If a parameter is given by a procedure, and whether two edges merge, or whether one is 0, cannot be told.

        >>> from hermite_rmt import Attention
        >>> AttentionSpectrum(Attention(a1=1, nu=2), c=4).kernel_edges(digits=20)
        (mpf('-1.3105173185561841631'), mpf('1.5605173185561841631'))
        """
        count = read_digits(digits)
        found = kernel_edges(self._reals, count or DOUBLE_DIGITS)
        return found if count else tuple(float(edge) for edge in found)

    def atom(self) -> float:
        """Return the mass of A^T A/n at 0: max(0, 1 - c), the rank of X.

        K itself is singular only where f is linear and -kappa/a_1 = 0 is at the Marchenko-Pastur atom: then the atom
        is the same.
        """
        return max(0.0, 1.0 - float(self._parameters["c"].floats))

    def moments(self, count: int, of: str = "gram") -> list[Any]:
        """Return lim tr M^k/n for k = 0, ..., count, exact: M = A^T A/n for "gram", K for "kernel".

        Raises
        ------
        ValueError
            If a parameter is not a rational number, or `of` is neither.

        >>> from hermite_rmt import Attention
        >>> AttentionSpectrum(Attention(a1="3/5", nu="1/2"), c=2).moments(2)
        [1, 17/25, 5617/2500]
        """
        if of not in ("gram", "kernel"):
            raise ValueError(f"of: got {of!r}; allowed: 'gram' or 'kernel'")
        values = {symbol: self._exact(str(symbol)) for symbol in _SYMBOLS}
        return matrices()[of].moments(count, values)

    def _exact(self, name: str) -> sympy.Expr:
        try:
            return exact_expression(self._reals[name])
        except ValueError as reason:
            raise ValueError(f"moments: {name}: {reason}") from None
