"""Why this action: of decisions, of the estimator that decides, of texts word by word, on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.explanations.alternatives import number_grid
from bayeswise.foundation.errors import ParameterError

LOAN = {"lend": {"good": 0, "bad": 5}, "refuse": {"good": 1, "bad": 0}}


def loans(n_rows: int = 300, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    bad = generator.random(n_rows) < 0.3
    duration = generator.integers(6, 36, n_rows) + 12 * bad
    owner = np.where(generator.random(n_rows) < 0.7 - 0.4 * bad, "yes", "no")
    return pd.DataFrame({"duration": duration, "owner": owner, "risk": np.where(bad, "bad", "good")})


def test_a_refused_customer_hears_why_refuse_and_not_why_good() -> None:
    rows = loans()
    model = bw.fit(rows, "risk", model="naive-bayes")
    decisions = bw.decide(model, rows, LOAN)
    likely_good = np.flatnonzero((decisions.action == "refuse") & (np.array(model.predict(rows)) == "good"))
    story = decisions.explain(int(likely_good[0]))
    text = story.to_text()
    assert text.startswith("Why refuse, not lend?")
    assert "The most probable class is good" in text and "from 0.1667 on" in text


def test_the_least_change_of_the_story_changes_the_action() -> None:
    rows = loans()
    model = bw.fit(rows, "risk", model="naive-bayes")
    cells = rows.drop(columns="risk")
    for k in range(20):
        row = cells.iloc[k].to_dict()
        story = bw.explain_action(model, row, LOAN)
        assert story.searched and story.change is not None
        after = {**row, **{step.column: step.after for step in story.change.changes}}
        assert bw.decide(model, after, LOAN).action.tolist() == [story.change.to] != [story.action]
        durations = [step.after for step in story.change.changes if step.column == "duration"]
        assert all(value == round(value) and value >= 0 for value in durations)
        assert "that makes it" in story.to_text() and "that makes it" in story.to_html()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "dirichlet"])
def test_the_least_change_counts_the_calibration(method: Any) -> None:
    rows = loans()
    model = bw.fit(rows, "risk", model="naive-bayes", calibrate=method)
    for k in range(10):
        row = rows.drop(columns="risk").iloc[k].to_dict()
        story = bw.explain_action(model, row, LOAN)
        if story.change is not None:
            after = {**row, **{step.column: step.after for step in story.change.changes}}
            assert bw.decide(model, after, LOAN).action.tolist() == [story.change.to] != [story.action]


def test_the_estimator_that_decides_explains_its_decision() -> None:
    rows = loans()
    X, y = rows[["duration", "owner"]], rows["risk"]
    for calibrate in (None, "isotonic"):
        maker = bw.DecisionMaker(bw.NaiveBayes(), LOAN, calibrate=calibrate).fit(X, y)
        for k in range(5):
            story = maker.explain(X.iloc[[k]])
            assert story.action == maker.predict(X.iloc[[k]])[0]
            assert story.account.posterior == pytest.approx(maker.predict_proba(X.iloc[[k]])[0], abs=1e-9)
            assert story.change is not None


def test_an_estimator_without_explanations_says_so() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rows = loans()
    maker = bw.DecisionMaker(DecisionTreeClassifier(), LOAN).fit(rows[["duration"]], rows["risk"])
    with pytest.raises(ParameterError, match="does not provide what each column adds"):
        maker.explain(rows[["duration"]].iloc[[0]])


def test_decisions_of_a_posterior_do_not_know_where_it_comes_from() -> None:
    with pytest.raises(ParameterError, match=r"Fix: call decide\(model, rows, costs\)"):
        bw.decide({"good": [0.5], "bad": [0.5]}, LOAN).explain()
    with pytest.raises(ParameterError, match="there is no row 7"):
        bw.decide(bw.fit(loans(), "risk", model="naive-bayes"), loans().head(3), LOAN).explain(7)


MAIL = pd.DataFrame(
    {
        "text": ["buy cheap pills now", "see you at lunch", "cheap cheap offer buy", "minutes of the lunch meeting"],
        "kind": ["spam", "ham", "spam", "ham"],
    }
)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("kind", ["naive-bayes", "averaged"])
def test_a_text_is_explained_word_by_word(kind: str, family: str) -> None:
    families: Any = {"families": {"text": family}} if kind == "naive-bayes" else {}
    model = bw.fit(MAIL, "kind", model=kind, kinds={"text": "text"}, **families)
    account = model.explain({"text": "cheap cheap lunch"})
    balance = account.weigh("spam", "ham")
    words = {weight.value: weight.log_ratio for weight in balance.weights}
    cheap = next(name for name in words if name.startswith("cheap"))
    assert words[cheap] > 0 > words["lunch"]
    assert sum(words.values()) + balance.log_prior_odds == pytest.approx(balance.log_odds, abs=1e-9)


def test_the_weight_of_a_word_is_the_ratio_of_its_frequencies() -> None:
    """spam has 8 words, ham 9, of 13 different ones; cheap: (3 + 1) / (8 + 13) against (0 + 1) / (9 + 13)."""
    model = bw.fit(MAIL, "kind", model="naive-bayes", kinds={"text": "text"})
    (weight,) = model.explain({"text": "cheap"}).weigh("spam", "ham").weights
    assert weight.value == "cheap"
    assert weight.log_ratio == pytest.approx(np.log((4 / 21) / (1 / 22)))


def test_reasons_are_the_strongest_columns_in_a_line() -> None:
    model = bw.fit(MAIL, "kind", model="naive-bayes", kinds={"text": "text"})
    story = bw.explain_action(
        model, {"text": "cheap offer lunch you"}, {"bin": {"spam": 0, "ham": 1}, "keep": {"spam": 1, "ham": 0}}
    )
    first, *rest = story.reasons(2).split("; ")
    assert first.startswith("text cheap × 4.19") and len(rest) == 1


def test_no_negative_age_is_offered() -> None:
    """Amounts of money and ages are skewed: their mean is about one standard deviation, and none is below 0."""
    assert min(number_grid(10.0, 10.0, 1000)) >= 0.0
    assert min(number_grid(10.0, 25.0, 1000)) >= 0.0
    assert min(number_grid(0.05, 0.5, 1000)) < 0.0  # a column about 0 has both signs
