"""Rows from JSON, CSV and Arrow streams, and answers in the requested format."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any, Literal

import numpy as np
import orjson

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    BayeswiseError,
    MissingColumnError,
    NotInstalledError,
    SourceError,
    UsageError,
    listed,
)
from bayeswise.render.plain import json_value
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.files import from_content
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.service.row_answers import Answered, Block, Labels, cells_of

Form = Literal["json", "csv", "arrow"]
ARROW = "application/vnd.apache.arrow.stream"
_TYPES: dict[str, Form] = {"application/json": "json", "text/csv": "csv", ARROW: "arrow"}
MEDIA = {"json": "application/json", "csv": "text/csv; charset=utf-8", "arrow": ARROW}


@dataclass(frozen=True)
class RowsRequest:
    """The rows of a request, and its settings."""

    block: Block
    form: Form
    by_columns: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    malformed: dict[int, BayeswiseError] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    shapes: frozenset[tuple[str, ...]] = frozenset()  # the names that rows have

    def check_columns(self, used: Sequence[str]) -> None:
        """A row with none of the model's columns is an error: its answer would be the prior."""
        known = set(used)
        unrelated = {shape for shape in self.shapes if known and known.isdisjoint(shape)}
        for place, row in enumerate(self.rows if unrelated else ()):
            if place not in self.malformed and tuple(row) in unrelated:
                self.malformed[place] = MissingColumnError(
                    "the row has none of the columns that the model uses", fix=f"send {listed(used)}"
                )


def form_of(content_type: str) -> Form:
    """The format of a body; JSON by default."""
    kind = content_type.partition(";")[0].strip().lower() or "application/json"
    if kind not in _TYPES:
        raise UsageError(f"the body is {kind!r}", fix=f"send {', '.join(_TYPES)}")
    return _TYPES[kind]


def answer_form(accept: str, default: Form) -> Form:
    """The format of the answer: the first that is accepted, else that of the rows."""
    for part in accept.split(","):
        kind = part.partition(";")[0].strip().lower()
        if kind in _TYPES:
            return _TYPES[kind]
    return default


def read(body: bytes, form: Form, limits: Limits) -> RowsRequest:
    """The rows of a body."""
    request = _of_json(body) if form == "json" else RowsRequest(_of_table(body, form), form)
    if request.block.n_rows > limits.rows or len(request.block.columns) > limits.columns:
        raise UsageError(
            f"{request.block.n_rows:,} rows of {len(request.block.columns):,} columns are more than "
            f"{limits.rows:,} rows or {limits.columns:,} columns",
            fix="send fewer at once",
        )
    return request


def _of_json(body: bytes) -> RowsRequest:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"the body is not JSON: {error}", fix='send {"rows": [{...}, ...]}') from None
    if isinstance(document, list):
        document = {"rows": document}
    if not isinstance(document, dict):
        raise UsageError("the body is not an object", fix='send {"rows": [{...}, ...]}')
    settings = {name: value for name, value in document.items() if name not in ("rows", "columns")}
    if ("rows" in document) == ("columns" in document):
        raise UsageError("the body needs either rows or columns", fix='send {"rows": [{...}, ...]}')
    if "columns" in document:
        return RowsRequest(_of_columns(document["columns"]), "json", True, settings)
    rows = document["rows"]
    if not isinstance(rows, list):
        raise UsageError("rows is not a list", fix='send {"rows": [{...}, ...]}')
    alike = _columns_of_rows_alike(rows)
    if alike is not None:
        return RowsRequest(Block(alike, len(rows)), "json", False, settings, {}, rows, frozenset([tuple(alike)]))
    malformed: dict[int, BayeswiseError] = {}
    for place, row in enumerate(rows):
        if type(row) is not dict:
            malformed[place] = UsageError("the row is not an object", fix="send its cells by column: {...}")
            rows[place] = {}
    shapes = frozenset(map(tuple, rows))
    names = dict.fromkeys(name for shape in shapes for name in shape)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return RowsRequest(Block(columns, len(rows)), "json", False, settings, malformed, rows, shapes)


def _columns_of_rows_alike(rows: list[Any]) -> dict[str, list[Any]] | None:
    """The columns of rows that have the same names, as most requests do; None if they do not."""
    if not rows or type(rows[0]) is not dict or len(rows[0]) < 2 or set(map(type, rows)) != {dict}:
        return None
    names = list(rows[0])
    if sum(map(len, rows)) != len(names) * len(rows):
        return None
    try:
        cells = zip(*map(itemgetter(*names), rows), strict=True)
    except KeyError:
        return None
    return dict(zip(names, map(list, cells), strict=True))


def _of_columns(columns: Any) -> Block:
    if not isinstance(columns, dict) or not all(isinstance(cells, list) for cells in columns.values()):
        raise UsageError("columns is not an object of lists", fix='send {"columns": {"age": [31, 46], ...}}')
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise UsageError(f"columns have {min(lengths)} to {max(lengths)} cells", fix="send as many cells in each")
    return Block(columns, lengths.pop() if lengths else 0)


def _of_table(body: bytes, form: Form) -> Block:
    if not body.strip():
        raise SourceError("the body is empty", fix="send a table with a header")
    source = from_content(body, "rows.csv") if form == "csv" else open_source(_arrow_table(body))
    names = [column.name for column in source.columns]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    n_rows = 0
    for chunk in source.chunks(names):
        n_rows += chunk.n_rows
        for name in names:
            columns[name] += chunk.cells(name)
    return Block(columns, n_rows, textual=source.textual)


def _arrow_table(body: bytes) -> Any:
    pyarrow = _pyarrow()
    try:
        return pyarrow.ipc.open_stream(body).read_all()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise SourceError(f"the body is not an Arrow stream: {error}", fix="send the IPC stream format") from None


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise NotInstalledError("Arrow streams need pyarrow", fix="pip install pyarrow, or send CSV") from None
    return pyarrow


# -- answers ----------------------------------------------------------------------------------------------------------


def written(answers: Answered, classes: Sequence[Any], form: Form, by_columns: bool, extra: dict[str, Any]) -> bytes:
    """The answers as bytes; `extra` are the other fields of a JSON answer."""
    if form == "json":
        return _json(answers, classes, by_columns, extra)
    columns = {name: list(map(json_value, cells_of(column))) for name, column in answers.columns.items()}
    for place, label in enumerate(classes if answers.probability is not None else ()):
        assert answers.probability is not None
        columns[f"p_{label}"] = answers.probability[:, place].tolist()
    if answers.errors or form == "csv":
        columns["error"] = [
            str(answers.errors[row]) if row in answers.errors else None for row in range(answers.n_rows)
        ]
    return _csv(columns, answers.n_rows) if form == "csv" else _arrow(columns)


def _json(answers: Answered, classes: Sequence[Any], by_columns: bool, extra: dict[str, Any]) -> bytes:
    states = [str(label) for label in classes]
    errors = {
        row: {"error": type(error).__name__, "what": error.what, "fix": error.fix}
        for row, error in answers.errors.items()
    }
    if not errors and not by_columns:
        return _rows_text(answers, states, extra)
    columns: dict[str, Any] = {name: cells_of(column) for name, column in answers.columns.items()}
    if by_columns:
        if answers.probability is not None:
            columns["probability"] = {state: answers.probability[:, k].tolist() for k, state in enumerate(states)}
        answer = {**extra, "columns": columns, "errors": {str(row): error for row, error in errors.items()}}
        return orjson.dumps(answer, default=str)
    names = list(columns)
    cells = list(columns.values())
    if answers.probability is not None:
        names.append("probability")
        cells.append([dict(zip(states, row, strict=True)) for row in answers.probability.tolist()])
    rows: list[Any] = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)] if cells else []
    rows += [None] * (answers.n_rows - len(rows))
    for row, error in errors.items():
        rows[row] = error
    return orjson.dumps({**extra, "rows": rows, "errors": len(errors)}, default=str)


def _rows_text(answers: Answered, states: Sequence[str], extra: dict[str, Any]) -> bytes:
    """The same bytes, put together from texts of whole columns: an object for each row would take most of the time."""
    names = [b'"%b":' % orjson.dumps(name)[1:-1] for name in answers.columns]
    texts = [_texts(cells) for cells in answers.columns.values()]
    ends = b"}"
    if answers.probability is not None:
        inside = [b'"%b":' % orjson.dumps(state)[1:-1] for state in states]
        inside[0] = b'"probability":{' + inside[0]
        shares = _texts(answers.probability.ravel())
        names += inside
        texts += [shares[place :: len(states)] for place in range(len(states))]
        ends = b"}}"
    before = [ends + b",{" + names[0], *(b"," + name for name in names[1:])]  # each cell: what stands before it
    step = 2 * len(before)
    pieces: list[bytes] = [b""] * (step * answers.n_rows)
    for place, (word, cells) in enumerate(zip(before, texts, strict=True)):
        pieces[2 * place :: step] = [word] * answers.n_rows
        pieces[2 * place + 1 :: step] = cells
    rows = b"".join(pieces)[len(ends) + 1 :] + (ends if pieces else b"")
    return orjson.dumps(extra)[:-1] + (b"," if extra else b"") + b'"rows":[' + rows + b'],"errors":0}'


def _texts(column: Any) -> list[bytes]:
    """Each cell as JSON; numbers all at once, labels once each."""
    if isinstance(column, Labels):
        known = [orjson.dumps(label, default=str) for label in column.labels]
        return [known[place] for place in column.positions.tolist()]
    if isinstance(column, np.ndarray):
        written = orjson.dumps(np.ascontiguousarray(column), option=orjson.OPT_SERIALIZE_NUMPY)
        return written[1:-1].split(b",") if len(column) else []
    return [orjson.dumps(cell, default=str) for cell in column]


def _csv(columns: dict[str, list[Any]], n_rows: int) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _arrow(columns: dict[str, list[Any]]) -> bytes:
    pyarrow = _pyarrow()
    plain = {
        name: [None if cell is None else str(cell) for cell in cells] if mixed(cells) else cells
        for name, cells in columns.items()
    }
    table = pyarrow.table(plain)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def mixed(cells: Sequence[Any]) -> bool:
    """Whether cells are of several types, which a column of Arrow cannot hold.

    >>> mixed([1, "1"]), mixed([1.0, None])
    (True, False)
    """
    return len({type(cell) for cell in cells if cell is not None}) > 1
