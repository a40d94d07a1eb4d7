"""Spark: Arrow batches in, canonical bytes out, merged on the executors; these need only the package.

Only the DataFrame API is used (`mapInArrow`), so that frames of Spark Connect can be read too. A pass is one job: where
partitions are many, or their number is not known yet, their answers are shuffled to as many tasks as their bytes need,
which merge them; the rest is merged here. A task that is lost is run again, as always.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswise.engines.spark_batches import FIXED_WIDTH, Form, followed, lifted_limit, streamed
from bayeswise.foundation.errors import FitError, NotInstalledError
from bayeswise.foundation.process_limit import starting
from bayeswise.foundation.threads import limit_threads
from bayeswise.tables import partitions
from bayeswise.tables.partitions import FAN_IN, Pass, RowAnswer, SpreadSource, Watch
from bayeswise.tables.source import RawColumn, Source, Storage
from bayeswise.tables.sources.arrow import from_pyarrow

if TYPE_CHECKING:
    import pyarrow as pa  # which comes with Spark

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of a session that starts here run the same Python

T = TypeVar("T")
ANSWER = "partition int, answer binary"
_PATIENCE = 10.0  # seconds for jobs that are cancelled
INTEGERS = ("tinyint", "smallint", "int", "bigint")
NESTED = ("array", "map", "struct", "variant")
_ARROW_TYPES = {
    **dict(zip(INTEGERS, ("int8", "int16", "int32", "int64"), strict=True)),
    "float": "float32",
    "double": "float64",
    "boolean": "bool",
    "string": "string",
}
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
        self._kinds = dict(frame.dtypes)
        super().__init__("Spark DataFrame", [RawColumn(name, _storage(kind)) for name, kind in frame.dtypes])

    @cached_property
    def _plain(self) -> Any:
        """The frame with columns c0, c1, ...: names may hold anything."""
        return self.frame.toDF(*(f"c{k}" for k in range(len(self.columns))))

    def _answered(self, work: Pass[Any], columns: Sequence[str], watch: Watch | None) -> bytes:
        form = Form.of(self._kinds, columns, work.numbers)
        chosen = self._selected(form)
        answers = chosen.mapInArrow(partial(_leaf, work, form), ANSWER)
        n_partitions = self.n_partitions or partitions_of(self.frame)
        if n_partitions is None or n_partitions > FAN_IN:
            answers = answers.repartition("partition").mapInArrow(partial(_joined, work), ANSWER)
        session = self.frame.sparkSession
        with _errors(), lifted_limit(session, self._row_bytes(columns)):
            collected = [bytes(row["answer"]) for row in _answer(session, answers.collect, work.name, watch)]
        if not collected:  # a frame without partitions
            collected = [partitions.answer(work, lambda: streamed(form, iter(())), 0)]
        merged = partitions.merge(work, collected)
        self.n_partitions = partitions.n_partitions(work, merged)
        return merged

    def _row_bytes(self, columns: Sequence[str]) -> int | None:
        """The size of a row of these columns in an Arrow batch; None if rows differ."""
        kinds = [self._kinds[name] for name in columns]
        return 9 * len(kinds) if all(kind in FIXED_WIDTH for kind in kinds) else None

    def first_rows(self, columns: Sequence[str], n_rows: int) -> Source | None:
        import pyarrow as pa

        selected = set(columns)
        names = [name for name in self.frame.columns if name in selected]
        is_whole = len(names) == len(self.columns)  # which Spark need not plan again
        rows = (self.frame if is_whole else self._selected(Form((), tuple(names)))).limit(n_rows)
        kinds = [_ARROW_TYPES.get(self._kinds[name]) for name in names]
        if None in kinds:
            return self._as_arrow(rows, names)
        with _errors():
            collected = _answer(self.frame.sparkSession, rows.collect)  # of the first partitions, not of all
        cells = zip(*collected, strict=True) if collected else ((),) * len(kinds)
        arrays = [pa.array(cell, kind) for cell, kind in zip(cells, kinds, strict=True)]
        return from_pyarrow(pa.table(dict(zip(names, arrays, strict=True))))

    def _counted(self) -> int:
        with _errors():
            return int(_answer(self.frame.sparkSession, self.frame.count))

    def _gathered(self, columns: Sequence[str]) -> Source:
        return self._as_arrow(self._selected(Form((), tuple(columns))), columns)

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
        return self._plain.mapInArrow(work, StructType(fields)).toDF(*names)

    def _selected(self, form: Form) -> Any:
        """The columns of a form: c0, c1, ..."""
        names = [column.name for column in self.columns]
        if len({name.casefold() for name in names}) == len(names):
            return self.frame.selectExpr(*form.expressions({name: quoted_name(name) for name in names}))
        return self._plain.selectExpr(*form.expressions({name: f"c{k}" for k, name in enumerate(names)}))


def quoted_name(name: str) -> str:
    """A column as an expression; dots and blanks mean nothing.

    >>> quoted_name("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def partitions_of(frame: Any) -> int | None:
    """The partitions of a frame, where its plan has them before it runs: not in Spark Connect, nor if it adapts."""
    if not hasattr(frame, "_jdf"):
        return None
    with _errors():
        plan = frame._jdf.queryExecution().executedPlan()
        return None if "Adaptive" in plan.nodeName() else int(plan.execute().getNumPartitions())


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
def _leaf(work: Pass[Any], form: Form, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    number, cores = (0, 1) if task is None else (int(task.partitionId()), int(task.cpus()))
    with limit_threads(cores):
        answer = partitions.answer(work, lambda: streamed(form, batches), number)
    _freeze_modules()
    yield _as_batch(number, answer)


def _freeze_modules() -> None:
    """Exempt what a worker has loaded from the garbage collection that Spark makes there after every task.

    It looks through all objects of all modules, which takes longer than many a partition, and finds nothing.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None and not gc.get_freeze_count():
        gc.freeze()


def _joined(work: Pass[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    answers = (bytes(answer.as_py()) for batch in batches for answer in batch.column("answer"))
    first = next(answers, None)
    if first is not None:
        yield _as_batch(0, partitions.merge(work, followed(first, answers)))


def _as_batch(number: int, answer: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([number], pa.int32()), pa.array([answer])], ["partition", "answer"])


_ARROW_OF_ANSWERS = {"text": "string", "integer": "int64", "float": "float64", "boolean": "bool"}


def _answered_rows(
    answer: RowAnswer, columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        found = answer.of(from_pyarrow(batch.rename_columns(list(columns))))
        arrays = [pa.array(found[name], _ARROW_OF_ANSWERS[storage]) for name, storage in answer.fields.items()]
        names = [*batch.schema.names, *(f"c{batch.num_columns + k}" for k in range(len(arrays)))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *arrays], names)
    _freeze_modules()


# -- in the driver --------------------------------------------------------------------------------------------
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


def first_line(text: str) -> str:
    """The first informative line of a long message."""
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
    with starting():
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
    with starting():
        watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", None)


def _show_stages(show: Callable[[int, int], None], stages: Iterable[Any] | None, **_: Any) -> None:
    shown = list(stages or ())
    if shown:
        show(sum(stage.num_completed_tasks for stage in shown), sum(stage.num_tasks for stage in shown))


def _count_tasks(tracker: Any, group: str, show: Callable[[int, int], None], over: threading.Event) -> None:
    total = 0
    while not over.wait(0.2):
        stages = {stage for job in tracker.getJobIdsForGroup(group) for stage in _stages(tracker, job)}
        infos = [info for info in map(tracker.getStageInfo, stages) if info is not None]
        total = sum(info.numTasks for info in infos)
        show(sum(info.numCompletedTasks for info in infos), total)
    show(total, total)


def _stages(tracker: Any, job: int) -> list[int]:
    job_info = tracker.getJobInfo(job)
    return [] if job_info is None else list(job_info.stageIds)
