"""The words of texts: those that separate the classes, as indicators, and how much a word counts in naive Bayes.

Words of one text repeat and go together, so that naive Bayes, which takes each for new, is far too sure. With a weight
t the posterior is proportional to p(class) p(other columns | class) p(words | class)^t; t is the one under which rows
that were left out are most probable.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.models.settings.regression import n_weight_vectors
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import TextBlock
from bayeswise.tables.schema.labels import Vocabulary

MOST_WORDS = 300  # of a text that have an indicator
MOST_WEIGHTS = 750  # of a text, for all classes together
RARE = 5.0  # a word of texts with less weight has none
_LEAST = 0.01  # weight of a word
_HALVINGS = 20


def most_words(n_classes: int) -> int:
    """How many words of a text have an indicator at most; two classes share one weight for each.

    >>> most_words(2), most_words(5)
    (300, 150)
    """
    return min(MOST_WORDS, max(1, MOST_WEIGHTS // n_weight_vectors(n_classes)))


def informative_words(texts: TextBlock, groups: CodeArray, n_groups: int, weights: FloatArray) -> Vocabulary:
    """The words whose presence says most about the class, in canonical order.

    A word says sum over presence and class of n log(n N / (n_presence n_class)) nats, n the weight of rows.
    """
    order = Vocabulary.of(texts.vocabulary)
    shares = np.zeros((len(weights), n_groups))
    shares[np.arange(len(weights)), groups] = weights
    present = np.asarray((texts.counts > 0).T @ shares)[order.positions_in(texts.vocabulary)]  # (n_words, n_groups)
    by_class = shares.sum(axis=0)
    n_present, total = present.sum(axis=1), float(by_class.sum())
    nats = _nats(present, n_present, by_class, total) + _nats(by_class - present, total - n_present, by_class, total)
    frequent = np.flatnonzero(n_present >= RARE)
    best = frequent[np.argsort(-nats[frequent], kind="stable")[: most_words(n_groups)]]
    return Vocabulary([order[place] for place in np.sort(best).tolist()])


def _nats(cells: FloatArray, of_word: FloatArray, by_class: FloatArray, total: float) -> FloatArray:
    """(n_words,) sum over classes of n log(n N / (n_word n_class)); an empty cell says nothing."""
    expected = np.maximum(of_word, 0.0)[:, None] * by_class / total
    seen = (cells > 0.0) & (expected > 0.0)
    ratio = np.where(seen, cells, 1.0) / np.where(seen, expected, 1.0)
    return np.asarray((np.where(seen, cells, 0.0) * np.log(ratio)).sum(axis=1))


def presence(texts: TextBlock, words: Vocabulary) -> FloatArray:
    """(n_rows, n_words) 1 where a text has the word."""
    place = words.positions_in(texts.vocabulary)
    found = np.zeros((texts.counts.shape[0], len(words)))
    known = np.flatnonzero(place >= 0)
    found[:, known] = (texts.counts[:, place[known]] > 0).toarray()
    return found


def best_word_weight(log_rest: FloatArray, log_words: FloatArray, truth: IntArray, row_weights: FloatArray) -> float:
    """The t up to 1 that maximises sum_r m_r log p(truth of r), where p is proportional to exp(log_rest + t log_words).

    The sum is concave in t: where its slope changes its sign is found by halving.

    >>> log_words = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [0.0, 4.0]])  # one in four is wrong
    >>> best_word_weight(np.zeros((4, 2)), log_words, np.zeros(4, dtype=np.int64), np.ones(4))  # log(3) / 4
    0.2747
    """
    rows = np.arange(len(truth))
    sure = np.isfinite(log_rest[rows, truth])  # no weight makes an impossible row possible
    finite = np.isfinite(log_rest)

    def slope(t: float) -> float:
        with np.errstate(invalid="ignore"):
            p = np.exp(log_posterior(np.where(finite, log_rest + t * log_words, -np.inf), undefined="uniform"))
        expected = np.where(finite, p * log_words, 0.0).sum(axis=1)
        return float((row_weights * np.where(sure, log_words[rows, truth] - expected, 0.0)).sum())

    low, high = _LEAST, 1.0
    if slope(high) >= 0.0:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return round(high, 4)
