"""decide, check, report, thresholds and next-test: what a user with a decision.toml sees."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.decisions import within_capacity
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.posteriors.prior import estimate_prior, shift_prior
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

TEST = EXAMPLES / "credit-test.csv"
TOML = EXAMPLES / "credit.toml"
PLAY = """
[costs]
call = 1.5
go = { no = 7, yes = 0 }
stay = { no = 0, yes = 2 }
"""


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the credit table."""
    path = tmp_path_factory.mktemp("credit") / "credit.bayeswise"
    bw.fit(str(EXAMPLES / "credit.csv"), target="repaid", model="naive-bayes").save(path)
    return path


@pytest.fixture
def play(tmp_path: Path) -> Path:
    path = tmp_path / "play.toml"
    path.write_text(PLAY)
    return path


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# -- decide ---------------------------------------------------------------------------------------------------


def test_decide_writes_what_python_decides(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML)
    assert answer.code == 0, answer.err
    rows = rows_of(answer.out)
    assert list(rows[0])[-5:] == ["action", "expected_cost", "runner_up", "p_no", "p_yes"]
    model = bw.load(credit)
    ours = bw.decide(model.predict_proba(TEST), bw.Costs.read(TOML), states=model.classes, rows=TEST)
    assert [row["action"] for row in rows] == ours.action.tolist()
    assert [row["runner_up"] for row in rows] == ours.runner_up.tolist()
    assert [float(row["expected_cost"]) for row in rows] == ours.least_cost.tolist()
    assert set(ours.action) == {"refuse", "lend", "ask"}
    assert "500 rows: refuse" in answer.err


def test_decide_in_json_and_from_stdin(bayeswise: Command, golf_model: Path, golf: Path, play: Path) -> None:
    answer = bayeswise("decide", golf_model, "-", "--costs", play, "--json", stdin=golf.read_bytes())
    found = json.loads(answer.out)
    assert found["actions"] == ["call", "go", "stay"]
    assert len(found["rows"]) == 14
    assert sum(each["rows"] for each in found["decided"]) == 14
    assert {row["action"] for row in found["rows"]} <= {"call", "go", "stay"}


def test_another_prior_changes_the_decision_without_a_refit(
    bayeswise: Command, golf_model: Path, golf: Path, play: Path
) -> None:
    wet = bayeswise("decide", golf_model, golf, "--costs", play, "--prior", "no=.999", "yes=.001")
    assert {row["action"] for row in rows_of(wet.out)} == {"stay"}
    play.write_text(PLAY + "\n[priors]\nno = 0.999\nyes = 0.001\n")
    assert bayeswise("decide", golf_model, golf, "--costs", play).out == wet.out


def test_a_column_named_action_stays_and_actions_are_not_formulas(
    bayeswise: Command, golf_model: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    table = write("outlook,temperature,humidity,wind,action\nsunny,hot,high,weak,mine\n")
    costs = tmp_path / "costs.csv"
    costs.write_text("action,no,yes\n=go,7,0\n+stay,0,2\n")
    (row,) = rows_of(bayeswise("decide", golf_model, table, "--costs", costs).out)
    assert (row["action"], row["action_2"], row["runner_up"]) == ("mine", "'+stay", "'=go")


# -- limits and unknown rows ----------------------------------------------------------------------------------


def test_at_most_so_many_rows_are_asked_at_the_least_cost(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--at-most", "ask=5%", "lend=200", "--json")
    assert answer.code == 0, answer.err
    output = json.loads(answer.out)
    model = bw.load(credit)
    free = bw.decide(model.predict_proba(TEST), bw.Costs.read(TOML), states=model.classes, rows=TEST)
    ours = within_capacity(free, {"ask": 25, "lend": 200})
    assert [row["action"] for row in output["rows"]] == ours.decisions.action.tolist()
    assert {each["action"]: each["rows"] for each in output["decided"]} == {"refuse": 275, "lend": 200, "ask": 25}
    assert output["expected_cost"] == pytest.approx(ours.decisions.least_cost.sum())
    assert output["price"] == pytest.approx({str(a): p for a, p in ours.price.items()})
    assert output["price"]["ask"] > 0


def test_the_prior_is_estimated_from_the_rows_themselves(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    """Rows of which half are not repaid, by a model that learned one in five: EM finds out without their states."""
    header, *lines = TEST.read_text().splitlines()
    bad = [line for line in lines if line.endswith("no")]
    some = tmp_path / "crisis.csv"
    some.write_text("\n".join([header, *bad, *[line for line in lines if line.endswith("yes")][: len(bad)], ""]))
    answer = bayeswise("decide", credit, some, "--costs", TOML, "--prior", "estimate", "--json")
    assert answer.code == 0, answer.err
    output = json.loads(answer.out)
    model = bw.load(credit)
    before = dict(zip(model.classes, np.exp(model.log_prior).tolist(), strict=True))
    shares = model.predict_proba(some)
    found = estimate_prior(shares, states=model.classes, old=before).prior
    assert output["prior"] == pytest.approx({str(state): p for state, p in found.items()})
    assert output["prior"]["no"] > 1.5 * before["no"]
    moved = shift_prior(shares, states=model.classes, old=before, new=found)
    ours = bw.decide(moved, bw.Costs.read(TOML), states=model.classes, rows=some)
    assert [row["action"] for row in output["rows"]] == ours.action.tolist()
    assert [row["p_no"] for row in output["rows"]] == moved[:, model.classes.index("no")].tolist()
    assert "in these rows" in answer.err


def test_one_limit_is_kept_over_all_chunks_and_said(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--at-most", "ask=10")
    assert sum(row["action"] == "ask" for row in rows_of(answer.out)) == 10
    assert "one more ask would save" in answer.err


@pytest.mark.parametrize(
    ("typed", "message"), [("ask=lots", "not a number of rows"), ("ask=2.5", "not a number"),
    ("sak=3", "did you mean 'ask'"), ("ask=120%", "not a number"), ("ask", "ACTION=N")],
)  # fmt: skip
def test_limits_that_make_no_sense_exit_with_2(bayeswise: Command, credit: Path, typed: str, message: str) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--at-most", typed)
    assert answer.code == 2 and message in answer.err


def test_rows_unlike_any_that_were_learned_are_unknown(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    header, first, *_ = TEST.read_text().splitlines()
    strange = tmp_path / "strange.csv"
    strange.write_text("\n".join([header, first, "9000000,3,late,no,home,yes", ""]))
    answer = bayeswise("decide", credit, strange, "--costs", TOML, "--novelty", "0.001")
    plain, odd = rows_of(answer.out)
    assert (odd["action"], odd["expected_cost"], odd["runner_up"]) == ("unknown", "", "lend")
    assert float(odd["novelty_p"]) < 0.001 < float(plain["novelty_p"])
    assert plain["action"] != "unknown" and "unknown 1;" in answer.err
    assert bayeswise("decide", credit, strange, "--costs", TOML, "--novelty", "2").code == 2


NUMBER = """
target = "price"

[number]
under = 9
over = 1
"""


@pytest.fixture
def houses(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    size = generator.uniform(50, 200, 40)
    price = 3 * size + generator.normal(0, 20, 40)
    lines = [f"{a:.2f},{b:.2f}" for a, b in zip(size, price, strict=True)]
    path = tmp_path / "houses.csv"
    path.write_text("\n".join(["size,price", *lines, ""]))
    (tmp_path / "number.toml").write_text(NUMBER)
    return path


def test_the_best_number_is_a_quantile_of_what_a_regression_predicts(
    bayeswise: Command, houses: Path, tmp_path: Path
) -> None:
    toml, model = tmp_path / "number.toml", tmp_path / "line.bayeswise"
    fitted = bayeswise("fit", houses, "--decision", toml, "--model", "linear", "-o", model)
    assert fitted.code == 0, fitted.err
    answer = bayeswise("decide", model, houses, "--costs", toml, "--json")
    assert answer.code == 0, answer.err
    output = json.loads(answer.out)
    ahead = bw.load(model).predictive(houses)
    law = stats.t(ahead.df, ahead.location, ahead.scale)
    assert [row["action"] for row in output["rows"]] == pytest.approx(law.ppf(0.9).tolist())
    first = stats.t(np.ravel(ahead.df)[0], ahead.location[0], ahead.scale[0])
    risk = first.expect(lambda y: np.where(y > first.ppf(0.9), 9 * (y - first.ppf(0.9)), first.ppf(0.9) - y))
    assert output["rows"][0]["expected_cost"] == pytest.approx(risk, rel=1e-4)
    assert output["expected_cost"] == pytest.approx(sum(row["expected_cost"] for row in output["rows"]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[number]\nunder = 9\n", "too little and too much"),
        ("[number]\nunder = 9\nover = -1\n", "number.over must be a number above 0"),
        ("[number]\nloss = 'cubed'\n", "too little and too much"),
        ("[costs]\na = 1\n", "does not define what a chosen number"),
        ("[number]\nundr = 9\n", "did you mean 'under'"),
    ],
)
def test_bad_costs_of_numbers_exit_with_2(
    bayeswise: Command, houses: Path, tmp_path: Path, text: str, says: str
) -> None:
    toml, model = tmp_path / "bad.toml", tmp_path / "line.bayeswise"
    toml.write_text(text)
    bayeswise("fit", houses, "-t", "price", "--model", "linear", "-o", model)
    answer = bayeswise("decide", model, houses, "--costs", toml)
    assert answer.code == 2 and says in answer.err, answer.err


def test_what_is_about_classes_is_refused_for_numbers(
    bayeswise: Command, houses: Path, tmp_path: Path, play: Path
) -> None:
    toml, model = tmp_path / "number.toml", tmp_path / "line.bayeswise"
    bayeswise("fit", houses, "-t", "price", "--model", "linear", "-o", model)
    assert bayeswise("decide", model, houses, "--costs", toml, "--at-most", "a=3").code == 2
    for verb in ("check", "report", "next-test"):
        files = [] if verb == "next-test" else [houses]
        answer = bayeswise(verb, model, *files, "--costs", play)
        assert answer.code == 4 and "linear-regression" in answer.err, answer.err


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("[costs.go]\nno = 7\n[costs.stay]\nno = 0\nyes = 2\n", 2, "'go' has no cost in state 'yes'"),
        ("[costs.go]\nno = 7\nyes = 'inf'\n", 2, "depend"),
        ("[costs.go]\nno = 7\nyes = inf\n", 2, "'go' in state 'yes' must be finite"),
        ("[costs.go]\nno = 7\nyes = '2 *'\n", 2, "'go' in state 'yes': the formula"),
        ("[costs.go]\nno = 7\nmaybe = 1\n", 2, "'maybe' in costs.go is not a class"),
        ("[cost.go]\nno = 7\n", 2, "unknown entry 'cost'"),
        ("costs = 3", 2, "costs must be a table; found 3"),
        ("[costs", 2, "is not TOML"),
        ("target = 'rain'\n" + PLAY, 4, "is about 'rain'"),
        (PLAY + "[prior]\nno = 0.9\nyes = 0.9\n", 2, "sums to 1.8"),
        (PLAY + "[prices]\nwind = -1\n", 2, "prices.wind must be a number from 0 on"),
    ],
)
def test_bad_costs_exit_with_2_and_name_the_cell(
    bayeswise: Command, golf_model: Path, golf: Path, tmp_path: Path, text: str, code: int, says: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    answer = bayeswise("decide", golf_model, golf, "--costs", path)
    if says == "depend":  # 'inf' is the name of a column that the table does not have
        assert answer.code == 4 and "'inf'" in answer.err
        return
    assert (answer.code, answer.out) == (code, ""), answer.err
    assert says in answer.err


def test_costs_that_are_not_there_exit_with_3(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    assert bayeswise("decide", golf_model, golf, "--costs", "nowhere.toml").code == 3


def test_a_warning_is_shown_and_the_work_is_done(
    bayeswise: Command, golf_model: Path, golf: Path, tmp_path: Path
) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(PLAY.replace("1.5", "6"))
    answer = bayeswise("decide", golf_model, golf, "--costs", path)
    assert answer.code == 0
    assert "'call' is never best" in answer.err or "'call' can never win" in answer.err


# -- check and report -----------------------------------------------------------------------------------------


def test_check_reports_what_python_reports_and_exits_with_5_on_failure(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("check", credit, TEST, "--costs", TOML, "--json", "--max-cost", "0")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    ours = bw.evaluate(bw.load(credit), TEST, bw.Costs.read(TOML))
    assert found["cost_per_case"]["mean"] == ours.cost_per_case.mean
    assert found["cost_per_case"]["mean"] < found["always"][found["best_constant"]]["mean"]
    assert found["perfect"]["mean"] < found["cost_per_case"]["mean"]
    missed = bayeswise("check", credit, TEST, "--costs", TOML, "--max-cost", "-10000")
    assert missed.code == 5
    assert "least expected cost" in missed.out
    assert "more than -10000" in missed.err


@pytest.mark.parametrize(("cv", "how"), [("loo", "leave-one-out"), ("5", "5 folds")])
def test_check_leaves_learned_rows_out(bayeswise: Command, golf_model: Path, golf: Path, cv: str, how: str) -> None:
    answer = bayeswise("check", golf_model, golf, "--cv", cv, "--json")
    assert json.loads(answer.out)["how"] == how
    assert bayeswise("check", golf_model, golf, "--cv", "1").code == 2


def test_the_report_is_one_page_that_loads_nothing(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    answer = bayeswise("report", credit, TEST, "--costs", TOML, "-o", page)
    assert answer.code == 0, answer.err
    text = page.read_text(encoding="utf-8")
    assert "http:" not in text and "https:" not in text and "<script" not in text
    assert "default-src 'none'" in text
    drawings = [part.split("</svg>")[0] + "</svg>" for part in text.split("<svg")[1:]]
    assert len(drawings) >= 4
    for drawing in drawings:
        ElementTree.fromstring("<svg" + drawing)
        assert "nan" not in drawing
    assert "least expected cost" in text


# -- thresholds and next-test ---------------------------------------------------------------------------------


def test_thresholds_say_the_policy(bayeswise: Command, play: Path) -> None:
    answer = bayeswise("thresholds", play)
    assert answer.out == "stay if P(no) > 0.25, go if P(no) < 0.2143, else call\n"
    assert bayeswise("thresholds", "--costs", play).out == answer.out
    ratio = bayeswise("thresholds", play, "--prior", "no=.4", "yes=.6", "--json")
    found = json.loads(ratio.out)
    assert found["likelihood_ratio"].startswith("stay if p(row | no) / p(row | yes) > 0.5")
    assert [piece["action"] for piece in found["pieces"]] == ["stay", "call", "go"]


def test_thresholds_of_the_row_need_the_row(bayeswise: Command) -> None:
    assert bayeswise("thresholds", TOML).code == 2
    answer = bayeswise("thresholds", TOML, "--row", "amount=5000")
    assert answer.out.startswith("lend if P(yes) >= 0.9167")


def test_next_test_is_worth_what_trying_all_outcomes_says(bayeswise: Command, golf_model: Path, play: Path) -> None:
    answer = bayeswise("next-test", golf_model, "--row", "outlook=rainy", "--costs", play, "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert {test["column"] for test in found["tests"]} == {"temperature", "humidity", "wind"}
    model = bw.load(golf_model)
    costs = bw.Costs.read(play)
    best = found["tests"][0]
    row = {"outlook": "rainy", "temperature": None, "humidity": None, "wind": None}
    now = bw.decide(model.predict_proba([row]), costs, states=model.classes).least_cost[0]
    prior = model.predict_proba([row])[0]
    after = 0.0
    for outcome in model.alternatives(best["column"]):
        shares = prior * np.exp(outcome.log_likelihood)
        decided = bw.decide((shares / shares.sum())[None], costs, states=model.classes)
        after += shares.sum() * decided.least_cost[0]
    assert found["expected_cost"] == pytest.approx(now)
    assert best["value"] == pytest.approx(now - after)
    assert found["next"] == best["column"]


def test_a_test_that_is_too_dear_is_not_made(bayeswise: Command, golf_model: Path, play: Path) -> None:
    prices = ["--price", "temperature=9", "humidity=9", "wind=9"]
    answer = bayeswise("next-test", golf_model, "--row", "outlook=sunny", "--costs", play, *prices)
    assert answer.out.splitlines()[-1].startswith("stop and ")
    ahead = bayeswise("next-test", golf_model, "--costs", play, "--depth", "2", "--json")
    found = json.loads(ahead.out)
    assert found["planned_cost"] <= found["expected_cost"]
    assert found["tests"][0]["value"] <= found["perfect_information"] + 1e-9


def test_gaussian_models_have_tests_one_at_a_time(bayeswise: Command, tmp_path: Path, play: Path) -> None:
    generator = np.random.default_rng(0)
    y = np.array(["no", "yes"])[generator.integers(0, 2, 40)]
    path = tmp_path / "gauss.bayeswise"
    bw.GaussianBayes().fit(generator.normal(size=(40, 2)), y).model_.save(path)
    answer = bayeswise("next-test", path, "--costs", play, "--row", "x0=1.5", "--json")
    assert answer.code == 0, answer.err
    assert [test["column"] for test in json.loads(answer.out)["tests"]] == ["x1"]
    deeper = bayeswise("next-test", path, "--costs", play, "--depth", "2")
    assert deeper.code == 2 and "one at a time" in deeper.err


def test_texts_are_left_out_with_a_reason(bayeswise: Command, tmp_path: Path, play: Path) -> None:
    rows = [{"words": f"{w} {k} and more words here", "wind": w, "play": p} for k, (w, p) in enumerate(
        zip("aabbabab" * 3, ["yes", "no", "no", "yes", "yes", "yes", "no", "no"] * 3, strict=True)
    )]  # fmt: skip
    path = tmp_path / "texts.bayeswise"
    bw.fit(rows, target="play", kinds={"words": "text"}, model="naive-bayes").save(path)
    answer = bayeswise("next-test", path, "--costs", play)
    assert "words: left out, a text has no list of outcomes" in answer.out
    output = json.loads(bayeswise("next-test", path, "--costs", play, "--json").out)
    assert output["left_out"] == [{"column": "words", "reason": "a text has no list of outcomes"}]


def test_number_columns_have_a_value_too(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("next-test", credit, "--row", "amount=5000", "--costs", TOML, "--json")
    found = {test["column"]: test for test in json.loads(answer.out)["tests"]}
    assert found["income"]["value"] > 0
    assert found["history"]["price"] == 20


# -- one file for all -----------------------------------------------------------------------------------------

SERVES_ALL = """
target = "repaid"
reject = "ask"
kinds = { purpose = "ignore", amount = "number" }

[costs]
refuse = 0
lend = { yes = "-0.12 * amount", no = "0.6 * amount" }
ask = { yes = "250 - 0.12 * amount", no = 250 }

[prior]
yes = 0.9
no = 0.1

[prices]
history = 20
"""


def test_one_file_serves_fit_and_decide_and_python(bayeswise: Command, tmp_path: Path) -> None:
    toml, model = tmp_path / "decision.toml", tmp_path / "loan.bayeswise"
    toml.write_text(SERVES_ALL)
    fitted = bayeswise("fit", EXAMPLES / "credit.csv", "--decision", toml, "-o", model, "--model", "naive-bayes")
    assert fitted.code == 0, fitted.err
    decision = DecisionFile.read(toml)
    ours = bw.fit(str(EXAMPLES / "credit.csv"), target=decision.target, kinds=dict(decision.kinds), model="naive-bayes")
    assert bw.load(model) == ours and ours.schema["purpose"].kind == "ignored"
    answer = bayeswise("decide", model, TEST, "--costs", toml, "--json")
    assert answer.code == 0, answer.err
    posterior = shift_prior(
        ours.predict_proba(TEST),
        states=ours.classes,
        old=dict(zip(ours.classes, np.exp(ours.log_prior), strict=True)),
        new={"yes": 0.9, "no": 0.1},
    )
    decided = bw.decide(posterior, decision.costs, states=ours.classes, rows=TEST)
    assert [row["action"] for row in json.loads(answer.out)["rows"]] == decided.action.tolist()
    assert "price 20" in bayeswise("next-test", model, "--row", "amount=5000", "--costs", toml).out


def test_what_is_typed_beats_the_file_and_bad_kinds_are_named(bayeswise: Command, tmp_path: Path) -> None:
    toml, model = tmp_path / "decision.toml", tmp_path / "loan.bayeswise"
    toml.write_text(SERVES_ALL)
    kept = bayeswise(
        "fit",
        EXAMPLES / "credit.csv",
        "--decision",
        toml,
        "--category",
        "purpose",
        "-o",
        model,
        "--json",
        "--model",
        "naive-bayes",
    )
    kinds = {each["name"]: each["kind"] for each in json.loads(kept.out)["columns"]}
    assert kinds["purpose"] == "category"
    toml.write_text(SERVES_ALL.replace('"ignore"', '"categry"'))
    bad = bayeswise("fit", EXAMPLES / "credit.csv", "--decision", toml, "-o", model, "--model", "naive-bayes")
    assert bad.code == 2 and "kinds.purpose" in bad.err and "'category'" in bad.err
