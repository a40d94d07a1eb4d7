"""Texts in the average over structures: word after word by fractions, rows left out, and files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import averaged, evidence_of, fit_averaged
from bayeswise.models.files import bytes_of

WORDS = ["buy", "now", "meet", "noon", "cash"]
KINDS = {"t": "text", "c": "category"}
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
row = st.fixed_dictionaries({"t": texts, "c": st.sampled_from("pq"), "y": st.sampled_from("ab")})
ANCHOR = [{"t": "buy now", "c": "p", "y": "a"}, {"t": "meet noon noon", "c": "q", "y": "b"}]


def chance(words: list[str], before: list[str], n_words: int) -> Fraction:
    """p(words | before) under Dirichlet(1), one word after the other."""
    seen, p = list(before), Fraction(1)
    for word in words:
        p *= Fraction(seen.count(word) + 1, len(seen) + n_words)
        seen.append(word)
    return p


@settings(max_examples=30)
@given(st.lists(row, max_size=6), texts)
def test_a_text_is_relevant_or_not_as_its_words_say_one_after_the_other(rows: list[dict[str, str]], text: str) -> None:
    table = [{name: r[name] for name in ("t", "y")} for r in [*ANCHOR, *rows]]
    model = fit_averaged(table, target="y", kinds={"t": "text"})
    words = {y: [w for r in table if r["y"] == y for w in r["t"].split()] for y in "ab"}
    every = words["a"] + words["b"]
    v = len(set(every))
    by_class, as_whole = chance(words["a"], [], v) * chance(words["b"], [], v), chance(every, [], v)
    relevant = by_class / (by_class + as_whole)
    known = [word for word in text.split() if word in every]
    joint = [
        Fraction(sum(r["y"] == y for r in table), len(table))
        * (relevant * chance(known, words[y], v) + (1 - relevant) * chance(known, every, v))
        for y in "ab"
    ]
    assert model.relevance["t"] == pytest.approx(float(relevant), rel=1e-11)
    assert model.predict_proba([{"t": text}])[0] == pytest.approx([float(p / sum(joint)) for p in joint], rel=1e-11)
    found = {part.column: part for part in evidence_of(model).columns}["t"]
    assert bw.foundation.logspace.log(float(as_whole)) == pytest.approx(found.log_as_whole, rel=1e-11)


@settings(max_examples=30)
@given(st.lists(row, min_size=1, max_size=8), st.sampled_from([None, "uniform"]))
def test_leaving_a_text_out_is_forgetting_it(rows: list[dict[str, str]], n_relevant: str | None) -> None:
    table = [*ANCHOR, *ANCHOR, *rows]
    model = fit_averaged(table, target="y", kinds=KINDS, n_relevant=n_relevant)
    left_out = model.leave_one_out(table)
    for k, one in enumerate(table):
        assert left_out[k] == pytest.approx(model.forget([one]).predict_proba([one])[0], rel=1e-9)
    assert bytes_of(model.forget(rows)) == bytes_of(
        fit_averaged([*ANCHOR, *ANCHOR], target="y", kinds=KINDS, n_relevant=n_relevant)
    )


def test_a_text_goes_into_a_file_and_an_account(tmp_path: Path) -> None:
    model = fit_averaged(ANCHOR * 5, target="y", kinds=KINDS)
    model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert again == model and again.relevance == model.relevance
    account = model.explain({"t": "buy cash", "c": "q"})
    assert account.posterior == pytest.approx(model.predict_proba([{"t": "buy cash", "c": "q"}])[0], rel=1e-12)


def test_words_repeated_in_a_text_count_for_less_each_time() -> None:
    plain = bw.fit(ANCHOR * 3, target="y", kinds=KINDS, model="naive-bayes")
    both = averaged(plain, relevance=1.0)
    once, often = {"t": "cash buy", "c": "p"}, {"t": "buy " * 30, "c": "p"}
    assert both.predict_proba([once])[0, 0] == pytest.approx(plain.predict_proba([once])[0, 0], rel=1e-12)
    assert both.predict_proba([often])[0, 1] > 10 * plain.predict_proba([often])[0, 1]
