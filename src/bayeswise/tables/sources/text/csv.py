"""CSV and its kin: read in blocks, split by the kernel while the block before is in use."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

from bayeswise import _kernels
from bayeswise.foundation.errors import ParameterError, SourceError
from bayeswise.tables.source import DEFAULT_NULL_WORDS
from bayeswise.tables.sources.table import PLAIN, ColumnPiece, TableSource, ahead, plain_columns
from bayeswise.tables.sources.text import stream as text_file
from bayeswise.tables.sources.text.dialect import Dialect, sniff

BLOCK_BYTES = 1 << 20
BLOCK_BYTES_PER_COLUMN = 1 << 11  # a wide table still comes in hundreds of rows
LONGEST_RECORD = 1 << 26
_ALL = (1 << 62) - 1


@dataclass(frozen=True)
class CsvPiece(ColumnPiece):
    """The records of one block, without the header."""

    block: _kernels.CsvBlock
    skipped: int
    rules: _kernels.TextRules

    @property
    def n_rows(self) -> int:
        return self.block.n_rows - self.skipped

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return self.block.column(index, self.skipped + begin, n_rows)


class CsvSource(TableSource):
    """A delimited text file; every cell is text."""

    textual = True

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
        return ahead(blocks)

    def _sample(self) -> tuple[bytes, bool]:
        return text_file.sample_of(self._path, self._name)

    def _opened(self) -> AbstractContextManager[text_file.Utf8Stream]:
        return text_file.opened(self._path, self._encoding, self._name)

    def _column_names(self) -> list[str]:
        with closing(self._blocks(n_columns=0, most_rows=1)) as blocks:
            first = next(blocks, None)
        if first is None:
            raise empty_file(self._name)
        if not self.dialect.header:
            return [f"column{k}" for k in range(first.n_columns)]
        cells = [first.column(k, 0, 1).texts(PLAIN)[0] for k in range(first.n_columns)]
        return [str(cell).strip() for cell in cells]

    def pieces(self, indices: Sequence[int]) -> Iterator[CsvPiece]:
        rules = _kernels.TextRules(self.null_words, self.dialect.decimal)
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
                        fix="close the quotes that open there, or name another delimiter",
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
            fix=f"correct the line (delimiter {dialect.delimiter!r}), or name another delimiter",
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
