"""A generative model beside its discriminative twin: the same boundary family, learned from p(x, y) and from p(y | x).

Gaussian classes with a shared covariance and logistic regression both have log-odds w . x + w0. The joint gives the
conditional but not the other way round: only the generative one knows p(x), and so which rows are unlike any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier, earlier_fields
from bayeswise.foundation.errors import FitError, KindError
from bayeswise.models.averaged_naive_bayes.evidence import model_of
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.regression.features import Feature
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.explanations.plots import TwinDisplay

N_DRAWS = 10_000


@earlier_fields(sure="confidence")
@dataclass(frozen=True)
class TwinComparison:
    """w and w0 of `state` against `against` in both models, and the rows on which they part.

    `disagree` are rows with another most probable class; `overconfident` are outliers, whose p(x) is below all but a
    share of what the generative model would draw itself, for which logistic regression is confident all the same.
    """

    state: Label
    against: Label
    features: tuple[Feature, ...]
    w_generative: FloatArray  # (n_features,)
    w_discriminative: FloatArray
    w0_generative: float
    w0_discriminative: float
    p_generative: FloatArray  # (n_rows,) of `state`
    p_discriminative: FloatArray
    log_evidence: FloatArray  # (n_rows,) log p(x)
    outlier_below: float  # log p(x)
    confidence: float

    @property
    def disagree(self) -> IntArray:
        """The rows with another most probable class."""
        return np.flatnonzero((self.p_generative > 0.5) != (self.p_discriminative > 0.5))

    @property
    def outliers(self) -> IntArray:
        """The rows unlike any that the generative model would draw."""
        return np.flatnonzero(self.log_evidence < self.outlier_below)

    @property
    def overconfident(self) -> IntArray:
        """The outliers for which logistic regression is confident."""
        p = self.p_discriminative[self.outliers]
        return self.outliers[np.maximum(p, 1.0 - p) >= self.confidence]

    def plot(self, ax: Any = None) -> TwinDisplay:
        """Draw log p(row) against the probability that each twin gives."""
        from bayeswise.explanations.plots import TwinDisplay

        return TwinDisplay(self).plot(ax)

    def __repr__(self) -> str:
        parts = f"{len(self.disagree)} disagree, {len(self.outliers)} outliers, {len(self.overconfident)} overconfident"
        return f"TwinComparison({self.state!r} against {self.against!r}: {len(self.p_generative)} rows, {parts})"


@earlier(sure="confidence")
def compare_twins(
    generative: Any, discriminative: Any, rows: Any, *, share: float = 0.01, confidence: float = 0.95, seed: int = 0
) -> TwinComparison:
    """Both weight vectors, where the two disagree, and the outliers for which the discriminative one is confident.

    The models are estimators or fitted models of two classes: a generative one with a linear form, `sample` and
    `log_evidence`, and a logistic regression; `rows` is what both predict.

    generative       naive or Gaussian Bayes with a linear form
    discriminative   logistic regression of the same columns
    share            rows rarer than this share of what the generative model draws itself are outliers
    confidence       the probability from which on the discriminative model counts as confident

    >>> import bayeswise as bw
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]]), ["a", "a", "b", "b", "a", "b"]
    >>> gaussian, logistic = bw.NaiveBayes(shared_variance=True), bw.LogisticRegression()
    >>> twins = compare_twins(gaussian.fit(X, y), logistic.fit(X, y), [[40.0]])
    >>> twins.overconfident.tolist(), twins.disagree.tolist()
    ([0], [])
    """
    joint, logistic = model_of(generative), model_of(discriminative)
    if not isinstance(logistic, LogisticModel):
        raise KindError(f"{discriminative!r} is not a logistic regression", fix="give it as the second model")
    if set(joint.classes) != set(logistic.classes) or len(joint.classes) != 2:
        raise FitError(
            f"twins have the same two classes; found {joint.classes} and {logistic.classes}", fix="fit both to them"
        )
    against, state = logistic.classes
    discriminant = _linear_form(joint, state, against)
    w, w0 = logistic.between(state, against)
    names, w_generative = _aligned(discriminant, logistic.features.names)
    drawn = joint.sample(N_DRAWS, seed)
    lowest = float(np.quantile(joint.log_evidence({name: drawn[name] for name in joint.schema.used}), share))
    return TwinComparison(
        state,
        against,
        names,
        w_generative,
        w,
        float(discriminant.w0),
        w0,
        np.asarray(generative.predict_proba(rows))[:, joint.classes.index(state)],
        np.asarray(discriminative.predict_proba(rows))[:, 1],
        np.asarray(generative.log_evidence(rows)),
        lowest,
        confidence,
    )


def _linear_form(model: Any, state: Label, against: Label) -> Any:
    if isinstance(model, NaiveBayesModel):
        return model.linear_form().between(state, against)
    if isinstance(model, GaussianBayesModel):
        return model.linear(state, against)
    raise KindError(f"{model!r} has no linear form", fix="give Gaussian classes with a shared covariance")


def _aligned(discriminant: Any, names: tuple[Feature, ...]) -> tuple[tuple[Feature, ...], FloatArray]:
    """The generative weights in the order of the logistic ones; a level's weight is seen from the reference level."""
    features = getattr(discriminant, "features", None) or tuple((name, None) for name in discriminant.columns)
    known = dict(zip(features, np.asarray(discriminant.w).tolist(), strict=True))
    levels = {name: level for name, level in names if level is not None}
    references = {
        column: value for (column, level), value in known.items() if column in levels and (column, level) not in names
    }
    missing = [name for name in names if name not in known]
    if missing:
        raise FitError(f"the generative model has no weight for {missing[0]}", fix="fit both to the same columns")
    return names, np.array([known[name] - references.get(name[0], 0.0) for name in names])
