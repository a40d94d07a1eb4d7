"""Spark: Arrow batches in, canonical bytes out, merged on the executors; these need only the package.

Only the DataFrame API is used (`mapInArrow`), so that frames of Spark Connect can be read too. A pass is one job: where
partitions are many, or their number is not known yet, their answers are shuffled to as many tasks as their bytes need,
which merge them; the rest is merged here. A task that is lost is run again, as always.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswise.foundation.errors import FitError, NotInstalledError
from bayeswise.foundation.threads import limit_threads
from bayeswise.tables import partitions
from bayeswise.tables.partitions import FAN_IN, Pass, RowAnswer, SpreadSource, Watch
from bayeswise.tables.source import RawColumn, Source, Storage
from bayeswise.tables.sources.arrow import ArrowSource, from_pyarrow

if TYPE_CHECKING:
    import pyarrow as pa  # which comes with Spark

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of a session that starts here run the same Python

T = TypeVar("T")
ANSWER = "partition int, answer binary"
_PATIENCE = 10.0  # seconds for jobs that are cancelled
INTEGERS = ("tinyint", "smallint", "int", "bigint")
FIXED_WIDTH = (*INTEGERS, "float", "double", "boolean", "date", "timestamp", "timestamp_ntz")
NESTED = ("array", "map", "struct", "variant")
_STORAGES: dict[str, Storage] = {
    **dict.fromkeys(("string", "varchar", "char"), "text"),
    **dict.fromkeys(INTEGERS, "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "float"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz", "time", "interval"), "temporal"),
    **dict.fromkeys(NESTED, "nested"),
    "boolean": "boolean",
    "binary": "binary",
    "void": "null",
}


class SparkSource(SpreadSource):
    """A DataFrame of Spark."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        super().__init__("Spark DataFrame", [RawColumn(name, _storage(kind)) for name, kind in frame.dtypes])

    def _answered(self, work: Pass[Any], columns: Sequence[str], watch: Watch | None) -> bytes:
        chosen = self._columns(columns)
        answers = chosen.mapInArrow(partial(_leaf, work, tuple(columns)), ANSWER)
        n_partitions = self.n_partitions or partitions_of(chosen)
        if n_partitions is None or n_partitions > FAN_IN:
            answers = answers.repartition("partition").mapInArrow(partial(_joined, work), ANSWER)
        session = self.frame.sparkSession
        with _errors(), _lifted_limit(session, self._row_bytes(columns)):
            found = [bytes(row["answer"]) for row in _answer(session, answers.collect, work.name, watch)]
        merged = partitions.merge(work, found)
        self.n_partitions = partitions.n_partitions(work, merged)
        return merged

    def _row_bytes(self, columns: Sequence[str]) -> int | None:
        """The size of a row of these columns in an Arrow batch; None if rows differ."""
        wanted = set(columns)
        kinds = [kind for name, kind in self.frame.dtypes if name in wanted]
        return 9 * len(kinds) if all(kind in FIXED_WIDTH for kind in kinds) else None

    def first_rows(self, columns: Sequence[str], n_rows: int) -> Source | None:
        return self._as_arrow(self._columns(columns).limit(n_rows), columns)

    def _counted(self) -> int:
        with _errors():
            return int(_answer(self.frame.sparkSession, self.frame.count))

    def _gathered(self, columns: Sequence[str]) -> Source:
        return self._as_arrow(self._columns(columns), columns)

    def _as_arrow(self, frame: Any, columns: Sequence[str]) -> Source:
        with _errors():
            return from_pyarrow(_answer(self.frame.sparkSession, frame.toArrow).rename_columns(list(columns)))

    def extended(self, answer: RowAnswer) -> Any:
        from pyspark.sql.types import StructField, StructType

        names = [*self.frame.columns, *answer.fields]
        fields = [StructField(f"c{k}", field.dataType, field.nullable) for k, field in enumerate(self.frame.schema)]
        n_columns = len(fields)
        fields += [StructField(f"c{n_columns + k}", _type(kind)) for k, kind in enumerate(answer.fields.values())]
        work = partial(_answered_rows, answer, tuple(self.frame.columns))
        return plain_names(self.frame).mapInArrow(work, StructType(fields)).toDF(*names)

    def _columns(self, names: Sequence[str]) -> Any:
        return plain_names(self.frame.select(*map(quoted_name, names)))


def plain_names(frame: Any) -> Any:
    """The frame with columns c0, c1, ...: `mapInArrow` takes a dot in a name for a field of a struct."""
    return frame.toDF(*(f"c{k}" for k in range(len(frame.columns))))


def partitions_of(frame: Any) -> int | None:
    """The partitions of a frame, where its plan has them before it runs: not in Spark Connect, nor if it adapts."""
    if not hasattr(frame, "_jdf"):
        return None
    with _errors():
        plan = frame._jdf.queryExecution().executedPlan()
        return None if "Adaptive" in plan.nodeName() else int(plan.execute().getNumPartitions())


def quoted_name(name: str) -> str:
    """A column as an expression; dots and blanks mean nothing.

    >>> quoted_name("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _type(storage: Storage) -> Any:
    from pyspark.sql import types

    return {
        "text": types.StringType,
        "integer": types.LongType,
        "float": types.DoubleType,
        "boolean": types.BooleanType,
    }[storage]()


def _storage(kind: str) -> Storage:
    """How a type of Spark is stored, by the word that it begins with.

    >>> _storage("decimal(10,2)"), _storage("array<int>"), _storage("interval day to second")
    ('float', 'nested', 'temporal')
    """
    return _STORAGES.get(kind.split("(")[0].split("<")[0].split(" ")[0], "nested")


def opened(table: Any) -> SparkSource:
    """The source behind a DataFrame of Spark, also of Spark Connect or of pandas on Spark."""
    return SparkSource(table.to_spark() if type(table).__module__.startswith("pyspark.pandas") else table)


# -- on the executors -----------------------------------------------------------------------------------------
def _leaf(work: Pass[Any], columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    number, cores = (0, 1) if task is None else (int(task.partitionId()), int(task.cpus()))
    with limit_threads(cores):
        answer = partitions.answer(work, lambda: _streamed(columns, batches), number)
    yield _as_batch(number, answer)


def _joined(work: Pass[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    answers = (bytes(answer.as_py()) for batch in batches for answer in batch.column("answer"))
    first = next(answers, None)
    if first is not None:
        yield _as_batch(0, partitions.merge(work, _followed(first, answers)))


def _followed(first: T, others: Iterable[T]) -> Iterator[T]:
    yield first
    yield from others


def _as_batch(number: int, answer: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([number], pa.int32()), pa.array([answer])], ["partition", "answer"])


_ARROW = {"text": "string", "integer": "int64", "float": "float64", "boolean": "bool"}


def _answered_rows(
    answer: RowAnswer, columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        found = answer.of(from_pyarrow(batch.rename_columns(list(columns))))
        arrays = [pa.array(found[name], _ARROW[storage]) for name, storage in answer.fields.items()]
        names = [*batch.schema.names, *(f"c{batch.num_columns + k}" for k in range(len(arrays)))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *arrays], names)


def _streamed(columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]) -> Source:
    """The batches of a partition as they come, for one sweep."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return from_pyarrow(pa.table({name: pa.nulls(0) for name in columns}))

    def export(indices: Sequence[int]) -> object:
        places = list(indices)
        chosen = (batch.select(places) for batch in _followed(first, batches))
        return pa.RecordBatchReader.from_batches(first.select(places).schema, chosen).__arrow_c_stream__()

    named = first.slice(0, 0).rename_columns(list(columns))
    return ArrowSource("a partition of a Spark DataFrame", export, from_pyarrow(named).columns)


# -- where the pass was asked for -----------------------------------------------------------------------------
@contextmanager
def _errors() -> Iterator[None]:
    """What a user can do about a failure of the cluster."""
    try:
        yield
    except Exception as error:
        text = str(error)
        if "No module named 'bayeswise" in text:
            raise NotInstalledError(
                "an executor of Spark does not have the package bayeswise",
                fix="pip install 'bayeswise[spark]' into the Python of the executors (PYSPARK_PYTHON), or ship an "
                "environment with spark.archives",
            ) from None
        if "PYTHON_VERSION_MISMATCH" in text:
            raise NotInstalledError(
                "the executors of Spark run another version of Python", fix="set PYSPARK_PYTHON to the same version"
            ) from None
        if type(error).__module__.startswith(("pyspark", "py4j")):
            raise FitError(
                f"Spark could not run the pass: {first_line(text)}", fix="see the log of Spark for the failed stage"
            ) from error
        raise


MOST_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
MOST_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
NO_LIMIT = "2147483647"
WORTH_A_BATCH = 8 << 20  # bytes: what a batch costs besides its cells is then little
_lifting = threading.Lock()


@contextmanager
def _lifted_limit(session: Any, row_bytes: int | None) -> Iterator[None]:
    """Limit batches by rows instead of bytes while a pass runs; rows of text may have any size.

    Where there is a limit of bytes, Spark adds up all columns after each row, which takes as long as writing them. The
    settings are those of the session: one pass at a time changes them, and puts them back.
    """
    if row_bytes is None or not _lifting.acquire(blocking=False):
        yield
        return
    own: dict[str, str] = {}
    try:
        own = _limits(session)
        _set(session, _limits_in_rows(own, row_bytes))
        yield
    finally:
        _set(session, own)
        _lifting.release()


def _limits(session: Any) -> dict[str, str]:
    """How large batches may be in a session; nothing where that cannot be read or changed."""
    from pyspark.errors import PySparkException

    with suppress(PySparkException):
        found = {name: session.conf.get(name) for name in (MOST_ROWS, MOST_BYTES)}  # unknown ones raise
        if all(map(session.conf.isModifiable, found)):
            return found
    return {}


def _limits_in_rows(limits: Mapping[str, str], row_bytes: int) -> dict[str, str]:
    """Limits for rows of a known size, at least 8 MB where that is allowed; as they are where they cannot be read.

    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "64m"}, 180)[MOST_ROWS]
    '46603'
    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "64m"}, 1800)[MOST_ROWS]
    '10000'
    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "1048576b"}, 9000)[MOST_ROWS]
    '116'
    >>> _limits_in_rows({MOST_ROWS: "-1", MOST_BYTES: "?"}, 9000)
    {}
    """
    size = re.fullmatch(r"(\d+)\s*([kmg]?)i?b?", limits.get(MOST_BYTES, "").lower())
    if size is None:
        return {}
    most = int(size[1]) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[size[2]]
    allowed = max(1, most // row_bytes)
    own = int(limits[MOST_ROWS])
    rows = min(allowed, max(own, WORTH_A_BATCH // row_bytes)) if own > 0 else allowed
    return {MOST_ROWS: str(rows), MOST_BYTES: NO_LIMIT}


def _set(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        session.conf.set(name, value)


def first_line(text: str) -> str:
    """The first line of a long message that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "it gave no reason")


def _answer(session: Any, call: Callable[[], T], name: str = "", watch: Watch | None = None) -> T:
    """What a call of Spark answers, its tasks being counted meanwhile; an interrupt here cancels its jobs.

    It is waited for in another thread: an interrupt in the middle of a call to Java would end the connection by which
    the jobs are cancelled.
    """
    from pyspark import InheritableThread

    tag = f"bayeswise-{uuid.uuid4().hex}"
    inherited = session.getTags()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            for each in (*inherited, tag):
                session.addTag(each)
            with nullcontext() if watch is None else _counted_tasks(session, tag, partial(watch, name)):
                found.append(call())
        except BaseException as error:
            failed.append(error)

    classic = getattr(session, "_sc", None) is not None  # where threads of Java have properties of their own
    thread = (InheritableThread if classic else threading.Thread)(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        session.interruptTag(tag)
        thread.join(_PATIENCE)
        raise
    if failed:
        raise failed[0]
    return found[0]


@contextmanager
def _counted_tasks(session: Any, tag: str, show: Callable[[int, int], None]) -> Iterator[None]:
    """Tasks of all stages: those that make the partitions, one for each partition, and those that merge."""
    context = getattr(session, "_sc", None)
    if context is None:  # Spark Connect, which reports by itself
        handler = partial(_show_stages, show)
        session.registerProgressHandler(handler)
        try:
            yield
        finally:
            session.removeProgressHandler(handler)
        return
    over = threading.Event()
    context.setJobGroup(tag, "bayeswise")
    watcher = threading.Thread(target=_count_tasks, args=(context.statusTracker(), tag, show, over))
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", None)


def _show_stages(show: Callable[[int, int], None], stages: Iterable[Any] | None, **_: Any) -> None:
    found = list(stages or ())
    if found:
        show(sum(stage.num_completed_tasks for stage in found), sum(stage.num_tasks for stage in found))


def _count_tasks(tracker: Any, group: str, show: Callable[[int, int], None], over: threading.Event) -> None:
    total = 0
    while not over.wait(0.2):
        stages = {stage for job in tracker.getJobIdsForGroup(group) for stage in _stages(tracker, job)}
        found = [info for info in map(tracker.getStageInfo, stages) if info is not None]
        total = sum(info.numTasks for info in found)
        show(sum(info.numCompletedTasks for info in found), total)
    show(total, total)


def _stages(tracker: Any, job: int) -> list[int]:
    found = tracker.getJobInfo(job)
    return [] if found is None else list(found.stageIds)
