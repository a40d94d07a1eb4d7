"""Decisions: a million rows while a slider moves; cost and time beside scikit-learn, empulse and scikit-activeml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Outcome, Race, Row, Size, Task, best_of

EXAMPLES = Path(__file__).parents[2] / "examples"
FALSE_POSITIVE, FALSE_NEGATIVE = 1.0, 12.0
MAIL = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
TABLES, PEERS = ("breast cancer", "credit"), ("fixed", "tuned", "empulse")
NAMES = {"fixed": "FixedThresholdClassifier", "tuned": "TunedThresholdClassifierCV", "empulse": "CSThresholdClassifier"}


def posterior(n_rows: int, n_states: int) -> Any:
    return np.random.default_rng(0).dirichlet(np.ones(n_states), n_rows)


def deciding(n_rows: int) -> float:
    """Three actions, two states, checked and decided."""
    import bayeswise as bw

    shares, costs = posterior(n_rows, 2), bw.Costs(MAIL)
    return best_of(20, lambda: bw.decide(shares, costs, states=["spam", "ham"]))[0]


def sliding(n_rows: int) -> float:
    """Another prior, and decided again."""
    import bayeswise as bw
    from bayeswise.posteriors.prior_shift import shift_prior

    shares, costs, states = posterior(n_rows, 2), bw.Costs(MAIL), ["spam", "ham"]
    old, new = {"spam": 0.5, "ham": 0.5}, {"spam": 0.2, "ham": 0.8}
    return best_of(
        20, lambda: bw.decide(shift_prior(shares, states=states, old=old, new=new), costs, states=states)
    )[0]


# -- cost and time beside thresholds --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cheaper:
    """The mean cost of ours beside that of a peer on the same folds; the ratio is the peer's over ours."""

    what: str
    measure: Callable[[], tuple[float, float]]

    def run(self, size: Size) -> Outcome:
        ours, peer = self.measure()
        return Outcome(self.what, ours, peer, "", peer / ours, ">= 1x", ours <= peer)


def table(name: str) -> tuple[Any, Any]:
    """X and y; 1 is what must not be missed: a malignant tumour, a loan that is not repaid."""
    if name == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        cancer = load_breast_cancer()
        return cancer.data, 1 - cancer.target
    import pandas as pd
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.concat([pd.read_csv(EXAMPLES / part) for part in ("credit.csv", "credit-test.csv")])
    levels = OneHotEncoder(sparse_output=False).fit_transform(frame[["history", "employed", "purpose"]])
    return np.hstack([np.log(frame[["income", "amount"]]), levels]), (frame["repaid"] == "no").to_numpy().astype(int)


def classifier(base: str) -> Any:
    """What all of them decide on."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import bayeswise as bw

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return logistic if base == "logistic" else bw.NaiveBayes()


def deciders(base: str) -> dict[str, Any]:
    """Ours and each peer, as they come, over the same classifier."""
    from empulse.models import CSThresholdClassifier
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    import bayeswise as bw

    inner = classifier(base)
    costs = bw.Costs.binary(positive=1, negative=0, false_positive=FALSE_POSITIVE, false_negative=FALSE_NEGATIVE)
    threshold = FALSE_POSITIVE / (FALSE_POSITIVE + FALSE_NEGATIVE)
    return {
        "ours": bw.DecisionMaker(inner, costs, calibrate="auto"),
        "fixed": FixedThresholdClassifier(inner, threshold=threshold, response_method="predict_proba"),
        "tuned": TunedThresholdClassifierCV(inner, scoring=make_scorer(mean_cost, greater_is_better=False)),
        "empulse": innermost(inner, partial(CSThresholdClassifier, fp_cost=FALSE_POSITIVE, fn_cost=FALSE_NEGATIVE)),
    }


def innermost(inner: Any, wrapped: Callable[[Any], Any]) -> Any:
    """The last step of a pipeline wrapped, as empulse takes no pipelines."""
    from sklearn.pipeline import Pipeline, make_pipeline

    return make_pipeline(inner[0], wrapped(inner[1])) if isinstance(inner, Pipeline) else wrapped(inner)


def mean_cost(y: Any, answer: Any) -> float:
    paid = np.where(y == 1, (answer != 1) * FALSE_NEGATIVE, (answer == 1) * FALSE_POSITIVE)
    return float(paid.mean())


@dataclass(frozen=True)
class Effort:
    """How many shuffles into how many folds; of a small run only every so many rows."""

    n_seeds: int
    n_folds: int
    step: int

    @classmethod
    def of(cls, size: Size) -> Effort:
        return cls(max(1, round(20 * size.scale)), 5, 1) if size.scale >= 0.1 else cls(1, 2, 5)

    def shuffles(self) -> list[Any]:
        from sklearn.model_selection import StratifiedKFold

        return [StratifiedKFold(self.n_folds, shuffle=True, random_state=seed) for seed in range(self.n_seeds)]

    def table(self, name: str) -> tuple[Any, Any]:
        X, y = table(name)
        return X[:: self.step], y[:: self.step]


class Costs:
    """The mean cost of each decider over several shuffles into folds, reckoned once for all its peers."""

    def __init__(self, name: str, base: str, effort: Effort) -> None:
        self.name, self.base, self.effort = name, base, effort
        self.found: dict[str, float] = {}

    def of(self, which: str) -> float:
        from sklearn.model_selection import cross_val_predict

        if which not in self.found:
            (X, y), decider = self.effort.table(self.name), deciders(self.base)[which]
            each = [mean_cost(y, cross_val_predict(decider, X, y, cv=folds)) for folds in self.effort.shuffles()]
            self.found[which] = float(np.mean(each))
        return self.found[which]

    def beside(self, peer: str) -> tuple[float, float]:
        return self.of("ours"), self.of(peer)


def per_row(base: str, effort: Effort) -> tuple[float, float]:
    """Lending or not, where what is lost and earned depends on the amount: cost per case above perfect knowledge."""
    from empulse.models import CSThresholdClassifier
    from sklearn.base import clone

    import bayeswise as bw

    X, y = effort.table("credit")
    amount, inner = np.exp(X[:, 1]), classifier(base)
    costs = {"lend": {0: "-0.12 * amount", 1: "0.6 * amount"}, "refuse": 0}
    maker = bw.DecisionMaker(inner, costs, calibrate="auto")
    peer = innermost(inner, CSThresholdClassifier)
    gains = np.where(y == 1, 0.6, -0.12) * amount  # what lending costs in truth
    total = np.zeros(2)
    for folds in effort.shuffles():
        for learned, new in folds.split(X, y):
            lent = clone(maker).fit(X[learned], y[learned]).predict(X[new], rows={"amount": amount[new]}) == "lend"
            refused = clone(peer).fit(X[learned], y[learned])
            asked = {"fn_cost": 0.6 * amount[new], "tn_cost": -0.12 * amount[new], "tp_cost": 0.0, "fp_cost": 0.0}
            total += [gains[new] @ lent, gains[new] @ (predicted(refused, X[new], asked) == 0)]
    ours, theirs = (total / (effort.n_seeds * len(y)) - np.minimum(gains, 0.0).mean()).tolist()
    return ours, theirs


def predicted(peer: Any, X: Any, costs: dict[str, Any]) -> Any:
    """The costs of each row go to the last step of a pipeline."""
    from sklearn.pipeline import Pipeline

    return peer[1].predict(peer[0].transform(X), **costs) if isinstance(peer, Pipeline) else peer.predict(X, **costs)


def fits(base: str, peer: str) -> tuple[Task, Task]:
    (X, y), both = table("breast cancer"), deciders(base)
    return partial(both["ours"].fit, X, y), partial(both[peer].fit, X, y)


# -- many classes ---------------------------------------------------------------------------------------------


def many_classes(n_rows: int, n_states: int) -> tuple[Task, Task]:
    """The argmin over costs of every class, beside scikit-activeml's `cost_matrix`; both must act alike."""
    from skactiveml.classifier import SklearnClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    import bayeswise as bw

    class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier that is told the posterior."""

        def fit(self, X: Any, y: Any) -> Any:
            self.classes_ = np.arange(n_states)
            return self

        def predict_proba(self, X: Any) -> Any:
            return X

        def predict(self, X: Any) -> Any:
            return np.argmax(X, axis=1)

    matrix = np.random.default_rng(1).uniform(1.0, 9.0, (n_states, n_states)) * (1.0 - np.eye(n_states))
    shares, labels = posterior(n_rows, n_states), np.arange(n_states)
    table = {int(a): {int(s): float(matrix[s, a]) for s in labels} for a in labels}
    ours = bw.DecisionMaker(Told(), bw.Costs(table)).fit(shares[:n_states], labels)
    peer = SklearnClassifier(Told(), classes=labels, cost_matrix=matrix, random_state=0).fit(shares[:n_states], labels)
    if not np.array_equal(ours.predict(shares), peer.predict(shares)):
        raise AssertionError("the actions differ")
    return partial(ours.predict, shares), partial(peer.predict, shares)


def rows(size: Size) -> Iterator[Row]:
    million, effort = size.rows(1_000_000), Effort.of(size)
    yield Figure(f"decide {million:,} rows x 3 actions", partial(deciding, million), at_most=0.05)
    yield Figure(f"move the prior and decide {million:,} rows x 3 actions", partial(sliding, million), at_most=0.05)
    for name in TABLES:
        for base in ("logistic", "naive Bayes"):
            costs = Costs(name, base, effort)
            for peer in PEERS:
                yield Cheaper(f"cost, {name}, {base} | {NAMES[peer]}", partial(costs.beside, peer))
    for base in ("logistic", "naive Bayes"):
        yield Cheaper(f"cost of each amount, credit, {base} | {NAMES['empulse']}", partial(per_row, base, effort))
        for peer in PEERS[1:]:
            yield Race(f"decisions fit, {base} | {NAMES[peer]}", partial(fits, base, peer))
    tenth = size.rows(100_000)
    yield Race(f"argmin of 8 x 8 costs, {tenth:,} rows | activeml", partial(many_classes, tenth, 8), at_least=1)
