"""What a model says it can do is what it can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.evaluation.reliability import calibrated
from bayeswise.models.base.table_model import Capabilities, capabilities_of
from bayeswise.models.files import Kinds

KINDS = Kinds()

MEMBERS = {
    "classes": ("classes", "predict_proba", "log_prior", "class_weight", "scored", "probability_of"),
    "row_probability": ("log_evidence", "log_evidence_of", "sample"),
    "forgets": ("learn", "forget", "merge", "statistics"),
    "leave_one_out": ("leave_one_out", "leave_one_out_evidence"),
    "alternatives": ("alternatives",),
    "level_counts": ("level_counts",),
    "distances": ("mahalanobis", "covariances"),
    "relevance": ("relevance", "temper"),
    "weights": ("weights", "references", "regression_facts"),
    "questions": ("described", "plot", "leaf_of"),
    "calibrated": ("calibration",),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "naive Bayes": {"model": "naive-bayes"},
    "averaged": {"model": "averaged"},
    "gaussian": {"model": "gaussian"},
    "tan": {"model": "tan"},
    "logistic": {"model": "logistic"},
    "tree": {"model": "tree"},
    "linear": {"model": "linear", "target": "z"},
    "robust": {"model": "linear", "target": "z", "likelihood": "laplace"},
}


def table() -> dict[str, list[Any]]:
    x, y, z = np.random.default_rng(5).normal(size=(3, 40))
    return {"x": x.tolist(), "y": y.tolist(), "z": z.tolist(), "c": np.where(x + y > 0.1, "a", "b").tolist()}


def fitted(name: str) -> Any:
    options = dict(OPTIONS[name])
    target = options.pop("target", "c")
    return bw.fit(table(), target=target, **options, **({"ignore": ["c"]} if target == "z" else {}))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("capability", MEMBERS)
def test_a_model_has_the_members_of_each_capability_and_no_others(name: str, capability: str) -> None:
    model = fitted(name)
    has = [hasattr(type(model), member) or member in vars(model) for member in MEMBERS[capability]]
    assert all(has) == getattr(model.capabilities, capability)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_classes_that_forgets_recognises_the_rows_that_it_has_learned(kind: str) -> None:
    able = capabilities_of(KINDS[kind].model)
    assert hasattr(KINDS[kind].model, "has_learned_exactly") == (able.classes and able.forgets)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_column_that_is_used_has_a_family(name: str) -> None:
    model = fitted(name)
    assert set(model.facts().families) == set(model.schema.used)
    assert model.rows_learned == (None if name == "robust" else 40.0)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_model_can_learn_its_table_once_more_under_its_own_columns_and_settings(name: str) -> None:
    model = fitted(name)
    again, report = model.learned_like(table())
    assert type(again) is type(model) and again.schema == model.schema and again.settings == model.settings
    assert np.array_equal(again.predict(table()), model.predict(table()))
    assert report.rows == 40


def test_a_calibrated_model_can_do_what_its_model_can() -> None:
    model = fitted("naive Bayes")
    found = calibrated(model, table()).capabilities
    assert found.calibrated and found.leave_one_out and found.row_probability and not model.capabilities.calibrated


def test_anything_else_has_no_capability() -> None:
    assert capabilities_of(object()) == capabilities_of(bw.NaiveBayes()) == Capabilities()
