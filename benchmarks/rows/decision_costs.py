"""What decisions cost, beside scikit-learn's and empulse's thresholds over the same classifier and folds.

Tables of some hundred rows tell such costs apart to a percent or so: the name of each outcome ends with the standard
error of its ratio. What is true of the invented applicants is known, so that fresh ones tell more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Outcome, Row, Size
from examples.make_credit import COLUMNS, HISTORY, applicants, log_odds_of_repaying

EXAMPLES = Path(__file__).parents[2] / "examples"
FALSE_POSITIVE, FALSE_NEGATIVE = 1.0, 12.0
TABLES, BASES, PEERS = ("breast cancer", "credit"), ("logistic", "naive Bayes"), ("fixed", "tuned", "empulse")
NAMES = {"fixed": "FixedThreshold", "tuned": "TunedThreshold", "empulse": "empulse"}


@dataclass(frozen=True)
class Cheaper:
    """Costs of ours beside those of a peer, (n,) in pairs; the ratio is the peer's mean over ours."""

    what: str
    measure: Callable[[], tuple[Any, Any]]

    def run(self, size: Size) -> Outcome:
        ours, peer = self.measure()
        mean, other = float(ours.mean()), float(peer.mean())
        error = float((peer - ours).std(ddof=1)) / len(ours) ** 0.5 / mean
        return Outcome(f"{self.what} (+-{error:.1%})", mean, other, "", other / mean, ">= 1x", mean <= other)


# -- tables -----------------------------------------------------------------------------------------------------


def table(name: str) -> tuple[Any, Any]:
    """X and y; 1 is what must not be missed: a malignant tumour, a loan that is not repaid."""
    if name == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        cancer = load_breast_cancer()
        return cancer.data, 1 - cancer.target
    import pandas as pd

    return coded(pd.concat([pd.read_csv(EXAMPLES / part) for part in ("credit.csv", "credit-test.csv")]))


def coded(frame: Any) -> tuple[Any, Any]:
    from sklearn.preprocessing import OneHotEncoder

    levels = OneHotEncoder(sparse_output=False).fit_transform(frame[["history", "employed", "purpose"]])
    return np.hstack([np.log(frame[["income", "amount"]]), levels]), (frame["repaid"] == "no").to_numpy().astype(int)


def fresh(n_rows: int, seed: int) -> tuple[Any, Any, Any]:
    """X and y of other applicants, and the true probability that each does not repay."""
    import pandas as pd

    frame = pd.DataFrame(applicants(n_rows, seed), columns=COLUMNS)
    history, employed = frame["history"].map(HISTORY.index).to_numpy(), (frame["employed"] == "yes").to_numpy()
    log_odds = log_odds_of_repaying(frame["income"].to_numpy(), frame["amount"].to_numpy(), history, employed)
    return *coded(frame), 1.0 / (1.0 + np.exp(log_odds))


# -- who decides ------------------------------------------------------------------------------------------------


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


def cost_of_each(risk: Any, answer: Any) -> Any:
    """(n_rows,) of answering 1 or 0; `risk` is y, or the probability that y is 1."""
    return np.where(answer == 1, (1 - risk) * FALSE_POSITIVE, risk * FALSE_NEGATIVE)


def mean_cost(y: Any, answer: Any) -> float:
    return float(cost_of_each(y, answer).mean())


# -- what it costs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """How many shuffles into how many folds; how many fresh tables; of a small run only every so many rows."""

    n_seeds: int
    n_folds: int
    step: int
    n_tables: int

    @classmethod
    def of(cls, size: Size) -> Effort:
        if size.scale < 0.1:
            return cls(1, 2, 5, 2)
        return cls(max(1, round(20 * size.scale)), 5, 1, max(2, round(60 * size.scale)))

    def shuffles(self) -> list[Any]:
        from sklearn.model_selection import StratifiedKFold

        return [StratifiedKFold(self.n_folds, shuffle=True, random_state=seed) for seed in range(self.n_seeds)]

    def table(self, name: str) -> tuple[Any, Any]:
        X, y = table(name)
        return X[:: self.step], y[:: self.step]


def on_table(name: str, base: str, effort: Effort, which: str) -> Any:
    """(n_rows,) the cost of each row of a table, left out, over several shuffles into folds."""
    from sklearn.model_selection import cross_val_predict

    (X, y), decider = effort.table(name), deciders(base)[which]
    return np.mean([cost_of_each(y, cross_val_predict(decider, X, y, cv=folds)) for folds in effort.shuffles()], axis=0)


def on_fresh_applicants(base: str, effort: Effort, which: str) -> Any:
    """(n_tables,) the true expected cost per case of what is learned from each of several tables of the source."""
    from sklearn.base import clone

    X, _, risk = fresh(40_000 // effort.step, seed=99)
    learned = (fresh(1_200 // effort.step, seed=1_000 + k) for k in range(effort.n_tables))
    fitted = (clone(deciders(base)[which]).fit(*each[:2]) for each in learned)
    return np.array([cost_of_each(risk, each.predict(X)).mean() for each in fitted])


def beside(cost: Callable[[str], Any], peer: str) -> tuple[Any, Any]:
    return cost("ours"), cost(peer)


def by_amount(base: str, effort: Effort) -> tuple[Any, Any]:
    """Lending or not, where what is lost and earned depends on the amount: cost per case above perfect knowledge."""
    X, y = effort.table("credit")
    gains = np.where(y == 1, 0.6, -0.12) * amount_of(X)  # what lending costs in truth
    total = np.zeros((2, len(y)))
    for folds in effort.shuffles():
        for learned, new in folds.split(X, y):
            total[:, new] += gains[new] * lent(base, (X[learned], y[learned]), X[new])
    ours, theirs = total / effort.n_seeds - np.minimum(gains, 0.0)
    return ours, theirs


def by_amount_of_fresh_applicants(base: str, effort: Effort) -> tuple[Any, Any]:
    """The same in true expectation, (n_tables,), above perfect knowledge."""
    X, _, risk = fresh(40_000 // effort.step, seed=99)
    gains = (0.6 * risk - 0.12 * (1.0 - risk)) * amount_of(X)
    least = float((-0.12 * (1.0 - risk) * amount_of(X)).mean())
    learned = (fresh(1_200 // effort.step, seed=1_000 + k)[:2] for k in range(effort.n_tables))
    ours, theirs = np.array([(gains * lent(base, each, X)).mean(axis=1) - least for each in learned]).T
    return ours, theirs


def amount_of(X: Any) -> Any:
    return np.exp(X[:, 1])


def lent(base: str, learned: tuple[Any, Any], X: Any) -> Any:
    """(2, n_rows) whether ours lends, and whether empulse does."""
    from empulse.models import CSThresholdClassifier

    import bayeswise as bw

    inner, amount = classifier(base), amount_of(X)
    maker = bw.DecisionMaker(inner, {"lend": {0: "-0.12 * amount", 1: "0.6 * amount"}, "refuse": 0}, calibrate="auto")
    maker.fit(*learned, rows={"amount": amount_of(learned[0])})
    peer = innermost(inner, CSThresholdClassifier).fit(*learned)
    costs_of_rows = {"fn_cost": 0.6 * amount, "tn_cost": -0.12 * amount, "tp_cost": 0.0, "fp_cost": 0.0}
    return np.array([maker.predict(X, rows={"amount": amount}) == "lend", predicted(peer, X, costs_of_rows) == 0])


def predicted(peer: Any, X: Any, costs: dict[str, Any]) -> Any:
    """The costs of each row go to the last step of a pipeline."""
    from sklearn.pipeline import Pipeline

    return peer[1].predict(peer[0].transform(X), **costs) if isinstance(peer, Pipeline) else peer.predict(X, **costs)


def rows(size: Size) -> Iterator[Row]:
    effort = Effort.of(size)
    for base in BASES:
        for name in TABLES:
            cost = cache(partial(on_table, name, base, effort))
            for peer in PEERS:
                yield Cheaper(f"cost, {name}, {base} | {NAMES[peer]}", partial(beside, cost, peer))
        cost = cache(partial(on_fresh_applicants, base, effort))
        for peer in PEERS:
            yield Cheaper(f"cost, fresh applicants, {base} | {NAMES[peer]}", partial(beside, cost, peer))
        peer_name = NAMES["empulse"]
        yield Cheaper(f"cost by amount, credit, {base} | {peer_name}", partial(by_amount, base, effort))
        yield Cheaper(
            f"cost by amount, fresh applicants, {base} | {peer_name}",
            partial(by_amount_of_fresh_applicants, base, effort),
        )
