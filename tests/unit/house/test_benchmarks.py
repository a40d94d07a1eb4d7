"""The benchmarks keep running: each row, on small data, for its outcome and not for its time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bayeswise import _kernels
from benchmarks.__main__ import announced, select
from benchmarks.harness import Figure, Outcome, Race, Row, Size, cells, cpu_time, run_all
from benchmarks.quality import __main__ as quality
from benchmarks.quality.development import rings
from benchmarks.rows import growth
from benchmarks.rows.service import kept

PEERS_OF_RACES_ALONE = {"empulse", "skactiveml", "sklearnex"}  # too large to install for everybody who runs the tests
SMALL = Size(scale=0.001, csv_gigabytes=0.001, repeats=1)
ROWS = [*select([], SMALL), *select(["quality", "labels"], SMALL)]
measured_once = cache(growth.measured_here)


@pytest.fixture(scope="module")
def servers() -> Iterator[None]:
    with kept():
        yield


@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("row", [row for row in ROWS if row.what.startswith("service")], ids=lambda row: row.what)
def test_every_row_of_the_service_runs_on_the_servers_of_the_tests(row: Row) -> None:
    assert row.run(SMALL).ours > -100.0  # memory may be given back


@pytest.mark.parametrize("row", [row for row in ROWS if row.what.startswith("growth with")], ids=lambda row: row.what)
def test_every_row_of_growth_runs_without_a_process_of_its_own(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "measured", measured_once)
    assert row.run(SMALL).ours >= 0.0


def test_growth_is_measured_in_processes_of_their_own() -> None:
    assert growth.seconds("classes", 2, repeats=1) > 0.0


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not re.match("service|growth with|.*Spark", row.what)], ids=lambda row: row.what
)
def test_every_row_runs(row: Row) -> None:
    try:
        outcome = row.run(SMALL)
    except ModuleNotFoundError as missing:
        peer = (missing.name or "").partition(".")[0]
        if peer not in PEERS_OF_RACES_ALONE:
            raise
        pytest.skip(f"{peer} is not installed; `make bench` installs it")
    assert outcome.ours >= 0.0 or (outcome.unit == "points" and outcome.ours > -100.0)  # points may be ahead


def test_a_file_that_is_named_comes_first_and_each_row_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    rows = announced(select(["growth"], SMALL))
    assert next(rows).what.startswith("growth with rows")
    assert capsys.readouterr().err.startswith("measuring growth with rows")


def test_rows_that_take_hours_run_only_by_name() -> None:
    assert not any(row.what.startswith("quality") for row in select([], SMALL))
    assert any(row.what.startswith("quality") for row in select(["quality"], SMALL))


def test_what_is_the_same_for_every_instruction_set_is_left_out_of_all_runs_but_one() -> None:
    copied = {row.what for row in select([], SMALL, only_copies=True)}
    assert any("GaussianNB" in what for what in copied)
    assert not any("pyAgrum" in what or "service" in what or "Spark" in what for what in copied)


def test_figures_of_peers_that_are_kept_stand_beside_new_ones_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "folds.jsonl"
    options: dict[str, Any] = {
        "n_folds": 2,
        "n_seeds": 1,
        "names_of_peers": ["LogisticRegressionCV"],
        "tell": lambda text: None,
    }
    tables = {"rings": lambda: rings(60, 1)}
    alone = quality.run(tables, **options, kept=quality.Kept.of(str(kept)), only="peers")
    assert alone["rings"].keys() == {"LogisticRegressionCV"}
    monkeypatch.setattr(quality, "peers", lambda *_: {})
    both = quality.run(tables, **options, kept=quality.Kept.of(str(kept)), only="ours")
    assert {"auto", "best single", "LogisticRegressionCV"} <= both["rings"].keys()
    assert both["rings"]["LogisticRegressionCV"] == alone["rings"]["LogisticRegressionCV"]


def test_a_race_is_met_when_the_peer_takes_long_enough() -> None:
    slow, fast = (lambda: time.sleep(0.02)), (lambda: None)
    assert Race("win", lambda: (fast, slow), at_least=2.0).run(SMALL).met is True
    assert Race("lose", lambda: (slow, fast), at_least=2.0).run(SMALL).met is False
    assert Race("no target", lambda: (slow, fast)).run(SMALL).met is None


def test_plain_kernels_need_only_not_be_slower_than_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    for isa, least in (("plain", [1.0, 0.5, None]), ("avx2", [2.0, 0.5, None])):
        monkeypatch.setattr(_kernels, "isa", lambda isa=isa: isa)
        assert [Race("any", lambda: (abs, abs), at_least=target).least for target in (2.0, 0.5, None)] == least


def test_a_figure_is_met_up_to_its_limit() -> None:
    assert Figure("one", lambda: 1.0, at_most=1.0, unit="MB").run(SMALL).met is True
    assert Figure("two", lambda: 2.0, at_most=1.0, unit="MB").run(SMALL).met is False


def test_a_missed_target_is_a_word_in_the_table_and_no_failure() -> None:
    lines: list[str] = []
    [outcome] = run_all([Figure("two", lambda: 2.0, at_most=1.0, unit="MB")], SMALL, lines.append)
    assert lines[-1].split() == ["two", _kernels.isa(), "2", "MB", "<=", "1", "MB", "missed"]
    assert outcome["met"] is False


def test_a_row_that_fails_does_not_stop_the_others() -> None:
    def fail() -> float:
        raise ZeroDivisionError("division by zero")

    lines: list[str] = []
    rows = [Figure("one", fail, at_most=1.0), Figure("two", lambda: 2.0, at_most=2.0)]
    first, second = run_all(rows, SMALL, lines.append)
    assert "one: ZeroDivisionError: division by zero" in lines
    assert (first["met"], second["met"]) == (False, True)


def test_a_ratio_is_written_as_how_often_ours_fits_into_the_peer() -> None:
    outcome = Outcome("moments", 0.03, 0.3, "s", 10.0, ">= 8x", True, (7.5, 11.25))
    shown = ["moments", _kernels.isa(), "30 ms", "300 ms", "10.00x", "7.50-11.25", ">= 8x", "met"]
    assert list(cells(outcome)) == shown


def test_the_ratio_of_the_best_times_lies_within_the_spread_over_turns() -> None:
    ticks = iter([0.0, 1.0, 0.0, 4.0, 0.0, 2.0, 0.0, 5.0, 0.0, 4.0, 0.0, 2.0])  # ours 1, 2, 4; the peer 4, 5, 2
    race = Race("three turns", lambda: (lambda: None, lambda: None), at_least=3.0)
    outcome = race.run(replace(SMALL, repeats=3, clock=lambda: next(ticks)))
    assert (outcome.ours, outcome.peer, outcome.ratio, outcome.met) == (1.0, 2.0, 2.0, False)
    assert outcome.spread == (0.5, 4.0)


def test_a_race_by_processor_time_does_not_count_waiting() -> None:
    def busy() -> None:
        end = cpu_time() + 0.02
        while cpu_time() < end:
            pass

    began = time.perf_counter()
    busy()
    longer = 5.0 * (time.perf_counter() - began)  # on a busy machine, 0.02 s of processor time take much longer
    race = Race("wait", lambda: (lambda: time.sleep(longer), busy), at_least=2.0)
    assert race.run(SMALL).met is False
    assert race.run(replace(SMALL, clock=cpu_time)).met is True


def test_an_outcome_names_the_instruction_set_and_the_spread_as_data() -> None:
    [outcome] = run_all([Race("one", lambda: (lambda: None, lambda: None))], SMALL, lambda line: None)
    assert outcome["isa"] == _kernels.isa()
    assert isinstance(outcome["spread"], tuple)
