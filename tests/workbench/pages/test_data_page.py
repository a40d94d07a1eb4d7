"""What the Data page is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from bayeswise.workbench.pages.data import SAMPLE


def answer_of(client: TestClient, **options: Any) -> dict[str, Any]:
    answer = client.get("/api/data", params=options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_golf_table_has_five_days_without_golf_and_nine_with(client: TestClient) -> None:
    golf = answer_of(client, table="golf.csv", target="play")
    assert golf["rows"] == 14
    assert golf["classes"] == [{"label": "no", "rows": 5}, {"label": "yes", "rows": 9}]
    outlook = next(column for column in golf["columns"] if column["name"] == "outlook")
    assert outlook["kind"] == "category"
    picture = outlook["picture"]
    assert picture["levels"] == ["rainy", "sunny", "overcast"]
    assert picture["counts"] == [[2, 3, 0], [3, 2, 4]]  # no: 2 rainy, 3 sunny; yes: 3, 2 and 4 overcast


def test_a_view_shows_the_command_that_prints_the_same(client: TestClient) -> None:
    golf = answer_of(client, table="golf.csv", target="play", ignore=["wind"], category=["outlook"])
    assert golf["same_as"]["shell"] == "bayeswise look golf.csv --target play --category outlook --ignore wind"
    assert (
        "bw.fit('golf.csv', target='play', kinds={'outlook': 'category'}, ignore=['wind'])" in golf["same_as"]["python"]
    )


def test_what_the_user_says_about_a_column_beats_what_was_inferred(client: TestClient) -> None:
    columns = answer_of(client, table="credit.csv", target="repaid", category=["income"], ignore=["amount"])["columns"]
    assert {c["name"]: c["kind"] for c in columns if c["chosen"]} == {"income": "category", "amount": "ignored"}


def test_counts_are_exact_and_pictures_are_of_a_sample(client: TestClient, folder: Path) -> None:
    rows = 3 * SAMPLE + 1
    lines = (f"{row % 7},{'a' if row % 2 else 'b'}" for row in range(rows))
    (folder / "long.csv").write_text("size,kind\n" + "\n".join(lines) + "\n")
    long = answer_of(client, table="long.csv", target="kind")
    assert long["rows"] == rows
    assert sum(each["rows"] for each in long["classes"]) == rows
    assert SAMPLE / 2 < long["drawn_rows"] <= SAMPLE
    assert np.sum(long["columns"][0]["picture"]["counts"]) == long["drawn_rows"]


def test_different_values_are_counted_or_said_to_be_estimated(client: TestClient, folder: Path) -> None:
    numbers = [f"{row % 9_999 / 8:.3f}" for row in range(40_000)]
    odd = ["unknown", *numbers[1:]]
    (folder / "decimals.csv").write_text("x,odd\n" + "\n".join(map("{},{}".format, numbers, odd)) + "\n")
    x, odd_numbers = answer_of(client, table="decimals.csv")["columns"]
    assert (x["distinct"], x["distinct_exact"]) == (9_999, True)
    assert not odd_numbers["distinct_exact"]  # words among the numbers: only the profile has seen them
    assert odd_numbers["distinct"] == pytest.approx(10_000, rel=0.1)


def test_a_warning_offers_its_remedies(client: TestClient, folder: Path) -> None:
    cells = ["3a", *map(str, range(400))]
    (folder / "odd.csv").write_text("age,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    warnings = answer_of(client, table="odd.csv", target="y")["warnings"]
    age = next(warning for warning in warnings if warning["column"] == "age")
    assert age["invalid"] == ["3a"]
    assert not [
        w
        for w in answer_of(client, table="odd.csv", target="y", null=["3a"])["warnings"]
        if w["column"] == "age" and w["invalid"]
    ]


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ({"table": "golf.csv", "target": "plya"}, 422),
        ({"table": "nothing.csv"}, 404),
        ({"table": "golf.bayeswise"}, 422),
        ({}, 422),
        ({"table": "golf.csv", "colour": "red"}, 422),
    ],
)
def test_what_cannot_be_answered_says_why(client: TestClient, question: dict[str, str], status: int) -> None:
    answer = client.get("/api/data", params=question)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "what", "fix"}


@pytest.mark.parametrize("cells", ["x\n1e308\n-1e308\n5\n", "x\n1\n1\n1\n", "x\n\n\n", "x,y\n", "x\n1\n2\n"])
def test_odd_columns_have_pictures_too(client: TestClient, folder: Path, cells: str) -> None:
    (folder / "odd.csv").write_text(cells)
    assert client.get("/api/data?table=odd.csv&number=x").status_code in (200, 422)


def test_names_in_other_letters_and_with_html_are_text(client: TestClient, folder: Path) -> None:
    name = '<img src=x onerror=alert(1)> "é"'
    (folder / f"{name}.csv").write_text('"<b>a</b>",y\n1,<script>\n2,ok\n')
    answer = client.get("/api/data", params={"table": f"{name}.csv", "target": "y"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["columns"][0]["name"] == "<b>a</b>"
