"""Tables whose rows stay where they are: a pass summarises each partition by itself, and what was found merges.

What a worker is to do travels as any function does; what it found travels in the canonical bytes of the store. An error
about the data is an answer like any other: it is raised once, where the pass was started, and no partition is
tried again for it.

>>> class Rows(Pass[int]):
...     name = "rows"
...     def of(self, source): return sum(chunk.n_rows for chunk in source.chunks([source.columns[0].name]))
...     def merged(self, one, other): return one + other
>>> from bayeswise.tables.source import open_source
>>> parts = [answer(Rows(), lambda: open_source({"x": [1.0] * n}), n) for n in (2, 3)]
>>> found(Rows(), merge(Rows(), parts))
(2, 5)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial, reduce
from types import FunctionType, MethodType
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

import numpy as np

from bayeswise.foundation import errors
from bayeswise.foundation.errors import BayeswiseError, NotStreamableError
from bayeswise.foundation.progress import StepsBar
from bayeswise.foundation.threads import alone
from bayeswise.store.document import pack, unpack
from bayeswise.store.file import model_bytes, read_bytes
from bayeswise.tables.source import Chunk, RawColumn, Source, Storage
from bayeswise.tables.sources.table import checked_names

T = TypeVar("T")
Watch = Callable[[str, int, int | None], None]  # what is done, partitions done, of how many

_KIND = "partition"
MOST_CELLS_HERE = 1 << 27
"""Cells that come to this machine for what cannot be summarised where they are: 1 GB of numbers."""

FAN_IN = 16
"""Answers that are merged at a time where partitions are many."""


class Pass(ABC, Generic[T]):
    """What one pass over all rows computes: plain data and statistics, of each partition by itself."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, source: Source) -> T:
        """The answer of one partition."""

    @abstractmethod
    def merged(self, one: T, other: T) -> T:
        """The merged answer of two of them, in any order."""

    @property
    def types(self) -> tuple[type, ...]:
        """The types that an answer is made of, besides plain data."""
        return ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of which numbers are read together, if any."""
        return ()

    def is_same(self, other: Pass[Any]) -> bool:
        """Whether another pass computes the same of the same rows."""
        return is_same(self, other)


class RowAnswer(ABC):
    """Columns that are added to rows where these are."""

    @property
    @abstractmethod
    def fields(self) -> Mapping[str, Storage]:
        """The names of the columns, and whether they are text, integer, float or boolean."""

    @abstractmethod
    def of(self, source: Source) -> Mapping[str, Sequence[Any]]:
        """The columns for some rows."""


class AnsweringSource(ABC):
    """A table that answers passes; those that were made together with another are not made again."""

    known: list[tuple[Pass[Any], Any]]  # such passes, and what they found

    def ask(self, work: Pass[T], columns: Sequence[str]) -> T:
        """What a pass over these columns finds."""
        for early, value in self.known:
            if early.is_same(work):
                answered: T = value
                return answered
        return self._found(work, columns)

    @abstractmethod
    def _found(self, work: Pass[T], columns: Sequence[str]) -> T:
        """What a pass finds that was not made yet."""


class SpreadSource(AnsweringSource):
    """A table that is spread over partitions, which never come together: it has columns, and answers passes.

    `passes` are the names of those that were started, in their order. `watch` is called with the partitions that are
    done; without it there is a bar on a terminal and in notebooks.
    """

    textual = False
    null_words: tuple[str, ...] = ()
    n_rows: int | None = None
    n_partitions: int | None = None  # where it is known

    def __init__(self, description: str, columns: Sequence[RawColumn]) -> None:
        self.description = description
        self.columns = checked_names(description, columns)
        self.passes: list[str] = []
        self.watch: Watch | None = None
        self.known = []

    def __repr__(self) -> str:
        return f"<{self.description}: {', '.join(column.name for column in self.columns)}>"

    def _found(self, work: Pass[T], columns: Sequence[str]) -> T:
        self.passes.append(work.name)
        needed = set(columns)
        names = [column.name for column in self.columns if column.name in needed] or [self.columns[0].name]
        with StepsBar(in_notebook=True) as bar:

            def show(what: str, done: int, total: int | None) -> None:
                bar(f"{what}: {done:,} of {total or 0:,} partitions", done, total)

            watch = self.watch or (show if bar.may_show else None)
            return found(work, self._answered(work, names, watch))[1]

    @abstractmethod
    def _answered(self, work: Pass[Any], columns: Sequence[str], watch: Watch | None) -> bytes:
        """The merged answers of all partitions; `watch` is called as they come."""

    def first_rows(self, columns: Sequence[str], n_rows: int) -> Source | None:
        """These columns of up to `n_rows` rows; None where fetching them takes longer than a pass."""
        return None

    @abstractmethod
    def _gathered(self, columns: Sequence[str]) -> Source:
        """These columns of all rows, on this machine."""

    @abstractmethod
    def _counted(self) -> int:
        """The number of all rows."""

    def counted(self) -> int:
        """The number of all rows, counted once."""
        if self.n_rows is None:
            self.passes.append("count")
            self.n_rows = self._counted()
        return self.n_rows

    @abstractmethod
    def extended(self, answer: RowAnswer) -> Any:
        """A lazy frame of the same library, with the columns of an answer added."""

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        """The rows themselves, for what cannot be computed from a summary: fetched unless they are too many."""
        n_rows = self.counted()
        if n_rows * len(columns) > MOST_CELLS_HERE:
            raise NotStreamableError(
                f"this needs the rows themselves and not a summary of fixed size, and {n_rows:,} rows of "
                f"{len(columns)} columns of a {self.description} are too many for one machine: at most "
                f"{MOST_CELLS_HERE:,} cells are fetched",
                fix="choose a model of counts and sums (naive-bayes, averaged, gaussian, linear, logistic with a "
                "scale that is given; tan or aode with cuts), ignore columns, or give a sample of the rows: "
                "frame.sample(...)",
            )
        self.passes.append("rows brought here")
        return self._gathered(columns).chunks(columns)


class NearSource(AnsweringSource):
    """A table on this machine that answers passes, too."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.description, self.columns = source.description, source.columns
        self.textual, self.null_words = source.textual, source.null_words
        self.n_rows: int | None = None
        self.known = []

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        return self.source.chunks(columns)

    def _found(self, work: Pass[T], columns: Sequence[str]) -> T:
        return work.of(self.source)


# -- on the workers -------------------------------------------------------------------------------------------
def answer(work: Pass[Any], opened: Callable[[], Source], partition: int) -> bytes:
    """The answer of one partition, or its error."""
    try:
        with alone():
            return _packed(1, work.of(opened()), None)
    except BayeswiseError as error:
        return _packed(1, None, (partition, type(error).__name__, error.what, error.fix or ""))


def merge(work: Pass[Any], answers: Iterable[bytes]) -> bytes:
    """The merged answers of all of them; of errors that of the first partition."""
    read = (_read(work, each) for each in answers)
    return _packed(*reduce(lambda one, other: _both(work, one, other), read))


_Answer = tuple[int, Any, tuple[int, str, str, str] | None]  # partitions, what was found, or what is wrong


def _both(work: Pass[Any], one: _Answer, other: _Answer) -> _Answer:
    problems = [each[2] for each in (one, other) if each[2] is not None]
    n_partitions = one[0] + other[0]
    if problems:
        return n_partitions, None, min(problems)
    return n_partitions, work.merged(one[1], other[1]), None


def _packed(n_partitions: int, value: Any, problem: tuple[int, str, str, str] | None) -> bytes:
    return model_bytes(pack((n_partitions, value, problem)), _KIND)


def _read(work: Pass[Any], data: bytes) -> _Answer:
    answer: _Answer = unpack(read_bytes(data, name=f"a partition ({work.name})")[1], work.types)
    return answer


# -- where the pass was started -------------------------------------------------------------------------------
def found(work: Pass[T], answer: bytes) -> tuple[int, T]:
    """The number of partitions, and their merged answer; an error is raised."""
    n_partitions, value, problem = _read(work, answer)
    if problem is not None:
        _raise(n_partitions, *problem)
    return n_partitions, value


def n_partitions(work: Pass[Any], answer: bytes) -> int:
    """How many partitions an answer is about."""
    return _read(work, answer)[0]


def _raise(n_partitions: int, partition: int, kind: str, what: str, fix: str) -> NoReturn:
    """The error of a worker, with its partition: rows are counted there."""
    error = getattr(errors, kind, BayeswiseError)
    place = f" (in partition {partition + 1} of {n_partitions}, where rows are counted from 1)"
    again: BayeswiseError = BayeswiseError.__new__(error)
    BayeswiseError.__init__(again, what.rstrip(".") + place * (n_partitions > 1), fix=fix or None)
    raise again


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal; functions are if they are the same code about equal values.

    >>> is_same([lambda: 1], [lambda: 2]), is_same(*(partial(max, k) for k in (1, 1)))
    (False, True)
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, FunctionType):
        cells = [tuple(cell.cell_contents for cell in each.__closure__ or ()) for each in (one, other)]
        return one.__code__ is other.__code__ and one.__defaults__ == other.__defaults__ and is_same(*cells)
    if isinstance(one, MethodType):
        return one.__func__ is other.__func__ and is_same(one.__self__, other.__self__)
    if isinstance(one, partial):
        return is_same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and is_same(list(one.values()), list(other.values()))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        return all(is_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)
