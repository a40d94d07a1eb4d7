"""What a model has learned, as plain data: for `fit`, which has just done so, for `inspect` and for the workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.special import xlogy
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.models.files import inner_of
from bayeswise.models.naive_bayes import MEstimate, NaiveBayesModel
from bayeswise.models.naive_bayes.categories import CategoryScores
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.naive_bayes.others import FamilyScores
from bayeswise.models.naive_bayes.words import WordScores
from bayeswise.posteriors.normalise import normalise
from bayeswise.render.labels import keyed
from bayeswise.render.plain import json_number, json_value

if TYPE_CHECKING:
    from bayeswise.models.regression.solving.newton import Certificate


def count_of(weight: float) -> int | float | str:
    """A weight as a count where it is one.

    >>> count_of(9.0), count_of(2.5)
    (9, 2.5)
    """
    return int(weight) if float(weight).is_integer() else json_number(float(weight))


def class_weights(model: Any) -> dict[str, Any]:
    """The weight of the rows of each class; nothing for a model that keeps none."""
    if not model.capabilities.classes:
        return {}
    weights = [count_of(weight) for weight in model.class_weight.tolist()]
    return keyed(zip(model.classes, weights, strict=True))


def weight_of(model: Any) -> float:
    """The weight of all rows that a model has learned."""
    return float(model.rows_learned)


def calibration_of(model: Any) -> dict[str, Any]:
    """The calibration in the model, and whether rows have come or gone since it was fitted; nothing without one."""
    if not capabilities_of(model).calibrated:
        return {}
    return {
        "calibration": {
            "method": model.calibration.name,
            "asked": model.method,
            "rows": model.n_rows,
            "how": model.how,
            "current": model.current,
            "age": model.age,
        }
    }


def mixture_of(model: Any) -> dict[str, Any]:
    """Members with their weights, how all candidates did on left-out rows, and since when; nothing for one model."""
    inside = inner_of(model)
    if not capabilities_of(inside).members:
        return {}
    weights, shares = inside.weight_of_member, inside.class_weight / inside.class_weight.sum()
    return {
        "mixture": {
            "members": weights,
            "candidates": [
                {
                    "name": each.name,
                    "log_loss": json_number(each.log_loss),
                    "error": each.error,
                    "how": each.how,
                    "weight": weights.get(each.name, 0.0),
                }
                for each in inside.scores
            ],
            "left_out": dict(inside.notes),
            "without_statistics": [member.name for member in inside.members if member.learns_weights],
            "gone": [each.name for each in inside.scores if each.weight > 0.0 and each.name not in weights],
            "log_loss": json_number(inside.log_loss),
            "log_loss_of_shares": float(-xlogy(shares, shares).sum()),
            "rows": inside.n_weighed,
            "power": None if inside.pool is None else inside.pool.power,
            "calibration": inside.calibration.name,
            "age": inside.age,
        }
    }


def tree_of(model: Any) -> dict[str, Any]:
    """The nodes of a tree of questions with their bits, from the root on; nothing for other models."""
    inside = inner_of(model)
    if not capabilities_of(inside).questions:
        return {}
    tree = inside.described()
    columns = tree.to_columns()
    nodes = [dict(zip(columns, map(json_value, node), strict=True)) for node in zip(*columns.values(), strict=True)]
    return {"tree": {"leaves": tree.n_leaves, "bits": json_number(tree.bits), "nodes": nodes, "text": str(tree)}}


def calibration_lines(facts: Mapping[str, Any]) -> list[str]:
    """What to say of a calibration that is older than the rows of the model."""
    found = facts.get("calibration")
    if found is None or found["current"]:
        return []
    return [f"Calibration: {found['age']}. Fix: fit --calibrate on all rows again."]


def selection_lines(selected: Sequence[str]) -> list[str]:
    """What rows that are forgotten have helped to select, and stays; a calibration has a line of its own.

    >>> selection_lines(["graph"])
    ['The graph was selected with the forgotten rows, and stays. Fix: forget --rows REMAINING.csv selects it again.']
    """
    kept = [each for each in selected if each != "calibration"]
    if not kept:
        return []
    was, stays, it = ("was", "stays", "it") if kept == ["graph"] else ("were", "stay", "them")
    return [
        f"The {' and '.join(kept)} {was} selected with the forgotten rows, and {stays}. "
        f"Fix: forget --rows REMAINING.csv selects {it} again."
    ]


def class_prior(model: Any) -> dict[str, Any]:
    """The prior in force; nothing for a model that has none."""
    if not model.capabilities.classes:
        return {}
    prior = normalise(model.log_prior[None]).probability[0].tolist()
    return keyed(zip(model.classes, prior, strict=True))


def settings_of(settings: Any) -> dict[str, Any]:
    """The settings, by name."""
    return {each.name: _plain(getattr(settings, each.name)) for each in fields(settings)}


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, Mapping):
        return keyed((label, _plain(share)) for label, share in value.items())
    if isinstance(value, MEstimate):
        return {"m": value.m, "p": _plain(value.p)}
    return json_value(value)


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Every column with its kind, its family or the reason why it is ignored."""
    facts = model.facts()
    families, relevance = facts.families, facts.relevance
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "family": families.get(column.name),
            "reason": column.reason,
            **({"relevance": relevance[column.name]} if column.name in relevance else {}),
        }
        for column in model.schema
    ]


def temper_of(model: Any) -> dict[str, float]:
    """The exponent of what normal columns say, of an average over structures that has learned rows."""
    return {"temper": model.temper} if model.capabilities.relevance and model.classes else {}


def parameters_of(model: Any) -> dict[str, dict[str, Any]]:
    """What was learned about each column, by class: counts of levels or words, or its family's parameters."""
    model = inner_of(model)
    if isinstance(model, NaiveBayesModel):
        return _of_factors(getattr(model, "plain", model))
    if model.capabilities.level_counts:
        return {name: _levels(model, *model.level_counts(name)) for name in model.schema.used}
    return _of_gaussians(model) if model.capabilities.distances else {}


def _of_gaussians(model: Any) -> dict[str, dict[str, Any]]:
    """Mean and stddev of each column; how columns go together does not fit into a line."""
    spreads = model.densities.in_own_units().spreads
    stddev = np.stack([each.stddev for each in spreads])
    return _parameters(model, model.columns, SimpleNamespace(mean=model.means, stddev=stddev), ("mean", "stddev"))


def _of_factors(model: NaiveBayesModel) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for scores in model.scores:
        if isinstance(scores, CategoryScores):
            for table in scores.tables:
                found[table.column.name] = _counts(model, table.counts, "levels")
        elif isinstance(scores, NormalScores):
            found.update(_parameters(model, scores.columns, scores.parameters, ("mean", "stddev")))
        elif isinstance(scores, FamilyScores):
            parameters = scores.parameters[0]
            names = tuple(each.name for each in fields(parameters))
            found.update(_parameters(model, scores.columns, parameters, names))
        elif isinstance(scores, CountedScores):
            counts = _counts(model, scores.inner.statistic, "words")
            for k, word in enumerate(counts["words"]):
                found[word] = {"count": {label: row[k] for label, row in counts["count"].items()}}
        elif isinstance(scores, WordScores):
            found[scores.column] = _counts(model, scores.statistic, "words")
    return found


def _counts(model: Any, counts: Any, what: str) -> dict[str, Any]:
    return _levels(model, counts.levels, counts.weight.to_floats(), counts.missing.to_floats(), what)


def _levels(model: Any, levels: Any, weight: Any, missing: Any, what: str = "levels") -> dict[str, Any]:
    """Weights (n_states, n_levels) and (n_states,) by class."""
    return {
        what: [json_value(level) for level in levels],
        "count": _by_class(model, [[count_of(each) for each in row] for row in weight.tolist()]),
        "missing": _by_class(model, [count_of(each) for each in missing.tolist()]),
    }


def _parameters(
    model: Any, columns: tuple[str, ...], parameters: Any, names: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Arrays (n_states, n_columns) by column, parameter and class."""
    shape = (len(model.classes), len(columns))
    arrays = {name: np.broadcast_to(getattr(parameters, name), shape) for name in names}
    return {
        column: {
            name: _by_class(model, [json_number(x) for x in array[:, c].tolist()]) for name, array in arrays.items()
        }
        for c, column in enumerate(columns)
    }


def _by_class(model: Any, values: list[Any]) -> dict[str, Any]:
    return keyed(zip(model.classes, values, strict=True))


def regression_of(model: Any) -> dict[str, Any]:
    """Everything beside classes and columns; nothing for other models."""
    if not model.capabilities.weights:
        return {}
    facts = model.regression_facts()
    return {
        "likelihood": getattr(model.settings, "likelihood", None),
        "intercept": _weights_by_class(model, model.intercept),
        "weights": [
            {"column": column, "level": json_value(level), "weight": _weights_by_class(model, model.weights[..., k])}
            for k, (column, level) in enumerate(model.features.names)
        ],
        "missing_indicators": list(model.features.marked),
        "references": {name: json_value(level) for name, level in model.references.items()},
        "scale": _number(facts.scale),
        "noise": _number(facts.noise),
        "rows_learned": _number(model.rows_learned),
        "certificate": _certificate(facts.certificate),
        "log_evidence": _number(facts.log_evidence),
        "separable": facts.separable,
    }


def _weights_by_class(model: Any, values: Any) -> Any:
    """A number, or one for each class; two classes have one number, that of the second against the first."""
    if not model.capabilities.classes:
        return json_number(float(values))
    if len(model.classes) == 2:
        return json_number(float(values[1] - values[0]))
    return keyed(zip(model.classes, map(json_number, values.tolist()), strict=True))


def _number(value: float | None) -> Any:
    return None if value is None else json_number(float(value))


def _certificate(found: Certificate | None) -> dict[str, Any] | None:
    """The gradient that is left; a linear model with Gaussian noise is solved exactly and needs none."""
    if found is None:
        return None
    return {
        "gradient_norm": json_number(found.gradient_norm),
        "iterations": found.iterations,
        "converged": found.converged,
        "tolerance": json_number(found.tolerance),
    }


def about_model(model: Any) -> dict[str, Any]:
    """What the model knows; of one without rows only what it looks at."""
    schema = model.schema
    regression = regression_of(model) if knows_rows(model) else {}
    classes = class_weights(model)
    learned = parameters_of(model) if classes else {}
    policies = {column.name: {"missing": column.missing, "unseen": column.unseen} for column in schema}
    counted = classes or "weights" in regression
    return {
        "target": None if schema.target is None else schema.target.name,
        "weight": schema.weight,
        "null_words": None if schema.null_words is None else list(schema.null_words),
        "classes": classes,
        "prior": class_prior(model) if classes else {},
        "convention": model.settings.convention,
        **calibration_of(model),
        "settings": settings_of(model.settings),
        "n_free_parameters": model.n_free_parameters() if counted else 0,
        "columns": [
            {**column, **policies[column["name"]], "learned": learned.get(column["name"])}
            for column in columns_of(model)
        ],
        **temper_of(model),
        **regression,
        **mixture_of(model),
        **tree_of(model),
    }


def knows_rows(model: Any) -> bool:
    """Whether anything was learned: a model may have forgotten all its rows."""
    rows: float | None = None if model.capabilities.classes else model.rows_learned
    return rows is None or rows > 0
