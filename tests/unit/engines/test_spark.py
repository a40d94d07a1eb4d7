"""Spark frames: the same model files as from one machine, whatever the partitions; all on one session."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayeswise as bw
from bayeswise.engines.spark import partitions_of
from bayeswise.engines.spark_batches import MOST_BYTES, MOST_ROWS, NO_LIMIT
from bayeswise.foundation.errors import (
    MissingColumnError,
    NotInstalledError,
    NotStreamableError,
    SchemaError,
    SupportError,
)
from bayeswise.models.files import bytes_of
from bayeswise.models.regression.solving import exact_sums
from bayeswise.tables.source import open_source
from tests.unit.engines.same_bytes import digest, mixed_table

TABLE = mixed_table()

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture
def frame(spark: Any) -> Any:
    return frame_of(spark)


def frame_of(session: Any) -> Any:
    return session.createDataFrame(pa.Table.from_pandas(TABLE, preserve_index=False))


@pytest.mark.parametrize(
    ("name", "n_partitions"),
    [
        ("naive Bayes", 1),
        ("words", 3),
        ("averaged", 1),
        ("averaged", 3),
        ("averaged", 16),
        ("linear by folds", 3),
        ("logistic", 2),
    ],
)
def test_partitions_do_not_change_a_byte(frame: Any, name: str, n_partitions: int) -> None:
    source = open_source(frame.repartition(n_partitions))
    assert digest(source, name) == digest(TABLE, name)
    assert source.n_partitions == n_partitions
    assert source.passes == (["profile", "rows brought here"] if name == "logistic" else ["profile and statistics"])


def test_partitions_are_counted_before_a_pass_where_that_runs_nothing(frame: Any) -> None:
    assert partitions_of(frame) == frame.rdd.getNumPartitions()
    assert partitions_of(frame.repartition(3)) is None


def test_the_order_of_rows_does_not_change_a_byte(spark: Any) -> None:
    shuffled = pa.Table.from_pandas(TABLE.sample(frac=1.0, random_state=0), preserve_index=False)
    assert digest(spark.createDataFrame(shuffled).repartition(3), "averaged") == digest(TABLE, "averaged")


def test_each_step_of_a_regression_is_a_pass(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sums, "MOST_CELLS_IN_MEMORY", 100)
    source = open_source(frame.repartition(2))
    assert digest(source, "logistic") == digest(TABLE, "logistic")
    assert source.passes == ["profile and statistics", "sample", "step", "step"]


def test_a_graph_is_found_by_rows_that_are_counted_where_they_are(frame: Any) -> None:
    columns = ["colour", "class", "member", "visits"]
    source = open_source(frame.select(*columns).repartition(3))
    assert bw.BeliefNetwork.learn(source, missing="drop") == bw.BeliefNetwork.learn(TABLE[columns], missing="drop")
    assert source.passes == ["profile", "levels", "different rows"]


def test_partitions_by_hash_give_the_same_bytes(frame: Any) -> None:
    assert digest(frame.repartition(3, "colour"), "averaged") == digest(TABLE, "averaged")


def test_a_schema_that_the_first_rows_do_not_show_takes_a_second_pass(spark: Any) -> None:
    late = TABLE.assign(flag=np.where(np.arange(len(TABLE)) == 999, 0.5, np.arange(len(TABLE)) % 2.0))
    late = pd.concat([late, late]).sort_values("flag", key=lambda flag: flag == 0.5, kind="stable")  # 0.5 at the end
    source = open_source(spark.createDataFrame(pa.Table.from_pandas(late, preserve_index=False)).coalesce(2))
    assert digest(source, "averaged") == digest(late, "averaged")
    assert source.passes == ["profile and statistics", "statistics"]


def test_an_error_that_the_first_rows_do_not_show_is_raised_with_its_place(spark: Any) -> None:
    rows = {"x": [1.0, 2.5] * 1000, "y": ["a", "b"] * 1000, "w": [1.0] * 1999 + [-1.0]}
    source = open_source(spark.createDataFrame(pa.table(rows)).coalesce(1))
    with pytest.raises(SchemaError, match="a weight in column 'w' is negative"):
        bw.fit(source, "y", weight="w", model="naive-bayes")
    rows["x"][1500] = -1.0
    with pytest.raises(SupportError, match=r"row 1501 of column 'x' has -1"):
        bw.fit(
            spark.createDataFrame(pa.table(rows)).coalesce(1),
            "y",
            families={"x": "log-normal"},
            ignore=["w"],
            model="naive-bayes",
        )


def test_limits_of_batches_are_as_they_were(spark: Any) -> None:
    before = {name: spark.conf.get(name) for name in (MOST_ROWS, MOST_BYTES)}
    during: list[str] = []
    source = open_source(spark.range(3000).selectExpr("cast(id as double) * 0.5 as x", "id % 2 as y"))
    source.watch = lambda what, done, total: during.append(spark.conf.get(MOST_BYTES))
    bw.fit(source, "y", model="naive-bayes")
    assert NO_LIMIT in [limit.rstrip("b") for limit in during]
    assert {name: spark.conf.get(name) for name in before} == before


def _kill_once(marker: str, batches: Iterator[Any]) -> Iterator[Any]:
    """Rows as they are; the first task to come here kills the process of its executor."""
    from pyspark import TaskContext

    for batch in batches:
        try:
            Path(marker).touch(exist_ok=False)
        except FileExistsError:
            yield batch
            continue
        assert TaskContext.get() is not None
        daemon = os.getppid()
        executor = int(Path(f"/proc/{daemon}/stat").read_text().split()[3])
        os.kill(executor, signal.SIGKILL)


def test_an_executor_that_is_killed_does_not_change_a_byte(spark_cluster: Any, tmp_path: Path) -> None:
    marker, frame = tmp_path / "killed", frame_of(spark_cluster)
    fragile = frame.repartition(4).mapInArrow(lambda batches: _kill_once(str(marker), batches), frame.schema)
    assert digest(fragile, "averaged") == digest(TABLE, "averaged")
    assert marker.exists()


def test_a_worker_does_not_look_for_garbage_among_its_modules_after_every_task(frame: Any) -> None:
    def frozen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield pa.RecordBatch.from_arrays([pa.array([gc.get_freeze_count()])], ["n"])

    digest(frame, "averaged")
    assert max(row["n"] for row in frame.repartition(16).mapInArrow(frozen, "n long").collect()) > 1_000


def test_arrays_and_maps_are_ignored_or_refused(spark: Any) -> None:
    rows = spark.sql(
        "select id * id as x, array(id) as tags, map('a', id) as seen, string(id % 2) as y from range(100)"
    )
    model = bw.fit(rows, "y", model="naive-bayes")
    assert model.schema["tags"].kind == model.schema["seen"].kind == "ignored"
    with pytest.raises(SchemaError, match="the target 'tags' holds nested cells"):
        bw.fit(rows, "tags", model="naive-bayes")
    with pytest.raises(SchemaError, match="column 'seen' holds nested cells, which are not labels"):
        bw.fit(rows, "y", kinds={"seen": "category"}, model="naive-bayes")


def test_a_target_that_is_missing_is_named_before_any_job(frame: Any) -> None:
    source = open_source(frame)
    with pytest.raises(MissingColumnError, match=r"no target 'klass'.*'class'"):
        bw.fit(source, "klass", model="naive-bayes")
    assert source.passes == []


def test_a_statistic_without_a_fixed_size_is_named(frame: Any) -> None:
    with pytest.raises(NotStreamableError, match=r"statistic of 'price' has no fixed size.*Fix: choose"):
        bw.fit(frame, "class", families={"price": "laplace"}, model="naive-bayes")


def test_names_with_dots_are_names(spark: Any) -> None:
    rows = spark.sql("select id * id as `a.b`, string(id % 2) as `the ``y```, 1.5bd * (id % 7) as d from range(100)")
    assert bw.fit(rows, "the `y`", model="naive-bayes").schema.used == ("a.b", "d")


def test_names_may_differ_in_case_only(spark: Any) -> None:
    table = {"x": [0.1 * k * k for k in range(40)], "X": [1.0 / (1 + k) for k in range(40)], "y": ["a", "b"] * 20}
    rows = spark.createDataFrame(pa.table(table)).coalesce(1)
    model = bw.fit(rows, "y", model="naive-bayes")
    assert bytes_of(model) == bytes_of(bw.fit(table, "y", model="naive-bayes"))
    assert model.predict(rows).toArrow()["predicted"].to_pylist() == model.predict(table)


def test_a_frame_without_partitions_has_no_rows(frame: Any) -> None:
    with pytest.raises(SchemaError, match="the table has columns but no rows"):
        bw.fit(frame.limit(0), "class", model="naive-bayes")


def test_an_executor_without_the_package_is_named(frame: Any) -> None:
    def without(batches: Iterator[Any]) -> Iterator[Any]:
        raise ModuleNotFoundError("No module named 'bayeswise'", name="bayeswise")

    with pytest.raises(NotInstalledError, match=r"executor of Spark does not have the package.*pip install"):
        bw.fit(frame.mapInArrow(without, frame.schema), "class", model="naive-bayes")


def test_progress_counts_partitions(frame: Any) -> None:
    source = open_source(frame.repartition(3))
    seen: list[tuple[str, int, int | None]] = []
    source.watch = lambda what, done, total: seen.append((what, done, total))
    bw.fit(source, "class", model="naive-bayes")
    assert all(done <= total for _, done, total in seen if total is not None)
    assert {what for what, done, total in seen if done == total and done >= 3} == {"profile and statistics"}


def _slowly(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        time.sleep(120)
        yield batch


def test_an_interrupt_cancels_the_jobs(frame: Any) -> None:
    """Ctrl-C while tasks of two minutes run: the fit ends, and so do they."""
    tracker = frame.sparkSession.sparkContext.statusTracker()
    slow = frame.repartition(4).mapInArrow(_slowly, frame.schema)
    over = threading.Event()

    def press() -> None:
        while not over.wait(0.2):
            if tracker.getActiveJobsIds():
                over.wait(1.0)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                return

    pressing = threading.Thread(target=press, daemon=True)
    pressing.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            bw.fit(slow, "class", model="naive-bayes")
    finally:
        over.set()
        pressing.join()
    while tracker.getActiveJobsIds() and time.monotonic() - began < 100:
        time.sleep(0.2)
    assert not tracker.getActiveJobsIds()  # though none of its tasks can have ended by itself


def test_answers_are_added_where_the_rows_are(frame: Any) -> None:
    model = bw.fit(TABLE, "class", model="naive-bayes")
    here = TABLE.assign(number=range(len(TABLE)))
    rows = frame.sparkSession.createDataFrame(pa.Table.from_pandas(here, preserve_index=False)).repartition(3)
    costs = {"act": {"a": 0.0, "b": 5.0, "c": 1.0}, "wait": {"a": 2.0, "b": 0.5, "c": 0.1}}
    decided = bw.decide(model, model.predict_proba(model.predict(rows)), costs)
    found = decided.toArrow().to_pandas().sort_values("number")
    assert found["predicted"].tolist() == model.predict(TABLE)
    assert (found[["p_a", "p_b", "p_c"]].to_numpy() == model.predict_proba(TABLE)).all()
    assert found["action"].tolist() == bw.decide(model, TABLE, costs).action.tolist()
    assert list(found.columns)[: len(here.columns)] == list(here.columns)


# -- Spark Connect ------------------------------------------------------------------------------------------------
def test_a_frame_of_spark_connect_gives_the_same_bytes_and_answers(spark_connect: Any) -> None:
    source = open_source(frame_of(spark_connect).repartition(3))
    seen: list[tuple[str, int, int | None]] = []
    source.watch = lambda what, done, total: seen.append((what, done, total))
    assert digest(source, "averaged") == digest(TABLE, "averaged")
    assert source.passes == ["profile and statistics"]
    assert any(total and done <= total for _, done, total in seen)
    model = bw.fit(TABLE, "class", model="naive-bayes")
    rows = frame_of(spark_connect).coalesce(1)
    costs = {"act": {"a": 0.0, "b": 5.0, "c": 1.0}, "wait": {"a": 2.0, "b": 0.5, "c": 0.1}}
    found = bw.decide(model, model.predict(rows), costs).toArrow().to_pandas()
    assert found["predicted"].tolist() == model.predict(TABLE)
    assert found["action"].tolist() == bw.decide(model, TABLE, costs).action.tolist()


# -- an exported query --------------------------------------------------------------------------------------------
LABELS = ["it's", 'a "b"', "x; DROP TABLE rows; --", "back\\slash", "\\' OR 1=1 --", "two\nlines", "🦆", "`tick`"]


def test_a_query_gives_the_posterior_in_spark_whatever_names_and_labels_hold(spark: Any) -> None:
    name = "co`l; --'\""
    table = {name: LABELS * 2, "x": [0.1 * k for k in range(16)], "y": [k % 3 for k in range(16)]}
    model = bw.fit(table, target="y", model="naive-bayes", kinds={name: "category", "x": "number"})
    rows = {name: [*LABELS, None, "never seen"], "x": [0.3, None, 5e-324, 1e3, -2.5, 1 / 3, 0.0, None, 1.0, 2.0]}
    columns = {"x": pa.array(rows["x"], pa.float64()), name: pa.array(rows[name], pa.string())}
    spark.createDataFrame(pa.table(columns)).coalesce(1).createOrReplaceTempView("rows")
    found = [row.asDict() for row in spark.sql(model.to_sql("spark")).collect()]
    shares = [[row[f"p_{label}"] for label in model.classes] for row in found]
    np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=0.0, atol=1e-12)
