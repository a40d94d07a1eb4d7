"""Gaussian classes and regressions on the command line, from `fit` to `check`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import bayeswise as bw

Command: TypeAlias = Callable[..., Any]

KINDS = {
    "gaussian": ("-t", "ill", "--model", "gaussian", "--ignore", "colour", "--ignore", "price"),
    "logistic": ("-t", "ill", "--model", "logistic", "--ignore", "price"),
    "linear": ("-t", "price", "--model", "linear", "--ignore", "ill"),
}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """120 rows: two numbers, a category, a class and a number to predict."""
    generator = np.random.default_rng(0)
    lines = ["height,width,colour,ill,price"]
    for _ in range(120):
        height, width, code = generator.normal(170, 10), generator.normal(3, 0.5), generator.integers(3)
        score = 0.1 * (height - 170) + width - 3 + 0.5 * code
        ill = "yes" if score + generator.logistic() > 0.5 else "no"
        price = 100 + 20 * score + generator.normal(0, 2)
        lines.append(f"{height:.2f},{width:.3f},{('blue', 'green', 'red')[code]},{ill},{price:.2f}")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def fitted(tmp_path: Path, visits: Path, bayeswise: Command) -> Callable[..., Path]:
    """Fit a kind of model to the visits."""

    def fit(kind: str, *words: str) -> Path:
        path = tmp_path / f"{kind}.bayeswise"
        answer = bayeswise("fit", visits, *KINDS[kind], *words, "-o", path)
        assert answer.code == 0, answer.err
        return path

    return fit


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# -- fit and inspect ------------------------------------------------------------------------------------------


def test_options_reach_the_settings(fitted: Callable[..., Path]) -> None:
    gaussian = bw.load(fitted("gaussian", "--covariance", "shared", "--divisor", "n-K", "--shrinkage", "auto"))
    assert (gaussian.settings.covariance, gaussian.settings.variance_divisor, gaussian.settings.shrinkage) == (
        "shared",
        "n-K",
        "auto",
    )
    given = bw.load(fitted("gaussian", "--prior", "yes=.2", "--predictive", "student-t")).settings
    assert given.class_prior == {"no": 0.8, "yes": 0.2} and given.predictive == "student-t"
    logistic = bw.load(fitted("logistic", "--prior", "student-t", "--scale", "2", "--df", "3", "--marginalize"))
    assert (logistic.settings.prior, logistic.settings.scale, logistic.settings.df) == ("student-t", 2.0, 3.0)
    assert logistic.settings.marginalize
    linear = bw.load(fitted("linear", "--prior", "none", "--no-intercept", "--no-standardise"))
    assert linear.settings.prior is None and not linear.settings.fit_intercept and not linear.settings.standardise
    robust = bw.load(fitted("linear", "--likelihood", "student-t", "--missing", "mean"))
    assert robust.settings.likelihood == "student-t" and robust.settings.missing == "mean"


def test_the_page_has_weights_in_original_units_and_names_the_reference(
    fitted: Callable[..., Path], bayeswise: Command
) -> None:
    path = fitted("linear", "--scale", "evidence")
    page = bayeswise("inspect", path).out
    for words in ("price = intercept + weights . row", "blue (reference)", "none: solved from exact moments"):
        assert words in page
    facts = json.loads(bayeswise("inspect", path, "--json").out)
    model = bw.load(path)
    assert facts["references"] == {"colour": "blue"}
    assert [each["weight"] for each in facts["weights"]] == model.weights.tolist()
    assert [(each["column"], each["level"]) for each in facts["weights"]] == list(model.features.names)
    assert facts["scale"] == pytest.approx(model.scale) and facts["log_evidence"] == pytest.approx(model.log_evidence())
    assert facts["intercept"] == pytest.approx(model.intercept) and facts["classes"] == {}


def test_the_certificate_of_a_logistic_model_is_shown(fitted: Callable[..., Path], bayeswise: Command) -> None:
    path = fitted("logistic")
    assert "log-odds of yes against no" in bayeswise("inspect", path).out
    facts = json.loads(bayeswise("inspect", path, "--json").out)
    assert facts["certificate"]["converged"] and facts["certificate"]["gradient_norm"] < 1e-8
    assert sum(facts["classes"].values()) == 120 and facts["n_free_parameters"] == 5
    assert facts["weights"][0]["weight"] == pytest.approx(bw.load(path).weights[1, 0])


def test_fit_says_what_was_learned_as_json(bayeswise: Command, visits: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", visits, *KINDS["linear"], "-o", tmp_path / "m", "--json")
    facts = json.loads(answer.out)
    assert facts["rows"] == 120 and facts["likelihood"] == "gaussian" and len(facts["weights"]) == 4
    assert {column["name"]: column["family"] for column in facts["columns"]} == {
        "height": "linear",
        "width": "linear",
        "colour": "indicators",
        "ill": None,
    }


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (
            ("-t", "ill", "--model", "naive-bayes", "--shrinkage", "auto"),
            2,
            "--shrinkage is not an option of a naive-bayes model",
        ),
        (
            ("-t", "ill", "--model", "logistic", "--smoothing", "1"),
            2,
            "--smoothing is not an option of a logistic model",
        ),
        (("-t", "ill", "--model", "logistic", "--prior", "yes=.5"), 2, "is that of its weights"),
        (
            ("-t", "price", "--model", "linear", "--missing", "level"),
            2,
            "--missing level is not valid for a linear model",
        ),
        (("-t", "price", "--model", "linear", "--scale", "wide"), 2, "--scale is 'wide'"),
        (("-t", "ill", "--model", "linear"), 3, "linear regression predicts a number"),
        (("-t", "price", "--model", "logistic"), 3, "a measurement with"),
        (("-t", "price", "--model", "linear", "--prior", "none", "--scale", "evidence"), 2, "scale='evidence' needs"),
    ],
)
def test_what_does_not_fit_together_is_said(
    bayeswise: Command, visits: Path, tmp_path: Path, words: tuple[str, ...], code: int, what: str
) -> None:
    answer = bayeswise("fit", visits, *words, "-o", tmp_path / "m")
    assert (answer.code, answer.out) == (code, "")
    assert what in answer.err and "Fix:" in answer.err
    assert not (tmp_path / "m").exists()


def test_gaussian_classes_say_which_columns_they_leave_out(bayeswise: Command, visits: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", visits, "-t", "ill", "--model", "gaussian", "-o", tmp_path / "m")
    assert answer.code == 0 and "left out: 'colour' (category)" in answer.err


def test_warnings_are_sentences(bayeswise: Command, tmp_path: Path, write: Callable[..., Path]) -> None:
    table = write("x,twice,y\n" + "".join(f"{k}.5,{2 * k + 1},{'ab'[k % 2]}\n" for k in range(12)))
    words = ("-t", "y", "--model", "gaussian", "--number", "x", "--number", "twice")
    answer = bayeswise("fit", table, *words, "-o", tmp_path / "m")
    assert answer.code == 0
    assert "Warning: the covariance is singular" in answer.err and ".py" not in answer.err


# -- predict --------------------------------------------------------------------------------------------------


def test_a_number_is_answered_with_mean_stddev_and_quantiles(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command
) -> None:
    path = fitted("linear")
    answer = rows_of(bayeswise("predict", path, visits, "--quantiles", ".05,.5,.95").out)
    model = bw.load(path)
    ahead = model.predictive(str(visits))
    assert [float(row["predicted"]) for row in answer] == model.predict(str(visits)).tolist()
    assert [float(row["stddev"]) for row in answer] == ahead.stddev.tolist()
    assert [float(row["q_0.05"]) for row in answer] == ahead.quantile(0.05).tolist()
    assert list(answer[0])[-4:] == ["stddev", "q_0.05", "q_0.5", "q_0.95"]


def test_as_many_weights_as_rows_leave_the_noise_unknown(
    bayeswise: Command, write: Callable[..., Path], tmp_path: Path
) -> None:
    table = write("x,y\n0.5,1\n1.5,3\n")
    words = ("-t", "y", "--model", "linear", "--prior", "none", "--number", "x")
    assert bayeswise("fit", table, *words, "-o", tmp_path / "m").code == 0
    answer = rows_of(bayeswise("predict", tmp_path / "m", table, "--columns", "x").out)
    assert [(float(row["y"]), row["stddev"]) for row in answer] == [(1.0, "inf"), (3.0, "inf")]
    refused = bayeswise("predict", tmp_path / "m", table, "--quantiles", ".5")
    assert refused.code == 4 and "no degree of freedom" in refused.err


def test_a_logistic_model_answers_with_classes_and_probabilities(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command
) -> None:
    path = fitted("logistic")
    answer = rows_of(bayeswise("predict", path, visits, "--proba").out)
    model = bw.load(path)
    assert [row["predicted"] for row in answer] == model.predict(str(visits))
    assert [float(row["p_yes"]) for row in answer] == model.predict_proba(str(visits))[:, 1].tolist()


def test_what_a_model_does_not_have_is_refused(fitted: Callable[..., Path], visits: Path, bayeswise: Command) -> None:
    linear, logistic = fitted("linear"), fitted("logistic")
    for words, code, what in (
        ((linear, visits, "--proba"), 2, "--proba is about classes"),
        ((logistic, visits, "--quantiles", ".5"), 2, "--quantiles is about numbers"),
        ((linear, visits, "--quantiles", "5"), 2, "--quantiles has '5'"),
        ((logistic, visits, "--evidence"), 4, "has no p(row)"),
    ):
        answer = bayeswise("predict", *words)
        assert (answer.code, answer.out) == (code, "")
        assert what in answer.err


def test_a_missing_value_is_an_error_unless_it_was_to_be_a_mean(
    fitted: Callable[..., Path], bayeswise: Command, write: Callable[..., Path]
) -> None:
    new = write("height,width,colour\n180,3,red\n170,,violet\n", "new.csv")
    refused = bayeswise("predict", fitted("linear", "--missing", "error"), new)
    assert (refused.code, refused.out) == (4, "")
    assert "'width' is missing (NaN) in row 2" in refused.err and "--missing indicator" in refused.err
    answer = bayeswise("predict", fitted("linear", "--missing", "mean"), new)
    assert answer.code == 0 and len(rows_of(answer.out)) == 2
    assert "width: 1 cell is missing" in answer.err and "colour: 1 cell is unseen" in answer.err


# -- why ------------------------------------------------------------------------------------------------------


def test_a_gaussian_model_says_why_with_distances(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command
) -> None:
    path = fitted("gaussian")
    page = bayeswise("explain", path, visits, "--row-number", "3").out
    assert "each column given those before it" in page and "Mahalanobis distance to the mean of no" in page
    facts = json.loads(bayeswise("explain", path, visits, "--row-number", "3", "--json").out)
    model = bw.load(path)
    assert list(facts["mahalanobis"].values()) == pytest.approx(model.mahalanobis(str(visits))[2].tolist())
    assert facts["posterior"] == pytest.approx(model.predict_proba(str(visits))[2].tolist())
    refused = bayeswise("explain", path, visits, "--flip")
    assert refused.code == 4 and "they interact" in refused.err


def test_what_columns_add_to_a_number_is_the_number(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command
) -> None:
    path = fitted("linear")
    facts = json.loads(bayeswise("explain", path, visits, "--row-number", "2", "--json").out)
    total = facts["at_means"] + sum(part["amount"] for part in facts["contributions"])
    assert total == pytest.approx(bw.load(path).predict(str(visits))[1], rel=1e-13)
    assert "at the means" in bayeswise("explain", path, visits, "--row-number", "2").out
    refused = bayeswise("explain", path, visits, "--against", "yes")
    assert refused.code == 2 and "answers with a number" in refused.err


def test_a_logistic_model_says_which_change_would_change_its_mind(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command
) -> None:
    answer = bayeswise("explain", fitted("logistic"), visits, "--flip", "--json")
    facts = json.loads(answer.out)
    assert len(facts["flip"]["changes"]) == 1
    assert facts["posterior"] == pytest.approx(bw.load(fitted("logistic")).predict_proba(str(visits))[0].tolist())


# -- rows come and go -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_halves_merge_to_the_whole_and_a_half_is_forgotten(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command, tmp_path: Path, kind: str
) -> None:
    lines = visits.read_text().splitlines()
    halves = [tmp_path / "0.csv", tmp_path / "1.csv"]
    for k, half in enumerate(halves):
        half.write_text("\n".join([lines[0], *lines[1:][k::2]]) + "\n")
    whole = fitted(kind)
    first, second, both, left = (tmp_path / f"{name}.bayeswise" for name in ("first", "second", "both", "left"))
    assert bayeswise("fit", halves[0], "--like", whole, "-o", first).code == 0
    assert bayeswise("fit", halves[1], "--like", whole, "-o", second).code == 0
    merged = bayeswise("merge", first, second, "-o", both, "--json")
    assert json.loads(merged.out)["rows"] == 120
    assert both.read_bytes() == whole.read_bytes()
    forgot = bayeswise("forget", whole, halves[1], "-o", left, "--json")
    assert json.loads(forgot.out)["weight_forgotten"] == 60
    assert left.read_bytes() == first.read_bytes()
    assert bayeswise("merge", first, second, "-o", both).code == 0
    assert bayeswise("forget", whole, visits, "-o", left).code == 0
    assert bayeswise("inspect", left).code == 0


@pytest.mark.parametrize(
    ("words", "without_rows"),
    [
        (("logistic",), "Fix: give the rows that remain"),
        (("linear", "--likelihood", "laplace"), "Fix: fit it again without these rows"),
    ],
)
def test_weights_do_not_add_up(
    fitted: Callable[..., Path],
    visits: Path,
    bayeswise: Command,
    tmp_path: Path,
    words: tuple[str, ...],
    without_rows: str,
) -> None:
    path = fitted(*words)
    for verb, fix in ((("merge", path, path), "Fix: fit"), (("forget", path, visits), without_rows)):
        refused = bayeswise(*verb, "-o", tmp_path / "new")
        assert refused.code == 4 and fix in refused.err and not (tmp_path / "new").exists()


# -- decisions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "logistic"])
def test_classifiers_decide_and_are_checked(
    fitted: Callable[..., Path], visits: Path, bayeswise: Command, write: Callable[..., Path], kind: str
) -> None:
    costs = write('target = "ill"\n[costs.treat]\nyes = 1\nno = 2\n[costs.wait]\nyes = 10\nno = 0\n', "costs.toml")
    path = fitted(kind)
    decided = rows_of(bayeswise("decide", path, visits, "--costs", costs, "--prior", "yes=.3").out)
    shares = bw.load(path).predict_proba(str(visits))[:, 1]
    odds = shares / (1 - shares) * (0.3 / 0.7) * np.exp(-np.diff(bw.load(path).log_prior)[0])
    assert [float(row["p_yes"]) for row in decided] == pytest.approx((odds / (1 + odds)).tolist())
    assert {row["action"] for row in decided} == {"treat", "wait"}
    assert bayeswise("check", path, visits, "--costs", costs).code == 0


def test_a_number_is_not_decided_about(fitted: Callable[..., Path], visits: Path, bayeswise: Command) -> None:
    refused = bayeswise("check", fitted("linear"), visits)
    assert refused.code == 4 and "linear-regression" in refused.err


@pytest.mark.parametrize("n_rows", [2, 3, 4, 40])
def test_a_target_that_never_varies_is_certain(bayeswise: Command, tmp_path: Path, n_rows: int) -> None:
    table = tmp_path / "flat.csv"
    table.write_text("x,y\n" + "".join(f"{k},3\n" for k in range(n_rows)))
    assert bayeswise("fit", table, "-t", "y", "--model", "linear", "-o", tmp_path / "m").code == 0
    answer = bayeswise("predict", tmp_path / "m", table, "--columns", "none", "--quantiles", ".1,.9")
    assert set(answer.out.splitlines()[1:]) == {"3.0,0.0,3.0,3.0"}


def test_a_single_row_leaves_nothing_to_estimate_the_noise_from(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "one.csv"
    table.write_text("x,y\n1,3\n")
    assert bayeswise("fit", table, "-t", "y", "--model", "linear", "-o", tmp_path / "m").code == 0
    assert bayeswise("predict", tmp_path / "m", table, "--columns", "none").out == "y,stddev\n3.0,inf\n"
    answer = bayeswise("predict", tmp_path / "m", table, "--quantiles", ".1,.9")
    assert answer.code == 4
    assert "1 complete row leaves no degree of freedom for the noise. Fix: give more rows.\n" in answer.err


def test_a_row_far_out_has_a_finite_stddev(bayeswise: Command, tmp_path: Path) -> None:
    """What is not known about the weights grows with the row, and 1e200 squared is not a float."""
    table, new = tmp_path / "line.csv", tmp_path / "new.csv"
    table.write_text("x,y\n" + "".join(f"{k / 2},{2 * k + (-1) ** k}\n" for k in range(10)))
    assert bayeswise("fit", table, "-t", "y", "--model", "linear", "-o", tmp_path / "m").code == 0
    new.write_text("x\n1e100\n1e200\n")
    one, other = [
        float(line.split(",")[1])
        for line in bayeswise("predict", tmp_path / "m", new, "--columns", "none").out.splitlines()[1:]
    ]
    assert other == pytest.approx(1e100 * one, rel=1e-12)


def test_inspect_shows_deviations_whose_squares_are_not_floats(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "wide.csv"
    table.write_text("x,z,y\n" + "".join(f"{k % 4}e200,{k % 5}e-200,{'pq'[k % 2]}\n" for k in range(20)))
    assert bayeswise("fit", table, "-t", "y", "--model", "gaussian", "-o", tmp_path / "m").code == 0
    facts = json.loads(bayeswise("inspect", tmp_path / "m", "--json").out)
    assert facts["columns"][0]["learned"]["stddev"]["p"] == pytest.approx(1e200)
    assert facts["columns"][1]["learned"]["stddev"]["p"] == pytest.approx(1.4142135623731e-200, rel=1e-9)


@pytest.mark.parametrize("likelihood", ["student-t", "laplace", "poisson", "exponential"])
def test_a_target_beyond_what_can_be_squared_is_refused_by_name(
    bayeswise: Command, tmp_path: Path, likelihood: str
) -> None:
    table = tmp_path / "huge.csv"
    table.write_text("x,y\n" + "".join(f"{k / 2},{1 + k % 3}e305\n" for k in range(9)))
    answer = bayeswise("fit", table, "-t", "y", "--model", "linear", "--likelihood", likelihood, "-o", tmp_path / "m")
    assert answer.code == 3
    assert "column 'y' has a standard deviation of 8.16e+304, beyond 1e-120 to 1e+120. Fix: measure it" in answer.err


def test_a_flat_prior_and_folds_are_typed_like_any_other_prior(
    fitted: Callable[..., Path], bayeswise: Command, tmp_path: Path, write: Callable[..., Path]
) -> None:
    flat = bw.load(fitted("logistic", "--prior", "none"))
    assert flat.settings.prior is None and flat.certificate.converged
    assert bw.load(fitted("linear", "--scale", "cv")).scale > 0
    assert bw.load(fitted("linear", "--likelihood", "student-t", "--scale", "cv")).scale > 0
    table = write("x,y\n" + "".join(f"{k}.5,{'ab'[k // 5]}\n" for k in range(10)))
    words = ("-t", "y", "--model", "logistic", "--number", "x", "--prior", "none", "-o", tmp_path / "m")
    answer = bayeswise("fit", table, *words)
    assert answer.code == 4 and "'x' separates the classes" in answer.err and "--prior gaussian" in answer.err
    refused = bayeswise("fit", table, *words, "--scale", "cv")
    assert refused.code == 2 and "needs a prior" in refused.err
