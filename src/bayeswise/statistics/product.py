"""Several statistics of the same rows side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.errors import KindError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import fingerprint


@dataclass(frozen=True)
class Product:
    """Named statistics that merge, subtract and regroup together; the first one weighs the rows."""

    parts: Mapping[str, Any]

    def refuse_impossible(self) -> None:
        shapes = {part.weight_of_rows.shape for part in self.parts.values()}
        if len(shapes) != 1:
            raise SchemaError("the statistics of the same rows are none, or differ in their number of groups")

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    @property
    def weight_of_rows(self) -> ExactArray:
        first: ExactArray = next(iter(self.parts.values())).weight_of_rows
        return first

    def zero(self) -> Product:
        return self._each(lambda part: part.zero())

    def merge(self, other: Product) -> Product:
        self._refuse_other_parts(other)
        return Product({name: part.merge(other.parts[name]) for name, part in self.parts.items()})

    def subtract(self, other: Product) -> Product:
        self._refuse_other_parts(other)
        return Product({name: part.subtract(other.parts[name]) for name, part in self.parts.items()})

    def regroup(self, positions: IntArray, n_groups: int) -> Product:
        return self._each(lambda part: part.regroup(positions, n_groups))

    def take(self, groups: IntArray) -> Product:
        return self._each(lambda part: part.take(groups))

    def pooled(self) -> Product:
        return self._each(lambda part: part.pooled())

    def same_columns(self, other: Product) -> bool:
        """Whether two statistics of no rows are about the same columns; pairs that were seen are not compared again."""
        if list(self.parts) != list(other.parts):
            return False
        pairs = zip(self.parts.values(), other.parts.values(), strict=True)
        different = {(id(mine), id(theirs)): (mine, theirs) for mine, theirs in pairs}
        return all(_same_columns(mine, theirs) for mine, theirs in different.values())

    def _each(self, change: Callable[[Any], Any]) -> Product:
        """Each part changed: once if it stands under many names, as that of thousands of columns without rows does."""
        different = {id(part): part for part in self.parts.values()}
        changed = {key: change(part) for key, part in different.items()}
        return Product({name: changed[id(part)] for name, part in self.parts.items()})

    def _refuse_other_parts(self, other: Product) -> None:
        if list(self.parts) != list(other.parts):
            raise KindError(
                f"the statistics hold different parts: {', '.join(self.parts)} against {', '.join(other.parts)}",
                fix="summarise both tables by the same schema and request",
            )

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {part!r}" for name, part in self.parts.items())
        return f"Product({inside})"


def _same_columns(one: Any, other: Any) -> bool:
    if isinstance(one, Product) and isinstance(other, Product):
        return one.same_columns(other)
    return fingerprint(one.merge(one)) == fingerprint(other.merge(other))  # merging puts declared levels in order
