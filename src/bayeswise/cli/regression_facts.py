"""What a regression has learned, as plain data: weights in original units, reference levels, certificate, evidence."""

from __future__ import annotations

from typing import Any

from bayeswise.cli.look import keyed
from bayeswise.explanations.plain import json_number, json_value


def is_regression(model: Any) -> bool:
    """Whether the model has weights of columns."""
    return hasattr(type(model), "references")


def regression_of(model: Any) -> dict[str, Any]:
    """Everything beside classes and columns; nothing for other models."""
    if not is_regression(model):
        return {}
    return {
        "likelihood": getattr(model.settings, "likelihood", None),
        "intercept": _by_class(model, model.intercept),
        "weights": [
            {"column": column, "level": json_value(level), "weight": _by_class(model, model.weights[..., k])}
            for k, (column, level) in enumerate(model.features.names)
        ],
        "references": {name: json_value(level) for name, level in model.references.items()},
        "scale": _number(_scale(model)),
        "noise": _number(_noise(model)),
        "rows_learned": _number(_rows(model)),
        "certificate": _certificate(model),
        "log_evidence": _number(_log_evidence(model)),
        "separable": getattr(model, "separates", None),
    }


def _by_class(model: Any, values: Any) -> Any:
    """A number, or one for each class; two classes have one number, that of the second against the first."""
    if not hasattr(model, "classes"):
        return json_number(float(values))
    if len(model.classes) == 2:
        return json_number(float(values[1] - values[0]))
    return keyed(zip(model.classes, map(json_number, values.tolist()), strict=True))


def _number(value: float | None) -> Any:
    return None if value is None else json_number(float(value))


def _scale(model: Any) -> float | None:
    """The scale of the prior in force."""
    if getattr(model.settings, "prior", None) is None:
        return None
    found = getattr(model, "scale", None)
    scale = model.settings.scale if found is None else found
    return None if isinstance(scale, str) else scale


def _noise(model: Any) -> float | None:
    """The scale of the noise in the units of the target."""
    from bayeswise.foundation.errors import TooFewRowsError

    if hasattr(model, "noise"):
        return None if model.has_log_link else float(model.noise)
    if not hasattr(type(model), "posterior"):
        return None
    try:
        return float(model.posterior.noise_square**0.5)
    except TooFewRowsError:
        return None


def _rows(model: Any) -> float | None:
    if hasattr(model, "class_weight"):
        return float(model.class_weight.sum())
    return float(model.n_rows) if hasattr(type(model), "n_rows") else None


def _certificate(model: Any) -> dict[str, Any] | None:
    """The gradient that is left; a linear model with Gaussian noise is solved exactly and needs none."""
    found = getattr(model, "certificate", None)
    if found is None:
        return None
    return {
        "gradient_norm": json_number(found.gradient_norm),
        "iterations": found.iterations,
        "converged": found.converged,
        "tolerance": json_number(found.tolerance),
    }


def _log_evidence(model: Any) -> float | None:
    """log p(targets | columns, scale), where it is known."""
    if hasattr(model, "log_evidence_of_scale"):
        value: float | None = model.log_evidence_of_scale
        return value
    if hasattr(type(model), "equations") and model.settings.prior == "gaussian":
        return float(model.log_evidence())
    return None
