"""Models are equal where their files are, whatever they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayeswise as bw

EXAMPLES = Path(__file__).parents[3] / "examples"
KINDS = (
    "naive-bayes",
    "averaged",
    "gaussian",
    "logistic",
    "tan",
    "aode",
    "k-dependence",
    "markov-blanket",
    "tree",
    "auto",
)


@pytest.mark.parametrize("kind", KINDS)
def test_two_fits_of_the_same_rows_and_the_loaded_file_are_equal(kind: str, tmp_path: Path) -> None:
    one, other = (bw.fit(EXAMPLES / "credit.csv", "repaid", model=kind) for _ in range(2))
    assert one == other and hash(one) == hash(other)
    one.save(tmp_path / "model.bayeswise")
    assert bw.load(tmp_path / "model.bayeswise") == one


def test_models_of_other_rows_settings_or_kinds_differ() -> None:
    golf = EXAMPLES / "golf.csv"
    model = bw.fit(golf, "play", model="naive-bayes")
    assert model != model.changed(smoothing=2.0)
    assert model != model.forget(EXAMPLES / "golf-regretted.csv")
    assert model != bw.fit(golf, "play", model="tan")
    assert model != "a model"
    assert len({model, model.changed(smoothing=2.0), bw.fit(golf, "play", model="naive-bayes")}) == 2
