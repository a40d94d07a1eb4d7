"""Text files as people write them."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sweeps import invalid_values_of, labels_of, numbers_of

from bayeswise.foundation.errors import NotInstalledError, ParameterError, SchemaError, SourceError
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.text import csv


def written(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def names_of(path: Path, **options: Any) -> list[str]:
    return [column.name for column in open_source(path, **options).columns]


GOLF = "outlook,degrees\nsunny,29.5\nrain,18\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_sniffed(tmp_path: Path, delimiter: str) -> None:
    path = written(tmp_path, GOLF.replace(",", delimiter))
    assert names_of(path) == ["outlook", "degrees"]
    assert numbers_of(path, "degrees") == [29.5, 18.0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_end_in_any_way_and_the_last_may_not_end(tmp_path: Path, end: str, last: bool) -> None:
    text = GOLF.replace("\n", end) if last else GOLF.strip().replace("\n", end)
    assert numbers_of(written(tmp_path, text), "degrees") == [29.5, 18.0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_the_encoding_is_sniffed(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, "größe,naïve\nüber,1\n".encode(encoding))
    assert names_of(path) == ["größe", "naïve"]
    assert labels_of(path, "größe") == ["über"]


def test_windows_quotes_are_read_as_windows_wrote_them(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n“x”,1 €\n".encode("cp1252"))
    assert labels_of(path, "a") == ["“x”"]
    assert labels_of(path, "b") == ["1 €"]


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "имя,n\nЖ,1\n".encode("koi8-r"))
    assert labels_of(path, "имя", encoding="koi8-r") == ["Ж"]
    with pytest.raises(ParameterError, match="klingon"):
        open_source(path, encoding="klingon")


def test_a_late_byte_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    body = "a,b\n" + "plain,1\n" * 100_000
    path = written(tmp_path, body.encode() + "größe,1\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"line 100002 of t.csv is not UTF-8.*latin-1"):
        labels_of(path, "a")
    assert labels_of(path, "a", encoding="latin-1")[-1] == "größe"


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "t.csv.gz"), (bz2.compress, "t.csv.bz2")])
def test_packed_files_are_unpacked(tmp_path: Path, pack: Any, name: str) -> None:
    path = written(tmp_path, pack(GOLF.encode()), name)
    assert numbers_of(path, "degrees") == [29.5, 18.0]


def test_a_packed_file_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    packed = gzip.compress(("a,b\n" + "".join(f"{k},{k * k}\n" for k in range(200_000))).encode())
    path = written(tmp_path, packed[: len(packed) // 2], "t.csv.gz")
    with pytest.raises(SourceError, match=r"t.csv.gz is cut off or damaged"):
        numbers_of(path, "a")


def test_a_decimal_comma_is_sniffed_unless_points_are_there_too(tmp_path: Path) -> None:
    assert numbers_of(written(tmp_path, "a;b\n1,5;x\n-2,25;y\n"), "a") == [1.5, -2.25]
    assert numbers_of(written(tmp_path, 'a,b\n"1,5",x\n"2,25",y\n'), "a") == [1.5, 2.25]
    mixed = open_source(written(tmp_path, "a;b\n1,5;2.5\n"))
    assert numbers_of(mixed, "b") == [2.5]


def test_thousands_separators_are_not_decimal_commas(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n"1,500",x\n"2,250",y\n')
    assert labels_of(path, "a") == ["1,500", "2,250"]
    assert numbers_of(path, "a") != [1.5, 2.25]


def test_quoted_fields_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n"x, ""y""\nz",1\nplain,2\n')
    assert labels_of(path, "a") == ['x, "y"\nz', "plain"]
    assert numbers_of(path, "b") == [1.0, 2.0]


def test_a_quote_inside_an_unquoted_field_is_a_character(tmp_path: Path) -> None:
    assert labels_of(written(tmp_path, 'a,b\n5" pipe,1\n'), "a") == ['5" pipe']


def test_single_quotes_are_sniffed(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n'x, y',1\n'it''s',2\n")
    assert labels_of(path, "a") == ["x, y", "it's"]


def test_blanks_after_every_delimiter_belong_to_the_delimiter(tmp_path: Path) -> None:
    path = written(tmp_path, "age, work\n39, State-gov\n50, ?\n")
    assert names_of(path) == ["age", "work"]
    assert labels_of(path, "work") == ["State-gov", None]


def test_blanks_in_a_cell_are_kept_otherwise(tmp_path: Path) -> None:
    assert labels_of(written(tmp_path, "a,b\n x ,1\nx,2\n"), "a") == [" x ", "x"]


def test_labels_of_every_kind_round_trip(tmp_path: Path) -> None:
    odd = ["🦄", "שלום", "a\nb", "x" * 10_000, " a", "0007", "3a", "yes", "TRUE", "1e5", "=cmd()", "\u200b", 'q"q']
    lines = "".join(f'"{label.replace(chr(34), chr(34) * 2)}",1\n' for label in odd)
    assert labels_of(written(tmp_path, "a,b\n" + lines), "a") == odd


def test_lines_are_counted_through_quoted_line_ends_and_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n"x\ny",1\n\nz,oops\n')
    (chunk,) = open_source(path).chunks(["b"])
    _, (invalid,) = chunk.numbers("b")
    assert (invalid.row, invalid.line, invalid.text) == (1, 5, "oops")


def test_blank_lines_are_skipped_but_a_single_column_keeps_them(tmp_path: Path) -> None:
    assert numbers_of(written(tmp_path, "a,b\n\n1,2\n   \n3,4\n\n"), "a") == [1.0, 3.0]
    assert labels_of(written(tmp_path, "a\nx\n\ny\n"), "a") == ["x", None, "y"]


def test_a_file_without_header_gets_numbered_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    assert names_of(path) == ["column0", "column1", "column2"]
    assert numbers_of(path, "column0") == [5.1, 4.9]


def test_years_and_positions_are_headers(tmp_path: Path) -> None:
    assert names_of(written(tmp_path, "country,2019,2020\nAT,1.5,2.5\n")) == ["country", "2019", "2020"]
    assert names_of(written(tmp_path, "0,1,2\n5,6,9\n7,8,9\n")) == ["0", "1", "2"]


def test_the_header_can_be_decided(tmp_path: Path) -> None:
    path = written(tmp_path, "red,green\nblue,red\n")
    assert names_of(path) == ["red", "green"]
    assert names_of(path, header=False) == ["column0", "column1"]
    assert labels_of(path, "column0", header=False) == ["red", "blue"]


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "a,b\n"))
    assert names_of(written(tmp_path, "a,b")) == ["a", "b"]
    assert numbers_of(source, "a") == []
    assert source.n_rows == 0


@pytest.mark.parametrize("content", [b"", b"\n\n \n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SourceError, match=r"t.csv is empty"):
        open_source(written(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", r"line 3 of t.csv has 1 field where 2 are expected"),
        ("a,b\n1,2\n\n3,4,5\n", r"line 4 of t.csv has 3 fields where 2 are expected"),
        ("a,b,c\n1,2\n3,4\n", r"line 2 of t.csv has 2 fields where 3 are expected"),
        ('a,b\n1,"x\ny\n', r"t.csv ends inside the quoted field that opens in line 2"),
        ('a,b\n1,"x"y\n', r"line 2 of t.csv has text after a closing quote"),
    ],
)
def test_a_broken_record_is_reported_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        numbers_of(written(tmp_path, content), "a")


def test_junk_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not text"):
        open_source(written(tmp_path, bytes(range(256)) * 4))


def test_an_unclosed_quote_is_found_before_memory_runs_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "LONGEST_RECORD", 1 << 16)
    monkeypatch.setattr(csv, "BLOCK_BYTES", 1 << 12)
    path = written(tmp_path, 'a,b\n1,"open\n' + "1,2\n" * 100_000)
    with pytest.raises(SourceError, match=r"the record in line 2 is longer than"):
        numbers_of(path, "a")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b,a", r"columns 1 and 3 of t.csv are both named 'a'"),
        ("a,,b", r"column 2 of t.csv has no name"),
        ("a,b, a", r"columns 1 and 3 of t.csv"),
        ("\u00e9,e\u0301", r"columns 1 and 2 of t.csv are named .* read the same"),
    ],
)
def test_names_must_be_there_and_differ(tmp_path: Path, header: str, message: str) -> None:
    row = ",".join("1" for _ in header.split(","))
    with pytest.raises(SchemaError, match=message):
        open_source(written(tmp_path, f"{header}\n{row}\n"))


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000])
def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    content = 'a,b\r\n"x ""1""\r\n",1\r\n' + "".join(f"größe{k},{k}\r\n" for k in range(40)) + '"last",9'
    expected = labels_of(written(tmp_path, content), "a")
    monkeypatch.setattr(csv, "BLOCK_BYTES", block_bytes)
    path = written(tmp_path, content)
    assert labels_of(path, "a") == expected == ['x "1"\r\n', *(f"größe{k}" for k in range(40)), "last"]
    assert numbers_of(path, "b") == [1.0, *range(40), 9.0]


def test_a_delimiter_must_be_one_character(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="delimiter"):
        open_source(written(tmp_path, GOLF), delimiter="::")


def test_a_column_changes_its_looks_at_row_65537(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n" + "1,2\n" * 65_536 + "3a,2\n")
    (invalid,) = [invalid for chunk in open_source(path).chunks(["a"]) for invalid in chunk.numbers("a")[1]]
    assert (invalid.row, invalid.line, invalid.text) == (65_536, 65_538, "3a")


def test_a_sweep_that_is_given_up_can_be_started_again(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "a,b\n" + "1,2\n" * 1000), chunk_rows=10)
    for _ in range(3):
        chunk = next(iter(source.chunks(["a"])))
        assert chunk.n_rows == 10
    assert len(numbers_of(source, "a")) == 1000


def test_blanks_part_columns_of_numbers_but_not_words(tmp_path: Path) -> None:
    assert numbers_of(written(tmp_path, "a b\n1 2\n3 4.5\n"), "b") == [2.0, 4.5]
    assert labels_of(written(tmp_path, "two words\nred wine\nwhite bread\n"), "two words") == [
        "red wine",
        "white bread",
    ]


def test_zstd_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression", "compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NotInstalledError, match="pip install zstandard"):
        open_source(written(tmp_path, b"\x28\xb5\x2f\xfd" + bytes(20), "t.csv.zst"))


def test_a_table_of_thousands_of_columns_comes_in_many_rows_at_once(tmp_path: Path) -> None:
    header = ",".join(f"c{k}" for k in range(3000))
    row = ",".join("123.25" for _ in range(3000))
    path = written(tmp_path, "\n".join([header, *([row] * 300)]) + "\n")
    chunks = list(open_source(path).chunks(["c0", "c2999"]))
    assert len(chunks) <= 5
    assert sum(chunk.matrix(["c2999"])[0].sum() for chunk in chunks) == 300 * 123.25


def test_options_of_databases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"table_name \(--table\) does not apply to t.csv"):
        open_source(written(tmp_path, GOLF), table_name="golf")


def test_a_decimal_comma_goes_with_exponents_and_without_points(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\n1,5e3;x\n123456789012345678,25;y\n1.234,5;z\n")
    source = open_source(path, decimal=",")
    assert numbers_of(source, "a")[:2] == [1500.0, 123456789012345678.25]
    assert [invalid.text for invalid in invalid_values_of(source, "a")] == ["1.234,5"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_reads_with_threads_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n" + "1,2\n" * 50_000)
    code = (
        "import os, sys; from bayeswise.tables.source import open_source\n"
        "def total(): return sum(c.matrix(['a', 'b'])[0].sum() for c in open_source(sys.argv[1]).chunks(['a', 'b']))\n"
        "assert total() == 150_000.0\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(0 if total() == 150_000.0 else 1)\n"
        "sys.exit(os.waitpid(child, 0)[1])\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], timeout=60, check=False).returncode == 0
