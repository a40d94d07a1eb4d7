"""Networks and classifiers that have answered are copied and sent to other processes, without their compiled trees."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_validate

import bayeswise as bw
from tests.cases.network_cases import asia


def sent(value: Any) -> Any:
    """As joblib sends it to a worker."""
    return pickle.loads(pickle.dumps(value))


ways = pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, sent])


@ways
def test_a_network_that_has_answered_is_copied_and_answers_alike(copied: Callable[[Any], Any]) -> None:
    network = asia()
    network.engine.memory_limit = 1 << 20
    before = network.query("cancer", {"dyspnoea": "yes"}), network.marginals({"smoking": "yes"})
    again = copied(network)
    assert (again.query("cancer", {"dyspnoea": "yes"}), again.marginals({"smoking": "yes"})) == before
    assert again.engine.memory_limit == 1 << 20
    assert network.query("cancer", {"dyspnoea": "yes"}) == before[0]


@ways
def test_a_copied_engine_answers_about_its_own_network(copied: Callable[[Any], Any]) -> None:
    network = asia()
    network.marginals()
    engine = copied(network.engine)
    assert engine.query("cancer") == network.query("cancer")


def coins() -> tuple[Any, Any]:
    x = np.random.default_rng(0).integers(0, 3, (120, 4)).astype(str)
    return x, np.where(x[:, 0] == x[:, 1], "same", "other")


@ways
@pytest.mark.parametrize("structure", ["markov-blanket", "k-dependence"])
def test_a_classifier_that_has_predicted_is_copied(structure: str, copied: Callable[[Any], Any]) -> None:
    x, y = coins()
    classifier = bw.NetworkClassifier(structure).fit(x, y)
    posterior = classifier.predict_proba(x)
    assert np.array_equal(copied(classifier).predict_proba(x), posterior)


def test_auto_with_networks_among_its_members_comes_back_from_workers() -> None:
    x, y = coins()
    found = cross_validate(bw.AutoClassifier(), x, y, cv=2, n_jobs=2, return_estimator=True)
    assert all(estimator.predict(x).shape == y.shape for estimator in found["estimator"])
