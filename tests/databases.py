"""Real databases for tests of exported queries: a table goes in, the columns of a query come out.

DuckDB and SQLite run in this process. PostgreSQL is a server of its own in a temporary folder, started once for all
tests, as another user where the tests run as root, which PostgreSQL refuses.
"""

from __future__ import annotations

import csv
import io
import math
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

Table = Mapping[str, Sequence[Any]]
_NULL = "\x01null"  # how psql writes NULL
_TYPES = {
    "duckdb": {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"},
    "sqlite": {bool: "INTEGER", int: "INTEGER", float: "REAL", str: "TEXT"},
    "postgres": {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE PRECISION", str: "TEXT"},
}


class Database(Protocol):
    """Something that answers a query about one table."""

    name: str

    def answers(self, table: Table, query: str, table_name: str = "rows") -> dict[str, list[Any]]: ...


def kind_of(cells: Sequence[Any]) -> type:
    """The type of a column: that of its cells, float where there are no others or of several kinds of numbers."""
    kinds = {type(each) for each in cells if each is not None}
    if kinds <= {bool} and kinds:
        return bool
    if str in kinds:
        return str
    return int if kinds == {int} else float


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _created(table: Table, dialect: str, table_name: str) -> str:
    columns = ", ".join(f"{_quoted(name)} {_TYPES[dialect][kind_of(cells)]}" for name, cells in table.items())
    return f"CREATE TABLE {_quoted(table_name)} ({columns})"


class Duck:
    name = "duckdb"

    def answers(self, table: Table, query: str, table_name: str = "rows") -> dict[str, list[Any]]:
        import duckdb
        import pyarrow as pa

        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            connection.execute(_created(table, self.name, table_name))
            kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
            columns = [pa.array(cells, kinds[kind_of(cells)]) for cells in table.values()]
            connection.register("bayeswise_cells", pa.table(columns, names=[f"c{k}" for k in range(len(columns))]))
            connection.execute(f"INSERT INTO {_quoted(table_name)} SELECT * FROM bayeswise_cells")
            found = connection.execute(query)
            names = [each[0] for each in found.description]
            cells = found.fetchall()
        return {name: [row[k] for row in cells] for k, name in enumerate(names)}


class Lite:
    name = "sqlite"

    def answers(self, table: Table, query: str, table_name: str = "rows") -> dict[str, list[Any]]:
        connection = sqlite3.connect(":memory:")
        try:
            self._add_functions(connection)
            connection.execute(_created(table, self.name, table_name))
            marks = ", ".join("?" * len(table))
            connection.executemany(
                f"INSERT INTO {_quoted(table_name)} VALUES ({marks})", zip(*table.values(), strict=True)
            )
            found = connection.execute(query)
            names = [each[0] for each in found.description]
            cells = found.fetchall()
        finally:
            connection.close()
        return {name: [row[k] for row in cells] for k, name in enumerate(names)}

    @staticmethod
    def _add_functions(connection: sqlite3.Connection) -> None:
        """Logarithms and the like, where SQLite was built without them."""
        try:
            connection.execute("SELECT ln(2.0), exp(1.0), sqrt(2.0), floor(1.5)")
        except sqlite3.OperationalError:
            for name, function in (("ln", math.log), ("exp", math.exp), ("sqrt", math.sqrt), ("floor", math.floor)):
                connection.create_function(
                    name, 1, lambda x, own=function: None if x is None else own(x), deterministic=True
                )


class Postgres:
    """One server; each question drops its table."""

    name = "postgres"

    def __init__(self, programs: Path, folder: Path, as_user: list[str]) -> None:
        self.programs, self.folder, self.as_user = programs, folder, as_user

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Postgres]:
        """The server, until the end; `LookupError` says why there is none."""
        programs = _programs()
        user = _user()
        folder = Path(tempfile.mkdtemp(prefix="bayeswise-postgres-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        as_user = []
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
            as_user = ["runuser", "-u", user.pw_name, "--"]
        server = cls(programs, folder, as_user)
        data = folder / "data"
        try:
            server._run(
                "initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
            )
            options = f"-k {folder} -c listen_addresses='' -c fsync=off -c shared_buffers=16MB"
            server._run("pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
            try:
                yield server
            finally:
                server._run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, program: str, *words: str, text: str = "") -> str:
        command = [*self.as_user, str(self.programs / program), *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr[-2000:] or done.stdout[-2000:]}")
        return done.stdout

    def answers(self, table: Table, query: str, table_name: str = "rows") -> dict[str, list[Any]]:
        lines = io.StringIO()
        writer = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in zip(*table.values(), strict=True):
            writer.writerow(
                [_NULL if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in row]
            )
        name, columns = _quoted(table_name), ", ".join(map(_quoted, table))
        script = (
            f"SET client_min_messages = warning;\nDROP TABLE IF EXISTS {name};\n"
            f"{_created(table, self.name, table_name)};\n"
            f"COPY {name} FROM STDIN WITH (FORMAT csv, NULL '{_NULL}', FORCE_NULL ({columns}));\n"
            f"{lines.getvalue()}\\.\n{query.rstrip()};\n"
        )
        words = ["-X", "-q", "--csv", "-P", f"null={_NULL}", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder)]
        out = self._run("psql", *words, "-U", "postgres", "-d", "postgres", text=script)
        names, *cells = csv.reader(io.StringIO(out))
        return {name: [_cell(row[k]) for row in cells] for k, name in enumerate(names)}


def _cell(text: str) -> Any:
    if text == _NULL:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _programs() -> Path:
    on_path = [Path(found).parent for found in [shutil.which("initdb")] if found]
    for home in (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *on_path):
        if all((home / program).exists() for program in ("initdb", "pg_ctl", "psql")):
            return home
    raise LookupError("PostgreSQL is not installed here: apt-get install postgresql")


def _user() -> pwd.struct_passwd | None:
    """The user that runs the server; None for the one that runs the tests."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LookupError("PostgreSQL does not run as root, and there is no user postgres or nobody")
