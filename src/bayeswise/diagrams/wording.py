"""A policy in words: the shortest way to say which option goes with which cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bayeswise.posteriors.wording import shown
from bayeswise.tables.labels import Label

Cases: TypeAlias = Mapping[tuple[int, ...], int]  # states of what is known -> option
Tree: TypeAlias = "int | tuple[int, tuple[tuple[tuple[int, ...], Tree], ...]]"

_MOST_CASES = 2_000
_MOST_LEAVES = 16  # a longer sentence is no help
_SHORT = 5  # states in a row before 'else'
_TRIED = 4  # up to so many variables every order is tried


def in_words(known: Sequence[tuple[str, Sequence[Label]]], options: Sequence[Label], cases: Cases) -> str:
    """One sentence for the cases that are given; others may go either way.

    >>> report = ("report", ["closed", "open", "diffuse"])
    >>> in_words([report], ["yes", "no"], {(0,): 0, (1,): 0, (2,): 1})
    'yes if report is closed or open, else no'
    >>> in_words([report], ["yes", "no"], {(0,): 1, (1,): 1})
    'no'
    """
    tree = _tree(dict(cases), list(range(len(known)))) if len(cases) <= _MOST_CASES else None
    if tree is None or _leaves(tree) > _MOST_LEAVES:
        names = ", ".join(shown(name, 30) for name, _ in known)
        return f"by {names}: see its table of {len(cases)} cases"
    return _text(tree, known, options, False)


def _tree(cases: Cases, variables: list[int]) -> Tree:
    """An option where all cases agree, else a split by the variable that leaves the fewest options to name."""
    chosen = set(cases.values())
    if len(chosen) == 1:
        return chosen.pop()
    tried = variables if len(variables) <= _TRIED else [min(variables, key=lambda v: _disorder(cases, v))]
    return min((_split(cases, variables, v) for v in tried), key=_leaves)


def _split(cases: Cases, variables: list[int], v: int) -> Tree:
    rest = [other for other in variables if other != v]
    by_state: dict[int, dict[tuple[int, ...], int]] = {}
    for codes, option in cases.items():
        by_state.setdefault(codes[v], {})[codes] = option
    groups: dict[Tree, list[int]] = {}
    for state in sorted(by_state):
        groups.setdefault(_tree(by_state[state], rest), []).append(state)
    if len(groups) == 1:
        return next(iter(groups))
    return v, tuple((tuple(states), tree) for tree, states in groups.items())


def _disorder(cases: Cases, v: int) -> int:
    return len({(codes[v], option) for codes, option in cases.items()})


def _leaves(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else sum(_leaves(below) for _, below in tree[1])


def _text(tree: Tree, known: Sequence[tuple[str, Sequence[Label]]], options: Sequence[Label], inside: bool) -> str:
    if isinstance(tree, int):
        return shown(options[tree])
    v, groups = tree
    name, states = known[v]
    if all(isinstance(below, int) for _, below in groups):
        last = _said_last(groups)
        parts = [
            f"{_text(below, known, options, True)} if {shown(name)} is {_either([states[s] for s in codes])}"
            for k, (codes, below) in enumerate(groups)
            if k != last
        ]
        return f"{', '.join(parts)}, else {_text(groups[last][1], known, options, True)}"
    parts = [
        f"with {shown(name)} {_either([states[s] for s in codes])}: {_text(below, known, options, True)}"
        for codes, below in groups
    ]
    return f"({'; '.join(parts)})" if inside else "; ".join(parts)


def _said_last(groups: Sequence[tuple[tuple[int, ...], Tree]]) -> int:
    """'Else' needs no states: it is the last option while the lists of the others are short, else the longest list."""
    last = max(range(len(groups)), key=lambda k: str(groups[k][1]).zfill(9))
    if sum(len(codes) for codes, _ in groups) - len(groups[last][0]) <= _SHORT:
        return last
    return max(range(len(groups)), key=lambda k: (len(groups[k][0]), k))


def _either(labels: Sequence[Label]) -> str:
    texts = [shown(label) for label in labels]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
