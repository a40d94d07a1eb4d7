"""The policy of a decision: its option, or probabilities of options, for each case of what it knows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bayeswise.diagrams.nested import option_table
from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.node import checked
from bayeswise.posteriors.normalise import normalise
from bayeswise.render.labels import guess, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram


@dataclass(frozen=True, eq=False)
class Policy(Tabular):
    """P(option | case) of one decision; the arguments of an optimal one are its requisite past."""

    decision: str
    options: tuple[Label, ...]
    knows: tuple[str, ...]
    states: tuple[Vocabulary, ...]  # of what is known
    table: FloatArray  # (n_cases, n_options) probabilities; the last known node changes fastest
    expected: FloatArray | None = None  # (n_cases, n_options) expected utility from here on; None if it was given
    possible: BoolArray | None = None  # (n_cases,) whether a case is possible at all
    best: BoolArray | None = None  # (n_cases, n_options) which options are as good as the chosen one
    reached: FloatArray | None = None  # (n_cases,) the probability of a case under all policies
    allowed: BoolArray | None = None  # (n_cases, n_options) which options are allowed; None if nothing is forbidden

    def option(self, known: Mapping[str, Any] | None = None) -> Label:
        """The option for one case; nodes that are not arguments may be named too."""
        place = 0
        for name, levels in zip(self.knows, self.states, strict=True):
            if name not in (known or {}):
                raise ParameterError(f"the policy of {self.decision!r} needs {name!r}", fix=f"give {{{name!r}: STATE}}")
            place = place * len(levels) + find_state((known or {})[name], levels, what=f"{name!r} has no state")
        return self.options[int(np.argmax(self.table[place]))]

    @property
    def is_certain(self) -> bool:
        """Whether the policy is deterministic."""
        return bool((self.table.max(axis=1) == 1.0).all())

    def cases(self) -> Iterator[tuple[Label, ...]]:
        """The states of what is known, the last node changing fastest."""
        return product(*self.states)

    def in_words(self) -> str:
        """The policy as a sentence; cases of probability 0 are left out."""
        if not self.is_certain:
            return self._chances_in_words()
        kept = self._happens()
        codes = product(*(range(len(levels)) for levels in self.states))
        chosen = np.argmax(self.table, axis=1)
        cases = {case: int(chosen[k]) for k, case in enumerate(codes) if kept[k]}
        if not cases:
            return "no case is possible"
        known = list(zip(self.knows, self.states, strict=True))
        return in_words(known, self.options, cases) + self._ties_in_words(kept)

    def softmax(self, temperature: float) -> Policy:
        """P(option | case) proportional to exp(utility of the option / temperature), over the options that are allowed.

        Near 0 it is the best option, equal ones being equally probable; far above the differences of utilities every
        option is equally probable. Mistakes are rare where they are costly.
        """
        if not is_number(temperature) or not (math.isfinite(temperature) and temperature > 0.0):
            raise ParameterError(
                f"the temperature is {temperature!r}", fix="give a number above 0, in the unit of utilities"
            )
        if self.expected is None:
            raise ParameterError(
                f"the policy of {self.decision!r} was given, so that the utility of its options is not known",
                fix="take the policy of a solution in which it was chosen: diagram.solve().policy(...)",
            )
        scores = self.expected - self.expected.max(axis=1, keepdims=True)  # (n_cases, n_options)
        with np.errstate(over="ignore"):
            log_weights = scores / temperature
        if self.allowed is not None:
            log_weights = np.where(self.allowed, log_weights, -np.inf)
            log_weights -= log_weights.max(axis=1, keepdims=True)
        table = normalise(log_weights).probability
        return replace(self, table=table, expected=None, best=None)

    def _chances_in_words(self) -> str:
        if len(self.table) == 1 or (self.table == self.table[0]).all():
            parts = zip(self.options, self.table[0], strict=True)
            return ", ".join(f"{shown(option)} with {number(p, 3)}" for option, p in parts if p > 0.0)
        return "by chance, see its table"

    def _happens(self) -> BoolArray:
        """(n_cases,) the cases of positive probability, as far as that is known."""
        kept = np.ones(len(self.table), dtype=bool) if self.possible is None else self.possible
        if self.reached is not None and (self.reached > 0.0).any():
            kept = kept & (self.reached > 0.0)
        return kept

    def _ties_in_words(self, kept: BoolArray) -> str:
        if self.best is None or len(self.options) == 1:
            return ""
        n_best = self.best[kept].sum(axis=1)
        if (n_best == len(self.options)).all():
            return " (every option is as good)"
        n_tied = int((n_best > 1).sum())
        return f" (a tie in {n_tied} of {len(n_best)} cases)" if n_tied else ""

    def to_columns(self) -> dict[str, list[Any]]:
        """One row for each possible case: what is known, the option, others as good, and the utility of each.

        Of a stochastic policy it is the most probable option, and P(...) has the probabilities. The utility of an
        option that is forbidden in a case is None.
        """
        rows = list(range(len(self.table))) if self.possible is None else np.flatnonzero(self.possible).tolist()
        cases = list(self.cases())
        columns: dict[str, list[Any]] = {name: [cases[k][v] for k in rows] for v, name in enumerate(self.knows)}
        best = [int(np.argmax(self.table[k])) for k in rows]
        columns[self.decision] = [self.options[option] for option in best]
        if not self.is_certain:
            for option, label in enumerate(self.options):
                columns[f"P({label})"] = [float(self.table[k, option]) for k in rows]
        if self.best is not None and (self.best[rows].sum(axis=1) > 1).any():
            equal = [
                [str(o) for j, o in enumerate(self.options) if self.best[k, j] and j != best[r]]
                for r, k in enumerate(rows)
            ]
            columns["as good"] = [", ".join(others) for others in equal]
        if self.reached is not None:
            columns["probability"] = [float(self.reached[k]) for k in rows]
        if self.expected is not None:
            for option, label in enumerate(self.options):
                columns[f"utility of {label}"] = [
                    float(self.expected[k, option]) if self.allowed is None or self.allowed[k, option] else None
                    for k in rows
                ]
        return columns

    def __repr__(self) -> str:
        return f"Policy({self.decision}: {self.in_words()})"


def given_policy(diagram: InfluenceDiagram, decision: str, rule: Any, *, knows: Sequence[str] | None = None) -> Policy:
    """A given policy: an option, a table by what the decision knows or by other nodes of its past, or a `Policy`."""
    diagram.decision_place(decision)
    if isinstance(rule, Policy):
        return _fitting(diagram, decision, rule)
    known: Sequence[str] = (diagram.parents(decision) if isinstance(rule, Mapping) else ()) if knows is None else knows
    for node in known:
        _refuse_unknown(diagram, decision, node)
    levels = [(node, Vocabulary(diagram.states(node))) for node in known]
    options = diagram.states(decision)
    table, _ = checked(decision, option_table(decision, Vocabulary(options), levels, rule), levels)
    made = Policy(decision, options, tuple(known), tuple(states for _, states in levels), table)
    _refuse_forbidden(diagram, made)
    return made


def _fitting(diagram: InfluenceDiagram, name: str, rule: Policy) -> Policy:
    if rule.decision != name or rule.options != diagram.states(name):
        raise ParameterError(f"the policy of {rule.decision!r} is not a policy of {name!r}", fix="give one for it")
    for node, states in zip(rule.knows, rule.states, strict=True):
        if node not in diagram.known(name):
            raise ParameterError(
                f"the policy of {name!r} needs {node!r}, which is not known then",
                fix=guess(node, diagram.known(name)),
            )
        if states.labels != diagram.states(node):
            raise ParameterError(f"the policy of {name!r} knows other states of {node!r}", fix="make it again")
    _refuse_forbidden(diagram, rule)
    return replace(rule, expected=None, possible=None, best=None, reached=None)  # it is given, not optimised


def _refuse_forbidden(diagram: InfluenceDiagram, policy: Policy) -> None:
    """Refuse a policy that takes a forbidden option with any probability, except in impossible cases."""
    masked = diagram.allowed(policy.decision)
    if masked is None:
        return
    names = list(dict.fromkeys([*masked.knows, *policy.knows]))
    sizes = {node: len(diagram.states(node)) for node in names}
    taken = policy.table.reshape([*(sizes[node] for node in policy.knows), -1]) > 0.0
    if policy.possible is not None:
        taken = taken & policy.possible.reshape([*(sizes[node] for node in policy.knows), 1])
    wrong = broadcastable(taken, policy.knows, names) & ~broadcastable(masked.mask, masked.knows, names)
    places = np.argwhere(wrong)
    if len(places):
        *codes, option = places[0].tolist()
        case = ", ".join(
            f"{n} = {diagram.states(n)[c]}" for n, c in zip(names, codes, strict=True) if n in masked.knows
        )
        raise ParameterError(
            f"the policy of {policy.decision!r} takes {policy.options[option]!r}{f' if {case}' if case else ''}, "
            "where it is forbidden",
            fix="choose another option there: give a table by what is known",
        )


def broadcastable(table: Any, own: Sequence[str], names: Sequence[str]) -> Any:
    """A table (own nodes ..., n_options) with an axis for each of the names, missing ones of length one."""
    order = sorted(range(len(own)), key=lambda k: names.index(own[k]))
    turned = table.transpose(*order, -1)
    sizes = dict(zip((own[k] for k in order), turned.shape, strict=False))
    return turned.reshape([*(sizes.get(node, 1) for node in names), table.shape[-1]])


def _refuse_unknown(diagram: InfluenceDiagram, name: str, node: str) -> None:
    if node not in diagram.known(name):
        raise ParameterError(
            f"the policy of {name!r} needs {node!r}, which is not known then", fix=guess(node, diagram.known(name))
        )


Cases: TypeAlias = Mapping[tuple[int, ...], int]  # states of what is known -> option
Tree: TypeAlias = "int | tuple[int, tuple[tuple[tuple[int, ...], Tree], ...]]"

_MOST_CASES = 2_000
_MOST_LEAVES = 16  # a longer sentence does not help
_SHORT = 5  # states in a row before 'else'
_TRIED = 4  # up to this many variables every order is tried


def in_words(known: Sequence[tuple[str, Sequence[Label]]], options: Sequence[Label], cases: Cases) -> str:
    """One sentence for the given cases; others do not matter.

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
    """An option where all cases agree, else the split that gives the smallest tree."""
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
        last = _else_group(groups)
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


def _else_group(groups: Sequence[tuple[tuple[int, ...], Tree]]) -> int:
    """The group for 'else': the last option while the lists of the others are short, else the longest list."""
    last = max(range(len(groups)), key=lambda k: str(groups[k][1]).zfill(9))
    if sum(len(codes) for codes, _ in groups) - len(groups[last][0]) <= _SHORT:
        return last
    return max(range(len(groups)), key=lambda k: (len(groups[k][0]), k))


def _either(labels: Sequence[Label]) -> str:
    texts = [shown(label) for label in labels]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def mixed(policies: Sequence[Policy], weights: Sequence[float]) -> Policy:
    """A stochastic policy that follows each of these with its probability, drawn independently in each case."""
    shares = np.asarray(weights, dtype=np.float64)
    if len(policies) == 0 or shares.shape != (len(policies),):
        raise ParameterError(f"there are {len(policies)} policies and {shares.size} weights", fix="give one for each")
    if not (np.isfinite(shares).all() and (shares >= 0.0).all() and abs(shares.sum() - 1.0) <= 1e-9):
        raise ParameterError(f"the weights are {shares.tolist()!r:.80}", fix="give probabilities that add up to 1")
    first = policies[0]
    for each in policies:
        if each.decision != first.decision or each.options != first.options:
            raise ParameterError(
                f"{each.decision!r} and {first.decision!r} are two decisions", fix="mix policies of one"
            )
    states = {node: levels for each in policies for node, levels in zip(each.knows, each.states, strict=True)}
    knows = tuple(states)
    sizes = [len(states[node]) for node in knows]
    total = np.zeros([*sizes, len(first.options)])
    for share, each in zip(shares / shares.sum(), policies, strict=True):
        table = each.table.reshape([*(len(levels) for levels in each.states), len(first.options)])
        total += share * broadcastable(table, each.knows, knows)
    return Policy(first.decision, first.options, knows, tuple(states.values()), total.reshape(-1, len(first.options)))
