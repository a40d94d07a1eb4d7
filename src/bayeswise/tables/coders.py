"""What an encoder remembers from sweep to sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.level_codes import LevelCoder
from bayeswise.tables.schema import Column, Schema, Target
from bayeswise.tables.words import WordCoder


@dataclass(frozen=True)
class Coders:
    """One for each column of labels or words, and one for the target."""

    levels: dict[str, LevelCoder]
    words: dict[str, WordCoder]
    classes: LevelCoder | None
    learning: bool

    @classmethod
    def of(cls, schema: Schema, learning: bool, known: Mapping[str, Vocabulary], with_target: bool) -> Coders:
        levels = {column.name: _level_coder(column, learning, known) for column in schema if column.labels is not None}
        words = {name: WordCoder(learning=learning, known=known.get(name)) for name in schema.texts}
        classes = _class_coder(schema.target, learning, known) if with_target and schema.target else None
        return cls(levels, words, classes, learning)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        coders: dict[str, LevelCoder | WordCoder] = {**self.levels, **self.words}
        if self.classes is not None:
            coders[self.classes.name] = self.classes
        return {name: coder.vocabulary for name, coder in coders.items()}


def _level_coder(column: Column, learning: bool, known: Mapping[str, Vocabulary]) -> LevelCoder:
    assert column.labels is not None
    return LevelCoder(
        column.name,
        column.labels,
        learning=learning,
        known=known.get(column.name),
        declared=column.levels,
        unseen=column.unseen,
    )


def _class_coder(target: Target, learning: bool, known: Mapping[str, Vocabulary]) -> LevelCoder:
    return LevelCoder(
        target.name, target.labels, learning=learning, known=known.get(target.name), declared=target.classes
    )
