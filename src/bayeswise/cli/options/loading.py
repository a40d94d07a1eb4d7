"""Model files, for verbs that need something of a model that not every kind can do."""

from __future__ import annotations

from typing import Any

from bayeswise.foundation.errors import KindError
from bayeswise.models.files import CALIBRATED, inner_of, load
from bayeswise.store.file import describe

# Why a kind of model cannot do what a verb needs, and what to do about it.
_REASONS = {
    ("merge", "logistic-regression"): "fit one model to all rows: weights do not add up, counts and moments do",
    ("merge", "iterated-regression"): "fit one model to all rows, or with --likelihood gaussian, which adds up",
    ("forget", "logistic-regression"): "fit it again without these rows: it keeps weights, not what they came from",
    ("forget", "iterated-regression"): "fit it again without these rows, or with --likelihood gaussian, which forgets",
}


def load_for(verb: str, path: str, *needed: str) -> Any:
    """The model in a file, if it has what the verb needs."""
    model = load(path)
    inside = inner_of(model)
    if not all(hasattr(type(inside), name) or name in vars(inside) for name in needed):
        kind = describe(path)["kind"].removeprefix(CALIBRATED)
        other = f"ask `bayeswise network show {path}`" if kind == "belief-network" else ""
        raise KindError(
            f"{path} holds a {kind} model, which `bayeswise {verb}` does not understand",
            fix=other or _REASONS.get((verb, kind), f"use it in Python: bw.load({path!r})"),
        )
    return model
