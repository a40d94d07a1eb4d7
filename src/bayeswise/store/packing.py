"""From a frozen value to a tree and tensors.

What JSON gives back unchanged stands for itself, a tuple is a list; everything else is an object whose first
key, which begins with `$`, says what it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.exact import ExactArray
from bayeswise.store.fields import check_field, written
from bayeswise.store.strict_json import Tree
from bayeswise.store.tensors import Tensor, Tensors, packable

DEEPEST = 40
WIDEST = 1 << 63  # integers beyond are written in hexadecimal: reading decimal digits takes quadratic time
SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # JSON would join the two into one character

_STANDS_FOR_ITSELF: dict[type, Callable[[Any], bool]] = {
    type(None): lambda value: True,
    bool: lambda value: True,
    int: lambda value: -WIDEST <= value < WIDEST,
    float: math.isfinite,
    str: lambda value: value.isascii() or not SPLIT_PAIR.search(value),
}


def stands_for_itself(value: Any) -> bool:
    """Whether JSON gives the scalar back as it is.

    >>> [stands_for_itself(value) for value in (1, 1.0, "a", None, float("inf"), 1 << 80, (1,))]
    [True, True, True, True, False, False, False]
    """
    check = _STANDS_FOR_ITSELF.get(type(value))
    return check is not None and check(value)


def _all_stand(items: Sequence[Any]) -> bool:
    """Whether each item stands for itself; long lists of plain text or of integers are seen at once."""
    kinds = set(map(type, items))
    if kinds <= {str} and "".join(items).isascii():
        return True
    if kinds == {int}:
        return bool(min(items) >= -WIDEST and max(items) < WIDEST)
    return kinds <= _STANDS_FOR_ITSELF.keys() and all(map(stands_for_itself, items))


class Packer:
    """Packs one value; its arrays gather in `tensors` under the path that leads to them."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def packed(self, value: Any, path: str = "", depth: int = 0) -> Tree:
        if depth > DEEPEST:
            raise TypeError(f"a value nested deeper than {DEEPEST} levels is not plain data")
        if isinstance(value, np.generic):
            value = value.item()
        if stands_for_itself(value):
            return value
        if type(value) in _SCALARS:
            return _SCALARS[type(value)](value)
        if isinstance(value, np.ndarray):
            return self._tensor(value, path)
        if isinstance(value, ExactArray):
            return {"$exact": self._tensor(value.words(), path), "low": value.low}
        if type(value) is tuple:
            return self._items(value, path, depth)
        if type(value) is list:
            return {"$list": self._items(value, path, depth)}
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth)
        return self._object(value, path, depth)

    def _items(self, items: Sequence[Any], path: str, depth: int) -> Tree:
        if _all_stand(items):
            return list(items)
        return [self.packed(item, f"{path}/{n}", depth + 1) for n, item in enumerate(items)]

    def _mapping(self, value: Mapping[Any, Any], path: str, depth: int) -> Tree:
        pairs = []
        for n, (key, item) in enumerate(value.items()):
            if not stands_for_itself(key):
                raise TypeError(f"the key {key!r} is not plain data; use text, a number or a flag")
            pairs.append([key, self.packed(item, f"{path}/{n}", depth + 1)])
        return {"$map": pairs}

    def _tensor(self, array: Tensor, path: str) -> Tree:
        name = path or "/"
        self.tensors[name] = packable(array)
        return {"$tensor": name}

    def _object(self, value: Any, path: str, depth: int) -> Tree:
        name = type(value).__name__
        if hasattr(type(value), "to_plain"):
            return {"$type": name, "$plain": self.packed(value.to_plain(), path, depth + 1)}
        if not is_dataclass(value) or isinstance(value, type):
            raise TypeError(f"{value!r:.80} of type {name} is not plain data")
        tree = {"$type": name}
        for field in written(value):
            item = getattr(value, field)
            check_field(type(value), field, item)
            tree[field] = self.packed(item, f"{path}/{field}", depth + 1)
        return tree


# The scalars that JSON would lose.
_SCALARS: dict[type, Callable[[Any], Tree]] = {
    float: lambda value: {"$float": repr(value)},
    int: lambda value: {"$int": hex(value)},
    str: lambda value: {"$text": value.encode("utf-8", "surrogatepass").hex()},
}
