"""Several models instead of one: their answers, weighed by what the rows say of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.models.averaged_naive_bayes.evidence import evidence_of
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.tables.labels import Label, Vocabulary, label_of

_MOST_STEPS = 10_000
_ENOUGH = 1e-12
_ALL_BUT_LEFT = 1e-3


@dataclass(frozen=True)
class AveragedModels:
    """p(state | row) = sum over models of weight p(state | row, model)."""

    models: Mapping[str, Any]
    weights: Mapping[str, float]
    how: str  # where the weights come from, in words

    @property
    def classes(self) -> tuple[Label, ...]:
        """All classes that some model knows, in canonical order."""
        return Vocabulary.of(label for model in self.models.values() for label in classes_of(model)).labels

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
    log_joint = log_prior + [_log_evidence(name, model, log_evidence) for name, model in named.items()]
    shares = normalise(log_joint[None]).probability[0]
    return AveragedModels(named, dict(zip(names, shares.tolist(), strict=True)), "p(model | rows)")


def classes_of(model: Any) -> list[Label]:
    """The classes of a model or of a scikit-learn classifier."""
    found = getattr(model, "classes_", None) if not hasattr(model, "classes") else model.classes
    if found is None:
        raise ParameterError(f"{type(model).__name__} has no classes", fix="give a fitted classifier")
    return [label_of(label) for label in found]


def _log_evidence(name: str, model: Any, given: Mapping[str, float] | None) -> float:
    if given is not None and name in given:
        return float(given[name])
    inner = getattr(model, "model_", model)
    if isinstance(inner, NaiveBayesModel):
        return evidence_of(inner).log_total
    raise ParameterError(
        f"the evidence of {name!r} ({type(inner).__name__}) is not known",
        fix=f'give log_evidence={{{name!r}: ...}}, or choose by="leave-one-out"',
    )


def _stacked(models: Mapping[str, Any], table: Any) -> dict[str, float]:
    if table is None:
        raise ParameterError("rows are left out of a table", fix="give table=... with the rows that were learned")
    columns = [_left_out_probability(model, table) for model in models.values()]
    shares = stacking_weights(np.stack(columns, axis=1))
    return dict(zip(models, shares.tolist(), strict=True))


def _left_out_probability(model: Any, table: Any) -> FloatArray:
    """(n_rows,) the probability of each row's own class under the model that never saw the row."""
    if not hasattr(model, "leave_one_out") or hasattr(model, "classes_"):
        raise ParameterError(
            f"{type(model).__name__} cannot leave rows of a table out", fix="give fitted models, as bw.fit makes them"
        )
    target = model.schema.target.name
    posterior = model.leave_one_out(table)
    own = own_classes(model, table)
    if len(own) != len(posterior):
        raise FitError(f"the table has {len(own)} rows with {target!r}, and {len(posterior)} were left out")
    return np.asarray(posterior[np.arange(len(own)), own])


def own_classes(model: Any, table: Any) -> Any:
    """(n_rows,) the class of each row, by its position among the model's classes."""
    from bayeswise.tables.encoder import Encoder
    from bayeswise.tables.source import open_source

    known = Vocabulary(model.classes)
    parts = [
        batch.group_labels.positions_in(known)[batch.groups]
        for batch in Encoder(model.schema, learning=True, check_strays=False).batches(open_source(table))
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def stacking_weights(probability: FloatArray) -> FloatArray:
    """(n_models,) the weights of the mixture under which (n_rows, n_models) probabilities are largest, by EM.

    The mean log of a mixture is concave in its weights: where no model's mean ratio to the mixture exceeds one, the
    maximum is found. Models that the climb has all but left are dropped, and come back if they prove useful.

    >>> stacking_weights(np.array([[0.9, 0.2], [0.8, 0.3], [0.1, 0.6]])).round(3).tolist()
    [0.66, 0.34]
    """
    possible = probability[probability.max(axis=1) > 0]
    weights = np.full(probability.shape[1], 1.0 / probability.shape[1])
    for _ in range(_MOST_STEPS if len(possible) else 0):
        mean_ratio = (possible / (possible @ weights)[:, None]).mean(axis=0)  # (n_models,)
        best = int(np.argmax(mean_ratio))
        if mean_ratio[best] - 1.0 < _ENOUGH:
            break
        weights = weights * mean_ratio
        weights[(weights < _ALL_BUT_LEFT) & (mean_ratio < 1.0 - _ALL_BUT_LEFT)] = 0.0
        if weights[best] == 0.0:
            weights[best] = _ALL_BUT_LEFT
        weights /= weights.sum()
    return weights
