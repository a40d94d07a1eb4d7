"""Tables that are not read as their writer meant: `look` says so, `fit` warns, and what they say to type works."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw

Command = Callable[..., SimpleNamespace]
Table = Callable[[str, Sequence[Sequence[object]]], Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A file of rows below a header, its fields parted by semicolons."""

    def write(header: str, rows: Sequence[Sequence[object]]) -> Path:
        path = tmp_path / "table.csv"
        path.write_text("\n".join([header, *(";".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
        return path

    return write


def fit(bayeswise: Command, path: Path, *words: str) -> SimpleNamespace:
    return bayeswise("fit", path, "--model", "naive-bayes", "-o", path.parent / "m.bayeswise", *words)


FORMATTED = [
    (lambda k: f"{1000.25 + 7 * k:,.2f}", "thousands separators (1,000.25)", "write 1000.25 for 1,000.25"),
    (lambda k: f"1.{100 + k % 5},06", "thousands separators (1.100,06)", "write 1100.06 for 1.100,06"),
    (lambda k: f"{10 + k % 7}.5%", "a percent sign (10.5%)", "write 10.5 for 10.5%"),
    (lambda k: f"€ {1 + k},200.00", "a currency sign (€ 1,200.00)", "write 1200.00 for € 1,200.00"),
]


@pytest.mark.parametrize(("price", "looks_like", "to_do"), FORMATTED)
def test_numbers_that_are_written_for_people_are_named_in_look_in_fit_and_in_the_error_of_number(
    bayeswise: Command, table: Table, price: Callable[[int], str], looks_like: str, to_do: str
) -> None:
    path = table("price;x;y", [(price(k), k * k % 17 / 2, "NY"[k % 3 % 2]) for k in range(40)])
    page = " ".join(bayeswise("look", path, "-t", "y").out.split())
    assert f"price: the cells look like numbers with {looks_like}" in page and to_do in page
    warned = fit(bayeswise, path, "-t", "y")
    assert warned.code == 0 and looks_like in warned.err and to_do in warned.err
    refused = fit(bayeswise, path, "-t", "y", "--number", "price")
    assert refused.code == 3 and looks_like.partition(" (")[0] in refused.err and to_do in refused.err
    assert "look like numbers" not in fit(bayeswise, path, "-t", "y", "--category", "price").err


def test_labels_that_differ_only_by_blanks_or_case_are_named(bayeswise: Command, table: Table) -> None:
    cities, classes = ("Berlin", "Berlin ", "berlin", "Rom"), ("N ", "N", "Y", "Y ", "?")
    path = table("city;y;x", [(cities[k % 4], classes[k % 5], k % 7) for k in range(60)])
    page = " ".join(bayeswise("look", path, "-t", "y").out.split())
    assert "y: labels differ only by blanks or case: N and 'N ', Y and 'Y '" in page
    assert "city: labels differ only by blanks or case: Berlin and 'Berlin ', Berlin and berlin" in page
    warned = fit(bayeswise, path, "-t", "y").err
    assert "column y: labels differ only by blanks or case" in warned and "city" not in warned


def test_one_word_among_numbers_may_mean_missing_and_the_options_to_say_so_work(
    bayeswise: Command, table: Table
) -> None:
    incomes = ["-" if k % 10 == 0 else "NA" if k % 11 == 1 else 1000 + 37 * k for k in range(90)]
    path = table("income;y", [(income, "NY"[k % 2]) for k, income in enumerate(incomes)])
    refused = fit(bayeswise, path, "-t", "y")
    assert refused.code == 3
    found = re.search(r"if - means missing, (?P<typed>--null.*--null -);", refused.err)
    assert found is not None, refused.err
    options = shlex.split(found["typed"])
    assert fit(bayeswise, path, "-t", "y", *options).code == 0
    assert "null words: - 9, NA 9" in " ".join(bayeswise("look", path, "-t", "y", *options).out.split())


def test_two_words_among_numbers_are_to_be_corrected(bayeswise: Command, table: Table) -> None:
    path = table("income;y", [({0: "low", 1: "high"}.get(k % 9, 37 * k), "NY"[k % 2]) for k in range(90)])
    assert "Fix: correct these cells, or --category income." in fit(bayeswise, path, "-t", "y").err


def test_a_first_row_of_fractions_that_count_up_is_a_row(bayeswise: Command, table: Table) -> None:
    path = table("0.5;1.5;Y", [(k / 4, k * k % 9 / 2, "NY"[k % 2]) for k in range(20)])
    page = bayeswise("look", path).out
    assert "21 rows, 3 columns" in page and "column0" in page


def test_names_that_are_numbers_may_be_a_row_which_no_header_says(bayeswise: Command, table: Table) -> None:
    path = table("1;2;Y", [(k % 9, k * k % 11, "NY"[k % 2]) for k in range(20)])
    assert "column names are numbers: 1, 2" in bayeswise("look", path, "-t", "Y").out
    assert "--no-header" in fit(bayeswise, path, "-t", "Y").err
    page = bayeswise("look", path, "-t", "column2", "--no-header").out
    assert "21 rows, 3 columns" in page and "numbers:" not in page
    assert fit(bayeswise, path, "-t", "column2", "--no-header").code == 0


def test_names_that_are_years_are_names(bayeswise: Command, table: Table) -> None:
    path = table("country;1999;2000", [(f"c{k % 3}", k % 9, k * k % 11) for k in range(20)])
    assert "names are numbers" not in bayeswise("look", path, "-t", "country").out


def test_a_database_of_two_tables_asks_for_the_option_that_names_one(bayeswise: Command, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "loans.db") as database:
        database.execute("CREATE TABLE loans (x, y)")
        database.execute("CREATE TABLE people (x, y)")
        database.execute("INSERT INTO loans VALUES (1, 'N'), (2, 'Y'), (3, 'Y')")
    database.close()
    assert "Fix: name one, such as --table loans." in bayeswise("look", tmp_path / "loans.db").err
    assert "--table loans" in bayeswise("look", tmp_path / "loans.db", "--table", "loan").err
    assert bayeswise("look", tmp_path / "loans.db", "--table", "loans").code == 0


def test_a_line_of_another_length_asks_for_the_option_of_the_delimiter(bayeswise: Command, table: Table) -> None:
    path = table("a;b;y", [(1, 2, "N"), (3, 4), (5, 6, "Y")])
    assert "name another delimiter, as in --delimiter ';'" in bayeswise("look", path).err


def test_what_stops_a_model_is_printed_once(bayeswise: Command, table: Table) -> None:
    path = table("income;y", [("-" if k % 10 == 0 else k, "NY"[k % 2]) for k in range(50)])
    answer = bayeswise("look", path, "-t", "y")
    assert answer.code == 3
    assert (answer.out + answer.err).count("looks numeric, but") == 1 and "looks numeric, but" in answer.err


def leaking(k: int) -> tuple[str, str, int, str, str]:
    label = "NYY"[k % 3]
    return (
        f"s{k if k > 9 else k // 2}",
        {"N": "no", "Y": "yes"}[label],
        {"N": 3, "Y": 7}[label],
        "uvw"[k % 5 % 3],
        label,
    )


def test_fit_warns_of_copies_of_the_target_and_of_columns_like_ids(bayeswise: Command, table: Table) -> None:
    path = table("serial;copy;code;other;y", [leaking(k) for k in range(60)])
    warned = fit(bayeswise, path, "-t", "y").err
    assert "column copy: it copies the target" in warned and "Fix: if not: --ignore copy." in warned
    assert "column code: it copies the target" in warned
    assert re.search(r"column serial: \d+ different values in 60 cells: an id\? Fix: --ignore serial\.", warned)
    assert "other" not in warned
    assert "Warning" not in fit(bayeswise, path, "-t", "y", "--ignore", "copy", "code", "serial").err


def test_fit_in_python_gives_the_same_warnings_for_text_and_for_numbers_of_a_frame() -> None:
    columns = dict(
        zip(("serial", "copy", "code", "other", "y"), zip(*map(leaking, range(60)), strict=True), strict=True)
    )
    with pytest.warns(UserWarning) as caught:
        bw.fit(columns, "y", model="naive-bayes")
    told = [str(each.message) for each in caught]
    assert [text.partition(":")[0] for text in told] == ["column serial", "column copy", "column code"]
    assert "if not: ignore=['copy'] or --ignore copy" in told[1]
