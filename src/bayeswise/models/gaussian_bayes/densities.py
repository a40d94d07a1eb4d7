"""Densities of rows under each class: Gaussian, or Student-t where parameters are integrated out.

    Gaussian     log p = -q / 2 - log sqrt(det(2 pi S))
    Student-t    log p = log Gamma((f + d)/2) / Gamma(f/2) - log sqrt(det(pi f S)) - (f + d)/2 log(1 + q / f)

with q = (x - mean)' S^-1 (x - mean). A missing cell is integrated out, which leaves the block of mean and S of the
cells that are there. With one S for all Gaussian classes q differs between them by a linear function of x; then
that is what is computed, so that posteriors stay exact however far out a row lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import over_ranges
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, log_gamma_ratio, standard_scores
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import NonFiniteError
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.models.gaussian_bayes.class_moments import Columns
from bayeswise.models.gaussian_bayes.covariance import CovarianceFactor

LOG_PI = float(np.log(np.pi))


@earlier_fields(freedom="df")
@dataclass(frozen=True)
class Densities:
    """p(row | state) for every state."""

    names: tuple[str, ...]
    centre: FloatArray  # (2, n_columns) high and low, near all classes
    mean: FloatArray  # (n_states, n_columns)
    mean_low: FloatArray  # (n_states, n_columns)
    spreads: tuple[CovarianceFactor, ...]  # (n_states,); one object for all states where it is shared
    df: FloatArray | None = None  # (n_states,) of Student-t; None for Gaussians
    frame: Columns | None = None  # where numbers leave the ordinary range: the units in which the rest is given
    _blocks: dict[tuple[int, ...], Densities] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n_columns(self) -> int:
        return len(self.names)

    @cached_property
    def is_linear(self) -> bool:
        """Whether differences between states are linear in the row."""
        return self.df is None and all(each is self.spreads[0] for each in self.spreads)

    # -- what rows are worth ----------------------------------------------------------------------------------
    def log_density(self, values: FloatArray) -> FloatArray:
        """(n_rows, n_states) log p(row | state)."""
        if self.is_linear or self.df is not None:
            return np.asarray(self.relative(values) + self.offset(values)[:, None])
        nowhere = self._over(values, Densities._relative, lambda block, part, found: _or(found, -np.inf))
        return np.asarray(nowhere + self.offset(values)[:, None])

    def log_evidence(
        self, values: FloatArray, log_prior: FloatArray, log_relative: FloatArray | None = None
    ) -> FloatArray:
        """(n_rows,) log sum_state p(state) p(row | state); minus infinity beyond the range of floats.

        `log_relative` is `relative(values) + log_prior` where that is known already.
        """
        with np.errstate(over="ignore"):
            if self.is_linear:
                known = self.relative(values) + log_prior if log_relative is None else log_relative
                return np.asarray(log_sum_exp(known) + self.offset(values))
            return log_sum_exp(self.log_density(values) + log_prior)

    def relative(self, values: FloatArray) -> FloatArray:
        """(n_rows, n_states) log p(row | state) up to a number for each row, the same for all states: `offset`."""
        return self._over(values, Densities._relative, Densities._far_out)

    def offset(self, values: FloatArray) -> FloatArray:
        """(n_rows,) what `relative` leaves out."""
        if not self.is_linear and self.frame is None:
            return np.zeros(len(values))
        return self._over(values, Densities._offset, lambda block, part, found: _or(found, -np.inf))[:, 0]

    def squared_distances(self, values: FloatArray) -> FloatArray:
        """(n_rows, n_states) squared Mahalanobis distance to each mean, over the cells that are there."""
        return self._over(values, Densities._squares, lambda block, part, found: _or(found, np.inf))

    def _over(self, values: FloatArray, answer: _Answer, far: _Calibrating) -> FloatArray:
        """All rows as if they were complete and ordinary; then again, by pattern, those that turn out not to be."""
        out = answer(self, values)
        if np.isfinite(out).all():
            return out
        lost = np.flatnonzero(~np.isfinite(out).all(axis=1))
        for rows, part, block in self._by_pattern(values, lost):
            found = answer(block, part)
            beyond = np.flatnonzero(~np.isfinite(found).all(axis=1))
            if len(beyond):
                block._refuse_infinite(part, rows, beyond)
                found[beyond] = far(block, part[beyond], found[beyond])
            out[rows] = found
        return out

    def sample(self, states: IntArray, generator: np.random.Generator) -> FloatArray:
        """(n_rows, n_columns) one row for each of the given states."""
        draws = generator.standard_normal((len(states), self.n_columns))
        if self.df is not None:
            df = self.df[states]
            draws *= np.sqrt(df / generator.chisquare(df))[:, None]
        own, rows = self.in_own_units(), np.empty_like(draws)
        for state, spread in enumerate(own.spreads):
            chosen = states == state
            rows[chosen] = spread.correlated(draws[chosen]) * spread.stddev + own.mean[state]
        return rows

    def in_own_units(self) -> Densities:
        """The same with parameters in the columns' own numbers, which may leave the ordinary range."""
        if self.frame is None:
            return self
        shared = {id(each): each.in_units_of(self.frame.unit) for each in self.spreads}
        mean, mean_low = self.frame.from_units(self.mean)
        centre = np.stack([self.frame.centre, self.frame.centre_low])
        spreads = tuple(shared[id(each)] for each in self.spreads)
        return Densities(self.names, centre, mean, mean_low, spreads, self.df)

    # -- missing cells ----------------------------------------------------------------------------------------
    def block(self, columns: IntArray) -> Densities:
        """The densities of some columns, the others integrated out."""
        key = tuple(columns.tolist())
        if key not in self._blocks:
            shared = {id(each): each.block(columns) for each in self.spreads}
            frame = self.frame and Columns(*(each[columns] for each in vars(self.frame).values()))
            self._blocks[key] = replace(
                self,
                names=tuple(self.names[c] for c in key),
                centre=self.centre[:, columns].copy(),
                mean=self.mean[:, columns].copy(),
                mean_low=self.mean_low[:, columns].copy(),
                spreads=tuple(shared[id(each)] for each in self.spreads),
                frame=frame,
                _blocks={},
            )
        return self._blocks[key]

    def _by_pattern(self, values: FloatArray, rows: IntArray) -> Iterator[tuple[IntArray, FloatArray, Densities]]:
        """Some of the rows, by pattern of missing cells, each with its cells and their densities."""
        if not len(rows):
            return
        packed, which = np.unique(np.packbits(np.isnan(values[rows]), axis=1), axis=0, return_inverse=True)
        patterns = np.unpackbits(packed, axis=1, count=self.n_columns).astype(bool)
        order = np.argsort(which.ravel(), kind="stable")
        parts = np.split(rows[order], np.cumsum(np.bincount(which.ravel()))[:-1])
        for missing, part in zip(patterns, parts, strict=True):
            there = np.flatnonzero(~missing)
            yield part, np.ascontiguousarray(values[np.ix_(part, there)]), self.block(there)

    # -- complete rows ----------------------------------------------------------------------------------------
    def _relative(self, values: FloatArray) -> FloatArray:
        framed, out = self.framed(values), np.empty((len(values), len(self.mean)))
        if self.is_linear:
            w, c = self.linear
            over_ranges(lambda rows: _kernels.linear_scores(out[rows], framed[rows], self.centre, w, c), len(out))
            return out

        def fill(rows: slice) -> None:
            view = out[rows]
            self._kernel(framed[rows], view)
            self._to_log_density(view)

        over_ranges(fill, len(out))
        return out

    def _offset(self, values: FloatArray) -> FloatArray:
        log_unit = 0.0 if self.frame is None else float(np.log(self.frame.unit).sum())
        if not self.is_linear:  # NaN for rows with missing values, which have fewer units
            return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, -log_unit)
        framed, out = self.framed(values), np.zeros((len(values), 1))
        over_ranges(lambda rows: self._kernel_of_centre(framed[rows], out[rows]), len(out))
        peak = self.spreads[0].log_root_determinant + self.n_columns * HALF_LOG_TWO_PI
        return np.asarray(-0.5 * out - (peak + log_unit))

    def _squares(self, values: FloatArray) -> FloatArray:
        framed, out = self.framed(values), np.empty((len(values), len(self.mean)))
        over_ranges(lambda rows: self._kernel(framed[rows], out[rows]), len(out))
        return out

    def _to_log_density(self, squares: FloatArray) -> None:
        """Squared distances turned to log-densities, in place."""
        if self.df is None:
            squares *= -0.5
        else:
            squares /= self.df
            np.log1p(squares, out=squares)
            squares *= -0.5 * (self.df + self.n_columns)
        squares += self.log_peak

    @cached_property
    def log_peak(self) -> FloatArray:
        """(n_states,) the log-density at the mean."""
        log_roots = np.array([each.log_root_determinant for each in self.spreads])
        if self.df is None:
            return -log_roots - self.n_columns * HALF_LOG_TWO_PI
        half = 0.5 * self.n_columns
        log_gammas = np.asarray(log_gamma_ratio(0.5 * self.df, half))
        return np.asarray(log_gammas - log_roots - half * (LOG_PI + np.log(self.df)))

    @cached_property
    def linear(self) -> tuple[FloatArray, FloatArray]:
        """Weights (n_states, n_columns) and constants (1, n_states): w_k . (x - centre) + c_k, for a shared spread."""
        away = (self.mean - self.centre[0]) + (self.mean_low - self.centre[1])
        weights = self.spreads[0].precision_times(away)
        white = self.spreads[0].whitened(away / self.spreads[0].stddev)
        return np.ascontiguousarray(weights), -0.5 * (white**2).sum(axis=1)[None, :]

    # -- the kernel -------------------------------------------------------------------------------------------
    @cached_property
    def _scales(self) -> FloatArray:
        return np.ascontiguousarray([1.0 / each.stddev for each in self.spreads]).reshape(self.mean.shape)

    @cached_property
    def _whiteners(self) -> FloatArray:
        """Packed lower triangles; none where all columns are uncorrelated."""
        if all(each.is_diagonal for each in self.spreads):
            return np.empty((len(self.spreads), 0))
        lower = np.tril_indices(self.n_columns)
        return np.ascontiguousarray([each.whitener[lower] for each in self.spreads if each.whitener is not None])

    def _kernel(self, values: FloatArray, out: FloatArray) -> None:
        _kernels.squared_distances(out, values, self.mean, self.mean_low, self._scales, self._whiteners)

    def _kernel_of_centre(self, values: FloatArray, out: FloatArray) -> None:
        high, low = self.centre[:1], self.centre[1:]
        _kernels.squared_distances(out, values, high, low, self._scales[:1], self._whiteners[:1])

    def framed(self, values: FloatArray) -> FloatArray:
        """The numbers in the units of the densities."""
        if self.frame is None:
            return values
        return standard_scores(values, self.frame.centre, self.frame.centre_low, self.frame.unit)

    def _far_out(self, values: FloatArray, found: FloatArray) -> FloatArray:
        """Rows whose squares overflow for some state; such a state is out of the question if another is near."""
        reference = self.spreads[0].stddev
        origin, unit = (self.centre[0], reference) if self.frame is None else (self.frame.centre, self.frame.unit)
        t, s = in_large_units(values, origin, unit if self.frame is None else unit * reference)
        if self.df is not None:
            log_ratio = log_squares(t, s, reference, self.spreads) - np.log(self.df)
            far = self.log_peak - 0.5 * (self.df + self.n_columns) * log_ratio
            return np.where(np.isfinite(found), found, far)
        centre = self.centre if self.frame is None else np.zeros_like(self.centre)
        away = (self.mean - centre[0]) + (self.mean_low - centre[1])
        ratios = self.log_peak + log_ratios(t, s, reference, away, self.spreads)
        near = np.isfinite(found).any(axis=1, keepdims=True) & (not self.is_linear)
        return np.where(near, _or(found, -np.inf), ratios)

    def _refuse_infinite(self, values: FloatArray, rows: IntArray, beyond: IntArray) -> None:
        places = np.argwhere(np.isinf(values[beyond]))
        if len(places):
            row, column = (int(place) for place in places[0])
            raise NonFiniteError(
                f"column {self.names[column]!r} has an infinite value in row {int(rows[beyond[row]]) + 1}",
                fix="leave the cell empty, or give a finite number",
            )


def _or(found: FloatArray, infinity: float) -> FloatArray:
    """What was found, where it did not overflow."""
    return np.where(np.isfinite(found), found, infinity)


_Answer: TypeAlias = Callable[[Densities, FloatArray], FloatArray]
_Calibrating: TypeAlias = Callable[[Densities, FloatArray, FloatArray], FloatArray]


def in_large_units(values: FloatArray, origin: FloatArray, unit: FloatArray) -> tuple[FloatArray, IntArray]:
    """(n_rows, n_columns) (value - origin) / unit as t 2^s, with one s (n_rows, 1) and no t beyond 2.

    >>> t, s = in_large_units(np.array([[1e300, 1.0]]), np.zeros(2), np.array([1e-300, 1.0]))
    >>> t.round(3).tolist(), s.tolist()
    ([[1.115, 0.0]], [[1993]])
    """
    gap, gap_exponent = np.frexp(0.5 * values - 0.5 * origin)
    width, width_exponent = np.frexp(unit)
    exponent = np.where(gap == 0, np.iinfo(np.int32).min, gap_exponent + 1 - width_exponent)
    most = exponent.max(axis=1, keepdims=True)
    return np.ldexp(gap / width, np.maximum(exponent - most, -3_000)), most


def log_ratios(
    t: FloatArray, s: IntArray, reference: FloatArray, away: FloatArray, spreads: Sequence[CovarianceFactor]
) -> FloatArray:
    """(n_rows, n_states) log p(row | state) - log_peak_state of Gaussian states, up to a number for each row.

    Rows are t 2^s times `reference` (n_columns,), and `away` (n_states, n_columns) are the means.
    """
    white = _whitened(t, reference, spreads)
    white_mean = [_product(spread, gap / spread.stddev) for gap, spread in zip(away, spreads, strict=True)]
    a = np.stack([(each * each).sum(axis=1) for each in white], axis=1)
    b = np.stack([(each * mean).sum(axis=1) for each, mean in zip(white, white_mean, strict=True)], axis=1)
    c = np.array([(mean * mean).sum() for mean in white_mean])
    is_least = a == a.min(axis=1, keepdims=True)
    first = np.argmax(np.where(is_least, b, -np.inf), axis=1)[:, None]
    with np.errstate(over="ignore"):
        linear = np.ldexp(b - np.take_along_axis(b, first, axis=1), s) - 0.5 * (c - c[first])
        square = np.ldexp(np.ldexp(a - np.take_along_axis(a, first, axis=1), s), s)
    return np.asarray(np.where(is_least, linear, -0.5 * square))


def log_squares(t: FloatArray, s: IntArray, reference: FloatArray, spreads: Sequence[CovarianceFactor]) -> FloatArray:
    """(n_rows, n_states) the logarithm of the squared distance."""
    white = _whitened(t, reference, spreads)
    return np.asarray(np.stack([log((each * each).sum(axis=1)) for each in white], axis=1) + 2.0 * np.log(2.0) * s)


def _whitened(t: FloatArray, reference: FloatArray, spreads: Sequence[CovarianceFactor]) -> list[FloatArray]:
    return [_product(spread, t * (reference / spread.stddev)) for spread in spreads]


def _product(spread: CovarianceFactor, scores: FloatArray) -> FloatArray:
    """The same operations for a row alone and in a batch, which a product of matrices would not promise."""
    if spread.whitener is None:
        return scores
    return np.asarray(np.einsum("...c,jc->...j", scores, spread.whitener))
