"""One row to be explained: typed in words, or picked from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeswise.cli.options.pairs import by_name
from bayeswise.cli.options.reading import Watched, null_words
from bayeswise.cli.output.writing import say
from bayeswise.explanations import Account
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.encoding.one_row import typed_batch
from bayeswise.tables.schema.column_evidence import place_of
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.source import Chunk, Source

if TYPE_CHECKING:
    from bayeswise.models.regression.regression_model import ScoreAccount


@dataclass(frozen=True)
class OneRow:
    """An encoded row, and its cells as they were written."""

    batch: Batch
    cells: Mapping[str, Any]

    def explained_by(self, model: Any, title: str) -> Account | ScoreAccount:
        """The model's account of it, which names the levels that the model never saw."""
        account: Account | ScoreAccount = model.explain(self.batch)
        where = "contributions" if isinstance(account, Account) else "terms"
        parts: Any = tuple(
            replace(part, value=self.cells[part.column]) if part.note.startswith("unseen") else part
            for part in getattr(account, where)
        )
        return replace(account, title=title, **{where: parts})


def typed_row(model: Any, pieces: Sequence[str], null: Sequence[str] | None, also: Sequence[str] = ()) -> OneRow:
    """COL=VALUE ..., read like the cells of a text file; columns that are not typed are missing.

    `also` are columns that are not the model's, such as those that costs depend on.
    """
    schema = model.schema
    names = tuple(dict.fromkeys((*schema.names, *also)))
    typed = by_name(pieces, names, "--row", f"{schema.used[0]}=...")
    found = {find_name(name, names, where="the model"): value for name, value in typed.items()}
    for name in [name for name in found if name not in schema.used and name not in also]:
        say(f"{name}: the model does not use this column.")
    return OneRow(typed_batch(schema, model.vocabularies, found, null_words(null, schema)), found)


def row_of_table(model: Any, source: Source, number: int, also: Sequence[str] = ()) -> OneRow:
    """The row at this position, counted from 1; the table is read no further. `also` are numbers to read besides."""
    known = [column.name for column in source.columns]
    beside = {name: find_name(name, known, where=source.description) for name in also}
    watched = Watched(source, also=tuple(beside.values()))
    for batch in _encoder(model).batches(watched):
        chunk = watched.chunk
        assert chunk is not None
        if chunk.first_row + chunk.n_rows >= number:
            row = number - 1 - chunk.first_row
            names = _names_in(source, model)
            _report_invalid(model, names, chunk, number - 1)
            cells = {name: chunk.cells(names[name])[row] for name in model.schema.categories}
            cells |= {name: float(chunk.numbers(column)[0][row]) for name, column in beside.items()}
            return OneRow(batch.rows(slice(row, row + 1)), cells)
    rows = f"{watched.rows:,} row{'s' * (watched.rows != 1)}"
    raise ParameterError(
        f"{source.description} has {rows}, so there is no row {number}", fix="choose another --row-number"
    )


def _encoder(model: Any) -> Encoder:
    return Encoder(
        model.schema,
        learning=False,
        vocabularies=model.vocabularies,
        batch_rows=None,
        check_invalid=False,
    )


def _names_in(source: Source, model: Any) -> dict[str, str]:
    """What the table calls the columns of the model."""
    names = [column.name for column in source.columns]
    return {name: find_name(name, names, where=source.description) for name in model.schema.used}


def _report_invalid(model: Any, names: Mapping[str, str], chunk: Chunk, row: int) -> None:
    for name in model.schema.numbers:
        for invalid in chunk.numbers(names[name])[1]:
            if invalid.row == row:
                say(f"{name}: {place_of(invalid)} is not a number; taken as missing.")
