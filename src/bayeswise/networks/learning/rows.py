"""Any table as codes: one column for each node, its levels in canonical order, -1 where a cell is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray
from bayeswise.foundation.errors import FitError, MissingCellError, SchemaError
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.names import find_name
from bayeswise.tables.source import open_source

MOST_LEVELS = 255


@dataclass(frozen=True)
class CodedRows:
    """Codes of rows; `states[k]` names the codes of column k."""

    names: tuple[str, ...]
    states: tuple[Vocabulary, ...]
    codes: CodeArray  # (n_rows, n_columns)

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        ignore: Collection[str] = (),
        states: Mapping[str, Sequence[Any]] | None = None,
        columns: Sequence[str] | None = None,
        may_be_hidden: Collection[str] = (),
    ) -> CodedRows:
        """The columns of a table that are not ignored; given states come first, in their order.

        A name with states that may be hidden and is no column becomes one without any cell, after the others.

        >>> CodedRows.of({"wind": ["weak", None, "strong"]}).codes.ravel().tolist()
        [1, -1, 0]
        """
        source = open_source(table)
        known = [column.name for column in source.columns]
        hidden = [name for name in states or {} if name in may_be_hidden and name not in known]
        for name in (*ignore, *(name for name in states or {} if name not in hidden)):
            find_name(name, known, where=source.description)
        wanted = known if columns is None else [find_name(n, known, where=source.description) for n in columns]
        names = tuple(name for name in wanted if name not in ignore)
        parts: list[list[CodeArray]] = [[] for _ in names]
        levels: list[Sequence[Any]] = [() for _ in names]
        for chunk in source.chunks(list(names)):
            for place, name in enumerate(names):
                codes, levels[place] = chunk.labels(name)
                if len(levels[place]) > MOST_LEVELS:
                    raise SchemaError(
                        f"column {name!r} has more than {MOST_LEVELS} different values",
                        fix=f"cut it into a few states first, or ignore it: ignore=[{name!r}]",
                    )
                parts[place].append(np.array(codes))
        given = {name: list((states or {}).get(name, ())) for name in names}
        vocabularies = tuple(_vocabulary(given[n], seen) for n, seen in zip(names, levels, strict=True))
        n_rows = sum(map(len, parts[0])) if parts else 0
        codes = np.empty((n_rows, len(names)), dtype=np.int32)
        for place, vocabulary in enumerate(vocabularies):
            positions = np.append(vocabulary.encode(levels[place]), -1)
            codes[:, place] = positions[np.concatenate(parts[place])] if parts[place] else -1
        if hidden:
            codes = np.hstack([codes, np.full((n_rows, len(hidden)), -1, dtype=np.int32)])
            vocabularies += tuple(Vocabulary((states or {})[name]) for name in hidden)
        return cls((*names, *hidden), vocabularies, codes)

    @property
    def sizes(self) -> list[int]:
        return [len(vocabulary) for vocabulary in self.states]

    def complete(self) -> CodedRows:
        """The same rows, none of which may have a hole."""
        if self.codes.min(initial=0) < 0:
            holes = np.argwhere(self.codes < 0)
            row, column = map(int, holes[0])
            n_rows = len(np.unique(holes[:, 0]))
            raise MissingCellError(
                f"{n_rows} of {len(self.codes)} rows have a missing cell, the first in row {row + 1}, column "
                f"{self.names[column]!r}; a graph is learned from whole rows",
                fix="use missing='drop' to leave these rows out, or missing='em' to find the graph without them and "
                "the tables with them",
            )
        return self

    def without_holes(self) -> CodedRows:
        """Only the rows that have every cell; there must be one."""
        whole = np.asarray((self.codes >= 0).all(axis=1))
        if len(whole) and not whole.any():
            raise FitError(
                f"none of the {len(whole)} rows has every cell, so there is nothing to find a graph in",
                fix="ignore the columns with the most holes, or give the graph: parents={...}",
            )
        return CodedRows(self.names, self.states, self.codes[whole])

    def with_states(self) -> CodedRows:
        """The same rows, each column of which has a state."""
        for name, size in zip(self.names, self.sizes, strict=True):
            if size == 0:
                raise FitError(
                    f"column {name!r} has no cell: its states are not known", fix="ignore it, or give states"
                )
        return self


def _vocabulary(given: list[Any], seen: Sequence[Any]) -> Vocabulary:
    first = Vocabulary(given)
    return Vocabulary([*first, *(label for label in Vocabulary.of(seen) if label not in first)])
