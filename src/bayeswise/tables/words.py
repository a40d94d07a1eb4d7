"""Words of a text column as counts: lower-cased runs of two or more word characters, after Unicode NFC.

>>> words_of("Café au lait, à 3 €: un CAFÉ!")
['café', 'au', 'lait', 'un', 'café']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.tables.batch import TextBlock
from bayeswise.tables.labels import Vocabulary

_find_words = re.compile(r"\w\w+").findall


def words_of(text: str) -> list[str]:
    """The words of a text, in its order."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return _find_words(composed.lower())


class WordCoder:
    """Word counts of one text column; while learning, new words join the vocabulary.

    >>> block = WordCoder(learning=True).encode(["red or dead", None, "Red, red"])
    >>> block.vocabulary, block.counts.toarray().tolist()
    (Vocabulary('red', 'or', 'dead'), [[1, 1, 1], [0, 0, 0], [2, 0, 0]])
    """

    def __init__(self, *, learning: bool, known: Vocabulary | None = None) -> None:
        self.learning = learning
        self._codes: dict[str, int] = {str(word): code for code, word in enumerate(known or ())}
        self._vocabulary = known if known is not None else Vocabulary()

    @property
    def vocabulary(self) -> Vocabulary:
        """The words met so far."""
        if len(self._vocabulary) != len(self._codes):
            self._vocabulary = Vocabulary.trusted(tuple(self._codes))
        return self._vocabulary

    def encode(self, texts: Sequence[str | None]) -> TextBlock:
        """One row of counts for each text; a missing text and an unseen word count nothing."""
        from scipy.sparse import csr_array

        found = [words_of(text) if text else [] for text in texts]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        codes = self._codes_of(chain.from_iterable(found), int(lengths.sum()))
        rows = np.repeat(np.arange(len(found)), lengths)[codes >= 0]
        codes = codes[codes >= 0]
        shape = (len(found), len(self._codes))
        counts = csr_array((np.ones(len(codes), dtype=np.int64), (rows, codes)), shape=shape)  # sums repeated words
        counts.sort_indices()
        return TextBlock(counts, self.vocabulary)

    def _codes_of(self, words: chain[str], n_words: int) -> IntArray:
        codes = self._codes
        if self.learning:
            return np.fromiter((codes.setdefault(word, len(codes)) for word in words), np.int64, n_words)
        return np.fromiter((codes.get(word, -1) for word in words), np.int64, n_words)
