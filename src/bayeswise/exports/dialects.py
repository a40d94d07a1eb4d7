"""Differences between databases: literals and names, and operations that raise errors."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ExportError, NotInstalledError
from bayeswise.render.expression import Levels
from bayeswise.render.labels import is_broken, refuse_unknown
from bayeswise.tables.schema.labels import Label

Sql: TypeAlias = Any  # an expression of sqlglot, which is loaded on demand
NAMES = ("duckdb", "sqlite", "postgres", "spark", "snowflake", "bigquery")
LARGEST = float(np.finfo(np.float64).max)
_EXACT_DIGITS, _EXACT_POWER = 15, 22  # decimals that one rounded division gives exactly
_INTEGER_BITS = 62
_LEAST_LOG = -700.0  # PostgreSQL raises an error where a result underflows


def sqlglot() -> Any:
    """The library that writes SQL, loaded on demand."""
    try:
        import sqlglot as library
        import sqlglot.expressions
    except ImportError:
        raise NotInstalledError(
            "SQL is written with sqlglot, which is not installed", fix="pip install 'bayeswise[sql]'"
        ) from None
    return library


def dialect_of(name: str) -> Dialect:
    """The dialect of a database, by name."""
    refuse_unknown(name, NAMES, "there is no SQL dialect")
    library = sqlglot()
    return {"sqlite": Sqlite, "postgres": Postgres}.get(name, Dialect)(name, library.exp)


@dataclass(frozen=True)
class Dialect:
    """A database whose floats are those of IEEE 754: DuckDB, Spark, Snowflake, BigQuery."""

    name: str
    sql: Any  # sqlglot.exp

    @property
    def materialized(self) -> bool | None:
        """Whether a step can be materialized: computed once, not at each use."""
        return True if self.name in ("duckdb", "sqlite", "postgres") else None

    def quoted(self, name: str) -> Sql:
        if "\x00" in name or is_broken(name):
            raise ExportError(f"the name {name!r} cannot be written in SQL", fix="rename the column, and fit again")
        return self.sql.to_identifier(name, quoted=True)

    def column(self, name: str) -> Sql:
        return self.sql.Column(this=self.quoted(name))

    # -- literals -------------------------------------------------------------------------------------------------
    def number(self, value: float) -> Sql:
        """A double that is read back bit for bit."""
        if self.name == "snowflake":
            return self.cast(self.sql.Literal.string(repr(value)))
        written = np.format_float_scientific(abs(value), trim="0")  # an exponent makes it a double, not a decimal
        return self._signed(self.sql.Literal.number(written), value)

    def _signed(self, literal: Sql, value: float) -> Sql:
        return self.sql.Neg(this=literal) if math.copysign(1.0, value) < 0 else literal

    def cast(self, value: Sql) -> Sql:
        return self.sql.Cast(this=value, to=self.sql.DataType(this=self.sql.DataType.Type.DOUBLE))

    @property
    def infinity(self) -> Sql:
        return self.cast(self.sql.Literal.string("inf"))

    @property
    def null(self) -> Sql:
        return self.cast(self.sql.Null())

    def integer(self, value: int) -> Sql:
        return self._signed(self.sql.Literal.number(str(abs(value))), value)

    def text(self, value: str) -> Sql:
        """A text; a NUL in it is written as CHR(0)."""
        first, *rest = (self.sql.Literal.string(part) for part in value.split("\x00"))
        for part in rest:
            zero = self.sql.Chr(expressions=[self.sql.Literal.number(0)])
            first = self.sql.DPipe(this=self.sql.DPipe(this=first, expression=zero, safe=True), expression=part)
        return first

    def holds(self, label: Label) -> bool:
        """Whether a cell of the database can have this label at all."""
        return not (isinstance(label, str) and is_broken(label))

    def label(self, label: Label) -> Sql:
        if isinstance(label, bool):
            return self.sql.true() if label else self.sql.false()
        if isinstance(label, int):
            return self.integer(label)
        return self.number(label) if isinstance(label, float) else self.text(label)

    # -- cells ----------------------------------------------------------------------------------------------------
    def finite(self, column: str) -> Sql:
        """The number of a cell, NULL if it is NaN or infinite; databases compare NaN differently."""
        value = self.cast(self.column(column))
        inside = self.sql.LTE(this=self.sql.Abs(this=value), expression=self.number(LARGEST))
        return self.sql.Case(ifs=[self.sql.If(this=inside, true=value.copy())])

    def unreadable(self, column: str) -> Sql:
        """Whether a cell is infinite; not NULL."""
        size = self.sql.Abs(this=self.cast(self.column(column)))
        found = self.sql.EQ(this=size, expression=self.infinity)
        return self.sql.Coalesce(this=found, expressions=[self.sql.false()])

    def compared(self, levels: Levels) -> Sql:
        """The cell that is compared with labels."""
        kinds = {type(label) for label in levels.labels}
        if kinds - {int, float} and len(kinds) > 1:
            raise ExportError(
                f"column {levels.column!r} has labels of several types, which no column of a database has",
                fix="make them text, and fit again",
            )
        if float in kinds:
            return self.finite(levels.column)
        return self.column(levels.column)

    # -- operations that may raise errors -------------------------------------------------------------------------
    repeats: tuple[str, ...] = ("square",)  # operations that write their argument more than once

    def exponential(self, x: Sql) -> Sql:
        return self.sql.Exp(this=x)

    def square(self, x: Sql) -> Sql:
        return self.sql.Mul(this=x, expression=x.copy())

    def bounded(self, x: Sql, bounds: tuple[float, float]) -> Sql:
        return x


@dataclass(frozen=True)
class Sqlite(Dialect):
    """Cells of any type in any column, and a parser of decimals that may be off in the last bit."""

    def number(self, value: float) -> Sql:
        """A short decimal, or else m / 2^k with whole numbers, which is exact in every version."""
        size = abs(value)
        digits, _, power = np.format_float_scientific(size, trim="-").partition("e")
        fraction = len(digits.replace(".", "")) - 1
        if fraction < _EXACT_DIGITS and abs(int(power) - fraction) <= _EXACT_POWER:
            return self._signed(self.sql.Literal.number(f"{digits}{'' if '.' in digits else '.0'}e{int(power)}"), value)
        mantissa, exponent = math.frexp(size)
        literal = self.sql.Literal.number(f"{int(math.ldexp(mantissa, 53))}.0")
        found, left = literal, exponent - 53
        while left:
            step = max(-_INTEGER_BITS, min(_INTEGER_BITS, left))
            operation = self.sql.Mul if step > 0 else self.sql.Div
            found = operation(this=found, expression=self.sql.Literal.number(f"{2 ** abs(step)}.0"))
            left -= step
        return self.sql.Paren(this=self._signed(found, value))

    @property
    def infinity(self) -> Sql:
        return self.sql.Literal.number("9e999")

    @property
    def null(self) -> Sql:
        return self.sql.Null()

    def unreadable(self, column: str) -> Sql:
        """Text in a column of numbers too: it would be read as 0."""
        kind = self.sql.Anonymous(this="typeof", expressions=[self.column(column)])
        other = self.sql.In(this=kind, expressions=[self.sql.Literal.string(each) for each in ("text", "blob")])
        return self.sql.Paren(this=self.sql.Or(this=other, expression=super().unreadable(column)))

    def compared(self, levels: Levels) -> Sql:
        if any(isinstance(label, str) for label in levels.labels):  # whatever the collation of the column
            return self.sql.Collate(this=self.column(levels.column), expression=self.sql.var("BINARY"))
        return self.column(levels.column)


@dataclass(frozen=True)
class Postgres(Dialect):
    """Raises errors where a result overflows or underflows; texts have no NUL."""

    repeats: tuple[str, ...] = ("square", "exp", "bounded")

    def number(self, value: float) -> Sql:
        return self.cast(self.sql.Literal.string(repr(value)))

    def holds(self, label: Label) -> bool:
        return super().holds(label) and not (isinstance(label, str) and "\x00" in label)

    def exponential(self, x: Sql) -> Sql:
        tiny = self.sql.LT(this=x, expression=self.number(_LEAST_LOG))
        return self._case([(tiny, self.number(0.0))], self.sql.Exp(this=x.copy()))

    def square(self, x: Sql) -> Sql:
        tiny = self.sql.LT(this=self.sql.Abs(this=x), expression=self.number(1e-150))
        return self._case([(tiny, self.number(0.0))], super().square(x.copy()))

    def bounded(self, x: Sql, bounds: tuple[float, float]) -> Sql:
        low, high = map(self.number, bounds)
        cases = [(self.sql.LT(this=x, expression=low), low.copy())]
        cases.append((self.sql.GT(this=x.copy(), expression=high), high.copy()))
        return self._case(cases, x.copy())

    def _case(self, cases: list[tuple[Any, Any]], otherwise: Sql) -> Sql:
        ifs = [self.sql.If(this=condition, true=then) for condition, then in cases]
        return self.sql.Case(ifs=ifs, default=otherwise)
