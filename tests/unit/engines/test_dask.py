"""Dask frames: the same model files as from one machine, whatever the partitions."""

import math
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import bayeswise as bw
from bayeswise.foundation.errors import (
    KindError,
    MissingCellError,
    MissingColumnError,
    NonFiniteError,
    NotStreamableError,
    ParameterError,
    SchemaError,
)
from bayeswise.models.files import bytes_of
from bayeswise.networks.learning import counted_rows
from bayeswise.tables import partitions
from bayeswise.tables.source import open_source
from tests.unit.engines.same_bytes import BROUGHT, CUTS, SUMMARISED, digest, fitted, mixed_table

TABLE = mixed_table()


@pytest.mark.parametrize("name", SUMMARISED)
def test_partitions_and_their_order_do_not_change_a_byte(name: str) -> None:
    here = digest(TABLE, name)
    for n_partitions in (1, 3, 16) if name in ("averaged", "linear") else (3,):
        shuffled = TABLE.sample(frac=1.0, random_state=n_partitions)
        source = open_source(dd.from_pandas(shuffled, npartitions=n_partitions, sort=False))
        assert digest(source, name) == here
        graph_first = ["statistics"] if name == "k-dependence" else []
        assert source.passes == ["profile and statistics", *graph_first]


@pytest.mark.parametrize("name", BROUGHT)
def test_what_needs_rows_takes_them_while_they_are_few(name: str) -> None:
    source = open_source(dd.from_pandas(TABLE, npartitions=4, sort=False))
    assert digest(source, name) == digest(TABLE, name)
    assert "rows brought here" in source.passes


def test_partitions_by_hash_give_the_same_bytes() -> None:
    by_hash = dd.from_pandas(TABLE, npartitions=3).shuffle("visits", npartitions=5, shuffle_method="tasks")
    assert digest(by_hash, "averaged") == digest(TABLE, "averaged")


@pytest.mark.parametrize("name", ["averaged", next(iter(BROUGHT))])
def test_where_no_thread_can_be_started_this_one_reads_all_partitions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = digest(TABLE, name)

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("dask.threaded.default_pool", None)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert digest(dd.from_pandas(TABLE, npartitions=4, sort=False), name) == here


def test_partitions_may_be_empty() -> None:
    frame = dd.from_pandas(TABLE, npartitions=4, sort=False)
    few = frame[frame["visits"] == 3]
    assert digest(few, "naive Bayes") == digest(TABLE[TABLE["visits"] == 3], "naive Bayes")


def test_a_table_without_a_number_gives_the_same_bytes() -> None:
    table = TABLE[["colour", "class"]]
    assert digest(dd.from_pandas(table, npartitions=3), "naive Bayes") == digest(table, "naive Bayes")
    with pytest.raises(SchemaError, match="no column to learn from"):
        bw.fit(dd.from_pandas(table[["class"]], npartitions=2), "class", model="naive-bayes")


def test_a_network_is_learned_from_partitions() -> None:
    table = TABLE[["colour", "class", "member", "visits", "times", "price"]]
    ways: list[dict[str, Any]] = [
        {"method": "chow-liu", "missing": "drop"},
        {"method": "exact", "missing": "drop", "weight": "times"},
        {"method": "hill-climbing", "missing": "drop", "score": "bdeu"},
        {"method": "k2", "missing": "drop", "order": ["class", "colour", "member", "visits", "times", "price"]},
        {"parents": {"colour": ["class"]}, "cuts": {"visits": [10, 20]}},
        {"parents": {"colour": ["class"]}, "missing": "em"},
    ]
    for way in ways:
        here = bw.BeliefNetwork.learn(table, **way)
        for n_partitions in (1, 3, 16) if way.get("method") == "exact" else (3,):
            shuffled = table.sample(frac=1.0, random_state=n_partitions)
            source = open_source(dd.from_pandas(shuffled, npartitions=n_partitions, sort=False))
            with dask.config.set(scheduler="synchronous"):
                found = bw.BeliefNetwork.learn(source, **way)
            assert (found, found.notes) == (here, here.notes)
            assert source.passes == ["profile", "levels", "different rows"]


def test_rows_that_are_nearly_all_different_are_brought_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_rows, "MOST_CELLS_COUNTED", 20)
    table = TABLE[["colour", "class", "member", "visits"]]
    source = open_source(dd.from_pandas(table, npartitions=3, sort=False))
    assert bw.BeliefNetwork.learn(source, missing="drop") == bw.BeliefNetwork.learn(table, missing="drop")
    assert source.passes[-1] == "rows brought here"


def test_missing_cells_of_counted_rows_are_named_without_a_place() -> None:
    spread = dd.from_pandas(TABLE[["colour", "class"]], npartitions=3, sort=False)
    with pytest.raises(MissingCellError, match=r"\d+ of 1,000 rows have a missing cell, some in column 'colour'"):
        bw.BeliefNetwork.learn(spread)


def test_many_rows_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST_CELLS_HERE", 100)
    spread = dd.from_pandas(TABLE, npartitions=2)
    with pytest.raises(NotStreamableError, match=r"1,000 rows of 7 columns .* too many for one machine.*Fix: choose"):
        bw.fit(spread, "class", model="logistic", scale="cv", missing="mean", ignore=["note"])


def test_noise_without_sums_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST_CELLS_HERE", 100)
    spread = dd.from_pandas(TABLE, npartitions=2)
    with pytest.raises(NotStreamableError, match=r"student-t noise .* no sums of fixed size.*Fix: choose likelihood="):
        bw.fit(spread, "price", model="linear", likelihood="student-t", ignore=["note"])


def test_a_statistic_without_a_fixed_size_is_named() -> None:
    with pytest.raises(NotStreamableError, match=r"statistic of 'price' has no fixed size.*Fix: choose"):
        bw.fit(dd.from_pandas(TABLE, npartitions=2), "class", families={"price": "laplace"}, model="naive-bayes")
    frame = dd.from_pandas(TABLE[["colour", "member", "class"]], npartitions=2)
    with pytest.raises(NotStreamableError, match=r"keeps every row with a missing cell for EM.*missing='ignore'"):
        bw.fit(frame, "class", model="tan", missing="em")


def test_a_target_that_is_missing_is_named_before_any_row_is_read() -> None:
    source = open_source(dd.from_pandas(TABLE, npartitions=2))
    with pytest.raises(MissingColumnError, match=r"no target 'klass'.*'class'"):
        bw.fit(source, "klass", model="naive-bayes")
    assert source.passes == []


def test_an_error_in_a_partition_names_it() -> None:
    table = TABLE.assign(times=np.where(np.arange(len(TABLE)) == 700, -1.0, 1.0))
    schema = bw.fit(TABLE, "class", weight="times", model="naive-bayes").schema
    with pytest.raises(SchemaError, match=r"row 201 of column 'times' is -1.0 \(in partition 3 of 4, where rows are"):
        bw.fit(dd.from_pandas(table, npartitions=4, sort=False), "class", schema=schema, model="naive-bayes")


def test_infinite_cells_are_refused() -> None:
    table = TABLE.assign(price=np.where(np.arange(len(TABLE)) == 700, np.inf, 1.0))
    with pytest.raises(NonFiniteError, match="column 'price' has 1 infinite cell"):
        bw.fit(dd.from_pandas(table, npartitions=4), "class", model="naive-bayes")


def test_weights_of_a_partition_may_all_be_zero() -> None:
    table = TABLE.assign(times=np.where(np.arange(len(TABLE)) < 500, 0.0, 1.0))
    spread = dd.from_pandas(table, npartitions=4, sort=False)
    assert digest(spread, "weights") == digest(table, "weights")
    with pytest.raises(SchemaError, match="all weights in column 'times' are zero"):
        bw.fit(dd.from_pandas(table.assign(times=0.0), npartitions=4), "class", weight="times", model="naive-bayes")


def test_categories_that_dask_has_not_looked_up_are_refused() -> None:
    spread = dd.from_pandas(TABLE.assign(colour=TABLE["colour"].astype("category")), npartitions=2)
    known = bw.fit(spread, "class", model="naive-bayes")
    assert known.schema["colour"].levels is not None
    spread["colour"] = spread["colour"].cat.as_unknown()
    with pytest.raises(SchemaError, match=r"categories of column 'colour' are not known.*categorize\(\)"):
        bw.fit(spread, "class", model="naive-bayes")


def test_lists_in_cells_are_ignored_or_refused() -> None:
    table = pd.DataFrame({"tags": [["a"], ["b"]] * 50, "x": np.arange(100.0) ** 2, "y": ["p", "q"] * 50})
    with dask.config.set({"dataframe.convert-string": False}):
        spread = dd.from_pandas(table, npartitions=2)
    assert (
        bw.fit(spread, "y", model="naive-bayes").schema["tags"].kind
        == bw.fit(table, "y", model="naive-bayes").schema["tags"].kind
    )
    with pytest.raises(SchemaError, match="the target 'tags' holds nested cells"):
        bw.fit(spread, "tags", model="naive-bayes")


def test_estimators_say_where_such_frames_are_taken() -> None:
    spread = dd.from_pandas(TABLE, npartitions=2)
    with pytest.raises(KindError, match=r"a DataFrame of dask is spread over several.*fit\(frame, 'class'\)"):
        bw.NaiveBayes().fit(spread.drop(columns="class"), spread["class"])
    with pytest.raises(ParameterError, match=r"class_weight needs the classes of all rows.*Fix: put"):
        bw.NaiveBayes(class_weight="balanced").fit(spread, "class")


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (bw.NaiveBayes(), "naive Bayes"),
        (bw.NaiveBayes(), "weights"),
        (bw.AveragedNaiveBayes(), "averaged"),
        (bw.GaussianBayes(covariance="shared", missing="ignore"), "shared covariance"),
        (bw.NetworkClassifier("k-dependence", cuts=CUTS), "k-dependence"),
        (bw.LogisticRegression(missing="mean"), "logistic"),
        (bw.LinearRegression(missing="mean"), "linear"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_estimators_learn_where_the_rows_are(estimator: Any, name: str) -> None:
    target, settings = {**SUMMARISED, **BROUGHT}[name]
    table = TABLE.drop(columns="note") if "ignore" in settings else TABLE
    weight = settings.get("weight")
    spread = dd.from_pandas(table, npartitions=3, sort=False)
    estimator.fit(spread, target, sample_weight=weight)
    known = {key: value for key, value in settings.items() if key not in ("ignore", "weight")}
    assert bytes_of(estimator.model_) == bytes_of(bw.fit(table, target, weight=weight, **known))
    answered = estimator.predict(spread).compute()
    assert answered["predicted"].tolist() == list(estimator.model_.predict(table))
    assert list(estimator.feature_names_in_) == [each for each in table.columns if each not in (target, weight)]


def test_rows_are_evaluated_learned_and_forgotten() -> None:
    spread = dd.from_pandas(TABLE, npartitions=3, sort=False)
    model = bw.fit(TABLE, "class", ignore=["note"], model="naive-bayes")
    source = open_source(spread)
    assert bw.evaluate(model, source).to_dict() == bw.evaluate(model, TABLE).to_dict()
    assert source.passes == ["answers brought here"]
    assert bytes_of(model.learn(spread)) == bytes_of(model.learn(TABLE))
    assert bytes_of(model.learn(spread).forget(spread)) == bytes_of(model)


def test_progress_counts_partitions() -> None:
    source = open_source(dd.from_pandas(TABLE, npartitions=5))
    seen: list[tuple[str, int, int | None]] = []
    source.watch = lambda what, done, total: seen.append((what, done, total))
    bw.fit(source, "class", model="naive-bayes")
    assert [each for each in seen if each[1] == 1] == [("profile and statistics", 1, 5)]
    assert seen[-1] == ("profile and statistics", 5, 5)


def test_answers_are_added_where_the_rows_are() -> None:
    spread = dd.from_pandas(TABLE, npartitions=3, sort=False)
    model = bw.fit(TABLE, "class", model="naive-bayes")
    found = model.predict_proba(model.predict(spread))
    assert isinstance(found, dd.DataFrame)
    rows = found.compute()
    assert rows["predicted"].tolist() == model.predict(TABLE)
    assert (rows[["p_a", "p_b", "p_c"]].to_numpy() == model.predict_proba(TABLE)).all()
    assert list(rows.columns)[: len(TABLE.columns)] == list(TABLE.columns)
    logs = model.predict_log_proba(spread).compute()[["log_p_a", "log_p_b", "log_p_c"]]
    assert (logs.to_numpy() == model.predict_log_proba(TABLE)).all()


@pytest.mark.parametrize("name", ["naive Bayes", "words", "tan"])
def test_weights_of_evidence_are_added_where_the_rows_are(name: str) -> None:
    model, few = fitted(TABLE, name), TABLE.head(20)
    rows = model.explain(dd.from_pandas(few, npartitions=2, sort=False)).compute()
    for place in range(len(few)):
        why = model.explain(few.iloc[[place]]).weigh()
        row = rows.iloc[place]
        assert (row["predicted"], row["against"]) == (why.state, why.rival)
        assert (row["log_odds"], row["log_prior_odds"]) == (why.log_odds, why.log_prior_odds)
        for column in model.schema.used:
            assert row[f"weight_{column}"] == math.fsum(w.log_ratio for w in why.weights if w.column == column)


def test_terms_of_a_score_are_added_where_the_rows_are() -> None:
    model = fitted(TABLE, "linear")
    rows = model.explain(dd.from_pandas(TABLE.head(5), npartitions=2, sort=False)).compute()
    for place in range(5):
        why = model.explain(TABLE.iloc[[place]])
        assert (rows["predicted"].iloc[place], rows["at_means"].iloc[place]) == (why.mean, why.at_means)
        assert [rows[f"weight_{term.column}"].iloc[place] for term in why.terms] == [t.amount for t in why.terms]


def test_decisions_are_made_where_the_rows_are() -> None:
    costs = bw.Costs({"act": {"a": 0.0, "b": "5 * times", "c": 1.0}, "wait": {"a": 2.0, "b": 0.5, "c": 0.1}})
    model = bw.fit(TABLE, "class", model="naive-bayes")
    rows = bw.decide(model, dd.from_pandas(TABLE, npartitions=3, sort=False), costs).compute()
    here = bw.decide(model, TABLE, costs)
    for name, column in here.to_columns().items():
        assert rows[name].tolist() == column


@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain"])
def test_rows_without_a_column_of_the_model_are_refused_before_they_are_computed(method: str) -> None:
    model, without = fitted(TABLE, "naive Bayes"), dd.from_pandas(TABLE.drop(columns="height"), npartitions=2)
    with pytest.raises(MissingColumnError, match="Dask DataFrame has no column 'height', which the model looks at"):
        getattr(model, method)(without)
    with pytest.raises(MissingColumnError, match="no column 'height'"):
        bw.decide(model, without, {"act": {"a": 0.0, "b": 5.0, "c": 1.0}, "wait": {"a": 2.0, "b": 0.5, "c": 0.1}})


def test_a_number_is_predicted_where_the_rows_are() -> None:
    model = bw.fit(TABLE, "price", model="linear", missing="mean", ignore=["note"])
    rows = TABLE.assign(predicted=1)  # a name that is taken
    found = model.predict(dd.from_pandas(rows, npartitions=3, sort=False)).compute()
    assert (found["predicted_2"].to_numpy() == model.predict(TABLE)).all()


def test_a_worker_that_is_killed_does_not_change_a_byte(tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rows = dd.from_pandas(TABLE, npartitions=4, sort=False)
        source = open_source(rows.map_partitions(_killed_once, str(marker), meta=rows._meta))
        source.watch = lambda what, done, total: None
        assert digest(source, "averaged") == digest(TABLE, "averaged")
    assert marker.exists()


_RUNS: list[int] = []


def _slowly(frame: pd.DataFrame) -> pd.DataFrame:
    _RUNS.append(len(frame))
    time.sleep(1.0)
    return frame


def test_an_interrupt_cancels_the_tasks(tmp_path: Path) -> None:
    """Ctrl-C while the first of many slow tasks runs: those that wait are never begun."""
    _RUNS.clear()

    def press() -> None:
        while not _RUNS:
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        slow = dd.from_pandas(TABLE, npartitions=20).map_partitions(_slowly, meta=TABLE)
        pressing = threading.Thread(target=press, daemon=True)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            bw.fit(slow, "class", model="naive-bayes")
        signal.signal(signal.SIGINT, before)
        pressing.join()
        until = time.monotonic() + 30
        while any(client.processing().values()) and time.monotonic() < until:
            time.sleep(0.1)
        assert not any(client.processing().values())
        assert len(_RUNS) < 10


def _killed_once(frame: pd.DataFrame, marker: str) -> pd.DataFrame:
    """The rows as they are; the first task to come here kills its worker."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return frame
    os.kill(os.getpid(), signal.SIGKILL)
    return frame


def dependent_table() -> pd.DataFrame:
    """A chain of noisy copies, beside a column of 200 labels: nearly all rows are different."""
    generator = np.random.default_rng(3)
    first = generator.integers(0, 3, 1_000)
    second = np.where(generator.random(1_000) < 0.8, first, generator.integers(0, 3, 1_000))
    third = np.where(generator.random(1_000) < 0.8, second, generator.integers(0, 3, 1_000))
    columns = {"a": first, "b": second, "c": third, "d": generator.integers(0, 4, 1_000)}
    frame = pd.DataFrame({**columns, "who": generator.integers(0, 200, 1_000)}).map(lambda code: f"v{code}")
    frame.loc[generator.random(1_000) < 0.02, "b"] = None
    return frame.assign(times=generator.integers(1, 3, 1_000) * 0.5)


@pytest.mark.parametrize(
    ("way", "n_rounds"),
    [
        ({"method": "chow-liu", "ignore": ["times"]}, 2),
        ({"method": "hill-climbing", "restarts": 0, "tabu": 2, "ignore": ["times"]}, 12),
        ({"method": "hill-climbing", "restarts": 0, "tabu": 0, "score": "bdeu", "weight": "times"}, 12),
        ({"method": "k2", "order": ["a", "b", "c", "d", "who"], "weight": "times"}, 12),
        ({"parents": {"c": ["b", "d"], "b": ["a"]}, "missing": "error", "ignore": ["times"]}, 1),
    ],
)
def test_a_graph_of_too_many_rows_is_found_by_rounds_of_counts(
    way: dict[str, Any], n_rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = dependent_table()
    here = bw.BeliefNetwork.learn(table, **{"missing": "drop", **way})
    assert here.edges
    monkeypatch.setattr(partitions, "MOST_CELLS_HERE", 100)
    monkeypatch.setattr(counted_rows, "MOST_CELLS_COUNTED", 4_200)
    source = open_source(dd.from_pandas(table.sample(frac=1.0, random_state=1), npartitions=3, sort=False))
    source.n_rows = len(table)
    with dask.config.set(scheduler="synchronous"):
        found = bw.BeliefNetwork.learn(source, **{"missing": "drop", **way})
    assert found == here
    assert source.passes[:3] == ["profile", "levels", "different rows"]
    assert set(source.passes[3:]) == {"counts"}
    assert len(source.passes) <= n_rounds + 3


def test_what_rounds_of_counts_cannot_do_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST_CELLS_HERE", 100)
    monkeypatch.setattr(counted_rows, "MOST_CELLS_COUNTED", 4_200)
    spread = dd.from_pandas(dependent_table().drop(columns="times"), npartitions=2, sort=False)
    with pytest.raises(MissingCellError, match="a missing cell in column 'b'"):
        bw.BeliefNetwork.learn(spread)
    with pytest.raises(ParameterError, match=r"each step of a search is a pass.*restarts=0"):
        bw.BeliefNetwork.learn(spread, missing="drop")
    with pytest.raises(NotStreamableError, match="missing='em' needs the rows themselves"):
        bw.BeliefNetwork.learn(spread, missing="em")
