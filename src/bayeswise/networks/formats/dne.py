"""Netica files (.dne): nature, decision and utility nodes of states or discretised numbers, with their tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError
from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description, Piece, cells_text
from bayeswise.networks.formats.tokens import (
    MOST_CELLS,
    MOST_NODES,
    MOST_STATES,
    Tokens,
    n_cells_of,
    quoted,
    shown_token,
    unquoted,
)
from bayeswise.networks.node import Node, cuts_of, intervals
from bayeswise.render.labels import guess

_LONGEST_WORD = 30  # characters that Netica allows in a name
_RESERVED = ("bnet", "node", "visual", "TRUE", "FALSE")
_INFINITE = {"INFINITY": math.inf, "+INFINITY": math.inf, "-INFINITY": -math.inf}


@dataclass(frozen=True)
class _Block:
    """A node of the file: the words of each field."""

    name: str
    fields: dict[str, list[str]]

    def words(self, key: str) -> list[str]:
        """The entries of a list, without brackets."""
        return [word for word in self.fields.get(key, []) if word not in "()"]

    def word(self, key: str, default: str) -> str:
        return (self.words(key) or [default])[0]


def parse(text: str, where: str) -> Description:
    """The network or diagram that a Netica file describes.

    >>> parse("bnet n { node a { states = (yes, no); parents = (); probs = (0.3, 0.7); }; };", "a.dne").nodes
    [Node(a: yes, no)]
    """
    tokens = Tokens(text, where, marks="{}();=", comment="//")
    tokens.expect("bnet")
    name = tokens.name("the name of the network")
    tokens.expect("{")
    blocks: dict[str, _Block] = {}
    while tokens.next != "}":
        tokens.forget_passed()
        word = tokens.name("a field or a node")
        if word == "node":
            _node(tokens, blocks)
        else:
            value = _field(tokens)
            if word == "bayeswise_name" and value:
                name = unquoted(value[0])
    tokens.expect("}")
    return _described(name, blocks, where)


def _node(tokens: Tokens, blocks: dict[str, _Block]) -> None:
    name = tokens.name("the name of a node")
    if name in blocks:
        tokens.fail(f"the node {name!r} is defined twice", back=1)
    if len(blocks) >= MOST_NODES:
        tokens.fail(f"more than {MOST_NODES} nodes", back=1)
    tokens.expect("{")
    fields: dict[str, list[str]] = {}
    while tokens.next != "}":
        key = tokens.name("a field")
        value = _field(tokens)
        if value is not None:
            fields[key] = value
    tokens.expect("}")
    _pass(tokens, ";")
    blocks[name] = _Block(name, fields)


def _field(tokens: Tokens) -> list[str] | None:
    """The words of `name = value;` after its name; a block of fields (how Netica draws it) is skipped."""
    if tokens.next == "=":
        tokens.take()
        words = tokens.until(";")
        if "{" in words:  # a block as the value, as in `nodefont = font {shape= "Arial"; size= 9;};`
            _close(tokens, words.count("{") - words.count("}"))
            return None
        return words
    if tokens.next != "{":
        tokens.name("the name of a block")  # visual V1 { ... }
    tokens.expect("{")
    _close(tokens, 1)
    return None


def _close(tokens: Tokens, n_open: int) -> None:
    """Skip everything up to the end of the open blocks."""
    while n_open > 0:
        n_open += tokens.until("}").count("{") - 1
        tokens.forget_passed()
    _pass(tokens, ";")


def _pass(tokens: Tokens, mark: str) -> None:
    if tokens.next == mark:
        tokens.take()


# -- nodes ------------------------------------------------------------------------------------------------------
def _described(name: str, blocks: Mapping[str, _Block], where: str) -> Description:
    description = Description(name)
    kinds = {each: block.word("kind", "NATURE").upper() for each, block in blocks.items()}
    used = {each: block for each, block in blocks.items() if kinds[each] != "CONSTANT"}
    states = {each: _states(block, where) for each, block in used.items() if kinds[each] != "UTILITY"}
    titles = {each: _title(block) for each, block in used.items()}
    for each, block in used.items():
        parents = [unquoted(word) for word in block.words("parents")]
        for parent in parents:
            if parent not in states:
                raise SourceError(
                    f"{where}: the node {each!r} has the parent {parent!r}, which has no states",
                    fix=guess(parent, list(states)),
                )
        n_rows = n_cells_of(len(states[parent]) for parent in parents)
        if n_rows * len(states.get(each, [0])) > MOST_CELLS:
            raise SourceError(f"{where}: the table of {each!r} has more than {MOST_CELLS} cells")
        above = tuple(titles[parent] for parent in parents)
        if kinds[each] == "DECISION":
            description.pieces.append(DescribedDecision(titles[each], tuple(states[each]), above))
        elif kinds[each] == "UTILITY":
            description.pieces.append(DescribedUtility(titles[each], above, _utilities(block, n_rows, where)))
        elif kinds[each] == "NATURE":
            description.pieces.append(
                Node(titles[each], states[each], _table(block, states[each], n_rows, where), above)
            )
        else:
            raise SourceError(
                f"{where}: the node {each!r} is of the kind {kinds[each]!r:.80}", fix="NATURE, DECISION or UTILITY"
            )
    return description


def _title(block: _Block) -> str:
    """Names that are not identifiers are in a field of ours; Netica's title is for display only."""
    return unquoted(block.word("bayeswise_name", block.name))


def _states(block: _Block, where: str) -> list[str]:
    """Named states, or the intervals between levels, or numbered states."""
    named = [unquoted(word) for word in block.words("bayeswise_states") or block.words("states")]
    levels = [_number(word, block, where) for word in block.words("levels")]
    if not named and levels:
        named = [f"{level:g}" for level in levels]
        if block.word("discrete", "TRUE").upper() == "FALSE":
            if sorted(set(levels)) != levels and sorted(set(levels), reverse=True) != levels:
                raise SourceError(f"{where}: the levels of {block.name!r} do not ascend", fix="sort them")
            named = intervals(sorted(levels[1:-1]), exact=True)
            named = named if levels == sorted(levels) else named[::-1]
    if not named and block.words("numstates"):
        n_states = block.word("numstates", "")
        if not (n_states.isascii() and n_states.isdigit() and len(n_states) < 7):
            raise SourceError(f"{where}: numstates of {block.name!r} is {shown_token(n_states)}", fix="a whole number")
        named = [f"state{k}" for k in range(min(int(n_states), MOST_STATES + 1))]
    if not 1 <= len(named) <= MOST_STATES:
        raise SourceError(
            f"{where}: the node {block.name!r} has {len(named)} states; 1 to {MOST_STATES} are allowed",
            fix="numbers that are not cut into levels: let Netica discretize them first",
        )
    return named


def _number(word: str, block: _Block, where: str) -> float:
    try:
        return _INFINITE[word] if word in _INFINITE else float(word)
    except ValueError:
        raise SourceError(
            f"{where}: the node {block.name!r} has {shown_token(word)} for a number", fix="write a number"
        ) from None


def _table(block: _Block, states: Sequence[str], n_rows: int, where: str) -> FloatArray:
    """Probabilities in the order of the parents; of a deterministic node the state for each configuration."""
    if "probs" in block.fields:
        words = block.words("probs")
        if len(words) == n_rows and len(states) > 1 and all(word.startswith("#") for word in words):
            return np.eye(len(states))[[_state(word, block, states, where) for word in words]]
        numbers = [0.0 if word == "@imposs" else _number(word, block, where) for word in words]
        if len(numbers) != n_rows * len(states):
            raise SourceError(
                f"{where}: the table of {block.name!r} has {len(numbers)} numbers; {n_rows * len(states)} are needed",
                fix="give a number for each state and each combination of its parents",
            )
        return np.array(numbers).reshape(n_rows, len(states))
    if "functable" in block.fields:
        words = block.words("functable")
        if len(words) != n_rows:
            raise SourceError(
                f"{where}: functable of {block.name!r} has {len(words)} entries; {n_rows} are needed",
                fix="give one for each combination of its parents",
            )
        return np.eye(len(states))[[_state(word, block, states, where) for word in words]]
    what = "an equation without a table" if "equation" in block.fields else "no table"
    raise SourceError(f"{where}: the node {block.name!r} has {what}", fix="save the file again with tables")


def _state(word: str, block: _Block, states: Sequence[str], where: str) -> int:
    """A state by its name, by its position (#1), or by a number within its levels."""
    name = unquoted(word)
    if name in states:
        return list(states).index(name)
    place = re.fullmatch(r"#(\d{1,6})", word)
    if place and int(place[1]) < len(states):
        return int(place[1])
    levels = [_number(level, block, where) for level in block.words("levels")]
    if place is None and levels and word != "@imposs":
        number = _number(word, block, where)
        if len(levels) == len(states) and number in levels:
            return levels.index(number)
        for k, (low, high) in enumerate(pairwise(levels)):
            if min(low, high) <= number <= max(low, high) and k < len(states):
                return k
    raise SourceError(
        f"{where}: functable of {block.name!r} has {shown_token(word)}, which is not a state",
        fix=guess(name, list(states)),
    )


def _utilities(block: _Block, n_rows: int, where: str) -> FloatArray:
    words = block.words("functable")
    if len(words) != n_rows:
        raise SourceError(
            f"{where}: the utility {block.name!r} has {len(words)} numbers; {n_rows} are needed",
            fix="give one for each combination of its parents in functable",
        )
    return np.array([_number(word, block, where) for word in words])


# -- writing ----------------------------------------------------------------------------------------------------
def text(described: Description) -> str:
    """The network or diagram as a Netica file; reading it gives back the same."""
    return "\n".join(_lines(described)) + "\n"


def _lines(described: Description) -> Iterator[str]:
    states = described.states()
    words = {piece.name: _identifier(piece.name, "node_", k) for k, piece in enumerate(described.pieces)}
    yield "// ~->[DNET-1]->~\n"
    word = _identifier(described.name, "network_", 0)
    yield f"bnet {word} {{"
    if word != described.name:
        yield f"bayeswise_name = {quoted(described.name, always=True)};"
    for piece in described.pieces:
        table = ""
        if not isinstance(piece, DescribedDecision):
            field = "probs" if isinstance(piece, Node) else "functable"
            table = f"\t{field} = {cells_text(piece, states, comma=', ', between=', ')};\n"
        yield _node_text(piece, words, table)
    yield "};"


def _node_text(piece: Piece, words: Mapping[str, str], table: str) -> str:
    """A node; states that are intervals are written as levels of a number."""
    kinds = {Node: "NATURE", DescribedDecision: "DECISION", DescribedUtility: "UTILITY"}
    name, kind, states = piece.name, kinds[type(piece)], tuple(piece.states)
    lines = [f"node {words[name]} {{", f"\tkind = {kind};"]
    cuts = cuts_of(states) if kind == "NATURE" else None
    lines.append(f"\tdiscrete = {'FALSE' if kind == 'UTILITY' or cuts else 'TRUE'};")
    if kind != "DECISION":
        lines.append(f"\tchance = {'DETERMIN' if kind == 'UTILITY' else 'CHANCE'};")
    if cuts:
        levels = ", ".join(["-INFINITY", *map(repr, cuts), "INFINITY"])
        lines.append(f"\tlevels = ({levels});")
    if cuts and list(states) != intervals(cuts, exact=True):  # spelt differently, as by earlier versions
        lines.append(f"\tbayeswise_states = ({', '.join(quoted(state, always=True) for state in map(str, states))});")
    elif states and not cuts:
        labels = [str(state) for state in states]
        plain = [_identifier(label, "state_", k) for k, label in enumerate(labels)]
        lines.append(f"\tstates = ({', '.join(plain)});")
        if plain != labels:
            lines.append(f"\tbayeswise_states = ({', '.join(quoted(label, always=True) for label in labels)});")
    lines.append(f"\tparents = ({', '.join(words[parent] for parent in piece.parents)});")
    if words[name] != name:
        lines.append(f"\ttitle = {quoted(name, always=True)};")
        lines.append(f"\tbayeswise_name = {quoted(name, always=True)};")
    return "\n".join(lines) + f"\n{table}\t}};\n"


def _identifier(name: str, prefix: str, place: int) -> str:
    """The name, if Netica allows it: a word of at most 30 letters, digits and underscores."""
    plain = name.isascii() and name.isidentifier() and len(name) <= _LONGEST_WORD
    taken = name in _RESERVED or re.fullmatch(rf"{prefix}\d+", name) is not None
    return name if plain and not taken else f"{prefix}{place}"
