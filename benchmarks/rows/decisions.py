"""Decisions: a million rows while a slider moves; time beside scikit-learn, empulse and scikit-activeml."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.rows.decision_costs import BASES, NAMES, PEERS, deciders, table

EVERY_ISA = True
MAIL = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}


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
    from bayeswise.posteriors.prior import shift_prior

    shares, costs, states = posterior(n_rows, 2), bw.Costs(MAIL), ["spam", "ham"]
    old, new = {"spam": 0.5, "ham": 0.5}, {"spam": 0.2, "ham": 0.8}
    return best_of(20, lambda: bw.decide(shift_prior(shares, states=states, old=old, new=new), costs, states=states))[0]


# -- time beside thresholds -----------------------------------------------------------------------------------


def fits(base: str, peer: str) -> tuple[Task, Task]:
    (X, y), both = table("breast cancer"), deciders(base)
    return partial(both["ours"].fit, X, y), partial(both[peer].fit, X, y)


# -- many classes ---------------------------------------------------------------------------------------------


def many_classes(n_rows: int, n_states: int) -> tuple[Task, Task]:
    """The argmin over costs of every class, beside scikit-activeml's `cost_matrix`; both must act alike."""
    from skactiveml.classifier import SklearnClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    import bayeswise as bw

    class Oracle(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose input is the posterior."""

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
    ours = bw.DecisionMaker(Oracle(), bw.Costs(table)).fit(shares[:n_states], labels)
    peer = SklearnClassifier(Oracle(), classes=labels, cost_matrix=matrix, random_state=0).fit(
        shares[:n_states], labels
    )
    if not np.array_equal(ours.predict(shares), peer.predict(shares)):
        raise AssertionError("the actions differ")
    return partial(ours.predict, shares), partial(peer.predict, shares)


def rows(size: Size) -> Iterator[Row]:
    million = size.rows(1_000_000)
    yield Figure(f"decide {million:,} rows x 3 actions", partial(deciding, million), at_most=0.05)
    yield Figure(f"move the prior and decide {million:,} rows x 3 actions", partial(sliding, million), at_most=0.05)
    for base in BASES:
        for peer in PEERS[1:]:
            yield Race(f"decisions fit, {base} | {NAMES[peer]}", partial(fits, base, peer))
    tenth = size.rows(100_000)
    yield Race(f"argmin of 8 x 8 costs, {tenth:,} rows | activeml", partial(many_classes, tenth, 8), at_least=1)
