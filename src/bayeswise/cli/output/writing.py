"""How a command writes: outputs that are refused before the work begins, and messages afterwards."""

from __future__ import annotations

import glob
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, TypeAlias, TypeVar

import typer

from bayeswise.cli.output.file_kinds import kind_of_suffix, refuse_other_content, refuse_other_suffix
from bayeswise.foundation.atomic import check_writable, replacing
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import StoreError, UsageError, legible

if TYPE_CHECKING:
    from bayeswise.cli.output.table_form import TableForm, Text

SUFFIX = ".bayeswise"
_LONGEST_LINE = 4_000
_Item = TypeVar("_Item")


Raw: TypeAlias = Annotated[
    bool, typer.Option("--raw", help="Write text that begins with = + - @ without an apostrophe before it.")
]


Picture: TypeAlias = Annotated[
    str | None,
    typer.Option("--png", metavar="OUT", help="Also write a picture, .png, .svg or .pdf (needs matplotlib)."),
]


JSON_SCHEMA = 1  # of every document that --json prints; another one when a name goes or changes its meaning


def json_document(facts: Mapping[str, Any], indent: int | None = 2) -> str:
    """What --json prints: the version of its form, then the facts; names as they are, and no NaN.

    >>> json_document({"rows": 14}, indent=None)
    '{"schema": 1, "rows": 14}'
    """
    return json.dumps({"schema": JSON_SCHEMA, **facts}, ensure_ascii=False, allow_nan=False, indent=indent)


@dataclass(frozen=True)
class TableOutput:
    """The options of a command that writes a table."""

    out: Annotated[str | None, typer.Option("-o", "--output", metavar="OUT", help="Output file (default: stdout).")] = (
        None
    )
    keep: Annotated[str, typer.Option("--columns", metavar="all|none|A,B", help="Columns of the table to keep.")] = (
        "all"
    )
    form: Annotated[
        Literal["csv", "tsv", "jsonl", "json", "parquet"] | None,
        typer.Option("--format", help="Output format (default: by the suffix of OUT, else csv)."),
    ] = None
    raw: Raw = False

    @property
    def is_file(self) -> bool:
        """Whether a file is written, and not standard output."""
        return self.out not in (None, "-")

    def checked(self, inputs: Sequence[str], *, as_json: bool) -> TableForm:
        """The form in which rows are written; a file that cannot be written, is read, or is another kind is refused."""
        from bayeswise.cli.output.table_form import TableForm

        if self.out is not None and self.is_file:
            check_place(self.out, inputs)
        written = TableForm.of(self.out, self.form, as_json=as_json)
        if self.out is not None and self.is_file:
            check_kind(self.out, written.kind)
        return written


def default_model_name(target: str) -> str:
    """The default path of the model of a target.

    >>> default_model_name("play"), default_model_name("price in €/kg")
    ('play.bayeswise', 'price_in_€_kg.bayeswise')
    """
    stem = re.sub(r"[^\w€-]+", "_", target).strip("_")[:60]
    return (stem or "model") + SUFFIX


def check_model_output(path: str, inputs: Iterable[str], *, force: bool = False, updated: Iterable[str] = ()) -> bool:
    """Whether a model will be replaced; a place that cannot be written, or holds something else, is refused.

    `updated` are models that may be overwritten by their successor.
    """
    if path == "-":
        raise UsageError("a model cannot go to standard output", fix="name a file, as in -o model.bayeswise")
    check_place(path, inputs)
    exists = Path(path).is_file() and Path(path).stat().st_size > 0
    if not force and not _is_any(path, updated):
        refuse_other_suffix(path, "model")
        if exists:
            _refuse_other_than_model(path)
    return exists


def check_output(path: str, inputs: Iterable[str], kind: str | None = None) -> None:
    """Refuse a place that cannot be written, is read, or is of another kind (of `FILE_KINDS`; None: as the suffix)."""
    check_place(path, inputs)
    check_kind(path, kind)


def check_kind(path: str, kind: str | None) -> None:
    """Refuse a suffix of another kind, and a file that does not begin like one of this kind."""
    written = kind_of_suffix(path) if kind is None else kind
    if written is not None:
        refuse_other_suffix(path, written)
        refuse_other_content(path, written)


def check_place(path: str, inputs: Iterable[str]) -> None:
    """Refuse a place that cannot be written, and one that is being read."""
    check_writable(path)
    if Path(path).is_file() and _is_any(path, inputs):
        raise UsageError(f"{path} is read by this command and would be overwritten", fix="name another output")


def check_picture(path: str | None, inputs: Iterable[str]) -> None:
    """Refuse a picture that cannot be written, or whose suffix is not supported."""
    if path is not None:
        from bayeswise.render.display import picture_form

        picture_form(path)
        check_output(path, inputs)


def _is_any(path: str, others: Iterable[str]) -> bool:
    found = [Path(match) for other in others for match in glob.glob(glob.escape(other)) or glob.glob(other)]  # noqa: PTH207 (may be absolute)
    return Path(path).exists() and any(other.exists() and other.samefile(path) for other in found)


def _refuse_other_than_model(path: str) -> None:
    from bayeswise.store.file import describe

    try:
        describe(path)
    except StoreError:
        raise UsageError(
            f"{path} exists and is not a model that can be read",
            fix="name another output, or add --force to replace it",
        ) from None


@contextmanager
def output(path: str | None) -> Iterator[BinaryIO]:
    """The file, written atomically, or standard output."""
    if path is not None and path != "-":
        with replacing(path) as file:
            yield file
        return
    if sys.stdout is None:
        raise UsageError("standard output is closed", fix="name a file with -o")
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def write_rows(
    rows: Iterable[tuple[Sequence[Sequence[Any]], Sequence[bool]]], names: Sequence[str], text: Text, path: str | None
) -> None:
    """Write rows as they come; a table that does not fit the model gets not even a header."""
    chunks = one_behind(rows)
    first = next(chunks, None)
    with output(path) as stream:
        stream.write(text.begin(names))
        for cells, safe in chain([] if first is None else [first], chunks):
            stream.write(text.rows(cells, safe))
        for piece in text.end():
            stream.write(piece)


def one_behind(items: Iterable[_Item]) -> Iterator[_Item]:
    """Each item when the next one is there: what is wrong with a short table is found before it is written.

    >>> list(one_behind("abc"))
    ['a', 'b', 'c']
    """
    rest = iter(items)
    held = list(islice(rest, 1))
    for item in rest:
        yield held.pop()
        held.append(item)
    yield from held


@contextmanager
def reported_warnings() -> Iterator[None]:
    """Warnings as sentences on stderr, each once, without a line of code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    say(*dict.fromkeys(f"Warning: {_typed(legible(str(each.message))).rstrip('.')}." for each in caught))


def _typed(message: str) -> str:
    """A warning, its fix in words that can be typed."""
    what, fix, how = message.partition(" Fix: ")
    if "=" not in how:
        return message
    from bayeswise.cli.output.fixes import options_of, typed_fix

    return what + fix + typed_fix(how, options_of(["fit"]))


def say(*lines: str) -> None:
    """Print a message that is not data."""
    for line in lines:
        print(legible(line, _LONGEST_LINE), file=sys.stderr)


def size_text(n_bytes: int) -> str:
    """A number of bytes for a reader.

    >>> size_text(812), size_text(34_500), size_text(2_500_000)
    ('812 bytes', '34.5 kB', '2.5 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.3g} kB" if n_bytes < 1e6 else f"{n_bytes / 1e6:.3g} MB"


def saved(path: str, replaced: bool) -> str:
    """One line about a file that was written."""
    size = f" ({size_text(Path(path).stat().st_size)})" if Path(path).is_file() else ""
    return f"Saved {path}{size}{', in place of the file that was there' if replaced else ''}."
