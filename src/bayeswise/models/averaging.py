"""Several models instead of one: their answers, weighed by what the rows say of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, TooLargeError
from bayeswise.foundation.logspace import log
from bayeswise.models.averaged_naive_bayes.evidence import evidence_of, model_of, refuse_other_rows
from bayeswise.models.base.table_model import capabilities_of, classes_of
from bayeswise.models.held_out import held_out
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.tables.schema.labels import Label, Vocabulary

_MOST_STEPS = 500
_MOST_HALVINGS = 30
_ENOUGH = 1e-12


@dataclass(frozen=True)
class AveragedModels:
    """p(state | row) = sum over models of weight p(state | row, model)."""

    models: Mapping[str, Any]
    weights: Mapping[str, float]
    how: str  # where the weights come from, in words

    @property
    def classes(self) -> tuple[Label, ...]:
        """All classes that some model knows, in the order of the first model that knows most of them."""
        known = [Vocabulary(classes_of(model)) for model in self.models.values()]
        return Vocabulary.in_order((label for each in known for label in each), max(known, key=len)).labels

    def predict_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states)."""
        known = Vocabulary(self.classes)
        total: Any = 0.0
        for name, model in self.models.items():
            if self.weights[name] == 0.0:
                continue
            answer = np.asarray(model.predict_proba(table))
            spread = np.zeros((len(answer), len(known)))
            spread[:, Vocabulary(classes_of(model)).positions_in(known)] = answer
            total = total + self.weights[name] * spread
        return np.asarray(total)

    def predict_log_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states)."""
        return log(self.predict_proba(table))

    def predict(self, table: Any) -> list[Label]:
        """The most probable state of each row; the first one of `classes` where several are."""
        return [self.classes[int(k)] for k in np.argmax(self.predict_proba(table), axis=1)]

    def __repr__(self) -> str:
        shares = ", ".join(f"{name}: {weight:.4g}" for name, weight in self.weights.items())
        return f"AveragedModels({shares}; {self.how})"


def average(
    models: Mapping[str, Any] | Sequence[Any],
    *,
    by: Literal["evidence", "leave-one-out"] = "evidence",
    table: Any = None,
    weights: Mapping[str, float] | None = None,
    log_evidence: Mapping[str, float] | None = None,
    prior: Mapping[str, float] | None = None,
) -> AveragedModels:
    """The Bayes-optimal combination of fitted models, with the weights shown.

    by        "evidence": p(model | rows), from the evidence of naive Bayes models or from `log_evidence` by name; all
              models must have learned the same rows and columns.
              "leave-one-out": the weights under which rows left out are most probable (stacking); needs the `table`
    weights   given, instead of both
    prior     p(model) by name; equal by default

    >>> from bayeswise.models.naive_bayes import fit
    >>> from bayeswise.models.averaged_naive_bayes import averaged
    >>> plain = fit([{"wind": w, "play": p} for w, p in 4 * [("weak", "yes"), ("strong", "no")]], "play")
    >>> average({"relevant": plain, "irrelevant": averaged(plain, 0.0)})
    AveragedModels(relevant: 0.9618, irrelevant: 0.03817; p(model | rows))
    """
    named = dict(models) if isinstance(models, Mapping) else {f"model {k}": m for k, m in enumerate(models)}
    if not named:
        raise ParameterError("there is no model to average", fix="give at least one")
    names = list(named)
    if weights is not None:
        shares = prior_by_state(weights, names)
        return AveragedModels(named, dict(zip(names, shares.tolist(), strict=True)), "as given")
    log_prior = np.full(len(names), -np.log(len(names))) if prior is None else log(prior_by_state(prior, names))
    if by == "leave-one-out":
        return AveragedModels(named, _stacked(named, table), "the best for rows left out")
    if by != "evidence":
        raise ParameterError(f"by is {by!r}", fix='choose "evidence" or "leave-one-out"')
    refuse_other_rows({name: model_of(model) for name, model in named.items() if name not in (log_evidence or {})})
    log_joint = log_prior + [_log_evidence(name, model, log_evidence) for name, model in named.items()]
    if not (log_joint > -np.inf).any():
        raise ImpossibleEvidenceError("no model allows the rows", fix="give a model that does, or weights by name")
    shares = normalise(log_joint[None]).probability[0]
    return AveragedModels(named, dict(zip(names, shares.tolist(), strict=True)), "p(model | rows)")


def _log_evidence(name: str, model: Any, given: Mapping[str, float] | None) -> float:
    if given is not None and name in given:
        return _given_evidence(name, given[name])
    inner = model_of(model)
    if isinstance(inner, NaiveBayesModel):
        return evidence_of(inner).log_total
    raise ParameterError(
        f"the evidence of {name!r} ({type(inner).__name__}) is not known",
        fix=f'give log_evidence={{{name!r}: ...}}, or choose by="leave-one-out"',
    )


def _given_evidence(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not found < np.inf:
        raise ParameterError(f"the log evidence of {name!r} is {value!r}", fix="give log p(rows | model), or -inf")
    return found


def _stacked(models: Mapping[str, Any], table: Any) -> dict[str, float]:
    if table is None:
        raise ParameterError("rows are left out of a table", fix="give table=... with the rows that were learned")
    columns = [_left_out_probability(model, table) for model in models.values()]
    shares = stacking_weights(np.stack(columns, axis=1))
    return dict(zip(models, shares.tolist(), strict=True))


def _left_out_probability(model: Any, table: Any) -> FloatArray:
    """(n_rows,) the probability of each row's own class under the model that never saw the row."""
    if not capabilities_of(model).leave_one_out:
        raise ParameterError(
            f"{type(model).__name__} cannot leave rows of a table out",
            fix="give models of bw.fit that have leave_one_out, or weights={name: ...} of your own",
        )
    try:
        found = held_out(model, table, cv="loo")
    except TooLargeError as error:
        raise TooLargeError(error.what, fix="give fewer rows, or weights={name: ...} of your own") from None
    return np.asarray(found.posterior[np.arange(len(found.truth)), found.truth])


def stacking_weights(probability: FloatArray) -> FloatArray:
    """(n_models,) the weights of the mixture under which (n_rows, n_models) probabilities are largest.

    They minimise the convex f(w) = sum w - mean log(P w) over w >= 0, whose minimum has the sum 1; steps of EM and
    projected Newton steps lead there. f is above its minimum by at most the largest mean ratio of a model to the
    mixture, less one.

    >>> stacking_weights(np.array([[0.9, 0.2], [0.8, 0.3], [0.1, 0.6]])).round(3).tolist()
    [0.66, 0.34]
    """
    possible = probability[probability.max(axis=1) > 0]
    weights = np.full(probability.shape[1], 1.0 / probability.shape[1])
    for _ in range(_MOST_STEPS if len(possible) else 0):
        ratio = possible / (possible @ weights)[:, None]
        slope = 1.0 - ratio.mean(axis=0)  # (n_models,) of f
        if slope.min() > -_ENOUGH and np.abs(slope * weights).max() < _ENOUGH:
            break
        weights = _stepped(possible, weights * (1.0 - slope), slope < 0)
    return np.asarray(weights / weights.sum())


def _stepped(possible: FloatArray, weights: FloatArray, entering: BoolArray) -> FloatArray:
    """One Newton step over the models in use and those `entering`, halved until it helps."""
    ratio = possible / (possible @ weights)[:, None]
    free = (weights > 0) | entering
    curvature = ratio[:, free].T @ ratio[:, free] / len(ratio)
    step = np.zeros_like(weights)
    step[free] = np.linalg.lstsq(curvature, ratio[:, free].mean(axis=0) - 1.0, rcond=None)[0]
    before = _loss(possible, weights)
    for halvings in range(_MOST_HALVINGS):
        new = np.maximum(weights + step * 0.5**halvings, 0.0)
        if _loss(possible, new) < before:
            return np.asarray(new)
    return weights


def _loss(possible: FloatArray, weights: FloatArray) -> float:
    return float(weights.sum() - log(possible @ weights).mean())
