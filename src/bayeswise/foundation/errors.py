"""Everything that can go wrong, as a tree.

    BayeswiseError                    exit code
      UsageError                      2   the request is not valid
        ParameterError                    a setting has an impossible value
        PriorError                        a prior is not a probability distribution
        CostError                         a cost table is incomplete or not finite
        NotInstalledError                 an optional package is needed
        NotAvailableError                 an attribute that a model of this kind does not have
        NotFoundError                     a file, model or job that the workbench does not have
        ConflictError                     a file that changed since it was read
        ExportError                       a model that SQL or ONNX cannot express
        TooManyThreadsError               no further thread or process can be started
      DataError                       3   the data cannot be read
        SourceError                       the file or object is not a table
        SchemaError                       the columns make no table (names, kinds, invalid values)
        NetworkError                      nodes and tables make no distribution (cycles, names, rows)
        NonFiniteError                    an infinite cell
        SupportError                      a value that the family of its column does not allow
        StoreError                        the model file is damaged or from the future
      FitError                        4   model and data do not fit
        MissingColumnError                a column the model needs is absent
        KindError                         a column has another kind than the model learned
          NoSuchAnswerError               a method that a model of this kind does not have
          NoSuchAnswerError               a method that a kind of model does not have
        UnseenLevelError                  a level the model never saw, and the policy is "error"
        MissingCellError                  an empty cell, and the policy is "error"
        NotFittedError                    a model that has seen no rows
        TooFewRowsError                   an estimate that does not exist for so few rows
        NotMergedError                    rows to forget that were never learned
        NotStreamableError                a model without a statistic of fixed size
        ImpossibleEvidenceError           what was observed has probability 0 in every state (0/0)
        TooLargeError                     an exact answer needs more memory than is allowed
      CheckFailed                     5   a check of quality or cost was missed

Messages say what is wrong, where, what was found, and end in what to type instead ("Fix: ..."). Rows are counted from 1
in every message, whatever they came from: row 1 is the first row below the header of a file, the first row of a frame
and X[0] of an array (see `row_number`). Columns go by name; those of an array are called x0, x1, ...

What a message repeats from outside (names, labels, cells, paths) is cut and escaped by `quoted`, or by `shortened`
where it stands without quotes. Whatever it holds, it stays below 2 kB and sends no control character to a terminal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_LONG_QUOTATION = re.compile(r"""(?<!\w)('(?:[^'\\]|\\.){241,}'|"(?:[^"\\]|\\.){241,}")(?!\w)""", re.DOTALL)
_JOINERS = "\u200c\u200d"  # they hold emoji and Persian letters together
_QUOTED_CHARACTERS = 80
_PATH_CHARACTERS = 240
_WHAT_CHARACTERS = 1100
_FIX_CHARACTERS = 500


def quoted(value: object, width: int = _QUOTED_CHARACTERS) -> str:
    """A name, a label or a cell as Python writes it, its middle left out if it is long.

    >>> quoted("wind"), quoted(3), quoted("a\\x1b[31m"), quoted("long " * 9, width=20)
    ("'wind'", '3', "'a\\\\x1b[31m'", "'long long …ong long '")
    """
    if isinstance(value, os.PathLike):
        return repr(shortened(value))
    if not isinstance(value, str):
        return shortened(repr(value), width)
    return shortened(repr(_cut(value, width)), 2 * width)  # escapes make it longer


def shortened(text: object, width: int = _PATH_CHARACTERS) -> str:
    """A text or a path without quotes: what cannot be printed is escaped, the middle left out if it is long.

    >>> shortened("wind.csv"), shortened("two\\nlines.csv"), shortened("x" * 500, width=9)
    ('wind.csv', 'two\\\\nlines.csv', 'xxxx…xxxx')
    """
    plain = os.fspath(text) if isinstance(text, os.PathLike) else str(text)
    return _cut(_printable(_cut(plain, width)), width)


def listed(names: Iterable[object], most: int = 8) -> str:
    """The first names of many, and how many more there are.

    >>> listed(["golf", "mixed"]), listed(range(99), most=3)
    ('golf, mixed', '0, 1, 2 and 96 more')
    """
    every = list(names)
    first = ", ".join(shortened(name, _QUOTED_CHARACTERS) for name in every[:most])
    return f"{first} and {len(every) - most:,} more" if len(every) > most else first


def _cut(text: str, width: int) -> str:
    kept = (width - 1) // 2
    return text if len(text) <= width else f"{text[: width - 1 - kept]}…{text[len(text) - kept :]}"


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else ascii(c)[1:-1] for c in text)


def legible(text: str, width: int = _WHAT_CHARACTERS) -> str:
    """The text of a message: long quotations in it are cut, then its own middle; its lines stay lines.

    >>> legible("column '" + "x" * 9000 + "' is empty") == f"column '{shortened('x' * 9000)}' is empty"
    True
    """
    short = text if len(text) <= _QUOTED_CHARACTERS else _LONG_QUOTATION.sub(_cut_quotation, text)
    return "\n".join(map(_printable, _cut(short, width).split("\n")))


def _cut_quotation(found: re.Match[str]) -> str:
    quotation = found.group()
    return f"{quotation[0]}{_cut(quotation[1:-1], _PATH_CHARACTERS)}{quotation[-1]}"


def row_number(position: int) -> int:
    """What messages call the row at a position of an array: the first one is row 1.

    >>> row_number(0)
    1
    """
    return position + 1


def column_name(column: int | str) -> str:
    """The name of a column; one that has only a position is called like the columns of an array.

    >>> column_name("height"), column_name(2)
    ('height', 'x2')
    """
    return column if isinstance(column, str) else f"x{column}"


class BayeswiseError(Exception):
    """The root of all errors; `fix` says what to type instead.

    >>> str(CostError("costs have no entry for state 'ham'", fix="add one for 'ham'"))
    "costs have no entry for state 'ham'. Fix: add one for 'ham'."
    """

    exit_code = 1

    def __init__(self, what: str, *, fix: str | None = None) -> None:
        what = legible(what, _WHAT_CHARACTERS)
        fix = None if fix is None else legible(fix, _FIX_CHARACTERS)
        sentence = what.rstrip(".")
        super().__init__(f"{sentence}. Fix: {fix if fix.endswith(('.', '?')) else fix + '.'}" if fix else what)
        self.what = what
        self.fix = fix


class UsageError(BayeswiseError, ValueError):
    """The request is not valid."""

    exit_code = 2


class ParameterError(UsageError):
    """A setting has an impossible value."""


class PriorError(UsageError):
    """A prior is not a probability distribution over the named states."""


class CostError(UsageError):
    """A cost table is incomplete or not finite."""


class NotInstalledError(UsageError, ImportError):
    """An optional package is needed."""


class NotAvailableError(UsageError, AttributeError):
    """An attribute that a model of this kind, or with these settings, does not have; `hasattr` is False."""


class NotFoundError(UsageError):
    """A file, a model or a job that the workbench does not have, or must not show."""


class ConflictError(UsageError):
    """A file that somebody else changed since it was read."""


class ExportError(UsageError):
    """A model, or costs, that the language of an export cannot express."""


class TooManyThreadsError(UsageError):
    """No further thread or process can be started on this machine."""


class DataError(BayeswiseError, ValueError):
    """The data cannot be read."""

    exit_code = 3


class SourceError(DataError):
    """The file or object is not a table."""


class SchemaError(DataError):
    """The columns make no table."""


class NetworkError(DataError):
    """Nodes and tables make no distribution: a cycle, an unknown name, a row that does not sum to one."""


class NonFiniteError(DataError):
    """An infinite cell at a position; who knows the whole table says with `at` where the cell stands in it.

    >>> str(NonFiniteError(row=4, column=0).at(row=4, column="height"))
    "column 'height' has an infinite value in row 5. Fix: leave the cell empty, or give a finite number."
    """

    def __init__(self, what: str | None = None, *, row: int = 0, column: int | str = 0, fix: str | None = None) -> None:
        super().__init__(
            what or f"column {column_name(column)!r} has an infinite value in row {row_number(row)}",
            fix=fix or "leave the cell empty, or give a finite number",
        )
        self.row, self.column = row, column

    def at(self, *, row: int, column: str) -> NonFiniteError:
        """The same error, with the place in the whole table."""
        return NonFiniteError(row=row, column=column)


class SupportError(DataError):
    """A value that the family of its column does not allow; who knows the whole table says with `at` where it stands.

    >>> str(SupportError("a count is 0, 1, 2, ...", row=4, column=0, value=-3.0).at(row=4, column="calls"))
    "a count is 0, 1, 2, ...; row 5 of column 'calls' has -3. Fix: correct the cell, or choose another family for it."
    """

    def __init__(self, needs: str, *, row: int, column: int | str, value: float) -> None:
        super().__init__(
            f"{needs}; row {row_number(row)} of column {column_name(column)!r} has {value:g}",
            fix="correct the cell, or choose another family for it",
        )
        self.needs, self.row, self.column, self.value = needs, row, column, value

    def at(self, *, row: int, column: str) -> SupportError:
        """The same error, with the place in the whole table."""
        return SupportError(self.needs, row=row, column=column, value=self.value)

    def in_sample(self, position: int) -> DataError:
        """The same error about a sample that was given value by value, from 0 on, and not as a column.

        >>> str(SupportError("a count is 0, 1, 2, ...", row=0, column=0, value=-3.0).in_sample(4))
        'a count is 0, 1, 2, ...; value 5 of the data is -3. Fix: correct the value, or choose another family.'
        """
        what = f"{self.needs}; value {position + 1} of the data is {self.value:g}"
        return DataError(what, fix="correct the value, or choose another family")


class StoreError(DataError):
    """The model file is damaged, or was written by a later version."""


class FitError(BayeswiseError, ValueError):
    """Model and data do not fit."""

    exit_code = 4


class MissingColumnError(FitError):
    """A column the model needs is absent."""


class KindError(FitError):
    """A column has another kind than the model learned."""


class NoSuchAnswerError(KindError, AttributeError):
    """A kind of model does not have the method that was called; `hasattr` of it is False."""


class UnseenLevelError(FitError):
    """A level the model never saw, where the policy is "error"."""


class MissingCellError(FitError):
    """An empty cell, where the policy is "error"."""


class NotFittedError(FitError):
    """A model that has seen no rows."""


class TooFewRowsError(FitError):
    """An estimate that does not exist for so few rows."""


class NotMergedError(FitError):
    """Rows to forget that were never learned."""


class NotStreamableError(FitError):
    """A family without a statistic of fixed size cannot be streamed."""


class ImpossibleEvidenceError(FitError):
    """What was observed has probability 0 in every state, so that the posterior is 0/0: undefined, not zero."""


class TooLargeError(FitError):
    """An exact answer needs more memory than is allowed; the message says how much."""


class CheckFailed(BayeswiseError):
    """A check of quality or cost was missed."""

    exit_code = 5
