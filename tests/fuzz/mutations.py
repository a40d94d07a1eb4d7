"""Changes of trees and texts that leave most of them as they were: what is wrong is reached, not the first line."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

Tree = Any  # what JSON can hold
Way = tuple[Any, ...]

NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 100, 10**9, -(2**63), 2**63 - 1, 10**30),
    *(0.0, -0.0, 0.5, -0.5, 1e-320, 1e-9, 1e9, 1e154, 1e308, -1e308),
)
VALUES = (None, True, False, *NUMBERS, "", "a", "x", "class", "yes", "no", "nan", "gaussian", [], [[]], {}, {"a": 1})


# -- trees --------------------------------------------------------------------------------------------------
def walked(tree: Tree, path: Way = ()) -> Iterator[tuple[Way, Tree]]:
    """The way to every value in a tree, and the value."""
    yield path, tree
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from walked(child, (*path, key))


def at(tree: Tree, path: Way) -> Tree:
    """The value at the end of a way."""
    for key in path:
        tree = tree[key]
    return tree


def changed_tree(tree: Tree, random: Random, values: Sequence[Tree] = ()) -> Tree:
    """A copy of the tree with one change, for which `values` may be used besides the usual ones."""
    root = [copy.deepcopy(tree)]  # so that the tree itself has a place
    places = [path for path, _ in walked(root) if path]
    path = random.choice(places)
    random.choice(_CHANGES)(root, random, path, (*VALUES, *values))
    return root[0] if root else None


def _put(root: Tree, path: Way, value: Tree) -> None:
    at(root, path[:-1])[path[-1]] = value


def _replaced(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    """Another value: of the same type, of another one, or from elsewhere in the tree."""
    old = at(root, path)
    everything = [value for _, value in walked(root)][1:]
    if random.random() < 0.3:
        new = random.choice(everything)
    elif isinstance(old, bool) or random.random() < 0.4:
        new = random.choice(values)
    elif isinstance(old, int | float):
        new = random.choice((*NUMBERS, -old, old + 1, old * 1.0000001, float(old)))
    elif isinstance(old, str):
        new = random.choice((*(each for each in everything if isinstance(each, str)), old + "x", old.upper(), ""))
    else:
        new = random.choice(values)
    _put(root, path, copy.deepcopy(new))


def _dropped(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    del at(root, path[:-1])[path[-1]]


def _added(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    inside, value = at(root, path), copy.deepcopy(random.choice(values))
    if isinstance(inside, list):
        inside.insert(random.randrange(len(inside) + 1), value)
    elif isinstance(inside, dict):
        inside["extra"] = value


def _doubled(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    inside = at(root, path)
    if isinstance(inside, list) and inside:
        inside.append(copy.deepcopy(random.choice(inside)))
    elif isinstance(inside, dict) and inside:
        inside["again"] = copy.deepcopy(random.choice(list(inside.values())))


def _swapped(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    other = random.choice([place for place, _ in walked(root) if place])
    if path[: len(other)] != other and other[: len(path)] != path:
        one, two = at(root, path), at(root, other)
        _put(root, path, two)
        _put(root, other, one)


def _reordered(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    inside = at(root, path)
    if isinstance(inside, list):
        random.shuffle(inside)
    elif isinstance(inside, dict):
        items = list(inside.items())
        random.shuffle(items)
        inside.clear()
        inside.update(items)


def _renamed(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    inside = at(root, path)
    if isinstance(inside, dict) and inside:
        old = random.choice(list(inside))
        words = [value for _, value in walked(root) if isinstance(value, str)]
        inside[random.choice(("", "x", old + "x", *words))] = inside.pop(old)


def _nested(root: Tree, random: Random, path: Way, values: Sequence[Tree]) -> None:
    value, as_table = at(root, path), random.random() < 0.5
    for _ in range(random.choice((1, 2, 30, 200))):
        value = {"a": value} if as_table else [value]
    _put(root, path, value)


_CHANGES: tuple[Callable[[Tree, Random, Way, Sequence[Tree]], None], ...] = (
    *(_replaced, _replaced, _replaced, _replaced),
    *(_dropped, _added, _doubled, _swapped, _reordered, _renamed, _nested),
)


def toml_of(tree: dict[str, Tree]) -> str:
    """A tree as TOML, every table in one line; what TOML cannot say (null) is left out."""
    return "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in tree.items() if value is not None)


def _toml(value: Tree) -> str:
    """One value; trees may be nested deeper than functions can call each other."""
    words: list[str] = []
    waiting: list[tuple[bool, Tree]] = [(False, value)]  # words and values, the next one last
    while waiting:
        is_word, item = waiting.pop()
        if is_word:
            words.append(item)
        elif isinstance(item, dict):
            pairs = [(f"{json.dumps(str(key))} = ", each) for key, each in item.items() if each is not None]
            waiting.extend(_within("{", pairs, "}"))
        elif isinstance(item, list):
            waiting.extend(_within("[", [("", each) for each in item if each is not None], "]"))
        else:
            words.append(repr(item) if isinstance(item, float) else json.dumps(item))
    return "".join(words)


def _within(opening: str, pairs: list[tuple[str, Tree]], closing: str) -> list[tuple[bool, Tree]]:
    """Names and values between brackets, the last one first."""
    inside: list[tuple[bool, Tree]] = [(True, opening)]
    for position, (name, each) in enumerate(pairs):
        inside += [(True, ", " * (position > 0) + name), (False, each)]
    return [(True, closing), *reversed(inside)]


# -- texts --------------------------------------------------------------------------------------------------
_TOKEN = re.compile(r'"[^"\n]*"|[-+\w.]+|\s+|.', re.DOTALL)
_WORDS = (
    *("", "0", "1", "-1", "0.5", "1.5", "1e308", "1e999", "-1e-320", "nan", "inf", "9" * 400, "0x10", "1_000", "1,5"),
    *("{", "}", "(", ")", "[", "]", "|", ";", ",", "=", "<", ">", "</", "/>", "&", "&lt;", '"', "'", "\\", "//", "/*"),
    *("%", "#", "\0", "\n", "\r", "\t", "\ufeff", "\u2028", "ä", "😀", "é" * 50, "table", "default", "true", "<!--"),
)

_NAMES = ('" "', '""', '"a b"', "größer", "😀", '"1"', "1", "true", "nan", "a" * 3000, '"x|y"', "a-b", '"\\""', "table")


def changed_text(text: str, random: Random) -> bytes:
    """The text with a few tokens or bytes changed."""
    tokens = _TOKEN.findall(text)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        place = random.randrange(len(tokens)) if tokens else 0
        random.choice(_TOKEN_CHANGES)(tokens, place, random)
    data = "".join(tokens).encode("utf-8", "surrogatepass")
    return _damaged(data, random) if random.random() < 0.15 else data


def changed_words(text: str, random: Random) -> bytes:
    """The text with another name in all its places, or two numbers exchanged: most such files are right."""
    tokens = _TOKEN.findall(text)
    numbers = [k for k, token in enumerate(tokens) if token[:1].isdigit()]
    if numbers and random.random() < 0.5:
        one, two = random.choice(numbers), random.choice(numbers)
        tokens[one], tokens[two] = tokens[two], tokens[one]
    else:
        names = sorted({token for token in tokens if token[:1].isalpha() or token[:1] == '"'})
        old, new = random.choice(names), random.choice((*names, *_NAMES))
        tokens = [new if token == old else token for token in tokens]
    return "".join(tokens).encode("utf-8", "surrogatepass")


def _damaged(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return random.choice(
        (
            data[:place],
            data[place:],
            data[:place] + random.randbytes(random.randrange(1, 9)) + data[place:],
            data + data,
            data.decode("utf-8", "replace").encode("utf-16", "replace"),
            b"\xef\xbb\xbf" + data,
        )
    )


def _set(tokens: list[str], place: int, random: Random) -> None:
    tokens[place : place + 1] = [random.choice(_WORDS)]


def _copy(tokens: list[str], place: int, random: Random) -> None:
    tokens[place : place + 1] = [random.choice(tokens)] if tokens else []


def _number(tokens: list[str], place: int, random: Random) -> None:
    numbers = [k for k, token in enumerate(tokens) if token[:1].isdigit()]
    if numbers:
        tokens[random.choice(numbers)] = repr(random.choice(NUMBERS))


def _repeat(tokens: list[str], place: int, random: Random) -> None:
    length = random.choice((1, 3, 20))
    tokens[place:place] = tokens[place : place + length] * random.choice((1, 2, 50))


def _cut(tokens: list[str], place: int, random: Random) -> None:
    del tokens[place : place + random.choice((1, 1, 2, 10))]


def _exchange(tokens: list[str], place: int, random: Random) -> None:
    if tokens:
        other = random.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]


_TOKEN_CHANGES: tuple[Callable[[list[str], int, Random], None], ...] = (
    _set,
    _set,
    _copy,
    _copy,
    _number,
    _number,
    _repeat,
    _cut,
    _cut,
    _exchange,
)
