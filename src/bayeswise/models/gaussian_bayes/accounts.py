"""Why a Gaussian model answers as it does: what each column adds, given the columns before it.

With L the Cholesky factor of the covariance and z = L^-1 (x - mean), the squared Mahalanobis distance is the sum of
z^2, and

    log p(row | state) = sum over columns of log p(cell | cells before it, state)
    log p(cell | cells before it, state) = -z^2 / 2 - log(L_jj) - log(2 pi) / 2

so that the account adds up exactly, and with uncorrelated columns it is that of naive Bayes. Columns stand in the order
of the table. A missing cell is integrated out: it adds nothing, and those after it are not given it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.families.arithmetic.special import HALF_LOG_TWO_PI, log_gamma_ratio
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NonFiniteError
from bayeswise.models.gaussian_bayes.densities import LOG_PI, Densities
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel


def account_of(model: GaussianBayesModel, batch: Batch) -> Account:
    """The account of a batch of one row."""
    infinite = np.flatnonzero(np.isinf(batch.values[0]))
    if len(infinite):
        raise NonFiniteError(row=batch.place(0), column=model.columns[int(infinite[0])])
    there = np.flatnonzero(~np.isnan(batch.values[0]))
    log_cells = np.zeros((len(model.columns), len(model.classes)))
    row = np.ascontiguousarray(batch.values[:1, there])
    log_cells[there] = log_conditionals(model.densities.block(there), row)
    parts = []
    for c, name in enumerate(model.columns):
        value, note = model.shown_cell(name, batch, "missing: integrated out", "")
        parts.append(Contribution(name, value, log_cells[c], note))
    convention = f"{model.settings}; each column given those before it"
    return Account(model.classes, model.log_prior, tuple(parts), convention)


def log_conditionals(densities: Densities, row: FloatArray) -> FloatArray:
    """(n_columns, n_states) log p(cell | cells before it, state) of one complete row."""
    away = (densities.framed(row)[0] - densities.mean) - densities.mean_low  # (n_states, n_columns)
    spreads = densities.spreads
    z = np.stack([s.whitener @ (a / s.stddev) for s, a in zip(spreads, away, strict=True)])
    log_widths = np.stack([np.log(s.stddev) + np.log(np.diagonal(s.lower)) for s in spreads])
    if densities.frame is not None:
        log_widths = log_widths + np.log(densities.frame.unit)
    if densities.freedom is None:
        with np.errstate(over="ignore"):
            return np.asarray((-0.5 * z**2 - log_widths - HALF_LOG_TWO_PI).T)
    return np.asarray((_log_student_t(z, densities.freedom) - log_widths).T)


def _log_student_t(z: FloatArray, freedom: FloatArray) -> FloatArray:
    """(n_states, n_columns) a cell given k cells before it is a student-t of freedom + k degrees."""
    before = np.arange(z.shape[1])
    squares = np.cumsum(z**2, axis=1)
    f = freedom[:, None]
    log_heights = np.asarray(log_gamma_ratio(0.5 * (f + before), 0.5)) - 0.5 * (LOG_PI + np.log(f))
    log_tails = 0.5 * (f + before + 1) * np.log1p(squares / f)
    log_tails_before = 0.5 * (f + before) * np.log1p((squares - z**2) / f)
    return np.asarray(log_heights - log_tails + log_tails_before)
