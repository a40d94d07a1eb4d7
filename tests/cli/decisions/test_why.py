"""decide --why and explain --costs: the story of an action, not of a class."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.evaluation.evaluate import evaluation_of
from bayeswise.evaluation.report import promise_lines
from bayeswise.models.held_out import HeldOut
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

TEST, TOML = EXAMPLES / "credit-test.csv", EXAMPLES / "credit.toml"


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("credit") / "credit.bayeswise"
    bw.fit(str(EXAMPLES / "credit.csv"), target="repaid", model="naive-bayes").save(path)
    return path


def test_why_is_a_column_with_the_reasons_of_each_action(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--why")
    assert answer.code == 0, answer.err
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    model, costs = bw.load(credit), DecisionFile.read(TOML).costs
    new = pd.read_csv(TEST)
    for k in (0, 2, 5):
        cells = new.drop(columns="repaid").iloc[k].to_dict()
        story = bw.explain_action(model, cells, costs)
        assert (rows[k]["action"], rows[k]["runner_up"]) == (story.action, story.rival)
        assert rows[k]["why"] == story.reasons()
        assert "×" in rows[k]["why"]


def test_the_other_columns_stay_as_they_are(bayeswise: Command, credit: Path) -> None:
    plain = list(csv.DictReader(io.StringIO(bayeswise("decide", credit, TEST, "--costs", TOML).out)))
    why = list(csv.DictReader(io.StringIO(bayeswise("decide", credit, TEST, "--costs", TOML, "--why").out)))
    assert [{name: cell for name, cell in row.items() if name != "why"} for row in why] == plain


def test_rows_that_decide_together_have_no_story_of_their_own(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--why", "--at-most", "ask=5%")
    assert answer.code == 2 and "--why is about one row alone" in answer.err


def test_the_page_explains_the_action(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    answer = bayeswise("explain", credit, TEST, "--row-number", 3, "--costs", TOML, "--flip", "--html", page)
    assert answer.code == 0, answer.err
    text = page.read_text()
    assert "Why lend, not refuse?" in text and "Expected cost: lend" in text and "that makes it refuse" in text
    assert "Why yes" not in text


def test_report_ends_with_the_closest_call_of_each_action(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    answer = bayeswise("report", credit, TEST, "--costs", TOML, "-o", page)
    assert answer.code == 0, answer.err
    text = page.read_text()
    assert [text.count(f"Why {action}, not") for action in ("lend", "refuse", "ask")] == [1, 1, 1]


def test_a_report_by_0_1_costs_ends_with_closest_calls_too(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert bayeswise("report", credit, TEST, "-o", page).code == 0
    text = page.read_text()
    assert [text.count(f"Why {state}, not") for state in ("no", "yes")] == [1, 1]


def copies(n_rows: int, seed: int) -> pd.DataFrame:
    """One column, four times: naive Bayes takes it for four witnesses."""
    generator = np.random.default_rng(seed)
    y = generator.random(n_rows) < 0.5
    x = np.where(generator.random(n_rows) < np.where(y, 0.65, 0.35), "u", "v")
    return pd.DataFrame(dict.fromkeys("abcd", x) | {"y": np.where(y, "yes", "no")})


def test_a_promise_that_is_not_kept_is_reported_with_its_remedy(bayeswise: Command, tmp_path: Path) -> None:
    learned, new, model = tmp_path / "learned.csv", tmp_path / "new.csv", tmp_path / "m.bayeswise"
    copies(500, 1).to_csv(learned, index=False)
    copies(500, 2).to_csv(new, index=False)
    fit = ("fit", learned, "-t", "y", "-o", model, "--model", "naive-bayes")
    assert bayeswise(*fit).code == 0
    for rows in ((new,), (learned, "--cv", "10")):
        answer = bayeswise("check", model, *rows)
        assert "The posteriors promised 0." in answer.err and "They are overconfident." in answer.err
        assert "Remedy: calibrate the model: fit --calibrate auto" in answer.err
    assert "promised" not in bayeswise("check", model, learned).err  # learned rows as they are say nothing
    page = tmp_path / "report.html"
    bayeswise("report", model, new, "-o", page)
    assert "They are overconfident." in page.read_text()
    assert bayeswise(*fit, "--calibrate", "auto").code == 0
    assert "promised" not in bayeswise("check", model, new).err


def test_promises_that_are_kept_are_rarely_doubted() -> None:
    """Rows drawn from the model itself: a 95 % interval leaves 0 out in about one of twenty."""
    generator = np.random.default_rng(3)
    reported = 0
    for _ in range(60):
        p = generator.beta(2.0, 2.0, size=200)
        truth = np.where(generator.random(200) < p, "yes", "no")
        found = evaluation_of_posteriors(p, truth)
        reported += bool(promise_lines(found))
    assert reported <= 12  # of two intervals that go together; 60 * 0.1 = 6 on average at most


def evaluation_of_posteriors(p: Any, truth: Any) -> Any:
    known = HeldOut(
        ("no", "yes"),
        np.stack([1.0 - p, p], axis=1),
        (truth == "yes").astype(np.int64),
        np.ones(len(p)),
        np.ones(len(p), dtype=bool),
        "as it is",
    )
    return evaluation_of(known, {"act": {"no": 3, "yes": 0}, "wait": {"no": 0, "yes": 1}})
