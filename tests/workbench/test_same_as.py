"""The same on the command line and in Python: lines that a page offers to copy are run, and say what the page says."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import bayeswise as bw
from tests.workbench.conftest import Tab

Run = Callable[[dict[str, str]], tuple[str, dict[str, Any]]]
LEND = {"lend": {"no": "0.5 * amount", "yes": -100.0}, "refuse": {"no": 0.0, "yes": 0.0}}


@pytest.fixture
def run(bayeswise: Any) -> Run:
    """What the command prints, and what the lines of Python define and print."""

    def both(same: dict[str, str]) -> tuple[str, dict[str, Any]]:
        [line] = [line for line in same["shell"].splitlines() if not line.startswith("#")]
        words = shlex.split(line)
        assert words[0] == "bayeswise"
        said = bayeswise(*words[1:])
        assert said.code == 0, said.err
        defined: dict[str, Any] = {}
        with redirect_stdout(io.StringIO()) as printed:
            exec(same["python"], defined)
        return said.out, {**defined, "printed": printed.getvalue()}

    return both


@pytest.fixture
def credit(client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A workspace with a model of the loans, which the lines are run in."""
    monkeypatch.chdir(folder)
    bw.fit("credit.csv", target="repaid", ignore=["purpose"], model="naive-bayes").save("credit.bayeswise")
    text = Path("credit.toml").read_text()
    Path("elsewhere.toml").write_text(f"{text}\n[prior]\nno = 0.4\nyes = 0.6\n")
    return client


def answer_of(client: TestClient, path: str, **fields: Any) -> dict[str, Any]:
    answer = client.post(path, json=fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_columns_are_looked_at_with_other_null_words_and_without_a_target(credit: TestClient, run: Run) -> None:
    view = credit.get("/api/data", params={"table": "credit.csv", "ignore": "purpose", "null": ["NA", "late"]}).json()
    output, defined = run(view["same_as"])
    assert "null words: late" in output and "null words: late" in defined["printed"]
    view = credit.get("/api/data", params={"table": "golf.csv", "target": "play", "category": "wind"}).json()
    _, defined = run(view["same_as"])
    assert defined["model"].classes == ("no", "yes")


@pytest.mark.parametrize("table", ["credit-test.csv", "credit.csv"])  # the latter was learned: rows are left out
@pytest.mark.parametrize("decision", [None, "credit.toml", "elsewhere.toml"])
def test_costs_and_trust_are_those_of_check(credit: TestClient, run: Run, table: str, decision: str | None) -> None:
    case = {"model": "credit.bayeswise", "table": table, "decision": decision}
    view = answer_of(credit, "/api/costs/evaluate", **case)
    output, defined = run(view["same_as"])
    mean = view["facts"]["cost_per_case"]["mean"]
    assert defined["found"].cost_per_case.mean == pytest.approx(mean, rel=1e-12)
    assert f"{mean:.4g}" in output
    trust = credit.get("/api/trust", params={name: word for name, word in case.items() if word}).json()
    assert trust["facts"]["cost_per_case"]["mean"] == pytest.approx(mean, rel=1e-12)
    assert "--costs" in trust["same_as"]["shell"] or decision is None


def test_costs_that_are_not_saved_stand_in_python_and_the_command_says_so(credit: TestClient, run: Run) -> None:
    view = answer_of(credit, "/api/costs/evaluate", model="credit.bayeswise", table="credit-test.csv", costs=LEND)
    assert view["same_as"]["shell"].startswith("# when these costs are saved as decision.toml:\n")
    saved = credit.put("/api/decision", json={"file": "decision.toml", "version": None, "document": {"costs": LEND}})
    assert saved.status_code == 200
    _, defined = run(view["same_as"])
    assert defined["found"].cost_per_case.mean == pytest.approx(view["facts"]["cost_per_case"]["mean"])


def test_rows_without_a_state_are_decided(credit: TestClient, run: Run) -> None:
    rows = {"model": "golf.bayeswise", "table": "golf-tomorrow.csv"}
    output, defined = run(answer_of(credit, "/api/costs/same_as", **rows, decision="golf.toml"))
    actions = [row["action"] for row in csv.DictReader(output.splitlines())]
    assert actions == ["stay", "book", "book"] == [str(defined["found"].actions[k]) for k in defined["found"].best]
    _, defined = run(credit.get("/api/costs/rows", params=rows).json()["same_as"])
    assert defined["found"].shape == (3, 2)


@pytest.mark.parametrize("file", ["credit.toml", "elsewhere.toml", None])
def test_limits_hold_for_saved_and_for_unsaved_costs(credit: TestClient, run: Run, file: str | None) -> None:
    read = credit.get("/api/decision", params={"file": file or "credit.toml"}).json()["document"]
    document = {"costs": LEND} if file is None else read
    case = {"model": "credit.bayeswise", "table": "credit-test.csv", "file": file, "document": document}
    view = answer_of(credit, "/api/costs/limited", **case, at_most={"lend": {"rows": 40}})
    if file is None:
        credit.put("/api/decision", json={"file": "decision.toml", "version": None, "document": document})
    output, defined = run(view["same_as"])
    costs = [float(row["expected_cost"]) for row in csv.DictReader(output.splitlines())]
    assert sum(costs) / len(costs) == pytest.approx(view["expected"])
    assert float(defined["decisions"].least_cost.mean()) == pytest.approx(view["unlimited"])


@pytest.mark.parametrize("decision", [None, "credit.toml", "elsewhere.toml"])
def test_a_case_with_a_missing_value_and_a_column_of_no_use_is_explained(
    credit: TestClient, run: Run, decision: str | None
) -> None:
    cells = {"income": "2240", "amount": "2100", "history": None, "employed": "yes", "colour": "red", "repaid": "yes"}
    view = answer_of(credit, "/api/explain", model="credit.bayeswise", cells=cells, decision=decision)
    output, defined = run(view["same_as"])
    said = view["action"]["action"] if view["action"] else view["most_probable"]
    assert said in output and said in defined["printed"]


def test_a_fit_with_settings_is_the_same_model(credit: TestClient, run: Run) -> None:
    choice = {"table": "credit.csv", "target": "repaid", "ignore": ["purpose"], "null": ["NA"], "output": "a.bayeswise"}
    settings = {"smoothing": 2, "prior": ["no=0.4", "yes=0.6"], "shared-variance": True}
    _, defined = run(answer_of(credit, "/api/fit/same_as", **choice, model="naive-bayes", settings=settings))
    model = bw.load("a.bayeswise")
    assert model.settings == defined["model"].settings
    assert (model.settings.smoothing, model.settings.shared_variance) == (2, True)
    assert model.settings.class_prior == {"no": 0.4, "yes": 0.6}
    assert model.schema.null_words == defined["model"].schema.null_words


@pytest.mark.parametrize("by_bits", [True, False])
def test_a_comparison_is_the_same_comparison(credit: TestClient, run: Run, by_bits: bool) -> None:
    choice = {"table": "golf.csv", "target": "play", "ignore": ["wind"], "by_bits": by_bits, "folds": 3}
    output, defined = run(answer_of(credit, "/api/compare/same_as", **choice, models=["naive-bayes", "averaged"]))
    best = defined["found"][0] if by_bits else defined["found"].best
    assert best.name in output


def test_settings_that_were_moved_are_those_of_a_fit_of_the_same_columns(credit: TestClient, run: Run) -> None:
    moved = {"smoothing": 7.0, "class_prior": {"no": 0.3, "yes": 0.7}}
    view = answer_of(credit, "/api/model/live", model="credit.bayeswise", table="credit.csv", **moved)
    run({**view["same_as"], "shell": f"{view['same_as']['shell']} --output moved.bayeswise"})
    model = bw.load("credit.bayeswise").changed(**moved)
    assert bw.load("moved.bayeswise").predict_proba("credit-test.csv") == pytest.approx(
        model.predict_proba("credit-test.csv"), rel=1e-12
    )


@pytest.mark.parametrize(
    ("lesson", "numbers", "shown", "said"),
    [
        ("bayes-rule", "&prior=0.01&sensitivity=0.9&false_positives=0.05", "0.1538", "0.153846"),
        ("boundary", "&boundary=24", "0.10134", "0.1013"),
        ("coin", "&a=3&heads=7&tails=2", "Beta(10, 4)", "BetaPrior(successes=10, failures=4)"),
        ("smoothing", "&alpha=1", "0.1250", "0.125"),
        ("counted-twice", "&copies=2&yes=0.8", "0.8000", "0.8"),
    ],
)
def test_lessons_are_those_of_the_package(
    tab: Tab, bayeswise: Any, lesson: str, numbers: str, shown: str, said: str
) -> None:
    page = tab.open(f"/learn?lesson={lesson}{numbers}")
    expect(page.get_by_role("status")).to_contain_text(shown)
    shell, python = (box.inner_text() for box in page.locator(".same pre").all())
    answer = bayeswise(*shlex.split(shell)[1:])
    assert answer.code == 0, answer.err
    assert said in answer.out
    with redirect_stdout(io.StringIO()) as printed:
        exec(python, {})
    assert said in printed.getvalue()


def test_classes_in_a_plane_are_drawn_by_python_alone(tab: Tab) -> None:
    page = tab.open("/learn?lesson=shapes&shared=1&x_a=-2")
    [box] = page.locator(".same pre").all()
    defined: dict[str, Any] = {}
    exec(box.inner_text(), defined)
    assert defined["plane"].mean[0].tolist() == [-2.0, 0.0]
