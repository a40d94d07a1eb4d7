"""Made the files beside this one: python -m tests.unit.store.files.make_files [NAME ...].

A file that is there stays as it is: it stands for what users have. A new kind of model adds its file; a new format adds
files under new names, and those of today go on being read. Naming a file that is there writes its answers again, for a
correction that is meant to change what models say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bayeswise.models.files import bytes_of, load
from bayeswise.networks.mixed import MixedNetwork, NormalMixture
from tests.cases.model_cases import MODELS, model_of

FILES = Path(__file__).parent
COUNTED = ("naive-bayes", "naive-bayes-declared", "naive-bayes-weighted", "averaged", "tan", "aode", "markov-blanket")
CASES = {  # which model a file holds; those of older versions cannot be made again
    **{name: name for name in MODELS},
    **{f"{name}-format-3": name for name in COUNTED},
    "auto-complete-trees": "auto-trees",
}


def answers_of(model: Any, rows: dict[str, list[Any]]) -> Any:
    """What a model says about rows, as JSON can hold it."""
    if hasattr(model, "predict_proba") and hasattr(model, "classes"):
        return model.predict_proba(rows).tolist()
    if hasattr(model, "schema"):
        return model.predict(rows).tolist()
    if isinstance(model, MixedNetwork):
        beliefs = {name: model.query(name) for name in model}
        return {n: [b.mean, b.stddev] if isinstance(b, NormalMixture) else list(b.values()) for n, b in beliefs.items()}
    network = model.network() if hasattr(model, "network") else model
    return {name: [network.marginals()[name][state] for state in network.states(name)] for name in network}


def main(names: list[str]) -> None:
    kept = json.loads((FILES / "answers.json").read_text()) if (FILES / "answers.json").exists() else {}
    for name in names or CASES:
        path = FILES / f"{name}.bayeswise"
        if path.exists():
            if name in names:
                kept[name]["answers"] = answers_of(load(path), kept[name]["rows"])
            continue
        model, rows = model_of(CASES[name])
        first = {column: cells[:4] for column, cells in rows.items()}
        path.write_bytes(bytes_of(model))
        kept[name] = {"rows": first, "answers": answers_of(model, first)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in sorted(kept.items()))
    (FILES / "answers.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
