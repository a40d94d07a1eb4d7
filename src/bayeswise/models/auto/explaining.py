"""Why a mixture answers as it does: its log-odds, split by column.

A member's log joint is a sum over columns: log p_k(state, row) = prior_k(state) + sum_j c_kj(state). The mixture's is
not, so the columns are brought in all together, a little at a time. With t from 0 (priors only) to 1 (the whole row),
p_k(t) = softmax(prior_k + t sum_j c_kj) and p(t) the pool of all p_k(t), column j moves log p(state) by

    integral over t of   m_j(state, t) - sum_s p(s, t) m_j(s, t),
    m_j(state, t) = sum_k r_k(state, t) [c_kj(state) - sum_s p_k(s, t) c_kj(s)],      r_k = d log p / d log p_k

(the Aumann-Shapley value of the column). Where posteriors are averaged, r_k = w_k p_k / p; where their logarithms are,
r_k = power w_k (1 - least) p_k / q_k. All columns together move it from the pool of priors to the posterior: the parts
add up. A text comes in as its words, where members tell them apart. What the calibration adds to that stands in a line
of its own.

A member whose own account starts at a row of means, such as a regression, starts here at the shares of the classes:
what it says of that row is one more piece, and its line is "(at the means)". So the first line is the prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError
from bayeswise.models.auto.candidates import Member
from bayeswise.models.auto.inputs import AsNumbers, scale_of
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account, Contribution
    from bayeswise.models.auto.model import AutoModel

CALIBRATION, MEANS = "(calibration)", "(at the means)"
_NODES = 64  # of each of the pieces of the path
_PIECES = 8
_IMPOSSIBLE = -1e4  # what a log-likelihood of minus infinity is taken for on the way

Piece = tuple[str, str]  # a column and one word of it; the empty word is the column as a whole
_AT_MEANS: Piece = ("", "")  # what members say of a row of means; no column has an empty name


def account_of(model: AutoModel, batch: Batch) -> Account:
    """The account of a batch of one row."""
    from bayeswise.explanations.account import Contribution
    from bayeswise.explanations.answered import AnsweredAccount

    columns = model.schema.used
    starts, by_member = zip(*(_of_member(member, batch, model) for member in model.members), strict=True)
    log_priors = np.stack(starts)  # (n_members, n_states)
    pieces = list(dict.fromkeys([*((name, "") for name in columns), *(piece for own in by_member for piece in own)]))
    nothing = np.zeros(len(model.classes))
    terms = np.stack(
        [[own.get(piece, nothing) for piece in pieces] for own in by_member]
    )  # (n_members, n_pieces, n_states)
    moved = _integrated(model, log_priors, terms)  # (n_pieces, n_states)
    log_start = model.log_pooled(log_priors[:, None])[0]
    log_mixed = log_posterior(model.log_mixture(batch))[0]
    log_answer = log_posterior(model.log_relative(batch))[0]
    possible = np.isfinite(log_start) & np.isfinite(log_answer) & np.isfinite(log_mixed)
    start = np.where(possible, log_start, -np.inf)
    moved = np.where(possible, moved, 0.0)
    with np.errstate(invalid="ignore"):
        missed = np.where(possible, log_mixed - log_start - moved.sum(axis=0), 0.0)
        last = np.where(possible, log_answer - log_mixed, 0.0)
    moved = moved + _spread(missed, moved)
    by_piece = dict(zip(pieces, moved, strict=True))
    shown = [_contribution(model, name, batch, by_piece) for name in columns]
    if _AT_MEANS in by_piece:
        shown.append(Contribution(_free_name(MEANS, columns), "a row of means", by_piece[_AT_MEANS]))
    if np.abs(last - last.mean()).max(initial=0.0) > 0.0:
        what = "rows that were left out" if model.settings.class_prior is None else "rows left out, and the given prior"
        shown.append(Contribution(_free_name(CALIBRATION, columns), what, last, "how the mixture is corrected"))
    beside = tuple(each.column for each in shown[len(columns) :])
    return AnsweredAccount(
        model.classes, start, tuple(shown), str(model.settings), cases=ChangedRow(model, batch), beside=beside
    )


@dataclass(frozen=True, eq=False)
class ChangedRow:
    """One row and what the mixture answers for it with other cells."""

    model: AutoModel
    batch: Batch  # of one row

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """Levels that rows have shown, and round numbers among those of the rows."""
        if self.model.offered is None and self.model.schema.numbers:
            raise KindError(
                "the model was written by an earlier version, which did not keep which numbers the columns have",
                fix="fit it again to see what changes its answers",
            )
        known = dict(zip(self.model.schema.categories, self.model.levels, strict=True))
        found: dict[str, tuple[Any, ...]] = {name: levels.labels for name, levels in known.items()}
        return found | dict(self.model.offered or {})

    def with_cells(self, changes: Sequence[Mapping[str, Any]]) -> Batch:
        """The row once for each set of changes."""
        schema = self.model.schema
        rows = self.batch.recode(self.model.levels).take(np.zeros(len(changes), dtype=np.int64))
        values, codes = rows.values.copy(), rows.codes.copy()
        for k, cells in enumerate(changes):
            for name, cell in cells.items():
                if name in schema.numbers:
                    values[k, schema.numbers.index(name)] = cell
                else:
                    place = schema.categories.index(name)
                    codes[k, place] = self.model.levels[place].labels.index(cell)
        return replace(rows, values=values, codes=codes)

    def log_posteriors(self, changes: Sequence[Mapping[str, Any]]) -> FloatArray:
        return log_posterior(self.model.log_relative(self.with_cells(changes)))

    def account(self, changes: Mapping[str, Any]) -> Account:
        return account_of(self.model, self.with_cells([changes]))


def offered_numbers(schema: Schema, batch: Batch) -> dict[str, tuple[float, ...]]:
    """Round numbers of each column within its values, for changes of a row."""
    values = {name: batch.values[:, k] for k, name in enumerate(schema.numbers)}
    known = {name: x[np.isfinite(x)] for name, x in values.items()}
    return {name: _round_numbers(x) for name, x in known.items() if len(x)}


def _round_numbers(x: FloatArray) -> tuple[float, ...]:
    from bayeswise.explanations.alternatives import number_grid

    whole = bool((x == np.round(x)).all())
    ends = float(x.min()), float(x.max())
    scale = scale_of(x)
    mean, stddev = float((x * scale).mean() / scale), float((x * scale).std() / scale)
    grid = number_grid(mean, stddev, len(x), whole=whole, observed=ends)
    return tuple(value for value in grid if ends[0] <= value <= ends[1])


def _free_name(name: str, columns: tuple[str, ...]) -> str:
    while name in columns:
        name += "'"
    return name


def _of_member(member: Member, batch: Batch, model: AutoModel) -> tuple[FloatArray, dict[Piece, FloatArray]]:
    """The log prior (n_states,) and what it says of each piece of the row (n_states,)."""
    from bayeswise.explanations.balance import PRIOR

    account = member.model.explain(member.seen(batch))
    places = Vocabulary(account.states).positions_in(Vocabulary(model.classes))
    log_prior = np.full(len(model.classes), -np.inf)
    log_prior[places] = log_posterior(account.log_prior[None])[0]
    terms: dict[Piece, FloatArray] = {}
    if account.start != PRIOR:
        log_own, log_prior = log_prior, np.where(np.isfinite(log_prior), model.log_counted, -np.inf)
        known = np.isfinite(log_prior)
        log_prior[known] = log_posterior(log_prior[None, known])[0]
        terms[_AT_MEANS] = np.where(known, log_own - np.where(known, log_prior, 0.0), 0.0)
    if np.isneginf(account.log_joint).all():  # impossible in every state: the member answers with its prior
        return log_prior, terms
    named = _named_words(member, batch)
    for part in account.contributions:
        own = member.columns_of(part.column)  # a product of two columns is shared by them
        for name in own:
            for word, said in part.parts or ((named.get(part.column, ""), part.log_likelihood),):
                term = terms.setdefault((name, word), np.zeros(len(model.classes)))
                term[places] += np.maximum(said, _IMPOSSIBLE) / len(own)
    return log_prior, terms


def _named_words(member: Member, batch: Batch) -> dict[str, str]:
    """The words that numbers of a member stand for, with their count; the rest of the text for absent ones."""
    from bayeswise.explanations.account import REST_OF_TEXT, counted_word

    if not isinstance(member.inputs, AsNumbers):
        return {}
    times: dict[tuple[str, str], float] = {}
    for text, block in zip(member.inputs.table.texts, batch.texts, strict=True):
        first = block.counts[[0]].tocoo()
        words = (str(block.vocabulary[place]) for place in first.col.tolist())
        times |= {(text, word): count for word, count in zip(words, first.data.tolist(), strict=True) if count > 0}
    return {
        number: counted_word(piece[1], times[piece]) if piece in times else REST_OF_TEXT
        for number, piece in member.inputs.word_of.items()
    }


def _integrated(model: AutoModel, log_priors: FloatArray, terms: FloatArray) -> FloatArray:
    """(n_pieces, n_states) what each piece moves, by Gauss-Legendre quadrature along the path."""
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    total = terms.sum(axis=1)  # (n_members, n_states)
    moved = np.zeros(terms.shape[1:])
    for piece in range(_PIECES):
        for node, share in zip(nodes.tolist(), shares.tolist(), strict=True):
            t = (piece + 0.5 * (node + 1.0)) / _PIECES
            log_own = log_posterior(log_priors + t * total)  # (n_members, n_states)
            log_mixed = model.log_pooled(log_own[:, None])[0]  # (n_states,)
            away = terms - np.einsum("ks,kjs->kj", np.exp(log_own), terms)[:, :, None]
            of_piece = np.einsum("ks,kjs->js", _responsibility(model, log_own, log_mixed), away)
            of_piece -= (np.exp(log_mixed) * of_piece).sum(axis=1, keepdims=True)
            moved += share / (2.0 * _PIECES) * of_piece
    return moved


def _responsibility(model: AutoModel, log_own: FloatArray, log_mixed: FloatArray) -> FloatArray:
    """(n_members, n_states) by how much the log pool grows with the log posterior of each member."""
    if model.pool is not None:
        kept = np.exp(log_own + np.log1p(-model.pool.least) - model.pool.log_shares(log_own))
        return np.asarray(model.pool.power * model.weights[:, None] * kept)
    with np.errstate(invalid="ignore"):
        share = np.exp(log_own + np.log(model.weights)[:, None] - log_mixed)
    return np.where(np.isfinite(log_mixed), share, 0.0)


def _spread(missed: FloatArray, moved: FloatArray) -> FloatArray:
    """What rounding of the quadrature has missed, shared by the pieces by how much they move."""
    size = np.abs(moved)
    total = size.sum(axis=0)
    even = np.full_like(size, 1.0 / max(len(size), 1))
    return np.asarray(missed * np.where(total > 0.0, size / np.where(total > 0.0, total, 1.0), even))


def _contribution(model: AutoModel, name: str, batch: Batch, moved: Mapping[Piece, FloatArray]) -> Contribution:
    from bayeswise.explanations.account import REST_OF_TEXT, Contribution

    value: Any
    value, note = model.shown_cell(name, batch, "missing", "unseen")
    words = {word: part for (column, word), part in moved.items() if column == name}
    total = np.sum(list(words.values()), axis=0)
    whole = words.pop("")
    if words and whole.any():  # of members that do not tell words apart
        words[REST_OF_TEXT] = words.get(REST_OF_TEXT, 0.0) + whole
    return Contribution(name, value, total, note, tuple(words.items()))
