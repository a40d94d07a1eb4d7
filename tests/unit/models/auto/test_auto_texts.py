"""Free text in `model="auto"`: words that tell classes apart, in a regression beside naive Bayes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.metrics import mutual_info_score

import bayeswise as bw
from bayeswise.foundation.errors import ExportError, SchemaError
from bayeswise.models.auto import AutoModel
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.models.auto.text_words import RARE, best_word_weight, informative_words, most_words, presence
from bayeswise.tables.batch import TextBlock
from bayeswise.tables.schema.labels import Vocabulary

TOPICS = {"spam": 0.65, "ham": 0.35}  # how often a text of the class is about money


def texts_of(seed: int, n_rows: int) -> dict[str, list[Any]]:
    """Texts whose words repeat: each draws its own favourites among those of its topic."""
    generator = np.random.default_rng(seed)
    classes = generator.choice(list(TOPICS), n_rows).tolist()
    texts = []
    for label in classes:
        topic = "m" if generator.random() < TOPICS[label] else "w"
        shares = generator.dirichlet(np.full(40, 0.2))
        texts.append(" ".join(f"{topic}{word}" for word in generator.choice(40, 50, p=shares)))
    return {"text": texts, "y": classes}


@pytest.fixture(scope="module")
def model() -> AutoModel:
    found = bw.fit(texts_of(0, 400), "y", kinds={"text": "text"})
    assert isinstance(found, AutoModel)
    return found


def log_loss(model: Any, table: dict[str, list[Any]]) -> float:
    log_p = np.asarray(model.predict_log_proba({"text": table["text"]}))
    own = [model.classes.index(label) for label in table["y"]]
    return -float(log_p[np.arange(len(own)), own].mean())


def test_words_that_repeat_do_not_make_the_mixture_too_sure(model: AutoModel) -> None:
    """The best that can be is 0.647, the entropy of a class given its topic; naive Bayes takes each word for new."""
    fresh = texts_of(1, 2_000)
    naive = bw.fit(texts_of(0, 400), "y", model="naive-bayes", kinds={"text": "text"})
    assert log_loss(naive, fresh) > 1.0
    assert log_loss(model, fresh) < 0.70
    assert any("words" in score.name and score.log_loss < 0.70 for score in model.scores)  # a regression, too


def test_words_of_naive_bayes_count_as_much_as_left_out_rows_say(model: AutoModel) -> None:
    member = next(member for member in model.members if member.name == "naive-bayes")
    assert 0.01 <= member.model.settings.word_weight < 0.3
    score = next(score for score in model.scores if score.name == "naive-bayes")
    assert score.log_loss < 0.72 and score.how == "leave-one-out"


def test_the_weight_of_words_is_the_best_one() -> None:
    generator = np.random.default_rng(7)
    log_rest, log_words = generator.normal(size=(60, 3)), 9.0 * generator.normal(size=(60, 3))
    truth, weights = generator.integers(0, 3, 60), generator.integers(1, 4, 60).astype(float)
    truth[:40] = log_words[:40].argmax(axis=1)
    log_rest[5] = [-np.inf, 0.0, 0.0]
    truth[5] = 0
    found = best_word_weight(log_rest, log_words, truth, weights)

    def loss(t: float) -> float:
        log_p = log_softmax(log_rest + t * log_words, axis=1)[np.arange(60), truth]
        return -float((weights * np.where(np.arange(60) == 5, 0.0, log_p)).sum())

    assert found == pytest.approx(minimize_scalar(loss, bounds=(0.01, 1.0), method="bounded").x, abs=2e-4)
    assert best_word_weight(log_rest, -log_words, truth, weights) == 0.01
    assert best_word_weight(log_rest, 0.01 * log_words, truth, weights) == 1.0


def test_a_number_beside_a_text_keeps_all_its_weight() -> None:
    """Only words are too sure of themselves: the number alone separates the classes as well as it can."""
    table = texts_of(8, 300)
    generator = np.random.default_rng(8)
    table["n"] = (generator.normal(size=300) + np.where(np.array(table["y"]) == "spam", 2.0, 0.0)).tolist()
    found = bw.fit(table, "y", kinds={"text": "text"})
    assert isinstance(found, AutoModel)
    assert found.log_loss < 0.35
    account = found.explain({"text": table["text"][0], "n": 3.0})
    assert max(account.weigh("spam").weights, key=lambda weight: abs(weight.log_ratio)).column == "n"


def test_texts_that_were_never_seen_are_read_after_loading(model: AutoModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = bw.load(tmp_path / "model")
    fresh = {"text": texts_of(2, 50)["text"]}
    assert np.array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
    assert np.ptp(np.asarray(again.predict_proba(fresh))[:, 0]) > 0.1


def test_words_of_a_regression_are_named_and_add_up(model: AutoModel) -> None:
    text = texts_of(3, 1)["text"][0] + " unheard"
    account = model.explain({"text": text})
    log_p = np.asarray(model.predict_log_proba([{"text": text}]))[0]
    assert account.log_odds("ham", "spam") == pytest.approx(log_p[0] - log_p[1], abs=1e-9)
    parts = dict(account.contributions[0].parts)
    words = {word.split(" (")[0] for word in parts} - {"(the rest of the text)"}
    assert words and words <= set(text.split()) - {"unheard"}


def test_order_and_chunks_of_texts_change_nothing(tmp_path: Path) -> None:
    table = texts_of(4, 90)
    paths = []
    for name, rows in (("one", np.arange(90)), ("two", np.random.default_rng(0).permutation(90))):
        shuffled = {column: [cells[row] for row in rows.tolist()] for column, cells in table.items()}
        bw.fit(shuffled, "y", kinds={"text": "text"}).save(tmp_path / name)
        paths.append(tmp_path / name)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_many_classes_have_fewer_words() -> None:
    assert [most_words(n) for n in (1, 2, 3, 10, 5_000)] == [300, 300, 250, 75, 1]
    table = texts_of(5, 240)
    table["y"] = [f"{label}{k % 2}" for k, label in enumerate(table["y"])]
    found = bw.fit(table, "y", kinds={"text": "text"})
    assert "logistic, words, scale 0.1" in {score.name for score in found.scores}


def test_words_are_chosen_by_what_their_presence_says_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    counts, groups = generator.poisson(0.4, (200, 30)), generator.integers(0, 3, 200)
    counts[:, 7] = (groups == 1) * generator.integers(1, 3, 200)
    counts[:, 29] = np.arange(200) < RARE - 1
    block = TextBlock(csr_array(counts), Vocabulary([f"w{k:02}" for k in range(30)]))
    by_oracle = [mutual_info_score(counts[:, k] > 0, groups) for k in range(29)]
    best = sorted(f"w{k:02}" for k in np.argsort(by_oracle)[::-1][:10])
    monkeypatch.setattr("bayeswise.models.auto.text_words.MOST_WORDS", 10)
    assert list(informative_words(block, groups.astype(np.int32), 3, np.ones(200))) == best
    monkeypatch.undo()
    assert "w29" not in informative_words(block, groups.astype(np.int32), 3, np.ones(200))


def test_presence_is_of_words_that_the_batch_may_not_know() -> None:
    block = TextBlock(csr_array(np.array([[2, 0], [0, 1]])), Vocabulary(["b", "c"]))
    assert presence(block, Vocabulary(["a", "b"])).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_words_are_not_exported(model: AutoModel) -> None:
    with pytest.raises(ExportError, match="'text' is free text"):
        model.to_sql("duckdb")


def test_words_of_texts_that_are_not_there_are_refused(model: AutoModel) -> None:
    with pytest.raises(SchemaError, match="not those of the texts"):
        AsNumbers(model.schema, (), (), None, {}, words=(Vocabulary(["a"]), Vocabulary(["b"]))).refuse_impossible()
