"""Influence diagrams in TOML and JSON, with changes; what is read is solved, explained, and written again."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from bayeswise.diagrams import InfluenceDiagram
from tests.fuzz.answers import check_finite, check_posterior
from tests.fuzz.mutations import changed_text, changed_tree, toml_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = [(EXAMPLES / name).read_text(encoding="utf-8") for name in ("clinic.toml", "oil.toml", "triage.toml")]


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Changes of the text, and of what it says, as TOML and as JSON."""
    for number in range(count):
        form = ("text", "toml", "json")[(number + seed) % 3]
        random = Random(f"{seed} {number}")
        yield f"{form} {number}", lambda form=form, random=random: read_and_solve(form, random)


def read_and_solve(form: str, random: Random) -> None:
    text = random.choice(TEXTS)
    data = changed_text(text, random) if form == "text" else written(changed(tomllib.loads(text), random), form)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("diagram.json" if form == "json" else "diagram.toml")
        path.write_bytes(data)
        diagram = InfluenceDiagram.read(path)
        check_solution(diagram)
        diagram.write(path)
        assert InfluenceDiagram.read(path) == diagram, "a diagram that was written is read as another one"


def changed(tree: Any, random: Random) -> Any:
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        tree = changed_tree(tree, random)
    return tree


def written(tree: Any, form: str) -> bytes:
    if form == "toml" and isinstance(tree, dict):
        return toml_of(tree).encode("utf-8", "surrogatepass")
    return json.dumps(tree).encode()


def check_solution(diagram: InfluenceDiagram) -> None:
    """Every number of a solution is finite, and policies are distributions."""
    solution = diagram.solve()
    check_finite([solution.utility], "an expected utility")
    check_finite(list(solution.parts.values()), "a part of the utility")
    risk = solution.risk()
    check_posterior(risk.probability[None])
    check_finite(risk.values, "an outcome")
    str(solution)
    for decision in solution.policies:
        check_finite(list(solution.options(decision).values()), "the utility of an option")
    solution.to_dict()
