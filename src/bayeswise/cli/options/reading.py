"""How a command reads tables and model files: kinds of columns, options about files, a source that is watched."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from bayeswise.cli.output.writing import reported_warnings, say
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, UsageError
from bayeswise.render.labels import is_broken
from bayeswise.tables.schema.names import normal_name

if TYPE_CHECKING:
    from bayeswise.foundation.progress import Bar
    from bayeswise.tables.schema.schema import Schema
    from bayeswise.tables.source import Chunk, RawColumn, Source

STDIN = "-"

Files: TypeAlias = Annotated[list[str], typer.Argument(metavar="FILE", help="A table: files, globs, or - for stdin.")]
LabelledFiles: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Labelled rows: files, globs, or - for stdin.")
]
ModelFile: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="Model file.")]
Target: TypeAlias = Annotated[str | None, typer.Option("-t", "--target", metavar="COL", help="The column to predict.")]
Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="COL[=A,B,C]", help="Read a column as a category, optionally with its levels."),
]
Numbers: TypeAlias = Annotated[
    list[str] | None, typer.Option("--number", metavar="COL", help="Read a column as a number.")
]
Ignored: TypeAlias = Annotated[list[str] | None, typer.Option("--ignore", metavar="COL", help="Leave a column out.")]
NullWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="WORD", help="Word for a missing value, instead of the usual ones."),
]


@dataclass(frozen=True)
class Kinds:
    """The columns of each kind, as they were typed."""

    category: Categories = None
    number: Numbers = None
    count: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as a count.")] = None
    binary: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as a flag.")] = None
    text: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as free text.")] = None
    ignore: Ignored = None

    def overrides(self, names: Iterable[str]) -> dict[str, Any]:
        """The overrides that `examine` takes.

        >>> Kinds(category=["zip", "size=S,M,L"], ignore=["id"]).overrides(["zip", "size"])
        {'kinds': {'zip': 'category'}, 'levels': {'size': ['S', 'M', 'L']}, 'ignore': ['id']}
        """
        known = set(names)
        plain = {"number": self.number, "count": self.count, "binary": self.binary, "text": self.text}
        kinds = {name: kind for kind, columns in plain.items() for name in _each_of(columns, known)}
        levels: dict[str, list[str]] = {}
        for word in self.category or ():
            name, equals, declared = word.partition("=")
            if equals and word not in known:
                levels[name] = declared.split(",")
            else:
                kinds |= dict.fromkeys(_each_of([word], known), "category")
        return {"kinds": kinds, "levels": levels, "ignore": _each_of(self.ignore, known)}


def _each_of(columns: Sequence[str] | None, known: Collection[str]) -> list[str]:
    """The columns that were typed; `a,b` are two of them where the table has both, and no column of that name.

    >>> _each_of(["id,age", "x,y", "id,wind"], ["id", "age", "x,y", "x", "y"])
    ['id', 'age', 'x,y', 'id,wind']
    """
    named = {normal_name(name) for name in known}
    found: list[str] = []
    for word in columns or ():
        parts = word.split(",")
        is_list = normal_name(word) not in named and all(normal_name(part) in named for part in parts)
        found += parts if is_list else [word]
    return found


@dataclass(frozen=True)
class Reading:
    """The options of a command that reads tables."""

    null: NullWords = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="CHAR", help="Delimiter (auto-detected by default).")
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, typer.Option("--decimal", help="Decimal mark (auto-detected by default).")
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Encoding of text files (auto-detected by default)."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of text files has the names (auto-detected by default); without one, columns "
            "are column0, column1, ...",
        ),
    ] = None
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Table of a database, or sheet of a workbook.")
    ] = None

    def open(self, files: Sequence[str], *, like: Schema | None = None, once: bool = False) -> Source:
        """The table in some files, or on standard input; words for "missing" are those of the schema it is `like`."""
        from bayeswise.tables.source import open_source

        twice = [name for name, times in Counter(files).items() if times > 1 and name != STDIN]
        say(*(f"{name} is named twice: its rows count twice." for name in twice))
        if STDIN in files:
            if len(files) > 1:
                raise UsageError("standard input is one table", fix="name files, or - alone")
            if sys.stdin is not None and sys.stdin.isatty():
                print("Reading the table from the keyboard; end it with Ctrl-D.", file=sys.stderr)
        with reported_warnings():
            return open_source(
                files[0] if len(files) == 1 else list(files),
                null_words=null_words(self.null, like),
                delimiter={"tab": "\t", "\\t": "\t"}.get(self.delimiter or "", self.delimiter),
                decimal=self.decimal,
                encoding=self.encoding,
                header=self.header,
                table_name=self.table,
                once=once,
            )


def null_words(null: Sequence[str] | None, like: Schema | None) -> tuple[str, ...]:
    """What was typed, else what the model was learned with; where these differ the user is warned."""
    from bayeswise.tables.schema.null_words import described, remembered, words_of

    if null is None:
        return words_of(like)
    for word in null:
        if is_broken(word):
            raise UsageError(f"--null {word!r} is not text", fix="give a word that cells contain")
    if like is not None and remembered(null) != like.null_words:
        say(f"Missing values are {described(null)}, by --null; the model was fitted with {described(like.null_words)}.")
    return tuple(null)


class Watched:
    """A source that remembers the chunk in use and the rows that have passed.

    Each sweep covers the columns in `also` too, so that their cells can be written again.
    """

    def __init__(self, source: Source, bar: Bar | None = None, *, also: Sequence[str] = ()) -> None:
        self._source = source
        self._bar = bar
        self._also = also
        self.chunk: Chunk | None = None
        self.rows = 0

    @property
    def source(self) -> Source:
        """The source itself, which can be swept without being watched."""
        return self._source

    @property
    def description(self) -> str:
        return self._source.description

    @property
    def columns(self) -> tuple[RawColumn, ...]:
        return self._source.columns

    @property
    def textual(self) -> bool:
        return self._source.textual

    @property
    def null_words(self) -> tuple[str, ...]:
        return self._source.null_words

    @property
    def n_rows(self) -> int | None:
        return self._source.n_rows

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        self.rows = 0
        if self._bar is not None:
            self._bar.begin(self._source.n_rows)
        for chunk in self._source.chunks(list(dict.fromkeys([*columns, *self._also]))):
            self.chunk = chunk
            self.rows += chunk.n_rows
            yield chunk
            if self._bar is not None:
                self._bar.advance(chunk.n_rows)


Needed: TypeAlias = Literal["classes", "row_probability", "forgets"]  # of `Capabilities`

# Why a kind of model cannot do what a verb needs, and what to do about it.
_REASONS = {
    ("merge", "logistic-regression"): "fit one model to all rows: weights do not add up, counts and moments do",
    ("merge", "iterated-regression"): "fit one model to all rows, or with --likelihood gaussian, which adds up",
    ("merge", "description-length-tree"): "fit one tree to all rows: all of them together select its questions",
    ("forget", "description-length-tree"): "give the rows that remain: forget MODEL ROWS --rows REMAINING",
    ("forget", "logistic-regression"): "give the rows that remain: forget MODEL ROWS --rows REMAINING",
    ("forget", "iterated-regression"): "fit it again without these rows, or with --likelihood gaussian, which forgets",
    ("densities", "auto"): "use a model that has densities: fit --model naive-bayes",
}


def load_for(verb: str, path: str, *needed: Needed) -> Any:
    """The model of a table in a file, if it can do what the verb needs."""
    return _loaded(verb, path, needed)[0]


def load_with_facts(verb: str, path: str) -> tuple[Any, dict[str, Any]]:
    """The same, and what the file says about itself; a pipe is read once."""
    from bayeswise.store.file import describe

    model, data = _loaded(verb, path, ())
    return model, describe(path, data=data)


def _loaded(verb: str, path: str, needed: tuple[Needed, ...]) -> tuple[Any, bytes]:
    from bayeswise.models.base.table_model import TableModel
    from bayeswise.models.files import inner_of, kind_of, load_contents
    from bayeswise.store.file import contents

    data = contents(path)
    model = load_contents(path, data)
    inside = inner_of(model)
    if not isinstance(inside, TableModel) or not all(getattr(inside.capabilities, name) for name in needed):
        kind = kind_of(inside)
        article = "an" if kind[0] in "aeiou" else "a"
        command = f"bayeswise network convert {path} NEW.bif" if verb == "export" else f"bayeswise network show {path}"
        other = f"run `{command}`" if kind == "belief-network" else ""
        if kind == "mixed-network":  # of which no other format holds the numbers
            other = f"run `bayeswise network query {path} NODE --given NODE=VALUE`, or `bayeswise network show {path}`"
        raise KindError(
            f"{path} holds {article} {kind} model, which `bayeswise {verb}` does not understand",
            fix=other or _REASONS.get((verb, kind), f"use it in Python: bw.load({path!r})"),
        )
    return model, data
