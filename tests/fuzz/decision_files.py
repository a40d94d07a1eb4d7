"""Decision files in TOML and cost tables in CSV, with changes; what is read decides about any posterior."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bayeswise.decisions import decide
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.number_costs import NumberCosts
from bayeswise.models.regression.predictive import Predictive
from tests.fuzz.answers import check_finite
from tests.fuzz.diagrams import changed
from tests.fuzz.mutations import changed_text, toml_of

EXAMPLE = (Path(__file__).parents[2] / "examples" / "credit.toml").read_text(encoding="utf-8")
NUMBER = """
[number]
over = 2
under = 9.5
"""
TEXTS = (
    EXAMPLE,
    """
    target = "y"
    kinds.zip = "category"
    prior = { good = 0.9, bad = 0.1 }
    [utilities]
    grant = { good = 10, bad = "-amount" }
    refuse = 0
    """,
    NUMBER,
)
PREDICTIVE = Predictive("gaussian", np.array([0.0, 5.0]), np.array([1.0, 3.0]))
TABLE = "action,good,bad\ngrant,-1,10\nrefuse,0,0\nask,2,2.5\n"
CELLS = {"amount": [100.0, 2500.0, 0.0]}


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Changes of the text, of what it says, and of tables."""
    for number in range(count):
        form = ("text", "tree", "csv")[(number + seed) % 3]
        random = Random(f"{seed} {number}")
        yield f"{form} {number}", lambda form=form, random=random: read_and_decide(form, random)


def read_and_decide(form: str, random: Random) -> None:
    text = random.choice(TEXTS)
    if form == "tree":
        tree = changed(tomllib.loads(text), random)
        data = toml_of(tree).encode("utf-8", "surrogatepass") if isinstance(tree, dict) else json.dumps(tree).encode()
    else:
        data = changed_text(TABLE if form == "csv" else text, random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("costs.csv" if form == "csv" else "decision.toml")
        path.write_bytes(data)
        if text is NUMBER and form != "csv":
            costs = NumberCosts.read(path)
            check_finite(costs.actions(PREDICTIVE), "an action")
            check_finite(costs.expected(PREDICTIVE), "an expected cost")
        else:
            check_decisions(DecisionFile.read(path), random)


def check_decisions(file: DecisionFile, random: Random) -> None:
    """Decisions about three random posteriors over the states that the costs name."""
    states = list(file.costs.states)
    posterior = np.random.default_rng(random.randrange(1 << 30)).dirichlet(np.ones(max(len(states), 1)), 3)
    by_state: dict[Any, Any] = {state: posterior[:, k] for k, state in enumerate(states)}
    file.prior_of(states)
    answer = decide(by_state, file.costs, rows=CELLS) if needs_rows(file.costs) else decide(by_state, file.costs)
    check_finite(answer.expected_cost, "an expected cost")
    assert all(action in file.costs.actions for action in answer.action), "an action that the costs do not name"


def needs_rows(costs: Any) -> bool:
    return bool(getattr(costs, "columns", ()))
