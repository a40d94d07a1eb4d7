"""Standard input that is read once, as it comes."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bayeswise.foundation.errors import SourceError
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.text.csv import Piped, PipedCsvSource

ROWS = 'zip,remark\n0007,"two\nlines, ""quoted"""\n,NA\n'


def once(monkeypatch: pytest.MonkeyPatch, content: bytes) -> Any:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return open_source("-", once=True)


def cells(source: Any) -> dict[str, list[Any]]:
    names = [column.name for column in source.columns]
    found: dict[str, list[Any]] = {name: [] for name in names}
    for chunk in source.chunks(names):
        for name in names:
            found[name] += chunk.cells(name)
    return found


def test_cells_are_the_letters_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    source = once(monkeypatch, ROWS.encode())
    assert isinstance(source, PipedCsvSource)
    assert cells(source) == {"zip": ["0007", ""], "remark": ['two\nlines, "quoted"', "NA"]}


def test_a_pipe_gives_what_a_file_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "größe;wert\n" + "".join(f"a{k % 7};{k},5\n" for k in range(60_000))
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        content = text.encode(encoding)
        path = tmp_path / "table.csv"
        path.write_bytes(content)
        assert cells(once(monkeypatch, content)) == cells(open_source(path))


def test_a_header_longer_than_the_sample_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"a very long name of a column, number {k}" for k in range(9000)]
    content = ",".join(f'"{name}"' for name in names) + "\n" + ",".join(map(str, range(9000))) + "\n"
    source = once(monkeypatch, content.encode())
    assert [column.name for column in source.columns] == names
    assert cells(source)[names[-1]] == ["8999"]


def test_a_pipe_can_be_read_once_only(monkeypatch: pytest.MonkeyPatch) -> None:
    source = once(monkeypatch, ROWS.encode())
    cells(source)
    with pytest.raises(SourceError, match="read already"):
        cells(source)


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_nothing_is_not_a_table(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    with pytest.raises(SourceError, match="standard input is empty"):
        once(monkeypatch, content)


def test_what_is_not_a_plain_text_is_kept_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (gzip.compress(ROWS.encode()), b'{"zip": "0007", "remark": "a"}\n{"zip": "", "remark": null}\n'):
        source = once(monkeypatch, content)
        assert not isinstance(source, PipedCsvSource)
        assert cells(source)["zip"] == ["0007", ""]
        assert cells(source)["zip"] == ["0007", ""]


def test_a_slow_pipe_gives_what_has_come() -> None:
    receive, send = os.pipe()
    stream = Piped(os.fdopen(receive, "rb"))

    def feed() -> None:
        with os.fdopen(send, "wb", buffering=0) as pipe:
            pipe.write(b"early")
            time.sleep(0.5)
            pipe.write(b"late")

    threading.Thread(target=feed).start()
    assert stream.read(1 << 20) == b"early"
    assert stream.read(1 << 20) == b"late"
    assert stream.read(1 << 20) == b""
