"""Delimited text: read in blocks, split by the kernel while the block before is in use; from a pipe, once."""

from __future__ import annotations

import io
import select
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, SourceError
from bayeswise.foundation.threads import ahead
from bayeswise.tables.schema.names import with_index_named
from bayeswise.tables.source import DEFAULT_NULL_WORDS
from bayeswise.tables.sources.table import PLAIN, ColumnPiece, Rules, SpelledNumbers, TableSource, plain_columns
from bayeswise.tables.sources.text import stream as text_file
from bayeswise.tables.sources.text.dialect import Dialect, sniff

BLOCK_BYTES = 1 << 20
FEW_BYTES = 1 << 16  # a file of no more is read sooner than a helper begins to
BLOCK_BYTES_PER_COLUMN = 1 << 11  # a wide table still comes in hundreds of rows
LONGEST_RECORD = 1 << 26
_ALL = (1 << 62) - 1
_OTHER_DELIMITER = 'name another delimiter, as in delimiter=";" (--delimiter ";")'


@dataclass(frozen=True)
class CsvPiece(ColumnPiece):
    """The records of one block, without the header."""

    block: _kernels.CsvBlock
    skipped: int
    rules: Rules

    @property
    def n_rows(self) -> int:
        return self.block.n_rows - self.skipped

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return self.block.column(index, self.skipped + begin, n_rows)

    def numbers(self, indices: Sequence[int], begin: int, out: NDArray[np.float64]) -> list[SpelledNumbers]:
        return self.block.numbers(list(indices), self.skipped + begin, self.rules, out)


class CsvSource(TableSource):
    """A delimited text file; every cell is text."""

    textual = True
    for_many = True

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        null_words: Sequence[str] = DEFAULT_NULL_WORDS,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> None:
        self._path = path
        self._name = name or path.name
        self.null_words = tuple(null_words)
        _check_delimiter(delimiter)
        sample, whole = self._sample()
        if not sample.strip():
            raise empty_file(self._name)
        self._encoding = (
            text_file.known_encoding(encoding) if encoding else text_file.encoding_of(self._name, sample, whole)
        )
        text = text_file.decoded(sample, self._encoding)
        default = "\t" if ".tsv" in path.suffixes else ","
        self.dialect = sniff(text, delimiter=delimiter, header=header, decimal=decimal, default=default)
        super().__init__(self._name, plain_columns(self._column_names(), "text"))

    def _read(self, blocks: Iterator[_kernels.CsvBlock]) -> Iterator[_kernels.CsvBlock]:
        return blocks if 0 < self.n_bytes <= FEW_BYTES else ahead(blocks)

    def _sample(self) -> tuple[bytes, bool]:
        return text_file.sample_of(self._path, self._name)

    def _opened(self) -> AbstractContextManager[text_file.Utf8Stream]:
        return text_file.opened(self._path, self._encoding, self._name)

    @property
    def n_bytes(self) -> int:
        """The size of the file; 0 for what cannot be read twice."""
        return self._path.stat().st_size if self._path.is_file() else 0

    def _column_names(self) -> list[str]:
        with closing(self._blocks(n_columns=0, most_rows=1)) as blocks:
            first = next(blocks, None)
        if first is None:
            raise empty_file(self._name)
        if not self.dialect.header:
            return [f"column{k}" for k in range(first.n_columns)]
        cells = [first.column(k, 0, 1).texts(PLAIN)[0] for k in range(first.n_columns)]
        return with_index_named([str(cell).strip() for cell in cells])

    def pieces(self, indices: Sequence[int]) -> Iterator[CsvPiece]:
        rules = Rules(self.null_words, self.dialect.decimal)
        skipped = int(self.dialect.header)
        for block in self._read(self._blocks(len(self.columns))):
            yield CsvPiece(block, skipped, rules)
            skipped = 0

    def _blocks(self, n_columns: int, most_rows: int = _ALL) -> Generator[_kernels.CsvBlock, None, None]:
        """Blocks of whole records; the first one holds at least one record."""
        carry, line = b"", 1
        block_bytes = max(BLOCK_BYTES, min(n_columns * BLOCK_BYTES_PER_COLUMN, LONGEST_RECORD))
        with self._opened() as stream:
            while True:
                fresh = stream.read(max(block_bytes, len(carry)))
                block = self._split(carry, fresh, n_columns, line, most_rows)
                if block.n_rows:
                    yield block
                if not fresh:
                    return
                line = block.next_line
                carry = block.rest()
                if len(carry) > LONGEST_RECORD:
                    raise SourceError(
                        f"{self._name}: the record in line {line} is longer than {LONGEST_RECORD >> 20} MB",
                        fix=f"close the quotes that open there, or {_OTHER_DELIMITER}",
                    )

    def _split(self, carry: bytes, fresh: bytes, n_columns: int, line: int, most_rows: int) -> _kernels.CsvBlock:
        d = self.dialect
        block = _kernels.CsvBlock.split(
            carry, fresh, d.delimiter, d.quote, d.skip_space, n_columns, line, not fresh, most_rows
        )
        if block.flaw:
            raise flaw_error(self._name, block, n_columns, d)
        return block


def empty_file(name: str) -> SourceError:
    """A file without a single record."""
    return SourceError(f"{name} is empty", fix="give a file with a header and rows")


def flaw_error(name: str, block: _kernels.CsvBlock, n_columns: int, dialect: Dialect) -> SourceError:
    """What stopped the splitting, as an error with the line."""
    where = f"line {block.flaw_line} of {name}"
    if block.flaw == "ragged":
        fields = f"{block.flaw_fields} field{'s' * (block.flaw_fields != 1)}"
        return SourceError(
            f"{where} has {fields} where {n_columns or block.n_columns} are expected",
            fix=f"correct the line (delimiter {dialect.delimiter!r}), or {_OTHER_DELIMITER}",
        )
    if block.flaw == "after_quote":
        return SourceError(f"{where} has text after a closing quote", fix='write quotes inside a field twice: ""')
    if block.flaw == "open_quote":
        return SourceError(
            f"{name} ends inside the quoted field that opens in line {block.flaw_line}",
            fix="close the quote, or fetch the file again if it was cut off",
        )
    return SourceError(f"{where} is not UTF-8", fix='name the encoding, as in encoding="latin-1" (--encoding latin-1)')


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\r\n\"'"):
        raise ParameterError(f"the delimiter must be one ASCII character; found {delimiter!r}", fix='use "," or ";"')


_PATIENCE = 0.02  # seconds to wait for more before a block that is not full is passed on


class Piped:
    """A stream whose beginning can be looked at, again and again, before it is read.

    >>> stream = Piped(io.BytesIO(b"wind,play"))
    >>> stream.peek(4), stream.read(100), stream.read(100), stream.read(100)
    (b'wind', b'wind', b',play', b'')
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._seen = b""

    def peek(self, size: int) -> bytes:
        """The first bytes, fewer only if there are no more."""
        while len(self._seen) < size and (fresh := self._raw.read(size - len(self._seen))):
            self._seen += fresh
        return self._seen[:size]

    def read(self, size: int = 1 << 20, /) -> bytes:
        """What was looked at, then what has come by now, at least one byte before the end."""
        if self._seen:
            seen, self._seen = self._seen, b""
            return seen
        return self._fresh(size)

    def _fresh(self, size: int) -> bytes:
        if not _is_selectable(self._raw):
            return bytes(self._raw.read(size))
        pieces: list[bytes] = [self._raw.read1(size)]
        missing = size - len(pieces[-1])
        while pieces[-1] and missing > 0 and select.select([self._raw], [], [], _PATIENCE)[0]:
            pieces.append(self._raw.read1(missing))
            missing -= len(pieces[-1])
        return b"".join(pieces)


def _is_selectable(raw: Any) -> bool:
    """True for a pipe or a terminal of a system that can wait for one."""
    try:
        select.select([raw], [], [], 0)
    except (OSError, ValueError, TypeError, io.UnsupportedOperation):
        return False
    return hasattr(raw, "read1")


class PipedCsvSource(CsvSource):
    """Delimited text that can be swept once; its dialect and names are those of its beginning."""

    n_bytes = 0
    for_many = False

    def __init__(self, stream: Piped, path: Path, **options: Any) -> None:
        self._stream = stream
        self._swept = False
        super().__init__(path, **options)

    def _read(self, blocks: Iterator[_kernels.CsvBlock]) -> Iterator[_kernels.CsvBlock]:
        return blocks  # a thread that waits for a pipe could not be stopped

    def _sample(self) -> tuple[bytes, bool]:
        with text_file.translated(self._name):
            start = self._stream.peek(text_file.SAMPLE_BYTES + 1)
        return start[: text_file.SAMPLE_BYTES], len(start) <= text_file.SAMPLE_BYTES

    @contextmanager
    def _opened(self) -> Iterator[text_file.Utf8Stream]:
        raw: Any = self._stream if self._swept else _Beginning(self._stream)
        yield text_file.Utf8Stream(raw, self._encoding, self._name)

    def pieces(self, indices: Sequence[int]) -> Iterator[CsvPiece]:
        if self._swept:
            raise SourceError(f"{self._name} was read already", fix="open it without once=True to read it again")
        self._swept = True
        return super().pieces(indices)


class _Beginning:
    """The beginning of a stream that stays unread, as long as a reader needs it."""

    def __init__(self, stream: Piped) -> None:
        self._stream = stream
        self._done = 0

    def read(self, size: int) -> bytes:
        n_bytes = self._done + size if self._done else text_file.SAMPLE_BYTES
        fresh = self._stream.peek(n_bytes)[self._done :]
        self._done += len(fresh)
        return fresh
