"""One SELECT that predicts like the model, in the SQL of a database.

Cells are read in the first step, expressions that are used more than once are computed in steps of their own (common
table expressions), and the last step has the outputs. Everything is built from sqlglot's expressions, not from text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bayeswise.exports.answers import Answer, answer_of
from bayeswise.exports.dialects import Dialect, Sql, dialect_of
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.render.expression import Expression, Levels, in_order
from bayeswise.tables.schema.names import free_name

MOST_COLUMNS = 1_500
"""Of one step: PostgreSQL has 1,664, SQLite 2,000."""
_DEEPEST = 30  # operations in one expression; databases limit their depth


def to_sql(
    model: Any,
    dialect: str,
    *,
    costs: Any = None,
    table: str | Sequence[str] = "rows",
    columns: Sequence[str] | None = None,
) -> str:
    """A query that returns `columns` of the table, then the prediction and the posterior; with costs, the action."""
    written = dialect_of(dialect)
    found = Query(answer_of(model, costs, columns), written, _table_of(table))
    return str(found.select().sql(dialect=dialect, pretty=True)) + "\n"


def _table_of(table: str | Sequence[str]) -> list[str]:
    """The parts of the name of a table: [schema, table] of "schema.table" or of a list."""
    parts = table.split(".") if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ParameterError(
            f"the table is called {table!r}", fix="write NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME, or a list of them"
        )
    return parts


class Query:
    """A query: the steps, and which expressions are their columns."""

    def __init__(self, answer: Answer, dialect: Dialect, table: list[str]) -> None:
        self.answer, self.dialect, self.table = answer, dialect, table
        self.sql = dialect.sql
        self.nodes = list(in_order(answer.outputs.values()))
        self.step_of: dict[int, int] = {}  # of expressions that are columns
        self._divide()
        taken = {name.casefold() for name in (*answer.kept, *answer.outputs)}
        self.names = {
            id(node): free_name([f"{'c' if self.step_of[id(node)] == 0 else 'x'}{k}"], taken, str.casefold)
            for k, node in enumerate(node for node in self.nodes if id(node) in self.step_of)
        }
        others = {table[-1].casefold()}
        self.step_names = [
            free_name(["cells" if step == 0 else f"step_{step}"], others, str.casefold) for step in range(self.last)
        ]

    # -- which expressions are columns ------------------------------------------------------------------------------
    def _divide(self) -> None:
        """Leaves that read cells are columns of step 0; expressions used twice, or deep, of the first step possible."""
        used: dict[int, int] = {}
        for node in self.nodes:
            times = 2 if node.op in self.dialect.repeats else 1
            for arg in node.args:
                used[id(arg)] = used.get(id(arg), 0) + times
        for output in self.answer.outputs.values():
            used[id(output)] = used.get(id(output), 0) + 1
        depth: dict[int, int] = {}
        after: dict[int, int] = {}  # the first step in which an expression can be computed
        for node in self.nodes:
            after[id(node)] = max((self._ready(arg, after) for arg in node.args), default=0)
            depth[id(node)] = 1 + max((depth[id(arg)] for arg in node.args), default=0)
            reads = node.op in ("cell", "unreadable") or (node.op == "slot" and not node.args)
            constant = not node.args and not reads
            if reads or (not constant and (used[id(node)] > 1 or depth[id(node)] > _DEEPEST)):
                self.step_of[id(node)] = after[id(node)]
                depth[id(node)] = 0
        self.last = 1 + max(self.step_of.values(), default=0)

    def _ready(self, arg: Expression, after: dict[int, int]) -> int:
        step = self.step_of.get(id(arg))
        return after[id(arg)] if step is None else step + 1

    def _last_uses(self) -> dict[int, int]:
        """The last step that needs each column."""
        needed: dict[int, int] = {}
        for node in reversed(self.nodes):  # users before what they use
            step = self.step_of.get(id(node))
            own = needed.get(id(node), self.last) if step is None else step
            for arg in node.args:
                needed[id(arg)] = max(needed.get(id(arg), 0), own)
        for output in self.answer.outputs.values():
            needed[id(output)] = self.last
        return needed

    # -- the statement ----------------------------------------------------------------------------------------------
    def select(self) -> Sql:
        """The whole statement."""
        needed = self._last_uses()
        kept = [self.dialect.column(name) for name in self.answer.kept]
        steps = []
        for step, name in enumerate(self.step_names):
            new = [node for node in self.nodes if self.step_of.get(id(node)) == step]
            old = [
                node
                for node in self.nodes
                if self.step_of.get(id(node), step) < step and needed.get(id(node), 0) > step
            ]
            self._refuse_many(len(kept) + len(old) + len(new))
            carried = [self._named(node) for node in old]
            made = [self._aliased(self._written(node), self.names[id(node)]) for node in new]
            every = [*(each.copy() for each in kept), *carried, *made]
            every = every or [self._aliased(self.dialect.integer(1), "one")]
            source = self._source() if step == 0 else self._table([self.step_names[step - 1]])
            steps.append(self._step(name, self._select(every, source)))
        outputs = [self._aliased(self._read(node), name) for name, node in self.answer.outputs.items()]
        found = self._select([*kept, *outputs], self._table([self.step_names[-1]]))
        found.set("with_", self.sql.With(expressions=steps))
        return found

    @staticmethod
    def _refuse_many(n_columns: int) -> None:
        if n_columns > MOST_COLUMNS:
            raise TooLargeError(
                f"a step of the query has {n_columns:,} columns; databases allow about {MOST_COLUMNS:,}",
                fix="fit a model with fewer columns, levels or classes",
            )

    def _select(self, columns: list[Sql], source: Sql) -> Sql:
        return self.sql.Select(expressions=columns).from_(source, copy=False)

    def _step(self, name: str, select: Sql) -> Sql:
        alias = self.sql.TableAlias(this=self.dialect.quoted(name))
        return self.sql.CTE(this=select, alias=alias, materialized=self.dialect.materialized)

    def _source(self) -> Sql:
        return self._table(self.table)

    def _table(self, parts: list[str]) -> Sql:
        places = ("this", "db", "catalog")
        return self.sql.Table(**dict(zip(places, map(self.dialect.quoted, reversed(parts)), strict=False)))

    def _aliased(self, expression: Sql, name: str) -> Sql:
        return self.sql.Alias(this=expression, alias=self.dialect.quoted(name))

    def _named(self, node: Expression) -> Sql:
        return self.dialect.column(self.names[id(node)])

    # -- expressions --------------------------------------------------------------------------------------------------
    def _read(self, node: Expression) -> Sql:
        """The column of an earlier step, or the expression itself."""
        return self._named(node) if id(node) in self.step_of else self._written(node)

    def _inner(self, node: Expression) -> Sql:
        """The same as an operand, in brackets if needed."""
        found = self._read(node)
        wrapped = isinstance(found, self.sql.Binary | self.sql.Not)
        return self.sql.Paren(this=found) if wrapped else found

    def _written(self, node: Expression) -> Sql:
        sql, dialect, args = self.sql, self.dialect, node.args
        if node.op in _BINARY:
            left, right = map(self._inner, args)
            if args[0].op == "slot":
                right = dialect.integer(int(args[1].value))
            return getattr(sql, _BINARY[node.op])(this=left, expression=right)
        if node.op in _FUNCTIONS:
            return getattr(sql, _FUNCTIONS[node.op])(this=self._read(args[0]))
        if node.op in ("largest", "least"):
            first, *rest = map(self._read, args)
            make = sql.Greatest if node.op == "largest" else sql.Least
            return make(this=first, expressions=rest, ignore_nulls=True)
        if node.op in ("and", "or"):
            join = sql.And if node.op == "and" else sql.Or
            return _by_halves(
                [self._inner(arg) for arg in args], lambda a, b: sql.Paren(this=join(this=a, expression=b))
            )
        return _WRITERS[node.op](self, dialect, node)

    def _choice(self, dialect: Dialect, node: Expression) -> Sql:
        """Nested choices as one CASE."""
        cases = []
        while True:
            condition, then, otherwise = node.args
            cases.append(self.sql.If(this=self._read(condition), true=self._read(then)))
            if otherwise.op != "choose" or id(otherwise) in self.step_of:
                break
            node = otherwise
        default = None if otherwise.op == "nothing" else self._read(otherwise)
        return self.sql.Case(ifs=cases, default=default)

    def _lookup(self, dialect: Dialect, node: Expression) -> Sql:
        """A CASE whose default is the most frequent entry."""
        place = None
        for slot in node.args:
            own = self._inner(slot)
            if place is not None:
                size = dialect.integer(slot.value.unseen + 1)
                own = self.sql.Add(this=self.sql.Paren(this=self.sql.Mul(this=place, expression=size)), expression=own)
                own = self.sql.Paren(this=own)
            place = own
        entries = node.value.tolist()
        times: dict[float, int] = {}
        for entry in entries:
            times[entry] = times.get(entry, 0) + 1
        rest = max(times, key=lambda entry: times[entry])
        cases = [
            self.sql.If(this=dialect.integer(k), true=dialect.number(entry))
            for k, entry in enumerate(entries)
            if entry != rest
        ]
        return self.sql.Case(this=place, ifs=cases, default=dialect.number(rest))

    def _slot(self, dialect: Dialect, node: Expression) -> Sql:
        sql, levels = self.sql, node.value
        if not isinstance(levels, Levels):
            x = self._read(node.args[0])
            cases = [sql.If(this=sql.Is(this=x, expression=sql.Null()), true=dialect.integer(levels.missing))]
            for k, cut in enumerate(levels.cuts):
                below = sql.LT(this=x.copy(), expression=dialect.number(cut))
                cases.append(sql.If(this=below, true=dialect.integer(k)))
            return sql.Case(ifs=cases, default=dialect.integer(len(levels.cuts)))
        compared = dialect.compared(levels)
        known = [
            sql.If(this=dialect.label(label), true=dialect.integer(k))
            for k, label in enumerate(levels.labels)
            if dialect.holds(label)
        ]
        unseen = dialect.integer(levels.unseen)
        found = sql.Case(this=compared, ifs=known, default=unseen) if known else unseen
        cell = dialect.finite(levels.column) if float in map(type, levels.labels) else dialect.column(levels.column)
        missing = sql.If(this=sql.Is(this=cell, expression=sql.Null()), true=dialect.integer(levels.missing))
        return sql.Case(ifs=[missing], default=found)

    def _label(self, dialect: Dialect, node: Expression) -> Sql:
        valid, *conditions = node.args
        labels = labels_alike(node.value)
        cases = [
            self.sql.If(this=self._read(condition), true=dialect.label(label))
            for condition, label in zip(conditions, labels, strict=False)
        ]
        last = dialect.label(labels[-1])
        found = self.sql.Case(ifs=cases, default=last) if cases else last
        return self.sql.Case(ifs=[self.sql.If(this=self._read(valid), true=found)])

    def _unreadable(self, dialect: Dialect, node: Expression) -> Sql:
        return _by_halves(
            [dialect.unreadable(column) for column in node.value],
            lambda a, b: self.sql.Paren(this=self.sql.Or(this=a, expression=b)),
        )


_BINARY = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "below": "LT",
    "at most": "LTE",
    "equal": "EQ",
}
_FUNCTIONS = {"log": "Ln", "root": "Sqrt", "absolute": "Abs", "floor": "Floor"}
_WRITERS: dict[str, Callable[[Query, Dialect, Expression], Any]] = {
    "number": lambda query, dialect, node: dialect.number(node.value),
    "nothing": lambda query, dialect, node: dialect.null,
    "cell": lambda query, dialect, node: dialect.finite(node.value),
    "unreadable": Query._unreadable,
    "slot": Query._slot,
    "square": lambda query, dialect, node: dialect.square(query._inner(node.args[0])),
    "bounded": lambda query, dialect, node: dialect.bounded(query._read(node.args[0]), node.value),
    "exp": lambda query, dialect, node: dialect.exponential(query._read(node.args[0])),
    "missing": lambda query, dialect, node: query.sql.Is(this=query._inner(node.args[0]), expression=query.sql.Null()),
    "not": lambda query, dialect, node: query.sql.Not(this=query._inner(node.args[0])),
    "choose": Query._choice,
    "lookup": Query._lookup,
    "label": Query._label,
}


def labels_alike(labels: Sequence[Any]) -> list[Any]:
    """Labels of one type: as they are, or all as text."""
    return list(labels) if len({type(label) for label in labels}) == 1 else [str(label) for label in labels]


def _by_halves(terms: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Join terms in pairs, so that a thousand terms are ten levels deep."""
    while len(terms) > 1:
        pairs = [join(terms[k], terms[k + 1]) for k in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
    return terms[0]
