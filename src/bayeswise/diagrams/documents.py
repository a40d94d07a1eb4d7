"""Diagrams as tables of plain values: the content of a TOML or JSON file, checked as it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bayeswise.diagrams.attitude import attitude_of
from bayeswise.diagrams.attributes import Attribute
from bayeswise.diagrams.diagram import InfluenceDiagram
from bayeswise.diagrams.nodes import EVERYTHING, MOST_NODES, Cost, Decision, Piece, Utility
from bayeswise.foundation.errors import BayeswiseError, NetworkError, SourceError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.schema.labels import Label

_MOST_STATES = 10_000
_KINDS = ("chance", "decision", "utility", "cost")
_ENTRIES = ("name", "network", "attitude", "attribute", *_KINDS)
_FIELDS = {
    "chance": ("states", "table", "parents"),
    "decision": ("options", "knows", "forgets", "forbidden"),
    "utility": ("table", "parents", "attribute"),
    "cost": ("table", "parents", "attribute"),
}


def from_document(document: Any, where: str = "the document", folder: Path | None = None) -> InfluenceDiagram:
    """A diagram from tables of plain values."""
    if not isinstance(document, Mapping):
        raise SourceError(f"{where} holds no table", fix="write [chance.NAME], [decision.NAME] and [utility.NAME]")
    for key in document:
        refuse_unknown(key, _ENTRIES, f"{where} has the unknown entry", SourceError)
    name = document.get("name", "diagram")
    if not isinstance(name, str):
        raise SourceError(f"{where}: name must be a text; found {name!r:.80}", fix='write name = "..."')
    pieces = {piece.name: piece for piece in _network_pieces(document, where, folder)}
    for kind in _KINDS:
        for node, fields in _table(document.get(kind, {}), f"{where}, [{kind}]").items():
            spot = f"{where}, [{kind}.{node}]"
            if node in pieces and not (kind == "chance" and isinstance(pieces[node], Node)):
                raise SourceError(f"{spot}: there are two nodes {node!r}", fix="rename one of them")
            pieces[node] = located(spot, partial(_piece, kind, node, _table(fields, spot)))
    if len(pieces) > MOST_NODES:
        raise SourceError(f"{where} has {len(pieces)} nodes; {MOST_NODES} are allowed", fix="give fewer")
    spot = f"{where}, [attitude]"
    given = _table(document["attitude"], spot) if "attitude" in document else None
    attitude = None if given is None else located(spot, lambda: attitude_of(given))
    attributes = [
        located(
            f"{where}, [attribute.{node}]", partial(_attribute, node, _table(fields, f"{where}, [attribute.{node}]"))
        )
        for node, fields in _table(document.get("attribute", {}), f"{where}, [attribute]").items()
    ]
    made: InfluenceDiagram = located(
        where, lambda: InfluenceDiagram(pieces.values(), name=name, attitude=attitude, attributes=attributes)
    )
    return made


def _attribute(name: str, fields: Mapping[str, Any]) -> Attribute:
    for field in fields:
        refuse_unknown(field, ("weight", "worst", "best"), "the unknown entry", NetworkError)
    if "weight" not in fields:
        raise NetworkError("there is no weight", fix="add weight = ...")
    return Attribute(name, fields["weight"], fields.get("worst"), fields.get("best"))


def _network_pieces(document: Mapping[str, Any], where: str, folder: Path | None) -> list[Piece]:
    given = document.get("network")
    if given is None:
        return []
    if not isinstance(given, str) or folder is None:
        raise SourceError(f"{where}: network must be the name of a file; found {given!r:.80}", fix="name a .bif file")
    network: BeliefNetwork = located(f"{where}, network", lambda: BeliefNetwork.read(folder / given))
    return [network.node(node) for node in network]


def _piece(kind: str, name: str, fields: Mapping[str, Any]) -> Piece:
    for field in fields:
        refuse_unknown(field, _FIELDS[kind], "the unknown entry", NetworkError)
    for field in _FIELDS[kind][:1]:
        if field not in fields:
            raise NetworkError(f"there is no {field}", fix=f"add {field} = ...")
    if kind == "decision":
        forgets = fields.get("forgets", [])
        forgotten = forgets if forgets == EVERYTHING else texts(fields, "forgets")
        forbidden = _forbidden(fields)
        return Decision(name, _list(fields, "options"), texts(fields, "knows"), forgets=forgotten, forbidden=forbidden)
    if kind == "chance":
        if "table" not in fields:
            raise NetworkError("there is no table", fix="add table = ...")
        return Node(name, _list(fields, "states"), fields["table"], texts(fields, "parents"))
    made = Cost if kind == "cost" else Utility
    return made(name, fields["table"], texts(fields, "parents"), attribute=fields.get("attribute"))


def _forbidden(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    value = fields.get("forbidden", [])
    if not isinstance(value, list) or not all(isinstance(case, Mapping) for case in value):
        raise NetworkError(
            f"forbidden must be a list of cases; found {value!r:.80}",
            fix='write [{ DECISION = "OPTION", NODE = "STATE" }]',
        )
    for case in value:
        for node in case:
            _list({node: case[node] if isinstance(case[node], list) else [case[node]]}, node)
    return value


def located(where: str, make: Callable[[], Any]) -> Any:
    """Call `make`, and put the location before its errors."""
    try:
        return make()
    except BayeswiseError as error:
        raise SourceError(f"{where}: {error.what}", fix=error.fix) from None


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SourceError(f"{where} must be a table; found {value!r:.80}", fix="write NAME = VALUE lines below it")
    return value


def _list(fields: Mapping[str, Any], key: str) -> list[Any]:
    value = fields.get(key, [])
    plain = isinstance(value, list) and all(isinstance(item, str | int | float | bool) for item in value)
    if not plain or len(value) > _MOST_STATES:
        raise NetworkError(f"{key} must be a list of at most {_MOST_STATES} names; found {value!r:.80}")
    return list(value)


def texts(fields: Mapping[str, Any], key: str) -> list[str]:
    value = _list(fields, key)
    if not all(isinstance(item, str) for item in value):
        raise NetworkError(f"{key} must be a list of texts; found {value!r:.80}", fix="put names in quotes")
    return value


def to_document(diagram: InfluenceDiagram) -> dict[str, Any]:
    """The diagram as tables of plain values, which `from_document` reads."""
    document: dict[str, Any] = {"name": diagram.name, "chance": {}, "decision": {}, "utility": {}}
    for name in diagram.chances:
        parents = diagram.parents(name)
        table = diagram.network.table(name)
        shape = [*(len(diagram.states(parent)) for parent in parents), table.shape[1]]
        rows = _by_states(diagram, parents, table.reshape(shape).tolist())
        document["chance"][name] = {
            "states": list(diagram.states(name)),
            "parents": list(parents),
            "table": rows,
        }
    for name in diagram.decisions:
        document["decision"][name] = _decision_fields(diagram.decision(name))
    for name in diagram.utilities:
        parents = diagram.parents(name)
        values = _by_states(diagram, parents, diagram.outcome(name).tolist())
        about = diagram._weighing.attribute_of.get(name)
        document["utility"][name] = {"parents": list(parents), "table": values}
        if about is not None:
            document["utility"][name]["attribute"] = about
    if diagram.attributes:
        document["attribute"] = {name: each.fields() for name, each in diagram.attributes.items()}
    if diagram.attitude is not None:
        document["attitude"] = diagram.attitude.fields()
    return {key: value for key, value in document.items() if value != {}}


def _decision_fields(decision: Decision) -> dict[str, Any]:
    fields: dict[str, Any] = {"options": list(decision.options), "knows": list(decision.knows)}
    if decision.forgets:
        fields["forgets"] = decision.forgets if isinstance(decision.forgets, str) else list(decision.forgets)
    if decision.forbidden:
        fields["forbidden"] = [
            {
                node: list(given) if isinstance(given, list | tuple | set | frozenset) else given
                for node, given in case.items()
            }
            for case in decision.forbidden
        ]
    return fields


def _by_states(diagram: InfluenceDiagram, parents: tuple[str, ...], cells: Any) -> Any:
    """Cells nested by the names of states, or in their order where two names have the same text."""
    levels = [diagram.states(parent) for parent in parents]
    if any(len({str(label) for label in labels}) < len(labels) for labels in levels):
        return cells
    return _named(levels, cells)


def _named(levels: list[tuple[Label, ...]], cells: Any) -> Any:
    if not levels:
        return cells
    return {str(label): _named(levels[1:], part) for label, part in zip(levels[0], cells, strict=True)}
