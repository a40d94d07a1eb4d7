"""bayeswise fit --engine: the same file from Parquet parts by Dask, and what is refused before anything starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayeswise.engines import dask as dask_engine
from bayeswise.engines.spark_sessions import java_version, started
from bayeswise.foundation.errors import NotInstalledError, SourceError


def test_parts_are_fitted_by_dask_to_the_same_file(bayeswise: Callable[..., Any], parts: Path) -> None:
    here, there = parts / "here.bayeswise", parts / "there.bayeswise"
    assert bayeswise("fit", parts / "part-*.parquet", "-t", "kind", "--model", "naive-bayes", "-o", here).code == 0
    answer = bayeswise(
        "fit", parts / "part-*.parquet", "-t", "kind", "--model", "naive-bayes", "-o", there, "--engine", "dask"
    )
    assert answer.code == 0
    assert "1 pass over 3 partitions: profile and statistics." in answer.err
    assert "150 rows learned" in answer.out
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize(
    ("master", "said"),
    [
        ("sc://127.0.0.1:9", "there is no server of Spark at 127.0.0.1:9"),
        ("spark://127.0.0.1:9,127.0.0.1:10", "there is no server of Spark at 127.0.0.1:9 or 127.0.0.1:10"),
        ("sc://[::1", "'sc://[::1' is not an address of Spark"),
    ],
)
def test_a_server_of_spark_that_is_not_there_is_named_at_once(master: str, said: str) -> None:
    with pytest.raises(SourceError, match=re.escape(said)):
        started(master)


def test_a_scheduler_that_is_not_there_is_named(
    bayeswise: Callable[..., Any], parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "LONGEST_WAIT", "1s")
    words = ["-t", "kind", "-o", parts / "out.bayeswise", "--model", "naive-bayes", "--engine", "dask"]
    answer = bayeswise("fit", parts / "part-*.parquet", *words, "--scheduler", "tcp://127.0.0.1:9")
    assert answer.code == 2
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:9'" in answer.err
    assert not (parts / "out.bayeswise").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["part-0.parquet", "--master", "yarn"], "--master is about --engine spark"),
        (["part-0.parquet", "--engine", "dask", "--master", "yarn"], "--master is about --engine spark"),
        (["part-0.csv", "--engine", "dask"], "--engine dask reads Parquet files; found 'part-0.csv'"),
        (["none-*.parquet", "--engine", "dask"], "Dask finds no such file: none-*.parquet"),
    ],
)
def test_what_an_engine_cannot_read_is_said(
    bayeswise: Callable[..., Any], parts: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(parts)
    answer = bayeswise("fit", *words, "-t", "kind", "--model", "naive-bayes", "-o", "out.bayeswise")
    assert answer.code in (2, 3)
    assert said in answer.err
    assert "Fix:" in answer.err
    assert not (parts / "out.bayeswise").exists()


def test_a_java_that_is_too_old_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    assert java_version(str(java)) == 8
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NotInstalledError, match=r"Spark needs Java 17 or later, and .*java is Java 8.*Fix: install it"):
        started("local[1]")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(NotInstalledError, match="there is no Java"):
        started("local[1]")
