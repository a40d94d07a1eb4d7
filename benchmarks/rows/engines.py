"""Tables that are spread: ours beside pyspark.ml and dask_ml on the same cached frame, growth, and overhead."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task, best_of

N_COLUMNS = 20
N_PARTITIONS = 8
NAMES = [f"x{k}" for k in range(N_COLUMNS)]


def temporary_folder() -> Path:
    """A folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="bayeswise-bench-engines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def session() -> Any:
    """One session on all cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = temporary_folder()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[*]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    atexit.register(found.stop)
    return found


@cache
def spark_frame(n_rows: int, n_partitions: int, *, counts: bool = False) -> Any:
    """Numbers (or counts) in two classes, in memory."""
    from pyspark.sql import functions as f

    spread = session().range(0, n_rows, 1, n_partitions)
    numbers = [
        (f.floor(f.rand(k) * 5).cast("double") if counts else f.randn(k) + (f.col("id") % 2) * 0.1).alias(name)
        for k, name in enumerate(NAMES)
    ]
    frame = spread.select(*numbers, (f.col("id") % 2).cast("double").alias("y")).cache()
    frame.count()
    return frame


def on_spark(n_rows: int, model_type: str) -> tuple[Task, Task]:
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    import bayeswise as bw

    multinomial = model_type == "multinomial"
    frame = spark_frame(n_rows, N_PARTITIONS, counts=multinomial)
    families: Any = dict.fromkeys(NAMES, "multinomial") if multinomial else "auto"

    def peer() -> object:
        assembled = VectorAssembler(inputCols=NAMES, outputCol="features").transform(frame)
        return NaiveBayes(modelType=model_type, labelCol="y").fit(assembled)

    return partial(bw.fit, frame, "y", model="naive-bayes", families=families), peer


def beside_transfer(n_rows: int) -> tuple[Task, Task]:
    """The rows on their way to Python as Spark sends them by itself, counted there and no more, as the peer."""
    import bayeswise as bw

    frame = spark_frame(n_rows, N_PARTITIONS)
    return partial(bw.fit, frame, "y", model="naive-bayes"), lambda: frame.mapInArrow(
        _number_of_rows, "n long"
    ).collect()


def _number_of_rows(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    yield pa.RecordBatch.from_arrays([pa.array([sum(batch.num_rows for batch in batches)])], ["n"])


def on_dask(n_rows: int) -> tuple[Task, Task]:
    import dask
    import dask.array
    import dask.dataframe as dd
    from dask_ml.naive_bayes import GaussianNB

    import bayeswise as bw

    numbers = dask.array.random.default_rng(0).normal(size=(n_rows, N_COLUMNS), chunks=(n_rows // N_PARTITIONS, -1))
    frame = dd.from_dask_array(numbers, columns=NAMES).persist()
    values = frame.to_dask_array(lengths=True).persist()
    target = (values[:, 0] > 0.0).astype(int).persist()
    table = frame.assign(y=frame["x0"] > 0.0).persist()

    def peer() -> object:
        fitted = GaussianNB(classes=np.array([0, 1])).fit(values, target)
        return dask.compute(fitted.theta_, fitted.sigma_, fitted.class_prior_)  # its fit computes nothing yet

    return partial(bw.fit, table, "y", model="naive-bayes"), peer


def beside_one_machine(n_rows: int) -> tuple[Task, Task]:
    """The same Parquet file by Spark, and by the local engine as the peer."""
    import bayeswise as bw

    path = temporary_folder() / "rows.parquet"
    spark_frame(n_rows, N_PARTITIONS).write.parquet(str(path))
    return (
        lambda: bw.fit(session().read.parquet(str(path)), "y", model="naive-bayes"),
        lambda: bw.fit(str(path / "*.parquet"), "y", model="naive-bayes"),
    )


def growth(measure: Callable[[int, int], float], n_rows: int, factor: int) -> float:
    """What so many times the rows and partitions take, in units of what the rows take."""
    first, last = (measure(k * n_rows, k * N_PARTITIONS // 2) for k in (1, factor))
    return last / first


@cache
def seconds_of(repeats: int, n_rows: int, n_partitions: int) -> float:
    """The best of some fits."""
    import bayeswise as bw

    return best_of(repeats, partial(bw.fit, spark_frame(n_rows, n_partitions), "y", model="naive-bayes"))[0]


@cache
def driver_megabytes(n_rows: int, n_partitions: int) -> float:
    """Memory of this process after a fit; that of the JVM is Spark's own."""
    import bayeswise as bw

    bw.fit(spark_frame(n_rows, n_partitions), "y", model="naive-bayes")
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def rows(size: Size) -> Iterator[Row]:
    n_rows, few = size.rows(5_000_000), size.rows(1_000_000)
    for model_type in ("gaussian", "multinomial"):
        what = f"Spark fit, {model_type} naive Bayes, {n_rows:,} x {N_COLUMNS}, beside pyspark.ml"
        yield Race(what, partial(on_spark, n_rows, model_type), at_least=2.0)
    if find_spec("dask_ml"):
        yield Race(
            f"Dask fit, gaussian naive Bayes, {n_rows:,} x {N_COLUMNS}, beside dask_ml", partial(on_dask, n_rows), 2.0
        )
    yield Race(
        f"Spark fit of a Parquet file, {n_rows:,} x {N_COLUMNS}, beside one machine",
        partial(beside_one_machine, n_rows),
    )
    yield Race(
        f"Spark fit, {n_rows:,} x {N_COLUMNS}, beside the way of the rows to Python", partial(beside_transfer, n_rows)
    )
    for factor in (2, 4):
        what = f"rows and partitions x {factor} on Spark"
        timed = partial(seconds_of, min(3, size.repeats))
        yield Figure(f"seconds, {what}", partial(growth, timed, few, factor), at_most=4.5 / 4 * factor, unit="x")
        yield Figure(f"memory of the driver, {what}", partial(growth, driver_megabytes, few, factor), 1.2, unit="x")
