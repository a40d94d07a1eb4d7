"""Codes of one label column: levels as a source numbers them become codes of the schema's vocabulary.

Work per level is done once, in Python, when the level is first met; work per row is one `np.take`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeswise.foundation.arrays import CodeArray
from bayeswise.foundation.errors import KindError, SchemaError, UnseenLevelError
from bayeswise.tables.batch import MISSING, UNSEEN
from bayeswise.tables.label_types import LabelType, as_label
from bayeswise.tables.labels import Label, LabelKey, Vocabulary, label_key
from bayeswise.tables.notes import keep, shown
from bayeswise.tables.schema import UnseenPolicy

_UNKNOWN = -3  # a level of the source that no row has shown yet


class LevelCoder:
    """Codes for the levels of one column, over all sweeps; `start` begins a sweep.

    >>> coder = LevelCoder("wind", "text", learning=True)
    >>> coder.start(textual=False)
    >>> coder.encode(np.array([1, -1, 1], dtype=np.int32), ["calm", "strong"]).tolist(), coder.vocabulary
    ([0, -1, 0], Vocabulary('strong'))
    """

    def __init__(
        self,
        name: str,
        label_type: LabelType,
        *,
        learning: bool,
        known: Vocabulary | None = None,
        declared: Vocabulary | None = None,
        unseen: UnseenPolicy = "smooth",
    ) -> None:
        self.name = name
        self.label_type = label_type
        self.learning = learning
        self.declared = declared
        self.unseen = unseen
        self.n_unseen = 0
        self._labels: list[Label] = list(known if known is not None else declared or ())
        self._codes: dict[LabelKey, int] = {label_key(label): code for code, label in enumerate(self._labels)}
        self._vocabulary = Vocabulary.trusted(tuple(self._labels))
        self.start(textual=False)

    def start(self, *, textual: bool) -> None:
        """Begin a sweep: the source will number its levels anew."""
        self.textual = textual
        self.n_unseen = 0
        self._unseen_met = False
        self._code_of_level: CodeArray = np.array([MISSING], dtype=np.int32)  # its last entry answers code -1

    @property
    def vocabulary(self) -> Vocabulary:
        """The labels of the codes given so far."""
        if len(self._vocabulary) != len(self._labels):
            self._vocabulary = Vocabulary.trusted(tuple(self._labels))
        return self._vocabulary

    def encode(self, raw_codes: CodeArray, levels: Sequence[Label]) -> CodeArray:
        """Codes of the vocabulary for codes of the source's levels."""
        self._lengthen(len(levels))
        met = np.zeros(len(levels) + 1, dtype=bool)
        met[raw_codes] = True
        met[-1] = False
        for level in np.flatnonzero(met & (self._code_of_level == _UNKNOWN)):
            self._code_of_level[level] = self._code(levels[int(level)])
        codes = np.take(self._code_of_level, raw_codes)
        if self._unseen_met:
            self.n_unseen += int(np.count_nonzero(codes == UNSEEN))
        return codes

    def _lengthen(self, n_levels: int) -> None:
        grown = np.full(n_levels + 1, _UNKNOWN, dtype=np.int32)
        grown[: len(self._code_of_level) - 1] = self._code_of_level[:-1]
        grown[-1] = MISSING
        self._code_of_level = grown

    def _code(self, level: Label) -> int:
        label = as_label(level, self.label_type, textual=self.textual)
        known = None if label is None else self._codes.get(label_key(label))
        if known is not None:
            return known
        if not self.learning:
            return self._unseen_code(level)
        if label is None:
            raise KindError(
                f"column {self.name!r} has {self.label_type} labels; found {shown(level)!r}",
                fix=f"correct the cell, or learn anew with {keep(self.name, 'category')}",
            )
        if self.declared is not None:
            raise self._undeclared(label)
        return self._added(label)

    def _added(self, label: Label) -> int:
        code = self._codes[label_key(label)] = len(self._labels)
        self._labels.append(label)
        return code

    def _unseen_code(self, level: Label) -> int:
        if self.unseen == "error":
            raise UnseenLevelError(
                f"column {self.name!r} has the level {shown(level)!r}, which the model never saw",
                fix=f"correct the cell, or choose unseen='smooth' or unseen='ignore' for {self.name!r}",
            )
        self._unseen_met = True
        return UNSEEN

    def _undeclared(self, label: Label) -> SchemaError:
        declared = ", ".join(shown(level) for level in (self.declared or ())[:8])
        return SchemaError(
            f"column {self.name!r} has the level {shown(label)!r}, which is not among the declared ones: {declared}",
            fix=f"correct the cell, or declare it in levels={{{self.name!r}: [...]}}",
        )
