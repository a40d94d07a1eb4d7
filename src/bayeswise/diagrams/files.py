"""Diagrams in files: XDSL, Hugin, Netica and XMLBIF of other programs, and TOML or JSON that a person can write.

name = "umbrella"                         # optional
network = "weather.bif"                   # optional: chance nodes of a network file beside this one

[chance.forecast]
states = ["bad", "good"]
parents = ["weather"]                     # optional, like `knows` below
table = { rain = [0.8, 0.2], sun = "good" }   # nested by parents: a row, {state = p} or a certain state

[decision.umbrella]
options = ["take", "leave"]
knows = ["forecast"]
forgets = ["season"]                      # optional: nodes that are not remembered, or "everything"
forbidden = [{ umbrella = "leave", forecast = "bad" }]   # optional: cases in which an option is not allowed

[utility.comfort]                         # or [cost.NAME], whose sign is inverted
parents = ["umbrella", "weather"]
table = { take = 20, leave = { rain = 0, sun = 100 } }
attribute = "well-being"                  # optional

[attribute.well-being]                    # for each attribute of a utility
weight = 0.7
worst = 0                                 # optional, with `best`: the outcomes that are scaled to 0 and 1
best = 100

[attitude]                                # optional: to risk
kind = "exponential"                      # or "piecewise" with points = [[-100, -2], [0, 0], [100, 1]]
tolerance = 50
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bayeswise.decisions.costs.decision_file import toml_key, toml_string
from bayeswise.diagrams.diagram import InfluenceDiagram
from bayeswise.diagrams.documents import from_document, located, texts, to_document
from bayeswise.diagrams.nodes import Decision, Piece, Utility
from bayeswise.diagrams.solving.policy import Policy
from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import ParameterError, SourceError, StoreError, listed
from bayeswise.foundation.file_bytes import is_stream, name_of
from bayeswise.networks import formats
from bayeswise.render.labels import guess
from bayeswise.store.parsing import check_size, check_toml, refuse_constant

LARGEST_FILE = 16 << 20  # bytes
_MOST_PARTS = 1 << 22
_DEEPEST = 80
_MOST_KEYS = 300_000
_HEAD = 1 << 16  # bytes of a stream that are searched for its format


def read(path: str | os.PathLike[str]) -> InfluenceDiagram:
    """The diagram in a file; an error names the file and the node."""
    place = Path(path)
    if is_stream(path):
        return _from_stream(path)
    if _is_exchanged(place):
        return _from_description(formats.describe(place), place.name)
    document = _parser(place)(formats.content(place, LARGEST_FILE, "a diagram"), place.name)
    return from_document(document, place.name, place.parent)


def _from_stream(path: str | os.PathLike[str]) -> InfluenceDiagram:
    """The diagram in a stream; its first characters give the format, and network files are in the working folder."""
    data, name = formats.content(path, LARGEST_FILE, "a diagram"), name_of(path)
    text = data[:_HEAD].decode("utf-8-sig", errors="replace")
    suffix = formats.suffix_of(text)
    if suffix is not None:
        return _from_description(formats.described(data.decode("utf-8-sig", errors="replace"), name, suffix), name)
    parse = _parse_json if text.lstrip().startswith("{") else _parse_toml
    return from_document(parse(data, name), name, Path.cwd())


def read_policies(diagram: InfluenceDiagram, path: str | os.PathLike[str]) -> dict[str, Policy]:
    """Policies in a TOML or JSON file: for each decision an option, or a table by what it knows.

    drill = "no"                                  # an option, or
    drill = { yes = 0.2, no = 0.8 }               # probabilities, if it knows nothing, or
    [drill]                                       # a table nested by what the decision knows
    table = { open = "yes", closed = { yes = 0.9, no = 0.1 }, diffuse = "no", "not done" = "no" }
    knows = ["report"]                            # with `table`, where that is not all that it knows
    """
    place = Path(path)
    document = _parser(place)(formats.content(place, LARGEST_FILE, "policies"), place.name)
    if not isinstance(document, Mapping):
        raise SourceError(f"{place.name} holds no table", fix="write DECISION = OPTION, or a table [DECISION]")
    return {
        name: located(f"{place.name}, {name}", partial(_policy, diagram, name, rule)) for name, rule in document.items()
    }


def _policy(diagram: InfluenceDiagram, name: str, rule: Any) -> Policy:
    if isinstance(rule, Mapping) and set(rule) == {"knows", "table"}:
        return diagram.policy(name, rule["table"], knows=texts(rule, "knows"))
    return diagram.policy(name, rule)


def write(diagram: InfluenceDiagram, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a file atomically; returns what the format cannot store."""
    place = Path(path)
    if _is_exchanged(place):
        return (*formats.write_description(_described(diagram), place), *_lost(diagram))
    _parser(place)
    document = to_document(diagram)
    if formats.form_suffix(place) == ".json":
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    else:
        text = toml_text(document)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParameterError(f"a name has a lone surrogate: {error}", fix="rename it") from None
    write_bytes(path, formats.packed(data, path))
    return ()


# -- formats of other programs --------------------------------------------------------------------------------


def _is_exchanged(path: Path) -> bool:
    """Whether it is a format of other programs: XDSL, Hugin, Netica, XMLBIF, compressed or not."""
    return formats.form_suffix(path) in formats.FORMATS


def _from_description(described: formats.Description, where: str) -> InfluenceDiagram:
    states = described.states()
    pieces: list[Piece] = list(described.nodes)
    pieces += [Decision(each.name, each.states, each.parents) for each in described.decisions]
    for each in described.utilities:
        shape = [len(states[parent]) for parent in each.parents]
        pieces.append(Utility(each.name, each.table.reshape(shape), each.parents))
    made: InfluenceDiagram = located(where, lambda: InfluenceDiagram(pieces, name=described.name))
    return made


def _described(diagram: InfluenceDiagram) -> formats.Description:
    nodes = [diagram.network.node(name) for name in diagram.chances]
    decisions = [
        formats.DescribedDecision(name, tuple(diagram.states(name)), diagram.parents(name))
        for name in diagram.decisions
    ]
    utilities = [
        formats.DescribedUtility(name, diagram.parents(name), diagram.utility(name).ravel())
        for name in diagram.utilities
    ]
    return formats.Description(diagram.name, [*nodes, *decisions, *utilities])


def _lost(diagram: InfluenceDiagram) -> Iterator[str]:
    """What formats of other programs cannot store."""
    forgetful = [name for name in diagram.decisions if diagram.decision(name).forgets]
    limited = [name for name in diagram.decisions if diagram.allowed(name)]
    if forgetful:
        many = len(forgetful) > 1
        loss = f"forget is lost: {'they remember' if many else 'it remembers'} everything"
        yield f"what {_and(forgetful)} {loss if many else loss.replace('forget', 'forgets', 1)}"
    if limited:
        yield f"options of {_and(limited)} that are forbidden are lost"
    if diagram.attributes:
        yield f"attributes are lost ({listed(diagram.attributes)}): the utilities are written as they are weighed"
    if diagram.attitude is not None:
        yield f"the attitude to risk ({diagram.attitude}) is lost"


def _and(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names)) if len(names) < 3 else listed(map(repr, names))


# -- text -----------------------------------------------------------------------------------------------------


def _parser(path: Path) -> Callable[[bytes, str], Any]:
    parsers = {".toml": _parse_toml, ".json": _parse_json}
    suffix = formats.form_suffix(path)
    if suffix not in parsers:
        raise ParameterError(
            f"{str(path)!r} has an unknown suffix for a diagram file",
            fix=guess(suffix, [*parsers, ".xdsl", ".net", ".dne", ".xmlbif"]),
        )
    return parsers[suffix]


def _parse_toml(data: bytes, where: str) -> Any:
    _refuse_too_deep(data, where)
    try:
        text = data.decode("utf-8-sig")
        check_toml(text, deepest=_DEEPEST, most_keys=_MOST_KEYS)
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise SourceError(f"{where} is not TOML: {error}", fix="correct that line") from None


def _parse_json(data: bytes, where: str) -> Any:
    _refuse_too_deep(data, where)
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=refuse_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{where} is not JSON: {error}", fix="correct that place") from None


def _refuse_too_deep(data: bytes, where: str) -> None:
    try:
        check_size(data, where, most_nodes=_MOST_PARTS, deepest=_DEEPEST)
    except StoreError as error:
        raise SourceError(error.what, fix="give a smaller diagram") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"the key {twice!r} is defined twice")
    return members


_WIDEST = 100


def toml_text(document: Mapping[str, Any]) -> str:
    """A table for each node, with its fields below it.

    >>> print(toml_text({"name": "a", "chance": {"oil": {"states": ["dry", "wet"], "table": [0.5, 0.5]}}}))
    name = "a"
    <BLANKLINE>
    [chance.oil]
    states = ["dry", "wet"]
    table = [0.5, 0.5]
    <BLANKLINE>
    """
    lines = [f"{toml_key(key)} = {_value(value)}" for key, value in document.items() if not isinstance(value, Mapping)]
    for kind, nodes in document.items():
        if isinstance(nodes, Mapping) and not any(isinstance(fields, Mapping) for fields in nodes.values()):
            lines += _node(toml_key(kind), nodes)
        elif isinstance(nodes, Mapping):
            for name, fields in nodes.items():
                lines += _node(f"{toml_key(kind)}.{toml_key(name)}", fields)
    return "\n".join(lines) + "\n"


def _node(path: str, fields: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n[{path}]"
    nested = []
    for key, value in fields.items():
        line = f"{toml_key(key)} = {_value(value)}"
        if isinstance(value, Mapping) and len(line) > _WIDEST:
            nested.append((key, value))
        elif value != []:
            yield line
    for key, value in nested:
        yield f"[{path}.{toml_key(key)}]"
        yield from _branches("", value)


def _branches(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        here = f"{path}{toml_key(key)}"
        line = f"{here} = {_value(value)}"
        if isinstance(value, Mapping) and len(line) > _WIDEST:
            yield from _branches(f"{here}.", value)
        else:
            yield line


def _value(value: Any) -> str:
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
