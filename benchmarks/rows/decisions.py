"""Decisions: a million rows while a slider moves, and beside scikit-learn's tuned threshold in time and in cost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task, best_of

FALSE_POSITIVE, FALSE_NEGATIVE = 1.0, 12.0


def posterior(n_rows: int, n_states: int) -> Any:
    return np.random.default_rng(0).dirichlet(np.ones(n_states), n_rows)


def deciding(n_rows: int) -> float:
    """Three actions, two states, checked and decided."""
    import bayeswise as bw

    shares = posterior(n_rows, 2)
    costs = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    return best_of(20, lambda: bw.decide(shares, costs, states=["spam", "ham"]))[0]


def sliding(n_rows: int) -> float:
    """Another prior, and decided again."""
    import bayeswise as bw
    from bayeswise.posteriors.prior_shift import shift_prior

    shares = posterior(n_rows, 2)
    costs = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    old, new = {"spam": 0.5, "ham": 0.5}, {"spam": 0.2, "ham": 0.8}

    def slide() -> None:
        states = ["spam", "ham"]
        bw.decide(shift_prior(shares, states=states, old=old, new=new), costs, states=states)

    return best_of(20, slide)[0]


def classifiers() -> tuple[Any, Any, Any, Any]:
    """Ours and the tuned threshold over one classifier, with the breast cancer table."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import bayeswise as bw

    table = load_breast_cancer()
    inner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    costs = bw.Costs.binary(positive=1, negative=0, false_positive=FALSE_POSITIVE, false_negative=FALSE_NEGATIVE)
    tuned = TunedThresholdClassifierCV(inner, scoring=make_scorer(mean_cost, greater_is_better=False))
    return bw.DecisionMaker(inner, costs), tuned, table.data, 1 - table.target


def mean_cost(y: Any, answer: Any) -> float:
    paid = np.where(y == 1, (answer != 1) * FALSE_NEGATIVE, (answer == 1) * FALSE_POSITIVE)
    return float(paid.mean())


def fits() -> tuple[Task, Task]:
    ours, tuned, X, y = classifiers()
    return partial(ours.fit, X, y), partial(tuned.fit, X, y)


def relative_cost(n_seeds: int) -> float:
    """The cost per case of ours over that of the tuned threshold: the mean over several shuffles into five folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    ours, tuned, X, y = classifiers()
    total = [0.0, 0.0]
    for seed in range(n_seeds):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        for k, each in enumerate((ours, tuned)):
            total[k] += mean_cost(y, cross_val_predict(each, X, y, cv=folds))
    return total[0] / total[1]


def rows(size: Size) -> Iterator[Row]:
    million = size.rows(1_000_000)
    yield Figure(f"decide {million:,} rows x 3 actions", partial(deciding, million), at_most=0.05)
    yield Figure(f"move the prior and decide {million:,} rows x 3 actions", partial(sliding, million), at_most=0.1)
    yield Race("decisions fit | TunedThresholdClassifierCV", fits, at_least=2)
    seeds = max(1, round(6 * size.scale))
    what = "decisions, cost over that of the tuned threshold, breast cancer"
    yield Figure(what, partial(relative_cost, seeds), at_most=1.0, unit="")
