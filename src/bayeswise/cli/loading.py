"""Model files, for verbs that need something of a model that not every kind can do."""

from __future__ import annotations

from typing import Any

from bayeswise.foundation.errors import KindError
from bayeswise.models.files import load
from bayeswise.store.file import describe


def load_for(verb: str, path: str, *needed: str) -> Any:
    """The model in a file, if it has what the verb needs."""
    model = load(path)
    if not all(hasattr(type(model), name) or name in vars(model) for name in needed):
        kind = describe(path)["kind"]
        other = f"ask `bayeswise network show {path}`" if kind == "belief-network" else ""
        raise KindError(
            f"{path} holds a {kind} model, which `bayeswise {verb}` does not understand",
            fix=other or f"use it in Python: bw.load({path!r})",
        )
    return model
