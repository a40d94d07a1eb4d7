"""How much a word counts in naive Bayes: log prior + t x log p(words | class), beside scikit-learn and refits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError

WORDS = ["cash", "prize", "win", "lunch", "report", "team", "the", "of"]
PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}


def texts(seed: int, n_rows: int) -> tuple[list[str], list[str]]:
    generator = np.random.default_rng(seed)
    labels = generator.choice(["ham", "spam"], n_rows, p=[0.7, 0.3]).tolist()
    shares = {"ham": [1, 1, 1, 4, 4, 3, 3, 3], "spam": [4, 3, 4, 1, 1, 1, 3, 3]}
    drawn = [" ".join(generator.choice(WORDS, 7, p=np.array(shares[label]) / sum(shares[label]))) for label in labels]
    return drawn, labels


@pytest.mark.parametrize("family", PEERS)
@pytest.mark.parametrize("weight", [0.2, 1.0])
def test_posteriors_are_those_of_the_likelihood_of_words_to_a_power(family: str, weight: float) -> None:
    rows, labels = texts(0, 60)
    fresh = texts(1, 20)[0]
    model = bw.fit(
        {"text": rows, "y": labels},
        "y",
        model="naive-bayes",
        kinds={"text": "text"},
        families={"text": family},
        word_weight=weight,
    )
    counter = CountVectorizer()
    peer = PEERS[family]().fit(counter.fit_transform(rows), labels)
    joint = np.asarray(peer.predict_joint_log_proba(counter.transform(fresh)))
    own_prior = np.zeros(2) if family == "complement" else peer.class_log_prior_  # scikit-learn's has none
    expected = peer.class_log_prior_ + weight * (joint - own_prior)
    assert np.allclose(model.predict_log_proba({"text": fresh}), log_softmax(expected, axis=1), atol=1e-10)


@pytest.mark.parametrize("family", PEERS)
def test_a_row_left_out_is_a_fit_without_it(family: str) -> None:
    rows, labels = texts(2, 25)
    words = {"model": "naive-bayes", "kinds": {"text": "text"}, "families": {"text": family}, "word_weight": 0.3}
    table = {"text": rows, "y": labels}
    left_out = bw.fit(table, "y", **words).leave_one_out(table)
    for row in range(25):
        others = {name: cells[:row] + cells[row + 1 :] for name, cells in table.items()}
        refit = bw.fit(others, "y", **words).predict_proba({"text": rows[row : row + 1]})
        assert np.allclose(left_out[row], refit[0], atol=1e-12)


def test_words_that_count_less_say_less_and_are_kept_in_the_file(tmp_path: Path) -> None:
    rows, labels = texts(3, 40)
    table = {"text": rows, "y": labels}
    model = bw.fit(table, "y", model="naive-bayes", kinds={"text": "text"}, word_weight=0.5)
    plain = bw.fit(table, "y", model="naive-bayes", kinds={"text": "text"})
    case = {"text": "cash prize cash"}
    half, whole = (dict(each.explain(case).contributions[0].parts) for each in (model, plain))
    assert set(half) == set(whole)
    for word in half:
        assert np.ptp(half[word]) == pytest.approx(0.5 * np.ptp(whole[word]), rel=1e-12)
    model.save(tmp_path / "model")
    again = bw.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba({"text": rows}), model.predict_proba({"text": rows}))


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.5, np.nan])
def test_a_weight_is_above_0_and_at_most_1(weight: float) -> None:
    rows, labels = texts(4, 10)
    with pytest.raises(ParameterError, match="word_weight"):
        bw.fit({"text": rows, "y": labels}, "y", model="naive-bayes", kinds={"text": "text"}, word_weight=weight)


def test_an_impossible_word_stays_impossible() -> None:
    table = {"text": ["aa bb", "bb bb", "cc bb", "cc cc"], "y": ["+", "+", "-", "-"]}
    model = bw.fit(table, "y", model="naive-bayes", kinds={"text": "text"}, smoothing=0, word_weight=0.1)
    assert model.predict_proba({"text": ["aa", "cc"]}).tolist() == [[1.0, 0.0], [0.0, 1.0]]
